//! Links and programs that repeat a submission.

pub mod highlight;
pub mod private_files;
pub mod recipe;
pub mod snippet;

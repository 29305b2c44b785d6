//! The decisions.

pub mod compose;
pub mod control;
pub mod duration;
pub mod file_name;
pub mod fold;
pub mod highlight;
pub mod manifest;
pub mod output;
pub mod rerun;
pub mod search;
pub mod seed;
pub mod shelves;
pub mod snippet;
pub mod window;

//! Files that the user saves or opens: outputs, batches as archives, and the history of this browser.

pub mod batch_archive;
pub mod history_file;
pub mod metadata;
pub mod output_file;

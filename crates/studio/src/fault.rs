//! Decides what to do when the page or a part of it fails: retry, reload, or report.

pub mod crash_report;
pub mod release;
pub mod retry;

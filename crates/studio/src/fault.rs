//! What to do when a part of the page, or the page itself, fails: retry, reload, or report.

pub mod crash_report;
pub mod release;
pub mod retry;

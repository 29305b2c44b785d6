//! Starts the page: the root component, the deferred parts of the program, and the service worker.

pub mod app;
pub mod deferred;
pub mod offline;
pub mod prefetch;
pub mod program;

//! What starts the page: its root, the parts of the program that are fetched later, and the service worker.

pub mod app;
pub mod deferred;
pub mod offline;
pub mod prefetch;
pub mod program;

//! Helpers for signals and closures that all rooms use.

pub mod boxed;
pub mod until;

//! Helpers for signals and closures.

pub mod boxed;
pub mod until;

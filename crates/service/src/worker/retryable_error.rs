//! Why a task has to be retried.

use std::io;

use thiserror::Error;

use crate::store::StoreError;

/// A retryable error: the task has not failed.
#[derive(Debug, Error)]
pub enum RetryableError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("the output could not be written: {0}")]
    Write(#[from] io::Error),
    #[error("{0}")]
    Blocked(String),
    #[error("{0}")]
    Model(String),
}

//! The errors of a store.

use std::error::Error;

use rusqlite::ErrorCode;
use thiserror::Error;

#[derive(Debug, Error)]
pub enum StoreError {
    #[error("the database failed: {0}")]
    Database(#[from] rusqlite::Error),
    #[error("the database failed: {source}")]
    Server {
        source: Box<dyn Error + Send + Sync>,
        /// Whether the connection or the server failed, and not the statement.
        is_retryable: bool,
    },
    #[error("the database can't be migrated to this version: {0}")]
    Migration(#[source] Box<dyn Error + Send + Sync>),
    #[error("the queue failed: {0}")]
    Queue(String),
    #[error("the database was written by a newer version of this program (schema {0})")]
    Newer(i64),
}

impl StoreError {
    /// Returns whether the disk is full.
    pub fn is_full(&self) -> bool {
        self.code() == Some(ErrorCode::DiskFull)
    }

    /// Returns whether the error is retryable: the disk or the connection failed, not the statement.
    pub fn is_retryable(&self) -> bool {
        use ErrorCode::{
            CannotOpen, DatabaseBusy, DiskFull, OutOfMemory, ReadOnly, SystemIoFailure,
        };
        if let Self::Server { is_retryable, .. } = self {
            return *is_retryable;
        }
        matches!(
            self.code(),
            Some(CannotOpen | DatabaseBusy | DiskFull | OutOfMemory | ReadOnly | SystemIoFailure)
        )
    }

    /// Returns whether another process has locked the database.
    pub fn is_busy(&self) -> bool {
        self.code() == Some(ErrorCode::DatabaseBusy)
    }

    fn code(&self) -> Option<ErrorCode> {
        match self {
            Self::Database(error) => error.sqlite_error_code(),
            _ => None,
        }
    }
}

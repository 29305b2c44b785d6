//! Why the database did not do what it was asked for.

use rusqlite::ErrorCode;
use thiserror::Error;

#[derive(Debug, Error)]
pub enum StoreError {
    #[error("the database failed: {0}")]
    Database(#[from] rusqlite::Error),
    #[cfg(feature = "cluster")]
    #[error("the database failed: {0}")]
    Postgres(#[from] sqlx::Error),
    #[cfg(feature = "cluster")]
    #[error("the database can't be brought to this version: {0}")]
    Migration(#[from] sqlx::migrate::MigrateError),
    #[cfg(feature = "cluster")]
    #[error("the queue failed: {0}")]
    Queue(String),
    #[error("the database was written by a newer version of this program (schema {0})")]
    Newer(i64),
}

impl StoreError {
    /// There is no room on the disk.
    pub fn is_full(&self) -> bool {
        self.code() == Some(ErrorCode::DiskFull)
    }

    /// The disk, not the database, is at fault.
    pub fn may_pass(&self) -> bool {
        use ErrorCode::{
            CannotOpen, DatabaseBusy, DiskFull, OutOfMemory, ReadOnly, SystemIoFailure,
        };
        #[cfg(feature = "cluster")]
        if let Self::Postgres(error) = self {
            // An error in a statement does not pass; any other is one of the connection.
            return error.as_database_error().is_none_or(is_shutdown);
        }
        matches!(
            self.code(),
            Some(CannotOpen | DatabaseBusy | DiskFull | OutOfMemory | ReadOnly | SystemIoFailure)
        )
    }

    /// Another process has the database.
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

#[cfg(feature = "cluster")]
fn is_shutdown(error: &(dyn sqlx::error::DatabaseError + 'static)) -> bool {
    // Class 57: operator intervention; 53: no room, no memory, too many connections.
    let code = error.code().unwrap_or_default();
    code.starts_with("57") || code.starts_with("53") || code.starts_with("40")
}

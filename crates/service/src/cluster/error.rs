//! Converts errors of PostgreSQL to errors of the store.

use sqlx::error::DatabaseError;
use sqlx::migrate::MigrateError;

use crate::store::StoreError;

impl From<sqlx::Error> for StoreError {
    fn from(error: sqlx::Error) -> Self {
        Self::Server {
            // An error of a statement is not retryable; all others are errors of the connection.
            is_retryable: error.as_database_error().is_none_or(is_shutdown),
            source: error.into(),
        }
    }
}

impl From<MigrateError> for StoreError {
    fn from(error: MigrateError) -> Self {
        Self::Migration(error.into())
    }
}

fn is_shutdown(error: &(dyn DatabaseError + 'static)) -> bool {
    // Class 57: operator intervention; 53: disk full, out of memory, too many connections; 40: a rollback.
    let code = error.code().unwrap_or_default();
    code.starts_with("57") || code.starts_with("53") || code.starts_with("40")
}

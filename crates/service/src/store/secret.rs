//! The secrets of tasks that have not ended. A trigger deletes those of a task that has; here, the file is rid of them.

use std::sync::atomic::Ordering;

use super::StoreError;
use super::sqlite::Sqlite;

impl Sqlite {
    /// Whether the task has secrets still.
    ///
    /// # Errors
    ///
    /// [`StoreError::Database`] if the file can't be read.
    pub(super) fn has_secrets(&self, id: &str) -> Result<bool, StoreError> {
        self.with(|connection| {
            connection
                .prepare_cached("SELECT 1 FROM secret JOIN task USING (seq) WHERE id = ?1")?
                .exists([id])
        })
    }

    /// Empties the write-ahead log if it may have secrets of tasks that have ended: a deleted row is overwritten with
    /// zeros in the database, and stays in the log until that is written over. If it can't, the next end of a task,
    /// or the next start, tries again.
    pub(super) fn forget_old_secrets(&self) {
        if !self.has_old_secrets.load(Ordering::Relaxed) {
            return;
        }
        let emptied = self.with(|connection| {
            connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| {
                row.get::<_, i64>(0)
            })
        });
        match emptied {
            Ok(0) => self.has_old_secrets.store(false, Ordering::Relaxed),
            Ok(_) => tracing::warn!("the database's log is in use: old secrets are removed later"),
            Err(error) => {
                tracing::warn!("old secrets are removed from the database later: {error}")
            }
        }
    }
}

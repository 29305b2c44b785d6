//! Ends tasks as canceled. The column `canceled` is 1 while the task's model may still run it, and 2 afterwards.

use std::sync::atomic::Ordering;

use rusqlite::params;

use super::Sqlite;
use crate::store::{CANCELED, StoreError, now_ms};

pub fn cancel(db: &Sqlite, id: &str) -> Result<bool, StoreError> {
    // Under one lock, as for every end of a task.
    db.with(|connection| {
        let had_secrets = Sqlite::has_secrets(connection, id)?;
        let changed = connection
            .prepare_cached(
                "UPDATE task SET status = 'failed', error = ?2, finished_ms = ?3,
                     canceled = CASE status WHEN 'processing' THEN 1 ELSE 2 END,
                     bytes = coalesce(bytes,
                         (SELECT octet_length(input) FROM input WHERE input.seq = task.seq), 0)
                 WHERE id = ?1 AND finished_ms IS NULL AND sent_ms IS NULL",
            )?
            .execute(params![id, CANCELED, now_ms()])?;
        db.has_old_secrets
            .fetch_or(had_secrets && changed > 0, Ordering::Relaxed);
        db.forget_old_secrets(connection);
        Ok(changed > 0)
    })
}

pub fn is_stopping(db: &Sqlite, id: &str) -> Result<bool, StoreError> {
    db.with(|connection| {
        connection
            .prepare_cached("SELECT 1 FROM task WHERE id = ?1 AND canceled = 1")?
            .exists([id])
    })
}

pub fn set_stopped(db: &Sqlite, id: &str) -> Result<(), StoreError> {
    db.with(|connection| {
        connection
            .prepare_cached("UPDATE task SET canceled = 2 WHERE id = ?1 AND canceled = 1")?
            .execute([id])
    })?;
    Ok(())
}

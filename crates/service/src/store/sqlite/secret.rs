//! The secrets of tasks. A trigger deletes them when a task ends; this module removes their traces from the files.

use std::sync::atomic::Ordering;

use atelier_contract::ModelId;
use rusqlite::{Connection, params};

use super::Sqlite;
use crate::store::{SECRETS_STEP, StoreError, without_fields};

pub fn delete_old_secrets(
    db: &Sqlite,
    model: &ModelId,
    names: &[&str],
) -> Result<usize, StoreError> {
    let (mut after, mut count) = (0, 0);
    loop {
        let inputs: Vec<(i64, String)> = db.with(|connection| {
            connection
                .prepare_cached(
                    "SELECT seq, input FROM task JOIN input USING (seq)
                     WHERE category = ?1 AND subcategory = ?2 AND finished_ms IS NOT NULL
                     AND seq > ?3 ORDER BY seq LIMIT ?4",
                )?
                .query_map(
                    params![
                        model.category,
                        model.subcategory,
                        after,
                        SECRETS_STEP as i64
                    ],
                    |row| Ok((row.get(0)?, row.get(1)?)),
                )?
                .collect()
        })?;
        let is_last = inputs.len() < SECRETS_STEP;
        after = inputs.last().map_or(after, |(seq, _)| *seq);
        let changed = inputs.iter();
        let changed = changed.filter_map(|(seq, input)| Some((seq, without_fields(input, names)?)));
        let changed: Vec<(&i64, String)> = changed.collect();
        db.with(|connection| {
            let transaction = connection.unchecked_transaction()?;
            for (seq, input) in &changed {
                transaction
                    .prepare_cached("UPDATE input SET input = ?2 WHERE seq = ?1")?
                    .execute(params![seq, input])?;
            }
            transaction.commit()
        })?;
        count += changed.len();
        db.has_old_secrets
            .fetch_or(!changed.is_empty(), Ordering::Relaxed);
        if is_last {
            db.with(|connection| {
                db.forget_old_secrets(connection);
                Ok(())
            })?;
            return Ok(count);
        }
    }
}

impl Sqlite {
    /// Returns whether the task still has secrets.
    pub(super) fn has_secrets(connection: &Connection, id: &str) -> rusqlite::Result<bool> {
        connection
            .prepare_cached("SELECT 1 FROM secret JOIN task USING (seq) WHERE id = ?1")?
            .exists([id])
    }

    /// Truncates the write-ahead log if it may contain secrets of ended tasks. A deleted row is zeroed in the database
    /// file, but stays in the log until the log is overwritten. If truncating fails, the end of the next task or the
    /// next start retries.
    pub(super) fn forget_old_secrets(&self, connection: &Connection) {
        if !self.has_old_secrets.load(Ordering::Relaxed) {
            return;
        }
        let emptied = connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| {
            row.get::<_, i64>(0)
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

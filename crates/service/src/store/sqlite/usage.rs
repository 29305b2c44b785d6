//! The disk usage of tasks by user, and the removal of old tasks. Triggers of the database keep the sums up to date.

use rusqlite::{OptionalExtension, params};

use super::Sqlite;
use crate::store::{EndPosition, Ended, StoreError};

pub fn bytes(db: &Sqlite) -> Result<u64, StoreError> {
    let bytes: i64 = db.with(|connection| {
        connection
            .prepare_cached(
                "SELECT coalesce(sum(bytes), 0) - (SELECT coalesce(sum(bytes), 0) FROM upload)
                 FROM usage",
            )?
            .query_row([], |row| row.get(0))
    })?;
    Ok(bytes.max(0).unsigned_abs())
}

pub fn bytes_of(db: &Sqlite, uid: &str) -> Result<u64, StoreError> {
    let bytes: Option<i64> = db.with(|connection| {
        connection
            .prepare_cached("SELECT bytes FROM usage WHERE uid = ?1")?
            .query_row([uid], |row| row.get(0))
            .optional()
    })?;
    Ok(bytes.unwrap_or_default().max(0).unsigned_abs())
}

pub fn ended_after(
    db: &Sqlite,
    after: EndPosition,
    before_ms: i64,
    count: usize,
) -> Result<Vec<Ended>, StoreError> {
    db.with(|connection| {
        connection
            .prepare_cached(ENDED_AFTER)?
            .query_map(
                params![after.ended_ms, after.seq, before_ms, count as i64],
                |row| {
                    Ok(Ended {
                        id: row.get(0)?,
                        position: EndPosition {
                            ended_ms: row.get(1)?,
                            seq: row.get(2)?,
                        },
                        bytes: row.get::<_, i64>(3)?.max(0).unsigned_abs(),
                    })
                },
            )?
            .collect()
    })
}

pub fn remove(db: &Sqlite, tasks: &[Ended]) -> Result<(), StoreError> {
    db.with(|connection| {
        let transaction = connection.unchecked_transaction()?;
        for Ended { position, .. } in tasks {
            let removed = transaction
                .prepare_cached("DELETE FROM task WHERE seq = ?1 AND finished_ms IS NOT NULL")?
                .execute([position.seq])?;
            if removed == 1 {
                transaction
                    .prepare_cached("DELETE FROM input WHERE seq = ?1")?
                    .execute([position.seq])?;
            }
        }
        transaction.commit()
    })
}

pub fn tasks_without_size(db: &Sqlite, count: usize) -> Result<Vec<String>, StoreError> {
    db.with(|connection| {
        connection
            .prepare_cached(
                "SELECT id FROM task WHERE bytes IS NULL AND finished_ms IS NOT NULL LIMIT ?1",
            )?
            .query_map([count as i64], |row| row.get(0))?
            .collect()
    })
}

pub fn set_sizes(db: &Sqlite, tasks: &[(String, u64)]) -> Result<(), StoreError> {
    db.with(|connection| {
        let transaction = connection.unchecked_transaction()?;
        for (id, bytes) in tasks {
            let bytes = i64::try_from(*bytes).unwrap_or(i64::MAX);
            transaction
                .prepare_cached(
                    "UPDATE task SET bytes = ?2 + coalesce(
                         (SELECT octet_length(input) FROM input WHERE input.seq = task.seq), 0)
                     WHERE id = ?1 AND bytes IS NULL",
                )?
                .execute(params![id, bytes])?;
        }
        transaction.commit()
    })
}

pub(super) const ENDED_AFTER: &str = "SELECT id, finished_ms, seq, coalesce(bytes, 0) FROM task
     WHERE finished_ms IS NOT NULL AND (finished_ms, seq) > (?1, ?2) AND finished_ms < ?3
     ORDER BY finished_ms, seq LIMIT ?4";

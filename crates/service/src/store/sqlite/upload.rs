//! The uploads: see [`crate::uploads`].

use rusqlite::{Connection, OptionalExtension, Row, params};

use super::Sqlite;
use crate::outputs::pins::tasks_in;
use crate::store::{StoreError, now_ms};
use crate::uploads::Upload;

const COLUMNS: &str = "id, owner, sha256, name, type, bytes, width, height, expires_ms";

pub fn find(
    db: &Sqlite,
    owner: &str,
    sha256: &str,
    expires_ms: i64,
) -> Result<Option<Upload>, StoreError> {
    db.with(|connection| extend(connection, owner, sha256, expires_ms))
}

pub fn add(db: &Sqlite, upload: &Upload) -> Result<Option<Upload>, StoreError> {
    db.with(|connection| {
        if let Some(earlier) = extend(connection, &upload.owner, &upload.sha256, upload.expires_ms)?
        {
            return Ok(Some(earlier));
        }
        connection
            .prepare_cached("INSERT INTO upload VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)")?
            .execute(params![
                upload.id,
                upload.owner,
                upload.sha256,
                upload.name,
                upload.content_type,
                i64::try_from(upload.bytes).unwrap_or(i64::MAX),
                upload.size.map(|(width, _)| width),
                upload.size.map(|(_, height)| height),
                upload.expires_ms,
            ])?;
        Ok(None)
    })
}

pub fn expired(db: &Sqlite, count: usize) -> Result<Vec<String>, StoreError> {
    db.with(|connection| {
        connection
            .prepare_cached(
                "SELECT id FROM upload WHERE expires_ms < ?1
                 AND (sha256 = id OR NOT EXISTS (SELECT 1 FROM upload_use WHERE upload = upload.id))
                 ORDER BY expires_ms LIMIT ?2",
            )?
            .query_map(params![now_ms(), count as i64], |row| row.get(0))?
            .collect()
    })
}

/// A claimed upload has its id as digest, so that no bytes have the same.
pub fn claim(db: &Sqlite, id: &str) -> Result<bool, StoreError> {
    let claimed = db.with(|connection| {
        connection
            .prepare_cached(
                "UPDATE upload SET sha256 = id WHERE id = ?1 AND expires_ms < ?2
                 AND (sha256 = id OR NOT EXISTS (SELECT 1 FROM upload_use WHERE upload = upload.id))",
            )?
            .execute(params![id, now_ms()])
    })?;
    Ok(claimed > 0)
}

pub fn remove(db: &Sqlite, id: &str) -> Result<(), StoreError> {
    db.with(|connection| {
        connection
            .prepare_cached("DELETE FROM upload WHERE id = ?1")?
            .execute([id])?;
        Ok(())
    })
}

/// Stores which uploads the input of the task in row `seq` contains. Claimed ones are not used: the task fails.
pub fn use_in(connection: &Connection, seq: i64, input: &str) -> rusqlite::Result<()> {
    for id in tasks_in(input) {
        connection
            .prepare_cached(
                "INSERT OR IGNORE INTO upload_use
                 SELECT id, ?2 FROM upload WHERE id = ?1 AND sha256 <> id",
            )?
            .execute(params![id, seq])?;
    }
    Ok(())
}

/// Returns the owner's upload with these bytes, and extends it.
fn extend(
    connection: &Connection,
    owner: &str,
    sha256: &str,
    expires_ms: i64,
) -> rusqlite::Result<Option<Upload>> {
    connection
        .prepare_cached(&format!(
            "UPDATE upload SET expires_ms = max(expires_ms, ?3)
             WHERE owner = ?1 AND sha256 = ?2 RETURNING {COLUMNS}"
        ))?
        .query_row(params![owner, sha256, expires_ms], read)
        .optional()
}

fn read(row: &Row<'_>) -> rusqlite::Result<Upload> {
    let (width, height): (Option<u32>, Option<u32>) = (row.get(6)?, row.get(7)?);
    Ok(Upload {
        id: row.get(0)?,
        owner: row.get(1)?,
        sha256: row.get(2)?,
        name: row.get(3)?,
        content_type: row.get(4)?,
        bytes: row.get::<_, i64>(5)?.max(0).unsigned_abs(),
        size: width.zip(height),
        expires_ms: row.get(8)?,
    })
}

//! The uploads: see [`crate::uploads`].

use sqlx::postgres::PgRow;
use sqlx::{AssertSqlSafe, Postgres as Database, Row, Transaction};

use super::Postgres;
use crate::outputs::pins::tasks_in;
use crate::store::{StoreError, now_ms};
use crate::uploads::Upload;

const DAY_MS: i64 = 24 * 60 * 60 * 1000;

pub fn find(
    db: &Postgres,
    owner: &str,
    sha256: &str,
    expires_ms: i64,
) -> Result<Option<Upload>, StoreError> {
    let query = sqlx::query(
        "UPDATE upload SET expires_ms = greatest(expires_ms, $3) WHERE owner = $1 AND sha256 = $2
         RETURNING id, owner, sha256, name, type, bytes, width, height, expires_ms",
    )
    .bind(owner)
    .bind(sha256)
    .bind(expires_ms);
    Ok(db.wait(query.fetch_optional(&db.pool))?.as_ref().map(read))
}

pub fn add(db: &Postgres, upload: &Upload) -> Result<Option<Upload>, StoreError> {
    let number = |pixels: u32| i32::try_from(pixels).unwrap_or(i32::MAX);
    loop {
        let query = sqlx::query(
            "INSERT INTO upload VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT DO NOTHING",
        )
        .bind(&upload.id)
        .bind(&upload.owner)
        .bind(&upload.sha256)
        .bind(&upload.name)
        .bind(&upload.content_type)
        .bind(i64::try_from(upload.bytes).unwrap_or(i64::MAX))
        .bind(upload.size.map(|(width, _)| number(width)))
        .bind(upload.size.map(|(_, height)| number(height)))
        .bind(upload.expires_ms);
        if db.wait(query.execute(&db.pool))?.rows_affected() == 1 {
            return Ok(None);
        }
        // The earlier upload may have been claimed meanwhile. Then the next attempt succeeds.
        let earlier = find(db, &upload.owner, &upload.sha256, upload.expires_ms)?;
        if earlier.is_some() {
            return Ok(earlier);
        }
    }
}

/// A process of an earlier version writes only the table `hold` for a task's input files, until the task has ended.
const IS_UNUSED: &str =
    "sha256 = id OR NOT EXISTS (SELECT FROM upload_use WHERE upload = upload.id)
     AND NOT EXISTS (SELECT FROM hold WHERE held = upload.id)";

pub fn expired(db: &Postgres, count: usize) -> Result<Vec<String>, StoreError> {
    let statement = format!(
        "SELECT id FROM upload WHERE expires_ms < $1 AND ({IS_UNUSED}) ORDER BY expires_ms LIMIT $2"
    );
    let query = sqlx::query_scalar(AssertSqlSafe(statement))
        .bind(now_ms())
        .bind(count as i64);
    Ok(db.wait(query.fetch_all(&db.pool))?)
}

/// The digest of a claimed upload is its id, so that no bytes have the same digest. [`use_in`] extends an upload, so
/// that a concurrent claim fails.
pub fn claim(db: &Postgres, id: &str) -> Result<bool, StoreError> {
    let statement = format!(
        "UPDATE upload SET sha256 = id WHERE id = $1 AND expires_ms < $2 AND ({IS_UNUSED})"
    );
    let query = sqlx::query(AssertSqlSafe(statement))
        .bind(id)
        .bind(now_ms());
    Ok(db.wait(query.execute(&db.pool))?.rows_affected() > 0)
}

pub fn remove(db: &Postgres, id: &str) -> Result<(), StoreError> {
    db.update("DELETE FROM upload WHERE id = $1", id)
}

/// Extends the uploads that an input contains by at least a day, and returns their ids. Claimed uploads are not
/// extended: the task fails.
pub async fn use_in(
    transaction: &mut Transaction<'_, Database>,
    input: &str,
) -> Result<Vec<String>, sqlx::Error> {
    let mut used = Vec::new();
    // Sorted, so that concurrent transactions lock them in the same order.
    for id in tasks_in(input) {
        let found: Option<String> = sqlx::query_scalar(
            "UPDATE upload SET expires_ms = greatest(expires_ms, $2)
             WHERE id = $1 AND sha256 <> id RETURNING id",
        )
        .bind(id)
        .bind(now_ms() + DAY_MS)
        .fetch_optional(&mut **transaction)
        .await?;
        used.extend(found);
    }
    Ok(used)
}

fn read(row: &PgRow) -> Upload {
    let pixels = |index| {
        let number: Option<i32> = row.get(index);
        number.and_then(|number| u32::try_from(number).ok())
    };
    Upload {
        id: row.get(0),
        owner: row.get(1),
        sha256: row.get(2),
        name: row.get(3),
        content_type: row.get(4),
        bytes: row.get::<i64, _>(5).max(0).unsigned_abs(),
        size: pixels(6).zip(pixels(7)),
        expires_ms: row.get(8),
    }
}

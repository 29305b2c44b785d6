//! The uploads: see [`crate::uploads`].

use sqlx::Row;
use sqlx::postgres::PgRow;

use super::Postgres;
use crate::store::{StoreError, now_ms};
use crate::uploads::Upload;

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
    match db.wait(query.execute(&db.pool))?.rows_affected() {
        0 => find(db, &upload.owner, &upload.sha256, upload.expires_ms),
        _ => Ok(None),
    }
}

pub fn expired(db: &Postgres, count: usize) -> Result<Vec<String>, StoreError> {
    let query = sqlx::query_scalar(
        "SELECT id FROM upload WHERE expires_ms < $1
         AND NOT EXISTS (SELECT FROM upload_use WHERE upload = upload.id)
         ORDER BY expires_ms LIMIT $2",
    )
    .bind(now_ms())
    .bind(count as i64);
    Ok(db.wait(query.fetch_all(&db.pool))?)
}

pub fn remove(db: &Postgres, id: &str) -> Result<(), StoreError> {
    db.update(
        "DELETE FROM upload WHERE id = $1
         AND NOT EXISTS (SELECT FROM upload_use WHERE upload = upload.id)",
        id,
    )
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

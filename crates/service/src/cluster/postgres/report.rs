//! Stores what models have reported about running tasks, for other processes.

use super::Postgres;
use crate::report::{Preview, Report};
use crate::store::StoreError;

/// Stores a report unless the task has ended.
pub fn set_report(
    db: &Postgres,
    id: &str,
    report: &Report,
    preview: Option<&Preview>,
) -> Result<(), StoreError> {
    db.wait(async {
        let mut transaction = db.pool.begin().await?;
        // A lost report does no harm, so that no other transaction waits for the disk.
        sqlx::query("SET LOCAL synchronous_commit = off")
            .execute(&mut *transaction)
            .await?;
        // Locks the task, so that it does not end before its preview is stored.
        let changed = sqlx::query(
            "UPDATE task SET words = $2, progress = $3, preview = $4
             WHERE id = $1 AND finished_ms IS NULL",
        )
        .bind(id)
        .bind(&report.message)
        .bind(report.fraction)
        .bind(&report.preview)
        .execute(&mut *transaction)
        .await?;
        if let Some(preview) = preview
            && changed.rows_affected() > 0
        {
            sqlx::query(
                "INSERT INTO preview (task, name, picture) VALUES ($1, $2, $3)
                 ON CONFLICT (task) DO UPDATE SET name = excluded.name, picture = excluded.picture",
            )
            .bind(id)
            .bind(&preview.name)
            .bind(&preview.bytes)
            .execute(&mut *transaction)
            .await?;
        }
        transaction.commit().await?;
        Ok(())
    })
}

pub fn preview(db: &Postgres, id: &str) -> Result<Option<Preview>, StoreError> {
    let found: Option<(String, Vec<u8>)> = db.wait(
        // A preview of an earlier attempt is not in the task.
        sqlx::query_as(
            "SELECT name, picture FROM preview WHERE task = $1
                 AND EXISTS (SELECT FROM task
                     WHERE id = $1 AND preview IS NOT NULL AND finished_ms IS NULL)",
        )
        .bind(id)
        .fetch_optional(&db.pool),
    )?;
    Ok(found.map(|(name, bytes)| Preview { name, bytes }))
}

/// Returns the report in the columns of a task; `None` if its model has reported nothing.
pub fn read_report(
    message: Option<String>,
    fraction: Option<f64>,
    preview: Option<String>,
) -> Option<Report> {
    let report = Report {
        fraction,
        message: message.unwrap_or_default(),
        preview,
    };
    (report != Report::default()).then_some(report)
}

//! Ends tasks as canceled. The column `canceled` is 1 while the task's model may still run it, and 2 afterwards.

use super::Postgres;
use super::end::delete_parts;
use crate::store::{CANCELED, StoreError, now_ms};

pub fn cancel(db: &Postgres, id: &str) -> Result<bool, StoreError> {
    db.wait(async {
        let mut transaction = db.pool.begin().await?;
        let changed = sqlx::query(
            "UPDATE task SET status = 'failed', error = $2, finished_ms = $3,
                 words = NULL, progress = NULL, preview = NULL,
                 canceled = CASE status WHEN 'processing' THEN 1 ELSE 2 END
             WHERE id = $1 AND finished_ms IS NULL AND sent_ms IS NULL",
        )
        .bind(id)
        .bind(CANCELED)
        .bind(now_ms())
        .execute(&mut *transaction)
        .await?;
        let is_canceled = changed.rows_affected() > 0;
        if is_canceled {
            delete_parts(&mut transaction, id).await?;
            // A task that waits for others of its account needs no turn any more.
            sqlx::query("DELETE FROM turn WHERE task = $1 AND process IS NULL")
                .bind(id)
                .execute(&mut *transaction)
                .await?;
        }
        transaction.commit().await?;
        Ok(is_canceled)
    })
}

pub fn is_stopping(db: &Postgres, id: &str) -> Result<bool, StoreError> {
    Ok(db.wait(
        sqlx::query_scalar("SELECT EXISTS (SELECT FROM task WHERE id = $1 AND canceled = 1)")
            .bind(id)
            .fetch_one(&db.pool),
    )?)
}

pub fn canceled_of(db: &Postgres, ids: &[String]) -> Result<Vec<String>, StoreError> {
    Ok(db.wait(
        sqlx::query_scalar("SELECT id FROM task WHERE id = ANY($1) AND canceled > 0")
            .bind(ids)
            .fetch_all(&db.pool),
    )?)
}

//! Saves the responses of model servers until their tasks have ended.

use super::Postgres;
use crate::store::StoreError;

/// Saves the response to a task. A task that has failed because its outcome was unknown becomes unfinished again, so
/// that another process can continue from the response if this process ends.
pub fn save_answer(db: &Postgres, id: &str, answer: &[u8]) -> Result<bool, StoreError> {
    db.wait(async {
        let mut transaction = db.pool.begin().await?;
        sqlx::query("SELECT FROM task WHERE id = $1 FOR UPDATE")
            .bind(id)
            .execute(&mut *transaction)
            .await?;
        sqlx::query(
            "UPDATE task SET status = 'processing', error = NULL, finished_ms = NULL, awaits_result = FALSE
             WHERE id = $1 AND finished_ms IS NOT NULL AND awaits_result",
        )
        .bind(id)
        .execute(&mut *transaction)
        .await?;
        let saved = sqlx::query(
            "INSERT INTO answer (task, answer)
             SELECT id, $2 FROM task WHERE id = $1 AND finished_ms IS NULL
             ON CONFLICT (task) DO UPDATE SET answer = answer.answer",
        )
        .bind(id)
        .bind(answer)
        .execute(&mut *transaction)
        .await?;
        transaction.commit().await?;
        Ok(saved.rows_affected() > 0)
    })
}

pub fn saved_answer(db: &Postgres, id: &str) -> Result<Option<Vec<u8>>, StoreError> {
    Ok(db.wait(
        sqlx::query_scalar("SELECT answer FROM answer WHERE task = $1")
            .bind(id)
            .fetch_optional(&db.pool),
    )?)
}

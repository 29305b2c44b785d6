//! Stores the end of a task.

use atelier_contract::StatusWord;
use sqlx::{Postgres as Database, Transaction};

use super::Postgres;
use crate::store::{Failed, StoreError, now_ms};

pub fn complete(
    db: &Postgres,
    id: &str,
    output: &[String],
    bytes: u64,
) -> Result<bool, StoreError> {
    let output = serde_json::json!(output).to_string();
    db.end(id, &StatusWord::Completed, &output, None, bytes, false)
}

pub fn fail(db: &Postgres, id: &str, message: &str, failure: Failed) -> Result<bool, StoreError> {
    let awaits_result = failure == Failed::UnlessResult;
    db.end(
        id,
        &StatusWord::Failed,
        "[]",
        Some(message),
        0,
        awaits_result,
    )
}

impl Postgres {
    /// Stores the end of a task. The first writer wins, except that a result replaces a failure that was
    /// [`Failed::UnlessResult`], and a saved response prevents such a failure. Returns whether it is stored.
    fn end(
        &self,
        id: &str,
        status: &StatusWord,
        output: &str,
        error: Option<&str>,
        bytes: u64,
        awaits_result: bool,
    ) -> Result<bool, StoreError> {
        self.wait(async {
            let mut transaction = self.pool.begin().await?;
            if awaits_result && has_answer(&mut transaction, id).await? {
                // The next attempt continues from the response.
                return Ok(false);
            }
            let changed = sqlx::query(
                "UPDATE task SET status = $2, output = $3, error = $4, finished_ms = $5,
                     bytes = bytes + $6, awaits_result = $7, words = NULL, progress = NULL, preview = NULL
                 WHERE id = $1 AND (finished_ms IS NULL OR awaits_result AND $4 IS NULL)",
            )
            .bind(id)
            .bind(status.as_str())
            .bind(output)
            .bind(error)
            .bind(now_ms())
            .bind(i64::try_from(bytes).unwrap_or(i64::MAX))
            .bind(awaits_result)
            .execute(&mut *transaction)
            .await?;
            delete_parts(&mut transaction, id).await?;
            transaction.commit().await?;
            Ok(changed.rows_affected() > 0)
        })
    }
}

/// Deletes what is stored only until the task has ended.
pub(super) async fn delete_parts(
    transaction: &mut Transaction<'_, Database>,
    id: &str,
) -> Result<(), sqlx::Error> {
    for statement in [
        "DELETE FROM hold WHERE task = $1",
        "DELETE FROM answer WHERE task = $1",
        "DELETE FROM secret WHERE task = $1",
        "DELETE FROM preview WHERE task = $1",
    ] {
        sqlx::query(statement)
            .bind(id)
            .execute(&mut **transaction)
            .await?;
    }
    Ok(())
}

/// Returns whether the response to the task is saved. Locks the task, so that no response is saved before the transaction ends.
async fn has_answer(
    transaction: &mut Transaction<'_, Database>,
    id: &str,
) -> Result<bool, sqlx::Error> {
    sqlx::query("SELECT FROM task WHERE id = $1 FOR UPDATE")
        .bind(id)
        .execute(&mut **transaction)
        .await?;
    sqlx::query_scalar("SELECT EXISTS (SELECT FROM answer WHERE task = $1)")
        .bind(id)
        .fetch_one(&mut **transaction)
        .await
}

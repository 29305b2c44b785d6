//! The end of a task.

use atelier_contract::StatusWord;

use super::Postgres;
use crate::store::{Failed, StoreError, now_ms};

impl Postgres {
    /// The task has ended. The first writer wins, except that a result also wins over a failure that was
    /// [`Failed::UnlessResult`].
    ///
    /// # Errors
    ///
    /// As for [`Postgres::progress`].
    pub fn finish(
        &self,
        id: &str,
        status: &StatusWord,
        output: &str,
        error: Option<&str>,
        bytes: u64,
    ) -> Result<(), StoreError> {
        self.end(id, status, output, error, bytes, false)
    }

    /// The task has failed.
    ///
    /// # Errors
    ///
    /// As for [`Postgres::progress`].
    pub fn fail(&self, id: &str, message: &str, failure: Failed) -> Result<(), StoreError> {
        let awaits_result = failure == Failed::UnlessResult;
        self.end(
            id,
            &StatusWord::Failed,
            "[]",
            Some(message),
            0,
            awaits_result,
        )
    }

    fn end(
        &self,
        id: &str,
        status: &StatusWord,
        output: &str,
        error: Option<&str>,
        bytes: u64,
        awaits_result: bool,
    ) -> Result<(), StoreError> {
        self.wait(async {
            let mut transaction = self.pool.begin().await?;
            sqlx::query(
                "UPDATE task SET status = $2, output = $3, error = $4, finished_ms = $5,
                     bytes = bytes + $6, awaits_result = $7
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
            for statement in [
                "DELETE FROM hold WHERE task = $1",
                "DELETE FROM answer WHERE task = $1",
                "DELETE FROM secret WHERE task = $1",
            ] {
                sqlx::query(statement)
                    .bind(id)
                    .execute(&mut *transaction)
                    .await?;
            }
            transaction.commit().await?;
            Ok(())
        })
    }
}

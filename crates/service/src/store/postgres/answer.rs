//! The answers to tasks that were sent, until these have ended.

use super::{Postgres, StoreError};

impl Postgres {
    /// Saves the answer to a task that has not ended.
    ///
    /// # Errors
    ///
    /// As for [`Postgres::progress`].
    pub fn save_answer(&self, id: &str, answer: &[u8]) -> Result<(), StoreError> {
        self.wait(
            sqlx::query(
                "INSERT INTO answer (task, answer)
                 SELECT id, $2 FROM task WHERE id = $1 AND finished_ms IS NULL
                 ON CONFLICT DO NOTHING",
            )
            .bind(id)
            .bind(answer)
            .execute(&self.pool),
        )?;
        Ok(())
    }

    /// Returns the saved answer.
    ///
    /// # Errors
    ///
    /// As for [`Postgres::progress`].
    pub fn saved_answer(&self, id: &str) -> Result<Option<Vec<u8>>, StoreError> {
        Ok(self.wait(
            sqlx::query_scalar("SELECT answer FROM answer WHERE task = $1")
                .bind(id)
                .fetch_optional(&self.pool),
        )?)
    }
}

//! How many tasks of an owner there are that have not ended.

use sqlx::Row;

use super::{Postgres, StoreError};
use crate::worker::UnfinishedCount;

impl Postgres {
    /// Those of all processes.
    pub fn unfinished_of(&self, uid: &str) -> Result<UnfinishedCount, StoreError> {
        let row = self.wait(
            sqlx::query(
                "SELECT count(*) FILTER (WHERE status <> 'processing'),
                     count(*) FILTER (WHERE status = 'processing')
                 FROM task WHERE uid = $1 AND finished_ms IS NULL",
            )
            .bind(uid)
            .fetch_one(&self.pool),
        )?;
        let count = |at: usize| usize::try_from(row.get::<i64, _>(at)).unwrap_or_default();
        Ok(UnfinishedCount {
            waiting: count(0),
            running: count(1),
        })
    }
}

//! Counts unfinished tasks, and finds those without a job.

use atelier_contract::ModelId;
use sqlx::Row;
use sqlx::postgres::PgRow;

use super::{DEAD_AFTER, Postgres, queue_tables};
use crate::metrics::Load;
use crate::store::{StoreError, Unfinished, now_ms};
use crate::turns::UnfinishedCount;

impl Postgres {
    /// Returns the number of an owner's unfinished tasks, at all processes.
    ///
    /// # Errors
    ///
    /// The database does not respond, or the statement fails.
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

    /// Returns the number of unfinished tasks of each model, and the creation time of the oldest waiting task, in
    /// milliseconds since 1970.
    ///
    /// # Errors
    ///
    /// The database does not respond, or the statement fails.
    pub fn load(&self) -> Result<(Vec<Load>, Option<i64>), StoreError> {
        let rows = self.wait(
            sqlx::query(
                "SELECT category, subcategory, count(*) FILTER (WHERE status <> 'processing'),
                 count(*) FILTER (WHERE status = 'processing'),
                 min(created_ms) FILTER (WHERE status <> 'processing')
                 FROM task WHERE finished_ms IS NULL GROUP BY category, subcategory",
            )
            .fetch_all(&self.pool),
        )?;
        let count = |row: &PgRow, at: usize| usize::try_from(row.get::<i64, _>(at)).unwrap_or(0);
        let load = |row: &PgRow| Load {
            model: ModelId::new(row.get::<String, _>(0), row.get::<String, _>(1)),
            waiting: count(row, 2),
            running: count(row, 3),
        };
        let oldest = rows.iter().filter_map(|row| row.get::<Option<i64>, _>(4));
        Ok((rows.iter().map(load).collect(), oldest.min()))
    }

    /// Returns the number of the task's current job, and the number of its owner's unfinished tasks.
    ///
    /// # Errors
    ///
    /// The database does not respond, or the statement fails.
    pub fn job_of(&self, id: &str) -> Result<Option<(i32, i64)>, StoreError> {
        self.wait(async {
            let row = sqlx::query(
                "SELECT job, (SELECT count(*) FROM task AS other
                     WHERE other.uid = task.uid AND other.finished_ms IS NULL)
                 FROM task WHERE id = $1",
            )
            .bind(id)
            .fetch_optional(&self.pool)
            .await?;
            Ok(row.map(|row| (row.get(0), row.get(1))))
        })
    }

    /// Returns tasks whose job is not in the queue, because a process ended before it added the job. Gives each a new
    /// job number; the caller has to add that job. Concurrent callers get different tasks.
    ///
    /// # Errors
    ///
    /// The database does not respond, or the statement fails.
    pub fn without_job(&self, older_than_ms: i64) -> Result<Vec<Unfinished>, StoreError> {
        let rows = self.wait(
            sqlx::query(queue_tables::WITHOUT_JOB)
                .bind(now_ms().saturating_sub(older_than_ms))
                .bind(DEAD_AFTER.as_secs_f64())
                .fetch_all(&self.pool),
        )?;
        Ok(rows.iter().map(read_unfinished).collect())
    }
}

pub(super) fn read_unfinished(row: &PgRow) -> Unfinished {
    Unfinished {
        id: row.get(0),
        uid: row.get(1),
        model: ModelId::new(row.get::<String, _>(2), row.get::<String, _>(3)),
        created: row.get(4),
        input: row.get(5),
    }
}

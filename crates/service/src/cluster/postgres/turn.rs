//! Limits the running tasks of an owner across all processes, and releases a process's jobs. A turn is the permission
//! of one task to run.

use std::time::{Duration, Instant};

use sqlx::postgres::PgRow;
use sqlx::{Postgres as Database, Row, Transaction};

use super::unfinished::read_unfinished;
use super::{DEAD_AFTER, PROCESS, Postgres, queue_tables};
use crate::cluster::attempts::Attempts;
use crate::store::{StoreError, Unfinished};
use crate::turns::Turn;

impl Postgres {
    /// Returns whether this process may run the task now: fewer than `max_running` other tasks of its owner are running,
    /// at any process. If not, the task waits without a job until [`Self::end_turn`] of another task. Loads the stored
    /// attempts into `turn`, and stores the attempts of `turn` for the process that runs the task next.
    ///
    /// # Errors
    ///
    /// The database does not respond, or the statement fails.
    pub fn begin_turn(&self, turn: &mut Turn, max_running: usize) -> Result<bool, StoreError> {
        self.wait(async {
            let mut transaction = self.pool.begin().await?;
            lock_turns(&mut transaction, &turn.owner).await?;
            let kept = sqlx::query(
                "SELECT failures, extract(epoch FROM now() - first_attempt)::double precision, last_error
                 FROM turn WHERE task = $1",
            )
            .bind(&turn.id)
            .fetch_optional(&mut *transaction)
            .await?;
            if let Some(row) = kept {
                turn.resume(read_attempts(&row), Instant::now());
            }
            // Ignores dead processes: others take over their tasks.
            let others: i64 = sqlx::query_scalar(
                queue_tables::OTHER_TURNS,
            )
            .bind(&turn.owner)
            .bind(&turn.id)
            .bind(DEAD_AFTER.as_secs_f64())
            .fetch_one(&mut *transaction)
            .await?;
            let may_run = usize::try_from(others).is_ok_and(|others| others < max_running);
            let attempts = turn.attempts(Instant::now());
            sqlx::query(
                "INSERT INTO turn (task, uid, process, failures, first_attempt, last_error)
                 SELECT id, uid, $2, $3, now() - make_interval(secs => $4), $5 FROM task WHERE id = $1
                 ON CONFLICT (task) DO UPDATE SET process = excluded.process, since = now(),
                     failures = excluded.failures, first_attempt = excluded.first_attempt,
                     last_error = excluded.last_error",
            )
            .bind(&turn.id)
            .bind(may_run.then_some(PROCESS.as_str()))
            .bind(i32::try_from(attempts.failures).unwrap_or(i32::MAX))
            .bind(attempts.since_first.map(|since| since.as_secs_f64()))
            // A server may send a NUL, which PostgreSQL can't store in text.
            .bind(attempts.last_error.map(|error| error.replace('\0', "")))
            .execute(&mut *transaction)
            .await?;
            transaction.commit().await?;
            Ok(may_run)
        })
    }

    /// Ends the task's turn at this process, and gives a turn to the owner's next waiting task. Returns that task; the
    /// caller has to add its job.
    ///
    /// # Errors
    ///
    /// The database does not respond, or the statement fails. No turn changes then.
    pub fn end_turn(&self, id: &str, uid: &str) -> Result<Option<Unfinished>, StoreError> {
        self.wait(async {
            let mut transaction = self.pool.begin().await?;
            lock_turns(&mut transaction, uid).await?;
            let ended = sqlx::query("DELETE FROM turn WHERE task = $1 AND process = $2")
                .bind(id)
                .bind(PROCESS.as_str())
                .execute(&mut *transaction)
                .await?;
            let next = sqlx::query(
                "WITH next AS (
                     SELECT task.id FROM turn JOIN task ON task.id = turn.task
                     WHERE turn.uid = $1 AND process IS NULL AND finished_ms IS NULL
                     ORDER BY task.seq LIMIT 1
                 ), passed AS (
                     UPDATE turn SET process = $2, since = now() FROM next WHERE turn.task = next.id
                 )
                 UPDATE task SET job = job + 1 FROM next WHERE task.id = next.id
                 RETURNING task.id, uid, category, subcategory, created_ms, input",
            );
            // No row is deleted if another process has resumed the task meanwhile and has its turn.
            let next = match ended.rows_affected() {
                0 => None,
                _ => {
                    let next = next.bind(uid).bind(PROCESS.as_str());
                    next.fetch_optional(&mut *transaction).await?
                }
            };
            transaction.commit().await?;
            Ok(next.as_ref().map(read_unfinished))
        })
    }

    /// Releases this process's jobs to the queue, except the jobs of `tasks`. Also sends a heartbeat, so that no other
    /// process takes over the jobs of `tasks`.
    ///
    /// # Errors
    ///
    /// The database does not respond, or the statement fails. No job is released then.
    pub fn release_jobs_except(&self, tasks: &[String]) -> Result<(), StoreError> {
        self.wait(async {
            let mut transaction = self.pool.begin().await?;
            sqlx::query(queue_tables::KEEP_ALIVE)
                .bind(PROCESS.as_str())
                .execute(&mut *transaction)
                .await?;
            sqlx::query(queue_tables::RELEASE_JOBS)
                .bind(PROCESS.as_str())
                .bind(tasks)
                .execute(&mut *transaction)
                .await?;
            transaction.commit().await?;
            Ok(())
        })
    }
}

fn read_attempts(row: &PgRow) -> Attempts {
    let since = row.get::<Option<f64>, _>(1);
    Attempts {
        failures: u32::try_from(row.get::<i32, _>(0)).unwrap_or_default(),
        since_first: since.and_then(|since| Duration::try_from_secs_f64(since.max(0.0)).ok()),
        last_error: row.get(2),
    }
}

/// Locks the turns of this owner until the transaction ends.
async fn lock_turns(
    transaction: &mut Transaction<'_, Database>,
    uid: &str,
) -> Result<(), sqlx::Error> {
    sqlx::query("SELECT pg_advisory_xact_lock(hashtextextended('turn ' || $1, 0))")
        .bind(uid)
        .execute(&mut **transaction)
        .await?;
    Ok(())
}

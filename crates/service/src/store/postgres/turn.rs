//! The leases of the queue that a process gives back.

use std::sync::LazyLock;

use super::{Postgres, StoreError};

/// This process, as a part of the names of its workers.
pub static PROCESS: LazyLock<String> = LazyLock::new(|| {
    let random = getrandom::u64().unwrap_or_default();
    format!("{}-{random:016x}", std::process::id())
});

impl Postgres {
    /// Gives the jobs that this process has back to the queue, other than those of these tasks, which
    /// it keeps for as long as it is heard of: from now.
    pub fn give_back_but(&self, tasks: &[String]) -> Result<(), StoreError> {
        self.wait(async {
            let mut transaction = self.pool.begin().await?;
            sqlx::query("UPDATE apalis.workers SET last_seen = now() WHERE position($1 IN id) > 0")
                .bind(PROCESS.as_str())
                .execute(&mut *transaction)
                .await?;
            // As the queue's own trigger tells of new ones.
            sqlx::query(
                "WITH given AS (
                     UPDATE apalis.jobs SET status = 'Pending', lock_by = NULL, lock_at = NULL
                     WHERE status IN ('Queued', 'Running')
                     AND lock_by IN (SELECT id FROM apalis.workers WHERE position($1 IN id) > 0)
                     AND split_part(idempotency_key, ':', 1) <> ALL($2)
                     RETURNING id, job_type
                 )
                 SELECT pg_notify('apalis::job::insert',
                     json_build_object('job_type', job_type, 'id', id)::text) FROM given",
            )
            .bind(PROCESS.as_str())
            .bind(tasks)
            .execute(&mut *transaction)
            .await?;
            transaction.commit().await?;
            Ok(())
        })
    }
}

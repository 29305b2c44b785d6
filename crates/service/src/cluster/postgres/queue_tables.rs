//! Statements on tables of apalis-postgres that are not part of its public API. They were written for version 1.0.0,
//! which `Cargo.toml` pins. The public API can't combine these changes with the service's own tables in one statement
//! or transaction. `tests/cluster/queue_tables.rs` fails if a version has other tables; review each statement here
//! before you pin another version.

/// Selects the columns that a worker needs to run task $1. The fifth column is true if a process other than $2 has
/// sent the task and had a heartbeat within $3 seconds.
pub const ORDER: &str = "SELECT category, subcategory, input, sent_ms IS NOT NULL,
         coalesce(sent_by <> $2, FALSE) AND EXISTS (SELECT FROM apalis.workers
             WHERE position(sent_by IN workers.id) > 0
             AND last_seen > now() - make_interval(secs => $3)),
         (SELECT secret FROM secret WHERE task = $1), created_ms
     FROM task WHERE id = $1 AND finished_ms IS NULL";

/// Counts the tasks of owner $1 other than $2 that have a turn at a process with a heartbeat within $3 seconds.
pub const OTHER_TURNS: &str = "SELECT count(*) FROM turn JOIN task ON task.id = turn.task
     WHERE turn.uid = $1 AND turn.task <> $2 AND finished_ms IS NULL
     AND EXISTS (SELECT FROM apalis.workers
         WHERE position(turn.process IN workers.id) > 0
         AND last_seen > now() - make_interval(secs => $3))";

/// Updates the heartbeat of process $1, also while its workers take no jobs. The library's `queries::keep_alive` is for
/// a worker that takes jobs.
pub const KEEP_ALIVE: &str =
    "UPDATE apalis.workers SET last_seen = now() WHERE position($1 IN id) > 0";

/// Releases the jobs of process $1 except those of the tasks $2, and notifies the workers as the queue's own trigger
/// does for new jobs. `queries::reenqueue_abandoned` would count an attempt and notify no worker.
pub const RELEASE_JOBS: &str = "WITH given AS (
         UPDATE apalis.jobs SET status = 'Pending', lock_by = NULL, lock_at = NULL
         WHERE status IN ('Queued', 'Running')
         AND lock_by IN (SELECT id FROM apalis.workers WHERE position($1 IN id) > 0)
         AND split_part(idempotency_key, ':', 1) <> ALL($2)
         RETURNING id, job_type
     )
     SELECT pg_notify('apalis::job::insert',
         json_build_object('job_type', job_type, 'id', id)::text) FROM given";

/// Gives a new job number to each unfinished task from before $1 whose job is not in the queue, and to canceled tasks
/// that no process has stopped at their model, from 40 s to a day before $1. Skips tasks that wait for a turn at a
/// process with a heartbeat within $2 seconds.
pub const WITHOUT_JOB: &str = "WITH lost AS (
         SELECT seq FROM task
         WHERE (finished_ms IS NULL OR canceled = 1
             AND finished_ms BETWEEN $1 - 86400000 AND $1 - 40000) AND created_ms < $1 AND NOT EXISTS (
             SELECT 1 FROM apalis.jobs
             WHERE job_type IN ('here', category || '/' || subcategory)
             AND idempotency_key = task.id || ':' || task.job
             AND status IN ('Pending', 'Queued', 'Running')
         ) AND NOT EXISTS (
             -- The task waits for others of its account, or its turn is about to begin.
             SELECT FROM turn WHERE turn.task = task.id
             AND (since > now() - interval '10 s' OR process IS NULL AND EXISTS (
                 SELECT FROM turn AS other
                 JOIN task AS running ON running.id = other.task AND running.finished_ms IS NULL
                 JOIN apalis.workers ON position(other.process IN workers.id) > 0
                 WHERE other.uid = turn.uid AND last_seen > now() - make_interval(secs => $2)
             ))
         )
         FOR UPDATE SKIP LOCKED
     )
     UPDATE task SET job = job + 1 FROM lost WHERE task.seq = lost.seq
     RETURNING id, uid, category, subcategory, created_ms, input";

/// Deletes jobs that were done before $1, in milliseconds since 1970. The storage's own `vacuum` also deletes recent
/// ones, whose keys prevent duplicate jobs.
pub const DELETE_OLD_JOBS: &str = "DELETE FROM apalis.jobs WHERE status IN ('Done', 'Killed')
     AND done_at < to_timestamp($1 / 1000.0)";

/// Deletes workers without a heartbeat since $1 and without a job; apalis itself never deletes them.
pub const DELETE_OLD_WORKERS: &str =
    "DELETE FROM apalis.workers WHERE last_seen < to_timestamp($1 / 1000.0)
     AND NOT EXISTS (SELECT 1 FROM apalis.jobs WHERE lock_by = workers.id)";

#[cfg(test)]
mod tests {
    use super::*;

    /// Guards against released jobs that idle workers only find at their next heartbeat: the library listens only on
    /// this channel.
    #[test]
    fn released_jobs_are_announced_on_the_channel_of_the_library() {
        assert!(RELEASE_JOBS.contains("pg_notify('apalis::job::insert',"));
    }
}

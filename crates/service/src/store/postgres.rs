//! The tasks in PostgreSQL, for any number of processes. What is answered was committed before.

use std::time::Duration;

use atelier_contract::{ModelId, StatusWord};
use serde_json::{Map, Value};
use sqlx::migrate::Migrator;
use sqlx::postgres::{PgPoolOptions, PgRow};
use sqlx::{PgPool, Postgres as Database, Row, Transaction};
use tokio::runtime::Handle;

use super::room::{Ended, Place};
use super::{Answered, Order, Progress, StoreError, Task, Unfinished, json, now_ms, oldest_kept};
use crate::holds::tasks_in;
use crate::idempotency::Submission;
use crate::metrics::Load;
use crate::queue::DEAD_AFTER;

mod allowance;
mod turn;
mod unfinished;

pub use turn::PROCESS;

static MIGRATIONS: Migrator = sqlx::migrate!("./migrations");

/// Each process has so many connections at most.
const CONNECTIONS: u32 = 16;

/// How long a call waits for one of them.
const PATIENCE: Duration = Duration::from_secs(10);

/// Whether it is there is known by then.
const PROBE: Duration = Duration::from_secs(5);

/// The database, from wherever work may wait: its calls block.
#[derive(Debug, Clone)]
pub struct Postgres {
    pool: PgPool,
    runtime: Handle,
}

impl Postgres {
    /// Makes or migrates it. Processes that start at the same time wait for each other.
    pub fn open(url: &str) -> Result<Self, StoreError> {
        let database = Self::connect(url)?;
        database.wait(MIGRATIONS.run(&database.pool))?;
        Ok(database)
    }

    /// As it is, for a look: its tables may not be there.
    pub fn connect(url: &str) -> Result<Self, StoreError> {
        let runtime = Handle::current();
        let options = PgPoolOptions::new()
            .max_connections(CONNECTIONS)
            .acquire_timeout(PATIENCE);
        let pool = tokio::task::block_in_place(|| runtime.block_on(options.connect(url)))?;
        Ok(Self { pool, runtime })
    }

    /// Whether it is there, and lets these in: its version.
    pub fn probe(url: &str) -> Result<String, StoreError> {
        let version = async {
            let options = PgPoolOptions::new()
                .max_connections(1)
                .acquire_timeout(PROBE);
            let pool = options.connect(url).await?;
            sqlx::query_scalar("SHOW server_version")
                .fetch_one(&pool)
                .await
        };
        Ok(tokio::task::block_in_place(|| {
            Handle::current().block_on(version)
        })?)
    }

    pub fn pool(&self) -> &PgPool {
        &self.pool
    }

    pub fn wait<T>(&self, work: impl Future<Output = T>) -> T {
        tokio::task::block_in_place(|| self.runtime.block_on(work))
    }

    pub fn insert(
        &self,
        task: &Task,
        submission: Option<&Submission>,
    ) -> Result<Option<Answered>, StoreError> {
        let now = now_ms();
        let input = Value::Object(task.input.clone()).to_string();
        self.wait(async {
            let mut transaction = self.pool.begin().await?;
            if let Some(submission) = submission
                && let Some(answered) = remember(&mut transaction, task, submission, now).await?
            {
                return Ok(Some(answered));
            }
            sqlx::query(
                "INSERT INTO task (id, uid, category, subcategory, input, status, created_ms, bytes)
                 VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
            )
            .bind(&task.id)
            .bind(&task.uid)
            .bind(&task.model.category)
            .bind(&task.model.subcategory)
            .bind(&input)
            .bind(task.status.as_str())
            .bind(now)
            .bind(i64::try_from(input.len()).unwrap_or(i64::MAX))
            .execute(&mut *transaction)
            .await?;
            for held in tasks_in(&input) {
                sqlx::query("INSERT INTO hold VALUES ($1, $2) ON CONFLICT DO NOTHING")
                    .bind(held)
                    .bind(&task.id)
                    .execute(&mut *transaction)
                    .await?;
            }
            transaction.commit().await?;
            Ok(None)
        })
    }

    pub fn answered(&self, submission: &Submission) -> Result<Option<Answered>, StoreError> {
        self.wait(async {
            let row = sqlx::query(ANSWERED)
                .bind(&submission.account)
                .bind(submission.key.as_str())
                .bind(oldest_kept(now_ms()))
                .fetch_optional(&self.pool)
                .await?;
            Ok(row.as_ref().map(read_answered))
        })
    }

    pub fn progress(&self, id: &str) -> Result<Option<Progress>, StoreError> {
        self.wait(async {
            let row = sqlx::query(
                "SELECT id, uid, category, subcategory, status, output, error, words
                 FROM task WHERE id = $1",
            )
            .bind(id)
            .fetch_optional(&self.pool)
            .await?;
            Ok(row.map(|row| Progress {
                id: row.get(0),
                uid: row.get(1),
                model: ModelId::new(row.get::<String, _>(2), row.get::<String, _>(3)),
                status: StatusWord::from(row.get::<&str, _>(4)),
                output: serde_json::from_value(json(row.get(5))).unwrap_or_default(),
                error: row.get(6),
                words: row.get(7),
            }))
        })
    }

    /// None of a task that has ended: another process may have been faster.
    pub fn order(&self, id: &str) -> Result<Option<Order>, StoreError> {
        self.wait(async {
            let row = sqlx::query(
                "SELECT category, subcategory, input, sent_ms IS NOT NULL
                 FROM task WHERE id = $1 AND finished_ms IS NULL",
            )
            .bind(id)
            .fetch_optional(&self.pool)
            .await?;
            Ok(row.map(|row| Order {
                model: ModelId::new(row.get::<String, _>(0), row.get::<String, _>(1)),
                input: match json(row.get(2)) {
                    Value::Object(input) => input,
                    _ => Map::new(),
                },
                sent: row.get(3),
            }))
        })
    }

    /// The number of the task's job, and how many unfinished tasks its owner has.
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

    /// Tasks whose job is not in the queue: a process ended in between. From here on each has
    /// another job, which is to be put there; whoever asks at the same time is told of others.
    pub fn without_job(&self, older_than_ms: i64) -> Result<Vec<Unfinished>, StoreError> {
        let rows = self.wait(
            sqlx::query(
                "WITH lost AS (
                     SELECT seq FROM task
                     WHERE finished_ms IS NULL AND created_ms < $1 AND NOT EXISTS (
                         SELECT 1 FROM apalis.jobs
                         WHERE job_type IN ('here', category || '/' || subcategory)
                         AND idempotency_key = task.id || ':' || task.job
                         AND status IN ('Pending', 'Queued', 'Running')
                     ) AND NOT EXISTS (
                         -- It waits for others of its account, or is just about to have its turn.
                         SELECT FROM turn WHERE turn.task = task.id
                         AND (since > now() - interval '10 s' OR process IS NULL AND EXISTS (
                             SELECT FROM turn AS other
                             JOIN apalis.workers ON position(other.process IN workers.id) > 0
                             WHERE other.uid = turn.uid AND last_seen > now() - make_interval(secs => $2)
                         ))
                     )
                     FOR UPDATE SKIP LOCKED
                 )
                 UPDATE task SET job = job + 1 FROM lost WHERE task.seq = lost.seq
                 RETURNING id, uid, category, subcategory, created_ms, input",
            )
            .bind(now_ms().saturating_sub(older_than_ms))
            .bind(DEAD_AFTER.as_secs_f64())
            .fetch_all(&self.pool),
        )?;
        Ok(rows.iter().map(read_unfinished).collect())
    }

    /// How many unfinished tasks of each model there are, and since when the oldest of those that wait
    /// has waited.
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

    /// Takes away what nobody asks for any more: done jobs, old keys, full allowances.
    pub fn tidy(&self) -> Result<(), StoreError> {
        self.wait(async {
            for (statement, before) in [
                (
                    "DELETE FROM submission WHERE created_ms <= $1",
                    oldest_kept(now_ms()),
                ),
                (
                    "DELETE FROM apalis.jobs WHERE status IN ('Done', 'Killed')
                     AND done_at < to_timestamp($1 / 1000.0)",
                    now_ms() - 60_000,
                ),
                (
                    "DELETE FROM apalis.workers WHERE last_seen < to_timestamp($1 / 1000.0)
                     AND NOT EXISTS (SELECT 1 FROM apalis.jobs WHERE lock_by = workers.id)",
                    now_ms() - 3_600_000,
                ),
                (
                    "DELETE FROM turn WHERE since < to_timestamp($1 / 1000.0) AND EXISTS
                     (SELECT FROM task WHERE id = turn.task AND finished_ms IS NOT NULL)",
                    now_ms() - 60_000,
                ),
                (
                    "DELETE FROM allowance WHERE filled < to_timestamp($1 / 1000.0)",
                    now_ms() - 600_000,
                ),
            ] {
                sqlx::query(statement)
                    .bind(before)
                    .execute(&self.pool)
                    .await?;
            }
            Ok(())
        })
    }

    pub fn try_write(&self) -> Result<(), StoreError> {
        self.update("UPDATE usage SET bytes = bytes WHERE uid = $1", "")
    }

    pub fn set_sent(&self, id: &str) -> Result<(), StoreError> {
        self.update(
            "UPDATE task SET sent_ms = (extract(epoch FROM now()) * 1000)::bigint WHERE id = $1",
            id,
        )
    }

    pub fn set_unsent(&self, id: &str) -> Result<(), StoreError> {
        self.update("UPDATE task SET sent_ms = NULL WHERE id = $1", id)
    }

    pub fn set_processing(&self, id: &str) -> Result<(), StoreError> {
        self.update(
            "UPDATE task SET status = 'processing' WHERE id = $1 AND finished_ms IS NULL",
            id,
        )
    }

    /// What its model has said, for whoever asks at another process.
    pub fn set_words(&self, id: &str, words: &str) -> Result<(), StoreError> {
        self.wait(
            sqlx::query("UPDATE task SET words = $2 WHERE id = $1 AND finished_ms IS NULL")
                .bind(id)
                .bind(words)
                .execute(&self.pool),
        )?;
        Ok(())
    }

    fn update(&self, statement: &'static str, id: &str) -> Result<(), StoreError> {
        self.wait(sqlx::query(statement).bind(id).execute(&self.pool))?;
        Ok(())
    }

    /// Whoever is first: one that was believed dead changes nothing any more.
    pub fn finish(
        &self,
        id: &str,
        status: &StatusWord,
        output: &str,
        error: Option<&str>,
        bytes: u64,
    ) -> Result<(), StoreError> {
        self.wait(async {
            let mut transaction = self.pool.begin().await?;
            sqlx::query(
                "UPDATE task SET status = $2, output = $3, error = $4, finished_ms = $5,
                 bytes = bytes + $6 WHERE id = $1 AND finished_ms IS NULL",
            )
            .bind(id)
            .bind(status.as_str())
            .bind(output)
            .bind(error)
            .bind(now_ms())
            .bind(i64::try_from(bytes).unwrap_or(i64::MAX))
            .execute(&mut *transaction)
            .await?;
            sqlx::query("DELETE FROM hold WHERE task = $1")
                .bind(id)
                .execute(&mut *transaction)
                .await?;
            transaction.commit().await?;
            Ok(())
        })
    }

    pub fn bytes(&self) -> Result<u64, StoreError> {
        self.sum(
            "SELECT coalesce(sum(bytes), 0)::bigint FROM usage WHERE $1 = ''",
            "",
        )
    }

    pub fn bytes_of(&self, uid: &str) -> Result<u64, StoreError> {
        self.sum(
            "SELECT coalesce(sum(bytes), 0)::bigint FROM usage WHERE uid = $1",
            uid,
        )
    }

    fn sum(&self, statement: &'static str, uid: &str) -> Result<u64, StoreError> {
        let query = sqlx::query_scalar(statement).bind(uid);
        let bytes: i64 = self.wait(query.fetch_one(&self.pool))?;
        Ok(bytes.max(0).unsigned_abs())
    }

    /// Without those that an unfinished task is made from.
    pub fn ended_after(
        &self,
        after: Place,
        before_ms: i64,
        count: usize,
    ) -> Result<Vec<Ended>, StoreError> {
        let rows = self.wait(
            sqlx::query(
                "SELECT id, finished_ms, seq, bytes FROM task
                 WHERE finished_ms IS NOT NULL AND (finished_ms, seq) > ($1, $2)
                 AND finished_ms < $3
                 AND NOT EXISTS (SELECT 1 FROM hold WHERE held = task.id)
                 ORDER BY finished_ms, seq LIMIT $4",
            )
            .bind(after.ended_ms)
            .bind(after.seq)
            .bind(before_ms)
            .bind(count as i64)
            .fetch_all(&self.pool),
        )?;
        let read = |row: &PgRow| Ended {
            id: row.get(0),
            place: Place {
                ended_ms: row.get(1),
                seq: row.get(2),
            },
            bytes: row.get::<i64, _>(3).max(0).unsigned_abs(),
        };
        Ok(rows.iter().map(read).collect())
    }

    pub fn remove(&self, tasks: &[Ended]) -> Result<(), StoreError> {
        let places: Vec<i64> = tasks.iter().map(|task| task.place.seq).collect();
        self.wait(
            sqlx::query("DELETE FROM task WHERE seq = ANY($1) AND finished_ms IS NOT NULL")
                .bind(places)
                .execute(&self.pool),
        )?;
        Ok(())
    }
}

const ANSWERED: &str = "SELECT id, status, fingerprint FROM submission
     WHERE account = $1 AND key = $2 AND created_ms > $3";

/// Writes down what is about to be answered, unless the key has been answered already. Another call
/// with it, at whichever process, is waited for.
async fn remember(
    transaction: &mut Transaction<'_, Database>,
    task: &Task,
    submission: &Submission,
    now: i64,
) -> Result<Option<Answered>, sqlx::Error> {
    let (account, key) = (&submission.account, submission.key.as_str());
    let written = sqlx::query(
        "INSERT INTO submission VALUES ($1, $2, $3, $4, $5, $6)
         ON CONFLICT (account, key) DO UPDATE SET fingerprint = excluded.fingerprint,
         id = excluded.id, status = excluded.status, created_ms = excluded.created_ms
         WHERE submission.created_ms <= $7",
    )
    .bind(account)
    .bind(key)
    .bind(&submission.fingerprint)
    .bind(&task.id)
    .bind(task.status.as_str())
    .bind(now)
    .bind(oldest_kept(now))
    .execute(&mut **transaction)
    .await?;
    if written.rows_affected() == 1 {
        return Ok(None);
    }
    let row = sqlx::query(ANSWERED)
        .bind(account)
        .bind(key)
        .bind(oldest_kept(now))
        .fetch_one(&mut **transaction)
        .await?;
    Ok(Some(read_answered(&row)))
}

fn read_answered(row: &PgRow) -> Answered {
    Answered {
        id: row.get(0),
        status: StatusWord::from(row.get::<&str, _>(1)),
        fingerprint: row.get(2),
    }
}

fn read_unfinished(row: &PgRow) -> Unfinished {
    Unfinished {
        id: row.get(0),
        uid: row.get(1),
        model: ModelId::new(row.get::<String, _>(2), row.get::<String, _>(3)),
        created: row.get(4),
        input: row.get(5),
    }
}

//! Stores the tasks in PostgreSQL, for any number of processes.

use std::sync::{Arc, LazyLock, Once};
use std::time::Duration;

use atelier_contract::{ModelId, StatusWord};
use sqlx::migrate::Migrator;
use sqlx::postgres::PgPoolOptions;
use sqlx::{PgPool, Row};
use tokio::sync::mpsc::{self, UnboundedSender};

use super::client_runtime;
use crate::changes::Changes;
use crate::idempotency::Submission;
use crate::report::{Preview, Report};
use crate::store::{
    EndPosition, Ended, Failed, FirstResponse, Order, Progress, Store, StoreError, Task,
    Unfinished, json,
};
use crate::uploads::Upload;

mod allowance;
mod answer;
mod cancel;
mod changed;
mod end;
mod queue_tables;
mod report;
mod secret;
mod sent;
mod submission;
mod turn;
mod unfinished;
mod upload;
mod usage;
mod webhook;

pub use webhook::secret as webhook_secret;

static MIGRATIONS: Migrator = sqlx::migrate!("./migrations");

/// The maximum number of connections per process.
const MAX_CONNECTIONS: u32 = 16;

/// How long a call waits for a connection.
const TIMEOUT: Duration = Duration::from_secs(10);

/// How long a probe waits for a connection.
const PROBE_TIMEOUT: Duration = Duration::from_secs(5);

/// The interval of a process's heartbeats.
pub const HEARTBEAT: Duration = Duration::from_secs(3);

/// The number of missed heartbeats after which a process is considered dead, and others take over its tasks.
pub const MAX_MISSED_HEARTBEATS: usize = 3;

/// The time without a heartbeat after which a process is considered dead.
pub const DEAD_AFTER: Duration =
    Duration::from_secs(HEARTBEAT.as_secs() * MAX_MISSED_HEARTBEATS as u64);

/// A random id of this process, part of the names of its queue workers.
pub static PROCESS: LazyLock<String> = LazyLock::new(|| {
    let random = getrandom::u64().unwrap_or_default();
    format!("{}-{random:016x}", std::process::id())
});

/// A pool of connections to the database. Its calls block.
#[derive(Debug, Clone)]
pub struct Postgres {
    pool: PgPool,
    changes: Arc<Changes>,
    /// Completed when the notifications about changed tasks are received.
    listening: Arc<Once>,
    /// The notifications of new tasks.
    notifications: UnboundedSender<String>,
}

impl Postgres {
    /// Connects to the database, and creates or migrates its tables. Processes that start concurrently wait for each
    /// other.
    ///
    /// # Errors
    ///
    /// As for [`Self::connect`]; also [`StoreError::Migration`] if the tables can't be created or migrated.
    pub fn open(url: &str) -> Result<Self, StoreError> {
        let database = Self::connect(url)?;
        database.wait(MIGRATIONS.run(&database.pool))?;
        Ok(database)
    }

    /// Connects to the database without a migration: its tables may be missing.
    ///
    /// # Errors
    ///
    /// [`StoreError::Server`] if the address is wrong, or no server there accepts these credentials within some
    /// seconds.
    pub fn connect(url: &str) -> Result<Self, StoreError> {
        let options = PgPoolOptions::new()
            .max_connections(MAX_CONNECTIONS)
            .acquire_timeout(TIMEOUT);
        let pool = client_runtime::wait(options.connect(url))?;
        let (notifications, new_tasks) = mpsc::unbounded_channel();
        client_runtime::spawn(changed::send(pool.clone(), new_tasks));
        Ok(Self {
            pool,
            changes: Arc::default(),
            listening: Arc::new(Once::new()),
            notifications,
        })
    }

    /// Checks that the database is reachable and accepts these credentials. Returns its version.
    ///
    /// # Errors
    ///
    /// [`StoreError::Server`] if the address is wrong, or no server there accepts these credentials within some
    /// seconds.
    pub fn probe(url: &str) -> Result<String, StoreError> {
        let version = async {
            let options = PgPoolOptions::new()
                .max_connections(1)
                .acquire_timeout(PROBE_TIMEOUT);
            let pool = options.connect(url).await?;
            sqlx::query_scalar("SHOW server_version")
                .fetch_one(&pool)
                .await
        };
        Ok(client_runtime::wait(version)?)
    }

    pub fn pool(&self) -> &PgPool {
        &self.pool
    }

    pub fn wait<T>(&self, work: impl Future<Output = T>) -> T {
        client_runtime::wait(work)
    }

    fn update(&self, statement: &'static str, id: &str) -> Result<(), StoreError> {
        self.wait(sqlx::query(statement).bind(id).execute(&self.pool))?;
        Ok(())
    }
}

impl Store for Postgres {
    fn insert(
        &self,
        task: &Task,
        submission: Option<&Submission>,
    ) -> Result<Option<FirstResponse>, StoreError> {
        submission::insert(self, task, submission)
    }

    fn first_response(&self, submission: &Submission) -> Result<Option<FirstResponse>, StoreError> {
        submission::first_response(self, submission)
    }

    fn progress(&self, id: &str) -> Result<Option<Progress>, StoreError> {
        self.wait(async {
            let row = sqlx::query(
                "SELECT id, uid, category, subcategory, status, output, error, words, canceled > 0,
                     progress, preview, finished_ms
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
                report: report::read_report(row.get(7), row.get(9), row.get(10)),
                canceled: row.get(8),
                ended_ms: row.get(11),
            }))
        })
    }

    fn changes(&self) -> &Arc<Changes> {
        self.listening.call_once(|| {
            client_runtime::spawn(changed::receive(self.pool.clone(), self.changes.clone()));
        });
        &self.changes
    }

    fn try_write(&self) -> Result<(), StoreError> {
        self.update("UPDATE usage SET bytes = bytes WHERE uid = $1", "")
    }

    fn set_processing(&self, id: &str) -> Result<bool, StoreError> {
        let changed = self.wait(
            sqlx::query(
                // Another attempt may have reported something.
                "UPDATE task SET status = 'processing', words = NULL, progress = NULL, preview = NULL
                 WHERE id = $1 AND finished_ms IS NULL",
            )
            .bind(id)
            .execute(&self.pool),
        )?;
        Ok(changed.rows_affected() > 0)
    }

    fn set_report(
        &self,
        id: &str,
        report: &Report,
        preview: Option<&Preview>,
    ) -> Result<(), StoreError> {
        report::set_report(self, id, report, preview)
    }

    fn preview(&self, id: &str) -> Result<Option<Preview>, StoreError> {
        report::preview(self, id)
    }

    /// Returns no tasks: the shared queue contains them.
    fn unfinished(&self) -> Result<Vec<Unfinished>, StoreError> {
        Ok(Vec::new())
    }

    fn order(&self, id: &str) -> Result<Option<Order>, StoreError> {
        sent::order(self, id)
    }

    fn set_sent(&self, id: &str, may_resend: bool) -> Result<bool, StoreError> {
        sent::set_sent(self, id, may_resend)
    }

    fn set_unsent(&self, id: &str) -> Result<(), StoreError> {
        sent::set_unsent(self, id)
    }

    fn save_answer(&self, id: &str, answer: &[u8]) -> Result<bool, StoreError> {
        answer::save_answer(self, id, answer)
    }

    fn saved_answer(&self, id: &str) -> Result<Option<Vec<u8>>, StoreError> {
        answer::saved_answer(self, id)
    }

    fn complete(&self, id: &str, output: &[String], bytes: u64) -> Result<bool, StoreError> {
        end::complete(self, id, output, bytes)
    }

    fn fail(&self, id: &str, message: &str, failure: Failed) -> Result<bool, StoreError> {
        end::fail(self, id, message, failure)
    }

    fn cancel(&self, id: &str) -> Result<bool, StoreError> {
        cancel::cancel(self, id)
    }

    fn is_stopping(&self, id: &str) -> Result<bool, StoreError> {
        cancel::is_stopping(self, id)
    }

    fn set_stopped(&self, id: &str) -> Result<(), StoreError> {
        self.update(
            "UPDATE task SET canceled = 2 WHERE id = $1 AND canceled = 1",
            id,
        )
    }

    fn canceled_of(&self, ids: &[String]) -> Result<Vec<String>, StoreError> {
        cancel::canceled_of(self, ids)
    }

    fn delete_old_secrets(&self, model: &ModelId, names: &[&str]) -> Result<usize, StoreError> {
        secret::delete_old_secrets(self, model, names)
    }

    fn bytes(&self) -> Result<u64, StoreError> {
        usage::bytes(self)
    }

    fn bytes_of(&self, uid: &str) -> Result<u64, StoreError> {
        usage::bytes_of(self, uid)
    }

    fn ended_after(
        &self,
        after: EndPosition,
        before_ms: i64,
        count: usize,
    ) -> Result<Vec<Ended>, StoreError> {
        usage::ended_after(self, after, before_ms, count)
    }

    fn remove(&self, tasks: &[Ended]) -> Result<(), StoreError> {
        usage::remove(self, tasks)
    }

    /// Returns no tasks: all versions that support PostgreSQL store the sizes of tasks.
    fn tasks_without_size(&self, _count: usize) -> Result<Vec<String>, StoreError> {
        Ok(Vec::new())
    }

    fn set_sizes(&self, _tasks: &[(String, u64)]) -> Result<(), StoreError> {
        Ok(())
    }

    fn upload(
        &self,
        owner: &str,
        sha256: &str,
        expires_ms: i64,
    ) -> Result<Option<Upload>, StoreError> {
        upload::find(self, owner, sha256, expires_ms)
    }

    fn add_upload(&self, upload: &Upload) -> Result<Option<Upload>, StoreError> {
        upload::add(self, upload)
    }

    fn expired_uploads(&self, count: usize) -> Result<Vec<String>, StoreError> {
        upload::expired(self, count)
    }

    fn claim_upload(&self, id: &str) -> Result<bool, StoreError> {
        upload::claim(self, id)
    }

    fn remove_upload(&self, id: &str) -> Result<(), StoreError> {
        upload::remove(self, id)
    }
}

//! The tasks in PostgreSQL, for any number of processes. What is answered was committed before.

use std::sync::LazyLock;
use std::time::Duration;

use atelier_contract::{ModelId, StatusWord};
use sqlx::migrate::Migrator;
use sqlx::postgres::PgPoolOptions;
use sqlx::{PgPool, Row};

use super::{Progress, StoreError, json};
use crate::client_runtime;

mod allowance;
mod answer;
mod end;
mod room;
mod secret;
mod sent;
mod submission;
mod turn;
mod unfinished;

static MIGRATIONS: Migrator = sqlx::migrate!("./migrations");

/// Each process has so many connections at most.
const CONNECTIONS: u32 = 16;

/// How long a call waits for one of them.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Whether it is there is known by then.
const PROBE: Duration = Duration::from_secs(5);

/// How often a process says that it is alive.
pub const HEARTBEAT: Duration = Duration::from_secs(3);

/// A process that has missed so many heartbeats is dead, and its tasks are others'.
pub const MISSED: usize = 3;

/// How long a process has not been heard of when it is dead.
pub const DEAD_AFTER: Duration = Duration::from_secs(HEARTBEAT.as_secs() * MISSED as u64);

/// This process, as a part of the names of its workers.
pub static PROCESS: LazyLock<String> = LazyLock::new(|| {
    let random = getrandom::u64().unwrap_or_default();
    format!("{}-{random:016x}", std::process::id())
});

/// The database, from wherever work may wait: its calls block.
#[derive(Debug, Clone)]
pub struct Postgres {
    pool: PgPool,
}

impl Postgres {
    /// Makes or migrates it. Processes that start at the same time wait for each other.
    ///
    /// # Errors
    ///
    /// As for [`Self::connect`]; also [`StoreError::Migration`] if the tables can't be made or migrated.
    pub fn open(url: &str) -> Result<Self, StoreError> {
        let database = Self::connect(url)?;
        database.wait(MIGRATIONS.run(&database.pool))?;
        Ok(database)
    }

    /// Connects to the database as it is, for a look: its tables may not be there.
    ///
    /// # Errors
    ///
    /// [`StoreError::Postgres`] if the address is wrong, or no server there answers and lets these credentials
    /// in within some seconds.
    pub fn connect(url: &str) -> Result<Self, StoreError> {
        let options = PgPoolOptions::new()
            .max_connections(CONNECTIONS)
            .acquire_timeout(TIMEOUT);
        let pool = client_runtime::wait(options.connect(url))?;
        Ok(Self { pool })
    }

    /// Looks whether it is there, and lets these credentials in; gives its version.
    ///
    /// # Errors
    ///
    /// [`StoreError::Postgres`] if the address is wrong, or no server there answers and lets these credentials
    /// in within some seconds.
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
        Ok(client_runtime::wait(version)?)
    }

    pub fn pool(&self) -> &PgPool {
        &self.pool
    }

    pub fn wait<T>(&self, work: impl Future<Output = T>) -> T {
        client_runtime::wait(work)
    }

    /// Gives the progress of a task. Its input is not read.
    ///
    /// # Errors
    ///
    /// [`StoreError::Postgres`] if the database can't be reached, or refuses the statement.
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

    /// Has the database answer, and take what is written.
    ///
    /// # Errors
    ///
    /// As for [`Self::progress`].
    pub fn try_write(&self) -> Result<(), StoreError> {
        self.update("UPDATE usage SET bytes = bytes WHERE uid = $1", "")
    }

    /// The task is being worked on.
    ///
    /// # Errors
    ///
    /// As for [`Self::progress`].
    pub fn set_processing(&self, id: &str) -> Result<(), StoreError> {
        self.update(
            "UPDATE task SET status = 'processing' WHERE id = $1 AND finished_ms IS NULL",
            id,
        )
    }

    /// Stores the last words of the task's model, for clients of other processes.
    ///
    /// # Errors
    ///
    /// As for [`Self::progress`].
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
}

//! The tasks, in SQLite. What is answered was committed before.

use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use atelier_contract::{ModelId, StatusWord};
use rusqlite::{Connection, OptionalExtension, Row, params};
use serde_json::{Map, Value};
use thiserror::Error;

/// A task as it is kept.
#[derive(Debug, Clone, PartialEq)]
pub struct Task {
    pub id: String,
    pub uid: String,
    pub model: ModelId,
    /// Every parameter with its value, defaults and the chosen seed included: running the task
    /// again gives the same output.
    pub input: Map<String, Value>,
    pub status: StatusWord,
    /// Paths below `/outputs/`, e.g. `3f…/0.png`. The URL is built per request.
    pub output: Vec<String>,
    pub error: Option<String>,
}

#[derive(Debug, Error)]
pub enum StoreError {
    #[error("the database failed: {0}")]
    Database(#[from] rusqlite::Error),
    #[error("the database was written by a newer version of this program (schema {0})")]
    Newer(i64),
}

/// The database. One connection: its statements take microseconds, apart from the commit.
#[derive(Debug)]
pub struct Store {
    connection: Mutex<Connection>,
}

const SCHEMA_VERSION: i64 = 1;

impl Store {
    /// Opens the database, making or migrating it. Only one process may have it open.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        let connection = Connection::open(path)?;
        // Exclusive: two services on one directory would both run the same tasks.
        connection.pragma_update(None, "locking_mode", "EXCLUSIVE")?;
        connection.pragma_update(None, "journal_mode", "WAL")?;
        // A task costs its owner something: it survives a power cut too.
        connection.pragma_update(None, "synchronous", "FULL")?;
        let version: i64 = connection.query_row("PRAGMA user_version", [], |row| row.get(0))?;
        match version {
            0 => {
                connection.execute_batch(
                    "BEGIN;
                     CREATE TABLE task (
                         seq INTEGER PRIMARY KEY,
                         id TEXT NOT NULL UNIQUE,
                         uid TEXT NOT NULL,
                         category TEXT NOT NULL,
                         subcategory TEXT NOT NULL,
                         input TEXT NOT NULL,
                         status TEXT NOT NULL,
                         output TEXT NOT NULL DEFAULT '[]',
                         error TEXT,
                         created_ms INTEGER NOT NULL,
                         finished_ms INTEGER
                     );
                     CREATE INDEX task_unfinished ON task (seq) WHERE finished_ms IS NULL;
                     CREATE INDEX task_by_uid ON task (uid, seq);
                     PRAGMA user_version = 1;
                     COMMIT;",
                )?;
            }
            SCHEMA_VERSION => {}
            newer => return Err(StoreError::Newer(newer)),
        }
        Ok(Self {
            connection: Mutex::new(connection),
        })
    }

    /// Writes a new task. When this returns, it is on disk.
    pub fn insert(&self, task: &Task) -> Result<(), StoreError> {
        self.with(|connection| {
            connection
                .prepare_cached(
                    "INSERT INTO task (id, uid, category, subcategory, input, status, created_ms)
                     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
                )?
                .execute(params![
                    task.id,
                    task.uid,
                    task.model.category,
                    task.model.subcategory,
                    Value::Object(task.input.clone()).to_string(),
                    task.status.as_str(),
                    now_ms(),
                ])
        })?;
        Ok(())
    }

    pub fn find(&self, id: &str) -> Result<Option<Task>, StoreError> {
        self.with(|connection| {
            connection
                .prepare_cached(
                    "SELECT id, uid, category, subcategory, input, status, output, error
                     FROM task WHERE id = ?1",
                )?
                .query_row([id], read)
                .optional()
        })
    }

    /// Tasks neither completed nor failed, oldest first.
    pub fn unfinished(&self) -> Result<Vec<String>, StoreError> {
        self.with(|connection| {
            connection
                .prepare_cached("SELECT id FROM task WHERE finished_ms IS NULL ORDER BY seq")?
                .query_map([], |row| row.get(0))?
                .collect()
        })
    }

    /// The task is being worked on.
    pub fn set_processing(&self, id: &str) -> Result<(), StoreError> {
        self.with(|connection| {
            connection
                .prepare_cached(
                    "UPDATE task SET status = 'processing' WHERE id = ?1 AND finished_ms IS NULL",
                )?
                .execute([id])
        })?;
        Ok(())
    }

    /// The task has its output.
    pub fn complete(&self, id: &str, output: &[String]) -> Result<(), StoreError> {
        let output = serde_json::json!(output).to_string();
        self.finish(id, StatusWord::Completed, &output, None)
    }

    /// The task ended without output.
    pub fn fail(&self, id: &str, message: &str) -> Result<(), StoreError> {
        self.finish(id, StatusWord::Failed, "[]", Some(message))
    }

    fn finish(
        &self,
        id: &str,
        status: StatusWord,
        output: &str,
        error: Option<&str>,
    ) -> Result<(), StoreError> {
        self.with(|connection| {
            connection
                .prepare_cached(
                    "UPDATE task SET status = ?2, output = ?3, error = ?4, finished_ms = ?5
                     WHERE id = ?1 AND finished_ms IS NULL",
                )?
                .execute(params![id, status.as_str(), output, error, now_ms()])
        })?;
        Ok(())
    }

    fn with<T>(
        &self,
        work: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        // A panic between two statements leaves the database as consistent as a kill would.
        let connection = self
            .connection
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        Ok(work(&connection)?)
    }
}

fn read(row: &Row<'_>) -> rusqlite::Result<Task> {
    let json = |text: String| serde_json::from_str(&text).unwrap_or(Value::Null);
    let status: String = row.get(5)?;
    Ok(Task {
        id: row.get(0)?,
        uid: row.get(1)?,
        model: ModelId::new(row.get::<_, String>(2)?, row.get::<_, String>(3)?),
        input: match json(row.get(4)?) {
            Value::Object(input) => input,
            _ => Map::new(),
        },
        status: StatusWord::from(status.as_str()),
        output: serde_json::from_value(json(row.get(6)?)).unwrap_or_default(),
        error: row.get(7)?,
    })
}

fn now_ms() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |time| {
        i64::try_from(time.as_millis()).unwrap_or(i64::MAX)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn task(id: &str) -> Task {
        let Value::Object(input) = json!({"prompt": "a", "seed": u64::MAX}) else {
            unreachable!("an object is written above")
        };
        Task {
            id: id.into(),
            uid: "me".into(),
            model: ModelId::new("image", "strata"),
            input,
            status: StatusWord::Queued,
            output: Vec::new(),
            error: None,
        }
    }

    #[test]
    fn tasks_come_back_as_they_were_after_the_database_was_closed() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("tasks.sqlite");
        let store = Store::open(&path).unwrap();
        for id in ["a", "b", "c"] {
            store.insert(&task(id)).unwrap();
        }
        store.set_processing("b").unwrap();
        store.complete("a", &["a/0.png".into()]).unwrap();
        drop(store);
        let store = Store::open(&path).unwrap();
        assert_eq!(store.unfinished().unwrap(), ["b", "c"]);
        let done = store.find("a").unwrap().unwrap();
        assert_eq!(done.status, StatusWord::Completed);
        assert_eq!(done.output, ["a/0.png"]);
        assert_eq!(done.input["seed"], json!(u64::MAX), "seeds stay exact");
        assert_eq!(store.find("d").unwrap(), None);
    }

    #[test]
    fn what_has_ended_does_not_change_any_more() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(&dir.path().join("t")).unwrap();
        store.insert(&task("a")).unwrap();
        store.fail("a", "no").unwrap();
        store.set_processing("a").unwrap();
        store.complete("a", &["a/0.png".into()]).unwrap();
        let task = store.find("a").unwrap().unwrap();
        assert_eq!(
            (task.status, task.error),
            (StatusWord::Failed, Some("no".into()))
        );
    }
}

//! The tasks: in SQLite, or with the feature `cluster` in PostgreSQL. What is answered was committed
//! before.

use std::time::{SystemTime, UNIX_EPOCH};

use atelier_contract::{ModelId, StatusWord};
use serde_json::{Map, Value};

use crate::idempotency::{Submission, TTL_SECONDS};
use crate::secrets::Secrets;

mod answer;
mod error;
mod migrations;
#[cfg(feature = "cluster")]
pub mod postgres;
pub mod room;
mod secret;
pub mod sqlite;

#[cfg(feature = "cluster")]
use postgres::Postgres;
use room::{Ended, Place};
use sqlite::Sqlite;

pub use error::StoreError;
pub use sqlite::{SCHEMA_VERSION, version_of};

/// A new task.
#[derive(Debug, Clone, PartialEq)]
pub struct Task {
    pub id: String,
    pub uid: String,
    pub model: ModelId,
    /// Every parameter with its value, defaults and the chosen seed included: running the task
    /// again gives the same output. The secret ones are not among them.
    pub input: Map<String, Value>,
    /// Stored until the task has ended.
    pub secrets: Secrets,
    /// The word it is accepted with.
    pub status: StatusWord,
}

/// The order for a task: what it is to be made from.
#[derive(Debug, Clone, PartialEq)]
pub struct Order {
    pub model: ModelId,
    /// Without the secret parameters.
    pub input: Map<String, Value>,
    pub secrets: Secrets,
    /// It may have been sent on to where its model runs, by this process or an earlier one.
    pub sent: bool,
    /// Another process has sent it, and is alive: it may be waiting for the answer.
    pub is_sender_alive: bool,
}

/// How far the failure of a task is final.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Failed {
    /// It stays failed.
    ForGood,
    /// A result that another process still gets completes the task all the same.
    UnlessResult,
}

/// A task that is still to be worked on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unfinished {
    pub id: String,
    pub uid: String,
    pub model: ModelId,
    /// The time of creation, in milliseconds since 1970.
    pub created: i64,
    /// The input, as it is written down.
    pub input: String,
}

/// The progress of a task.
#[derive(Debug, Clone, PartialEq)]
pub struct Progress {
    pub id: String,
    pub uid: String,
    pub model: ModelId,
    pub status: StatusWord,
    /// Paths below `/outputs/`, e.g. `3f…/0.png`. The URL is built per request.
    pub output: Vec<String>,
    pub error: Option<String>,
    /// The last words of its model, if another process may have heard them.
    pub words: Option<String>,
}

/// The answer to the first submission with a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answered {
    pub id: String,
    pub status: StatusWord,
    /// The fingerprint of the request that it answered.
    pub fingerprint: String,
}

/// The database.
#[derive(Debug)]
pub enum Store {
    Sqlite(Sqlite),
    #[cfg(feature = "cluster")]
    Postgres(Postgres),
}

/// Asks whichever it is.
macro_rules! ask {
    ($store:expr, $database:ident => $answer:expr) => {
        match $store {
            Store::Sqlite($database) => $answer,
            #[cfg(feature = "cluster")]
            Store::Postgres($database) => $answer,
        }
    };
}

impl Store {
    /// Writes a new task. When this returns, it is on disk, and so is the key it was submitted
    /// with: both or neither.
    ///
    /// If the key has been answered already, nothing is written, and that answer is returned.
    ///
    /// # Errors
    ///
    /// The database can't be read or written: [`StoreError::Database`] of SQLite, `Postgres` of PostgreSQL.
    /// Nothing is written then.
    pub fn insert(
        &self,
        task: &Task,
        submission: Option<&Submission>,
    ) -> Result<Option<Answered>, StoreError> {
        ask!(self, database => database.insert(task, submission))
    }

    /// Gives the answer to the first submission with this key, if that was within a day.
    ///
    /// # Errors
    ///
    /// The database can't be read.
    pub fn answered(&self, submission: &Submission) -> Result<Option<Answered>, StoreError> {
        ask!(self, database => database.answered(submission))
    }

    /// Gives the progress of a task. Its input is not read.
    ///
    /// # Errors
    ///
    /// The database can't be read. An id that is unknown gives `None`.
    pub fn progress(&self, id: &str) -> Result<Option<Progress>, StoreError> {
        ask!(self, database => database.progress(id))
    }

    /// Gives the order for a task.
    ///
    /// # Errors
    ///
    /// As for [`Self::progress`].
    pub fn order(&self, id: &str) -> Result<Option<Order>, StoreError> {
        ask!(self, database => database.order(id))
    }

    /// Tasks that this process alone is to take up, oldest first; of a queue there are none.
    ///
    /// # Errors
    ///
    /// The database can't be read.
    pub fn unfinished(&self) -> Result<Vec<Unfinished>, StoreError> {
        match self {
            Self::Sqlite(database) => database.unfinished(),
            #[cfg(feature = "cluster")]
            Self::Postgres(_) => Ok(Vec::new()),
        }
    }

    /// Has the database answer, and take what is written.
    ///
    /// # Errors
    ///
    /// The database does not answer, or has no room.
    pub fn try_write(&self) -> Result<(), StoreError> {
        ask!(self, database => database.try_write())
    }

    /// Stores that the task is about to be sent to where its model runs. Returns `false` if it has ended, or was
    /// sent before and not `again`: two attempts of two processes may have begun at the same time.
    ///
    /// # Errors
    ///
    /// The database can't be written.
    pub fn set_sent(&self, id: &str, again: bool) -> Result<bool, StoreError> {
        ask!(self, database => database.set_sent(id, again))
    }

    /// It was not: the runner that was to take it has refused it, or was not there.
    ///
    /// # Errors
    ///
    /// The database can't be written.
    pub fn set_unsent(&self, id: &str) -> Result<(), StoreError> {
        ask!(self, database => database.set_unsent(id))
    }

    /// Saves the answer to a task that was sent, until the task has ended: an attempt after a restart
    /// continues from it. Returns `false` if the task has ended for good. One that failed
    /// [`Failed::UnlessResult`] is unfinished again.
    ///
    /// # Errors
    ///
    /// The database can't be written.
    pub fn save_answer(&self, id: &str, answer: &[u8]) -> Result<bool, StoreError> {
        ask!(self, database => database.save_answer(id, answer))
    }

    /// Returns the answer that [`Self::save_answer`] has saved.
    ///
    /// # Errors
    ///
    /// The database can't be read.
    pub fn saved_answer(&self, id: &str) -> Result<Option<Vec<u8>>, StoreError> {
        ask!(self, database => database.saved_answer(id))
    }

    /// The task is being worked on.
    ///
    /// # Errors
    ///
    /// The database can't be written.
    pub fn set_processing(&self, id: &str) -> Result<(), StoreError> {
        ask!(self, database => database.set_processing(id))
    }

    /// Stores the last words of the task's model, for other processes.
    pub fn set_words(&self, id: &str, words: &str) {
        match self {
            Self::Sqlite(_) => {
                let _ = (id, words);
            }
            #[cfg(feature = "cluster")]
            Self::Postgres(database) => {
                if let Err(error) = database.set_words(id, words) {
                    tracing::warn!("task {id}: what its model says is lost: {error}");
                }
            }
        }
    }

    /// The task has its output, of so many bytes.
    ///
    /// # Errors
    ///
    /// The database can't be written.
    pub fn complete(&self, id: &str, output: &[String], bytes: u64) -> Result<(), StoreError> {
        let output = serde_json::json!(output).to_string();
        let status = StatusWord::Completed;
        ask!(self, database => database.finish(id, &status, &output, None, bytes))
    }

    /// The task ended without output.
    ///
    /// # Errors
    ///
    /// The database can't be written.
    pub fn fail(&self, id: &str, message: &str, failure: Failed) -> Result<(), StoreError> {
        let status = StatusWord::Failed;
        match self {
            Self::Sqlite(database) => {
                // No other process can have a result.
                let _ = failure;
                database.finish(id, &status, "[]", Some(message), 0)
            }
            #[cfg(feature = "cluster")]
            Self::Postgres(database) => database.fail(id, message, failure),
        }
    }

    /// Deletes these parameters from the inputs of the model's tasks that have ended. Returns of how many tasks.
    ///
    /// # Errors
    ///
    /// The database can't be read or written: some may be deleted.
    pub fn delete_old_secrets(&self, model: &ModelId, names: &[&str]) -> Result<usize, StoreError> {
        ask!(self, database => database.delete_old_secrets(model, names))
    }

    /// The bytes of all tasks.
    ///
    /// # Errors
    ///
    /// The database can't be read.
    pub fn bytes(&self) -> Result<u64, StoreError> {
        ask!(self, database => database.bytes())
    }

    /// The bytes of this user's tasks.
    ///
    /// # Errors
    ///
    /// The database can't be read.
    pub fn bytes_of(&self, uid: &str) -> Result<u64, StoreError> {
        ask!(self, database => database.bytes_of(uid))
    }

    /// The next tasks after this place that ended before that time, oldest first.
    ///
    /// # Errors
    ///
    /// The database can't be read.
    pub fn ended_after(
        &self,
        after: Place,
        before_ms: i64,
        count: usize,
    ) -> Result<Vec<Ended>, StoreError> {
        ask!(self, database => database.ended_after(after, before_ms, count))
    }

    /// Takes tasks away that have ended; any other stays.
    ///
    /// # Errors
    ///
    /// The database can't be written: all of them stay.
    pub fn remove(&self, tasks: &[Ended]) -> Result<(), StoreError> {
        ask!(self, database => database.remove(tasks))
    }

    /// Tasks that ended before their bytes were counted: those of an earlier version.
    ///
    /// # Errors
    ///
    /// The database can't be read.
    pub fn unmeasured(&self, count: usize) -> Result<Vec<String>, StoreError> {
        match self {
            Self::Sqlite(database) => database.unmeasured(count),
            #[cfg(feature = "cluster")]
            Self::Postgres(_) => Ok(Vec::new()),
        }
    }

    /// Notes what their outputs take; their inputs are measured here.
    ///
    /// # Errors
    ///
    /// The database can't be written: none is noted.
    pub fn measured(&self, tasks: &[(String, u64)]) -> Result<(), StoreError> {
        match self {
            Self::Sqlite(database) => database.measured(tasks),
            #[cfg(feature = "cluster")]
            Self::Postgres(_) => Ok(()),
        }
    }
}

fn oldest_kept(now: i64) -> i64 {
    now.saturating_sub(i64::from(TTL_SECONDS) * 1000)
}

/// An input without these parameters; `None` if it has none of them.
fn without(input: &str, names: &[&str]) -> Option<String> {
    let mut input = json(input);
    let fields = input.as_object_mut()?;
    let before = fields.len();
    fields.retain(|name, _| !names.contains(&name.as_str()));
    (fields.len() < before).then(|| input.to_string())
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or(Value::Null)
}

/// Gives the present time in milliseconds since 1970.
pub fn now_ms() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |time| {
        i64::try_from(time.as_millis()).unwrap_or(i64::MAX)
    })
}

#[cfg(test)]
mod tests;

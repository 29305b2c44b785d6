//! The tasks, in a database: in SQLite ([`sqlite`]), or with the feature `cluster` in PostgreSQL. What is
//! answered was committed before.

use std::time::{SystemTime, UNIX_EPOCH};

use atelier_contract::{ModelId, StatusWord};
use serde_json::{Map, Value};

use crate::idempotency::{Submission, TTL_SECONDS};
use crate::secrets::Secrets;

mod error;
pub mod sqlite;

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

/// A task that has ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ended {
    pub id: String,
    /// The task's place among those that have ended, oldest first.
    pub position: EndPosition,
    /// The bytes of its input and its outputs.
    pub bytes: u64,
}

/// When a task ended, and its number.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct EndPosition {
    /// In milliseconds since 1970.
    pub ended_ms: i64,
    /// The number of the task's row, ascending as tasks are taken in.
    pub seq: i64,
}

/// So many inputs are read at a time for [`Store::delete_old_secrets`].
pub(crate) const SECRETS_STEP: usize = 500;

/// The database of the tasks. Its calls block.
pub trait Store: Send + Sync {
    /// Writes a new task. When this returns, it is on disk, and so is the key it was submitted
    /// with: both or neither.
    ///
    /// If the key has been answered already, nothing is written, and that answer is returned.
    ///
    /// # Errors
    ///
    /// The database can't be read or written. Nothing is written then.
    fn insert(
        &self,
        task: &Task,
        submission: Option<&Submission>,
    ) -> Result<Option<Answered>, StoreError>;

    /// Gives the answer to the first submission with this key, if that was within a day.
    ///
    /// # Errors
    ///
    /// The database can't be read.
    fn answered(&self, submission: &Submission) -> Result<Option<Answered>, StoreError>;

    /// Gives the progress of a task. Its input is not read.
    ///
    /// # Errors
    ///
    /// The database can't be read. An id that is unknown gives `None`.
    fn progress(&self, id: &str) -> Result<Option<Progress>, StoreError>;

    /// Gives the order for a task.
    ///
    /// # Errors
    ///
    /// As for [`Self::progress`].
    fn order(&self, id: &str) -> Result<Option<Order>, StoreError>;

    /// Tasks that this process alone is to take up, oldest first; of a queue there are none.
    ///
    /// # Errors
    ///
    /// The database can't be read.
    fn unfinished(&self) -> Result<Vec<Unfinished>, StoreError>;

    /// Has the database answer, and take what is written.
    ///
    /// # Errors
    ///
    /// The database does not answer, or has no room.
    fn try_write(&self) -> Result<(), StoreError>;

    /// Stores that the task is about to be sent to where its model runs. Returns `false` if it has ended, or was
    /// sent before and not `again`: two attempts of two processes may have begun at the same time.
    ///
    /// # Errors
    ///
    /// The database can't be written.
    fn set_sent(&self, id: &str, again: bool) -> Result<bool, StoreError>;

    /// It was not: the runner that was to take it has refused it, or was not there.
    ///
    /// # Errors
    ///
    /// The database can't be written.
    fn set_unsent(&self, id: &str) -> Result<(), StoreError>;

    /// Saves the answer to a task that was sent, until the task has ended: an attempt after a restart
    /// continues from it. Returns `false` if the task has ended for good. One that failed
    /// [`Failed::UnlessResult`] is unfinished again.
    ///
    /// # Errors
    ///
    /// The database can't be written.
    fn save_answer(&self, id: &str, answer: &[u8]) -> Result<bool, StoreError>;

    /// Returns the answer that [`Self::save_answer`] has saved.
    ///
    /// # Errors
    ///
    /// The database can't be read.
    fn saved_answer(&self, id: &str) -> Result<Option<Vec<u8>>, StoreError>;

    /// The task is being worked on.
    ///
    /// # Errors
    ///
    /// The database can't be written.
    fn set_processing(&self, id: &str) -> Result<(), StoreError>;

    /// Stores the last words of the task's model, for other processes.
    fn set_words(&self, id: &str, words: &str);

    /// The task has its output, of so many bytes.
    ///
    /// # Errors
    ///
    /// The database can't be written.
    fn complete(&self, id: &str, output: &[String], bytes: u64) -> Result<(), StoreError>;

    /// The task ended without output.
    ///
    /// # Errors
    ///
    /// The database can't be written.
    fn fail(&self, id: &str, message: &str, failure: Failed) -> Result<(), StoreError>;

    /// Deletes these parameters from the inputs of the model's tasks that have ended. Returns of how many tasks.
    ///
    /// # Errors
    ///
    /// The database can't be read or written: some may be deleted.
    fn delete_old_secrets(&self, model: &ModelId, names: &[&str]) -> Result<usize, StoreError>;

    /// The bytes of all tasks.
    ///
    /// # Errors
    ///
    /// The database can't be read.
    fn bytes(&self) -> Result<u64, StoreError>;

    /// The bytes of this user's tasks.
    ///
    /// # Errors
    ///
    /// The database can't be read.
    fn bytes_of(&self, uid: &str) -> Result<u64, StoreError>;

    /// The next tasks after this place that ended before that time, oldest first.
    ///
    /// # Errors
    ///
    /// The database can't be read.
    fn ended_after(
        &self,
        after: EndPosition,
        before_ms: i64,
        count: usize,
    ) -> Result<Vec<Ended>, StoreError>;

    /// Takes tasks away that have ended; any other stays.
    ///
    /// # Errors
    ///
    /// The database can't be written: all of them stay.
    fn remove(&self, tasks: &[Ended]) -> Result<(), StoreError>;

    /// Tasks that ended before their bytes were counted: those of an earlier version.
    ///
    /// # Errors
    ///
    /// The database can't be read.
    fn unmeasured(&self, count: usize) -> Result<Vec<String>, StoreError>;

    /// Notes what their outputs take; their inputs are measured here.
    ///
    /// # Errors
    ///
    /// The database can't be written: none is noted.
    fn measured(&self, tasks: &[(String, u64)]) -> Result<(), StoreError>;
}

pub(crate) fn oldest_kept(now: i64) -> i64 {
    now.saturating_sub(i64::from(TTL_SECONDS) * 1000)
}

/// An input without these parameters; `None` if it has none of them.
pub(crate) fn without(input: &str, names: &[&str]) -> Option<String> {
    let mut input = json(input);
    let fields = input.as_object_mut()?;
    let before = fields.len();
    fields.retain(|name, _| !names.contains(&name.as_str()));
    (fields.len() < before).then(|| input.to_string())
}

pub(crate) fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or(Value::Null)
}

/// Gives the present time in milliseconds since 1970.
pub fn now_ms() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |time| {
        i64::try_from(time.as_millis()).unwrap_or(i64::MAX)
    })
}

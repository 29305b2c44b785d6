//! Stores the tasks: in SQLite ([`sqlite`]), or with the feature `cluster` in PostgreSQL. Each change is committed
//! before the service responds.

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use atelier_contract::{ModelId, StatusWord};
use serde_json::{Map, Value, json};

use crate::changes::Changes;
use crate::idempotency::{Submission, TTL_SECONDS};
use crate::report::{Preview, Report};
use crate::secrets::Secrets;
use crate::uploads::Upload;
use crate::webhooks::Webhook;

mod error;
pub mod sqlite;
pub mod webhook;

pub use error::StoreError;
pub use sqlite::{SCHEMA_VERSION, version_of};
pub use webhook::WebhookStore;

/// The error of a canceled task.
pub const CANCELED: &str = "Canceled";

/// A new task.
#[derive(Debug, Clone, PartialEq)]
pub struct Task {
    pub id: String,
    pub uid: String,
    pub model: ModelId,
    /// All parameters except secret ones, including defaults and the chosen seed, so that another run gives the
    /// same output.
    pub input: Map<String, Value>,
    /// Stored until the task has ended.
    pub secrets: Secrets,
    /// The status in the response to the submission.
    pub status: StatusWord,
    pub webhook: Option<Webhook>,
}

/// The data that a worker needs to run a task.
#[derive(Debug, Clone, PartialEq)]
pub struct Order {
    pub model: ModelId,
    /// Without the secret parameters.
    pub input: Map<String, Value>,
    pub secrets: Secrets,
    /// The time of creation, in milliseconds since 1970.
    pub created: i64,
    /// Whether the task may have been sent to its model's server, by this process or an earlier one.
    pub sent: bool,
    /// Whether another live process has sent the task, and may be waiting for the response.
    pub is_sender_alive: bool,
}

/// Whether the failure of a task is final.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Failed {
    /// The task stays failed.
    Permanent,
    /// The task is completed if another process still receives a result.
    UnlessResult,
}

/// A task that has not ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unfinished {
    pub id: String,
    pub uid: String,
    pub model: ModelId,
    /// The time of creation, in milliseconds since 1970.
    pub created: i64,
    /// The input, as stored.
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
    /// What its model has reported, if the store has it for other processes.
    pub report: Option<Report>,
    /// Whether the task was canceled.
    pub canceled: bool,
    /// When the task ended, in milliseconds since 1970.
    pub ended_ms: Option<i64>,
}

impl Progress {
    /// Returns the data of `status` for a task that has ended (INTERFACE "POST /v2/status").
    pub fn ended_data(&self) -> Value {
        let mut data = json!({"id": self.id, "status": self.status});
        if let Some(error) = &self.error {
            data["error"] = error.as_str().into();
        }
        if self.canceled {
            // Not part of INTERFACE.
            data["canceled"] = true.into();
        }
        data
    }
}

/// The response to the first submission with a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FirstResponse {
    pub id: String,
    pub status: StatusWord,
    /// The fingerprint of that submission.
    pub fingerprint: String,
}

/// A task that has ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ended {
    pub id: String,
    /// The task's position among the ended tasks, oldest first.
    pub position: EndPosition,
    /// The bytes of its input and its outputs.
    pub bytes: u64,
}

/// A cursor into the ended tasks: when a task ended, and its number.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct EndPosition {
    /// In milliseconds since 1970.
    pub ended_ms: i64,
    /// The number of the task's row, ascending in the order of acceptance.
    pub seq: i64,
}

/// The number of inputs that [`Store::delete_old_secrets`] reads at a time.
pub(crate) const SECRETS_STEP: usize = 500;

/// Stores tasks in a database. Its calls block.
pub trait Store: WebhookStore + Send + Sync {
    /// Stores a new task together with its idempotency key, in one transaction. Both are on disk when this returns.
    ///
    /// If the key was used before, stores nothing and returns the earlier response.
    ///
    /// # Errors
    ///
    /// The database can't be read or written. Nothing is written then.
    fn insert(
        &self,
        task: &Task,
        submission: Option<&Submission>,
    ) -> Result<Option<FirstResponse>, StoreError>;

    /// Returns the response to the first submission with this key, if that was within a day.
    ///
    /// # Errors
    ///
    /// The database can't be read.
    fn first_response(&self, submission: &Submission) -> Result<Option<FirstResponse>, StoreError>;

    /// Returns the progress of a task, or `None` for an unknown id. Does not read the input.
    ///
    /// # Errors
    ///
    /// The database can't be read.
    fn progress(&self, id: &str) -> Result<Option<Progress>, StoreError>;

    /// Returns the data that a worker needs to run a task; `None` if the id is unknown or the task has ended.
    ///
    /// # Errors
    ///
    /// As for [`Self::progress`].
    fn order(&self, id: &str) -> Result<Option<Order>, StoreError>;

    /// Returns the tasks that this process has to resume, oldest first, after the canceled ones that its models may
    /// still run. Empty with a shared queue.
    ///
    /// # Errors
    ///
    /// The database can't be read.
    fn unfinished(&self) -> Result<Vec<Unfinished>, StoreError>;

    /// Returns the changes of tasks that this process knows of: its own ones, and with a shared database all.
    fn changes(&self) -> &Arc<Changes>;

    /// Checks that the database can be written.
    ///
    /// # Errors
    ///
    /// The database does not respond, or its disk is full.
    fn try_write(&self) -> Result<(), StoreError>;

    /// Stores that the task is about to be sent to its model's server. Returns `false` if the task has ended, or if
    /// it was sent before and `may_resend` is `false`: two processes may have started an attempt concurrently.
    ///
    /// # Errors
    ///
    /// The database can't be written.
    fn set_sent(&self, id: &str, may_resend: bool) -> Result<bool, StoreError>;

    /// Stores that the task was not sent: the server refused it or was unavailable.
    ///
    /// # Errors
    ///
    /// The database can't be written.
    fn set_unsent(&self, id: &str) -> Result<(), StoreError>;

    /// Saves the server's response to a task until the task has ended: an attempt after a restart continues from
    /// it. Returns `false` if the task has ended. A task that failed [`Failed::UnlessResult`] becomes unfinished
    /// again.
    ///
    /// # Errors
    ///
    /// The database can't be written.
    fn save_answer(&self, id: &str, answer: &[u8]) -> Result<bool, StoreError>;

    /// Returns the response that [`Self::save_answer`] saved.
    ///
    /// # Errors
    ///
    /// The database can't be read.
    fn saved_answer(&self, id: &str) -> Result<Option<Vec<u8>>, StoreError>;

    /// Stores that the task is running. Returns `false` if the task has ended.
    ///
    /// # Errors
    ///
    /// The database can't be written.
    fn set_processing(&self, id: &str) -> Result<bool, StoreError>;

    /// Stores what the task's model has reported, for other processes, until the task has ended or begins again. `None`
    /// leaves the preview unchanged.
    ///
    /// # Errors
    ///
    /// The database can't be written.
    fn set_report(
        &self,
        id: &str,
        report: &Report,
        preview: Option<&Preview>,
    ) -> Result<(), StoreError>;

    /// Returns the preview of a task that has not ended, if the store has it for other processes.
    ///
    /// # Errors
    ///
    /// The database can't be read.
    fn preview(&self, id: &str) -> Result<Option<Preview>, StoreError>;

    /// Stores that the task is completed, with its output files and their size. Returns `false` if it had ended before.
    ///
    /// # Errors
    ///
    /// The database can't be written.
    fn complete(&self, id: &str, output: &[String], bytes: u64) -> Result<bool, StoreError>;

    /// Stores that the task has failed. Returns `false` if it had ended before.
    ///
    /// # Errors
    ///
    /// The database can't be written.
    fn fail(&self, id: &str, message: &str, failure: Failed) -> Result<bool, StoreError>;

    /// Ends a task as canceled. Returns `false`, and changes nothing, if it has ended or was sent to a server that may
    /// charge for it ([`Self::set_sent`]).
    ///
    /// # Errors
    ///
    /// The database can't be written.
    fn cancel(&self, id: &str) -> Result<bool, StoreError>;

    /// Returns whether the task was canceled and its model may still run it: it has begun, and [`Self::set_stopped`] was
    /// not called.
    ///
    /// # Errors
    ///
    /// The database can't be read.
    fn is_stopping(&self, id: &str) -> Result<bool, StoreError>;

    /// Stores that the model of a canceled task does not run it any more.
    ///
    /// # Errors
    ///
    /// The database can't be written.
    fn set_stopped(&self, id: &str) -> Result<(), StoreError>;

    /// Returns which of these tasks were canceled.
    ///
    /// # Errors
    ///
    /// The database can't be read.
    fn canceled_of(&self, ids: &[String]) -> Result<Vec<String>, StoreError>;

    /// Deletes these parameters from the inputs of the model's ended tasks. Returns the number of changed tasks.
    ///
    /// # Errors
    ///
    /// The database can't be read or written. Some may be deleted then.
    fn delete_old_secrets(&self, model: &ModelId, names: &[&str]) -> Result<usize, StoreError>;

    /// Returns the bytes that all tasks take.
    ///
    /// # Errors
    ///
    /// The database can't be read.
    fn bytes(&self) -> Result<u64, StoreError>;

    /// Returns the bytes that this user's tasks take.
    ///
    /// # Errors
    ///
    /// The database can't be read.
    fn bytes_of(&self, uid: &str) -> Result<u64, StoreError>;

    /// Returns the next tasks after `after` that ended before `before_ms`, oldest first.
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

    /// Removes ended tasks; skips those that have not ended.
    ///
    /// # Errors
    ///
    /// The database can't be written. Nothing is removed then.
    fn remove(&self, tasks: &[Ended]) -> Result<(), StoreError>;

    /// Returns ended tasks of earlier versions whose sizes are not stored.
    ///
    /// # Errors
    ///
    /// The database can't be read.
    fn tasks_without_size(&self, count: usize) -> Result<Vec<String>, StoreError>;

    /// Stores the size of these tasks' outputs, and adds the size of their inputs.
    ///
    /// # Errors
    ///
    /// The database can't be written. Nothing is stored then.
    fn set_sizes(&self, tasks: &[(String, u64)]) -> Result<(), StoreError>;

    /// Returns the owner's upload with this SHA-256, after extending it to `expires_ms`.
    ///
    /// # Errors
    ///
    /// The database can't be read or written.
    fn upload(
        &self,
        owner: &str,
        sha256: &str,
        expires_ms: i64,
    ) -> Result<Option<Upload>, StoreError>;

    /// Stores an upload, and counts its bytes to its owner. If the owner has uploaded the same bytes before, stores
    /// nothing and returns the earlier upload, extended.
    ///
    /// # Errors
    ///
    /// The database can't be read or written.
    fn add_upload(&self, upload: &Upload) -> Result<Option<Upload>, StoreError>;

    /// Returns the ids of uploads that have expired and that no task uses, and of claimed ones.
    ///
    /// # Errors
    ///
    /// The database can't be read.
    fn expired_uploads(&self, count: usize) -> Result<Vec<String>, StoreError>;

    /// Begins the removal of an upload that has expired and that no task uses, so that it is not found any more. Returns
    /// whether it is claimed; `false` if it was extended or used meanwhile.
    ///
    /// # Errors
    ///
    /// The database can't be read or written.
    fn claim_upload(&self, id: &str) -> Result<bool, StoreError>;

    /// Removes an upload. Does nothing for an unknown id.
    ///
    /// # Errors
    ///
    /// The database can't be written.
    fn remove_upload(&self, id: &str) -> Result<(), StoreError>;
}

/// Returns the earliest creation time, in milliseconds since 1970, of an idempotency key that has not expired at `now`.
pub(crate) fn oldest_valid_key_ms(now: i64) -> i64 {
    now.saturating_sub(i64::from(TTL_SECONDS) * 1000)
}

/// Returns the input without these parameters; `None` if it has none of them.
pub(crate) fn without_fields(input: &str, names: &[&str]) -> Option<String> {
    let mut input = json(input);
    let fields = input.as_object_mut()?;
    let before = fields.len();
    fields.retain(|name, _| !names.contains(&name.as_str()));
    (fields.len() < before).then(|| input.to_string())
}

/// Returns the time after a pause, in milliseconds since 1970.
pub(crate) fn after_ms(now: i64, pause: Duration) -> i64 {
    now.saturating_add(i64::try_from(pause.as_millis()).unwrap_or(i64::MAX))
}

pub(crate) fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or(Value::Null)
}

/// Returns the current time in milliseconds since 1970.
pub fn now_ms() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |time| {
        i64::try_from(time.as_millis()).unwrap_or(i64::MAX)
    })
}

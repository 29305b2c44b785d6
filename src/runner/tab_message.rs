//! The messages between the tabs of a browser. Tabs may be of different versions, so the format of messages must not change.

use atelier_contract::json::{self, Record};
use atelier_engine::{Action, BatchAction, BatchKey, BlockReason, Millis, Secrets, Task, TaskKey};
use atelier_studio::output::output_cache::CopyRequest;
use serde_json::Value;

use crate::browser::storage::StorageError;

/// The field of the block reason. Its name must not change, because tabs of two versions may be open.
const BLOCK_REASON: &str = "hindrance";

/// The field of the secrets, by the keys of their tasks.
const SECRETS: &str = "secrets";

/// The field of the wait that a service has requested, in milliseconds.
const RETRY_AFTER: &str = "retry_after_ms";

/// The field of the time at which an action was requested, in ms since 1970.
const AT: &str = "at";

pub enum TabMessage {
    /// The leader's present version of a task.
    Task(Box<Task>),
    Removed(TaskKey),
    /// Tasks that a follower has written to storage, for the leader to send; or all tasks of a leader that can't write, for
    /// the tab that offers to replace it. They are in one message so that they are sent together. The secrets of the tasks
    /// must not be stored, see [`TabMessage::with_secrets`].
    Submitted(Vec<Task>, Secrets),
    /// Tasks that a follower has imported from another browser's history and written to storage. They must not be sent.
    Imported(Vec<Task>),
    /// The user's action on a task, in a follower.
    Act(TaskKey, Action),
    /// The user's action on a batch, in any tab, and the time of the action. Earlier versions send no time.
    ActOnBatch(BatchKey, BatchAction, Option<Millis>),
    /// Sent every second by a visible follower, because the browser throttles the timers of a hidden leader.
    Tick,
    /// The user wants all tasks to be polled immediately.
    Wake,
    /// Another tab can't reach the service.
    ServiceUnreachable,
    /// The service at an address asks a follower for fewer calls, and may have requested a wait in milliseconds.
    RateLimited(String, Option<Millis>),
    /// The leader's status: why it makes no calls, and why it can't store tasks.
    State(Option<BlockReason>, Option<StorageError>),
    /// A follower requests the leader's status.
    StateWanted,
    /// A follower can write to storage, and offers to replace a leader that can't.
    CanLead,
    /// The user wants tasks to be sent although they can't be stored.
    SendWithoutStorage,
    /// The service has accepted the present credentials.
    CredentialsAccepted,
    /// A follower requests copies of outputs, usually because an output is shown there.
    CopyRequested(CopyRequest),
    /// Copies of outputs were added or deleted.
    Copies,
    /// The leader has written all records again. Tabs that were opened since the records were cleared have not read all of
    /// them.
    Stored,
    /// A task that a follower knows and that was cleared from storage. A leader that was opened later does not know it.
    Unstored(Box<Task>),
    /// The name of an output, and whether the user has made it a favorite in a follower.
    Favorite(String, bool),
}

impl TabMessage {
    /// Reads a message. Returns `None` for messages that only another version knows.
    pub fn read(text: &str) -> Option<Self> {
        json::read(text).and_then(Self::from_value)
    }

    fn from_value(value: Value) -> Option<Self> {
        if let Value::String(name) = &value {
            return match name.as_str() {
                "Tick" => Some(Self::Tick),
                "Wake" => Some(Self::Wake),
                "Doubt" => Some(Self::ServiceUnreachable),
                "StateWanted" => Some(Self::StateWanted),
                "CanLead" => Some(Self::CanLead),
                "CredentialsAccepted" => Some(Self::CredentialsAccepted),
                "SendUnkept" => Some(Self::SendWithoutStorage),
                "Copies" => Some(Self::Copies),
                "Stored" => Some(Self::Stored),
                _ => None,
            };
        }
        let mut record = Record::read(value)?;
        let at = record.take(AT).and_then(|at| at.as_u64());
        let mut rest = record.rest().into_iter();
        let (name, value) = rest.next()?;
        Some(match name.as_str() {
            "Task" => Self::Task(Box::new(Task::from_value(value)?)),
            "Unstored" => Self::Unstored(Box::new(Task::from_value(value)?)),
            "Removed" => Self::Removed(TaskKey(json::text(value)?)),
            "Submitted" if value.is_array() => {
                Self::Submitted(json::list(value, Task::from_value)?, read_secrets(rest))
            }
            "Submitted" => Self::Submitted(vec![Task::from_value(value)?], read_secrets(rest)),
            "TakenIn" => Self::Imported(json::list(value, Task::from_value)?),
            "Act" => {
                let [key, action] = json::list(value, json::text)?.try_into().ok()?;
                Self::Act(TaskKey(key), Action::from_word(&action)?)
            }
            "ActOnBatch" => {
                let [batch, action] = json::list(value, json::text)?.try_into().ok()?;
                Self::ActOnBatch(BatchKey(batch), BatchAction::from_word(&action)?, at)
            }
            "State" => {
                let mut state = Record::read(value)?;
                let block_reason = state.take(BLOCK_REASON);
                let error = state.text("storage_error");
                Self::State(
                    block_reason.and_then(BlockReason::from_value),
                    error.as_deref().and_then(StorageError::from_word),
                )
            }
            "RateLimited" => {
                let mut limit = Record::read(value)?;
                let retry_after = limit.take(RETRY_AFTER).and_then(|wait| wait.as_u64());
                Self::RateLimited(limit.text("address")?, retry_after)
            }
            "Shown" => Self::CopyRequested(CopyRequest::read(&json::text(value)?)),
            "Favorite" => {
                let mut favorite = Record::read(value)?;
                Self::Favorite(favorite.text("output")?, favorite.switch("is", true)?)
            }
            _ => return None,
        })
    }

    /// Returns the message with its secrets, if it has any. For a channel that stores nothing.
    pub fn with_secrets(&self) -> Option<Value> {
        let Self::Submitted(_, secrets) = self else {
            return None;
        };
        let mut message = self.to_value();
        message[SECRETS] = secrets.clone().into();
        (!secrets.is_empty()).then_some(message)
    }

    /// Returns the message without secrets. The channel to the other tabs may store it.
    pub fn to_value(&self) -> Value {
        let (name, value) = match self {
            Self::Task(task) => ("Task", task.to_value()),
            Self::Unstored(task) => ("Unstored", task.to_value()),
            Self::Removed(key) => ("Removed", key.0.as_str().into()),
            // Versions without batches can read only a single task.
            Self::Submitted(tasks, _) => match tasks.as_slice() {
                [task] => ("Submitted", task.to_value()),
                tasks => {
                    let tasks = tasks.iter().map(Task::to_value).collect();
                    ("Submitted", Value::Array(tasks))
                }
            },
            Self::Imported(tasks) => {
                let tasks = tasks.iter().map(Task::to_value).collect();
                ("TakenIn", Value::Array(tasks))
            }
            Self::Act(key, action) => {
                let act = vec![key.0.as_str().into(), action.word().into()];
                ("Act", Value::Array(act))
            }
            Self::ActOnBatch(batch, action, _) => {
                let act = vec![batch.0.as_str().into(), action.word().into()];
                ("ActOnBatch", Value::Array(act))
            }
            Self::Tick => return "Tick".into(),
            Self::Wake => return "Wake".into(),
            Self::ServiceUnreachable => return "Doubt".into(),
            Self::StateWanted => return "StateWanted".into(),
            Self::CanLead => return "CanLead".into(),
            Self::SendWithoutStorage => return "SendUnkept".into(),
            Self::Stored => return "Stored".into(),
            Self::CredentialsAccepted => return "CredentialsAccepted".into(),
            Self::State(block_reason, error) => {
                let mut state = Record::new();
                state.put_some(
                    BLOCK_REASON,
                    block_reason.as_ref().map(BlockReason::to_value),
                );
                state.put_some("storage_error", error.map(|error| error.word().into()));
                ("State", state.into_value())
            }
            Self::RateLimited(address, retry_after) => {
                let mut limit = Record::new();
                limit.put("address", address.as_str().into());
                limit.put_some(RETRY_AFTER, retry_after.map(Into::into));
                ("RateLimited", limit.into_value())
            }
            Self::CopyRequested(request) => ("Shown", request.to_text().into()),
            Self::Copies => return "Copies".into(),
            Self::Favorite(output, is) => {
                let mut favorite = Record::new();
                favorite.put("output", output.as_str().into());
                favorite.put("is", (*is).into());
                ("Favorite", favorite.into_value())
            }
        };
        let mut record = Record::new();
        record.put(name, value);
        // Additional fields are written last: earlier versions read only the first field, and only in this format.
        if let Self::ActOnBatch(.., Some(at)) = self {
            record.put(AT, (*at).into());
        }
        record.into_value()
    }
}

/// Reads the secrets that follow the tasks.
fn read_secrets(mut rest: serde_json::map::IntoIter) -> Secrets {
    match rest.next() {
        Some((name, Value::Object(secrets))) if name == SECRETS => secrets,
        _ => Secrets::new(),
    }
}

#[cfg(test)]
mod tests;

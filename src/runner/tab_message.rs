//! The messages that the tabs of one person send each other. Tabs may be of different versions, so that the shapes of
//! messages do not change.

use atelier_contract::json::{self, Record};
use atelier_engine::{Action, BatchAction, BatchKey, BlockReason, Millis, Secrets, Task, TaskKey};
use atelier_studio::output::output_cache::CopyRequest;
use serde_json::Value;

use crate::browser::storage::StorageError;

/// Every version calls the reason so, and tabs of two versions may be open.
const BLOCK_REASON: &str = "hindrance";

/// The secrets of tasks, by key.
const SECRETS: &str = "secrets";

/// When something was asked for, in ms since 1970.
const AT: &str = "at";

pub enum TabMessage {
    /// A task as the leader has it now.
    Task(Box<Task>),
    Removed(TaskKey),
    /// Tasks that a follower has written to storage, for the leader to send; or all tasks of a leader that can't write, for
    /// the tab that offers to lead in its place. Told together, so that they leave together. With their secrets, which must not be stored: see [`TabMessage::with_secrets`].
    Submitted(Vec<Task>, Secrets),
    /// Tasks of another browser's history, which a follower has written to storage. Not to be sent.
    TakenIn(Vec<Task>),
    /// Something a person did in a follower.
    Act(TaskKey, Action),
    /// The same for a whole batch, in any tab, and when; earlier versions do not say that.
    ActOnBatch(BatchKey, BatchAction, Option<Millis>),
    /// A visible follower's clock: a hidden leader's own timers are throttled by the browser.
    Tick,
    /// A person wants everything to be asked about at once.
    Wake,
    /// Another tab can't reach the service.
    Doubt,
    /// The leader says what holds it back, and why it can't keep tasks, if that is so.
    State(Option<BlockReason>, Option<StorageError>),
    /// A follower asks for the leader's state.
    StateWanted,
    /// A follower can write, and offers to lead in place of a tab that can't.
    CanLead,
    /// The person wants tasks to be sent although they can't be kept.
    SendWithoutStorage,
    /// The service was seen to take the present credentials after all.
    CredentialsAccepted,
    /// A follower asks for copies of outputs, mostly because an output is before a person there.
    CopyRequested(CopyRequest),
    /// Copies of outputs have come or gone.
    Copies,
    /// The leader has written everything again: who was opened meanwhile has not read all of it.
    Stored,
    /// A task that a follower knows and that storage was cleared of: a leader that was opened after that
    /// has never heard of it.
    Unstored(Box<Task>),
    /// An output, by its name, is a favorite of a person in a follower, or no longer.
    Favorite(String, bool),
}

impl TabMessage {
    /// `None` for what only another version knows.
    pub fn read(text: &str) -> Option<Self> {
        json::read(text).and_then(Self::from_value)
    }

    fn from_value(value: Value) -> Option<Self> {
        if let Value::String(word) = &value {
            return match word.as_str() {
                "Tick" => Some(Self::Tick),
                "Wake" => Some(Self::Wake),
                "Doubt" => Some(Self::Doubt),
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
            "TakenIn" => Self::TakenIn(json::list(value, Task::from_value)?),
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
            "Shown" => Self::CopyRequested(CopyRequest::read(&json::text(value)?)),
            "Favorite" => {
                let mut favorite = Record::read(value)?;
                Self::Favorite(favorite.text("output")?, favorite.switch("is", true)?)
            }
            _ => return None,
        })
    }

    /// The message with the secrets that it carries, if any: for a channel that stores nothing.
    pub fn with_secrets(&self) -> Option<Value> {
        let Self::Submitted(_, secrets) = self else {
            return None;
        };
        let mut message = self.to_value();
        message[SECRETS] = secrets.clone().into();
        (!secrets.is_empty()).then_some(message)
    }

    /// The message as it may be stored, on its way to the other tabs.
    pub fn to_value(&self) -> Value {
        let (name, value) = match self {
            Self::Task(task) => ("Task", task.to_value()),
            Self::Unstored(task) => ("Unstored", task.to_value()),
            Self::Removed(key) => ("Removed", key.0.as_str().into()),
            // Versions without batches know only one task.
            Self::Submitted(tasks, _) => match tasks.as_slice() {
                [task] => ("Submitted", task.to_value()),
                tasks => {
                    let tasks = tasks.iter().map(Task::to_value).collect();
                    ("Submitted", Value::Array(tasks))
                }
            },
            Self::TakenIn(tasks) => {
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
            Self::Doubt => return "Doubt".into(),
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
        // The rest follows it: earlier versions read only what comes first, and only in this shape.
        if let Self::ActOnBatch(.., Some(at)) = self {
            record.put(AT, (*at).into());
        }
        record.into_value()
    }
}

/// Gives what follows the tasks.
fn read_secrets(mut rest: serde_json::map::IntoIter) -> Secrets {
    match rest.next() {
        Some((name, Value::Object(secrets))) if name == SECRETS => secrets,
        _ => Secrets::new(),
    }
}

#[cfg(test)]
mod tests;

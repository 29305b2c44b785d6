use std::fmt;

use atelier_contract::{ApiError, StatusWord, TaskId};
use serde::{Deserialize, Serialize};

mod stored;

/// The state of a task. Failed polls and retries are stored separately; see [`crate::PollError`].
///
/// It is stored with its task, so names and types must not change.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "lowercase", from = "stored::StoredState")]
pub enum TaskState {
    /// The task waits for a free slot or the rate limit. It was not sent.
    Queued,
    /// The task was stored and then sent. There is no response yet.
    Submitting,
    /// The request may have reached the service, but no id was returned.
    Unconfirmed { error: ApiError },
    /// The service accepted the task; `word` is its status.
    Running { id: TaskId, word: StatusWord },
    /// The task is completed, and its output is being fetched.
    Fetching { id: TaskId },
    /// The output was fetched. `outputs` are the output URLs and may be empty.
    Ready { id: TaskId, outputs: Vec<String> },
    /// The service reported a failure, or did not accept the submission (then there is no id).
    Failed { id: Option<TaskId>, message: String },
    /// The service no longer knows the id.
    Gone { id: TaskId },
    /// The service ended the task because it was canceled. Stored as a failure, so that earlier releases can read it.
    #[serde(rename = "failed", serialize_with = "stored::serialize_canceled")]
    Canceled { id: TaskId },
}

/// A [`TaskState`] without its data, for filters and counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Phase {
    Queued,
    Submitting,
    Unconfirmed,
    Running,
    Fetching,
    Ready,
    Failed,
    Gone,
    Canceled,
}

impl Phase {
    pub const ALL: [Phase; 9] = [
        Phase::Queued,
        Phase::Submitting,
        Phase::Unconfirmed,
        Phase::Running,
        Phase::Fetching,
        Phase::Ready,
        Phase::Failed,
        Phase::Gone,
        Phase::Canceled,
    ];

    /// Returns the name used in URLs, style sheets and records.
    pub fn word(self) -> &'static str {
        match self {
            Phase::Queued => "queued",
            Phase::Submitting => "submitting",
            Phase::Unconfirmed => "unconfirmed",
            Phase::Running => "running",
            Phase::Fetching => "fetching",
            Phase::Ready => "ready",
            Phase::Failed => "failed",
            Phase::Gone => "gone",
            Phase::Canceled => "canceled",
        }
    }

    /// Returns the name shown to the user.
    pub fn label(self) -> &'static str {
        match self {
            Phase::Queued => "Queued",
            Phase::Submitting => "Submitting",
            Phase::Unconfirmed => "Unconfirmed",
            Phase::Running | Phase::Fetching => "Processing",
            Phase::Ready => "Completed",
            Phase::Failed => "Failed",
            Phase::Gone => "Gone",
            Phase::Canceled => "Canceled",
        }
    }

    /// Whether the phase is final and needs no decision by the user.
    pub fn is_terminal(self) -> bool {
        matches!(
            self,
            Phase::Ready | Phase::Failed | Phase::Gone | Phase::Canceled
        )
    }
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.label())
    }
}

impl TaskState {
    /// Returns the state without its data.
    pub fn phase(&self) -> Phase {
        match self {
            TaskState::Queued => Phase::Queued,
            TaskState::Submitting => Phase::Submitting,
            TaskState::Unconfirmed { .. } => Phase::Unconfirmed,
            TaskState::Running { .. } => Phase::Running,
            TaskState::Fetching { .. } => Phase::Fetching,
            TaskState::Ready { .. } => Phase::Ready,
            TaskState::Failed { .. } => Phase::Failed,
            TaskState::Gone { .. } => Phase::Gone,
            TaskState::Canceled { .. } => Phase::Canceled,
        }
    }

    pub fn is_terminal(&self) -> bool {
        self.phase().is_terminal()
    }

    /// Returns the service's id of the task, if it is known.
    pub fn id(&self) -> Option<&TaskId> {
        match self {
            TaskState::Running { id, .. }
            | TaskState::Fetching { id }
            | TaskState::Ready { id, .. }
            | TaskState::Gone { id }
            | TaskState::Canceled { id } => Some(id),
            TaskState::Failed { id, .. } => id.as_ref(),
            TaskState::Queued | TaskState::Submitting | TaskState::Unconfirmed { .. } => None,
        }
    }

    /// Whether the service reports a status that the interface doesn't define.
    pub fn has_undefined_status(&self) -> bool {
        matches!(self, TaskState::Running { word: StatusWord::Other(word), .. } if !word.is_empty())
    }

    /// Whether the service has completed the task and refuses its output.
    pub fn is_output_refused(&self) -> bool {
        matches!(self, TaskState::Failed { id: Some(_), message } if ApiError::is_about_output(message))
    }

    /// Returns the status shown to the user and to assistive technology: a known status, or the service's own word.
    pub fn label(&self) -> &str {
        match self {
            TaskState::Running { word, .. } => match word {
                StatusWord::Starting => "Starting",
                StatusWord::Queued => "Queued",
                StatusWord::Other(word) if !word.is_empty() => word,
                _ => "Processing",
            },
            other => other.phase().label(),
        }
    }
}

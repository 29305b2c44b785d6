use std::fmt;

use atelier_contract::{ApiError, StatusWord, TaskId};
use serde::{Deserialize, Serialize};

/// What we know of a task. What we are doing about it (e.g. that the last poll failed) is another
/// matter: see [`crate::PollError`].
///
/// Stored with its task: names and shapes do not change.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "lowercase")]
pub enum TaskState {
    /// Waiting for a free slot or the rate limit; nothing has been sent.
    Queued,
    /// Written to storage, then sent; no answer yet.
    Submitting,
    /// The request may have reached the service, and no id came back.
    Unconfirmed { error: ApiError },
    /// The service has the task; `word` is its own.
    Running { id: TaskId, word: StatusWord },
    /// Completed; the output is being fetched.
    Fetching { id: TaskId },
    /// The output's addresses; may be none.
    Ready { id: TaskId, outputs: Vec<String> },
    /// The service said failed, or did not accept the submission (then there is no id).
    Failed { id: Option<TaskId>, message: String },
    /// The service no longer knows the id.
    Gone { id: TaskId },
}

/// A [`TaskState`] without what it carries, for filters and counts.
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
}

impl Phase {
    pub const ALL: [Phase; 8] = [
        Phase::Queued,
        Phase::Submitting,
        Phase::Unconfirmed,
        Phase::Running,
        Phase::Fetching,
        Phase::Ready,
        Phase::Failed,
        Phase::Gone,
    ];

    /// A word for addresses, style sheets and records.
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
        }
    }

    /// A word for people.
    pub fn label(self) -> &'static str {
        match self {
            Phase::Queued => "Queued",
            Phase::Submitting => "Submitting",
            Phase::Unconfirmed => "Unconfirmed",
            Phase::Running | Phase::Fetching => "Processing",
            Phase::Ready => "Completed",
            Phase::Failed => "Failed",
            Phase::Gone => "Gone",
        }
    }

    /// Nothing more happens by itself, and nothing is left for a person to settle.
    pub fn is_terminal(self) -> bool {
        matches!(self, Phase::Ready | Phase::Failed | Phase::Gone)
    }
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.label())
    }
}

impl TaskState {
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
        }
    }

    pub fn is_terminal(&self) -> bool {
        self.phase().is_terminal()
    }

    /// The service's id of the task, once there is one.
    pub fn id(&self) -> Option<&TaskId> {
        match self {
            TaskState::Running { id, .. }
            | TaskState::Fetching { id }
            | TaskState::Ready { id, .. }
            | TaskState::Gone { id } => Some(id),
            TaskState::Failed { id, .. } => id.as_ref(),
            TaskState::Queued | TaskState::Submitting | TaskState::Unconfirmed { .. } => None,
        }
    }

    /// The service says how it stands in a word of its own.
    pub fn has_unnamed_word(&self) -> bool {
        matches!(self, TaskState::Running { word: StatusWord::Other(word), .. } if !word.is_empty())
    }

    /// The service has completed it, and refuses its output.
    pub fn is_output_refused(&self) -> bool {
        matches!(self, TaskState::Failed { id: Some(_), message } if ApiError::is_about_output(message))
    }

    /// The word that people and assistive technology are told: ours, or the service's own where it
    /// is none that we know.
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

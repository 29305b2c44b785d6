//! The state of an item in the progress bar of a batch.

use atelier_engine::{Phase, Task};

/// The parts of a batch's progress bar, in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    Completed,
    Failed,
    Gone,
    Canceled,
    /// The user must check whether the task was submitted.
    Unconfirmed,
    /// The task may still be running, but is not polled until the user follows it again.
    NotFollowed,
    InProgress,
    Queued,
    /// The task was stopped before it was sent, and has not been returned to the table yet.
    TakenBack,
    /// The item's task was removed from the list.
    Removed,
}

impl Part {
    pub const ALL: [Self; 10] = [
        Self::Completed,
        Self::Failed,
        Self::Gone,
        Self::Canceled,
        Self::Unconfirmed,
        Self::NotFollowed,
        Self::InProgress,
        Self::Queued,
        Self::TakenBack,
        Self::Removed,
    ];

    /// Returns the part of a task.
    pub fn of(task: &Task) -> Self {
        match task.state.phase() {
            Phase::Queued if task.taken_back => Self::TakenBack,
            Phase::Ready => Self::Completed,
            Phase::Failed => Self::Failed,
            Phase::Gone => Self::Gone,
            Phase::Canceled => Self::Canceled,
            Phase::Unconfirmed => Self::Unconfirmed,
            Phase::Running | Phase::Fetching if !task.watching => Self::NotFollowed,
            Phase::Submitting | Phase::Running | Phase::Fetching => Self::InProgress,
            Phase::Queued => Self::Queued,
        }
    }

    /// Returns the word for a count, as in `22 completed`.
    pub fn word(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Gone => "gone",
            Self::Canceled => "canceled",
            Self::Unconfirmed => "unconfirmed",
            Self::NotFollowed => "not followed",
            Self::InProgress => "in progress",
            Self::Queued => "queued",
            Self::TakenBack => "taken back",
            Self::Removed => "removed",
        }
    }

    /// Returns the task phase whose color the style sheet uses.
    pub fn phase_word(self) -> &'static str {
        match self {
            Self::Completed => Phase::Ready.word(),
            Self::Failed => Phase::Failed.word(),
            Self::Gone => Phase::Gone.word(),
            Self::Canceled => Phase::Canceled.word(),
            Self::Unconfirmed => Phase::Unconfirmed.word(),
            Self::NotFollowed => Phase::Gone.word(),
            Self::InProgress => Phase::Running.word(),
            Self::Queued => Phase::Queued.word(),
            Self::TakenBack | Self::Removed => "removed",
        }
    }
}

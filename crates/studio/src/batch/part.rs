//! What has become of an item, as far as a batch's bar tells it.

use atelier_engine::{Phase, Task};

/// The parts of a batch's bar, in its order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    Completed,
    Failed,
    Gone,
    /// Waits for a person.
    Unconfirmed,
    /// It may go on, and is not asked about: until a person follows it again, nothing more becomes of it here.
    NotFollowed,
    InProgress,
    Queued,
    /// It was stopped before it was sent, and is yet to be put into the table.
    TakenBack,
    /// The item's task is no longer in the list.
    Removed,
}

impl Part {
    pub const ALL: [Self; 9] = [
        Self::Completed,
        Self::Failed,
        Self::Gone,
        Self::Unconfirmed,
        Self::NotFollowed,
        Self::InProgress,
        Self::Queued,
        Self::TakenBack,
        Self::Removed,
    ];

    pub fn of(task: &Task) -> Self {
        match task.state.phase() {
            Phase::Queued if task.taken_back => Self::TakenBack,
            Phase::Ready => Self::Completed,
            Phase::Failed => Self::Failed,
            Phase::Gone => Self::Gone,
            Phase::Unconfirmed => Self::Unconfirmed,
            Phase::Running | Phase::Fetching if !task.watching => Self::NotFollowed,
            Phase::Submitting | Phase::Running | Phase::Fetching => Self::InProgress,
            Phase::Queued => Self::Queued,
        }
    }

    /// Gives the word for a count, as in `22 completed`.
    pub fn word(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Gone => "gone",
            Self::Unconfirmed => "unconfirmed",
            Self::NotFollowed => "not followed",
            Self::InProgress => "in progress",
            Self::Queued => "queued",
            Self::TakenBack => "taken back",
            Self::Removed => "removed",
        }
    }

    /// Gives the word for the phase, by which style sheets choose the colour, as that of a task.
    pub fn phase_word(self) -> &'static str {
        match self {
            Self::Completed => Phase::Ready.word(),
            Self::Failed => Phase::Failed.word(),
            Self::Gone => Phase::Gone.word(),
            Self::Unconfirmed => Phase::Unconfirmed.word(),
            Self::NotFollowed => Phase::Gone.word(),
            Self::InProgress => Phase::Running.word(),
            Self::Queued => Phase::Queued.word(),
            Self::TakenBack | Self::Removed => "removed",
        }
    }
}

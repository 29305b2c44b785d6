//! The actions that a person may ask for, on a task and on a whole batch.

use crate::{Phase, Task};

/// An action on a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Action {
    /// Take back what was not sent yet.
    Cancel,
    /// Send an Unconfirmed once more, knowing that it may be billed twice.
    Resubmit,
    /// Leave what may be at the service or not.
    Dismiss,
    StopWatching,
    Watch,
    /// Ask the service for the output's addresses once more: they may have expired.
    Refetch,
    /// Ask the service once more about a task that it is said not to know, or for an output that it has refused.
    AskAgain,
    /// Ask for the output of a task that the service does not say is completed.
    FetchEarly,
    /// Take the task out of sight, and forget it after a while.
    Remove,
    /// Bring back what was removed just now.
    Restore,
    /// Forget the task at once, for good.
    Delete,
}

impl Action {
    pub const ALL: [Self; 11] = [
        Self::Cancel,
        Self::Resubmit,
        Self::Dismiss,
        Self::StopWatching,
        Self::Watch,
        Self::Refetch,
        Self::AskAgain,
        Self::FetchEarly,
        Self::Remove,
        Self::Restore,
        Self::Delete,
    ];

    /// Gives the word for it in messages between tabs.
    pub fn word(self) -> &'static str {
        match self {
            Action::Cancel => "cancel",
            Action::Resubmit => "resubmit",
            Action::Dismiss => "dismiss",
            Action::StopWatching => "stop_watching",
            Action::Watch => "watch",
            Action::Refetch => "refetch",
            Action::AskAgain => "ask_again",
            Action::FetchEarly => "fetch_early",
            Action::Remove => "remove",
            Action::Restore => "restore",
            Action::Delete => "delete",
        }
    }

    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|action| action.word() == word)
    }

    /// Whether it may be asked of a task as it is now.
    pub fn is_allowed(self, task: &Task) -> bool {
        let offered = Self::offered(task);
        match self {
            Action::Delete => offered.contains(&Action::Remove) || task.removed.is_some(),
            action => offered.contains(&action),
        }
    }

    /// Gives the actions that a person is offered for a task as it is now.
    pub fn offered(task: &Task) -> Vec<Action> {
        if task.removed.is_some() {
            return vec![Action::Restore];
        }
        match task.state.phase() {
            Phase::Queued if task.taken_back => vec![Action::Remove],
            Phase::Queued => vec![Action::Cancel],
            // No answer came, so it is sent again by itself; a person may have enough of that.
            Phase::Submitting if task.poll_error.is_some() => vec![Action::Dismiss],
            Phase::Submitting => vec![],
            Phase::Unconfirmed => vec![Action::Resubmit, Action::Dismiss],
            Phase::Running if task.watching && task.state.has_unnamed_word() => {
                vec![Action::FetchEarly, Action::StopWatching]
            }
            Phase::Running | Phase::Fetching if task.watching => vec![Action::StopWatching],
            Phase::Running | Phase::Fetching => vec![Action::Watch, Action::Remove],
            Phase::Ready => vec![Action::Refetch, Action::Remove],
            Phase::Failed if task.state.is_output_refused() => {
                vec![Action::AskAgain, Action::Remove]
            }
            Phase::Failed => vec![Action::Remove],
            Phase::Gone => vec![Action::AskAgain, Action::Remove],
        }
    }

    /// Whether it is what a task waits for, or would be stopped by: it is drawn as a button, the others as words.
    pub fn is_main(self) -> bool {
        matches!(
            self,
            Action::Cancel | Action::Resubmit | Action::Watch | Action::AskAgain
        )
    }

    /// Whether the task is gone with it from where a person sees it; it can be had back.
    pub fn removes(self) -> bool {
        matches!(self, Action::Dismiss | Action::Remove)
    }

    pub fn label(self) -> &'static str {
        match self {
            Action::Cancel => "Cancel",
            Action::Resubmit => "Resubmit",
            Action::Dismiss => "Dismiss",
            Action::StopWatching => "Hide (keeps running)",
            Action::Watch => "Follow again",
            Action::Refetch => "Refresh URLs",
            Action::AskAgain => "Ask again",
            Action::FetchEarly => "Try to fetch",
            Action::Remove => "Remove",
            Action::Restore => "Undo",
            Action::Delete => "Delete",
        }
    }
}

/// An action on a whole batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BatchAction {
    /// Send nothing more of it until it is resumed.
    Pause,
    Resume,
    /// Take back what was not sent yet.
    Stop,
}

impl BatchAction {
    const ALL: [Self; 3] = [Self::Pause, Self::Resume, Self::Stop];

    /// Gives the word for it in messages between tabs.
    pub fn word(self) -> &'static str {
        match self {
            Self::Pause => "pause",
            Self::Resume => "resume",
            Self::Stop => "stop",
        }
    }

    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|action| action.word() == word)
    }
}

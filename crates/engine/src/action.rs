//! The actions that a user can take on a task or on a whole batch.

use crate::{Phase, Task};

/// An action on a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Action {
    /// Cancel a task that has not been sent yet.
    Cancel,
    /// Cancel a task that may have been sent: at the service if it was, otherwise like [`Action::Cancel`]. Only for
    /// services that can cancel tasks.
    CancelAtService,
    /// Send an Unconfirmed task again, at the risk of being billed twice.
    Resubmit,
    /// Remove an Unconfirmed task without finding out whether the service accepted it.
    Dismiss,
    StopWatching,
    Watch,
    /// Ask the service for the output URLs again, because they may have expired.
    Refetch,
    /// Ask the service again about a task that it has reported as unknown, or for an output that it has refused.
    AskAgain,
    /// Ask for the output of a task that the service has not reported as completed.
    FetchEarly,
    /// Hide the task now and delete it after a delay.
    Remove,
    /// Restore a task that was just removed.
    Restore,
    /// Delete the task permanently, without delay.
    Delete,
}

impl Action {
    pub const ALL: [Self; 12] = [
        Self::Cancel,
        Self::CancelAtService,
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

    /// Returns the name of the action in messages between tabs.
    pub fn word(self) -> &'static str {
        match self {
            Action::Cancel => "cancel",
            Action::CancelAtService => "cancel_at_service",
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

    /// Parses the name of an action; `None` if it is unknown.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|action| action.word() == word)
    }

    /// Whether the action is allowed in the task's current state.
    pub fn is_allowed(self, task: &Task) -> bool {
        let offered = Self::offered(task);
        match self {
            Action::Delete => offered.contains(&Action::Remove) || task.removed.is_some(),
            Action::CancelAtService => {
                let is_under_way = match task.state.phase() {
                    Phase::Queued => !task.taken_back,
                    // The request is sent once the service has answered the submission, or its repetition.
                    Phase::Submitting | Phase::Running => true,
                    _ => false,
                };
                is_under_way && task.removed.is_none() && !task.has_cancel_request()
            }
            action => offered.contains(&action),
        }
    }

    /// Returns the actions to offer. `can_cancel`: whether the service of the task can cancel tasks.
    pub fn offered_by(task: &Task, can_cancel: bool) -> Vec<Action> {
        let mut offered = Self::offered(task);
        let is_sent = task.state.phase() != Phase::Queued;
        if can_cancel && is_sent && Self::CancelAtService.is_allowed(task) {
            offered.insert(0, Self::CancelAtService);
        }
        offered
    }

    /// Returns the actions to offer for the task in its current state, by services that can't cancel tasks.
    pub fn offered(task: &Task) -> Vec<Action> {
        if task.removed.is_some() {
            return vec![Action::Restore];
        }
        match task.state.phase() {
            Phase::Queued if task.taken_back => vec![Action::Remove],
            Phase::Queued => vec![Action::Cancel],
            // The engine resends the task automatically. The user can stop that.
            Phase::Submitting if task.poll_error.is_some() => vec![Action::Dismiss],
            Phase::Submitting => vec![],
            Phase::Unconfirmed => vec![Action::Resubmit, Action::Dismiss],
            Phase::Running if task.watching && task.state.has_undefined_status() => {
                vec![Action::FetchEarly, Action::StopWatching]
            }
            Phase::Running | Phase::Fetching if task.watching => vec![Action::StopWatching],
            Phase::Running | Phase::Fetching => vec![Action::Watch, Action::Remove],
            Phase::Ready => vec![Action::Refetch, Action::Remove],
            Phase::Failed if task.state.is_output_refused() => {
                vec![Action::AskAgain, Action::Remove]
            }
            Phase::Failed | Phase::Canceled => vec![Action::Remove],
            Phase::Gone => vec![Action::AskAgain, Action::Remove],
        }
    }

    /// Whether the action is shown as a button. The others are shown as links.
    pub fn is_main(self) -> bool {
        matches!(
            self,
            Action::Cancel
                | Action::CancelAtService
                | Action::Resubmit
                | Action::Watch
                | Action::AskAgain
        )
    }

    /// Whether the action hides the task. The user can undo that.
    pub fn removes(self) -> bool {
        matches!(self, Action::Dismiss | Action::Remove)
    }

    /// Returns the label of the button or link.
    pub fn label(self) -> &'static str {
        match self {
            Action::Cancel | Action::CancelAtService => "Cancel",
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
    /// Send no more tasks of the batch until it is resumed.
    Pause,
    Resume,
    /// Cancel the tasks that have not been sent yet.
    Stop,
}

impl BatchAction {
    const ALL: [Self; 3] = [Self::Pause, Self::Resume, Self::Stop];

    /// Returns the name of the action in messages between tabs.
    pub fn word(self) -> &'static str {
        match self {
            Self::Pause => "pause",
            Self::Resume => "resume",
            Self::Stop => "stop",
        }
    }

    /// Parses the name of an action; `None` if it is unknown.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|action| action.word() == word)
    }
}

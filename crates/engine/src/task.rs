use std::fmt;
use std::ops::Not;

use atelier_contract::{ApiError, Input, ModelId};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{Account, Millis, Phase, TaskState};

mod stored;

/// How long what was removed can be brought back.
pub const UNDO: Millis = 10_000;

/// Our own key of a task, made before anything is sent.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TaskKey(pub String);

impl TaskKey {
    /// Our own name of one of its outputs, by its position from 0.
    pub fn output(&self, position: usize) -> String {
        format!("{self}/{position}")
    }

    /// The key of the attempt that takes this one's place. Two tabs in which Retry is pressed at once give it the
    /// same key: to the engine, and to a service that minds keys, they are one.
    pub fn retry(&self) -> Self {
        let numbered = self.0.rsplit_once('-').and_then(|(first, number)| {
            let number: u32 = number.parse().ok()?;
            Some((first, number.checked_add(1)?))
        });
        let (first, number) = numbered.unwrap_or((&self.0, 2));
        Self(format!("{first}-{number}"))
    }
}

/// Our own key of a batch.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct BatchKey(pub String);

impl fmt::Display for TaskKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A task's place in a batch.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct BatchPlace {
    pub batch: BatchKey,
    /// From 0.
    pub index: usize,
}

/// The last poll gave no answer, or the last submission where it may be sent again; it goes on
/// being tried. The task's state stays what it was.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PollError {
    pub since: Millis,
    pub error: ApiError,
}

/// An output of another task as the value of a parameter. Stored with its task: names and shapes do not
/// change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Source {
    pub parameter: String,
    /// The output's name, see [`TaskKey::output`].
    pub output: String,
}

/// Everything known of one task, as it is stored and as tabs tell each other of it. Records of earlier
/// visits must stay readable: names and shapes do not change.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Task {
    pub key: TaskKey,
    pub account: Account,
    pub model: ModelId,
    pub model_name: String,
    pub input: Input,
    pub created: Millis,
    pub state: TaskState,
    #[serde(rename = "trouble", skip_serializing_if = "Option::is_none")]
    pub poll_error: Option<PollError>,
    /// False once a person has stopped watching.
    #[serde(default = "stored::is_watched")]
    pub watching: bool,
    /// Its batch was paused before it was sent.
    #[serde(default, skip_serializing_if = "Not::not")]
    pub paused: bool,
    /// Its batch was stopped before it was sent: it never is. The record stays until what was typed
    /// stands in the table again, so that it is neither lost nor sent beside the new row.
    #[serde(default, skip_serializing_if = "Not::not")]
    pub taken_back: bool,
    /// The service has asked for no calls at all before this time. Kept with the task that met the
    /// refusal, so that neither a reload nor another tab that takes over forgets it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_before: Option<Millis>,
    /// When it asked for that: a clock that was set back since takes the wait with it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waits_since: Option<Millis>,
    /// The task that this one repeats.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry_of: Option<TaskKey>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub batch: Option<BatchPlace>,
    /// When the request was about to leave for the first time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub submitted: Option<Millis>,
    /// The key that its submission carries, where the service takes one key once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idempotency_key: Option<String>,
    /// Which token of its account the submission was made with, by a number that says nothing of it: the key holds
    /// with that one alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token_version: Option<u64>,
    /// When the key left for the first time, where that was with an earlier submission than the last: the service
    /// remembers it since then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key_first_sent: Option<Millis>,
    /// A person has sent it once more, though the one before may have been taken, and billed.
    #[serde(default, skip_serializing_if = "Not::not")]
    pub resubmitted: bool,
    /// When the service's id arrived.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub accepted: Option<Millis>,
    /// The service's last line on how far it is, while it runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub progress: Option<String>,
    /// When the last word was known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub finished: Option<Millis>,
    /// When the service was last asked once more for the addresses of the outputs, and had its say:
    /// the addresses may well be the same as before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refreshed: Option<Millis>,
    /// When a person removed it. It is out of sight at once, and forgotten after [`UNDO`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub removed: Option<Millis>,
    /// A person chose its seed, which therefore goes where its input goes. One that was drawn here stays
    /// with this result. Records of earlier versions do not say: theirs count as drawn.
    #[serde(default, skip_serializing_if = "Not::not")]
    pub seed_chosen: bool,
    /// The outputs that a person holds dear, by their positions from 0.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub favorites: Vec<usize>,
    /// The outputs that are among its inputs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<Source>,
    /// Fields of a newer version: kept, so that going back and forth loses nothing.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

impl Task {
    /// A task that is to be submitted.
    pub fn new(
        key: TaskKey,
        account: Account,
        model_name: String,
        input: Input,
        created: Millis,
    ) -> Self {
        Self {
            key,
            account,
            model: input.model().clone(),
            model_name,
            input,
            created,
            state: TaskState::Queued,
            poll_error: None,
            watching: true,
            paused: false,
            taken_back: false,
            not_before: None,
            waits_since: None,
            retry_of: None,
            batch: None,
            submitted: None,
            idempotency_key: None,
            token_version: None,
            key_first_sent: None,
            resubmitted: false,
            accepted: None,
            progress: None,
            finished: None,
            refreshed: None,
            removed: None,
            seed_chosen: false,
            favorites: Vec::new(),
            sources: Vec::new(),
            extra: Map::new(),
        }
    }

    /// Something is going on, or waits for a person to settle it.
    pub fn is_active(&self) -> bool {
        match self.state.phase() {
            Phase::Queued | Phase::Submitting => !self.taken_back,
            Phase::Running | Phase::Fetching => self.watching,
            Phase::Unconfirmed | Phase::Ready | Phase::Failed | Phase::Gone => false,
        }
    }

    /// It goes on at a service, and nobody knows as whom to ask: it came with the history of another
    /// browser.
    pub fn is_orphan(&self) -> bool {
        let goes_on = matches!(self.state.phase(), Phase::Running | Phase::Fetching);
        goes_on && self.account.uid.is_empty()
    }

    /// Its state for people, see [`TaskState::label`].
    pub fn label(&self) -> &str {
        if self.taken_back {
            return "Taken back";
        }
        self.state.label()
    }

    /// Whether that changes anything.
    pub fn set_favorite(&mut self, position: usize, is_favorite: bool) -> bool {
        let was_favorite = self.favorites.contains(&position);
        if was_favorite == is_favorite {
            return false;
        }
        self.favorites.retain(|other| *other != position);
        if is_favorite {
            self.favorites.push(position);
        }
        true
    }

    /// It is not known whether it was taken, and another browser's record of it knows.
    pub fn is_settled_by(&self, told: &Task) -> bool {
        self.state.phase() == Phase::Unconfirmed && told.state.id().is_some()
    }

    /// The same input may be sent once more, as a new task.
    pub fn can_retry(&self) -> bool {
        matches!(self.state.phase(), Phase::Failed | Phase::Gone)
    }
}

/// What a person may ask for.
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
    /// Take the task out of sight, and forget it after a while.
    Remove,
    /// Bring back what was removed just now.
    Restore,
    /// Forget the task at once, for good.
    Delete,
}

impl Action {
    pub const ALL: [Self; 9] = [
        Self::Cancel,
        Self::Resubmit,
        Self::Dismiss,
        Self::StopWatching,
        Self::Watch,
        Self::Refetch,
        Self::Remove,
        Self::Restore,
        Self::Delete,
    ];

    /// Its name between tabs.
    pub fn word(self) -> &'static str {
        match self {
            Action::Cancel => "cancel",
            Action::Resubmit => "resubmit",
            Action::Dismiss => "dismiss",
            Action::StopWatching => "stop_watching",
            Action::Watch => "watch",
            Action::Refetch => "refetch",
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

    /// What a person is offered for a task as it is now.
    pub fn offered(task: &Task) -> Vec<Action> {
        if task.removed.is_some() {
            return vec![Action::Restore];
        }
        match task.state.phase() {
            Phase::Queued if task.taken_back => vec![Action::Remove],
            Phase::Queued => vec![Action::Cancel],
            // No answer came, and it is sent again by itself; a person may have enough of that.
            Phase::Submitting if task.poll_error.is_some() => vec![Action::Dismiss],
            Phase::Submitting => vec![],
            Phase::Unconfirmed => vec![Action::Resubmit, Action::Dismiss],
            Phase::Running | Phase::Fetching if task.watching => vec![Action::StopWatching],
            Phase::Running | Phase::Fetching => vec![Action::Watch, Action::Remove],
            Phase::Ready => vec![Action::Refetch, Action::Remove],
            Phase::Failed | Phase::Gone => vec![Action::Remove],
        }
    }

    /// Whether it is what a task waits for, or would be stopped by: it is drawn as a button, the others as words.
    pub fn is_main(self) -> bool {
        matches!(self, Action::Cancel | Action::Resubmit | Action::Watch)
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
            Action::Remove => "Remove",
            Action::Restore => "Undo",
            Action::Delete => "Delete",
        }
    }
}

/// What a person may ask for a whole batch.
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

    /// Its name between tabs.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_attempt_has_the_key_after_the_last_one() {
        let keys = std::iter::successors(Some(TaskKey("5f".into())), |key| Some(key.retry()));
        let keys: Vec<String> = keys.take(4).map(|key| key.0).collect();
        assert_eq!(keys, ["5f", "5f-2", "5f-3", "5f-4"]);
        // Keys come from files, too.
        for (odd, next) in [
            ("a-b", "a-b-2"),
            ("", "-2"),
            ("a-", "a--2"),
            ("a-4294967295", "a-4294967295-2"),
        ] {
            assert_eq!(TaskKey(odd.into()).retry().0, next);
        }
    }
}

use std::fmt;
use std::ops::Not;

use atelier_contract::{ApiError, Input, ModelId};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{Account, Millis, Phase, TaskState, duration};
use atelier_contract::output::OutputKind;

mod stored;
#[cfg(test)]
mod tests;

/// How long what was removed can be brought back.
pub const UNDO: Millis = 10_000;

/// The end of a [`TaskKey::late`].
const LATE: &str = ".late";

/// Our own key of a task, made before anything is sent.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TaskKey(pub String);

impl TaskKey {
    /// Our own name of one of its outputs, by its position from 0.
    pub fn output(&self, position: usize) -> String {
        format!("{self}/{position}")
    }

    /// The key of what the service has made of another submission of this task, in addition to this one.
    pub fn late(&self) -> Self {
        Self([&self.0, LATE].concat())
    }

    /// Whether it is such a key.
    pub fn is_late(&self) -> bool {
        self.0.ends_with(LATE)
    }

    /// The task of which it was another submission.
    pub fn late_of(&self) -> Option<Self> {
        let key = self.0.strip_suffix(LATE)?;
        Some(Self(key.to_owned()))
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
    /// The position in the batch, from 0.
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
    /// False once a person has stopped watching, or it is of no use to ask.
    #[serde(default = "stored::is_watched")]
    pub watching: bool,
    /// The task's batch was paused before the task was sent.
    #[serde(default, skip_serializing_if = "Not::not")]
    pub paused: bool,
    /// The task's batch was stopped before the task was sent, so that it never is. The record stays until what was
    /// typed stands in the table again: it must be neither lost nor sent in addition to the new row.
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
    /// The task that this one is a variation of. Records of earlier versions do not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub varied: Option<TaskKey>,
    /// When it last began to wait to be sent, after a wait for a person: a resubmission, a paused batch, other
    /// credentials.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requeued: Option<Millis>,
    /// When the present attempt's request was about to leave for the first time. It tells one attempt from another.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub submitted: Option<Millis>,
    /// The key that its submission carries, where the service takes one key once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idempotency_key: Option<String>,
    /// The number of the account's token that the submission was made with, which says nothing of the token. The key
    /// holds with that token alone.
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
    /// It had not been asked about for a while when that was received: it ended then, or earlier.
    #[serde(default, skip_serializing_if = "Not::not")]
    pub ended_unseen: bool,
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
    /// The names of the secret parameters that it is sent with. Their values are in no record: see [`crate::Secrets`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub secrets: Vec<String>,
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
            varied: None,
            requeued: None,
            submitted: None,
            idempotency_key: None,
            token_version: None,
            key_first_sent: None,
            resubmitted: false,
            accepted: None,
            progress: None,
            finished: None,
            ended_unseen: false,
            refreshed: None,
            removed: None,
            seed_chosen: false,
            favorites: Vec::new(),
            sources: Vec::new(),
            secrets: Vec::new(),
            extra: Map::new(),
        }
    }

    /// It was sent from a form or a result, and stands with these: a batch that was composed has a place of its own.
    pub fn is_single(&self) -> bool {
        self.batch.is_none() || self.varied.is_some()
    }

    /// The addresses of its outputs; none before it is completed.
    pub fn outputs(&self) -> &[String] {
        match &self.state {
            TaskState::Ready { outputs, .. } => outputs,
            _ => &[],
        }
    }

    /// Gives the task's position in this batch, from 0.
    pub fn index_in(&self, batch: &BatchKey) -> Option<usize> {
        let place = self.batch.as_ref().filter(|place| place.batch == *batch);
        place.map(|place| place.index)
    }

    pub fn is_of(&self, batch: &BatchKey) -> bool {
        self.index_in(batch).is_some()
    }

    /// Something is going on, or waits for a person to settle it.
    pub fn is_active(&self) -> bool {
        match self.state.phase() {
            Phase::Queued | Phase::Submitting => !self.taken_back,
            Phase::Running | Phase::Fetching => self.watching,
            Phase::Unconfirmed | Phase::Ready | Phase::Failed | Phase::Gone => false,
        }
    }

    /// It goes on at a service, and it is unknown as whom to ask: it came with the history of another
    /// browser.
    pub fn is_orphan(&self) -> bool {
        let goes_on = matches!(self.state.phase(), Phase::Running | Phase::Fetching);
        goes_on && self.account.uid.is_empty()
    }

    /// It is unknown as whom to ask about it, and a history that a person calls their own does.
    pub fn is_claimed_by(&self, told: &Self) -> bool {
        self.is_orphan() && !told.account.uid.is_empty()
    }

    /// Gives the task's state for people, see [`TaskState::label`].
    pub fn label(&self) -> &str {
        if self.taken_back {
            return "Taken back";
        }
        // Its present state was not asked for, or what came was too large to be read.
        match self.poll_error {
            None if self.is_hidden() => "Hidden",
            Some(_) if self.is_hidden() => "Not read",
            _ => self.state.label(),
        }
    }

    /// It is not asked about while it may go on: a person has stopped watching, or its answers are too large.
    pub fn is_hidden(&self) -> bool {
        !self.watching && matches!(self.state.phase(), Phase::Running | Phase::Fetching)
    }

    /// The kind of one of its outputs; see [`OutputKind::of`].
    pub fn output_kind(&self, url: &str) -> OutputKind {
        OutputKind::of(url, &self.model.category)
    }

    /// When the present attempt began: it was sent, or began to wait to be sent. The time before that in which it waited
    /// for a person is not counted.
    pub fn began(&self) -> Millis {
        let began = self.submitted.max(self.requeued);
        began.unwrap_or(self.created)
    }

    /// How long it took from its submission on, once it has ended: `12 s`, or `under 45 s` where its end was not seen.
    /// `None` for what was never sent.
    pub fn took(&self) -> Option<String> {
        let finished = self.finished.filter(|_| !self.is_unsent())?;
        let took = finished.saturating_sub(self.began());
        Some(match self.ended_unseen {
            true => format!("under {}", duration::text(took.div_ceil(1_000) * 1_000)),
            false => duration::text(took),
        })
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

    /// It has ended without being sent, because its secrets were gone.
    pub fn is_unsent(&self) -> bool {
        let has_failed = self.state.phase() == Phase::Failed && self.state.id().is_none();
        has_failed && self.submitted.is_none() && !self.secrets.is_empty()
    }

    /// Says that its secrets are gone, and are to be entered once more.
    pub fn lost_secrets_message(&self) -> String {
        format!(
            "Not sent: {} was kept only in the tab where you entered it. Enter it again in the form.",
            self.secrets.join(", ")
        )
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

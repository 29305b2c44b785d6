use std::fmt;
use std::ops::Not;

use atelier_contract::{ApiError, Input, ModelId};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{Account, Millis, Phase, TaskState, duration};
use atelier_contract::output::OutputKind;
pub use cancel::CancelRequest;

mod cancel;
mod stored;
#[cfg(test)]
mod tests;

/// The time for which a removed task can be restored, in milliseconds.
pub const UNDO_MS: Millis = 10_000;

/// The suffix of a [`TaskKey::late`].
const LATE: &str = ".late";

/// This app's key of a task, created before anything is sent.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TaskKey(pub String);

impl TaskKey {
    /// Returns the name of an output, by its position from 0.
    pub fn output(&self, position: usize) -> String {
        format!("{self}/{position}")
    }

    /// Returns the key of a late task: another submission of this task that the service has accepted, too.
    pub fn late(&self) -> Self {
        Self([&self.0, LATE].concat())
    }

    /// Whether this is the key of a late task.
    pub fn is_late(&self) -> bool {
        self.0.ends_with(LATE)
    }

    /// Returns the key of the original task of a late task.
    pub fn original_of_late(&self) -> Option<Self> {
        let key = self.0.strip_suffix(LATE)?;
        Some(Self(key.to_owned()))
    }

    /// Returns the key of the next attempt. If Retry is pressed in two tabs at once, both derive the same key, so that
    /// the engine and services with idempotency keys treat them as one.
    pub fn retry(&self) -> Self {
        let numbered = self.0.rsplit_once('-').and_then(|(first, number)| {
            let number: u32 = number.parse().ok()?;
            Some((first, number.checked_add(1)?))
        });
        let (first, number) = numbered.unwrap_or((&self.0, 2));
        Self(format!("{first}-{number}"))
    }
}

/// This app's key of a batch.
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

/// The error of the last poll, or of the last submission if it may be resent. The call is retried, and the task's state
/// is unchanged.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PollError {
    pub since: Millis,
    pub error: ApiError,
}

/// An output of another task that is the value of a parameter. It is stored with its task, so names and types must not
/// change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Source {
    pub parameter: String,
    /// The name of the output; see [`TaskKey::output`].
    pub output: String,
}

/// A file of the user's own that is the value of a parameter, or an item of its list. It is stored with its task, so names
/// and types must not change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UploadedFile {
    pub parameter: String,
    /// The address of the file at the service.
    pub url: String,
    /// The name of the file on the user's device.
    pub name: String,
}

/// The record of a task, as it is stored and sent between tabs. Records of earlier releases must be readable, so names
/// and types must not change.
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
    /// Whether the task is polled. False if the user has stopped following the task, or if polls are useless.
    #[serde(default = "stored::is_watched")]
    pub watching: bool,
    /// Whether the task's batch was paused before the task was sent.
    #[serde(default, skip_serializing_if = "Not::not")]
    pub paused: bool,
    /// Whether the task's batch was stopped before the task was sent, so that it is never sent. The record stays until
    /// the input is back in the table, so that the input is not lost.
    #[serde(default, skip_serializing_if = "Not::not")]
    pub taken_back: bool,
    /// The service allows no calls before this time. Stored with the refused task, so that it survives a reload and a
    /// change of the leader.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_before: Option<Millis>,
    /// When the service set that limit, to detect a clock that was set back since.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waits_since: Option<Millis>,
    /// The task that this one repeats.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry_of: Option<TaskKey>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub batch: Option<BatchPlace>,
    /// The task of which this one is a variation. Records of earlier releases don't contain it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub varied: Option<TaskKey>,
    /// When the task last began to wait to be sent, after a wait for the user: a resubmission, a paused batch, other
    /// credentials.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requeued: Option<Millis>,
    /// When the current attempt's request was first about to be sent. It identifies the attempt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub submitted: Option<Millis>,
    /// The idempotency key of the submission, if the service supports keys.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idempotency_key: Option<String>,
    /// The number of the token with which the task was submitted. It reveals nothing about the token. The idempotency
    /// key is valid only with that token.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token_version: Option<u64>,
    /// When the idempotency key was first sent, if that was with an earlier submission. The lifetime of the key starts
    /// then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key_first_sent: Option<Millis>,
    /// Whether the user has resubmitted the task, although the service may have accepted and billed the earlier
    /// submission.
    #[serde(default, skip_serializing_if = "Not::not")]
    pub resubmitted: bool,
    /// When the service's id arrived.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub accepted: Option<Millis>,
    /// The service's last progress message, while the task runs. This and the next two fields are not stored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub progress: Option<String>,
    /// The completed fraction from 0 to 1, as the service has last reported it, while the task runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fraction: Option<f64>,
    /// The address of a picture of the unfinished output, while the task runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preview: Option<String>,
    /// When the task reached a terminal state.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub finished: Option<Millis>,
    /// Whether the task was not polled for a while before `finished`, so that it may have ended earlier.
    #[serde(default, skip_serializing_if = "Not::not")]
    pub ended_unseen: bool,
    /// When the service last answered a repeated request for the output URLs. They may be the same as before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refreshed: Option<Millis>,
    /// When the user removed the task. It is hidden at once, and deleted after [`UNDO_MS`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub removed: Option<Millis>,
    /// Whether the user has chosen the seed. Such a seed is copied with the input; a random seed is not. Seeds in
    /// records of earlier releases count as random.
    #[serde(default, skip_serializing_if = "Not::not")]
    pub seed_chosen: bool,
    /// The favorite outputs, by their positions from 0.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub favorites: Vec<usize>,
    /// The outputs of other tasks that are inputs of this task.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<Source>,
    /// The uploaded files that are inputs of this task.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub uploads: Vec<UploadedFile>,
    /// The names of the secret parameters. Their values are never stored: see [`crate::Secrets`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub secrets: Vec<String>,
    /// The user's request to cancel the task at the service. Records of earlier releases don't contain it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cancel: Option<CancelRequest>,
    /// Fields of a newer release. They are preserved, so that switching between releases loses no data.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

impl Task {
    /// Creates a queued task.
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
            fraction: None,
            preview: None,
            finished: None,
            ended_unseen: false,
            refreshed: None,
            removed: None,
            seed_chosen: false,
            favorites: Vec::new(),
            sources: Vec::new(),
            uploads: Vec::new(),
            secrets: Vec::new(),
            cancel: None,
            extra: Map::new(),
        }
    }

    /// Whether the service has reported progress that is not stored.
    pub fn has_progress(&self) -> bool {
        self.progress.is_some() || self.fraction.is_some() || self.preview.is_some()
    }

    /// Removes the reported progress. The next poll reports it again.
    pub fn clear_progress(&mut self) {
        (self.progress, self.fraction, self.preview) = (None, None, None);
    }

    /// Copies the progress of another record of this attempt.
    pub(crate) fn adopt_progress(&mut self, other: &Self) {
        self.progress.clone_from(&other.progress);
        self.preview.clone_from(&other.preview);
        self.fraction = other.fraction;
    }

    /// Whether the task was sent from a form or a result, and not as part of a composed batch. Composed batches have a
    /// separate list.
    pub fn is_single(&self) -> bool {
        self.batch.is_none() || self.varied.is_some()
    }

    /// Returns the output URLs; empty before the task is completed.
    pub fn outputs(&self) -> &[String] {
        match &self.state {
            TaskState::Ready { outputs, .. } => outputs,
            _ => &[],
        }
    }

    /// Returns the task's position in this batch, from 0.
    pub fn index_in(&self, batch: &BatchKey) -> Option<usize> {
        let place = self.batch.as_ref().filter(|place| place.batch == *batch);
        place.map(|place| place.index)
    }

    /// Whether the task belongs to this batch.
    pub fn is_of(&self, batch: &BatchKey) -> bool {
        self.index_in(batch).is_some()
    }

    /// Whether the task is in progress.
    pub fn is_active(&self) -> bool {
        match self.state.phase() {
            Phase::Queued | Phase::Submitting => !self.taken_back,
            Phase::Running | Phase::Fetching => self.watching,
            Phase::Unconfirmed | Phase::Ready | Phase::Failed | Phase::Gone | Phase::Canceled => {
                false
            }
        }
    }

    /// Whether the task is running with an unknown User ID, because it was imported from the history of another
    /// browser.
    pub fn is_orphan(&self) -> bool {
        let is_running = matches!(self.state.phase(), Phase::Running | Phase::Fetching);
        is_running && self.account.uid.is_empty()
    }

    /// Whether an imported record supplies the missing User ID.
    pub fn gains_account_from(&self, other: &Self) -> bool {
        self.is_orphan() && !other.account.uid.is_empty()
    }

    /// Returns the task's status for the user; see [`TaskState::label`].
    pub fn label(&self) -> &str {
        if self.taken_back {
            return "Taken back";
        }
        if self.is_canceling() {
            return "Canceling…";
        }
        // The task is not polled, or its response was too large to read.
        match self.poll_error {
            None if self.is_hidden() => "Hidden",
            Some(_) if self.is_hidden() => "Not read",
            _ => self.state.label(),
        }
    }

    /// Whether the task may still run but is not polled: the user has stopped following it, or its responses are too
    /// large.
    pub fn is_hidden(&self) -> bool {
        !self.watching && matches!(self.state.phase(), Phase::Running | Phase::Fetching)
    }

    /// Returns the kind of an output; see [`OutputKind::of`].
    pub fn output_kind(&self, url: &str) -> OutputKind {
        OutputKind::of(url, &self.model.category)
    }

    /// Returns when the current attempt began: when it was sent, or began to wait to be sent. Earlier waits for the
    /// user are excluded.
    pub fn attempt_start(&self) -> Millis {
        let began = self.submitted.max(self.requeued);
        began.unwrap_or(self.created)
    }

    /// Returns the duration of an ended task: `12 s`, or `under 45 s` if its end was not observed. `None` for a task
    /// that was never sent.
    pub fn duration_text(&self) -> Option<String> {
        let finished = self.finished.filter(|_| !self.is_unsent())?;
        let duration_ms = finished.saturating_sub(self.attempt_start());
        Some(match self.ended_unseen {
            true => format!(
                "under {}",
                duration::text(duration_ms.div_ceil(1_000) * 1_000)
            ),
            false => duration::text(duration_ms),
        })
    }

    /// Adds an output to the favorites, or removes it. Returns whether this changed anything.
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

    /// Whether the task failed without being sent because its secrets were lost.
    pub fn is_unsent(&self) -> bool {
        let has_failed = self.state.phase() == Phase::Failed && self.state.id().is_none();
        has_failed && self.submitted.is_none() && !self.secrets.is_empty()
    }

    /// Returns the message for lost secrets.
    pub fn lost_secrets_message(&self) -> String {
        format!(
            "Not sent: {} was stored only in the tab where you entered it. Enter it again in the form.",
            self.secrets.join(", ")
        )
    }

    /// Whether this task is Unconfirmed and the record of another browser contains its outcome.
    pub fn gains_outcome_from(&self, other: &Task) -> bool {
        self.state.phase() == Phase::Unconfirmed && other.state.id().is_some()
    }

    /// Whether the same input may be sent again as a new task.
    pub fn can_retry(&self) -> bool {
        self.has_failed() || self.state.phase() == Phase::Canceled
    }

    /// Whether the task has ended without an outcome, and not because it was canceled.
    pub fn has_failed(&self) -> bool {
        matches!(self.state.phase(), Phase::Failed | Phase::Gone)
    }
}

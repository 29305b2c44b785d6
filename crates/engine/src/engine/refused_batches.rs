//! Pauses batches that the service stops accepting because the account is out of credit or has reached a limit. The
//! remaining items wait until the user resumes the batch, instead of failing one by one with the same message.

use atelier_contract::{Accepted, ApiError};
use serde_json::Value;

use super::Engine;
use super::call::InFlight;
use crate::reduce::Event;
use crate::{BatchKey, Millis, Task, TaskKey};

/// The batch and the message of the last 403 that was a limit, if no task has been accepted since.
#[derive(Debug, Default)]
pub(super) struct LastForbidden(Option<(BatchKey, String)>);

/// The batches with an item that the current response accepts.
#[derive(Debug, Default)]
pub(super) struct AcceptedNow(Vec<BatchKey>);

impl Engine {
    /// Pauses the batch of a refused task if its other tasks would be refused, too: at once if the account is out of
    /// credit, or at the second 403 with the same message, because a single 403 may concern the task's input. The
    /// refused task is queued again. Returns `false` if the task fails.
    pub(super) fn pause_if_all_refused(
        &mut self,
        key: &TaskKey,
        error: &ApiError,
        now: Millis,
    ) -> bool {
        let Some(batch) = self.batch_of(key) else {
            return false; // There is no batch to resume.
        };
        if error.is_out_of_credit() {
            self.pause_for(key, &batch, error, now);
            return true;
        }
        let ApiError::Unauthorized { message, .. } = error else {
            return false;
        };
        if !self.is_limit(key, error) {
            return false;
        }
        let refused = (batch, message.clone());
        if self.last_forbidden.0.as_ref() != Some(&refused) {
            self.last_forbidden.0 = Some(refused);
            return false;
        }
        let error = self.known_refusal(key, error);
        self.pause_for(key, &refused.0, &error, now);
        true
    }

    /// Classifies the refusal of a submission: a 403 that is a limit does not concern the credentials.
    pub(super) fn known_refusal(&self, key: &TaskKey, error: &ApiError) -> ApiError {
        match error {
            ApiError::Unauthorized { message, .. } if self.is_limit(key, error) => {
                let (status, message) = (403, message.clone());
                ApiError::Refused { status, message }
            }
            error => error.clone(),
        }
    }

    /// Collects the batches with an item that this response accepts, before its refusals are handled.
    pub(super) fn note_accepted(&mut self, call: &InFlight, responses: &[Result<Value, ApiError>]) {
        self.accepted_now.0.clear();
        for (key, response) in call.tasks.iter().zip(responses) {
            if let Ok(body) = response
                && let Ok(_) = Accepted::from_body(body)
                && let Some(batch) = self.batch_of(key)
            {
                self.accepted_now.0.push(batch);
            }
        }
    }

    /// Whether a 403 is a limit: its message is not about credentials, or the service has accepted other items of the
    /// same batch.
    pub(super) fn is_limit(&self, key: &TaskKey, error: &ApiError) -> bool {
        let is_forbidden = matches!(
            error,
            ApiError::Unauthorized {
                is_forbidden: true,
                ..
            }
        );
        error.is_other_refusal()
            || is_forbidden
                && self.batch_of(key).is_some_and(|batch| {
                    let is_accepted = |task: &Task| task.is_of(&batch) && task.state.id().is_some();
                    self.accepted_now.0.contains(&batch) || self.tasks().any(is_accepted)
                })
    }

    /// Forgets the last 403. Called when the service accepts a task or a batch is resumed.
    pub(super) fn forget_forbidden(&mut self) {
        self.last_forbidden = LastForbidden::default();
    }

    fn batch_of(&self, key: &TaskKey) -> Option<BatchKey> {
        let place = self.task(key)?.batch.as_ref()?;
        Some(place.batch.clone())
    }

    fn pause_for(&mut self, key: &TaskKey, batch: &BatchKey, error: &ApiError, now: Millis) {
        self.apply_event(key, Event::PutBack, now);
        self.set_poll_error(key, error, now);
        self.pause_batch(batch);
    }
}

//! Batches that the service stops accepting: the account has no credit left, or has reached a limit. The rows that are
//! left wait until a person goes on, instead of failing one by one with the same words.

use atelier_contract::{Accepted, ApiError};
use serde_json::Value;

use super::Engine;
use super::call::InFlight;
use crate::reduce::Event;
use crate::{BatchKey, Millis, Task, TaskKey};

/// The last item that failed with a 403 that is a limit, if none has been accepted since: its batch, and the service's
/// words.
#[derive(Debug, Default)]
pub(super) struct LastForbidden(Option<(BatchKey, String)>);

/// The batches of which the answer that is being read accepts an item.
#[derive(Debug, Default)]
pub(super) struct AcceptedNow(Vec<BatchKey>);

impl Engine {
    /// Pauses the batch of a task that was not accepted, if all the others would be refused, too: at once for want of
    /// credit, and at the second 403 with the same words, because one alone may be about its own input. The task is
    /// waiting again then. `false` if it fails.
    pub(super) fn hold_if_all_refused(
        &mut self,
        key: &TaskKey,
        error: &ApiError,
        now: Millis,
    ) -> bool {
        let Some(batch) = self.batch_of(key) else {
            return false; // No batch that could be resumed.
        };
        if error.is_out_of_credit() {
            self.hold(key, &batch, error, now);
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
        self.hold(key, &refused.0, &error, now);
        true
    }

    /// The refusal of a submission by what is known of it: a limit says nothing of the credentials.
    pub(super) fn known_refusal(&self, key: &TaskKey, error: &ApiError) -> ApiError {
        match error {
            ApiError::Unauthorized { message, .. } if self.is_limit(key, error) => {
                let (status, message) = (403, message.clone());
                ApiError::Refused { status, message }
            }
            error => error.clone(),
        }
    }

    /// Notes which batches have an item accepted by this answer, before any refusal in it is judged.
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

    /// A 403 whose words are not about credentials, or one for an item of a batch of which the same account has had
    /// others accepted.
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

    /// The service accepts tasks, or is to be tried again: what was refused before may have been about one input.
    pub(super) fn forget_forbidden(&mut self) {
        self.last_forbidden = LastForbidden::default();
    }

    fn batch_of(&self, key: &TaskKey) -> Option<BatchKey> {
        let place = self.task(key)?.batch.as_ref()?;
        Some(place.batch.clone())
    }

    fn hold(&mut self, key: &TaskKey, batch: &BatchKey, error: &ApiError, now: Millis) {
        self.apply_event(key, Event::PutBack, now);
        self.set_poll_error(key, error, now);
        self.pause_batch(batch);
    }
}

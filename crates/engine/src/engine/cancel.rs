//! Cancels tasks at the service. The request is stored with its task, repeated until the service answers it, and does
//! not change the task's state: the task may finish first.

use atelier_contract::{ApiError, Cancellation};
use serde_json::Value;

use super::service_status::asks_to_wait;
use super::{Engine, Tracked};
use crate::reduce::Event;
use crate::task::CancelRequest;
use crate::{Millis, Phase, TaskKey, schedule};

/// The number of unreadable responses in a row after which the service is not asked again.
const MAX_UNREADABLE: u32 = 3;

impl Tracked {
    /// Returns when to ask the service to cancel the task; `None` if that is not wanted.
    pub(super) fn next_cancel(&self) -> Option<Millis> {
        let is_wanted = self.task.state.phase() == Phase::Running && self.task.has_cancel_request();
        self.cancel_at.filter(|_| is_wanted)
    }
}

impl Engine {
    /// Cancels a task, at the service if it was sent. The service is asked as soon as it has returned the task's id and
    /// calls are possible.
    pub(super) fn request_cancel(&mut self, key: &TaskKey, now: Millis) {
        let is_in_flight = self.calls.is_in_flight(key);
        let Some(tracked) = self.tasks.get_mut(key) else {
            return;
        };
        let phase = tracked.task.state.phase();
        if phase == Phase::Queued {
            return self.cancel_unsent(key, now);
        }
        tracked.task.cancel = Some(CancelRequest {
            since: now,
            refusal: None,
        });
        // The user waits for the end of the task.
        tracked.task.watching = true;
        (tracked.cancel_at, tracked.cancel_failures) = (Some(now), 0);
        self.save(key);
        if phase == Phase::Running && !is_in_flight && self.is_of_account(key) {
            self.set_due(key, now);
        }
        self.credentials.allow_poll(&self.calls);
    }

    /// Cancels a task that waits to be sent. A task that was sent before becomes Unconfirmed.
    pub(super) fn cancel_unsent(&mut self, key: &TaskKey, now: Millis) {
        let Some(tracked) = self.tasks.get_mut(key) else {
            return;
        };
        tracked.task.cancel = None;
        match tracked.task.resubmitted {
            true => self.withdraw(key, now),
            false => self.apply_event(key, Event::Cancel, now),
        }
    }

    /// Whether the user has requested to cancel the task.
    pub(super) fn has_cancel_request(&self, key: &TaskKey) -> bool {
        self.task(key).is_some_and(|task| task.has_cancel_request())
    }

    fn is_of_account(&self, key: &TaskKey) -> bool {
        let task = self.task(key);
        task.is_some_and(|task| task.account == self.account)
    }

    /// Handles the response to a request to cancel a task.
    ///
    /// # Errors
    ///
    /// The service did not answer, or refused the call. The task's state stays.
    pub(super) fn cancel_answered(
        &mut self,
        key: &TaskKey,
        answer: Result<Value, ApiError>,
        now: Millis,
        chance: f64,
    ) -> Result<(), ApiError> {
        let answer = answer.and_then(|body| Cancellation::from_body(&body));
        let answer = answer.and_then(|answer| {
            let progress = self.check_id(key, answer.progress.clone())?;
            Ok((answer, progress))
        });
        let (answer, progress) = match answer {
            Ok(answer) => answer,
            Err(error) => return self.cancel_failed(key, error, now, chance),
        };
        if let Some(tracked) = self.tasks.get_mut(key) {
            (tracked.cancel_at, tracked.cancel_failures) = (None, 0);
        }
        // The answer contains no progress, and its message is about the cancellation.
        self.progressed(key, progress.into(), now, chance);
        // If the task has ended, its state shows how.
        if !answer.is_accepted {
            let no_reason = || "The service gave no reason. The task continues.".to_owned();
            self.refuse_cancel(key, answer.message.unwrap_or_else(no_reason));
        }
        Ok(())
    }

    fn cancel_failed(
        &mut self,
        key: &TaskKey,
        error: ApiError,
        now: Millis,
        chance: f64,
    ) -> Result<(), ApiError> {
        let Some(tracked) = self.tasks.get_mut(key) else {
            return Err(error);
        };
        if asks_to_wait(&error) {
            // All calls wait, and then it is requested at once.
            self.set_due(key, now);
            return Err(error);
        }
        tracked.cancel_failures = tracked.cancel_failures.saturating_add(1);
        let failures = tracked.cancel_failures;
        tracked.cancel_at = Some(now.saturating_add(schedule::after_failures(failures, chance)));
        if is_final(&error, failures) {
            let reason = match &error {
                // The message of a gateway or framework is not for users: `Cannot POST /v2/cancel`.
                ApiError::NotFound {
                    is_of_service: false,
                    ..
                }
                | ApiError::Server { .. } => "The service can't cancel this task.".into(),
                error => error.user_message(),
            };
            let refusal = format!("{reason} The task continues.");
            self.refuse_cancel(key, refusal);
        }
        self.poll_again(key, now, chance);
        // A task that is not followed is not polled in between.
        let tracked = self.tasks.get(key);
        if let Some(at) = tracked.and_then(Tracked::next_cancel)
            && !self.timers.polls.contains(key)
        {
            self.set_due(key, at);
        }
        Err(error)
    }

    /// Records why the service does not cancel the task.
    fn refuse_cancel(&mut self, key: &TaskKey, refusal: String) {
        let tracked = self.tasks.get_mut(key);
        if let Some(request) = tracked.and_then(|tracked| tracked.task.cancel.as_mut()) {
            request.refusal = Some(refusal);
            self.save(key);
        }
    }
}

/// Whether the service would answer another request to cancel in the same way. `failures`: the number of failures in a
/// row.
fn is_final(error: &ApiError, failures: u32) -> bool {
    match error {
        ApiError::Malformed { .. } => failures >= MAX_UNREADABLE || error.is_too_large(),
        ApiError::Server { status, .. } => *status == 501,
        // Refused credentials block all calls until they are corrected.
        ApiError::Unauthorized { .. } => error.is_other_refusal(),
        error => !error.is_retryable(),
    }
}

//! Updates the status of the service and the credentials from the response to a call.

use atelier_contract::{ApiError, TaskId, TaskRequest};
use serde_json::Value;

use super::call::InFlight;
use super::{BlockReason, CallKind, Engine, Pending};
use crate::{Millis, Phase, RateLimit, Task, TaskKey};

impl Engine {
    /// Returns the body of a `/v2/status` request that probes the service, or `None` if no probe is needed. Used while
    /// tasks wait because the model list is unavailable or the credentials were refused. The request is about a task
    /// that does not exist, so it has no side effects.
    pub fn probe_request(&self, now: Millis) -> Option<Value> {
        let may_ask = match self.block_reason(now) {
            Some(BlockReason::Unreachable) => true,
            Some(BlockReason::Unauthorized) => self.credentials.may_probe(),
            _ => false,
        };
        if !self.leading || !may_ask {
            return None;
        }
        // Also probe when no task waits: the page then shows that the credentials are accepted again.
        let are_refused = self.is_refused();
        let is_waiting = |task: &&Task| {
            let waits = matches!(task.state.phase(), Phase::Queued | Phase::Submitting);
            task.account == self.account && (waits || are_refused)
        };
        let request = TaskRequest {
            id: &TaskId("is-anybody-there".into()),
            uid: &self.account.uid,
            model: &self.tasks().find(is_waiting)?.model,
        };
        Some(request.to_body())
    }

    /// Handles the response to the probe of [`Engine::probe_request`] at this address.
    pub fn probe_answered(&mut self, address: &str, answer: &Result<(), ApiError>, now: Millis) {
        self.advance(now);
        let error = answer.as_ref().err();
        if let Some(error) = error
            && asks_to_wait(error)
        {
            self.limit_rate(address, error.retry_after_ms(), now);
        }
        // Any response shows that the service is reachable. The outcome of submissions is determined by their own
        // responses.
        if !error.is_some_and(ApiError::is_unreachable) {
            self.services.answered(address, now);
        }
        // A probe that passes authentication lifts the refusal. If that is wrong, one submission is refused.
        let is_authenticated = match error {
            None | Some(ApiError::Invalid { .. }) => true,
            Some(ApiError::NotFound { is_of_service, .. }) => *is_of_service,
            Some(_) => false,
        };
        let may_be_lifted = self.is_refused() && self.credentials.may_probe();
        if is_authenticated && may_be_lifted && address == self.account.address {
            self.credentials_probed(now);
        }
    }

    /// Handles a reply that asks for fewer calls, to a call that is not about a task, such as an upload.
    ///
    /// `retry_after`: the wait that the service requested, in milliseconds.
    pub fn limit_rate(&mut self, address: &str, retry_after: Option<Millis>, now: Millis) {
        self.advance(now);
        let limiter = self.services.limiter(address, now);
        limiter.refuse(now, retry_after, 0.5);
        if let Some(until) = limiter.blocked_until(now) {
            self.announce_wait(address, until, now);
        }
    }

    /// Sends a command with the time until which the service at this address allows no calls, for other tabs and for
    /// this tab after a reload.
    pub(super) fn announce_wait(&mut self, address: &str, until: Millis, now: Millis) {
        self.pending.push(Pending::Wait(RateLimit {
            address: address.to_owned(),
            until,
            since: Some(now),
        }));
    }

    /// Updates the service, the rate limit and the pause from the response to a call.
    pub(super) fn update_service(
        &mut self,
        call: &InFlight,
        results: &[Result<(), ApiError>],
        now: Millis,
        chance: f64,
    ) {
        let is_answered = results.iter().any(is_definite_answer);
        if is_answered {
            self.services.answered(&call.account.address, now);
        }
        let limiter = self.services.limiter(&call.account.address, now);
        if is_answered {
            limiter.accept(now);
        }
        let is_of_previous_caller = call.account.address == self.account.address
            && self.credentials.is_of_other_caller(call);
        let mut waiting = None;
        for (key, result) in call.tasks.iter().zip(results) {
            if let Err(error) = result
                && asks_to_wait(error)
                && !is_of_previous_caller
            {
                limiter.refuse(now, error.retry_after_ms(), chance);
                waiting = Some(key);
            }
        }
        let until = limiter.blocked_until(now);
        if let Some(key) = waiting
            && let Some(tracked) = self.tasks.get_mut(key)
        {
            tracked.task.not_before = until;
            tracked.task.waits_since = Some(now);
            self.save(key);
        }
        if let (Some(until), Some(_)) = (until, waiting) {
            self.announce_wait(&call.account.address, until, now);
        }
        if call.account != self.account {
            return; // The call was made for another account.
        }
        let is_irrelevant = |(key, result): &(&TaskKey, &Result<(), ApiError>)| {
            let error = result.as_ref().err();
            let of_submission = call.kind == CallKind::Generate;
            error.is_some_and(|error| match of_submission {
                true => self.is_limit(key, error),
                false => error.is_other_refusal(),
            })
        };
        let relevant = call
            .tasks
            .iter()
            .zip(results)
            .filter(|it| !is_irrelevant(it));
        let relevant: Vec<_> = relevant.map(|(_, result)| result.clone()).collect();
        if self.credentials.update(call, &relevant, &self.calls) {
            self.pause.probe();
        }
        if call.kind != CallKind::Generate {
            // The service responds again, so submissions that waited for it continue.
            if is_answered {
                self.pause.poll_answered();
            }
            return;
        }
        if is_answered {
            self.pause.answered();
            return;
        }
        let mut errors = results.iter().filter_map(|result| result.as_ref().err());
        // Start at most one pause, even if there are several errors.
        errors.any(|error| self.pause.unanswered(error, now));
    }
}

/// Whether the service asks for fewer calls. The call itself is valid.
pub(super) fn asks_to_wait(error: &ApiError) -> bool {
    match error {
        ApiError::RateLimited { .. } => true,
        ApiError::Server {
            status,
            retry_after_ms,
            ..
        } => *status == 503 && retry_after_ms.is_some(),
        _ => false,
    }
}

/// Whether the service processed the call, even if it refused it.
fn is_definite_answer(result: &Result<(), ApiError>) -> bool {
    match result {
        Ok(()) | Err(ApiError::Invalid { .. } | ApiError::Refused { .. }) => true,
        // A gateway without a backend also returns 404.
        Err(ApiError::NotFound { is_of_service, .. }) => *is_of_service,
        Err(_) => false,
    }
}

//! Concludes from the answer to a call what it says of the service and the credentials, and so means for all further
//! calls.

use atelier_contract::{ApiError, TaskId, TaskRequest};
use serde_json::Value;

use super::call::InFlight;
use super::{BlockReason, CallKind, Engine, Pending};
use crate::{Millis, Phase, RateLimit, Task, TaskKey};

impl Engine {
    /// While tasks wait because the list of models can't be had, or the credentials were refused: what to ask
    /// `/v2/status`, at no risk, so that it is known whether the service takes calls all the same. It is about a task
    /// that does not exist.
    pub fn knock(&self, now: Millis) -> Option<Value> {
        let may_ask = match self.block_reason(now) {
            Some(BlockReason::Unreachable) => true,
            Some(BlockReason::Unauthorized) => self.credentials.may_knock(),
            _ => false,
        };
        if !self.leading || !may_ask {
            return None;
        }
        // Credentials that are taken again are good news, though what was refused waits for nothing.
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

    /// Takes note of the answer to the probe of [`Engine::knock`] at this address.
    pub fn knocked(&mut self, address: &str, answer: &Result<(), ApiError>, now: Millis) {
        self.advance(now);
        let error = answer.as_ref().err();
        if let Some(error) = error
            && asks_to_wait(error)
        {
            let limiter = self.services.limiter(address, now);
            limiter.refuse(now, error.retry_after_ms(), 0.5);
            if let Some(until) = limiter.blocked_until(now) {
                self.tell_wait(address, until, now);
            }
        }
        // Whatever it says of a task that does not exist, it is there: what is sent then has an answer of its own.
        if !error.is_some_and(ApiError::is_unreachable) {
            self.services.answered(address, now);
        }
        // So does a probe that is let in. Should it be wrong, the one submission that leaves then is refused, too.
        let is_let_in = match error {
            None | Some(ApiError::Invalid { .. }) => true,
            Some(ApiError::NotFound { is_of_service, .. }) => *is_of_service,
            Some(_) => false,
        };
        let may_be_lifted = self.is_refused() && self.credentials.may_knock();
        if is_let_in && may_be_lifted && address == self.account.address {
            self.credentials_let_in(now);
        }
    }

    /// Until when the service at this address wants no calls, as of now: also for after a reload, and other tabs.
    pub(super) fn tell_wait(&mut self, address: &str, until: Millis, now: Millis) {
        self.pending.push(Pending::Wait(RateLimit {
            address: address.to_owned(),
            until,
            since: Some(now),
        }));
    }

    /// Concludes from the answer to a call what it means for all further calls.
    pub(super) fn judge_service(
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
        let is_of_others = call.account.address == self.account.address
            && self.credentials.is_of_other_caller(call);
        let mut waiting = None;
        for (key, result) in call.tasks.iter().zip(results) {
            if let Err(error) = result
                && asks_to_wait(error)
                && !is_of_others
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
            self.tell_wait(&call.account.address, until, now);
        }
        if call.account != self.account {
            return; // It says nothing about the service and credentials that are set now.
        }
        let tells_nothing = |(key, result): &(&TaskKey, &Result<(), ApiError>)| {
            let error = result.as_ref().err();
            let of_submission = call.kind == CallKind::Generate;
            error.is_some_and(|error| match of_submission {
                true => self.is_limit(key, error),
                false => error.is_other_refusal(),
            })
        };
        let telling = call
            .tasks
            .iter()
            .zip(results)
            .filter(|it| !tells_nothing(it));
        let telling: Vec<_> = telling.map(|(_, result)| result.clone()).collect();
        if self.credentials.judge(call, &telling, &self.calls) {
            self.pause.probe();
        }
        if call.kind != CallKind::Generate {
            // The service answers again: what waited for that goes on.
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
        // One pause for all of them.
        errors.any(|error| self.pause.unanswered(error, now));
    }
}

/// The service asks for fewer calls: nothing is wrong with this one.
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

/// The service has understood and answered, be it with a no.
fn is_definite_answer(result: &Result<(), ApiError>) -> bool {
    match result {
        Ok(()) | Err(ApiError::Invalid { .. } | ApiError::Refused { .. }) => true,
        // Where a gateway has no service to pass a call on to, it says so.
        Err(ApiError::NotFound { is_of_service, .. }) => *is_of_service,
        Err(_) => false,
    }
}

//! What the answers to a call say of the service and the credentials, and so mean for all further
//! calls.

use atelier_contract::ApiError;

use super::call::InFlight;
use super::{CallKind, Engine, Pending};
use crate::Millis;

impl Engine {
    /// What the answers to a call mean for all further calls.
    pub(super) fn judge_service(
        &mut self,
        call: &InFlight,
        results: &[Result<(), ApiError>],
        now: Millis,
        chance: f64,
    ) {
        let limiter = self.services.limiter(&call.account.address, now);
        if results.iter().any(is_definite_answer) {
            limiter.accept(now);
        }
        let mut waiting = None;
        for (key, result) in call.tasks.iter().zip(results) {
            if let Err(error) = result
                && asks_to_wait(error)
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
            let address = call.account.address.clone();
            self.pending.push(Pending::Wait {
                address,
                until,
                since: now,
            });
        }
        if call.account != self.account {
            return; // It says nothing of the service and the credentials that are set now.
        }
        if self.credentials.judge(call, results, &self.calls) {
            self.pause.probe();
        }
        if call.kind != CallKind::Generate {
            // Somebody answers again: what waited for that goes on.
            if results.iter().any(is_definite_answer) {
                self.pause.poll_answered();
            }
            return;
        }
        if results.iter().any(is_definite_answer) {
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
    matches!(
        result,
        Ok(())
            | Err(ApiError::Invalid { .. } | ApiError::Refused { .. } | ApiError::NotFound { .. })
    )
}

//! Tracks whether the service refuses the credentials. Nothing is sent with refused credentials.

use atelier_contract::ApiError;

use super::call::{Calls, InFlight};
use super::{CallKind, Engine};
use crate::{Millis, Task, TaskKey};

/// The status of the current credentials.
#[derive(Debug, Default)]
pub(super) struct Credentials {
    /// Calls from this number on were made with the current credentials.
    since: u64,
    /// Calls from this number on were made by the same caller, to whom the service's rate limit applies.
    caller_since: u64,
    /// Set while the service refuses the credentials.
    refusal: Option<Refusal>,
    /// Whether a probe has lifted a refusal, and no later response has confirmed that.
    lifted_by_probe: bool,
    /// Whether a probe was misleading, because the service checks the task id before the credentials.
    is_probe_unreliable: bool,
    /// The number of the token among those of the account; `None` until it is known.
    token_version: Option<u64>,
}

#[derive(Debug, Clone, Copy)]
struct Refusal {
    /// Calls from this number on were sent after the refusal was known.
    since: u64,
    /// Whether one poll may check if the credentials are still refused. Set when the user looks at the page or the
    /// network returns. A poll is free; a submission would fail.
    may_poll_once: bool,
}

impl Credentials {
    pub fn token_version(&self) -> Option<u64> {
        self.token_version
    }

    /// Resets the status for new credentials, from the next call on.
    pub fn change(&mut self, calls: &Calls) {
        self.since = calls.next_number();
        self.refusal = None;
        (self.lifted_by_probe, self.is_probe_unreliable) = (false, false);
    }

    /// Resets the status after a probe passed authentication. One submission checks whether the credentials are
    /// accepted.
    pub fn accept_probe(&mut self, calls: &Calls) {
        self.change(calls);
        self.lifted_by_probe = true;
    }

    /// Whether probes are allowed while the credentials are refused. They are not allowed if the service returns
    /// "unknown task" before it checks the credentials, because one submission would fail after each probe.
    pub fn may_probe(&self) -> bool {
        !self.is_probe_unreliable
    }

    /// Resets the status for another account, whose token is unknown.
    pub fn change_account(&mut self, calls: &Calls) {
        self.change(calls);
        self.token_version = None;
    }

    pub fn are_refused(&self) -> bool {
        self.refusal.is_some()
    }

    /// Records that the credentials were refused in another tab or before this page was opened.
    pub fn refuse(&mut self, calls: &Calls) {
        self.refusal.get_or_insert(Refusal {
            since: calls.next_number(),
            may_poll_once: true,
        });
    }

    /// Whether the call was made by another caller, so that its rate limit does not apply.
    pub fn is_of_other_caller(&self, call: &InFlight) -> bool {
        call.number < self.caller_since
    }

    /// Updates the status from the response to a call. Returns whether a refusal ended.
    pub fn update(
        &mut self,
        call: &InFlight,
        results: &[Result<(), ApiError>],
        calls: &Calls,
    ) -> bool {
        if call.number < self.since {
            return false; // The call was made with other credentials.
        }
        let refuses =
            |result: &Result<(), ApiError>| matches!(result, Err(ApiError::Unauthorized { .. }));
        let is_refused = results.iter().any(refuses);
        let is_accepted = call.kind != CallKind::Generate && results.iter().any(Result::is_ok);
        let is_conclusive = is_refused || results.iter().any(Result::is_ok);
        let was_lifted = is_conclusive && std::mem::take(&mut self.lifted_by_probe);
        match self.refusal {
            Some(refusal) if is_accepted && call.number >= refusal.since => {
                self.refusal = None;
                true
            }
            None if is_refused && !is_accepted => {
                self.refusal = Some(Refusal {
                    since: calls.next_number(),
                    may_poll_once: false,
                });
                self.is_probe_unreliable = was_lifted;
                false
            }
            _ => false,
        }
    }

    /// Whether the credentials allow another poll.
    pub fn may_poll_once(&self, calls: &Calls) -> bool {
        self.refusal
            .is_none_or(|refusal| refusal.may_poll_once && !calls.has_call_since(refusal.since))
    }

    /// Allows one poll to check if the credentials are still refused, unless one is in flight.
    pub fn allow_poll(&mut self, calls: &Calls) {
        if let Some(refusal) = &mut self.refusal {
            refusal.may_poll_once = !calls.has_call_since(refusal.since);
        }
    }

    /// Records that a poll was made.
    pub fn note_poll(&mut self) {
        if let Some(refusal) = &mut self.refusal {
            refusal.may_poll_once = false;
        }
    }
}

impl Engine {
    /// Handles new credentials, such as a corrected token or the same token entered again. One submission checks
    /// whether the service accepts them.
    pub fn credentials_changed(&mut self, now: Millis) {
        self.advance(now);
        let were_refused = self.credentials.are_refused();
        self.credentials.change(&self.calls);
        if were_refused {
            self.reset_stream(now);
            self.restart_waits(now);
            self.pause.probe();
            self.wake(now);
        }
    }

    /// Handles a probe that passed authentication with credentials that had been refused.
    pub(super) fn credentials_probed(&mut self, now: Millis) {
        self.credentials_changed(now);
        self.credentials.accept_probe(&self.calls);
    }

    /// Lifts the rate limit after a change of account or token at the same service, because it applied to the previous
    /// caller. If it applies to all callers, the next call receives it again.
    pub(super) fn lift_limit(&mut self, now: Millis) {
        self.credentials.caller_since = self.calls.next_number();
        let address = self.account.address.clone();
        if self.services.blocked_until(&address, now).is_none() {
            return;
        }
        self.services.limiter(&address, now).lift();
        self.pause.probe();
        self.announce_wait(&address, now, now);
        let is_waiting =
            |task: &&Task| task.not_before.is_some() && task.account.address == address;
        let waiting: Vec<TaskKey> = self
            .tasks()
            .filter(is_waiting)
            .map(|task| task.key.clone())
            .collect();
        for key in waiting {
            if let Some(tracked) = self.tasks.get_mut(&key) {
                (tracked.task.not_before, tracked.task.waits_since) = (None, None);
                self.save(&key);
            }
        }
    }

    /// Sets the number of the token in use. The number reveals nothing about the token.
    ///
    /// A service remembers an idempotency key together with its token, so a task that was sent with another token is
    /// not resent automatically.
    pub fn set_token_version(&mut self, version: u64, now: Millis) {
        self.advance(now);
        let before = self.credentials.token_version.replace(version);
        if before.is_some_and(|before| before != version) {
            self.lift_limit(now);
            self.reset_stream(now);
        }
        self.give_up_expired(now);
    }

    /// Records that the current credentials were refused before this page was opened, or in another tab.
    pub fn credentials_refused(&mut self, now: Millis) {
        self.advance(now);
        self.credentials.refuse(&self.calls);
    }

    /// Whether the service refuses the current credentials.
    pub fn is_refused(&self) -> bool {
        self.credentials.are_refused()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Account;

    fn call(calls: &mut Calls, kind: CallKind) -> InFlight {
        let account = Account {
            address: "https://here.example".into(),
            uid: "me".into(),
        };
        let id = calls.begin(kind, vec![TaskKey("a".into())], false, account, 0);
        match calls.answered(id) {
            Some(call) => call,
            None => unreachable!("it was just added"),
        }
    }

    fn refused() -> [Result<(), ApiError>; 1] {
        [Err(ApiError::Unauthorized {
            message: "no".into(),
            is_forbidden: false,
        })]
    }

    #[test]
    fn a_refusal_ends_with_a_successful_poll_sent_after_it() {
        let (mut calls, mut credentials) = (Calls::default(), Credentials::default());
        let early = call(&mut calls, CallKind::Status);
        let first = call(&mut calls, CallKind::Generate);
        credentials.update(&first, &refused(), &calls);
        assert!(credentials.are_refused());
        assert!(
            !credentials.update(&early, &[Ok(())], &calls),
            "sent before the refusal"
        );
        let later = call(&mut calls, CallKind::Generate);
        assert!(
            !credentials.update(&later, &[Ok(())], &calls),
            "a submission does not lift a refusal"
        );
        let later = call(&mut calls, CallKind::Status);
        assert!(credentials.update(&later, &[Ok(())], &calls));
        assert!(!credentials.are_refused());
    }

    #[test]
    fn ignores_responses_to_other_credentials() {
        let (mut calls, mut credentials) = (Calls::default(), Credentials::default());
        let old = call(&mut calls, CallKind::Status);
        credentials.change(&calls);
        credentials.update(&old, &refused(), &calls);
        assert!(!credentials.are_refused());
    }

    #[test]
    fn refused_credentials_allow_one_poll_per_wake() {
        let (mut calls, mut credentials) = (Calls::default(), Credentials::default());
        assert!(credentials.may_poll_once(&calls));
        let first = call(&mut calls, CallKind::Status);
        credentials.update(&first, &refused(), &calls);
        assert!(!credentials.may_poll_once(&calls));
        credentials.allow_poll(&calls);
        assert!(credentials.may_poll_once(&calls));
        credentials.note_poll();
        assert!(!credentials.may_poll_once(&calls));
    }
}

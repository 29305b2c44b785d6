//! Credentials that the service refuses: whatever is sent with them only fails, so nothing is.

use atelier_contract::ApiError;

use super::call::{Calls, InFlight};
use super::{CallKind, Engine};
use crate::{Millis, Task, TaskKey};

/// The knowledge about the present credentials.
#[derive(Debug, Default)]
pub(super) struct Credentials {
    /// Calls from this one on were made with them.
    since: u64,
    /// Calls from this one on were made by the same caller, to whom the service names one limit.
    caller_since: u64,
    /// The service refuses them.
    refusal: Option<Refusal>,
    /// The refusal ended because a question about a task that does not exist was let in, and no other answer has said
    /// since that it was right.
    lifted_by_knock: bool,
    /// It was wrong: the service says that it does not know a task before it looks at credentials.
    knock_misleads: bool,
    /// The number of the token among those of the account; `None` before that is known.
    token_version: Option<u64>,
}

#[derive(Debug, Clone, Copy)]
struct Refusal {
    /// Calls from this one on left after it was known.
    since: u64,
    /// A person looks, or the network is back: one poll may find out whether it still is so. A poll
    /// costs nothing; a submission would be spent.
    may_ask: bool,
}

impl Credentials {
    pub fn token_version(&self) -> Option<u64> {
        self.token_version
    }

    /// Others are used from the next call on, of which nothing is known.
    pub fn change(&mut self, calls: &Calls) {
        self.since = calls.next_number();
        self.refusal = None;
        (self.lifted_by_knock, self.knock_misleads) = (false, false);
    }

    /// A question about a task that does not exist was let in: one submission finds out whether they are taken.
    pub fn let_in(&mut self, calls: &Calls) {
        self.change(calls);
        self.lifted_by_knock = true;
    }

    /// Whether such a question may be asked while they are refused: at a service that lets any client in to say that it
    /// knows nothing, each time would cost a task its submission.
    pub fn may_knock(&self) -> bool {
        !self.knock_misleads
    }

    /// The same, of another account: of its token nothing is known either.
    pub fn change_account(&mut self, calls: &Calls) {
        self.change(calls);
        self.token_version = None;
    }

    pub fn are_refused(&self) -> bool {
        self.refusal.is_some()
    }

    /// They were refused elsewhere, some time ago.
    pub fn refuse(&mut self, calls: &Calls) {
        self.refusal.get_or_insert(Refusal {
            since: calls.next_number(),
            may_ask: true,
        });
    }

    /// The call was made by others: a limit that its answer names is theirs.
    pub fn is_of_other_caller(&self, call: &InFlight) -> bool {
        call.number < self.caller_since
    }

    /// What the answer to a call says of the credentials that it was made with; whether they are no
    /// longer refused.
    pub fn judge(
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
        let has_said = is_refused || results.iter().any(Result::is_ok);
        let was_lifted = has_said && std::mem::take(&mut self.lifted_by_knock);
        match self.refusal {
            Some(refusal) if is_accepted && call.number >= refusal.since => {
                self.refusal = None;
                true
            }
            None if is_refused && !is_accepted => {
                self.refusal = Some(Refusal {
                    since: calls.next_number(),
                    may_ask: false,
                });
                self.knock_misleads = was_lifted;
                false
            }
            _ => false,
        }
    }

    /// Whether they allow another poll.
    pub fn may_ask(&self, calls: &Calls) -> bool {
        self.refusal
            .is_none_or(|refusal| refusal.may_ask && !calls.is_any_since(refusal.since))
    }

    /// One poll may find out whether they still are refused, if none does already.
    pub fn ask(&mut self, calls: &Calls) {
        if let Some(refusal) = &mut self.refusal {
            refusal.may_ask = !calls.is_any_since(refusal.since);
        }
    }

    pub fn has_asked(&mut self) {
        if let Some(refusal) = &mut self.refusal {
            refusal.may_ask = false;
        }
    }
}

impl Engine {
    /// Other credentials, be it only a corrected token of the same account, or the same entered
    /// once more: one submission finds out whether the service takes them.
    pub fn credentials_changed(&mut self, now: Millis) {
        self.advance(now);
        let were_refused = self.credentials.are_refused();
        self.credentials.change(&self.calls);
        if were_refused {
            self.restart_waits(now);
            self.pause.probe();
            self.wake(now);
        }
    }

    /// The same for credentials that were refused, and that a question about a task that does not exist was let in
    /// with.
    pub(super) fn credentials_let_in(&mut self, now: Millis) {
        self.credentials_changed(now);
        self.credentials.let_in(&self.calls);
    }

    /// The credentials of another account, or another token, are used from now on, at the same service: the limit that
    /// it named was that of the ones before. Where it is the service's own, one call finds out.
    pub(super) fn lift_limit(&mut self, now: Millis) {
        self.credentials.caller_since = self.calls.next_number();
        let address = self.account.address.clone();
        if self.services.blocked_until(&address, now).is_none() {
            return;
        }
        self.services.limiter(&address, now).lift();
        self.pause.probe();
        self.tell_wait(&address, now, now);
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

    /// Which of the account's tokens calls are made with, by a number that says nothing of it.
    ///
    /// A service remembers a key for the token that it came with: what was sent with another one is not sent again by
    /// itself.
    pub fn set_token_version(&mut self, version: u64, now: Millis) {
        self.advance(now);
        let before = self.credentials.token_version.replace(version);
        if before.is_some_and(|before| before != version) {
            self.lift_limit(now);
        }
        self.give_up_expired(now);
    }

    /// The present credentials were refused before this page was opened, or in another tab.
    pub fn credentials_refused(&mut self, now: Millis) {
        self.advance(now);
        self.credentials.refuse(&self.calls);
    }

    /// The service refuses the present credentials, as far as is known.
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
            None => unreachable!("it has just begun"),
        }
    }

    fn refused() -> [Result<(), ApiError>; 1] {
        [Err(ApiError::Unauthorized {
            message: "no".into(),
            is_forbidden: false,
        })]
    }

    #[test]
    fn a_refusal_ends_with_the_answer_to_a_poll_that_left_after_it() {
        let (mut calls, mut credentials) = (Calls::default(), Credentials::default());
        let early = call(&mut calls, CallKind::Status);
        let first = call(&mut calls, CallKind::Generate);
        credentials.judge(&first, &refused(), &calls);
        assert!(credentials.are_refused());
        assert!(!credentials.judge(&early, &[Ok(())], &calls), "it is older");
        let later = call(&mut calls, CallKind::Generate);
        assert!(!credentials.judge(&later, &[Ok(())], &calls), "it is spent");
        let later = call(&mut calls, CallKind::Status);
        assert!(credentials.judge(&later, &[Ok(())], &calls));
        assert!(!credentials.are_refused());
    }

    #[test]
    fn an_answer_to_other_credentials_says_nothing_of_these() {
        let (mut calls, mut credentials) = (Calls::default(), Credentials::default());
        let old = call(&mut calls, CallKind::Status);
        credentials.change(&calls);
        credentials.judge(&old, &refused(), &calls);
        assert!(!credentials.are_refused());
    }

    #[test]
    fn while_refused_one_poll_may_ask_each_time_a_person_looks() {
        let (mut calls, mut credentials) = (Calls::default(), Credentials::default());
        assert!(credentials.may_ask(&calls));
        let first = call(&mut calls, CallKind::Status);
        credentials.judge(&first, &refused(), &calls);
        assert!(!credentials.may_ask(&calls));
        credentials.ask(&calls);
        assert!(credentials.may_ask(&calls));
        credentials.has_asked();
        assert!(!credentials.may_ask(&calls));
    }
}

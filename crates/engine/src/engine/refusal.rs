//! Credentials that the service refuses: whatever is sent with them only fails, so nothing is.

use atelier_contract::ApiError;

use super::call::InFlight;
use super::{CallKind, Engine};
use crate::Millis;

#[derive(Debug, Clone, Copy)]
pub(super) struct Refusal {
    /// Calls from this one on left after it was known.
    since: u64,
    /// A person looks, or the network is back: one poll may find out whether it still is so. A poll
    /// costs nothing; a submission would be spent.
    may_ask: bool,
}

impl Engine {
    /// Other credentials, be it only a corrected token of the same account, or the same entered
    /// once more: one submission finds out whether the service takes them.
    pub fn credentials_changed(&mut self, now: Millis) {
        self.advance(now);
        self.credentials_since = self.next_call;
        if self.refusal.is_some() {
            self.lift_refusal();
            self.wake(now);
        }
    }

    /// The present credentials were refused before this page was opened, or in another tab.
    pub fn credentials_refused(&mut self, now: Millis) {
        self.advance(now);
        self.refusal.get_or_insert(Refusal {
            since: self.next_call,
            may_ask: true,
        });
    }

    /// The service refuses the present credentials, as far as is known.
    pub fn is_refused(&self) -> bool {
        self.refusal.is_some()
    }

    /// What the answer to a call says of the credentials that it was made with.
    pub(super) fn judge_credentials(&mut self, call: &InFlight, results: &[Result<(), ApiError>]) {
        if call.number < self.credentials_since {
            return; // It was made with others.
        }
        let refuses =
            |result: &Result<(), ApiError>| matches!(result, Err(ApiError::Unauthorized { .. }));
        let is_refused = results.iter().any(refuses);
        let is_accepted = call.kind != CallKind::Generate && results.iter().any(Result::is_ok);
        match self.refusal {
            Some(refusal) if is_accepted && call.number >= refusal.since => self.lift_refusal(),
            None if is_refused && !is_accepted => {
                self.refusal = Some(Refusal {
                    since: self.next_call,
                    may_ask: false,
                });
            }
            _ => {}
        }
    }

    /// Everything goes on, carefully at first.
    fn lift_refusal(&mut self) {
        self.refusal = None;
        self.probing = true;
    }

    /// Whether the credentials allow another poll.
    pub(super) fn may_ask(&self) -> bool {
        self.refusal
            .is_none_or(|refusal| refusal.may_ask && !self.is_asking_since(refusal))
    }

    /// One poll may find out, if none does already.
    pub(super) fn ask_about_refusal(&mut self) {
        if let Some(refusal) = self.refusal {
            let may_ask = !self.is_asking_since(refusal);
            self.refusal = Some(Refusal { may_ask, ..refusal });
        }
    }

    pub(super) fn has_asked(&mut self) {
        if let Some(refusal) = &mut self.refusal {
            refusal.may_ask = false;
        }
    }

    fn is_asking_since(&self, refusal: Refusal) -> bool {
        let mut calls = self.in_flight.values();
        calls.any(|call| call.number >= refusal.since)
    }
}

//! Pauses submissions after a failure and restarts them with a single one, so that the other items of a batch don't
//! fail in the same way.

use atelier_contract::ApiError;

use crate::Millis;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reason {
    /// The last submission got no response: the service can't be reached.
    Unreachable,
    /// The last submission got a response that doesn't say whether it was accepted.
    Unclear,
    /// The owner could not send a request.
    NotSent,
}

#[derive(Debug, Clone, Copy)]
struct Pause {
    reason: Reason,
    until: Millis,
}

/// The pause of submissions after a failure.
#[derive(Debug, Default)]
pub(super) struct SubmissionPause {
    pause: Option<Pause>,
    /// After a pause, only one submission may be in flight until the service answers one.
    probing: bool,
    /// Consecutive submissions with an unclear outcome.
    unclear: u32,
}

impl SubmissionPause {
    /// Whether submissions are paused.
    pub fn is_on(&self) -> bool {
        self.pause.is_some()
    }

    /// Whether only one submission of one item may be in flight.
    pub fn is_probing(&self) -> bool {
        self.probing
    }

    /// Returns the end of the pause.
    pub fn until(&self) -> Option<Millis> {
        self.pause.map(|pause| pause.until)
    }

    /// Returns the end of a pause that waits for the service.
    pub fn unanswered_until(&self, now: Millis) -> Option<Millis> {
        let pause = self.pause?;
        (pause.reason != Reason::NotSent && pause.until > now).then_some(pause.until)
    }

    /// Ends the pause when its time is over.
    pub fn end_if_over(&mut self, now: Millis) {
        if self.pause.is_some_and(|pause| pause.until <= now) {
            self.lift();
        }
    }

    /// Ends the pause. Submissions restart with a single one, because it may fail like the last one.
    pub fn lift(&mut self) {
        if let Some(pause) = self.pause.take() {
            self.probing |= pause.reason != Reason::NotSent;
        }
    }

    /// Restricts submissions to one until the service answers it.
    pub fn probe(&mut self) {
        self.probing = true;
    }

    /// Ends the pause when the user looks at the page. If the service could not be reached and there are polls to make
    /// (`has_polls`), the pause stays, because polls test the service without risk.
    pub fn wake(&mut self, has_polls: bool) {
        if !(has_polls && self.is_unreachable()) {
            self.lift();
        }
    }

    /// Ends a pause for an unreachable service after it has answered a poll.
    pub fn poll_answered(&mut self) {
        if self.is_unreachable() {
            self.lift();
        }
    }

    fn is_unreachable(&self) -> bool {
        self.pause
            .is_some_and(|pause| pause.reason == Reason::Unreachable)
    }

    /// Ends the pause after the service has answered a submission, even with a refusal.
    pub fn answered(&mut self) {
        *self = Self::default();
    }

    /// Pauses submissions after an unusable response. Returns whether there is a pause; some errors need none.
    pub fn unanswered(&mut self, error: &ApiError, now: Millis) -> bool {
        const FIRST: Millis = 5_000;
        const MAX_WAIT: Millis = 60_000;
        let reason = match error {
            ApiError::Network { .. } | ApiError::Timeout { .. } => Reason::Unreachable,
            // The outcome is clear. Rate limits and refused credentials are handled elsewhere.
            error if error.was_certainly_not_accepted() => return false,
            // The refusal is a response, and concerns only this submission.
            ApiError::Refused { .. } => return false,
            _ => Reason::Unclear,
        };
        let wait = (FIRST << self.unclear.min(8)).min(MAX_WAIT);
        self.unclear = self.unclear.saturating_add(1);
        self.pause = Some(Pause {
            reason,
            until: now.saturating_add(wait),
        });
        true
    }

    /// Pauses submissions because one could not be made.
    pub fn not_sent(&mut self, until: Millis) {
        self.pause.get_or_insert(Pause {
            reason: Reason::NotSent,
            until,
        });
    }

    /// Moves the end of the pause back after the clock was set back.
    pub fn shift_back(&mut self, back: Millis) {
        if let Some(pause) = &mut self.pause {
            pause.until = pause.until.saturating_sub(back);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unreachable() -> ApiError {
        ApiError::Network {
            detail: "no answer".into(),
        }
    }

    fn unclear() -> ApiError {
        ApiError::malformed("neither yes nor no")
    }

    #[test]
    fn the_pause_doubles_with_each_unusable_response() {
        let mut pause = SubmissionPause::default();
        let mut waits = Vec::new();
        for _ in 0..6 {
            assert!(pause.unanswered(&unclear(), 1_000));
            waits.extend(pause.until().map(|until| until - 1_000));
            pause.lift();
        }
        assert_eq!(waits, [5_000, 10_000, 20_000, 40_000, 60_000, 60_000]);
        pause.answered();
        pause.unanswered(&unclear(), 0);
        assert_eq!(pause.until(), Some(5_000), "an answer resets the wait");
    }

    #[test]
    fn a_definite_refusal_causes_no_pause() {
        let refused = ApiError::Refused {
            status: 402,
            message: "no".into(),
        };
        let mut pause = SubmissionPause::default();
        assert!(refused.was_certainly_not_accepted());
        assert!(!pause.unanswered(&refused, 0));
        assert!(!pause.is_on());
    }

    #[test]
    fn after_a_pause_only_one_submission_is_allowed() {
        let mut pause = SubmissionPause::default();
        pause.unanswered(&unreachable(), 0);
        pause.end_if_over(4_999);
        assert!(pause.is_on() && !pause.is_probing());
        pause.end_if_over(5_000);
        assert!(!pause.is_on() && pause.is_probing());
        pause.answered();
        assert!(!pause.is_probing());
    }

    #[test]
    fn an_unsent_submission_is_not_blamed_on_the_service() {
        let mut pause = SubmissionPause::default();
        pause.not_sent(500);
        assert_eq!(pause.until(), Some(500));
        assert_eq!(pause.unanswered_until(0), None);
        pause.lift();
        assert!(!pause.is_probing());
    }

    #[test]
    fn an_unsent_submission_does_not_shorten_a_pause() {
        let mut pause = SubmissionPause::default();
        pause.unanswered(&unclear(), 0);
        pause.not_sent(500);
        assert_eq!(pause.unanswered_until(0), Some(5_000));
    }

    #[test]
    fn a_poll_ends_the_pause_for_an_unreachable_service_only() {
        let mut silent = SubmissionPause::default();
        silent.unanswered(&unreachable(), 0);
        silent.wake(true);
        assert!(silent.is_on());
        silent.poll_answered();
        assert!(!silent.is_on());
        let mut unclear_one = SubmissionPause::default();
        unclear_one.unanswered(&unclear(), 0);
        unclear_one.poll_answered();
        assert!(unclear_one.is_on());
        unclear_one.wake(true);
        assert!(!unclear_one.is_on());
    }
}

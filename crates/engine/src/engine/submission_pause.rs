//! Why nothing is submitted for now, though the limits would allow it, and how carefully it goes on:
//! a thousand items must not all meet what one has just met.

use atelier_contract::ApiError;

use crate::Millis;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reason {
    /// The last submission got no answer at all: the service cannot be reached.
    Unreachable,
    /// The last submission got an answer that does not say whether it was taken.
    Unclear,
    /// The owner could not send: nothing left the browser.
    NotSent,
}

#[derive(Debug, Clone, Copy)]
struct Pause {
    reason: Reason,
    until: Millis,
}

#[derive(Debug, Default)]
pub(super) struct SubmissionPause {
    pause: Option<Pause>,
    /// After a pause one submission alone goes ahead, until the service has answered one.
    probing: bool,
    /// Submissions in a row whose answer did not say whether they were taken.
    unclear: u32,
}

impl SubmissionPause {
    /// Nothing is submitted, until the engine ends the pause.
    pub fn is_on(&self) -> bool {
        self.pause.is_some()
    }

    /// One submission at most may be under way, of one item.
    pub fn is_probing(&self) -> bool {
        self.probing
    }

    /// When submissions go on, if they wait.
    pub fn until(&self) -> Option<Millis> {
        self.pause.map(|pause| pause.until)
    }

    /// The same, where they wait for the service.
    pub fn unanswered_until(&self, now: Millis) -> Option<Millis> {
        let pause = self.pause?;
        (pause.reason != Reason::NotSent && pause.until > now).then_some(pause.until)
    }

    pub fn end_if_over(&mut self, now: Millis) {
        if self.pause.is_some_and(|pause| pause.until <= now) {
            self.lift();
        }
    }

    /// Submissions go on, carefully at first: the next may meet what the last has met.
    pub fn lift(&mut self) {
        if let Some(pause) = self.pause.take() {
            self.probing |= pause.reason != Reason::NotSent;
        }
    }

    /// The next submission finds out alone how the service stands.
    pub fn probe(&mut self) {
        self.probing = true;
    }

    /// A person looks. Where no answer came to a submission, polls find out at no risk whether the service
    /// does now, if there is any to be made.
    pub fn wake(&mut self, polls_will_tell: bool) {
        if !(polls_will_tell && self.is_unreachable()) {
            self.lift();
        }
    }

    /// The service has answered a poll: what waited for any answer at all goes on.
    pub fn poll_answered(&mut self) {
        if self.is_unreachable() {
            self.lift();
        }
    }

    fn is_unreachable(&self) -> bool {
        self.pause
            .is_some_and(|pause| pause.reason == Reason::Unreachable)
    }

    /// The service has answered a submission, be it with a no.
    pub fn answered(&mut self) {
        *self = Self::default();
    }

    /// A submission got an answer that is of no use; whether it asks for a pause: not every one does.
    pub fn unanswered(&mut self, error: &ApiError, now: Millis) -> bool {
        const FIRST: Millis = 5_000;
        const LONGEST: Millis = 60_000;
        let reason = match error {
            ApiError::Network { .. } | ApiError::Timeout { .. } => Reason::Unreachable,
            // Nothing is unclear here; a rate limit is the limiter's matter, refused credentials
            // are the refusal's.
            error if error.was_certainly_not_accepted() => return false,
            // The refusal concerns one submission, and is an answer.
            ApiError::Refused { .. } => return false,
            _ => Reason::Unclear,
        };
        let wait = (FIRST << self.unclear.min(8)).min(LONGEST);
        self.unclear = self.unclear.saturating_add(1);
        self.pause = Some(Pause {
            reason,
            until: now.saturating_add(wait),
        });
        true
    }

    /// A submission could not be made.
    pub fn not_sent(&mut self, until: Millis) {
        self.pause.get_or_insert(Pause {
            reason: Reason::NotSent,
            until,
        });
    }

    /// The clock was set back.
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
    fn each_answer_of_no_use_makes_the_pause_longer() {
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
        assert_eq!(pause.until(), Some(5_000), "an answer ends the row");
    }

    #[test]
    fn what_was_certainly_not_taken_asks_for_no_pause() {
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
    fn after_a_pause_one_goes_ahead_until_the_service_answers() {
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
    fn what_never_left_says_nothing_of_the_service() {
        let mut pause = SubmissionPause::default();
        pause.not_sent(500);
        assert_eq!(pause.until(), Some(500));
        assert_eq!(pause.unanswered_until(0), None);
        pause.lift();
        assert!(!pause.is_probing());
    }

    #[test]
    fn what_never_left_does_not_shorten_a_pause() {
        let mut pause = SubmissionPause::default();
        pause.unanswered(&unclear(), 0);
        pause.not_sent(500);
        assert_eq!(pause.unanswered_until(0), Some(5_000));
    }

    #[test]
    fn polls_find_out_whether_a_silent_service_answers_and_say_nothing_of_an_unclear_one() {
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

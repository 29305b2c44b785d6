//! Why nothing is submitted for now, though the limits would allow it: a thousand items must not
//! all meet what one has just met.

use atelier_contract::ApiError;

use crate::Millis;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reason {
    /// The last submission got no answer at all: the service cannot be reached.
    Unreachable,
    /// The last submission got an answer that does not say whether it was taken.
    Unclear,
    /// The owner could not send: nothing left the browser.
    NotSent,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct SubmissionPause {
    pub reason: Reason,
    pub until: Millis,
}

impl SubmissionPause {
    pub fn is_over(&self, now: Millis) -> bool {
        self.until <= now
    }
}

/// The hold that an unusable answer to a submission asks for, if any. `before` counts such answers
/// in a row before this one.
pub(super) fn after(error: &ApiError, before: u32, now: Millis) -> Option<SubmissionPause> {
    const FIRST: Millis = 5_000;
    const LONGEST: Millis = 60_000;
    let reason = match error {
        ApiError::Network { .. } | ApiError::Timeout { .. } => Reason::Unreachable,
        // Nothing to be unclear about; a rate limit is the limiter's matter, refused credentials
        // are the refusal's.
        error if error.was_certainly_not_accepted() => return None,
        _ => Reason::Unclear,
    };
    let wait = (FIRST << before.min(8)).min(LONGEST);
    Some(SubmissionPause {
        reason,
        until: now.saturating_add(wait),
    })
}

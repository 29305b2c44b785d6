//! Decides when to offer notifications next to a long task.

use atelier_engine::Millis;

/// The duration of a task after which notifications are offered, in ms.
pub const OFFER_AFTER_MS: Millis = 20_000;

/// The conditions for the offer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OfferConditions {
    /// When the task was submitted; `None` before.
    pub submitted: Option<Millis>,
    /// Whether the task is polled, so that the page can notify the user of its end.
    pub is_followed: bool,
    /// Whether the browser supports notifications and the user has neither granted nor denied the permission.
    pub may_ask: bool,
    /// Whether notifications are switched on.
    pub is_on: bool,
    /// Whether the user has answered an offer, or has changed the setting before.
    pub was_chosen: bool,
    /// Whether the offer is shown next to another task already.
    pub is_elsewhere: bool,
}

impl OfferConditions {
    /// Whether to show the offer.
    pub fn is_offered(self, now: Millis) -> bool {
        let is_long = |since: Millis| now.saturating_sub(since) > OFFER_AFTER_MS;
        self.submitted.is_some_and(is_long)
            && self.is_followed
            && self.may_ask
            && !self.is_on
            && !self.was_chosen
            && !self.is_elsewhere
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG_TASK: OfferConditions = OfferConditions {
        submitted: Some(1_000),
        is_followed: true,
        may_ask: true,
        is_on: false,
        was_chosen: false,
        is_elsewhere: false,
    };

    #[test]
    fn notifications_are_offered_next_to_a_long_task() {
        assert!(!LONG_TASK.is_offered(1_000 + OFFER_AFTER_MS));
        assert!(LONG_TASK.is_offered(1_001 + OFFER_AFTER_MS));
        // The clock was set back.
        assert!(!LONG_TASK.is_offered(0));
        let queued = OfferConditions {
            submitted: None,
            ..LONG_TASK
        };
        assert!(!queued.is_offered(90_000), "the task is not running");
    }

    /// The offer must not be repeated, and must not be shown if the browser would reject the request.
    #[test]
    fn useless_and_answered_offers_are_not_shown() {
        for (what, facts) in [
            (
                "hidden",
                OfferConditions {
                    is_followed: false,
                    ..LONG_TASK
                },
            ),
            (
                "refused",
                OfferConditions {
                    may_ask: false,
                    ..LONG_TASK
                },
            ),
            (
                "on",
                OfferConditions {
                    is_on: true,
                    ..LONG_TASK
                },
            ),
            (
                "answered",
                OfferConditions {
                    was_chosen: true,
                    ..LONG_TASK
                },
            ),
            (
                "shown",
                OfferConditions {
                    is_elsewhere: true,
                    ..LONG_TASK
                },
            ),
        ] {
            assert!(!facts.is_offered(90_000), "{what}");
        }
    }
}

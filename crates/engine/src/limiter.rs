//! A rate limiter for all calls to a service: a token bucket that also respects the waits of 429 responses.

use crate::{Millis, schedule};

/// The number of calls that may be made at once after a pause. A thousand running tasks need a hundred calls per round
/// (INTERFACE "Limits": ten tasks per call). A service that allows fewer returns a 429.
const BURST: f64 = 60.0;
/// The maximum and minimum rate, in calls per second. A 429 halves the rate; it recovers over time.
const FASTEST: f64 = 60.0;
const SLOWEST: f64 = 1.0;
/// The increase of the rate per second without a 429. It is small, to avoid the next 429.
const RECOVERY: f64 = 0.2;
/// The maximum wait that is accepted from a service, in milliseconds.
const LONGEST_BLOCK: Millis = 24 * 3_600_000;

/// The rate limiter of one service.
#[derive(Debug, Clone)]
pub struct Limiter {
    tokens: f64,
    /// Calls per second.
    rate: f64,
    /// When `tokens` and `rate` were last updated.
    at: Millis,
    /// No call may be made before this time.
    blocked_until: Millis,
    /// Consecutive 429s.
    refusals: u32,
}

impl Limiter {
    pub fn new(now: Millis) -> Self {
        Self {
            tokens: BURST,
            rate: FASTEST,
            at: now,
            blocked_until: 0,
            refusals: 0,
        }
    }

    /// Returns until when the service allows no calls, if it is rate-limited.
    pub fn blocked_until(&self, now: Millis) -> Option<Millis> {
        (self.blocked_until > now).then_some(self.blocked_until)
    }

    /// Takes a token for one call. Returns `false` if there is none.
    pub fn take(&mut self, now: Millis) -> bool {
        self.refill(now);
        if self.blocked_until > now || self.tokens < 1.0 {
            return false;
        }
        self.tokens -= 1.0;
        true
    }

    /// Returns when the next call may be made.
    pub fn next(&self, now: Millis) -> Millis {
        let have = self.tokens + now.saturating_sub(self.at) as f64 / 1_000.0 * self.rate;
        let wait = ((1.0 - have).max(0.0) / self.rate * 1_000.0).ceil() as Millis;
        self.blocked_until.max(now.saturating_add(wait))
    }

    /// Handles a 429. `retry_after` is the wait that the service requested, in milliseconds. `random` is in `[0, 1)`.
    pub fn refuse(&mut self, now: Millis, retry_after: Option<Millis>, random: f64) {
        self.refill(now);
        let is_known = self.blocked_until > now;
        if !is_known {
            // Several calls in flight that are refused together count as one refusal.
            self.refusals = self.refusals.saturating_add(1);
            self.rate = (self.rate / 2.0).max(SLOWEST);
        }
        self.tokens = 0.0;
        let wait = match retry_after {
            // Wait slightly longer, but never shorter, so that clients with the same wait don't collide.
            Some(wait) => wait.min(LONGEST_BLOCK) + 50 + (random * 250.0) as Millis,
            None if is_known => return,
            None => schedule::after_refusals(self.refusals, random),
        };
        self.blocked_until = self.blocked_until.max(now.saturating_add(wait));
    }

    /// Restores a wait that the service requested before this page was opened.
    pub fn block(&mut self, now: Millis, until: Millis) {
        let latest = now.saturating_add(LONGEST_BLOCK);
        self.blocked_until = self.blocked_until.max(until.min(latest));
    }

    /// Lifts a wait that applied to another caller.
    pub fn lift(&mut self) {
        self.blocked_until = 0;
    }

    /// Handles a response without a refusal.
    pub fn accept(&mut self, now: Millis) {
        // A response to a call that was sent before the refusal does not end the refusal.
        if self.blocked_until <= now {
            self.refusals = 0;
        }
    }

    /// Moves the waits back after the clock was set back by `by` milliseconds.
    pub fn shift_back(&mut self, by: Millis) {
        self.at = self.at.saturating_sub(by);
        self.blocked_until = self.blocked_until.saturating_sub(by);
    }

    fn refill(&mut self, now: Millis) {
        let seconds = now.saturating_sub(self.at) as f64 / 1_000.0;
        self.at = now;
        self.tokens = (self.tokens + seconds * self.rate).min(BURST.min(self.rate.max(1.0)));
        self.rate = (self.rate + seconds * RECOVERY).min(FASTEST);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn backs_off_after_a_429_without_retry_after() {
        let mut limiter = Limiter::new(0);
        limiter.refuse(0, None, 0.5);
        assert!(!limiter.take(999));
        assert!(limiter.take(60_000));
    }

    #[test]
    fn concurrent_refusals_slow_down_once() {
        let mut limiter = Limiter::new(0);
        for _ in 0..6 {
            limiter.refuse(0, Some(1_000), 0.0);
        }
        assert_eq!(limiter.rate, FASTEST / 2.0);
        limiter.refuse(5_000, Some(1_000), 0.0);
        assert!(limiter.rate < FASTEST / 3.0);
    }

    #[test]
    fn keeps_the_longest_retry_after() {
        let mut limiter = Limiter::new(0);
        limiter.refuse(0, Some(10_000), 0.0);
        limiter.refuse(0, Some(1_000), 0.0);
        limiter.refuse(0, None, 0.0);
        assert!(!limiter.take(9_999));
        limiter.refuse(5_000, Some(20_000), 0.0);
        assert!(!limiter.take(24_999));
        assert!(limiter.take(limiter.next(25_000)));
    }

    proptest! {
        #[test]
        fn makes_no_call_before_retry_after(
            wait in 0u64..100_000, random in 0.0..1.0, asks in prop::collection::vec(0u64..5_000, 1..50),
        ) {
            let mut limiter = Limiter::new(0);
            limiter.refuse(0, Some(wait), random);
            let mut now = 0;
            for ask in asks {
                now += ask;
                if now < wait {
                    prop_assert!(!limiter.take(now));
                }
            }
        }

        #[test]
        fn a_call_is_allowed_at_next(calls in 0usize..300, refused: bool) {
            let mut limiter = Limiter::new(0);
            if refused {
                limiter.refuse(0, Some(1_500), 0.0);
            }
            let mut now = 0;
            for _ in 0..calls {
                if !limiter.take(now) {
                    now = limiter.next(now).max(now + 1);
                    prop_assert!(limiter.take(now + 1));
                }
            }
        }

        #[test]
        fn handles_any_clock(steps in prop::collection::vec((any::<u64>(), any::<Option<u64>>()), 0..30)) {
            let mut limiter = Limiter::new(0);
            for (now, refusal) in steps {
                limiter.take(now);
                limiter.refuse(now, refusal, 0.9);
                prop_assert!(limiter.next(now) >= now);
                limiter.shift_back(now);
            }
        }
    }
}

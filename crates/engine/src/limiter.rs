//! One limit for all calls: a token bucket that the service's own word can close.

use crate::{Millis, schedule};

/// Calls that may leave at once after a pause. A thousand running tasks need a hundred calls a
/// round (INTERFACE "Limits": ten to a call); a service that allows less says so with a 429.
const BURST: f64 = 60.0;
/// Calls a second at most and at least; a 429 halves the rate, time brings it back.
const FASTEST: f64 = 60.0;
const SLOWEST: f64 = 1.0;
/// How much the rate recovers in a second without a 429: slowly, or the next 429 comes soon.
const RECOVERY: f64 = 0.2;
/// A wait that a service names is believed up to this long.
const LONGEST_BLOCK: Millis = 24 * 3_600_000;

#[derive(Debug, Clone)]
pub struct Limiter {
    tokens: f64,
    /// Calls a second.
    rate: f64,
    /// When `tokens` and `rate` were right.
    at: Millis,
    /// No call leaves before.
    blocked_until: Millis,
    /// 429s in a row.
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

    /// Until when all calls wait by the service's word, if they do.
    pub fn blocked_until(&self, now: Millis) -> Option<Millis> {
        (self.blocked_until > now).then_some(self.blocked_until)
    }

    /// Takes leave for one call.
    pub fn take(&mut self, now: Millis) -> bool {
        self.refill(now);
        if self.blocked_until > now || self.tokens < 1.0 {
            return false;
        }
        self.tokens -= 1.0;
        true
    }

    /// When the next call may leave.
    pub fn next(&self, now: Millis) -> Millis {
        let have = self.tokens + now.saturating_sub(self.at) as f64 / 1_000.0 * self.rate;
        let wait = ((1.0 - have).max(0.0) / self.rate * 1_000.0).ceil() as Millis;
        self.blocked_until.max(now.saturating_add(wait))
    }

    /// The service asked for fewer calls; `retry_after` is the wait it named, in milliseconds.
    /// `random` is in `[0, 1)`.
    pub fn refuse(&mut self, now: Millis, retry_after: Option<Millis>, random: f64) {
        self.refill(now);
        let is_known = self.blocked_until > now;
        if !is_known {
            // Several calls that were under way are refused together: that is one refusal.
            self.refusals = self.refusals.saturating_add(1);
            self.rate = (self.rate / 2.0).max(SLOWEST);
        }
        self.tokens = 0.0;
        let wait = match retry_after {
            // A little later, never earlier, so that callers that wait for the same moment don't
            // meet.
            Some(wait) => wait.min(LONGEST_BLOCK) + 50 + (random * 250.0) as Millis,
            None if is_known => return,
            None => schedule::after_refusals(self.refusals, random),
        };
        self.blocked_until = self.blocked_until.max(now.saturating_add(wait));
    }

    /// A wait that was named before this page was opened.
    pub fn block(&mut self, now: Millis, until: Millis) {
        let latest = now.saturating_add(LONGEST_BLOCK);
        self.blocked_until = self.blocked_until.max(until.min(latest));
    }

    /// The wait was named to others than those who call now.
    pub fn lift(&mut self) {
        self.blocked_until = 0;
    }

    /// A call was answered without a refusal.
    pub fn accept(&mut self, now: Millis) {
        // An answer to a call that left before the refusal says nothing about it.
        if self.blocked_until <= now {
            self.refusals = 0;
        }
    }

    /// The clock was set back by so much: waits stay as long as they were.
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
    fn a_refusal_without_a_time_backs_off() {
        let mut limiter = Limiter::new(0);
        limiter.refuse(0, None, 0.5);
        assert!(!limiter.take(999));
        assert!(limiter.take(60_000));
    }

    #[test]
    fn calls_refused_together_slow_down_once() {
        let mut limiter = Limiter::new(0);
        for _ in 0..6 {
            limiter.refuse(0, Some(1_000), 0.0);
        }
        assert_eq!(limiter.rate, FASTEST / 2.0);
        limiter.refuse(5_000, Some(1_000), 0.0);
        assert!(limiter.rate < FASTEST / 3.0);
    }

    #[test]
    fn a_longer_time_named_later_counts_and_a_shorter_one_does_not() {
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
        fn no_call_leaves_before_the_named_time(
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
        fn whoever_waits_until_next_gets_leave(calls in 0usize..300, refused: bool) {
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
        fn any_clock_is_survived(steps in prop::collection::vec((any::<u64>(), any::<Option<u64>>()), 0..30)) {
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

//! The attempts of a task, stored while it waits for other tasks of its account. The process that runs it next
//! continues from them.

use std::time::{Duration, Instant};

use crate::turns::Turn;

/// The attempts at a task so far, stored while the task waits.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Attempts {
    /// The number of failed attempts.
    pub failures: u32,
    /// The time since the first attempt that counts towards the time limit.
    pub since_first: Option<Duration>,
    /// The model error that ended the last attempt.
    pub last_error: Option<String>,
}

impl Turn {
    /// Returns the attempts to store. Omits the start of the time limit if no attempt has failed yet: the refused turn
    /// is not an attempt.
    pub fn attempts(&self, now: Instant) -> Attempts {
        let counts = self.last_error.is_some();
        let first = self.first_attempt.filter(|_| counts);
        Attempts {
            failures: self.failures,
            since_first: first.map(|first| now.saturating_duration_since(first)),
            last_error: self.last_error.clone(),
        }
    }

    /// Continues from the stored attempts, unless this process has made attempts since then.
    pub fn resume(&mut self, stored: Attempts, now: Instant) {
        if self.failures > 0 {
            return;
        }
        let first = stored.since_first.and_then(|since| now.checked_sub(since));
        self.failures = stored.failures;
        self.first_attempt = first.or(self.first_attempt);
        self.last_error = stored.last_error;
    }
}

#[cfg(test)]
mod tests {
    use atelier_contract::ModelId;

    use super::*;

    fn turn(id: &str, owner: &str) -> Turn {
        Turn::first(id.into(), owner.into(), ModelId::new("image", "strata"), 0)
    }

    /// Guards against a time limit that restarts each time a task waits for other tasks of its account.
    #[test]
    fn a_refused_turn_keeps_the_start_of_the_time_limit() {
        let limit = Duration::from_secs(10);
        let now = Instant::now();
        let at = |seconds| now + Duration::from_secs(seconds);
        let begun = |seconds| Turn {
            first_attempt: Some(at(seconds)),
            ..turn("a", "me")
        };
        // The task is refused before its first attempt.
        let stored = begun(0).attempts(at(0));
        assert_eq!(stored, Attempts::default());
        let mut failing = begun(5);
        failing.resume(stored, at(5));
        assert_eq!(failing, begun(5));
        failing.count_failure(Some("busy".into()));
        // The task is refused repeatedly, each time at another process.
        for seconds in 6..15 {
            let stored = failing.attempts(at(seconds));
            failing = begun(seconds);
            failing.resume(stored, at(seconds));
            assert_eq!(failing.deadline(at(seconds), limit), at(15));
        }
        assert!(failing.is_last_attempt(at(15), limit));
        assert_eq!(
            (failing.failures, failing.last_error.as_deref()),
            (1, Some("busy"))
        );
        // The attempts of this process are newer.
        failing.resume(Attempts::default(), at(20));
        assert_eq!(failing.failures, 1);
        // A failure of the service itself does not start the time limit.
        failing.count_failure(None);
        let stored = failing.attempts(at(30));
        assert_eq!((stored.failures, stored.since_first), (2, None));
    }
}

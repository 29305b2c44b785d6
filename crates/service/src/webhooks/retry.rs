//! Decides when a failed delivery is attempted again.

use std::time::Duration;

/// The time after the event in which it is attempted again.
pub const MAX_AGE: Duration = Duration::from_secs(24 * 60 * 60);

/// The maximum pause between two attempts, before jitter.
const MAX_PAUSE: Duration = Duration::from_secs(60 * 60);

/// A failed attempt to deliver an event.
#[derive(Debug, Clone, Copy)]
pub struct FailedAttempt {
    /// The number of the attempt, from 1.
    pub attempt: u32,
    /// The time since the event.
    pub age: Duration,
    /// The wait that the receiver requests.
    pub requested: Option<Duration>,
}

/// Returns the pause before the next attempt; `None` if the event is given up. The pause doubles with each attempt, from
/// `first`, with a jitter of a quarter. `random` is from 0 to 1.
pub fn pause(failed: FailedAttempt, first: Duration, random: f64) -> Option<Duration> {
    let doublings = failed.attempt.saturating_sub(1).min(31);
    let pause = first.saturating_mul(1 << doublings).min(MAX_PAUSE);
    let jittered = pause.mul_f64(0.75 + 0.5 * random.clamp(0.0, 1.0));
    let pause = jittered.max(failed.requested.unwrap_or_default());
    (failed.age.saturating_add(pause) <= MAX_AGE).then_some(pause)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIRST: Duration = Duration::from_secs(5);

    fn failed(attempt: u32, age: u64) -> FailedAttempt {
        FailedAttempt {
            attempt,
            age: Duration::from_secs(age),
            requested: None,
        }
    }

    #[test]
    fn pauses_double_up_to_an_hour_with_jitter() {
        let pauses = [1, 2, 3, 10, 11, 12, u32::MAX].map(|n| pause(failed(n, 0), FIRST, 0.5));
        let seconds = [5, 10, 20, 2560, 3600, 3600, 3600];
        assert_eq!(pauses, seconds.map(|n| Some(Duration::from_secs(n))));
        let at = |random| pause(failed(1, 0), FIRST, random);
        assert_eq!(at(0.0), Some(Duration::from_millis(3750)));
        assert_eq!(at(1.0), Some(Duration::from_millis(6250)));
    }

    #[test]
    fn an_event_is_attempted_for_a_day() {
        let (mut age, mut attempts) = (Duration::ZERO, 1);
        while let Some(next) = pause(
            FailedAttempt {
                age,
                ..failed(attempts, 0)
            },
            FIRST,
            0.5,
        ) {
            age += next;
            attempts += 1;
        }
        assert!((30..40).contains(&attempts), "{attempts}");
        assert!(age <= MAX_AGE && age > MAX_AGE - MAX_PAUSE, "{age:?}");
    }

    #[test]
    fn a_requested_wait_is_respected_within_the_day() {
        let requesting = |requested, age| FailedAttempt {
            requested: Some(Duration::from_secs(requested)),
            ..failed(1, age)
        };
        let pause = |requested, age| pause(requesting(requested, age), FIRST, 0.5);
        assert_eq!(pause(120, 0), Some(Duration::from_secs(120)));
        assert_eq!(pause(0, 0), Some(FIRST));
        assert_eq!(pause(7200, 20 * 3600), Some(Duration::from_secs(7200)));
        assert_eq!(pause(5 * 3600, 20 * 3600), None);
        assert_eq!(pause(u64::MAX, 0), None);
    }
}

//! Computes the intervals of polls and retries. The interface recommends a poll every 1 to 2 seconds.

use crate::Millis;

/// Returns the time between two polls of a task of this age, in milliseconds: 1 s at first, 2 s after 30 s, 5 s after 5
/// minutes, interpolated in between.
pub fn interval(age: Millis) -> Millis {
    match age {
        0..=30_000 => 1_000 + age / 30,
        30_001..=300_000 => 2_000 + (age - 30_000) / 90,
        _ => 5_000,
    }
}

/// Varies an interval by up to 10 %, so that many pages don't poll in step. `random` is in `[0, 1)`.
pub fn jittered(interval: Millis, random: f64) -> Millis {
    spread(interval, 0.1, random)
}

/// Varies a wait by up to 50 %, so that pages that were all disconnected at once don't all reconnect at once.
pub fn spread_out(wait: Millis, random: f64) -> Millis {
    spread(wait, 0.5, random)
}

/// Returns the wait after `failures` consecutive failed polls, in milliseconds: 1 s doubling to 30 s, plus or minus up
/// to 25 %.
pub fn after_failures(failures: u32, random: f64) -> Millis {
    spread(doubled(failures), 0.25, random)
}

/// Returns the wait after a 429 without Retry-After, in milliseconds: full jitter over 1 s doubling to 60 s, at least 1
/// s.
pub fn after_refusals(refusals: u32, random: f64) -> Millis {
    let most = 1_000_u64
        .saturating_mul(1 << refusals.clamp(1, 6))
        .min(60_000);
    1_000 + (random * (most - 1_000) as f64) as Millis
}

fn doubled(failures: u32) -> Millis {
    1_000_u64
        .saturating_mul(1 << failures.saturating_sub(1).min(5))
        .min(30_000)
}

fn spread(interval: Millis, share: f64, random: f64) -> Millis {
    (interval as f64 * (1.0 - share + 2.0 * share * random)) as Millis
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn intervals_grow_with_age() {
        assert_eq!(interval(0), 1_000);
        assert_eq!(interval(30_000), 2_000);
        assert_eq!(interval(300_000), 5_000);
        assert_eq!(interval(Millis::MAX), 5_000);
    }

    proptest! {
        #[test]
        fn waits_stay_in_range(age: u64, failures: u32, random in 0.0..1.0) {
            prop_assert!((1_000..=5_000).contains(&interval(age)));
            prop_assert!((750..=37_500).contains(&after_failures(failures, random)));
            prop_assert!((1_000..=60_000).contains(&after_refusals(failures, random)));
        }
    }
}

//! `--rate`: a token bucket for each access token (INTERFACE "Limits").

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use axum::http::StatusCode;

use crate::failure::Failure;

/// Above this many callers, the ones that have not called lately are forgotten.
const CALLERS_KEPT: usize = 1000;

/// Lets each caller make `rate` calls a second, with a burst of one second's worth.
#[derive(Debug)]
pub struct Limit {
    rate: f64,
    buckets: Mutex<HashMap<String, Bucket>>,
}

#[derive(Debug)]
struct Bucket {
    calls_left: f64,
    filled: Instant,
}

impl Limit {
    /// `rate` in calls per second, above 0.
    pub fn new(rate: f64) -> Self {
        Self {
            rate,
            buckets: Mutex::default(),
        }
    }

    fn burst(&self) -> f64 {
        self.rate.max(1.0)
    }

    /// Counts a call; 429 with the seconds to wait if there are too many.
    pub fn take(&self, caller: &str, now: Instant) -> Result<(), Failure> {
        let mut buckets = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        if buckets.len() > CALLERS_KEPT {
            let full_after = self.burst() / self.rate;
            buckets.retain(|_, b| now.duration_since(b.filled).as_secs_f64() < full_after);
        }
        let bucket = buckets.entry(caller.to_owned()).or_insert(Bucket {
            calls_left: self.burst(),
            filled: now,
        });
        let passed = now.saturating_duration_since(bucket.filled).as_secs_f64();
        bucket.calls_left = (bucket.calls_left + passed * self.rate).min(self.burst());
        bucket.filled = now;
        if bucket.calls_left >= 1.0 {
            bucket.calls_left -= 1.0;
            return Ok(());
        }
        let wait = ((1.0 - bucket.calls_left) / self.rate).ceil().max(1.0) as u64;
        let mut failure = Failure::new(
            StatusCode::TOO_MANY_REQUESTS,
            "rate_limited",
            format!(
                "Too many calls: {} a second are permitted. Try again in {wait} s.",
                self.rate
            ),
        );
        failure.retry_after = Some(wait);
        Err(failure)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn a_burst_then_the_rate_for_each_caller() {
        let limit = Limit::new(2.0);
        let start = Instant::now();
        let ok = |caller, ms| {
            limit
                .take(caller, start + Duration::from_millis(ms))
                .is_ok()
        };
        assert!(ok("a", 0) && ok("a", 0) && !ok("a", 0));
        assert!(ok("b", 0), "another caller has a bucket of its own");
        assert!(!ok("a", 400) && ok("a", 900));
        let refused = limit.take("a", start + Duration::from_millis(901));
        assert_eq!(refused.unwrap_err().retry_after, Some(1));
    }
}

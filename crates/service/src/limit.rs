//! `--rate`: token buckets, one for each access token and one for each address (INTERFACE
//! "Limits").

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use axum::http::StatusCode;

use crate::failure::Failure;
use crate::store::StoreError;

/// Above this number of callers, those with a full bucket are removed.
const MAX_CALLERS: usize = 1000;

/// Token buckets that all processes share. Its calls block.
pub trait SharedRateLimiter: Send + Sync {
    /// Takes one call from the bucket of each of these names. A bucket gains `rate` calls a second, up to `burst`.
    /// Returns how many calls are missing; if that is above 0, nothing is taken.
    ///
    /// # Errors
    ///
    /// The database does not respond. Nothing is taken then.
    fn take(&self, names: &[String], rate: f64, burst: f64) -> Result<f64, StoreError>;

    /// Charges these buckets with more calls; a negative number refunds calls.
    ///
    /// # Errors
    ///
    /// The database does not respond. Some of the buckets may have been charged then.
    fn charge(&self, names: &[String], calls: f64) -> Result<(), StoreError>;
}

/// Limits each caller to `rate` calls per second, with a burst of one second.
pub struct Limit {
    rate: f64,
    buckets: Mutex<HashMap<String, Bucket>>,
    /// The buckets that all processes share, used instead of `buckets`.
    shared: Option<Box<dyn SharedRateLimiter>>,
}

#[derive(Debug)]
struct Bucket {
    /// Negative after a batch with more calls than were left. The next call then waits longer.
    calls_left: f64,
    filled: Instant,
}

impl Limit {
    /// `rate` in calls per second, above 0.
    pub fn new(rate: f64) -> Self {
        Self {
            rate,
            buckets: Mutex::default(),
            shared: None,
        }
    }

    /// As [`Self::new`], with buckets that all processes share.
    pub fn shared(rate: f64, limiter: impl SharedRateLimiter + 'static) -> Self {
        Self {
            shared: Some(Box::new(limiter)),
            ..Self::new(rate)
        }
    }

    fn burst(&self) -> f64 {
        self.rate.max(1.0)
    }

    /// Counts a call against its address, before any lookup. Uses only this process's buckets, so it never
    /// blocks: a call above the limit of one process is above the limit of all.
    ///
    /// # Errors
    ///
    /// 429 with the seconds to wait after too many calls. A refused call is not counted (INTERFACE "Limits").
    pub fn take_address(&self, address: &[String], now: Instant) -> Result<(), Failure> {
        self.take_local(address, now)
    }

    /// Counts a call against its caller's name, after [`Self::take_address`] has accepted it. Blocks if
    /// [`Self::is_shared`].
    ///
    /// # Errors
    ///
    /// As for [`Self::take_address`]; also 500 or 503 if the shared buckets' database does not respond. The call is then
    /// refunded to the address.
    pub fn take_caller(&self, name: &str, address: &[String], now: Instant) -> Result<(), Failure> {
        let taken = self.take_by_name(name, address, now);
        if taken.is_err() {
            Self::add(&mut self.lock(), address, 1.0);
        }
        taken
    }

    fn take_by_name(&self, name: &str, address: &[String], now: Instant) -> Result<(), Failure> {
        let name = [name.to_owned()];
        if let Some(shared) = &self.shared {
            let names = [&name, address].concat();
            let missing = shared.take(&names, self.rate, self.burst());
            return self.check(missing.map_err(Failure::store)?);
        }
        self.take_local(&name, now)
    }

    /// Returns whether the buckets are in a database that all processes share.
    pub fn is_shared(&self) -> bool {
        self.shared.is_some()
    }

    fn take_local(&self, names: &[String], now: Instant) -> Result<(), Failure> {
        let mut buckets = self.lock();
        if buckets.len() > MAX_CALLERS {
            let full = |b: &Bucket| self.calls_left_at(b, now) >= self.burst();
            buckets.retain(|_, bucket| !full(bucket));
        }
        let mut missing: f64 = 0.0;
        for name in names {
            let bucket = buckets.entry(name.clone()).or_insert(Bucket {
                calls_left: self.burst(),
                filled: now,
            });
            bucket.calls_left = self.calls_left_at(bucket, now);
            bucket.filled = now;
            missing = missing.max(1.0 - bucket.calls_left);
        }
        if missing <= 0.0 {
            Self::add(&mut buckets, names, -1.0);
        }
        self.check(missing)
    }

    fn check(&self, missing: f64) -> Result<(), Failure> {
        if missing <= 0.0 {
            return Ok(());
        }
        let wait = (missing / self.rate).ceil().max(1.0) as u64;
        let mut failure = Failure::new(
            StatusCode::TOO_MANY_REQUESTS,
            "rate_limited",
            format!(
                "Too many calls: {} a second are permitted, and each item of a batch is one. Nothing was accepted; try \
                 again in {wait} s.",
                self.rate
            ),
        );
        failure.retry_after = Some(wait);
        Err(failure)
    }

    /// Counts the other items of a batch, after its call was accepted.
    pub fn charge(&self, caller: &[String], calls: usize) {
        self.add_all(caller, -(calls as f64));
    }

    /// Refunds calls that were counted.
    pub fn refund(&self, caller: &[String], calls: usize) {
        self.add_all(caller, calls as f64);
    }

    fn add_all(&self, caller: &[String], calls: f64) {
        if let Some(shared) = &self.shared
            && let Err(error) = shared.charge(caller, -calls)
        {
            tracing::error!("calls were not counted: {error}");
        }
        Self::add(&mut self.lock(), caller, calls);
    }

    fn add(buckets: &mut HashMap<String, Bucket>, caller: &[String], calls: f64) {
        for name in caller {
            if let Some(bucket) = buckets.get_mut(name) {
                bucket.calls_left += calls;
            }
        }
    }

    /// Returns how many calls are left in the bucket at `now`.
    fn calls_left_at(&self, bucket: &Bucket, now: Instant) -> f64 {
        let passed = now.saturating_duration_since(bucket.filled).as_secs_f64();
        (bucket.calls_left + passed * self.rate).min(self.burst())
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Bucket>> {
        self.buckets.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn each_caller_has_a_burst_then_the_rate() {
        let limit = Limit::new(2.0);
        let start = Instant::now();
        let ok = |caller, ms| {
            limit
                .take_address(&names(&[caller]), start + Duration::from_millis(ms))
                .is_ok()
        };
        assert!(ok("a", 0) && ok("a", 0) && !ok("a", 0));
        assert!(ok("b", 0), "another caller has its own bucket");
        assert!(!ok("a", 400) && ok("a", 900));
        let refused = limit.take_address(&names(&["a"]), start + Duration::from_millis(901));
        assert_eq!(refused.unwrap_err().retry_after, Some(1));
    }

    #[test]
    fn a_new_token_does_not_bypass_the_address_limit_and_a_refused_call_costs_nothing() {
        let limit = Limit::new(1.0);
        let now = Instant::now();
        let call = |token: &str, address: &str| {
            let address = names(&[address]);
            limit.take_address(&address, now)?;
            limit.take_caller(token, &address, now)
        };
        assert!(call("token 1", "address").is_ok());
        assert!(call("token 2", "address").is_err());
        assert!(call("token 2", "elsewhere").is_ok());
        assert!(call("token 2", "a third").is_err());
        assert!(call("token 3", "a third").is_ok());
    }

    #[test]
    fn a_batch_is_accepted_whole_and_charged_afterwards() {
        let limit = Limit::new(2.0);
        let start = Instant::now();
        let caller = names(&["a"]);
        limit.take_address(&caller, start).unwrap();
        limit.charge(&caller, 9);
        let wait = limit.take_address(&caller, start).unwrap_err().retry_after;
        assert_eq!(
            wait,
            Some(5),
            "8 calls too many and the next one, at 2 a second"
        );
        limit.refund(&caller, 9);
        assert!(limit.take_address(&caller, start).is_ok());
    }
}

//! `--rate`: token buckets, one for each access token and one for each address (INTERFACE
//! "Limits").

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use axum::http::StatusCode;

use crate::failure::Failure;
use crate::store::StoreError;

/// Above this many callers, the ones that have not called lately are forgotten.
const CALLERS_KEPT: usize = 1000;

/// The calls that callers may still make at all processes together. Its calls block.
pub trait Allowances: Send + Sync {
    /// Counts a call by each of these names, of which `rate` a second are permitted and `burst` at once; else
    /// returns how many are missing, and counts none.
    ///
    /// # Errors
    ///
    /// The database does not answer; nothing is counted then.
    fn take(&self, names: &[String], rate: f64, burst: f64) -> Result<f64, StoreError>;

    /// Counts further calls, or takes calls back.
    ///
    /// # Errors
    ///
    /// The database does not answer; some of the names may have been charged then.
    fn charge(&self, names: &[String], calls: f64) -> Result<(), StoreError>;
}

/// Lets each caller make `rate` calls a second, with a burst of one second's worth.
pub struct Limit {
    rate: f64,
    buckets: Mutex<HashMap<String, Bucket>>,
    /// Has the buckets of all processes instead.
    shared: Option<Box<dyn Allowances>>,
}

#[derive(Debug)]
struct Bucket {
    /// Below none after a batch, which may take more than there is: the next call waits longer.
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

    /// The same, whichever process is called.
    pub fn shared(rate: f64, allowances: impl Allowances + 'static) -> Self {
        Self {
            shared: Some(Box::new(allowances)),
            ..Self::new(rate)
        }
    }

    fn burst(&self) -> f64 {
        self.rate.max(1.0)
    }

    /// Counts a call by the address that it comes from, before anything is looked up for it. It is counted here
    /// alone, and so never waits: what is too much for this process is too much for all.
    ///
    /// # Errors
    ///
    /// 429 with the seconds to wait if there are too many: then it is not counted (INTERFACE "Limits").
    pub fn take_address(&self, address: &[String], now: Instant) -> Result<(), Failure> {
        self.take_here(address, now)
    }

    /// Counts a call that [`Self::take_address`] has let in by the other name of its caller, too. Blocks if the
    /// limit [`Self::is_shared`].
    ///
    /// # Errors
    ///
    /// As for [`Self::take_address`]: the address has its call back then. 500 or 503 if the limit is in a
    /// database that does not answer.
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
            return self.answer(missing.map_err(Failure::store)?);
        }
        self.take_here(&name, now)
    }

    /// Whether the calls of all processes are counted, in a database.
    pub fn is_shared(&self) -> bool {
        self.shared.is_some()
    }

    fn take_here(&self, names: &[String], now: Instant) -> Result<(), Failure> {
        let mut buckets = self.lock();
        if buckets.len() > CALLERS_KEPT {
            let full = |b: &Bucket| self.filled(b, now) >= self.burst();
            buckets.retain(|_, bucket| !full(bucket));
        }
        let mut missing: f64 = 0.0;
        for name in names {
            let bucket = buckets.entry(name.clone()).or_insert(Bucket {
                calls_left: self.burst(),
                filled: now,
            });
            bucket.calls_left = self.filled(bucket, now);
            bucket.filled = now;
            missing = missing.max(1.0 - bucket.calls_left);
        }
        if missing <= 0.0 {
            Self::add(&mut buckets, names, -1.0);
        }
        self.answer(missing)
    }

    fn answer(&self, missing: f64) -> Result<(), Failure> {
        if missing <= 0.0 {
            return Ok(());
        }
        let wait = (missing / self.rate).ceil().max(1.0) as u64;
        let mut failure = Failure::new(
            StatusCode::TOO_MANY_REQUESTS,
            "rate_limited",
            format!(
                "Too many calls: {} a second are permitted, and each item of a batch is one. Try again in {wait} s.",
                self.rate
            ),
        );
        failure.retry_after = Some(wait);
        Err(failure)
    }

    /// Counts what a call that was let in turned out to hold: the further items of a batch.
    pub fn charge(&self, caller: &[String], calls: usize) {
        self.add_all(caller, -(calls as f64));
    }

    /// Takes back what was counted.
    pub fn give_back(&self, caller: &[String], calls: usize) {
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

    /// Gives how much is in the bucket by now.
    fn filled(&self, bucket: &Bucket, now: Instant) -> f64 {
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
    fn a_burst_then_the_rate_for_each_caller() {
        let limit = Limit::new(2.0);
        let start = Instant::now();
        let ok = |caller, ms| {
            limit
                .take_address(&names(&[caller]), start + Duration::from_millis(ms))
                .is_ok()
        };
        assert!(ok("a", 0) && ok("a", 0) && !ok("a", 0));
        assert!(ok("b", 0), "another caller has a bucket of its own");
        assert!(!ok("a", 400) && ok("a", 900));
        let refused = limit.take_address(&names(&["a"]), start + Duration::from_millis(901));
        assert_eq!(refused.unwrap_err().retry_after, Some(1));
    }

    #[test]
    fn a_fresh_token_does_not_help_and_a_refused_call_costs_nothing() {
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
    fn a_batch_is_let_in_whole_and_paid_for_afterwards() {
        let limit = Limit::new(2.0);
        let start = Instant::now();
        let caller = names(&["a"]);
        limit.take_address(&caller, start).unwrap();
        limit.charge(&caller, 9);
        let wait = limit.take_address(&caller, start).unwrap_err().retry_after;
        assert_eq!(wait, Some(5), "8 too many, and one more, at 2 a second");
        limit.give_back(&caller, 9);
        assert!(limit.take_address(&caller, start).is_ok());
    }
}

//! Remembers the requests whose first attempt was refused, so that the repetition of such a request is not taken for one
//! of an earlier request with the same content.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How long after a refusal its repetition is recognized. OpenAI's packages wait for at most a minute, up to the default
/// of two times.
const TTL: Duration = Duration::from_secs(5 * 60);

/// The maximum number of remembered refusals.
const MAX: usize = 4096;

/// The refused first attempts whose requests have not been accepted since, by request.
#[derive(Debug, Default)]
pub struct Refusals(Mutex<HashMap<String, Vec<Instant>>>);

impl Refusals {
    /// Adds a refused first attempt. `request` identifies the requests with the same content, or all requests of a client if
    /// the content is unknown.
    pub fn add(&self, request: &str, now: Instant) {
        let mut refusals = self.lock();
        refusals.retain(|_, times| {
            times.retain(|time| is_recent(*time, now));
            !times.is_empty()
        });
        if refusals.values().map(Vec::len).sum::<usize>() < MAX {
            refusals.entry(request.to_owned()).or_default().push(now);
        }
    }

    /// Removes one refused attempt. Returns whether there was one.
    pub fn take(&self, request: &str, now: Instant) -> bool {
        let mut refusals = self.lock();
        let Some(times) = refusals.get_mut(request) else {
            return false;
        };
        times.retain(|time| is_recent(*time, now));
        let is_found = times.pop().is_some();
        if times.is_empty() {
            refusals.remove(request);
        }
        is_found
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Vec<Instant>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn is_recent(time: Instant, now: Instant) -> bool {
    now.saturating_duration_since(time) < TTL
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_refusal_is_taken_once_and_expires() {
        let refusals = Refusals::default();
        let now = Instant::now();
        refusals.add("a", now);
        refusals.add("a", now);
        assert!(!refusals.take("b", now));
        assert!(refusals.take("a", now));
        assert!(refusals.take("a", now));
        assert!(!refusals.take("a", now));
        refusals.add("a", now);
        assert!(!refusals.take("a", now + TTL));
        assert!(refusals.lock().is_empty());
    }

    #[test]
    fn the_number_of_refusals_is_limited() {
        let refusals = Refusals::default();
        let now = Instant::now();
        for n in 0..=MAX {
            refusals.add(&n.to_string(), now);
        }
        assert!(!refusals.take(&MAX.to_string(), now));
        refusals.add("later", now + TTL);
        assert_eq!(refusals.lock().len(), 1);
    }
}

//! Remembers refused attempts of requests, so that the repetition of such a request is not taken for one of an earlier
//! request with the same content.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How long after a refusal its repetition is recognized. OpenAI's packages wait for at most a minute, up to the default
/// of two times.
pub const TTL: Duration = Duration::from_secs(5 * 60);

/// The same for a refusal whose content is unknown. It is shorter, because it is taken for one of any request of the client.
pub const CLIENT_TTL: Duration = Duration::from_secs(75);

/// The maximum number of remembered refusals.
const MAX: usize = 4096;

/// When the refusals expire whose requests have not been repeated since, by request and number of earlier attempts.
#[derive(Debug, Default)]
pub struct Refusals(Mutex<HashMap<(String, u32), Vec<Instant>>>);

impl Refusals {
    /// Adds an attempt that was refused before it was known whether an earlier one was accepted: only if it is the first,
    /// or if the attempt before it was refused.
    pub fn continue_with(&self, request: &str, attempt: u32, now: Instant, ttl: Duration) {
        if attempt == 0 || self.take_before(request, attempt, now) {
            self.add(request, attempt, now, ttl);
        }
    }

    /// Adds a refused attempt. `request` identifies the requests with the same
    /// content, or all requests of a client if the content is unknown. `attempt`: the number of earlier attempts. `ttl`:
    /// [`TTL`] or [`CLIENT_TTL`].
    pub fn add(&self, request: &str, attempt: u32, now: Instant, ttl: Duration) {
        let mut refusals = self.lock();
        refusals.retain(|_, times| {
            times.retain(|expiry| *expiry > now);
            !times.is_empty()
        });
        if refusals.values().map(Vec::len).sum::<usize>() < MAX {
            let times = refusals.entry((request.to_owned(), attempt)).or_default();
            times.push(now + ttl);
        }
    }

    /// Removes a refusal of the attempt before this one. Returns whether there was one.
    pub fn take_before(&self, request: &str, attempt: u32, now: Instant) -> bool {
        let Some(before) = attempt.checked_sub(1) else {
            return false;
        };
        let key = (request.to_owned(), before);
        let mut refusals = self.lock();
        let Some(times) = refusals.get_mut(&key) else {
            return false;
        };
        times.retain(|expiry| *expiry > now);
        let is_found = times.pop().is_some();
        if times.is_empty() {
            refusals.remove(&key);
        }
        is_found
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<(String, u32), Vec<Instant>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_refusal_is_taken_once_and_expires() {
        let refusals = Refusals::default();
        let now = Instant::now();
        refusals.add("a", 0, now, TTL);
        refusals.add("a", 0, now, TTL);
        assert!(!refusals.take_before("b", 1, now));
        assert!(refusals.take_before("a", 1, now));
        assert!(refusals.take_before("a", 1, now));
        assert!(!refusals.take_before("a", 1, now));
        refusals.add("a", 0, now, TTL);
        assert!(!refusals.take_before("a", 1, now + TTL));
        assert!(refusals.lock().is_empty());
        refusals.add("client", 0, now, CLIENT_TTL);
        assert!(!refusals.take_before("client", 1, now + CLIENT_TTL));
    }

    /// Guards against the last refusal of a request that its client has given up: the repetition of the next request with
    /// the same content was paid again.
    #[test]
    fn a_refusal_belongs_to_the_next_attempt_of_its_request() {
        let refusals = Refusals::default();
        let now = Instant::now();
        for attempt in 0..3 {
            refusals.continue_with("a", attempt, now, TTL);
        }
        assert!(!refusals.take_before("a", 1, now));
        assert!(!refusals.take_before("a", 2, now));
        assert_eq!(refusals.lock().len(), 1);
        // The first attempt may have been accepted.
        refusals.continue_with("b", 1, now, TTL);
        assert!(!refusals.take_before("b", 2, now));
    }

    #[test]
    fn the_number_of_refusals_is_limited() {
        let refusals = Refusals::default();
        let now = Instant::now();
        for n in 0..=MAX {
            refusals.add(&n.to_string(), 0, now, TTL);
        }
        assert!(!refusals.take_before(&MAX.to_string(), 1, now));
        refusals.add("later", 0, now + TTL, TTL);
        assert_eq!(refusals.lock().len(), 1);
    }
}

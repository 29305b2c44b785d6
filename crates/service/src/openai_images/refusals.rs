//! Remembers the requests whose first attempt was refused, so that the repetition of such a request is not taken for one
//! of an earlier request with the same content.

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

/// When the refusals of first attempts expire whose requests have not been accepted since, by request.
#[derive(Debug, Default)]
pub struct Refusals(Mutex<HashMap<String, Vec<Instant>>>);

impl Refusals {
    /// Adds a refused first attempt. `request` identifies the requests with the same content, or all requests of a client if
    /// the content is unknown. `ttl`: [`TTL`] or [`CLIENT_TTL`].
    pub fn add(&self, request: &str, now: Instant, ttl: Duration) {
        let mut refusals = self.lock();
        refusals.retain(|_, times| {
            times.retain(|expiry| *expiry > now);
            !times.is_empty()
        });
        if refusals.values().map(Vec::len).sum::<usize>() < MAX {
            refusals
                .entry(request.to_owned())
                .or_default()
                .push(now + ttl);
        }
    }

    /// Removes one refused attempt. Returns whether there was one.
    pub fn take(&self, request: &str, now: Instant) -> bool {
        let mut refusals = self.lock();
        let Some(times) = refusals.get_mut(request) else {
            return false;
        };
        times.retain(|expiry| *expiry > now);
        let is_found = times.pop().is_some();
        if times.is_empty() {
            refusals.remove(request);
        }
        is_found
    }

    /// Forgets the refusals of a request, because its next first attempt was accepted. They belong to requests that their
    /// clients have given up.
    pub fn forget(&self, request: &str) {
        self.lock().remove(request);
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Vec<Instant>>> {
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
        refusals.add("a", now, TTL);
        refusals.add("a", now, TTL);
        assert!(!refusals.take("b", now));
        assert!(refusals.take("a", now));
        assert!(refusals.take("a", now));
        assert!(!refusals.take("a", now));
        refusals.add("a", now, TTL);
        assert!(!refusals.take("a", now + TTL));
        assert!(refusals.lock().is_empty());
        refusals.add("client", now, CLIENT_TTL);
        assert!(!refusals.take("client", now + CLIENT_TTL));
    }

    /// Guards against a refusal that outlives its request: a repetition of the next request with the same content was paid
    /// again.
    #[test]
    fn refusals_are_forgotten_when_the_request_is_accepted() {
        let refusals = Refusals::default();
        let now = Instant::now();
        refusals.add("a", now, TTL);
        refusals.add("b", now, TTL);
        refusals.forget("a");
        assert!(!refusals.take("a", now));
        assert!(refusals.take("b", now));
    }

    #[test]
    fn the_number_of_refusals_is_limited() {
        let refusals = Refusals::default();
        let now = Instant::now();
        for n in 0..=MAX {
            refusals.add(&n.to_string(), now, TTL);
        }
        assert!(!refusals.take(&MAX.to_string(), now));
        refusals.add("later", now + TTL, TTL);
        assert_eq!(refusals.lock().len(), 1);
    }
}

//! Caches token lookups, so that a client that polls does not cause a database query each time.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How long a lookup is cached: a removed token is accepted for at most this long.
const FRESH: Duration = Duration::from_secs(1);

/// Above this number of entries, expired ones are dropped.
const MAX: usize = 1000;

/// Account names by token digest. Contains only valid tokens, so that invalid ones can't fill it.
#[derive(Debug, Default)]
pub struct Recent(Mutex<HashMap<String, (String, Instant)>>);

impl Recent {
    /// Returns the account of a token, if its entry has not expired.
    pub fn find(&self, digest: &str, now: Instant) -> Option<String> {
        let known = self.lock();
        let (name, at) = known.get(digest)?;
        is_fresh(*at, now).then(|| name.clone())
    }

    /// Adds the result of a lookup at the time `at`.
    pub fn add(&self, digest: String, name: &str, at: Instant) {
        let mut known = self.lock();
        if known.len() >= MAX {
            known.retain(|_, (_, added)| is_fresh(*added, at));
        }
        known.insert(digest, (name.to_owned(), at));
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, (String, Instant)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn is_fresh(at: Instant, now: Instant) -> bool {
    now.saturating_duration_since(at) < FRESH
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Guards against a database query for each poll, and against tokens that outlive their account.
    #[test]
    fn a_lookup_is_cached_for_a_second() {
        let recent = Recent::default();
        let now = Instant::now();
        assert_eq!(recent.find("digest", now), None);
        recent.add("digest".into(), "ada", now);
        let later = |ms| recent.find("digest", now + Duration::from_millis(ms));
        assert_eq!(later(999).as_deref(), Some("ada"));
        assert_eq!(later(1000), None);
        for n in 0..2 * MAX {
            let at = now + Duration::from_secs(n as u64);
            recent.add(n.to_string(), "bob", at);
        }
        assert!(recent.lock().len() <= MAX);
    }
}

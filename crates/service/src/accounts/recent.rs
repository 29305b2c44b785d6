//! Tokens that were looked up just now, so that a client that polls does not cost a look into the database each time.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// A token that was taken away is good for so long at most.
const FRESH: Duration = Duration::from_secs(1);

/// Above this many, the ones that are no longer fresh are dropped.
const MAX: usize = 1000;

/// The accounts of tokens, by the digests of these. Only tokens that are known are in it, so bad ones can't fill it.
#[derive(Debug, Default)]
pub struct Recent(Mutex<HashMap<String, (String, Instant)>>);

impl Recent {
    /// The account of a token, if it is fresh.
    pub fn find(&self, digest: &str, now: Instant) -> Option<String> {
        let known = self.lock();
        let (name, at) = known.get(digest)?;
        is_fresh(*at, now).then(|| name.clone())
    }

    /// Adds what was looked up at that time.
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
    fn a_token_is_believed_for_a_second() {
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

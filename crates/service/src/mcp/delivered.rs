//! Remembers the tasks whose end was reported to their clients. A call with the same arguments makes a second task only
//! then, because the client of an unreported task may have timed out and repeat its call.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How long after its end a task is joined if its end was not reported.
pub const KEEP: Duration = Duration::from_secs(10 * 60);

/// The maximum number of remembered tasks. Further tasks are joined once more than needed, and not charged again.
const MAX: usize = 10_000;

/// When each reported task is forgotten, by id. By then it is not joined any more.
#[derive(Debug, Default)]
pub struct Delivered(Mutex<HashMap<String, Instant>>);

impl Delivered {
    /// Adds a task that has ended.
    pub fn add(&self, id: &str, now: Instant) {
        let mut ids = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if ids.len() >= MAX {
            ids.retain(|_, expiry| *expiry > now);
        }
        if ids.len() < MAX {
            ids.insert(id.to_owned(), now + KEEP);
        }
    }

    pub fn contains(&self, id: &str) -> bool {
        let ids = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        ids.contains_key(id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expired_tasks_make_space_for_others() {
        let delivered = Delivered::default();
        let now = Instant::now();
        for n in 0..MAX {
            delivered.add(&n.to_string(), now);
        }
        delivered.add("another", now);
        assert!(delivered.contains("0") && !delivered.contains("another"));
        delivered.add("later", now + KEEP);
        assert!(delivered.contains("later") && !delivered.contains("0"));
    }
}

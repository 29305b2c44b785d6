//! Bounds the requests that wait for tasks, because each occupies a connection.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::http::StatusCode;

use crate::failure::Failure;

/// The maximum number of waiting requests, in total and of one owner.
const MAX: usize = 256;
const MAX_PER_OWNER: usize = 64;

/// The `Retry-After` if too many requests wait, in seconds.
const RETRY_SECONDS: u64 = 5;

/// The number of waiting requests of each owner.
#[derive(Debug, Default)]
pub struct Waits(Arc<Mutex<HashMap<String, usize>>>);

impl Waits {
    /// Counts a request until the returned value is dropped. Must be called before its tasks are submitted.
    ///
    /// # Errors
    ///
    /// 429 if too many requests wait.
    pub fn begin(&self, owner: &str) -> Result<Wait, Failure> {
        let mut counts = lock(&self.0);
        let total: usize = counts.values().sum();
        let of_owner = counts.get(owner).copied().unwrap_or_default();
        if total >= MAX || of_owner >= MAX_PER_OWNER {
            return Err(too_many());
        }
        counts.insert(owner.to_owned(), of_owner + 1);
        Ok(Wait {
            counts: self.0.clone(),
            owner: owner.to_owned(),
        })
    }
}

/// A waiting request.
#[derive(Debug)]
pub struct Wait {
    counts: Arc<Mutex<HashMap<String, usize>>>,
    owner: String,
}

impl Drop for Wait {
    fn drop(&mut self) {
        let mut counts = lock(&self.counts);
        if let Some(count) = counts.get_mut(&self.owner) {
            *count -= 1;
            if *count == 0 {
                counts.remove(&self.owner);
            }
        }
    }
}

fn lock(counts: &Mutex<HashMap<String, usize>>) -> MutexGuard<'_, HashMap<String, usize>> {
    counts.lock().unwrap_or_else(PoisonError::into_inner)
}

fn too_many() -> Failure {
    let mut failure = Failure::new(
        StatusCode::TOO_MANY_REQUESTS,
        "too_many_waiting",
        "Too many requests are waiting for their images. Nothing was accepted; try again later.",
    );
    failure.retry_after = Some(RETRY_SECONDS);
    failure
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_owner_and_all_owners_have_a_limit() {
        let waits = Waits::default();
        let begin = |owner: &str| waits.begin(owner).ok();
        let mut of_one: Vec<Option<Wait>> = (0..=MAX_PER_OWNER).map(|_| begin("a")).collect();
        assert!(of_one.pop().unwrap().is_none());
        assert!(of_one.iter().all(Option::is_some));
        let others: Vec<Option<Wait>> = (0..MAX).map(|n| begin(&n.to_string())).collect();
        assert_eq!(others.iter().flatten().count(), MAX - MAX_PER_OWNER);
        drop(of_one);
        assert!(begin("b").is_some());
        drop(others);
        assert!(lock(&waits.0).is_empty());
    }
}

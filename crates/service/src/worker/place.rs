//! Keeps a place for a task that is not written down yet.

use std::sync::Arc;

use atelier_contract::ModelId;

use super::Pool;
use super::queue::Queue;
use crate::outputs::holds::Hold;
use crate::store::{StoreError, now_ms};
use crate::turns::Turn;

/// A place among those of an owner that wait; given back unless a task takes it.
pub struct Place {
    queue: Arc<Queue>,
    owner: String,
    taken: bool,
}

impl Pool {
    /// Keeps a place for another task of this owner; `None` if as many wait as may.
    ///
    /// # Errors
    ///
    /// The tasks are in PostgreSQL, and it does not answer; never with SQLite.
    pub fn reserve(&self, owner: &str) -> Result<Option<Place>, StoreError> {
        let place = |taken| Place {
            queue: self.queue.clone(),
            owner: owner.to_owned(),
            taken,
        };
        if let Some(shared) = &self.queue.shared {
            let is_full = match self.queue.bounds.waiting {
                Some(most) => shared.unfinished_of(owner)?.waiting >= most,
                None => false,
            };
            // The database counts, so there is nothing to give back.
            return Ok((!is_full).then(|| place(true)));
        }
        let mut turns = self.queue.lock();
        let most = self.queue.bounds.waiting.unwrap_or(usize::MAX);
        if turns.waiting.of(owner) >= most {
            return Ok(None);
        }
        turns.waiting.add(owner);
        Ok(Some(place(false)))
    }
}

impl Place {
    /// Queues a task that is in the store.
    pub fn take(mut self, id: String, model: &ModelId, hold: Hold) {
        self.taken = true;
        if let Some(shared) = &self.queue.shared {
            // The database keeps, for all processes, what the task is made from.
            return shared.push(&id, &self.owner, model, now_ms());
        }
        let lane = self.queue.lane(model);
        let turn = Turn::first(id, self.owner.clone(), model.clone(), now_ms());
        let mut turns = self.queue.lock();
        turns.holds.insert(turn.id.clone(), hold);
        turns.push(lane, turn);
        drop(turns);
        self.queue.changed.notify_all();
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if !self.taken {
            self.queue.lock().waiting.take(&self.owner);
        }
    }
}

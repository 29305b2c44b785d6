//! Reserves a queue slot for a task that is not stored yet.

use std::sync::Arc;

use atelier_contract::ModelId;

use super::Pool;
use super::queue::Queue;
use crate::outputs::pins::Pin;
use crate::store::{StoreError, now_ms};
use crate::turns::Turn;

/// A reserved slot among an owner's waiting tasks; released on drop unless a task was queued.
pub struct Reservation {
    queue: Arc<Queue>,
    owner: String,
    is_used: bool,
}

impl Pool {
    /// Reserves a slot for another task of this owner; `None` if the limit of waiting tasks is reached.
    ///
    /// # Errors
    ///
    /// The database of a shared queue does not respond; never with SQLite.
    pub fn reserve(&self, owner: &str) -> Result<Option<Reservation>, StoreError> {
        let reservation = |is_used| Reservation {
            queue: self.queue.clone(),
            owner: owner.to_owned(),
            is_used,
        };
        if let Some(shared) = &self.queue.shared {
            let is_full = match self.queue.limits.waiting {
                Some(max) => shared.unfinished_of(owner)?.waiting >= max,
                None => false,
            };
            // The database counts the tasks, so there is nothing to release.
            return Ok((!is_full).then(|| reservation(true)));
        }
        let mut turns = self.queue.lock();
        let max = self.queue.limits.waiting.unwrap_or(usize::MAX);
        if turns.waiting_by_owner.of(owner) >= max {
            return Ok(None);
        }
        turns.waiting_by_owner.add(owner);
        Ok(Some(reservation(false)))
    }
}

impl Reservation {
    /// Queues a task that is stored.
    pub fn submit(mut self, id: String, model: &ModelId, pin: Pin) {
        self.is_used = true;
        if let Some(shared) = &self.queue.shared {
            // The database pins the input files for all processes.
            return shared.push(&id, &self.owner, model, now_ms());
        }
        let lane = self.queue.lane(model);
        let turn = Turn::first(id, self.owner.clone(), model.clone(), now_ms());
        let mut turns = self.queue.lock();
        turns.pins.insert(turn.id.clone(), pin);
        turns.push(lane, turn);
        drop(turns);
        self.queue.changed.notify_all();
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        if !self.is_used {
            self.queue.lock().waiting_by_owner.take(&self.owner);
        }
    }
}

//! Counts the unfinished tasks of an owner.

use super::{AccountLimits, Pool};
use crate::store::StoreError;
use crate::turns::UnfinishedCount;

impl Pool {
    /// Returns the limits of each owner.
    pub fn limits(&self) -> AccountLimits {
        self.queue.limits
    }

    /// Returns the number of this owner's unfinished tasks, at all processes.
    ///
    /// # Errors
    ///
    /// The database of a shared queue does not respond.
    pub fn unfinished_of(&self, owner: &str) -> Result<UnfinishedCount, StoreError> {
        if let Some(shared) = &self.queue.shared {
            return shared.unfinished_of(owner);
        }
        let turns = self.queue.lock();
        Ok(UnfinishedCount {
            waiting: turns.waiting_by_owner.of(owner),
            running: turns.running_by_owner.of(owner),
        })
    }
}

//! How many tasks of an owner there are that have not ended.

use super::{Bounds, Pool};
use crate::store::StoreError;
use crate::turns::UnfinishedCount;

impl Pool {
    /// Gives how much one owner may have at once.
    pub fn bounds(&self) -> Bounds {
        self.queue.bounds
    }

    /// Counted by the database where processes share their tasks, else here.
    ///
    /// # Errors
    /// If the database can't be asked.
    pub fn unfinished_of(&self, owner: &str) -> Result<UnfinishedCount, StoreError> {
        if let Some(shared) = &self.queue.shared {
            return shared.unfinished_of(owner);
        }
        let turns = self.queue.lock();
        Ok(UnfinishedCount {
            waiting: turns.waiting.of(owner),
            running: turns.running.of(owner),
        })
    }
}

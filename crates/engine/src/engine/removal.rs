//! Removes tasks. They are hidden at once and deleted after a delay, until which they can be restored. The removal is
//! stored in the record, so that it survives a reload and reaches other tabs.

use super::Engine;
use crate::{Millis, TaskKey, UNDO_MS};

impl Engine {
    pub(super) fn mark_removed(&mut self, key: &TaskKey, now: Millis) {
        if let Some(tracked) = self.tasks.get_mut(key) {
            tracked.task.removed = Some(now);
            self.timers.removals.set(key, now.saturating_add(UNDO_MS));
            // A removed task must not be resent.
            self.timers.resends.remove(key);
            self.save(key);
        }
    }

    pub(super) fn restore(&mut self, key: &TaskKey, now: Millis) {
        if let Some(tracked) = self.tasks.get_mut(key)
            && tracked.task.removed.take().is_some()
        {
            self.timers.removals.remove(key);
            self.save(key);
            self.resume(key, now);
        }
    }

    pub(super) fn forget_removed(&mut self, now: Millis) {
        while let Some(key) = self.timers.removals.first_due(now).cloned() {
            self.remove_attempts(&key);
        }
    }

    /// Deletes a task and the earlier attempts that it replaced, which are hidden and must not reappear.
    pub(super) fn remove_attempts(&mut self, key: &TaskKey) {
        let mut next = Some(key.clone());
        while let Some(key) = next {
            next = self.task(&key).and_then(|task| task.retry_of.clone());
            let is_over = |earlier: &TaskKey| {
                let earlier = self.task(earlier);
                earlier.is_some_and(|task| task.can_retry())
            };
            next = next.filter(is_over);
            self.remove(&key);
        }
    }
}

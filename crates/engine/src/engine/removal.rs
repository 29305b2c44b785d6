//! Tasks that a person removes: out of sight at once, forgotten a while later, and brought back by a
//! word until then. What is removed stays marked in its record, so that neither a reload nor another
//! tab forgets it.

use super::Engine;
use crate::{Millis, TaskKey, UNDO};

impl Engine {
    pub(super) fn mark_removed(&mut self, key: &TaskKey, now: Millis) {
        if let Some(tracked) = self.tasks.get_mut(key) {
            tracked.task.removed = Some(now);
            self.timers.removals.set(key, now.saturating_add(UNDO));
            // A person has had enough of sending it.
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

    /// A task and the attempts that it has taken the place of: they are out of sight already, and must
    /// not come back.
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

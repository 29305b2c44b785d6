//! The times at which tasks are due. Each task has at most one time per queue. Finding the next due task does not visit
//! all tasks.

use std::collections::{BTreeSet, HashMap};

use crate::{Millis, TaskKey};

#[derive(Debug, Default)]
pub(super) struct DueQueue {
    times: HashMap<TaskKey, Millis>,
    /// The entries of `times`, ordered by time.
    order: BTreeSet<(Millis, TaskKey)>,
}

impl DueQueue {
    /// Sets a task's time and replaces any earlier one.
    pub fn set(&mut self, key: &TaskKey, at: Millis) {
        self.remove(key);
        self.times.insert(key.clone(), at);
        self.order.insert((at, key.clone()));
    }

    pub fn remove(&mut self, key: &TaskKey) {
        if let Some(at) = self.times.remove(key) {
            self.order.remove(&(at, key.clone()));
        }
    }

    pub fn clear(&mut self) {
        self.times.clear();
        self.order.clear();
    }

    pub fn contains(&self, key: &TaskKey) -> bool {
        self.times.contains_key(key)
    }

    pub fn is_empty(&self) -> bool {
        self.order.is_empty()
    }

    /// Returns a task's time.
    pub fn get(&self, key: &TaskKey) -> Option<Millis> {
        self.times.get(key).copied()
    }

    /// Returns the earliest time.
    pub fn next(&self) -> Option<Millis> {
        self.order.first().map(|(at, _)| *at)
    }

    /// Returns the task with the earliest time if that time has come.
    pub fn first_due(&self, now: Millis) -> Option<&TaskKey> {
        let (at, key) = self.order.first()?;
        (*at <= now).then_some(key)
    }

    /// Returns all tasks with their times, earliest first.
    pub fn iter(&self) -> impl Iterator<Item = (Millis, &TaskKey)> {
        self.order.iter().map(|(at, key)| (*at, key))
    }

    /// Sets all times to `at`.
    pub fn set_all(&mut self, at: Millis) {
        self.change(|_| at);
    }

    /// Moves all times back, after the clock was set back by `back`.
    pub fn shift_back(&mut self, back: Millis) {
        self.change(|at| at.saturating_sub(back));
    }

    fn change(&mut self, change: impl Fn(Millis) -> Millis) {
        let entries = std::mem::take(&mut self.order).into_iter();
        self.order = entries.map(|(at, key)| (change(at), key)).collect();
        for at in self.times.values_mut() {
            *at = change(*at);
        }
    }
}

/// The due times of all tasks.
#[derive(Debug, Default)]
pub(super) struct Timers {
    /// Polls. Contains no terminal tasks and no tasks with a poll in flight.
    pub polls: DueQueue,
    /// Resends of submissions.
    pub resends: DueQueue,
    /// Deletions of removed tasks, which can be restored until then.
    pub removals: DueQueue,
}

impl Timers {
    pub fn clear(&mut self) {
        self.clear_calls();
        self.removals.clear();
    }

    /// Clears polls and resends. Deletions stay.
    pub fn clear_calls(&mut self) {
        self.polls.clear();
        self.resends.clear();
    }

    /// Removes all times of a task.
    pub fn remove(&mut self, key: &TaskKey) {
        self.polls.remove(key);
        self.resends.remove(key);
        self.removals.remove(key);
    }

    /// Makes all polls and resends due now.
    pub fn set_all_calls(&mut self, now: Millis) {
        self.polls.set_all(now);
        self.resends.set_all(now);
    }

    /// Moves polls and resends back, after the clock was set back. The time of a deletion follows from the task's
    /// record.
    pub fn shift_calls_back(&mut self, back: Millis) {
        self.polls.shift_back(back);
        self.resends.shift_back(back);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(name: &str) -> TaskKey {
        TaskKey(name.to_owned())
    }

    fn queue(entries: &[(&str, Millis)]) -> DueQueue {
        let mut queue = DueQueue::default();
        for (name, at) in entries {
            queue.set(&key(name), *at);
        }
        queue
    }

    fn listed(queue: &DueQueue) -> Vec<(&str, Millis)> {
        let entries = queue.iter();
        entries.map(|(at, key)| (key.0.as_str(), at)).collect()
    }

    #[test]
    fn lists_entries_by_time() {
        let queue = queue(&[("late", 30), ("soon", 10), ("later", 20)]);
        assert_eq!(listed(&queue), [("soon", 10), ("later", 20), ("late", 30)]);
        assert_eq!(queue.next(), Some(10));
        assert_eq!(queue.first_due(9), None);
        assert_eq!(queue.first_due(10), Some(&key("soon")));
    }

    #[test]
    fn setting_a_time_replaces_the_earlier_one() {
        let mut queue = queue(&[("a", 10), ("b", 20), ("a", 30)]);
        assert_eq!(listed(&queue), [("b", 20), ("a", 30)]);
        queue.remove(&key("a"));
        queue.remove(&key("unknown"));
        assert_eq!(listed(&queue), [("b", 20)]);
        assert!(!queue.contains(&key("a")) && queue.contains(&key("b")));
    }

    #[test]
    fn removes_entries_after_their_times_moved() {
        let mut queue = queue(&[("a", 10), ("b", 200)]);
        queue.shift_back(100);
        assert_eq!(listed(&queue), [("a", 0), ("b", 100)]);
        queue.set_all(50);
        assert_eq!(listed(&queue), [("a", 50), ("b", 50)]);
        queue.remove(&key("a"));
        queue.remove(&key("b"));
        assert!(queue.is_empty() && queue.next().is_none());
    }
}

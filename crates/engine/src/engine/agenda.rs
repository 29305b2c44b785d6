//! When something is to be done about tasks: one time for each, soonest first. A step costs what is
//! due, not what there is.

use std::collections::{BTreeSet, HashMap};

use crate::{Millis, TaskKey};

#[derive(Debug, Default)]
pub(super) struct Agenda {
    times: HashMap<TaskKey, Millis>,
    /// The same, in order.
    order: BTreeSet<(Millis, TaskKey)>,
}

impl Agenda {
    /// Sets a task's time; an earlier one no longer counts.
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

    /// When the first is due.
    pub fn next(&self) -> Option<Millis> {
        self.order.first().map(|(at, _)| *at)
    }

    /// The first, if its time has come.
    pub fn first_due(&self, now: Millis) -> Option<&TaskKey> {
        let (at, key) = self.order.first()?;
        (*at <= now).then_some(key)
    }

    /// Gives all tasks with their times, soonest first.
    pub fn iter(&self) -> impl Iterator<Item = (Millis, &TaskKey)> {
        self.order.iter().map(|(at, key)| (*at, key))
    }

    /// Sets all times to the same one.
    pub fn set_all(&mut self, at: Millis) {
        self.change(|_| at);
    }

    /// The clock was set back: what was to come is as far away as before.
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

/// The times by which something is to be done about tasks.
#[derive(Debug, Default)]
pub(super) struct Timers {
    /// Asking about them. Finished ones are not in it, nor those that a call is under way about.
    pub polls: Agenda,
    /// Sending submissions again.
    pub resends: Agenda,
    /// Forgetting those that were removed, and can be brought back until then.
    pub removals: Agenda,
}

impl Timers {
    pub fn clear(&mut self) {
        self.clear_calls();
        self.removals.clear();
    }

    /// No calls are to be made; what was removed is forgotten all the same.
    pub fn clear_calls(&mut self) {
        self.polls.clear();
        self.resends.clear();
    }

    /// Nothing is to be done about this task.
    pub fn remove(&mut self, key: &TaskKey) {
        self.polls.remove(key);
        self.resends.remove(key);
        self.removals.remove(key);
    }

    /// Has all calls made at once.
    pub fn set_all_calls(&mut self, now: Millis) {
        self.polls.set_all(now);
        self.resends.set_all(now);
    }

    /// The clock was set back. When a removed task is forgotten stands in its record.
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

    fn agenda(entries: &[(&str, Millis)]) -> Agenda {
        let mut agenda = Agenda::default();
        for (name, at) in entries {
            agenda.set(&key(name), *at);
        }
        agenda
    }

    fn listed(agenda: &Agenda) -> Vec<(&str, Millis)> {
        let entries = agenda.iter();
        entries.map(|(at, key)| (key.0.as_str(), at)).collect()
    }

    #[test]
    fn the_soonest_is_first() {
        let agenda = agenda(&[("late", 30), ("soon", 10), ("later", 20)]);
        assert_eq!(listed(&agenda), [("soon", 10), ("later", 20), ("late", 30)]);
        assert_eq!(agenda.next(), Some(10));
        assert_eq!(agenda.first_due(9), None);
        assert_eq!(agenda.first_due(10), Some(&key("soon")));
    }

    #[test]
    fn a_task_has_one_time() {
        let mut agenda = agenda(&[("a", 10), ("b", 20), ("a", 30)]);
        assert_eq!(listed(&agenda), [("b", 20), ("a", 30)]);
        agenda.remove(&key("a"));
        agenda.remove(&key("unknown"));
        assert_eq!(listed(&agenda), [("b", 20)]);
        assert!(!agenda.contains(&key("a")) && agenda.contains(&key("b")));
    }

    #[test]
    fn times_that_move_can_still_be_removed() {
        let mut agenda = agenda(&[("a", 10), ("b", 200)]);
        agenda.shift_back(100);
        assert_eq!(listed(&agenda), [("a", 0), ("b", 100)]);
        agenda.set_all(50);
        assert_eq!(listed(&agenda), [("a", 50), ("b", 50)]);
        agenda.remove(&key("a"));
        agenda.remove(&key("b"));
        assert!(agenda.is_empty() && agenda.next().is_none());
    }
}

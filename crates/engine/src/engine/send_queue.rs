//! The queued tasks, in the order in which they are sent.

use std::collections::{BTreeSet, HashSet, VecDeque};

use crate::{BatchKey, Task, TaskKey};

/// A queued task: its index in the batch, its number in the order of submission, and its key.
type Place = (usize, u64, TaskKey);

/// The queued tasks and the paused batches.
#[derive(Debug, Default)]
pub(super) struct SendQueue {
    singles: BTreeSet<Place>,
    /// Batches with queued items, served round-robin.
    batches: VecDeque<(BatchKey, BTreeSet<Place>)>,
    paused: HashSet<BatchKey>,
}

/// The next submission.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum NextSend {
    /// A task that is resent.
    Resend,
    Single,
    Batch(BatchKey),
}

impl SendQueue {
    pub fn pause(&mut self, batch: &BatchKey) {
        self.paused.insert(batch.clone());
    }

    pub fn resume(&mut self, batch: &BatchKey) {
        self.paused.remove(batch);
    }

    pub fn is_paused(&self, batch: &BatchKey) -> bool {
        self.paused.contains(batch)
    }

    /// Resumes all batches for which `is_paused` is false.
    pub fn retain_paused(&mut self, is_paused: impl FnMut(&BatchKey) -> bool) {
        self.paused.retain(is_paused);
    }

    /// Removes all tasks. Paused batches stay paused.
    pub fn clear(&mut self) {
        self.singles.clear();
        self.batches.clear();
    }

    pub fn is_empty(&self) -> bool {
        self.singles.is_empty() && self.batches.is_empty()
    }

    /// Adds a task. `order` is its place in the order of submission.
    pub fn enter(&mut self, task: &Task, order: u64) {
        let Some(place) = &task.batch else {
            self.singles.insert((0, order, task.key.clone()));
            return;
        };
        let entry = (place.index, order, task.key.clone());
        match self.batches.iter_mut().find(|(key, _)| *key == place.batch) {
            Some((_, waiting)) => {
                waiting.insert(entry);
            }
            None => self
                .batches
                .push_back((place.batch.clone(), BTreeSet::from([entry]))),
        }
    }

    /// Removes a task.
    pub fn leave(&mut self, task: &Task, order: u64) {
        let Some(place) = &task.batch else {
            self.singles.remove(&(0, order, task.key.clone()));
            return;
        };
        if let Some((_, waiting)) = self.batches.iter_mut().find(|(key, _)| *key == place.batch) {
            waiting.remove(&(place.index, order, task.key.clone()));
            self.batches.retain(|(_, waiting)| !waiting.is_empty());
        }
    }

    /// Returns the next submission. Single tasks are first, because a user waits for each of them. Then batches are
    /// served round-robin. Batches that are paused are skipped, as are those with a call in flight, so that their items
    /// are accepted in order.
    pub fn next(&self, is_under_way: impl Fn(&BatchKey) -> bool) -> Option<NextSend> {
        if !self.singles.is_empty() {
            return Some(NextSend::Single);
        }
        self.batches
            .iter()
            .map(|(batch, _)| batch)
            .find(|batch| !self.is_paused(batch) && !is_under_way(batch))
            .map(|batch| NextSend::Batch(batch.clone()))
    }

    /// Takes the next single task, or up to `most` items of the batch. `fits`: whether an item may share a call with
    /// the items already taken. It does not apply to the first item. The batch is then moved behind the other batches.
    pub fn take(
        &mut self,
        next: &NextSend,
        most: usize,
        fits: impl Fn(&[TaskKey], &TaskKey) -> bool,
    ) -> Vec<TaskKey> {
        let batch = match next {
            NextSend::Resend => return Vec::new(),
            NextSend::Single => {
                return self
                    .singles
                    .pop_first()
                    .map(|(.., key)| key)
                    .into_iter()
                    .collect();
            }
            NextSend::Batch(batch) => batch,
        };
        let at = self.batches.iter().position(|(key, _)| key == batch);
        let Some((batch, mut waiting)) = at.and_then(|at| self.batches.remove(at)) else {
            return Vec::new();
        };
        let mut taken: Vec<TaskKey> = Vec::new();
        while taken.len() < most
            && let Some(next) = waiting.first()
            && (taken.is_empty() || fits(&taken, &next.2))
            && let Some((.., key)) = waiting.pop_first()
        {
            taken.push(key);
        }
        if !waiting.is_empty() {
            self.batches.push_back((batch, waiting));
        }
        taken
    }
}

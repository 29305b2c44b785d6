//! The tasks for views: a signal for each, and the list of those that are shown.

use std::collections::HashMap;
use std::sync::Arc;

use atelier_contract::ModelId;
use atelier_contract::output::OutputKind;
use atelier_engine::{BatchKey, Millis, Task, TaskKey};
use atelier_studio::form::double_click::DEBOUNCE_MS;
use leptos::prelude::*;

use crate::browser::clock;
use crate::reactive::boxed::after;
use crate::reactive::until::until;

#[derive(Clone, Copy)]
pub(super) struct TaskStore {
    /// The keys of the listed tasks, newest first.
    keys: RwSignal<Arc<Vec<TaskKey>>>,
    /// Incremented when a task is added, removed or enters another phase.
    revision: RwSignal<u64>,
    /// Incremented when the label of a task's state changes; its phase may be the same.
    labels: RwSignal<u64>,
    known: StoredValue<Known, LocalStorage>,
}

#[derive(Default)]
struct Known {
    tasks: HashMap<TaskKey, ArcRwSignal<Task>>,
    /// Failed attempts that were replaced by a retry, and that retry.
    replaced: HashMap<TaskKey, TaskKey>,
}

impl TaskStore {
    pub fn new() -> Self {
        Self {
            keys: RwSignal::new(Arc::default()),
            revision: RwSignal::new(0),
            labels: RwSignal::new(0),
            known: StoredValue::new_local(Known::default()),
        }
    }

    /// Returns when the newest listed task was created.
    pub fn newest(self) -> Option<Millis> {
        let keys = self.keys.try_read_untracked()?;
        let newest = keys.first().and_then(|key| self.task(key));
        newest.map(|task| task.with_untracked(|task| task.created))
    }

    /// Returns the keys of the listed tasks, newest first: neither removed tasks, nor those replaced by a retry. Tracked.
    pub fn keys(self) -> Arc<Vec<TaskKey>> {
        self.keys.get()
    }

    /// Returns the listed tasks of a batch, in its order. Tracked.
    pub fn keys_of_batch(self, batch: &BatchKey) -> Vec<TaskKey> {
        self.revision.track();
        let listed = self.keys.read();
        let index = |key: &TaskKey| {
            let task = self.task(key)?;
            let task = task.read_untracked();
            task.index_in(batch)
        };
        let mut indexed: Vec<_> = listed
            .iter()
            .filter_map(|key| Some((index(key)?, key)))
            .collect();
        indexed.sort_by_key(|(index, _)| *index);
        indexed.into_iter().map(|(_, key)| key.clone()).collect()
    }

    /// Returns the signal of a task, without tracking it.
    pub fn task(self, key: &TaskKey) -> Option<ArcRwSignal<Task>> {
        (self
            .known
            .try_with_value(|known| known.tasks.get(key).cloned()))?
    }

    /// Waits until the service has answered about a task's outputs, at `since` or later.
    pub async fn refreshed(self, key: &TaskKey, since: Millis) {
        let task = self.task(key);
        until(move || {
            let refreshed = task.as_ref().and_then(|task| task.read().refreshed);
            (refreshed >= Some(since)).then_some(())
        })
        .await
    }

    /// Calls a function with all tasks, in no particular order. Not tracked.
    pub fn with_tasks<T>(self, act: impl FnOnce(&[&Task]) -> T) -> T {
        // The app may have been unmounted while the caller waited.
        if self.known.is_disposed() {
            return act(&[]);
        }
        self.known.with_value(|known| {
            let tasks: Vec<_> = known
                .tasks
                .values()
                .map(|task| task.read_untracked())
                .collect();
            let tasks: Vec<&Task> = tasks.iter().map(|task| &**task).collect();
            act(&tasks)
        })
    }

    /// Tracks when tasks are added, removed or enter another phase.
    pub fn track_phases(self) {
        self.revision.track();
    }

    /// Also tracks the labels of their states.
    pub fn track_labels(self) {
        self.revision.track();
        self.labels.track();
    }

    /// Returns the number of active tasks. Tracked.
    pub fn active_count(self) -> usize {
        self.revision.track();
        let keys = self.keys.get();
        self.known.with_value(|known| {
            keys.iter()
                .filter_map(|key| known.tasks.get(key))
                .filter(|task| task.with_untracked(Task::is_active))
                .count()
        })
    }

    /// Returns the number of active tasks of a model, without those of batches from a table. Tracked.
    pub fn active_of(self, model: &ModelId) -> usize {
        self.revision.track();
        self.with_tasks(|tasks| {
            let is_meant =
                |task: &&&Task| task.model == *model && task.is_single() && task.is_active();
            tasks.iter().filter(is_meant).count()
        })
    }

    /// Returns the names and URLs of the newest outputs of a kind, without duplicates. Tracked.
    pub fn recent_outputs(self, kind: OutputKind, max_count: usize) -> Vec<(String, String)> {
        self.revision.track();
        let mut found: Vec<(String, String)> = Vec::new();
        for task in self.keys.read().iter().filter_map(|key| self.task(key)) {
            let task = task.read_untracked();
            for (at, url) in task.outputs().iter().enumerate() {
                let is_new = !found.iter().any(|(_, other)| other == url);
                if is_new && task.output_kind(url) == kind {
                    found.push((task.key.output(at), url.clone()));
                }
            }
            if found.len() >= max_count {
                found.truncate(max_count);
                break;
            }
        }
        found
    }

    /// Updates the signals of these tasks. The list is updated once for all of them.
    pub fn show(self, tasks: &[Task]) {
        if self.known.is_disposed() {
            return;
        }
        let (mut has_moved, mut has_new_label) = (false, false);
        let mut new = Vec::new();
        for task in tasks {
            match self.task(&task.key) {
                Some(signal) => {
                    has_new_label |= signal.with_untracked(|old| old.label() != task.label());
                    has_moved |= self.update(&signal, task);
                }
                None => new.push(task),
            }
        }
        if !new.is_empty() {
            self.known.update_value(|known| {
                for task in &new {
                    let signal = ArcRwSignal::new((*task).clone());
                    known.tasks.insert(task.key.clone(), signal);
                }
            });
            self.keys.update(|keys| {
                let listed = new.iter().filter(|task| self.is_listed(&task.key));
                listed.for_each(|task| self.insert(Arc::make_mut(keys), task.key.clone()));
            });
            for task in new {
                self.replace_failed(task);
            }
            has_moved = true;
        }
        if has_moved {
            self.revision.update(|revision| *revision += 1);
        } else if has_new_label {
            self.labels.update(|labels| *labels += 1);
        }
    }

    /// Updates the signal of a task. Returns whether the task has entered another phase.
    fn update(self, signal: &ArcRwSignal<Task>, task: &Task) -> bool {
        let (has_moved, was_removed) = signal.with_untracked(|old| {
            let has_moved = old.state.phase() != task.state.phase()
                || old.paused != task.paused
                || old.taken_back != task.taken_back
                || old.watching != task.watching
                || old.account != task.account
                || old.favorites != task.favorites;
            (has_moved, old.removed.is_some())
        });
        signal.set(task.clone());
        let is_removed = task.removed.is_some();
        if is_removed != was_removed {
            self.list(&task.key, self.place(&task.key));
        }
        has_moved || is_removed != was_removed
    }

    /// Replaces a failed task by its retry.
    fn replace_failed(self, task: &Task) {
        let Some(failed) = task.retry_of.clone() else {
            return;
        };
        let retry = task.key.clone();
        let replace = move || {
            // The app may have been unmounted in the meantime.
            if self.known.is_disposed() {
                return;
            }
            self.known.update_value(|known| {
                // Damaged records may form a cycle of retries, of which none would be listed. The link that closes the cycle is
                // left out.
                let mut latest = Some(&retry);
                while let Some(next) = latest.filter(|next| **next != failed) {
                    latest = known.replaced.get(next);
                }
                if latest.is_none() && known.tasks.contains_key(&retry) {
                    known.replaced.insert(failed.clone(), retry.clone());
                }
            });
            self.list(&failed, self.place(&failed));
            self.revision.update(|revision| *revision += 1);
        };
        // The press on Retry may be the first click of a double click. The second click must not hit the element that
        // replaces the button.
        let age = clock::now().saturating_sub(task.created);
        match DEBOUNCE_MS.saturating_sub(age) {
            0 => replace(),
            _ => drop(after(DEBOUNCE_MS as u32, replace).forget()),
        }
    }

    /// Returns the position of a task in the list.
    fn place(self, key: &TaskKey) -> Option<usize> {
        self.keys
            .with_untracked(|keys| keys.iter().position(|known| known == key))
    }

    /// Adds a task to the list or removes it, depending on its present state. `place`: its position, if it is listed.
    fn list(self, key: &TaskKey, place: Option<usize>) {
        match (self.is_listed(key), place) {
            (true, None) => self
                .keys
                .update(|keys| self.insert(Arc::make_mut(keys), key.clone())),
            (false, Some(at)) => self.keys.update(|keys| {
                Arc::make_mut(keys).remove(at);
            }),
            _ => {}
        }
    }

    fn is_listed(self, key: &TaskKey) -> bool {
        self.known.with_value(|known| {
            let task = known.tasks.get(key);
            task.is_some_and(|task| task.with_untracked(|task| task.removed.is_none()))
                && !known.replaced.contains_key(key)
        })
    }

    /// Inserts a task before the tasks that are as old or older.
    fn insert(self, keys: &mut Vec<TaskKey>, key: TaskKey) {
        let created = |key: &TaskKey| {
            self.task(key)
                .map_or(0, |task| task.with_untracked(|task| task.created))
        };
        let own = created(&key);
        let is_newest = keys.first().is_none_or(|first| created(first) <= own);
        let at = match is_newest {
            true => 0,
            false => keys.partition_point(|key| created(key) > own),
        };
        keys.insert(at, key);
    }

    /// Returns the last retry of a task, or the task itself if there is none. Tracked.
    pub fn latest(self, key: &TaskKey) -> TaskKey {
        self.revision.track();
        self.known.with_value(|known| {
            let mut latest = key;
            // The number of steps is limited, because damaged records may form a cycle.
            for _ in 0..known.replaced.len() {
                latest = known.replaced.get(latest).unwrap_or(latest);
            }
            latest.clone()
        })
    }

    /// Forgets a task. If it has replaced a failed task, that one is listed again.
    pub fn hide(self, key: &TaskKey) {
        self.keys
            .update(|keys| Arc::make_mut(keys).retain(|known| known != key));
        let replaced = self.known.try_update_value(|known| {
            known.replaced.remove(key);
            let task = known.tasks.remove(key)?;
            let failed = task.with_untracked(|task| task.retry_of.clone())?;
            let is_replaced = known.replaced.get(&failed) == Some(key);
            is_replaced.then(|| known.replaced.remove(&failed));
            Some(failed)
        });
        if let Some(failed) = replaced.flatten() {
            self.list(&failed, self.place(&failed));
        }
        self.revision.update(|revision| *revision += 1);
    }

    /// Returns the tasks that were removed and can still be restored. Tracked.
    pub fn removed(self) -> Vec<Task> {
        self.revision.track();
        self.with_tasks(|tasks| {
            let removed = tasks.iter().filter(|task| task.removed.is_some());
            removed.map(|task| (*task).clone()).collect()
        })
    }
}

#[cfg(test)]
mod tests;

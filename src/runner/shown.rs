//! The tasks as views see them.

use std::sync::Arc;

use atelier_contract::ModelId;
use atelier_engine::output::OutputKind;
use atelier_engine::press::SAME_PRESS;
use atelier_engine::{Task, TaskKey, TaskState};
use leptos::prelude::*;

use super::Runner;
use crate::boxed::after;
use crate::browser::clock;

impl Runner {
    /// Every task's key that is listed, newest first: not what was removed, nor what gave way to a retry;
    /// tracked.
    pub fn keys(&self) -> Arc<Vec<TaskKey>> {
        self.keys.get()
    }

    /// One task; the signal itself is not tracked.
    pub fn task(&self, key: &TaskKey) -> Option<ArcRwSignal<Task>> {
        self.inner.with_value(|inner| inner.tasks.get(key).cloned())
    }

    /// Every task as it is now, newest first; tracked by phase, not by every poll.
    pub fn tasks(&self) -> Vec<Task> {
        self.revision.track();
        let keys = self.keys.get();
        self.inner.with_value(|inner| {
            keys.iter()
                .filter_map(|key| Some(inner.tasks.get(key)?.get_untracked()))
                .collect()
        })
    }

    /// Looks at every task as it is now, in no particular order; not tracked.
    pub fn with_tasks<T>(&self, look: impl FnOnce(&[&Task]) -> T) -> T {
        self.inner.with_value(|inner| {
            let tasks: Vec<_> = inner
                .tasks
                .values()
                .map(|task| task.read_untracked())
                .collect();
            let tasks: Vec<&Task> = tasks.iter().map(|task| &**task).collect();
            look(&tasks)
        })
    }

    /// Follows tasks that come, go or enter another phase.
    pub fn track_phases(&self) {
        self.revision.track();
    }

    /// How many tasks are under way; tracked.
    pub fn active_count(&self) -> usize {
        self.revision.track();
        let keys = self.keys.get();
        self.inner.with_value(|inner| {
            keys.iter()
                .filter_map(|key| inner.tasks.get(key))
                .filter(|task| task.with_untracked(Task::is_active))
                .count()
        })
    }

    /// How many tasks of a model are under way, those of batches aside; tracked.
    pub fn active_of(&self, model: &ModelId) -> usize {
        self.revision.track();
        self.with_tasks(|tasks| {
            let is_meant =
                |task: &&&Task| task.model == *model && task.batch.is_none() && task.is_active();
            tasks.iter().filter(is_meant).count()
        })
    }

    /// The newest outputs of a kind, without repeats; tracked.
    pub fn recent_outputs(&self, kind: OutputKind, most: usize) -> Vec<String> {
        let mut found: Vec<String> = Vec::new();
        for task in self.tasks() {
            let TaskState::Ready { outputs, .. } = &task.state else {
                continue;
            };
            for url in outputs {
                if OutputKind::of(url, &task.model.category) == kind && !found.contains(url) {
                    found.push(url.clone());
                }
            }
            if found.len() >= most {
                found.truncate(most);
                break;
            }
        }
        found
    }

    pub(super) fn show(&self, task: &Task) {
        let known = self.task(&task.key);
        match known {
            Some(signal) => {
                let was_removed = signal.with_untracked(|old| old.removed.is_some());
                let moved = signal.with_untracked(|old| {
                    old.state.phase() != task.state.phase()
                        || old.paused != task.paused
                        || old.taken_back != task.taken_back
                        || old.favorites != task.favorites
                });
                signal.set(task.clone());
                let is_removed = task.removed.is_some();
                if is_removed != was_removed {
                    self.list(&task.key, self.place(&task.key));
                }
                if moved || is_removed != was_removed {
                    self.revision.update(|revision| *revision += 1);
                }
            }
            None => {
                self.inner.update_value(|inner| {
                    inner
                        .tasks
                        .insert(task.key.clone(), ArcRwSignal::new(task.clone()));
                });
                self.list(&task.key, None);
                self.make_way(task);
                self.revision.update(|revision| *revision += 1);
            }
        }
    }

    /// A retry takes the place of what failed.
    fn make_way(&self, task: &Task) {
        let Some(failed) = task.retry_of.clone() else {
            return;
        };
        let (this, retry) = (*self, task.key.clone());
        let replace = move || {
            this.inner.update_value(|inner| {
                if inner.tasks.contains_key(&retry) {
                    inner.replaced.insert(failed.clone(), retry.clone());
                }
            });
            this.list(&failed, this.place(&failed));
            this.revision.update(|revision| *revision += 1);
        };
        // The press on Retry may be the first half of a double click: its second half must not meet
        // what takes the button's place.
        let age = clock::now().saturating_sub(task.created);
        match SAME_PRESS.saturating_sub(age) {
            0 => replace(),
            _ => drop(after(SAME_PRESS as u32, replace).forget()),
        }
    }

    /// Where it stands among those that are listed.
    fn place(&self, key: &TaskKey) -> Option<usize> {
        self.keys
            .with_untracked(|keys| keys.iter().position(|known| known == key))
    }

    /// Puts a task among those that are listed, or takes it out, as it now is.
    fn list(&self, key: &TaskKey, place: Option<usize>) {
        let is_listed = self.inner.with_value(|inner| {
            let task = inner.tasks.get(key);
            task.is_some_and(|task| task.with_untracked(|task| task.removed.is_none()))
                && !inner.replaced.contains_key(key)
        });
        match (is_listed, place) {
            (true, None) => self.keys.update(|keys| {
                let created = |key: &TaskKey| {
                    self.task(key)
                        .map_or(0, |task| task.with_untracked(|task| task.created))
                };
                let own = created(key);
                let at = keys.partition_point(|key| created(key) > own);
                Arc::make_mut(keys).insert(at, key.clone());
            }),
            (false, Some(at)) => self.keys.update(|keys| {
                Arc::make_mut(keys).remove(at);
            }),
            _ => {}
        }
    }

    /// The attempt that has taken the place of this one, or itself; tracked.
    pub fn latest(&self, key: &TaskKey) -> TaskKey {
        self.revision.track();
        self.inner.with_value(|inner| {
            let mut latest = key;
            // No chain is longer than there are links.
            for _ in 0..inner.replaced.len() {
                latest = inner.replaced.get(latest).unwrap_or(latest);
            }
            latest.clone()
        })
    }

    pub(super) fn hide(&self, key: &TaskKey) {
        self.keys
            .update(|keys| Arc::make_mut(keys).retain(|known| known != key));
        let back = self.inner.try_update_value(|inner| {
            inner.replaced.remove(key);
            let task = inner.tasks.remove(key)?;
            let failed = task.with_untracked(|task| task.retry_of.clone())?;
            let is_place = inner.replaced.get(&failed) == Some(key);
            is_place.then(|| inner.replaced.remove(&failed));
            Some(failed)
        });
        if let Some(failed) = back.flatten() {
            self.list(&failed, self.place(&failed));
        }
        self.revision.update(|revision| *revision += 1);
    }

    /// What was removed and is not forgotten yet; tracked.
    pub fn removed(&self) -> Vec<Task> {
        self.revision.track();
        self.with_tasks(|tasks| {
            let removed = tasks.iter().filter(|task| task.removed.is_some());
            removed.map(|task| (*task).clone()).collect()
        })
    }
}

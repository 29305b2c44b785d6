//! The tasks as views see them.

use std::sync::Arc;

use atelier_engine::output::OutputKind;
use atelier_engine::{Task, TaskKey, TaskState};
use leptos::prelude::*;

use super::Runner;

impl Runner {
    /// Every task's key, newest first; tracked.
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
                let moved = signal.with_untracked(|old| {
                    old.state.phase() != task.state.phase()
                        || old.paused != task.paused
                        || old.taken_back != task.taken_back
                });
                signal.set(task.clone());
                if moved {
                    self.revision.update(|revision| *revision += 1);
                }
            }
            None => {
                self.inner.update_value(|inner| {
                    inner
                        .tasks
                        .insert(task.key.clone(), ArcRwSignal::new(task.clone()));
                });
                self.keys.update(|keys| {
                    let created = |key: &TaskKey| {
                        self.task(key)
                            .map_or(0, |task| task.with_untracked(|task| task.created))
                    };
                    let at = keys.partition_point(|key| created(key) > task.created);
                    Arc::make_mut(keys).insert(at, task.key.clone());
                });
                self.revision.update(|revision| *revision += 1);
            }
        }
    }

    pub(super) fn hide(&self, key: &TaskKey) {
        self.keys
            .update(|keys| Arc::make_mut(keys).retain(|known| known != key));
        self.inner.update_value(|inner| {
            inner.tasks.remove(key);
        });
        self.revision.update(|revision| *revision += 1);
    }
}

//! The outputs of all tasks as a list that is updated with the tasks.

use std::collections::HashMap;

use atelier_engine::{Phase, Task, TaskKey};
use atelier_studio::gallery::{GalleryEntry, GalleryFilter};
use leptos::prelude::*;

use crate::runner::Runner;

/// The entries of each task, with the phase and the favorites of the task when they were created.
type Known = HashMap<TaskKey, (Phase, Vec<usize>, Vec<GalleryEntry>)>;

/// How many expected outputs are shown, so that a large batch does not push all existing outputs out of view.
pub const MAX_EXPECTED: usize = 24;

/// Caches the entries: they are filtered on every key press, but change only with their tasks.
#[derive(Clone, Copy)]
pub struct Gallery {
    runner: Runner,
    known: StoredValue<Known>,
}

impl Gallery {
    pub fn new(runner: Runner) -> Self {
        Self {
            runner,
            known: StoredValue::new(Known::new()),
        }
    }

    /// Returns the outputs that match a filter, in its order; tracked.
    pub fn find(self, filter: &GalleryFilter) -> Vec<GalleryEntry> {
        self.runner.track_phases();
        let keys = self.runner.keys();
        let mut found = Vec::new();
        self.known.try_update_value(|known| {
            let mut before = std::mem::take(known);
            for key in keys.iter() {
                let Some(task) = self.runner.task(key) else {
                    continue;
                };
                let entry = task.with_untracked(|task| match before.remove(key) {
                    Some(entry) if is_unchanged(&entry, task) => entry,
                    _ => (
                        task.state.phase(),
                        task.favorites.clone(),
                        GalleryEntry::all_of(task),
                    ),
                });
                known.insert(key.clone(), entry);
            }
            let entries: Vec<&GalleryEntry> =
                known.values().flat_map(|(.., entries)| entries).collect();
            found = filter.find(entries.iter().copied()).cloned().collect();
        });
        found
    }

    /// Returns the expected outputs of active tasks that will probably match a filter, at most [`MAX_EXPECTED`]; tracked.
    pub fn expected(self, filter: &GalleryFilter) -> Vec<GalleryEntry> {
        self.runner.track_phases();
        let keys = self.runner.keys();
        let tasks = keys.iter().filter_map(|key| self.runner.task(key));
        let found = tasks.flat_map(|task| {
            let expected = task.with_untracked(GalleryEntry::expected_of);
            filter.find(&expected).cloned().collect::<Vec<_>>()
        });
        found.take(MAX_EXPECTED).collect()
    }

    /// Returns the number of all outputs at the time of the last [`Self::find`].
    pub fn count(self) -> usize {
        let count = |known: &Known| known.values().map(|(.., entries)| entries.len()).sum();
        self.known.with_value(count)
    }
}

fn is_unchanged(
    (phase, favorites, _): &(Phase, Vec<usize>, Vec<GalleryEntry>),
    task: &Task,
) -> bool {
    *phase == task.state.phase() && *favorites == task.favorites
}

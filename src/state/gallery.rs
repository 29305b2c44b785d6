//! The outputs of all tasks as a list that follows them.

use std::collections::HashMap;

use atelier_engine::{Phase, Task, TaskKey};
use atelier_studio::gallery::{GalleryEntry, GalleryFilter};
use leptos::prelude::*;

use crate::runner::Runner;

/// Of each task what its entries were made of, and they.
type Known = HashMap<TaskKey, (Phase, Vec<usize>, Vec<GalleryEntry>)>;

/// A batch of a thousand must not push all that is there out of sight.
pub const MAX_EXPECTED: usize = 24;

/// What was found is made once per change of a task, and read on every key press.
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

    /// The outputs that a filter finds, in its order; tracked.
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
                    Some(entry) if is_as_before(&entry, task) => entry,
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

    /// Those that a filter will find among what is on its way, as far as that is known before: the first
    /// [`MAX_EXPECTED`]; tracked.
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

    /// All that were there when it was looked last.
    pub fn count(self) -> usize {
        let count = |known: &Known| known.values().map(|(.., entries)| entries.len()).sum();
        self.known.with_value(count)
    }
}

fn is_as_before(
    (phase, favorites, _): &(Phase, Vec<usize>, Vec<GalleryEntry>),
    task: &Task,
) -> bool {
    *phase == task.state.phase() && *favorites == task.favorites
}

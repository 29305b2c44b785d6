//! Returns the unsent items of a stopped batch to the table. The leader determines these items, and the tab in which Stop
//! was pressed adds them to the table.

use atelier_engine::{BatchKey, Task, TaskKey};
use atelier_studio::batch::Batch;
use leptos::prelude::*;

use super::task_store::TaskStore;

#[derive(Clone, Copy)]
pub(super) struct Stopped {
    tasks: TaskStore,
    state: StoredValue<State, LocalStorage>,
}

#[derive(Default)]
struct State {
    /// Batches that were last stopped in this tab.
    stopped_in_this_tab: Vec<BatchKey>,
    /// Tasks that are in this tab's table again, and whose records will be deleted.
    handed_over: Vec<TaskKey>,
}

impl Stopped {
    pub fn new(tasks: TaskStore) -> Self {
        Self {
            tasks,
            state: StoredValue::new_local(State::default()),
        }
    }

    /// Records that Stop was pressed for a batch, in this tab or another one.
    pub fn mark_stopped(self, batch: &BatchKey, in_this_tab: bool) {
        self.state.update_value(|state| {
            state.stopped_in_this_tab.retain(|other| other != batch);
            if in_this_tab {
                state.stopped_in_this_tab.push(batch.clone());
            }
        });
    }

    /// Returns whether Stop was last pressed in this tab.
    pub fn is_stopped_here(self, batch: &BatchKey) -> bool {
        self.state
            .with_value(|state| state.stopped_in_this_tab.contains(batch))
    }

    /// Returns the tasks of a batch that were taken back and that this tab has not yet added to its table; not tracked.
    pub fn taken_back(self, batch: &Batch) -> Vec<Task> {
        let found: Vec<Task> = self.tasks.with_tasks(|tasks| {
            let items = batch.items(tasks.iter().copied());
            items.taken_back().into_iter().cloned().collect()
        });
        self.state.with_value(|state| {
            let is_pending = |task: &Task| !state.handed_over.contains(&task.key);
            found.into_iter().filter(is_pending).collect()
        })
    }

    /// Records that these tasks are in this tab's table again, so that they are not added twice.
    pub fn hand_over(self, tasks: &[Task]) {
        let keys = tasks.iter().map(|task| task.key.clone());
        self.state
            .update_value(|state| state.handed_over.extend(keys));
    }
}

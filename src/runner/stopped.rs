//! What of a stopped batch was not sent: the leader says which items these are, and the tab in which
//! Stop was pressed puts what was typed into the table again.

use atelier_engine::batch::Batch;
use atelier_engine::{Action, BatchKey, Task, TaskKey};

use super::Runner;

#[derive(Default)]
pub(super) struct Stopped {
    /// Batches that were last stopped in this tab.
    here: Vec<BatchKey>,
    /// Tasks that stand in this tab's table again; their records are on their way out.
    handed_over: Vec<TaskKey>,
}

impl Runner {
    pub(super) fn is_stopped_at(&self, batch: &BatchKey, here: bool) {
        self.inner.update_value(|inner| {
            inner.stopped.here.retain(|other| other != batch);
            if here {
                inner.stopped.here.push(batch.clone());
            }
        });
    }

    /// Stop was last pressed in this tab.
    pub fn is_stopped_here(&self, batch: &BatchKey) -> bool {
        self.inner
            .with_value(|inner| inner.stopped.here.contains(batch))
    }

    /// What was taken back and stands in no table yet, as far as this tab knows; not tracked.
    pub fn taken_back(&self, batch: &Batch) -> Vec<Task> {
        let found: Vec<Task> = self.with_tasks(|tasks| {
            let items = batch.items(tasks.iter().copied());
            items.taken_back().into_iter().cloned().collect()
        });
        self.inner.with_value(|inner| {
            let is_open = |task: &Task| !inner.stopped.handed_over.contains(&task.key);
            found.into_iter().filter(is_open).collect()
        })
    }

    /// They stand in this tab's table, and must not be put there again.
    pub fn hand_over(&self, tasks: &[Task]) {
        let keys = tasks.iter().map(|task| task.key.clone());
        self.inner
            .update_value(|inner| inner.stopped.handed_over.extend(keys));
    }

    /// The table is stored, so that their records may go. Where it can't be, these stay, for the next
    /// visit.
    pub fn is_handed_over(&self, tasks: &[Task]) {
        let keys: Vec<TaskKey> = tasks.iter().map(|task| task.key.clone()).collect();
        self.act_on_all(&keys, Action::Delete);
    }
}

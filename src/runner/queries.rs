//! What views ask the runner for, each answered by the part that knows it.

use std::collections::HashSet;
use std::rc::Rc;
use std::sync::Arc;

use atelier_contract::ModelId;
use atelier_engine::batch::Batch;
use atelier_engine::output::OutputKind;
use atelier_engine::output_cache::CachedOutput;
use atelier_engine::{
    Action, BatchKey, BlockReason, Engine, Millis, Sending, Task, TaskKey, is_not_followed,
    recovery, wait_reason,
};
use leptos::prelude::*;
use web_sys::Blob;

use super::Runner;
use super::parts::Parts;
use super::tab_message::TabMessage;
use crate::boxed::spawn;
use crate::browser::storage::{Storage, StorageError};

/// What holds calls back.
impl Runner {
    /// Why no calls are made at present; tracked.
    pub fn block_reason(&self) -> Option<BlockReason> {
        self.parts().status.block_reason().get()
    }

    /// How many tasks go on at a service and are not asked about, because Settings name another account or
    /// none; tracked.
    pub fn not_followed_count(&self) -> usize {
        self.track_phases();
        self.with_sending(|sending| {
            self.with_tasks(|tasks| {
                let not_followed = |task: &&&Task| is_not_followed(task, sending);
                tasks.iter().filter(not_followed).count()
            })
        })
    }

    /// Why a task has not been sent, or is not asked about; tracked.
    pub fn wait_reason(&self, task: &Task, now: Millis) -> Option<String> {
        self.with_sending(|sending| wait_reason(task, sending, now))
    }

    fn with_sending<T>(&self, look: impl FnOnce(Sending<'_>) -> T) -> T {
        let block_reason = self.parts().status.block_reason();
        let block_reason = block_reason.read();
        look(Sending {
            account: &self.session.account(),
            has_credentials: self.session.has_credentials(),
            block_reason: block_reason.as_ref(),
            is_leader_asleep: self.parts().tabs.is_leader_asleep(),
            is_superseded: self.is_superseded(),
        })
    }
}

/// Tasks and what is shown of them.
impl Runner {
    /// Every task's key that is listed, newest first: not what was removed, nor what gave way to a
    /// retry; tracked.
    pub fn keys(&self) -> Arc<Vec<TaskKey>> {
        self.parts().tasks.keys()
    }

    /// The tasks of a batch that are listed, in its order; tracked.
    pub fn keys_of_batch(&self, batch: &BatchKey) -> Vec<TaskKey> {
        self.parts().tasks.keys_of_batch(batch)
    }

    /// One task; the signal itself is not tracked.
    pub fn task(&self, key: &TaskKey) -> Option<ArcRwSignal<Task>> {
        self.parts().tasks.task(key)
    }

    /// Waits for the service's word on a task's outputs, unless it came at this time or later.
    pub async fn refreshed(&self, key: &TaskKey, since: Millis) {
        self.parts().tasks.refreshed(key, since).await
    }

    /// Looks at every task as it is now, in no particular order; not tracked.
    pub fn with_tasks<T>(&self, look: impl FnOnce(&[&Task]) -> T) -> T {
        self.parts().tasks.with_tasks(look)
    }

    /// Looks at these tasks as they are now, in this order; not tracked.
    pub fn with_tasks_of<T>(&self, keys: &[TaskKey], look: impl FnOnce(&[&Task]) -> T) -> T {
        let tasks: Vec<_> = keys.iter().filter_map(|key| self.task(key)).collect();
        let tasks: Vec<_> = tasks.iter().map(|task| task.read_untracked()).collect();
        let tasks: Vec<&Task> = tasks.iter().map(|task| &**task).collect();
        look(&tasks)
    }

    /// Follows tasks that come, go or enter another phase.
    pub fn track_phases(&self) {
        self.parts().tasks.track_phases();
    }

    /// Follows the words for their states as well.
    pub fn track_labels(&self) {
        self.parts().tasks.track_labels();
    }

    /// How many tasks are under way; tracked.
    pub fn active_count(&self) -> usize {
        self.parts().tasks.active_count()
    }

    /// How many tasks of a model are under way, those of batches aside; tracked.
    pub fn active_of(&self, model: &ModelId) -> usize {
        self.parts().tasks.active_of(model)
    }

    /// The newest outputs of a kind, without repeats; tracked.
    pub fn recent_outputs(&self, kind: OutputKind, most: usize) -> Vec<String> {
        self.parts().tasks.recent_outputs(kind, most)
    }

    /// The attempt that has taken the place of this one, or itself; tracked.
    pub fn latest(&self, key: &TaskKey) -> TaskKey {
        self.parts().tasks.latest(key)
    }

    /// What was removed and is not forgotten yet; tracked.
    pub fn removed(&self) -> Vec<Task> {
        self.parts().tasks.removed()
    }

    /// Stop was last pressed in this tab.
    pub fn is_stopped_here(&self, batch: &BatchKey) -> bool {
        self.parts().stopped.is_stopped_here(batch)
    }

    /// What was taken back and stands in no table yet, as far as this tab knows; not tracked.
    pub fn taken_back(&self, batch: &Batch) -> Vec<Task> {
        self.parts().stopped.taken_back(batch)
    }

    /// They stand in this tab's table, and must not be put there again.
    pub fn hand_over(&self, tasks: &[Task]) {
        self.parts().stopped.hand_over(tasks);
    }

    /// The table is stored, so that their records may go. Where it can't be, these stay, for the next
    /// visit.
    pub fn mark_handed_over(&self, tasks: &[Task]) {
        let keys: Vec<TaskKey> = tasks.iter().map(|task| task.key.clone()).collect();
        self.act_on_all(&keys, Action::Delete);
    }
}

/// What is kept.
impl Runner {
    /// What earlier visits left has been read, or can't be; tracked.
    pub fn is_open(&self) -> bool {
        self.is_open.get()
    }

    /// Whether storage was read: a task that is not known then is none.
    pub fn has_read_tasks(&self) -> bool {
        self.parts().recovery.has_read_tasks()
    }

    /// Why what is stored can't be shown, where storage does not answer or is a newer Atelier's; `None`
    /// while it is still read for the first time, and once it was. Tracked.
    pub fn unread(&self) -> Option<&'static str> {
        let parts = self.parts();
        let error = parts.status.own_storage_error();
        if !self.is_open() || parts.recovery.has_read_tasks() {
            return None;
        }
        match error? {
            StorageError::Silent => Some(recovery::unread(parts.tabs.is_leader_asleep())),
            StorageError::Newer => Some(recovery::UNREAD_NEWER),
            _ => None,
        }
    }

    /// A newer Atelier keeps the tasks, or did in this visit: nothing is sent from this tab any more, and
    /// nothing may be submitted; tracked.
    pub fn is_superseded(&self) -> bool {
        self.parts().status.is_superseded()
    }

    /// Why tasks are not being kept; tracked.
    pub fn unkept_message(&self) -> Option<String> {
        let Some(error) = self.storage_error() else {
            let is_cleared = self.is_superseded();
            return is_cleared.then(|| recovery::SUPERSEDED_NO_LONGER.to_owned());
        };
        let is_asleep = error == StorageError::Silent && self.parts().tabs.is_leader_asleep();
        Some(match is_asleep {
            true => recovery::UNKEPT_BY_SLEEPER.to_owned(),
            false => error.user_message(),
        })
    }

    /// Where records are kept, once it is open; `None` for good where the browser refuses.
    pub fn storage(&self) -> Option<Rc<Storage>> {
        self.parts().records.storage()
    }

    /// Why tasks are kept in memory alone, here or in the tab that makes the calls; tracked.
    pub fn storage_error(&self) -> Option<StorageError> {
        self.parts().status.storage_error()
    }

    /// A person is asked before anything is sent that can't be stored; not tracked.
    pub fn asks_before_sending(&self) -> bool {
        self.parts().driver.with_engine(Engine::asks_before_sending) == Some(true)
    }

    /// Which items of a batch are tasks, as far as this tab knows.
    pub fn items_known(&self, batch: &BatchKey) -> HashSet<usize> {
        self.with_tasks(|tasks| {
            tasks
                .iter()
                .filter_map(|task| item_of(task, batch))
                .collect()
        })
    }

    /// The same, and by what is stored; what is not known here may have come from a page that is gone.
    ///
    /// # Errors
    ///
    /// Storage can't be read.
    pub async fn items_kept(&self, batch: &BatchKey) -> Result<HashSet<usize>, StorageError> {
        let stored = self.parts().records.read_all().await?;
        let mut items = self.items_known(batch);
        items.extend(stored.iter().filter_map(|task| item_of(task, batch)));
        Ok(items)
    }

    /// Keeps a batch's record; the write begins at the call.
    pub fn keep_batch(&self, key: &BatchKey, text: String) {
        self.parts().records.keep_batch(key, text);
    }

    /// A batch's record as it is stored: should storage be cleared, it is written again.
    pub fn know_batch(&self, key: &BatchKey, text: String) {
        self.parts().records.know_batch(key, text);
    }

    /// Deletes a batch's record.
    pub fn delete_batch(&self, key: &BatchKey) {
        self.parts().records.delete_batch(key);
    }

    /// An output is before a person: its copy is not the next to go, and where there is none, one
    /// is made. To be called once a visit. An empty name asks for nothing but that what is above
    /// the limit goes.
    pub fn shown(&self, output: String) {
        let Parts { cache, tabs, .. } = self.parts();
        tabs.tell(&TabMessage::Shown(output.clone()));
        cache.keep(output);
    }

    /// An output is a favorite from now on, or no longer. A copy of a favorite is made whatever the
    /// settings say, and makes way for no other.
    pub fn set_favorite(&self, output: &str, is_favorite: bool) {
        self.parts().set_favorite(output, is_favorite);
    }

    /// The copy of an output, by its name, if there is one.
    pub async fn copy(&self, output: &str) -> Option<Blob> {
        self.parts().cache.copy(output).await
    }

    /// What is known of all copies of outputs.
    ///
    /// # Errors
    ///
    /// Storage can't be read.
    pub async fn copies(&self) -> Result<Vec<CachedOutput>, StorageError> {
        self.parts().cache.all().await
    }

    /// Keeps a copy that came with another browser's history.
    ///
    /// # Errors
    ///
    /// Storage refuses it.
    pub async fn take_in_copy(&self, copy: CachedOutput, blob: Blob) -> Result<(), StorageError> {
        self.parts().cache.take_in(copy, blob).await
    }

    /// Follows copies that come or go.
    pub fn track_copies(&self) {
        self.parts().cache.track();
    }

    /// All copies of outputs go but those of favorites.
    pub fn delete_copies(&self) {
        spawn(self.parts().cache.delete_all());
    }
}

fn item_of(task: &Task, batch: &BatchKey) -> Option<usize> {
    let place = task.batch.as_ref().filter(|place| place.batch == *batch);
    place.map(|place| place.index)
}

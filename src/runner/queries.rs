//! The questions that views ask the runner; the part that knows the answer gives it.

use std::collections::HashSet;
use std::rc::Rc;
use std::sync::Arc;

use atelier_contract::ModelId;
use atelier_contract::output::OutputKind;
use atelier_engine::{
    Access, Action, BatchKey, BatchPlace, BlockReason, Engine, Millis, SendingState, Task, TaskKey,
    elapsed, not_asked_reason, recovery, wait_reason, waits_for_person,
};
use atelier_studio::batch::Batch;
use atelier_studio::output::output_cache::{CachedOutput, CopyRequest};
use atelier_studio::task::other_accounts::OtherAccounts;
use leptos::prelude::*;
use web_sys::Blob;

use super::Runner;
use super::parts::Parts;
use super::tab_message::TabMessage;
use crate::browser::storage::{Storage, StorageError};
use crate::reactive::until::until;

/// Questions about what holds calls back.
impl Runner {
    /// Why no calls are made at present; tracked.
    pub fn block_reason(&self) -> Option<BlockReason> {
        self.parts().status.block_reason().get()
    }

    /// Waits until every submission is answered that this tab has under way.
    pub async fn all_sent(self) {
        until(move || {
            self.track_phases();
            let is_sending = self.parts().driver.with_engine(Engine::is_sending);
            (is_sending != Some(true)).then_some(())
        })
        .await
    }

    /// Gives the tasks that wait for another account than the one in Settings; tracked.
    pub fn of_other_accounts(&self) -> OtherAccounts {
        self.track_phases();
        self.with_sending(|sending| {
            self.with_tasks(|tasks| OtherAccounts::of(tasks.iter().copied(), sending))
        })
    }

    /// Why a task has not been sent, or is not asked about; tracked.
    pub fn wait_reason(&self, task: &Task, now: Millis) -> Option<String> {
        self.with_sending(|sending| wait_reason(task, sending, now))
    }

    /// Whether a task that is not sent yet waits for a person; tracked.
    pub fn waits_for_person(&self, task: &Task) -> bool {
        self.with_sending(|sending| waits_for_person(task, sending))
    }

    /// How long the present attempt has been going on, without what was waited for a person; tracked.
    pub fn elapsed(&self, task: &Task, now: Millis) -> Option<Millis> {
        self.with_sending(|sending| elapsed(task, sending, now))
    }

    /// Why the service can't be asked about a task; tracked.
    pub fn not_asked_reason(&self, task: &Task) -> Option<String> {
        self.with_sending(|sending| not_asked_reason(task, sending))
    }

    fn with_sending<T>(&self, look: impl FnOnce(SendingState<'_>) -> T) -> T {
        let block_reason = self.parts().status.block_reason();
        let block_reason = block_reason.read();
        let session = &self.session;
        look(SendingState {
            account: &session.account(),
            access: match (session.has_credentials(), session.missing_credentials()) {
                (Some(false), Some(missing)) => Access::Missing(missing),
                (Some(true), _) => Access::Given,
                _ => Access::Unknown,
            },
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

    /// Gives the batch of this task and its place there, if the task is known and one of a batch; not tracked.
    pub fn place_of(&self, key: &TaskKey) -> Option<BatchPlace> {
        self.task(key)?.with_untracked(|task| task.batch.clone())
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
    pub fn recent_outputs(&self, kind: OutputKind, most: usize) -> Vec<(String, String)> {
        self.parts().tasks.recent_outputs(kind, most)
    }

    /// The attempt that has taken the place of this one, or itself; tracked.
    pub fn latest(&self, key: &TaskKey) -> TaskKey {
        self.parts().tasks.latest(key)
    }

    /// Gives the tasks that were removed and can still be brought back; tracked.
    pub fn removed(&self) -> Vec<Task> {
        self.parts().tasks.removed()
    }

    /// Stop was last pressed in this tab.
    pub fn is_stopped_here(&self, batch: &BatchKey) -> bool {
        self.parts().stopped.is_stopped_here(batch)
    }

    /// Gives the tasks of a batch that were taken back and that stand in no table yet, as far as this tab knows; not
    /// tracked.
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

/// Questions about what is kept.
impl Runner {
    /// Whether the records of earlier visits have been read, or can't be; tracked.
    pub fn is_open(&self) -> bool {
        self.is_open.get()
    }

    /// Whether the tasks that were stored when this tab was opened have been read; tracked.
    pub fn has_read_stored(&self) -> bool {
        self.parts().status.has_read()
    }

    /// Whether storage was read: a task that is not known then is none.
    pub fn has_read_tasks(&self) -> bool {
        self.parts().recovery.has_read_tasks()
    }

    /// Why what is stored can't be shown, where storage does not answer or is a newer Atelier's; `None`
    /// while it is still read for the first time, and once it was. Tracked.
    pub fn unread(&self) -> Option<&'static str> {
        let parts = self.parts();
        let error = self.own_storage_error();
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
            return is_cleared.then(|| recovery::NEWER_DATA_CLEARED.to_owned());
        };
        let is_asleep = error == StorageError::Silent && self.parts().tabs.is_leader_asleep();
        Some(match is_asleep {
            true => recovery::UNSTORED_LEADER_ASLEEP.to_owned(),
            false => error.user_message(),
        })
    }

    /// Gives the storage of records once it is open; `None` for good if the browser refuses.
    pub fn storage(&self) -> Option<Rc<Storage>> {
        self.parts().records.storage()
    }

    /// Why tasks are kept in memory alone, here or in the tab that makes the calls; tracked.
    pub fn storage_error(&self) -> Option<StorageError> {
        self.parts().status.storage_error()
    }

    /// The same of this tab alone; tracked.
    pub fn own_storage_error(&self) -> Option<StorageError> {
        self.parts().status.own_storage_error()
    }

    /// This tab makes the calls, and stores what comes of them; not tracked.
    pub fn leads(&self) -> bool {
        self.parts().tabs.leads()
    }

    /// A person is asked before anything is sent that can't be stored; not tracked.
    pub fn needs_storage_consent(&self) -> bool {
        self.parts()
            .driver
            .with_engine(Engine::needs_storage_consent)
            == Some(true)
    }

    /// Gives the items of a batch that are tasks, as far as this tab knows.
    pub fn items_known(&self, batch: &BatchKey) -> HashSet<usize> {
        self.with_tasks(|tasks| {
            tasks
                .iter()
                .filter_map(|task| task.index_in(batch))
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
        items.extend(stored.iter().filter_map(|task| task.index_in(batch)));
        Ok(items)
    }

    /// Keeps a batch's record, and tells the other tabs; the write begins at the call.
    pub fn keep_batch(&self, key: &BatchKey, text: String) {
        self.parts().batches.keep(key, text);
    }

    /// Calls back with each record of a batch that another tab sends.
    pub fn on_batch_heard(&self, act: fn(&str)) {
        self.parts().batches.on_heard(act);
    }

    /// The records of batches that this tab knows, as they are stored; also those that storage lacks.
    pub fn known_batches(&self) -> Vec<String> {
        self.parts().records.batches()
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
    /// is made. To be called once a visit.
    pub fn shown(&self, output: String) {
        self.request_copies(CopyRequest::Output(output));
    }

    /// A person wants copies from now on: also of what is there already.
    pub fn keep_all(&self) {
        self.parts().cache.want_all();
        self.request_copies(CopyRequest::All);
    }

    /// The room for copies was changed: those that are above it go.
    pub fn fit_copies_into_limit(&self) {
        self.request_copies(CopyRequest::Evict);
    }

    fn request_copies(&self, request: CopyRequest) {
        let Parts { cache, tabs, .. } = self.parts();
        tabs.tell(&TabMessage::CopyRequested(request.clone()));
        cache.request(request);
    }

    /// An output is a favorite from now on, or no longer. A copy of a favorite is made whatever the
    /// settings say, and is not evicted.
    pub fn set_favorite(&self, output: &str, is_favorite: bool) {
        self.parts().set_favorite(output, is_favorite);
    }

    /// The address of an output, by its name.
    pub fn address(&self, output: &str) -> Option<String> {
        self.parts().cache.output(output)
    }

    /// The copy of an output, by its name, if there is one.
    pub async fn copy(&self, output: &str) -> Option<Blob> {
        self.parts().cache.copy(output).await
    }

    /// Gives the facts about all copies of outputs.
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

    /// Deletes all copies of outputs but those of favorites.
    pub fn delete_copies(&self) {
        self.parts().cache.delete_all();
    }
}

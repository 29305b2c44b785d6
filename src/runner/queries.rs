//! Methods of [`Runner`] for views. Each delegates to a part of the runner.

use std::collections::HashSet;
use std::rc::Rc;
use std::sync::Arc;

use atelier_contract::ModelId;
use atelier_contract::output::OutputKind;
use atelier_engine::{
    Access, Action, BatchKey, BatchPlace, BlockReason, Engine, Millis, SendingState, Task, TaskKey,
    elapsed, not_asked_reason, recovery, wait_reason, waits_for_user,
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

/// Reasons why calls are not made.
impl Runner {
    /// Returns the reason why no calls are made at present; tracked.
    pub fn block_reason(&self) -> Option<BlockReason> {
        self.parts().status.block_reason().get()
    }

    /// Waits until no submission of this tab is in flight.
    pub async fn wait_until_sent(self) {
        until(move || {
            self.track_phases();
            let is_sending = self.parts().driver.with_engine(Engine::is_sending);
            (is_sending != Some(true)).then_some(())
        })
        .await
    }

    /// Returns the tasks that wait for an account other than the one in Settings; tracked.
    pub fn tasks_of_other_accounts(&self) -> OtherAccounts {
        self.track_phases();
        self.with_sending(|sending| {
            self.with_tasks(|tasks| OtherAccounts::of(tasks.iter().copied(), sending))
        })
    }

    /// Returns why a task has not been sent or is not polled; tracked.
    pub fn wait_reason(&self, task: &Task, now: Millis) -> Option<String> {
        self.with_sending(|sending| wait_reason(task, sending, now))
    }

    /// Returns whether an unsent task waits for the user; tracked.
    pub fn waits_for_user(&self, task: &Task) -> bool {
        self.with_sending(|sending| waits_for_user(task, sending))
    }

    /// Returns the duration of the present attempt, without the time that it has waited for the user; tracked.
    pub fn elapsed(&self, task: &Task, now: Millis) -> Option<Millis> {
        self.with_sending(|sending| elapsed(task, sending, now))
    }

    /// Returns why a task can't be polled; tracked.
    pub fn not_asked_reason(&self, task: &Task) -> Option<String> {
        self.with_sending(|sending| not_asked_reason(task, sending))
    }

    fn with_sending<T>(&self, act: impl FnOnce(SendingState<'_>) -> T) -> T {
        let block_reason = self.parts().status.block_reason();
        let block_reason = block_reason.read();
        let session = &self.session;
        act(SendingState {
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

/// Tasks and their batches.
impl Runner {
    /// Returns the keys of all listed tasks, newest first; tracked. Removed tasks and tasks that were replaced by a retry
    /// are not listed.
    pub fn keys(&self) -> Arc<Vec<TaskKey>> {
        self.parts().tasks.keys()
    }

    /// Returns the keys of the listed tasks of a batch, in the order of the batch; tracked.
    pub fn keys_of_batch(&self, batch: &BatchKey) -> Vec<TaskKey> {
        self.parts().tasks.keys_of_batch(batch)
    }

    /// Returns the signal of a task, without tracking it.
    pub fn task(&self, key: &TaskKey) -> Option<ArcRwSignal<Task>> {
        self.parts().tasks.task(key)
    }

    /// Returns the batch of a task and the task's position in it; not tracked. `None` if the task is unknown or has no batch.
    pub fn place_of(&self, key: &TaskKey) -> Option<BatchPlace> {
        self.task(key)?.with_untracked(|task| task.batch.clone())
    }

    /// Waits until the service has answered a repeated request for a task's output addresses, at `since` or later.
    pub async fn refreshed(&self, key: &TaskKey, since: Millis) {
        self.parts().tasks.refreshed(key, since).await
    }

    /// Calls a function with all tasks, in no particular order; not tracked.
    pub fn with_tasks<T>(&self, act: impl FnOnce(&[&Task]) -> T) -> T {
        self.parts().tasks.with_tasks(act)
    }

    /// Calls a function with these tasks, in this order; not tracked.
    pub fn with_tasks_of<T>(&self, keys: &[TaskKey], act: impl FnOnce(&[&Task]) -> T) -> T {
        let tasks: Vec<_> = keys.iter().filter_map(|key| self.task(key)).collect();
        let tasks: Vec<_> = tasks.iter().map(|task| task.read_untracked()).collect();
        let tasks: Vec<&Task> = tasks.iter().map(|task| &**task).collect();
        act(&tasks)
    }

    /// Tracks that tasks are added, removed or enter another phase.
    pub fn track_phases(&self) {
        self.parts().tasks.track_phases();
    }

    /// Tracks the same changes as [`Runner::track_phases`], and also the labels of the tasks' states.
    pub fn track_labels(&self) {
        self.parts().tasks.track_labels();
    }

    /// Returns the number of active tasks; tracked.
    pub fn active_count(&self) -> usize {
        self.parts().tasks.active_count()
    }

    /// Returns the number of active tasks of a model, without those of composed batches; tracked.
    pub fn active_of(&self, model: &ModelId) -> usize {
        self.parts().tasks.active_of(model)
    }

    /// Returns the newest outputs of a kind as pairs of name and address, without duplicates; tracked.
    pub fn recent_outputs(&self, kind: OutputKind, max_count: usize) -> Vec<(String, String)> {
        self.parts().tasks.recent_outputs(kind, max_count)
    }

    /// Returns the last retry of a task, or the task itself if there is none; tracked.
    pub fn latest(&self, key: &TaskKey) -> TaskKey {
        self.parts().tasks.latest(key)
    }

    /// Returns the tasks that were removed and can still be restored; tracked.
    pub fn removed(&self) -> Vec<Task> {
        self.parts().tasks.removed()
    }

    /// Returns whether Stop was last pressed in this tab.
    pub fn is_stopped_here(&self, batch: &BatchKey) -> bool {
        self.parts().stopped.is_stopped_here(batch)
    }

    /// Returns the tasks of a batch that were taken back and that this tab has not yet added to its table; not tracked.
    pub fn taken_back(&self, batch: &Batch) -> Vec<Task> {
        self.parts().stopped.taken_back(batch)
    }

    /// Records that these tasks are in this tab's table again, so that they are not added twice.
    pub fn hand_over(&self, tasks: &[Task]) {
        self.parts().stopped.hand_over(tasks);
    }

    /// Deletes the records of tasks that are in a table again. Must be called after the table is stored: if the table
    /// can't be stored, the next visit needs the records.
    pub fn mark_handed_over(&self, tasks: &[Task]) {
        let keys: Vec<TaskKey> = tasks.iter().map(|task| task.key.clone()).collect();
        self.act_on_all(&keys, Action::Delete);
    }
}

/// Storage and copies of outputs.
impl Runner {
    /// Returns whether the records of earlier visits have been read, or can't be; tracked.
    pub fn is_open(&self) -> bool {
        self.is_open.get()
    }

    /// Returns whether the tasks that were stored when this tab was opened have been read; tracked.
    pub fn has_read_stored(&self) -> bool {
        self.parts().status.has_read()
    }

    /// Returns whether storage was read. If so, a task that is unknown does not exist.
    pub fn has_read_tasks(&self) -> bool {
        self.parts().recovery.has_read_tasks()
    }

    /// Returns why stored tasks can't be shown: storage does not respond, or belongs to a newer version. `None` during the
    /// first attempt to read it and after a successful one. Tracked.
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

    /// Returns whether a newer version stores the tasks, or did during this visit; tracked. If so, this tab sends nothing
    /// and accepts no submissions.
    pub fn is_superseded(&self) -> bool {
        self.parts().status.is_superseded()
    }

    /// Returns a message that explains why tasks are not stored; tracked.
    pub fn unstored_message(&self) -> Option<String> {
        let Some(error) = self.storage_error() else {
            let is_superseded = self.is_superseded();
            return is_superseded.then(|| recovery::NEWER_DATA_CLEARED.to_owned());
        };
        let is_asleep = error == StorageError::Silent && self.parts().tabs.is_leader_asleep();
        Some(match is_asleep {
            true => recovery::UNSTORED_LEADER_ASLEEP.to_owned(),
            false => error.user_message(),
        })
    }

    /// Returns the storage of records if it is open.
    pub fn storage(&self) -> Option<Rc<Storage>> {
        self.parts().records.storage()
    }

    /// Returns why tasks are only in memory, in this tab or in the leader; tracked.
    pub fn storage_error(&self) -> Option<StorageError> {
        self.parts().status.storage_error()
    }

    /// Returns why tasks are only in memory in this tab; tracked.
    pub fn own_storage_error(&self) -> Option<StorageError> {
        self.parts().status.own_storage_error()
    }

    /// Returns whether this tab is the leader, which makes the calls and stores the tasks; not tracked.
    pub fn leads(&self) -> bool {
        self.parts().tabs.leads()
    }

    /// Returns whether the user must be asked before unstored tasks are sent; not tracked.
    pub fn needs_storage_consent(&self) -> bool {
        self.parts()
            .driver
            .with_engine(Engine::needs_storage_consent)
            == Some(true)
    }

    /// Returns the positions of a batch's items for which this tab knows tasks.
    pub fn known_items(&self, batch: &BatchKey) -> HashSet<usize> {
        self.with_tasks(|tasks| {
            tasks
                .iter()
                .filter_map(|task| task.index_in(batch))
                .collect()
        })
    }

    /// Returns the positions of the items of a batch whose tasks are stored or known to this tab. A page that has since
    /// been closed may have stored tasks that this tab does not know.
    ///
    /// # Errors
    ///
    /// Storage can't be read.
    pub async fn stored_items(&self, batch: &BatchKey) -> Result<HashSet<usize>, StorageError> {
        let stored = self.parts().records.read_all().await?;
        let mut items = self.known_items(batch);
        items.extend(stored.iter().filter_map(|task| task.index_in(batch)));
        Ok(items)
    }

    /// Stores a batch's record, and sends it to the other tabs. The write starts before this function returns.
    pub fn keep_batch(&self, key: &BatchKey, text: String) {
        self.parts().batches.store(key, text);
    }

    /// Sets a function to be called with each record of a batch that another tab sends.
    pub fn on_batch_record(&self, act: fn(&str)) {
        self.parts().batches.on_record(act);
    }

    /// Returns the records of all batches that this tab knows, including those that are not in storage.
    pub fn known_batches(&self) -> Vec<String> {
        self.parts().records.batches()
    }

    /// Remembers the stored record of a batch, to write it again if storage is cleared.
    pub fn remember_batch(&self, key: &BatchKey, text: String) {
        self.parts().records.remember_batch(key, text);
    }

    /// Deletes a batch's record.
    pub fn delete_batch(&self, key: &BatchKey) {
        self.parts().records.delete_batch(key);
    }

    /// Records that an output is shown, so that its copy is evicted later than others, and makes a copy if there is none.
    /// Must be called once per visit.
    pub fn shown(&self, output: String) {
        self.request_copies(CopyRequest::Output(output));
    }

    /// Requests copies of all existing outputs. To be called when the user has enabled copies.
    pub fn request_all_copies(&self) {
        self.parts().cache.request_all();
        self.request_copies(CopyRequest::All);
    }

    /// Evicts copies above the limit. Must be called when the user has changed the limit.
    pub fn fit_copies_into_limit(&self) {
        self.request_copies(CopyRequest::Evict);
    }

    fn request_copies(&self, request: CopyRequest) {
        let Parts { cache, tabs, .. } = self.parts();
        tabs.send(&TabMessage::CopyRequested(request.clone()));
        cache.request(request);
    }

    /// Sets whether an output is a favorite. A favorite is copied even if copies are disabled, and its copy is not evicted.
    pub fn set_favorite(&self, output: &str, is_favorite: bool) {
        self.parts().set_favorite(output, is_favorite);
    }

    /// Returns the address of an output by its name.
    pub fn address(&self, output: &str) -> Option<String> {
        self.parts().cache.output(output)
    }

    /// Returns the copy of an output by its name, if there is one.
    pub async fn copy(&self, output: &str) -> Option<Blob> {
        self.parts().cache.copy(output).await
    }

    /// Returns the records about all copies of outputs.
    ///
    /// # Errors
    ///
    /// Storage can't be read.
    pub async fn copies(&self) -> Result<Vec<CachedOutput>, StorageError> {
        self.parts().cache.all().await
    }

    /// Stores a copy that was imported with another browser's history.
    ///
    /// # Errors
    ///
    /// Storage refuses the copy, or is not open.
    pub async fn import_copy(&self, copy: CachedOutput, blob: Blob) -> Result<(), StorageError> {
        self.parts().cache.import(copy, blob).await
    }

    /// Tracks that copies are added or deleted.
    pub fn track_copies(&self) {
        self.parts().cache.track();
    }

    /// Deletes all copies of outputs except those of favorites.
    pub fn delete_copies(&self) {
        self.parts().cache.delete_all();
    }
}

//! Retries storage after a failure, as [`atelier_engine::recovery`] decides. Until it works, tasks are only in memory, and
//! the page shows that.

use atelier_engine::{Engine, Task, recovery};
use gloo_timers::future::TimeoutFuture;
use leptos::prelude::*;

use super::batch_records::BatchRecords;
use super::driver::Driver;
use super::output_cache::OutputCache;
use super::records::Records;
use super::status::Status;
use super::tab_message::TabMessage;
use super::tab_sync::TabSync;
use crate::browser::clock;
use crate::browser::storage::StorageError;
use crate::reactive::boxed::spawn;

#[derive(Clone, Copy)]
pub(super) struct Recovery {
    tabs: TabSync,
    status: Status,
    records: Records,
    batches: BatchRecords,
    cache: OutputCache,
    driver: Driver,
    decision: StoredValue<recovery::Recovery, LocalStorage>,
    /// The number of tasks that were sent to the tab that offers to lead instead of this one.
    handed_over: StoredValue<Option<usize>, LocalStorage>,
}

/// The interval of checks whether the submissions in progress have ended, in milliseconds.
const SENDING_POLL_MS: u32 = 200;

/// How long to wait for the answer of the tab that receives all tasks, in milliseconds. After that, this tab continues to
/// lead. Writing thousands of records takes a second or two.
const ANSWER_TIMEOUT_MS: u32 = 5_000;

impl Recovery {
    pub fn new(
        tabs: TabSync,
        status: Status,
        records: Records,
        batches: BatchRecords,
        cache: OutputCache,
        driver: Driver,
    ) -> Self {
        let this = Self {
            tabs,
            status,
            records,
            batches,
            cache,
            driver,
            decision: StoredValue::new_local(recovery::Recovery::default()),
            handed_over: StoredValue::new_local(None),
        };
        records.on_failure(move |error| this.failed(error));
        this
    }

    /// Opens storage for the first time and loads its tasks.
    pub async fn open(self) {
        let connected = self.connect().await;
        if self.records.is_gone() {
            return;
        }
        match connected {
            Ok(()) => {
                self.decision.update_value(recovery::Recovery::opened);
                self.status.read();
            }
            Err(error) => self.failed(error),
        }
    }

    /// Returns whether storage was read. If so, a task that is unknown does not exist.
    pub fn has_read_tasks(self) -> bool {
        let has_read = self.decision.try_with_value(recovery::Recovery::has_worked);
        has_read == Some(true)
    }

    /// See [`recovery::Recovery::is_unwritten`].
    pub fn is_unwritten(self) -> bool {
        let is_unwritten = self
            .decision
            .try_with_value(recovery::Recovery::is_unwritten);
        is_unwritten == Some(true)
    }

    async fn connect(self) -> Result<(), StorageError> {
        self.records.open().await?;
        self.merge_stored().await
    }

    /// Loads the stored tasks.
    async fn merge_stored(self) -> Result<(), StorageError> {
        let stored = self.records.read_all().await?;
        self.driver.merge_remote(stored);
        self.cache.has_changed();
        // If this tab leads, it continues the tasks that it has just loaded.
        self.driver.change(|_| {});
        Ok(())
    }

    /// Loads the stored tasks that this tab does not know. This tab has newer versions of the others.
    pub async fn merge_unknown(self) {
        // If this fails, storage is read again once it works in this tab.
        self.add_unknown(self.records.read_all().await.unwrap_or_default());
    }

    /// Adds the tasks that this tab does not know.
    pub fn add_unknown(self, mut tasks: Vec<Task>) {
        self.driver
            .with_engine(|engine| tasks.retain(|task| engine.task(&task.key).is_none()));
        self.driver.merge_remote(tasks);
    }

    /// Offers to lead if the leading tab can't write and this one can.
    pub fn offer_to_lead(self) {
        let offers = self.status.leader_cannot_write()
            && (self.decision).try_update_value(recovery::Recovery::offers_to_lead) == Some(true);
        if offers {
            self.tabs.send(&TabMessage::CanLead);
        }
    }

    /// Handles the offer of another tab to lead. If this tab can't write, it sends all tasks to the other tab, and gives
    /// up leadership at the next offer if nothing is being submitted then.
    pub fn receive_offer(self) {
        if !self.tabs.leads() || untrack(|| self.status.own_storage_error()).is_none() {
            return;
        }
        let idle = self
            .driver
            .with_engine(|engine| (!engine.is_sending()).then(|| engine.tasks().count()));
        let idle = idle.flatten();
        if idle.is_some() && idle == self.handed_over.get_value() {
            self.handed_over.set_value(None);
            self.tabs.hand_over_leadership();
        } else {
            spawn(self.hand_over_all());
        }
    }

    /// Sends everything that may be missing in storage to the tab that offers to lead: the records of batches, the removed tasks,
    /// and every task with its secrets. Submits nothing until that tab answers.
    async fn hand_over_all(self) {
        self.driver
            .update(|engine| engine.set_leading(false, clock::now()));
        while self.driver.with_engine(Engine::is_sending) == Some(true) {
            TimeoutFuture::new(SENDING_POLL_MS).await;
        }
        let known = self.driver.with_engine(|engine| {
            let tasks: Vec<Task> = engine.tasks().cloned().collect();
            let secrets = engine.secrets_of(&tasks);
            (tasks, secrets)
        });
        let Some((tasks, secrets)) = known.filter(|_| self.tabs.leads()) else {
            return;
        };
        self.handed_over.set_value(Some(tasks.len()));
        self.batches.tell_all();
        for key in self.records.undeleted_tasks() {
            self.tabs.send(&TabMessage::Removed(key));
        }
        self.tabs.send(&TabMessage::Submitted(tasks, secrets));
        TimeoutFuture::new(ANSWER_TIMEOUT_MS).await;
        if self.tabs.leads() {
            self.handed_over.set_value(None);
            self.driver
                .change(|engine| engine.set_leading(true, clock::now()));
        }
    }

    /// Sends the leader the tasks that this tab knows but that were cleared from storage. The other tabs that knew them may
    /// be closed.
    pub async fn hand_over(self) {
        if !self.is_unwritten() || self.tabs.leads() {
            return;
        }
        // If this fails, storage is read again once it works in this tab.
        let Ok(stored) = self.records.read_all().await else {
            return;
        };
        let known = self
            .driver
            .with_engine(|engine| engine.tasks().cloned().collect::<Vec<_>>());
        let mut missing = known.unwrap_or_default();
        missing.retain(|task| stored.iter().all(|stored| stored.key != task.key));
        if missing.is_empty() {
            self.decision
                .update_value(recovery::Recovery::found_complete);
        }
        for task in missing {
            self.tabs.send(&TabMessage::Unstored(Box::new(task)));
        }
    }

    /// Handles a failed read or write: shows the error, and retries until storage works.
    fn failed(self, error: StorageError) {
        let leads = self.tabs.leads();
        let had_worked = self.decision.try_update_value(|decision| {
            decision.failed(error.into(), leads);
            decision.has_worked()
        });
        let Some(had_worked) = had_worked else {
            return;
        };
        self.show_error(error);
        self.driver
            .change(|engine| engine.set_storage_works(false, had_worked, clock::now()));
        self.start();
    }

    fn show_error(self, error: StorageError) {
        if error == StorageError::Newer {
            // Only a page of the newer version can write.
            self.tabs.resign();
            self.status.supersede();
        }
        self.status.set_storage_error(Some(error));
    }

    /// Starts to retry, unless retries are in progress.
    pub fn start(self) {
        let first = self
            .decision
            .try_update_value(recovery::Recovery::begin)
            .flatten();
        if let Some(wait_ms) = first {
            spawn(self.recover(wait_ms));
        }
    }

    async fn recover(self, mut wait_ms: u32) {
        loop {
            TimeoutFuture::new(wait_ms).await;
            let tried = self.write_again().await;
            if let Err(error) = tried {
                if recovery::Failure::from(error).ends_connection() {
                    self.records.close();
                }
                self.show_error(error);
            }
            let is_connected = self.records.storage().is_some();
            let leads = self.tabs.leads();
            let next = self
                .decision
                .try_update_value(|decision| decision.tried(tried.is_ok(), is_connected, leads));
            match next.flatten() {
                Some(next) => wait_ms = next,
                None => break,
            }
        }
        self.status.read();
        self.status.set_storage_error(None);
        self.driver
            .change(|engine| engine.set_storage_works(true, true, clock::now()));
        if self.tabs.leads() {
            self.tabs.send(&TabMessage::Stored);
        } else {
            self.offer_to_lead();
            self.hand_over().await;
        }
    }

    /// Reads the stored tasks, and writes the records for which this tab is responsible: the batches that it knows and, if it leads, all
    /// tasks.
    async fn write_again(self) -> Result<(), StorageError> {
        if self.records.storage().is_none() {
            self.connect().await?;
        } else {
            self.merge_stored().await?;
        }
        // Another tab may have become the leader and written newer records.
        self.tabs.check();
        let leads = self.tabs.leads();
        let written = self.driver.with_engine(|engine| {
            let tasks = engine.tasks().filter(|_| leads);
            self.records.write_all(tasks)
        });
        match written {
            Some(written) => written.await?,
            None => return Err(StorageError::Closed),
        }
        self.decision
            .update_value(|decision| decision.written(leads));
        Ok(())
    }
}

#[cfg(test)]
mod tests;

//! Reads, writes and deletes the records of tasks, batches and copies of outputs. Reports failures to
//! [`super::recovery`].

use std::collections::{BTreeMap, HashSet};
use std::rc::Rc;

use atelier_contract::json;
use atelier_engine::recovery::Failure;
use atelier_engine::{BatchKey, Task, TaskKey};
use atelier_studio::text::plural::{agreeing, counted};
use futures::future::{Either, FutureExt, select};
use gloo_timers::future::TimeoutFuture;
use leptos::prelude::*;
use wasm_bindgen::JsValue;

use crate::browser::storage::{Storage, StorageError, Store, Written};
use crate::reactive::boxed::spawn;
use crate::state::notices::Notices;

/// How long to wait for storage to open before the page continues without it.
const OPEN_TIMEOUT_MS: u32 = 3_000;

#[derive(Clone, Copy)]
pub(super) struct Records {
    notices: Notices,
    state: StoredValue<State, LocalStorage>,
}

#[derive(Default)]
struct State {
    /// `None` unless storage is open.
    storage: Option<Rc<Storage>>,
    /// The number of the current or last connection. Failures of earlier connections are ignored.
    connection: u64,
    /// Storage is being opened.
    is_opening: bool,
    /// Records whose deletion has not succeeded yet.
    undeleted: Vec<(Store, String)>,
    /// The stored form of the batches that this tab knows.
    batches: BTreeMap<BatchKey, String>,
    on_failure: Option<Rc<dyn Fn(StorageError)>>,
}

impl State {
    fn close(&mut self) {
        if let Some(storage) = self.storage.take() {
            storage.discard();
        }
    }
}

impl Records {
    pub fn new(notices: Notices) -> Self {
        Self {
            notices,
            state: StoredValue::new_local(State::default()),
        }
    }

    /// Sets the callback for failed reads and writes on the current connection.
    pub fn on_failure(self, act: impl Fn(StorageError) + 'static) {
        self.state
            .update_value(|state| state.on_failure = Some(Rc::new(act)));
    }

    pub fn storage(self) -> Option<Rc<Storage>> {
        self.state.try_with_value(|state| state.storage.clone())?
    }

    /// Returns whether the app was unmounted, which only tests do.
    pub fn is_gone(self) -> bool {
        self.state.is_disposed()
    }

    /// Opens storage.
    ///
    /// # Errors
    ///
    /// Storage can't be opened, or does not answer in time. It may still open later.
    pub async fn open(self) -> Result<(), StorageError> {
        let connection = self.state.try_update_value(|state| {
            let was_opening = std::mem::replace(&mut state.is_opening, true);
            state.connection += u64::from(!was_opening);
            (!was_opening).then_some(state.connection)
        });
        let Some(connection) = connection.flatten() else {
            return Err(StorageError::Silent);
        };
        let opening = async move {
            let on_gone = move || self.failed(StorageError::Closed, connection);
            let opened = Storage::open(on_gone).await;
            self.state.update_value(|state| {
                state.is_opening = false;
                state.storage = opened.as_ref().ok().cloned();
            });
            opened.map(|_| ())
        };
        match select(opening.boxed_local(), TimeoutFuture::new(OPEN_TIMEOUT_MS)).await {
            Either::Left((opened, _)) => opened,
            Either::Right((_, opening)) => {
                // Storage may still open, for example when another tab no longer blocks it. A retry then finds it open.
                spawn(async move {
                    let _ = opening.await;
                });
                Err(StorageError::Silent)
            }
        }
    }

    /// Discards a connection that no longer works.
    pub fn close(self) {
        self.state.update_value(State::close);
    }

    fn connection(self) -> u64 {
        let connection = self.state.try_with_value(|state| state.connection);
        connection.unwrap_or_default()
    }

    /// Reports a failed read or write on a connection.
    fn failed(self, error: StorageError, connection: u64) {
        let on_failure = self.state.try_update_value(|state| {
            if state.connection != connection {
                return None;
            }
            if Failure::from(error).ends_connection() {
                state.close();
            }
            state.on_failure.clone()
        });
        if let Some(on_failure) = on_failure.flatten() {
            on_failure(error);
        }
    }

    /// Returns all stored tasks that can be parsed.
    ///
    /// # Errors
    ///
    /// Storage is not open, or does not answer.
    pub async fn read_all(self) -> Result<Vec<Task>, StorageError> {
        let storage = self.storage().ok_or(StorageError::Closed)?;
        let connection = self.connection();
        let texts = match storage.all_texts(Store::Tasks).await {
            Ok(texts) => texts,
            Err(error) => {
                self.failed(error, connection);
                return Err(error);
            }
        };
        let total = texts.len();
        let mut tasks: Vec<Task> = texts
            .iter()
            .filter_map(|text| Task::from_value(json::read(text)?))
            .collect();
        if tasks.len() < total {
            let unread = total - tasks.len();
            self.notices.problem(format!(
                "{} could not be read. {} as {}.",
                counted(unread, "stored task"),
                agreeing(unread, "It is left", "They are left"),
                agreeing(unread, "it is", "they are"),
            ));
        }
        // Leaves out removed tasks whose records are not deleted yet.
        let undeleted = self
            .state
            .try_with_value(|state| state.undeleted.clone())
            .ok_or(StorageError::Closed)?;
        tasks.retain(|task| !undeleted.contains(&(Store::Tasks, task.key.0.clone())));
        Ok(tasks)
    }

    /// Writes tasks. The transaction begins before this function returns, so later writes can't overtake it. Does nothing
    /// while storage is closed; everything is written when it opens.
    pub fn write(self, tasks: &[Task]) -> Written {
        let Some(storage) = self.storage() else {
            return async { Ok(()) }.boxed_local();
        };
        let records: Vec<_> = tasks.iter().map(record).collect();
        self.watched(storage.put(&records))
    }

    /// Reports the failure of a write.
    fn watched(self, written: Written) -> Written {
        let connection = self.connection();
        let watched = async move {
            let result = written.await;
            if let Err(error) = result {
                self.failed(error, connection);
            }
            result
        };
        watched.boxed_local()
    }

    /// Writes these tasks and the batches that this tab knows, and performs outstanding deletions. The caller handles
    /// failures.
    pub fn write_all<'a>(self, tasks: impl Iterator<Item = &'a Task>) -> Written {
        let Some(storage) = self.storage() else {
            return async { Err(StorageError::Closed) }.boxed_local();
        };
        let (undeleted, records) = self.state.with_value(|state| {
            let batches = state
                .batches
                .iter()
                .map(|(key, text)| (Store::Batches, key.0.clone(), JsValue::from_str(text)));
            let records: Vec<_> = tasks.map(record).chain(batches).collect();
            (state.undeleted.clone(), records)
        });
        let written = storage.change(&undeleted, &records);
        let written = async move {
            written.await?;
            self.mark_deleted(&undeleted);
            Ok(())
        };
        written.boxed_local()
    }

    /// Stores a batch. The transaction begins before this function returns.
    pub fn store_batch(self, key: &BatchKey, text: String) {
        let record = (Store::Batches, key.0.clone(), JsValue::from_str(&text));
        self.remember_batch(key, text);
        let Some(storage) = self.storage() else {
            return;
        };
        let written = self.watched(storage.put(&[record]));
        spawn(async move {
            // After a failure, the batch is written when storage works again.
            let _ = written.await;
        });
    }

    /// Remembers the stored form of a batch, to write it again if storage is cleared.
    pub fn remember_batch(self, key: &BatchKey, text: String) {
        self.state
            .update_value(|state| drop(state.batches.insert(key.clone(), text)));
    }

    /// Whether this tab knows the batch in this form.
    pub fn has_batch_record(self, key: &BatchKey, text: &str) -> bool {
        let is_known = |known: Option<&String>| known.is_some_and(|known| known == text);
        self.state
            .try_with_value(|state| is_known(state.batches.get(key)))
            == Some(true)
    }

    /// Returns the stored form of the batches that this tab knows.
    pub fn batches(self) -> Vec<String> {
        let batches =
            (self.state).try_with_value(|state| state.batches.values().cloned().collect());
        batches.unwrap_or_default()
    }

    /// Returns the tasks whose records are not deleted yet.
    pub fn undeleted_tasks(self) -> Vec<TaskKey> {
        let undeleted = self.state.try_with_value(|state| {
            let tasks = state.undeleted.iter();
            let tasks = tasks.filter(|(store, _)| *store == Store::Tasks);
            tasks.map(|(_, key)| TaskKey(key.clone())).collect()
        });
        undeleted.unwrap_or_default()
    }

    /// Of these batches, stores the ones that this tab knows but that are missing from storage because the tab that created
    /// them could not write. Stored batches stay unchanged, because they may be newer.
    pub fn store_missing_batches(self, batches: &HashSet<BatchKey>) {
        let known = self.state.with_value(|state| {
            let known = state
                .batches
                .iter()
                .filter(|(key, _)| batches.contains(*key));
            let known = known.map(|(key, text)| (key.clone(), text.clone()));
            known.collect::<Vec<_>>()
        });
        spawn(async move {
            for (key, text) in known {
                let Some(storage) = self.storage() else {
                    return; // The batches are written when storage works.
                };
                if matches!(storage.get(Store::Batches, &key.0).await, Ok(None)) {
                    self.store_batch(&key, text);
                }
            }
        });
    }

    /// Deletes a batch.
    pub fn delete_batch(self, key: &BatchKey) {
        self.state
            .update_value(|state| drop(state.batches.remove(key)));
        let deleted = self.delete(vec![(Store::Batches, key.0.clone())]);
        spawn(async move {
            // After a failure, the batch is deleted when storage works again.
            let _ = deleted.await;
        });
    }

    /// Deletes records. They are treated as deleted immediately: if storage fails now and is read again later, they must not
    /// reappear.
    pub fn delete(self, records: Vec<(Store, String)>) -> Written {
        self.state
            .update_value(|state| state.undeleted.extend_from_slice(&records));
        let Some(storage) = self.storage() else {
            return async { Err(StorageError::Closed) }.boxed_local();
        };
        let deleted = self.watched(storage.delete(&records));
        let deleted = async move {
            deleted.await?;
            self.mark_deleted(&records);
            Ok(())
        };
        deleted.boxed_local()
    }

    /// Cancels the deletion of these files, which are stored again.
    pub fn cancel_file_deletions(self, files: &[(Store, String, JsValue)]) {
        let is_kept = |(store, key): &(Store, String)| {
            files
                .iter()
                .any(|(kept, name, _)| kept == store && name == key)
        };
        self.state
            .update_value(|state| state.undeleted.retain(|record| !is_kept(record)));
    }

    fn mark_deleted(self, records: &[(Store, String)]) {
        self.state.update_value(|state| {
            let is_gone = |record: &(Store, String)| records.contains(record);
            state.undeleted.retain(|record| !is_gone(record));
        });
    }
}

fn record(task: &Task) -> (Store, String, JsValue) {
    let text = task.to_text();
    (Store::Tasks, task.key.0.clone(), JsValue::from_str(&text))
}

#[cfg(test)]
mod tests;

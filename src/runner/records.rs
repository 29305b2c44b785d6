//! The tasks in storage: read, written and forgotten.

use atelier_contract::json;
use atelier_engine::output_cache::{favorites, without};
use atelier_engine::{BatchKey, Task, TaskKey};
use futures::future::FutureExt;
use wasm_bindgen::JsValue;

use super::{Runner, output_cache};
use crate::boxed::spawn;
use crate::browser::clock;
use crate::browser::storage::{StorageError, Store, Written};

impl Runner {
    /// Every stored task that can be read.
    ///
    /// # Errors
    ///
    /// Storage is not open, or does not answer.
    pub(super) async fn read_all(self) -> Result<Vec<Task>, StorageError> {
        let storage = self.storage().ok_or(StorageError::Closed)?;
        let connection = self.connection();
        let texts = match storage.all_texts(Store::Tasks).await {
            Ok(texts) => texts,
            Err(error) => {
                self.storage_failed(error, connection);
                return Err(error);
            }
        };
        let total = texts.len();
        let mut tasks: Vec<Task> = texts
            .iter()
            .filter_map(|text| Task::from_value(json::read(text)?))
            .collect();
        if tasks.len() < total {
            self.notices.problem(format!(
                "{} stored tasks could not be read. They are left as they are.",
                total - tasks.len()
            ));
        }
        // Removed, and not yet deleted: its record is only still there.
        self.inner.with_value(|inner| {
            let is_removed = |task: &Task| {
                let record = (Store::Tasks, task.key.0.clone());
                inner.undeleted.contains(&record)
            };
            tasks.retain(|task| !is_removed(task));
        });
        Ok(tasks)
    }

    /// Knows and shows what storage or another tab says. Does not write it: whoever leads writes,
    /// and may have written something newer meanwhile, such as a task's id.
    pub(super) fn merge_remote(&self, tasks: Vec<Task>) {
        let known = self.inner.try_update_value(|inner| {
            let merge = |task: Task| {
                let key = task.key.clone();
                inner.engine.merge_remote(task, clock::now());
                inner.engine.task(&key).cloned()
            };
            tasks.into_iter().filter_map(merge).collect::<Vec<_>>()
        });
        self.show(&known.unwrap_or_default());
    }

    /// The write begins at the call: what is written later cannot overtake it. While storage is not
    /// open nothing is written; everything is once it is.
    pub(super) fn write(&self, tasks: &[Task]) -> Written {
        let Some(storage) = self.storage() else {
            return async { Ok(()) }.boxed_local();
        };
        let records: Vec<_> = tasks
            .iter()
            .map(|task| {
                let text = task.to_value().to_string();
                (Store::Tasks, task.key.0.clone(), JsValue::from_str(&text))
            })
            .collect();
        self.watched(storage.put(&records))
    }

    pub(super) fn connection(&self) -> u64 {
        self.inner.with_value(|inner| inner.connection)
    }

    /// A write whose failure is seen to.
    fn watched(&self, written: Written) -> Written {
        let (this, connection) = (*self, self.connection());
        let watched = async move {
            let result = written.await;
            if let Err(error) = result {
                this.storage_failed(error, connection);
            }
            result
        };
        watched.boxed_local()
    }

    /// Writes everything that this tab answers for: all tasks, if it leads, and the batches that it
    /// knows.
    pub(super) fn write_all(&self) -> Written {
        let Some(storage) = self.storage() else {
            return async { Err(StorageError::Closed) }.boxed_local();
        };
        let is_leading = self.generation().is_some();
        let going = self.inner.with_value(|inner| inner.undeleted.clone());
        let records: Vec<_> = self.inner.with_value(|inner| {
            let tasks = inner.engine.tasks().filter(|_| is_leading).map(|task| {
                let text = task.to_value().to_string();
                (Store::Tasks, task.key.0.clone(), text)
            });
            let batches = inner
                .batches
                .iter()
                .map(|(key, text)| (Store::Batches, key.0.clone(), text.clone()));
            tasks
                .chain(batches)
                .map(|(store, key, text)| (store, key, JsValue::from_str(&text)))
                .collect()
        });
        let (this, written) = (*self, storage.change(&going, &records));
        let written = async move {
            written.await?;
            this.is_deleted(&going);
            if is_leading {
                this.inner.update_value(|inner| inner.is_unwritten = false);
            }
            Ok(())
        };
        written.boxed_local()
    }

    /// Keeps a batch's record; the write begins at the call.
    pub fn keep_batch(&self, key: &BatchKey, text: String) {
        let record = (Store::Batches, key.0.clone(), JsValue::from_str(&text));
        self.know_batch(key, text);
        let Some(storage) = self.storage() else {
            return;
        };
        let written = self.watched(storage.put(&[record]));
        spawn(async move {
            // What is refused is written again once storage works.
            let _ = written.await;
        });
    }

    /// A batch's record as it is stored: should storage be cleared, it is written again.
    pub fn know_batch(&self, key: &BatchKey, text: String) {
        self.inner
            .update_value(|inner| drop(inner.batches.insert(key.clone(), text)));
    }

    /// Deletes a batch's record.
    pub fn delete_batch(&self, key: &BatchKey) {
        self.inner
            .update_value(|inner| drop(inner.batches.remove(key)));
        self.delete(&[(Store::Batches, key.0.clone())]);
    }

    /// Its record goes, and with it the copies of its outputs.
    pub(super) fn forget(&self, key: &TaskKey) {
        let copies = format!("{key}/");
        self.delete(&[
            (Store::Tasks, key.0.clone()),
            (Store::Outputs, copies.clone()),
            (Store::OutputFacts, copies),
        ]);
    }

    fn delete(&self, records: &[(Store, String)]) {
        // Until they are, they are taken for deleted: storage may fail now and be read later.
        self.inner
            .update_value(|inner| inner.undeleted.extend_from_slice(records));
        let Some(storage) = self.storage() else {
            return;
        };
        let (this, records) = (*self, records.to_vec());
        let deleted = self.watched(storage.delete(&records));
        spawn(async move {
            if deleted.await.is_ok() {
                this.is_deleted(&records);
                this.tell_of_copies();
            }
        });
    }

    fn is_deleted(&self, records: &[(Store, String)]) {
        self.inner.update_value(|inner| {
            let is_gone = |record: &(Store, String)| records.contains(record);
            inner.undeleted.retain(|record| !is_gone(record));
        });
    }

    /// All copies of outputs go but those of favorites.
    pub fn delete_copies(&self) {
        let this = *self;
        spawn(async move {
            let Ok(copies) = output_cache::copies(this).await else {
                return;
            };
            let favorites = this.with_tasks(|tasks| favorites(tasks.iter().copied()));
            let going = without(copies, &favorites).into_iter();
            let going = going.flat_map(|copy| {
                let key = copy.key;
                [(Store::Outputs, key.clone()), (Store::OutputFacts, key)]
            });
            this.delete(&going.collect::<Vec<_>>());
        });
    }
}

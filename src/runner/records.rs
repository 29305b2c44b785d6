//! The tasks in storage: read, written and forgotten.

use atelier_contract::json;
use atelier_engine::{Task, TaskKey};
use futures::future::FutureExt;
use leptos::prelude::*;
use wasm_bindgen::JsValue;

use super::Runner;
use crate::browser::clock;
use crate::browser::storage::{StorageError, Store, Written};
use crate::erased::spawn;

impl Runner {
    pub(super) async fn read_all(self) -> Vec<Task> {
        let Some(storage) = self.inner.with_value(|inner| inner.storage.clone()) else {
            return Vec::new();
        };
        match storage.all_texts(Store::Tasks).await {
            Ok(texts) => {
                let total = texts.len();
                let tasks: Vec<Task> = texts
                    .iter()
                    .filter_map(|text| Task::from_value(json::read(text)?))
                    .collect();
                if tasks.len() < total {
                    self.notices.problem(format!(
                        "{} stored tasks could not be read. They are left as they are.",
                        total - tasks.len()
                    ));
                }
                tasks
            }
            Err(error) => {
                self.is_unkept(&error);
                Vec::new()
            }
        }
    }

    /// Knows and shows what storage or another tab says. Does not write it: whoever leads writes,
    /// and may have written something newer meanwhile, such as a task's id.
    pub(super) fn learn(&self, task: Task) {
        let key = task.key.clone();
        let known = self.inner.try_update_value(|inner| {
            inner.engine.learn(task, clock::now());
            inner.engine.task(&key).cloned()
        });
        if let Some(task) = known.flatten() {
            self.show(&task);
        }
    }

    /// The write begins at the call: what is written later cannot overtake it.
    pub(super) fn write(&self, tasks: &[Task]) -> Written {
        let Some(storage) = self.inner.with_value(|inner| inner.storage.clone()) else {
            return async { Ok(()) }.boxed_local();
        };
        let records: Vec<_> = tasks
            .iter()
            .map(|task| {
                let text = task.to_value().to_string();
                (Store::Tasks, task.key.0.clone(), JsValue::from_str(&text))
            })
            .collect();
        storage.put(&records)
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
        let Some(storage) = self.inner.with_value(|inner| inner.storage.clone()) else {
            return;
        };
        let this = *self;
        let deleted = storage.delete(records);
        spawn(async move {
            match deleted.await {
                Ok(()) => this.tell_of_copies(),
                Err(error) => this.is_unkept(&error),
            }
        });
    }

    /// All copies of outputs go.
    pub fn delete_copies(&self) {
        self.delete(&[
            (Store::Outputs, String::new()),
            (Store::OutputFacts, String::new()),
        ]);
    }

    pub(super) fn is_unkept(&self, error: &StorageError) {
        self.unkept.set(Some(format!(
            "This browser does not let Atelier keep anything ({}). Tasks go on, but closing this tab \
             loses sight of them.",
            error.0
        )));
    }

    /// Why tasks are kept in memory only; tracked.
    pub fn unkept(&self) -> Option<String> {
        self.unkept.get()
    }
}

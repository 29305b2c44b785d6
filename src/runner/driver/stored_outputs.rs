//! Outputs that come as data are stored as files, each once, and tasks refer to them: see
//! [`atelier_engine::stored_output`].

use atelier_engine::stored_output::{self, Data};
use atelier_engine::{Task, TaskKey};
use gloo_timers::future::TimeoutFuture;
use leptos::prelude::*;
use serde_json::Value;

use super::Driver;
use crate::browser::http;
use crate::browser::storage::Store;
use crate::reactive::boxed::spawn;

/// After so long a tab that led before has said of which tasks the files are that it stored, in milliseconds.
const SETTLED_MS: u32 = 60_000;

/// The time between two looks at what no task refers to, in milliseconds.
const REPEATED_MS: u32 = 60 * 60 * 1_000;

impl Driver {
    /// Stores the data in an answer, and puts references in its place. What can't be stored stays as it is.
    pub(super) async fn store_data(self, answer: &mut Value) {
        let taken = stored_output::extract(answer);
        if taken.is_empty() {
            return;
        }
        let unstored = self.store_files(taken).await.1;
        stored_output::restore(answer, &unstored);
    }

    /// Stores the data of tasks whose records carry it: they are of an earlier release, came from elsewhere, or storage
    /// did not work at the time.
    pub(super) fn store_data_of(self, keys: Vec<TaskKey>) {
        if keys.is_empty() || !self.tabs.leads() {
            return;
        }
        spawn(async move {
            // One after the other: each may be large.
            for key in keys {
                let data = self.with_engine(|engine| {
                    let outputs = engine.task(&key).map_or(&[] as &[_], Task::outputs);
                    outputs.iter().filter_map(|url| Data::of(url)).collect()
                });
                let (stored, _) = self.store_files(data.unwrap_or_default()).await;
                // Another tab may lead by now, and know something newer.
                self.tabs.check();
                if !self.tabs.leads() {
                    return;
                }
                if !stored.is_empty() {
                    self.change(|engine| engine.replace_stored_data(&key, &stored));
                }
            }
        });
    }

    /// This tab leads from now on: stores the data that records carry, and deletes the files that are of no task.
    pub fn tidy_files(self) {
        let keys = self.with_engine(|engine| keys_with_data(engine.tasks()));
        self.store_data_of(keys.unwrap_or_default());
        let generation = self.tabs.generation();
        spawn(async move {
            TimeoutFuture::new(SETTLED_MS).await;
            while generation.is_some() && self.tabs.generation() == generation {
                self.delete_unused_files().await;
                TimeoutFuture::new(REPEATED_MS).await;
            }
        });
    }

    /// Deletes the files that no task refers to: a page was closed after it had stored them, before it wrote the task; or the
    /// service has given something else since.
    async fn delete_unused_files(self) {
        let Some(storage) = self.records.storage().filter(|_| self.tabs.leads()) else {
            return;
        };
        let folder = stored_output::FOLDER;
        let Ok(mut keys) = storage.keys_under(Store::Outputs, folder).await else {
            return;
        };
        // No file that was stored since is among these keys, and all others have their tasks by now.
        let used = self.with_engine(|engine| engine.files_in_use(None));
        let used = used.unwrap_or_default();
        keys.retain(|key| !used.contains(key));
        if keys.is_empty() {
            return;
        }
        // Storage may have opened late, and a record may be one that this release can't read.
        let Ok(records) = storage.all_texts(Store::Tasks).await else {
            return;
        };
        keys.retain(|key| {
            let name = key.strip_prefix(folder).unwrap_or(key);
            !records.iter().any(|record| record.contains(name))
        });
        let files = keys.into_iter().map(|key| (Store::Outputs, key));
        self.cache.delete(files.collect());
    }

    /// The files that this task refers to, and no other.
    pub fn files_of_it_alone(self, key: &TaskKey) -> Vec<(Store, String)> {
        let Some(task) = self.tasks.task(key) else {
            return Vec::new();
        };
        let outputs = task.read_untracked();
        let mut files: Vec<String> = outputs
            .outputs()
            .iter()
            .filter_map(|url| stored_output::key(url))
            .collect();
        // A task that is to refer to the same file may be about to come: what is left is found later.
        let is_storing = self.state.with_value(|state| state.storing > 0);
        if is_storing {
            return Vec::new();
        }
        if !files.is_empty() {
            let used = self.with_engine(|engine| engine.files_in_use(Some(key)));
            let used = used.unwrap_or_default();
            files.retain(|file| !used.contains(file));
        }
        files
            .into_iter()
            .map(|file| (Store::Outputs, file))
            .collect()
    }

    /// Stores data in one transaction; gives what was stored, and what was not.
    async fn store_files(self, data: Vec<Data>) -> (Vec<Data>, Vec<Data>) {
        let (mut stored, mut unstored) = (Vec::new(), Vec::new());
        let Some(storage) = self.records.storage().filter(|_| !data.is_empty()) else {
            return (stored, data);
        };
        self.state.update_value(|state| state.storing += 1);
        let mut files = Vec::new();
        for data in data {
            let key = stored_output::key(&data.reference).unwrap_or_default();
            match http::get_blob(&data.url, u64::MAX).await {
                Ok(file) => {
                    files.push((Store::Outputs, key, file.into()));
                    stored.push(data);
                }
                // It is no data that the browser can read.
                Err(_) => unstored.push(data),
            }
        }
        self.records.keep_files(&files);
        // What has no room here has none in the record either, whose failure is seen to.
        if storage.put(&files).await.is_err() {
            unstored.append(&mut stored);
        }
        // The caller tells the engine before anything else happens.
        self.state.try_update_value(|state| state.storing -= 1);
        (stored, unstored)
    }
}

/// The tasks whose records carry data.
pub(super) fn keys_with_data<'a>(tasks: impl Iterator<Item = &'a Task>) -> Vec<TaskKey> {
    let has_data = |task: &&Task| {
        let mut outputs = task.outputs().iter();
        outputs.any(|url| stored_output::reference(url).is_some())
    };
    let keys = tasks.filter(has_data).map(|task| task.key.clone());
    keys.collect()
}

#[cfg(test)]
mod tests {
    use wasm_bindgen::JsValue;
    use wasm_bindgen_test::wasm_bindgen_test;

    use super::*;
    use crate::browser::storage::Storage;
    use crate::runner::testing::{Tab, pause, put, ready, start_afresh};

    /// Guards against files that can't be reached and stay for ever, and against one that goes while a task has it.
    #[wasm_bindgen_test]
    async fn files_of_no_task_are_deleted() {
        start_afresh().await;
        let reference = "data:image/png;stored=1a-5000,";
        put(&[ready("a", 10, &["https://x.example/a.png", reference])]).await;
        let storage = Storage::open(|| ()).await.expect("IndexedDB");
        let keys = ["a/0", "stored/1a-5000", "stored/1b-5000"];
        let files = keys.map(|key| (Store::Outputs, key.to_owned(), JsValue::from_str("file")));
        storage.put(&files).await.expect("written");
        let tab = Tab::open_leading().await;
        tab.parts().driver.delete_unused_files().await;
        loop {
            let left = storage.keys_under(Store::Outputs, "").await.expect("keys");
            if left == keys[..2] {
                break;
            }
            assert_eq!(left, keys, "another file went");
            pause().await;
        }
    }
}

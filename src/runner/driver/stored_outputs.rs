//! Stores outputs that arrive as data URLs in files, without duplicates. Tasks then refer to the files, see
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

/// The delay before the first deletion of unused files, in milliseconds. By then, a previous leader has sent the tasks
/// that refer to the files that it stored.
const FIRST_DELETION_MS: u32 = 60_000;

/// The time between two deletions of unused files, in milliseconds.
const DELETION_INTERVAL_MS: u32 = 60 * 60 * 1_000;

impl Driver {
    /// Stores the data in a response as files and replaces it with references. Data that can't be stored stays in the
    /// response.
    pub(super) async fn store_data(self, answer: &mut Value) {
        let extracted = stored_output::extract(answer);
        if extracted.is_empty() {
            return;
        }
        let unstored = self.store_files(extracted).await.1;
        stored_output::restore(answer, &unstored);
    }

    /// Stores the data in the records of these tasks as files. Records contain data if they were written by an earlier
    /// release, were imported, or were written while storage did not work.
    pub(super) fn store_data_of(self, keys: Vec<TaskKey>) {
        if keys.is_empty() || !self.tabs.leads() {
            return;
        }
        spawn(async move {
            // One task at a time, because the data may be large.
            for key in keys {
                let data = self.with_engine(|engine| {
                    let outputs = engine.task(&key).map_or(&[] as &[_], Task::outputs);
                    outputs.iter().filter_map(|url| Data::of(url)).collect()
                });
                let (stored, _) = self.store_files(data.unwrap_or_default()).await;
                // Another tab may lead now and have newer records.
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

    /// Stores the data in all records as files, and deletes unused files periodically as long as this tab leads.
    pub fn tidy_files(self) {
        let keys = self.with_engine(|engine| keys_with_data(engine.tasks()));
        self.store_data_of(keys.unwrap_or_default());
        let generation = self.tabs.generation();
        spawn(async move {
            TimeoutFuture::new(FIRST_DELETION_MS).await;
            while generation.is_some() && self.tabs.generation() == generation {
                self.delete_unused_files().await;
                TimeoutFuture::new(DELETION_INTERVAL_MS).await;
            }
        });
    }

    /// Deletes the files that no task refers to. Such files remain if a page was closed after it stored a file and
    /// before it wrote the task, or if the service has returned another output since.
    async fn delete_unused_files(self) {
        let Some(storage) = self.records.storage().filter(|_| self.tabs.leads()) else {
            return;
        };
        let folder = stored_output::FOLDER;
        let Ok(mut keys) = storage.keys_under(Store::Outputs, folder).await else {
            return;
        };
        // The keys of the files were read before the tasks. So the keys do not include files that were stored in the
        // meantime, and the tasks of all other files are known.
        let used = self.with_engine(|engine| engine.files_in_use(None));
        let used = used.unwrap_or_default();
        keys.retain(|key| !used.contains(key));
        if keys.is_empty() {
            return;
        }
        // Stored records are searched as text, because storage may have opened late, and this release may be unable to
        // read a record.
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

    /// Returns the files that this task refers to and no other task does.
    pub fn files_used_only_by(self, key: &TaskKey) -> Vec<(Store, String)> {
        let Some(task) = self.tasks.task(key) else {
            return Vec::new();
        };
        let outputs = task.read_untracked();
        let mut files: Vec<String> = outputs
            .outputs()
            .iter()
            .filter_map(|url| stored_output::key(url))
            .collect();
        // Another task may be about to refer to the same file. A file that is not deleted now is deleted later.
        let is_storing = self.state.with_value(|state| state.storing_count > 0);
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

    /// Stores data in one transaction. Returns the data that was stored and the data that was not.
    async fn store_files(self, data: Vec<Data>) -> (Vec<Data>, Vec<Data>) {
        let (mut stored, mut unstored) = (Vec::new(), Vec::new());
        let Some(storage) = self.records.storage().filter(|_| !data.is_empty()) else {
            return (stored, data);
        };
        self.state.update_value(|state| state.storing_count += 1);
        let mut files = Vec::new();
        for data in data {
            let key = stored_output::key(&data.reference).unwrap_or_default();
            match http::get_blob(&data.url, u64::MAX).await {
                Ok(file) => {
                    files.push((Store::Outputs, key, file.into()));
                    stored.push(data);
                }
                // The browser can't read this data URL.
                Err(_) => unstored.push(data),
            }
        }
        self.records.cancel_file_deletions(&files);
        // If there is no space for the files, there is none for a record with the data either. The failure to write the
        // record is handled.
        if storage.put(&files).await.is_err() {
            unstored.append(&mut stored);
        }
        // The caller updates the engine before other code runs.
        self.state
            .try_update_value(|state| state.storing_count -= 1);
        (stored, unstored)
    }
}

/// Returns the keys of the tasks whose records contain data.
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
    use crate::runner::testing::{Tab, pause, ready, reset_browser, store_tasks};

    /// Guards against unused files that are never deleted, and against the deletion of a file that a task uses.
    #[wasm_bindgen_test]
    async fn unused_files_are_deleted() {
        reset_browser().await;
        let reference = "data:image/png;stored=1a-5000,";
        store_tasks(&[ready("a", 10, &["https://x.example/a.png", reference])]).await;
        let storage = Storage::open(|| ()).await.expect("IndexedDB");
        let keys = ["a/0", "stored/1a-5000", "stored/1b-5000"];
        let files = keys.map(|key| (Store::Outputs, key.to_owned(), JsValue::from_str("file")));
        storage.put(&files).await.expect("written");
        let tab = Tab::open_leading().await;
        tab.parts().driver.delete_unused_files().await;
        loop {
            let remaining = storage.keys_under(Store::Outputs, "").await.expect("keys");
            if remaining == keys[..2] {
                break;
            }
            assert_eq!(remaining, keys, "a used file was deleted");
            pause().await;
        }
    }
}

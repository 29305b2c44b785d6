//! A copy as it is stored: the file, and a record with facts about it.

use atelier_contract::json;
use atelier_engine::stored_output;
use atelier_studio::output::output_cache::CachedOutput;
use wasm_bindgen::{JsCast, JsValue};
use web_sys::Blob;

use super::OutputCache;
use crate::browser::storage::{StorageError, Store};

impl OutputCache {
    /// Returns the stored file of an output: the file of an output that arrived as data, or else the copy.
    pub async fn copy(self, name: &str) -> Option<Blob> {
        let storage = self.records.storage()?;
        let url = self.output(name);
        let stored = url.and_then(|url| stored_output::key(&url));
        let key = stored.as_deref().unwrap_or(name);
        let blob = storage.get(Store::Outputs, key).await.ok()??;
        blob.dyn_into().ok()
    }

    /// Returns the facts about all copies.
    ///
    /// # Errors
    ///
    /// The browser's storage can't be read.
    pub async fn all(self) -> Result<Vec<CachedOutput>, StorageError> {
        let Some(storage) = self.records.storage() else {
            return Ok(Vec::new());
        };
        let texts = storage.all_texts(Store::OutputFacts).await?;
        Ok(texts.iter().filter_map(|text| read(text)).collect())
    }
}

/// Returns the keys of a copy's records, or of the records of all copies of a task if the name ends in `/`.
pub fn records(name: String) -> [(Store, String); 2] {
    [(Store::Outputs, name.clone()), (Store::OutputFacts, name)]
}

pub fn read(text: &str) -> Option<CachedOutput> {
    CachedOutput::from_value(json::read(text)?)
}

pub fn facts(copy: &CachedOutput) -> (Store, String, JsValue) {
    let text = copy.to_value().to_string();
    (
        Store::OutputFacts,
        copy.key.clone(),
        JsValue::from_str(&text),
    )
}

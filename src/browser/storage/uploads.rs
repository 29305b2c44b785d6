//! Stores files that are being uploaded, so that the upload continues after a reload.
//!
//! Uploads are rare, so every access opens a connection and closes it. The database is apart from [`super::database`],
//! whose code is part of the first view.

use std::future::IntoFuture;

use atelier_contract::json;
use atelier_studio::form::upload::stored::StoredUpload;
use idb::{DatabaseEvent, Factory, ObjectStoreParams, Query, TransactionMode, TransactionResult};
use wasm_bindgen::{JsCast, JsValue};
use web_sys::Blob;

use super::database::in_time;
use super::error::StorageError;

const DATABASE: &str = "atelier-uploads";

/// JSON of a [`StoredUpload`], by its key.
const FACTS: &str = "facts";

/// The content of its file, by the same key.
const FILES: &str = "files";

/// The timeout of an access, in milliseconds. A large file takes some seconds.
const TIMEOUT_MS: u32 = 60_000;

/// Stores an upload with the content of its file, or without it once it is uploaded.
///
/// # Errors
///
/// The browser refuses storage or has no space, or does not respond in time.
pub async fn write(upload: &StoredUpload, content: Option<Blob>) -> Result<(), StorageError> {
    let key = JsValue::from_str(&upload.key);
    let facts = JsValue::from_str(&json::encode(upload).to_string());
    let written = access(TransactionMode::ReadWrite, move |facts_store, files| {
        facts_store.put(&facts, Some(&key))?;
        match content {
            Some(content) => drop(files.put(&content, Some(&key))?),
            None => drop(files.delete(Query::from(key))?),
        }
        Ok(async { Ok(()) })
    });
    in_time(TIMEOUT_MS, written).await
}

/// Returns a stored upload and the content of its file, if it is stored.
///
/// # Errors
///
/// Storage can't be read.
pub async fn read(key: &str) -> Result<Option<(StoredUpload, Option<Blob>)>, StorageError> {
    let key = JsValue::from_str(key);
    let found = access(TransactionMode::ReadOnly, move |facts, files| {
        let facts = facts.get(Query::from(key.clone()))?;
        let file = files.get(Query::from(key))?;
        Ok(async move {
            let upload = facts.await?.and_then(|facts| upload(&facts));
            let content = file.await?.and_then(|file| file.dyn_into().ok());
            Ok(upload.map(|upload| (upload, content)))
        })
    });
    in_time(TIMEOUT_MS, found).await
}

/// Returns all stored uploads, without the content of their files.
///
/// # Errors
///
/// Storage can't be read.
pub async fn all() -> Result<Vec<StoredUpload>, StorageError> {
    let found = access(TransactionMode::ReadOnly, |facts, _| {
        let facts = facts.get_all(None, None)?;
        Ok(async move { Ok(facts.await?.iter().filter_map(upload).collect()) })
    });
    in_time(TIMEOUT_MS, found).await
}

/// Deletes stored uploads.
///
/// # Errors
///
/// Storage can't be written.
pub async fn delete(keys: &[String]) -> Result<(), StorageError> {
    let keys: Vec<JsValue> = keys.iter().map(|key| JsValue::from_str(key)).collect();
    let deleted = access(TransactionMode::ReadWrite, move |facts, files| {
        for key in keys {
            facts.delete(Query::from(key.clone()))?;
            files.delete(Query::from(key))?;
        }
        Ok(async { Ok(()) })
    });
    in_time(TIMEOUT_MS, deleted).await
}

/// Reads stored facts. Returns `None` for the format of another version.
fn upload(facts: &JsValue) -> Option<StoredUpload> {
    json::decode(json::read(&facts.as_string()?)?)
}

/// Opens a connection, makes requests on both stores in one transaction, and closes the connection when it has ended.
async fn access<T, F>(
    mode: TransactionMode,
    request: impl FnOnce(idb::ObjectStore, idb::ObjectStore) -> Result<F, idb::Error> + 'static,
) -> Result<T, StorageError>
where
    F: Future<Output = Result<T, idb::Error>> + 'static,
{
    let mut opening = Factory::new()?.open(DATABASE, Some(1))?;
    opening.on_upgrade_needed(|event| {
        if let Ok(database) = event.database() {
            for name in [FACTS, FILES] {
                // This can only fail if the store exists.
                let _ = database.create_object_store(name, ObjectStoreParams::new());
            }
        }
    });
    let database = opening.await?;
    let accessed = async {
        let transaction = database.transaction(&[FACTS, FILES], mode)?;
        let (facts, files) = (
            transaction.object_store(FACTS)?,
            transaction.object_store(FILES)?,
        );
        let requested = request(facts, files)?;
        // Follows the transaction from here on: it may be complete once the requests are.
        let ended = transaction.into_future();
        let found = requested.await?;
        match ended.await? {
            TransactionResult::Committed => Ok(found),
            // The browser aborts a transaction when the disk or the quota is full.
            TransactionResult::Aborted => Err(StorageError::Full),
        }
    };
    let accessed = accessed.await;
    database.close();
    accessed
}

#[cfg(test)]
mod tests {
    use atelier_contract::{Media, ModelId};
    use atelier_studio::form::upload::LocalFile;
    use atelier_studio::form::upload::stored::FieldKey;
    use js_sys::Array;
    use wasm_bindgen_futures::JsFuture;
    use wasm_bindgen_test::wasm_bindgen_test;

    use super::*;

    fn sample(key: &str) -> StoredUpload {
        StoredUpload {
            key: key.into(),
            at: 7,
            tab: "t".into(),
            uid: "me".into(),
            field: FieldKey {
                address: "https://s.example".into(),
                model: ModelId::new("image", "repaint"),
                parameter: "image_url".into(),
                item: None,
                row: None,
            },
            media: Media::Image,
            file: LocalFile {
                name: "cat.png".into(),
                media_type: "image/png".into(),
                bytes: 5,
                last_modified: None,
            },
            before: None,
            note: String::new(),
            uploaded: None,
        }
    }

    #[wasm_bindgen_test]
    async fn stored_uploads_are_read_with_their_content_and_deleted() {
        let content = Blob::new_with_str_sequence(&Array::of1(&"bytes".into())).expect("a blob");
        let upload = sample("k");
        write(&upload, Some(content)).await.expect("written");
        let (found, content) = read("k").await.expect("read").expect("an upload");
        assert_eq!(found, upload);
        let text = JsFuture::from(content.expect("a file").text()).await;
        assert_eq!(text.expect("text").as_string().as_deref(), Some("bytes"));
        // The content is not needed once the file is uploaded.
        write(&upload, None).await.expect("written");
        let (_, content) = read("k").await.expect("read").expect("an upload");
        assert!(content.is_none());
        assert_eq!(all().await.expect("read"), [upload]);
        delete(&["k".to_owned(), "other".to_owned()])
            .await
            .expect("deleted");
        assert!(all().await.expect("read").is_empty());
        assert!(read("k").await.expect("read").is_none());
    }
}

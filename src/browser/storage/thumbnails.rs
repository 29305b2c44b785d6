//! Caches thumbnails of outputs, as bytes and type, by the output's name.

use idb::{KeyRange, Query, Transaction, TransactionMode, TransactionResult};
use js_sys::{Array, Uint8Array};
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::{Blob, BlobPropertyBag};

use super::database::{Database, Store, in_time};
use super::error::StorageError;
use crate::reactive::boxed::spawn;

/// The maximum number of thumbnails, of 20 to 60 kB each. The oldest are evicted first.
const MAX_KEPT: u32 = 1_500;

/// How long a list waits for a thumbnail, in milliseconds.
const TIMEOUT_MS: u32 = 400;

/// Returns the thumbnail of the output with this name, if it is cached.
///
/// # Errors
///
/// Storage can't be read.
pub async fn read(name: &str) -> Result<Option<Blob>, StorageError> {
    let key = Query::from(JsValue::from_str(name));
    let found = async move {
        let transaction = begin(TransactionMode::ReadOnly).await?;
        let found = transaction
            .object_store(Store::Thumbnails.name())?
            .get(key)?
            .await?;
        Ok::<_, StorageError>(found)
    };
    let found = in_time(TIMEOUT_MS, found).await?;
    Ok(found.and_then(picture))
}

fn picture(record: JsValue) -> Option<Blob> {
    let record: Array = record.dyn_into().ok()?;
    let kind = BlobPropertyBag::new();
    kind.set_type(&record.get(1).as_string()?);
    Blob::new_with_u8_array_sequence_and_options(&Array::of1(&record.get(0)), &kind).ok()
}

/// Caches the thumbnail of the output with this name. If that fails, deletes all thumbnails, because storage may be full.
pub async fn write(name: &str, picture: &Blob) {
    // Stored as bytes, because some browsers store no blobs in private windows.
    let Ok(bytes) = JsFuture::from(picture.array_buffer()).await else {
        return;
    };
    let record = Array::of2(
        &Uint8Array::new(&bytes),
        &JsValue::from_str(&picture.type_()),
    );
    let name = JsValue::from_str(name);
    let written = async {
        let transaction = begin(TransactionMode::ReadWrite).await?;
        let pictures = transaction.object_store(Store::Thumbnails.name())?;
        let made = transaction.object_store(Store::ThumbnailOrder.name())?;
        pictures.put(&record, Some(&name))?;
        made.add(&name, None)?;
        let too_many = made.count(None)?.await?.saturating_sub(MAX_KEPT);
        if too_many > 0 {
            let keys = made.get_all_keys(None, Some(too_many))?.await?;
            let names = made.get_all(None, Some(too_many))?.await?;
            for key in keys {
                made.delete(Query::from(key))?;
            }
            for name in names {
                pictures.delete(Query::from(name))?;
            }
        }
        Ok::<_, StorageError>(transaction.await?)
    };
    if !matches!(written.await, Ok(TransactionResult::Committed)) {
        clear();
    }
}

/// Deletes the thumbnails of the task with this key.
pub fn forget(task: &str) {
    // `0` follows `/` in ASCII.
    let [from, to] = [format!("{task}/"), format!("{task}0")];
    spawn(async move {
        let _ = delete(&from, &to).await;
    });
}

/// Deletes all thumbnails.
pub fn clear() {
    spawn(async {
        let _ = delete("", "\u{ffff}").await;
    });
}

/// Deletes the thumbnails whose names are in this range. Their entries in [`Store::ThumbnailOrder`] are evicted later.
async fn delete(from: &str, to: &str) -> Result<TransactionResult, StorageError> {
    let [from, to] = [from, to].map(JsValue::from_str);
    let range = KeyRange::bound(&from, &to, None, Some(true))?;
    let transaction = begin(TransactionMode::ReadWrite).await?;
    transaction
        .object_store(Store::Thumbnails.name())?
        .delete(range)?;
    Ok(transaction.await?)
}

async fn begin(mode: TransactionMode) -> Result<Transaction, StorageError> {
    Database::Thumbnails
        .begin(&[Store::Thumbnails, Store::ThumbnailOrder], mode)
        .await
}

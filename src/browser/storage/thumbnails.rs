//! Thumbnails of outputs, each under its output's name: the bytes and their type. Nothing is lost with them.

use idb::{KeyRange, Query, Transaction, TransactionMode, TransactionResult};
use js_sys::{Array, Uint8Array};
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::{Blob, BlobPropertyBag};

use super::database::{Database, Store, in_time};
use super::error::StorageError;
use crate::reactive::boxed::spawn;

/// Each picture takes some 20 to 60 kB. The oldest are the first to go.
const MAX_KEPT: u32 = 1_500;

/// A picture in a list waits this long for its small version.
const TIMEOUT_MS: u32 = 400;

/// The small picture of the output of this name, if one was made.
///
/// # Errors
/// If none can be kept here.
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

/// Keeps the small picture of the output of this name. Where there is no room, all of them are evicted.
pub async fn write(name: &str, picture: &Blob) {
    // The picture is kept as bytes, because some browsers store no files in private windows.
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

/// The small pictures of a task's outputs go, by the task's key.
pub fn forget(task: &str) {
    // `0` comes right after `/`.
    let [from, to] = [format!("{task}/"), format!("{task}0")];
    spawn(async move {
        let _ = delete(&from, &to).await;
    });
}

/// Deletes all small pictures.
pub fn clear() {
    spawn(async {
        let _ = delete("", "\u{ffff}").await;
    });
}

/// Names that are left behind in the order are evicted in their turn.
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

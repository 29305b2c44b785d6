//! The tables in which batches are composed, each under its model.

use atelier_engine::Millis;
use atelier_studio::compose::revision::{PendingRevision, StoredRevision, WriteDecision};
use idb::{Query, Transaction, TransactionMode, TransactionResult};
use js_sys::Array;
use wasm_bindgen::{JsCast, JsValue};

pub use super::database::on_tables_gone as on_gone;
use super::database::{Database, Store, in_time};
use super::error::StorageError;

const STORE: Store = Store::Tables;

/// If storage does not respond for this long, it is considered unavailable. In milliseconds.
const TIMEOUT_MS: u32 = 3_000;

/// A table as it is stored.
#[derive(Debug, Clone)]
pub struct TableRecord {
    pub stored: StoredRevision,
    /// JSON of an engine table.
    pub text: String,
}

/// The result of [`exchange`].
#[derive(Debug)]
pub struct Exchanged {
    /// The record that was read. If the table was written, this is the version that it has replaced and that this tab had
    /// not seen. If the write was rejected, this is the later version that stays in storage.
    pub there: Option<TableRecord>,
    /// The new revision of the table, if it was written.
    pub revision: Option<u64>,
}

/// Reads a table if `update` is `None`. Otherwise writes the table, unless another tab has stored a later version.
///
/// # Errors
///
/// The database can't be opened, read or written, or does not answer in time. After a timeout, the write may still
/// succeed.
pub async fn exchange(
    model: &str,
    update: Option<(PendingRevision, String)>,
) -> Result<Exchanged, StorageError> {
    let transaction = begin(update.is_some()).await?;
    in_time(TIMEOUT_MS, transact(transaction, model.to_owned(), update)).await
}

async fn transact(
    transaction: Transaction,
    model: String,
    update: Option<(PendingRevision, String)>,
) -> Result<Exchanged, StorageError> {
    let there = record(&transaction, &model).await?;
    let Some((pending, text)) = update else {
        return Ok(Exchanged {
            there,
            revision: None,
        });
    };
    let (revision, there) = match pending.resolve(there.as_ref().map(|there| &there.stored)) {
        WriteDecision::Store { revision } => (Some(revision), None),
        WriteDecision::Replace { revision } => (Some(revision), there),
        WriteDecision::Reject => (None, there),
    };
    if let Some(revision) = revision {
        put(&transaction, &model, revision, &pending, &text)?;
        // The browser aborts a transaction when the disk or the quota is full.
        if transaction.await? == TransactionResult::Aborted {
            return Err(StorageError::Full);
        }
    }
    Ok(Exchanged { there, revision })
}

/// Writes a table while the page is being closed. Does not read the stored version or wait for the result, because the page
/// may be gone by then. Returns the new revision, or `None` if the write could not be started.
pub fn write_at_once(model: &str, pending: &PendingRevision, text: &str) -> Option<u64> {
    let connection = Database::Tables.connected()?;
    let revision = pending.base + 1;
    let transaction = connection
        .begin(&[STORE], TransactionMode::ReadWrite)
        .ok()?;
    put(&transaction, model, revision, pending, text).ok()?;
    transaction.commit().ok()?;
    Some(revision)
}

async fn begin(writes: bool) -> Result<Transaction, StorageError> {
    let mode = match writes {
        true => TransactionMode::ReadWrite,
        false => TransactionMode::ReadOnly,
    };
    in_time(TIMEOUT_MS, Database::Tables.begin(&[STORE], mode)).await
}

async fn record(
    transaction: &Transaction,
    model: &str,
) -> Result<Option<TableRecord>, StorageError> {
    let key = Query::from(JsValue::from_str(model));
    let value = transaction.object_store(STORE.name())?.get(key)?.await?;
    Ok(value.as_ref().and_then(table_record))
}

/// Parses a stored record. Returns `None` for the format of another version.
fn table_record(value: &JsValue) -> Option<TableRecord> {
    let parts: &Array = value.dyn_ref()?;
    Some(TableRecord {
        stored: StoredRevision {
            revision: parts.get(0).as_f64()? as u64,
            edited: parts.get(1).as_f64()? as Millis,
            writer: parts.get(2).as_string()?,
        },
        text: parts.get(3).as_string()?,
    })
}

fn put(
    transaction: &Transaction,
    model: &str,
    revision: u64,
    pending: &PendingRevision,
    text: &str,
) -> Result<(), StorageError> {
    let parts = Array::of4(
        &JsValue::from_f64(revision as f64),
        &JsValue::from_f64(pending.edited as f64),
        &JsValue::from_str(&pending.writer),
        &JsValue::from_str(text),
    );
    let store = transaction.object_store(STORE.name())?;
    store.put(&parts, Some(&JsValue::from_str(model)))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use wasm_bindgen_test::wasm_bindgen_test;

    use super::*;

    /// Stores a record in any format.
    async fn put_record(model: &str, record: &JsValue) {
        let transaction = begin(true).await.expect("a transaction");
        let store = transaction.object_store("tables").expect("a store");
        let key = JsValue::from_str(model);
        store.put(record, Some(&key)).expect("a request");
        transaction.await.expect("written");
    }

    async fn found_record(model: &str) -> Option<String> {
        let transaction = begin(false).await.expect("a transaction");
        let store = transaction.object_store("tables").expect("a store");
        let found = store.get(Query::from(JsValue::from_str(model)));
        let found = found.expect("a request").await.expect("read");
        js_sys::JSON::stringify(&found?).ok()?.as_string()
    }

    fn array(json: &str) -> JsValue {
        js_sys::JSON::parse(json).expect("JSON")
    }

    #[wasm_bindgen_test]
    async fn stored_tables_are_read_and_written_in_the_same_format() {
        let model = "image/test of tables";
        let text = r#"[3,1700000000000,"writer","{\"rows\":[]}"]"#;
        put_record(model, &array(text)).await;
        let there = exchange(model, None).await.expect("read").there;
        let there = there.expect("a table");
        let stored = StoredRevision {
            revision: 3,
            edited: 1_700_000_000_000,
            writer: "writer".into(),
        };
        assert_eq!(there.stored, stored);
        assert_eq!(there.text, r#"{"rows":[]}"#);
        let pending = PendingRevision {
            base: 3,
            edited: 1_700_000_000_001,
            writer: "me".into(),
        };
        let written = exchange(model, Some((pending, "{}".into()))).await;
        assert_eq!(written.expect("written").revision, Some(4));
        let expected = r#"[4,1700000000001,"me","{}"]"#;
        assert_eq!(found_record(model).await.as_deref(), Some(expected));
    }

    #[wasm_bindgen_test]
    async fn records_in_an_unknown_format_are_ignored() {
        let model = "image/test of other tables";
        for odd in [
            "null",
            "7",
            r#""text""#,
            "{}",
            "[]",
            r#"[3,1700000000000,"writer"]"#,
            r#"["3",1700000000000,"writer","{}"]"#,
            r#"[3,1700000000000,"writer",{"rows":[]}]"#,
        ] {
            put_record(model, &array(odd)).await;
            let found = exchange(model, None).await.expect("read");
            assert!(found.there.is_none(), "{odd}");
        }
        // Additional fields are ignored.
        let more = r#"[3,1700000000000,"writer","{}",{"later":1}]"#;
        put_record(model, &array(more)).await;
        let found = exchange(model, None).await.expect("read");
        assert_eq!(found.there.map(|there| there.text).as_deref(), Some("{}"));
    }
}

//! IndexedDB: the tables in which batches are composed, each under its model.
//!
//! They have a database of their own: an older Atelier in another tab, which has that of the tasks
//! open, holds up nothing here, and nothing here holds it up.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use atelier_engine::Millis;
use atelier_studio::compose::revision::{Stored, Verdict, Wanted};
use futures::future::{Either, FutureExt, LocalBoxFuture, Shared, select};
use gloo_timers::future::TimeoutFuture;
use idb::{Database, ObjectStoreParams, Query, Transaction, TransactionMode, TransactionResult};
use js_sys::Array;
use wasm_bindgen::{JsCast, JsValue};

use crate::browser::connection::Connection;
use crate::browser::storage::StorageError;
use crate::reactive::boxed::spawn;

const NAME: &str = "atelier-drafts";
const VERSION: u32 = 1;
const STORE: &str = "tables";

/// Storage that says nothing for this long is taken for one that never will.
const TIMEOUT_MS: u32 = 3_000;

/// A table as it is stored.
#[derive(Debug, Clone)]
pub struct TableRecord {
    pub stored: Stored,
    /// JSON of an engine table.
    pub text: String,
}

/// The result of [`exchange`].
#[derive(Debug)]
pub struct Exchanged {
    /// The record that was read. After writing it is the version that was replaced without having been seen; if
    /// nothing was written, it is the later version that stays.
    pub there: Option<TableRecord>,
    /// The revision that the table was written as, if it was written.
    pub revision: Option<u64>,
}

type Opening = Shared<LocalBoxFuture<'static, Result<Rc<Connection>, StorageError>>>;

thread_local! {
    /// The one connection of this page. An opening that is not answered goes on: another one would
    /// only queue behind it.
    static OPENING: RefCell<Option<Opening>> = const { RefCell::new(None) };
    static ON_GONE: Cell<fn()> = const { Cell::new(|| ()) };
}

/// Sets what is done whenever the connection has been taken away, because the tables may be gone with it.
pub fn on_gone(act: fn()) {
    ON_GONE.set(act);
}

/// Reads a table, or writes it unless another tab has written a later one since.
///
/// # Errors
///
/// The database can't be opened, read or written, or does not answer in time; a write may then still be done.
pub async fn exchange(
    model: &str,
    coming: Option<(Wanted, String)>,
) -> Result<Exchanged, StorageError> {
    let transaction = begin(coming.is_some()).await?;
    let work = transact(transaction, model.to_owned(), coming).boxed_local();
    match select(work, TimeoutFuture::new(TIMEOUT_MS)).await {
        Either::Left((result, _)) => result,
        Either::Right((_, work)) => {
            // The write goes on, and may still succeed.
            spawn(async move {
                let _ = work.await;
            });
            Err(StorageError::Silent)
        }
    }
}

async fn transact(
    transaction: Transaction,
    model: String,
    coming: Option<(Wanted, String)>,
) -> Result<Exchanged, StorageError> {
    let there = record(&transaction, &model).await?;
    let Some((wanted, text)) = coming else {
        return Ok(Exchanged {
            there,
            revision: None,
        });
    };
    let (revision, there) = match wanted.resolve(there.as_ref().map(|there| &there.stored)) {
        Verdict::Store { revision } => (Some(revision), None),
        Verdict::Replace { revision } => (Some(revision), there),
        Verdict::Reject => (None, there),
    };
    if let Some(revision) = revision {
        put(&transaction, &model, revision, &wanted, &text)?;
        // The browser aborts a transaction when the disk or the quota is full.
        if transaction.await? == TransactionResult::Aborted {
            return Err(StorageError::Full);
        }
    }
    Ok(Exchanged { there, revision })
}

/// Writes a table while the page is being closed: without a look at what is there, and without
/// waiting, since nothing that comes later would still be done. The revision that it got.
pub fn write_at_once(model: &str, wanted: &Wanted, text: &str) -> Option<u64> {
    let opening = OPENING.with_borrow(Clone::clone)?;
    let connection = opening.peek()?.as_ref().ok()?;
    let revision = wanted.base + 1;
    let transaction = connection
        .begin(&[STORE], TransactionMode::ReadWrite)
        .ok()?;
    put(&transaction, model, revision, wanted, text).ok()?;
    transaction.commit().ok()?;
    Some(revision)
}

async fn begin(writes: bool) -> Result<Transaction, StorageError> {
    let mode = || match writes {
        true => TransactionMode::ReadWrite,
        false => TransactionMode::ReadOnly,
    };
    let connection = connection().await?;
    if let Ok(transaction) = connection.begin(&[STORE], mode()) {
        return Ok(transaction);
    }
    // The browser has closed the connection without an event.
    OPENING.take();
    Ok(self::connection().await?.begin(&[STORE], mode())?)
}

async fn connection() -> Result<Rc<Connection>, StorageError> {
    let opening = OPENING.with_borrow_mut(|opening| {
        let begin = || {
            let opening = open().boxed_local().shared();
            // The opening is carried out to its end, though nothing may wait for it so long: an open connection must
            // give way to other tabs.
            let end = opening.clone();
            spawn(async move {
                if end.await.is_err() {
                    // The next one who needs it tries again.
                    OPENING.take();
                }
            });
            opening
        };
        opening.get_or_insert_with(begin).clone()
    });
    match select(opening, TimeoutFuture::new(TIMEOUT_MS)).await {
        Either::Left((result, _)) => result,
        Either::Right(_) => Err(StorageError::Silent),
    }
}

async fn open() -> Result<Rc<Connection>, StorageError> {
    let connection = Connection::open(
        NAME,
        VERSION,
        Box::new(|database, _| make_store(database)),
        Rc::new(give_up),
    );
    Ok(Rc::new(connection.await?))
}

fn make_store(database: &Database) {
    // It can only fail if the store exists, which is what is wanted.
    let _ = database.create_object_store(STORE, ObjectStoreParams::new());
}

fn give_up() {
    OPENING.take();
    // Not before the browser has done what the connection was in the way of.
    spawn(async { ON_GONE.get()() });
}

async fn record(
    transaction: &Transaction,
    model: &str,
) -> Result<Option<TableRecord>, StorageError> {
    let key = Query::from(JsValue::from_str(model));
    let value = transaction.object_store(STORE)?.get(key)?.await?;
    Ok(value.and_then(|value| {
        let parts: Array = value.dyn_into().ok()?;
        Some(TableRecord {
            stored: Stored {
                revision: parts.get(0).as_f64()? as u64,
                edited: parts.get(1).as_f64()? as Millis,
                writer: parts.get(2).as_string()?,
            },
            text: parts.get(3).as_string()?,
        })
    }))
}

fn put(
    transaction: &Transaction,
    model: &str,
    revision: u64,
    wanted: &Wanted,
    text: &str,
) -> Result<(), StorageError> {
    let parts = Array::of4(
        &JsValue::from_f64(revision as f64),
        &JsValue::from_f64(wanted.edited as f64),
        &JsValue::from_str(&wanted.writer),
        &JsValue::from_str(text),
    );
    let store = transaction.object_store(STORE)?;
    store.put(&parts, Some(&JsValue::from_str(model)))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use idb::{DatabaseEvent, Factory};
    use wasm_bindgen_test::wasm_bindgen_test;

    use super::*;

    /// A table of the first version, in a database that is there already.
    async fn put_record(model: &str, record: &JsValue) {
        let factory = Factory::new().expect("IndexedDB");
        let mut request = factory.open("atelier-drafts", Some(1)).expect("a request");
        request.on_upgrade_needed(|event| {
            let database = event.database().expect("a database");
            let store = database.create_object_store("tables", ObjectStoreParams::new());
            store.expect("a store");
        });
        let database = request.await.expect("a database");
        let transaction = database.transaction(&["tables"], TransactionMode::ReadWrite);
        let transaction = transaction.expect("a transaction");
        let store = transaction.object_store("tables").expect("a store");
        let key = JsValue::from_str(model);
        store.put(record, Some(&key)).expect("a request");
        transaction.await.expect("written");
        database.close();
    }

    fn array(json: &str) -> JsValue {
        js_sys::JSON::parse(json).expect("JSON")
    }

    #[wasm_bindgen_test]
    async fn a_stored_table_is_read_and_written_as_it_was() {
        let model = "image/test of tables";
        let text = r#"[3,1700000000000,"writer","{\"rows\":[]}"]"#;
        put_record(model, &array(text)).await;
        let there = exchange(model, None).await.expect("read").there;
        let there = there.expect("a table");
        let stored = Stored {
            revision: 3,
            edited: 1_700_000_000_000,
            writer: "writer".into(),
        };
        assert_eq!(there.stored, stored);
        assert_eq!(there.text, r#"{"rows":[]}"#);
        let wanted = Wanted {
            base: 3,
            edited: 1_700_000_000_001,
            writer: "me".into(),
        };
        let written = exchange(model, Some((wanted, "{}".into()))).await;
        assert_eq!(written.expect("written").revision, Some(4));
        let transaction = begin(false).await.expect("a transaction");
        let store = transaction.object_store(STORE).expect("a store");
        let found = store.get(Query::from(JsValue::from_str(model)));
        let found = found.expect("a request").await.expect("read");
        let found = js_sys::JSON::stringify(&found.expect("a record"));
        let wanted = r#"[4,1700000000001,"me","{}"]"#;
        assert_eq!(
            found.ok().and_then(|it| it.as_string()).as_deref(),
            Some(wanted)
        );
    }

    #[wasm_bindgen_test]
    async fn what_a_newer_version_keeps_in_another_way_is_no_table() {
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
        // With more than is known here it can be read.
        let more = r#"[3,1700000000000,"writer","{}",{"later":1}]"#;
        put_record(model, &array(more)).await;
        let found = exchange(model, None).await.expect("read");
        assert_eq!(found.there.map(|there| there.text).as_deref(), Some("{}"));
    }
}

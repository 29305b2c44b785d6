//! The databases of releases before version 4, which kept tables, thumbnails and replies of services in a database each.

use std::cell::Cell;
use std::rc::Rc;

use idb::{Database, DatabaseEvent, Error, Factory, ObjectStoreParams, Query, TransactionMode};
use wasm_bindgen::JsValue;

const TABLES: &str = "atelier-drafts";
const TABLES_STORE: &str = "tables";

/// What they hold can be fetched or made again.
const CACHES: [&str; 2] = ["atelier-thumbnails", "atelier-models"];

/// Has the browser delete what can be fetched or made again.
pub fn delete_caches() {
    for name in CACHES {
        // What can't be deleted is not used either.
        let _ = Factory::new().and_then(|factory| factory.delete(name).map(drop));
    }
}

/// Returns the record of a model's table, if an earlier release has stored one. Deletes the database if it is empty.
///
/// # Errors
///
/// The database can't be read.
pub async fn table(model: &str) -> Result<Option<JsValue>, Error> {
    let Some(database) = open().await? else {
        return Ok(None);
    };
    let transaction = database
        .0
        .transaction(&[TABLES_STORE], TransactionMode::ReadOnly)?;
    let store = transaction.object_store(TABLES_STORE)?;
    let record = store.get(Query::from(JsValue::from_str(model)))?;
    let count = store.count(None)?;
    let (record, count) = (record.await?, count.await?);
    drop(database);
    if count == 0 {
        Factory::new()?.delete(TABLES)?;
    }
    Ok(record)
}

/// Deletes the record of a model's table.
///
/// # Errors
///
/// The database can't be written.
pub async fn delete_table(model: &str) -> Result<(), Error> {
    let Some(database) = open().await? else {
        return Ok(());
    };
    let transaction = database
        .0
        .transaction(&[TABLES_STORE], TransactionMode::ReadWrite)?;
    let store = transaction.object_store(TABLES_STORE)?;
    store.delete(Query::from(JsValue::from_str(model)))?;
    transaction.await?;
    Ok(())
}

struct Open(Database);

impl Drop for Open {
    fn drop(&mut self) {
        self.0.close();
    }
}

/// Opens the database of tables, if it exists.
async fn open() -> Result<Option<Open>, Error> {
    let is_missing = Rc::new(Cell::new(false));
    let is_new = is_missing.clone();
    let mut request = Factory::new()?.open(TABLES, Some(1))?;
    request.on_upgrade_needed(move |event| {
        is_new.set(true);
        let database = event.database();
        let store = database.and_then(|database| {
            database.create_object_store(TABLES_STORE, ObjectStoreParams::new())
        });
        // An aborted upgrade leaves no new database behind.
        let _ = store.and_then(|store| store.transaction().abort());
    });
    match request.await {
        Ok(database) => Ok(Some(Open(database))),
        Err(_) if is_missing.get() => Ok(None),
        Err(error) => Err(error),
    }
}

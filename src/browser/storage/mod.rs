//! Stores data in IndexedDB.
//!
//! [`Storage`] reads and writes tasks, batches and copies of outputs; [`tables`], [`thumbnails`] and [`replies`] have records
//! of their own form. [`database`] manages the connections for all
//! of these. [`uploads`] has a database and connections of its own.
//!
//! Records are stored as JSON text, not as JavaScript objects: a seed above 2^53 stays exact.
//! Transactions on one connection run in the order in which they are created, so writes of one record
//! cannot overtake each other: every writing function creates its transaction before it returns.

mod database;
mod error;
pub mod replies;
pub mod tables;
pub mod thumbnails;
pub mod uploads;

use std::future::{Future, IntoFuture};
use std::rc::Rc;

use futures::future::{Either, FutureExt, LocalBoxFuture, select};
use gloo_timers::future::TimeoutFuture;
use idb::request::PutStoreRequest;
use idb::{Error, KeyRange, ObjectStore, Query, TransactionMode, TransactionResult};
use leptos::prelude::window;
use wasm_bindgen::JsValue;

pub use database::Store;
use database::{Connection, Database};
pub use error::StorageError;

/// The timeout of a read or write. Thousands of records take a second or two on a busy machine.
const TIMEOUT_MS: u32 = 8_000;

/// The number of records written per chunk, which takes a few milliseconds. The next chunk is written in the same
/// transaction once this one is done.
const MAX_CHUNK_PUTS: usize = 200;

/// Tasks, batches and copies of outputs, over an open connection.
pub struct Storage {
    connection: Rc<Connection>,
}

/// A write in progress; it ends when the transaction is complete.
///
/// Only the first chunk has been requested when this future is returned. Poll it in the same JavaScript task: otherwise,
/// the transaction commits before the remaining chunks are requested.
pub type Written = LocalBoxFuture<'static, Result<(), StorageError>>;

impl Storage {
    /// Opens the database, or uses the page's open connection. `on_gone` is called once, when the browser or another page has
    /// closed the connection. The returned future may never complete.
    ///
    /// # Errors
    ///
    /// The browser refuses storage, or a newer release has upgraded the database.
    pub async fn open(on_gone: impl FnOnce() + 'static) -> Result<Rc<Self>, StorageError> {
        let connection = Database::Records.connect().await?;
        connection.on_gone(on_gone);
        Ok(Rc::new(Self { connection }))
    }

    /// Opens a database with another name, for tests.
    ///
    /// # Errors
    ///
    /// As for [`Self::open`].
    pub async fn open_named(name: &str) -> Result<Self, StorageError> {
        let connection = Connection::open(Database::Records, name).await?;
        Ok(Self { connection })
    }

    /// Discards the connection, so that the next caller opens a new one.
    pub fn discard(&self) {
        Database::Records.discard(&self.connection);
    }

    /// Writes records in one transaction: all of them, or none.
    pub fn put(&self, records: &[(Store, String, JsValue)]) -> Written {
        self.change(&[], records)
    }

    /// Deletes records in one transaction; it is not an error if some do not exist. A key that ends in `/` deletes everything
    /// below it, like a folder; an empty key deletes the whole store.
    pub fn delete(&self, records: &[(Store, String)]) -> Written {
        self.change(records, &[])
    }

    /// Deletes some records and then writes others, in one transaction.
    pub fn change(
        &self,
        deletions: &[(Store, String)],
        writes: &[(Store, String, JsValue)],
    ) -> Written {
        let mut touched = Vec::new();
        let stores = deletions.iter().map(|(store, _)| *store);
        for store in stores.chain(writes.iter().map(|(store, ..)| *store)) {
            if !touched.contains(&store) {
                touched.push(store);
            }
        }
        let (now, later) = writes.split_at(writes.len().min(MAX_CHUNK_PUTS));
        let later = later.to_vec();
        let started = (|| {
            if touched.is_empty() {
                return Ok(None);
            }
            let transaction = self
                .connection
                .begin(&touched, TransactionMode::ReadWrite)?;
            let mut stores = Vec::new();
            for store in touched {
                stores.push((store, transaction.object_store(store.name())?));
            }
            for (store, key) in deletions {
                for (_, object_store) in stores.iter().filter(|(other, _)| other == store) {
                    object_store.delete(everything_under(key)?)?;
                }
            }
            let last = put_all(&stores, now)?;
            let transaction = match later.is_empty() {
                // A committed transaction is written even if the page is closed now. An open one would block other tabs
                // if the browser froze the page.
                true => transaction.commit()?,
                false => transaction,
            };
            Ok::<_, Error>(Some((transaction.into_future(), stores, last)))
        })();
        let written = async move {
            let Some((transaction, stores, mut last)) = started? else {
                return Ok(());
            };
            for records in later.chunks(MAX_CHUNK_PUTS) {
                if let Some(last) = last.take() {
                    let is_put = in_time(async move { Ok(last.await.is_ok()) }).await?;
                    if !is_put {
                        break; // The transaction reports the error.
                    }
                }
                last = put_all(&stores, records)?;
            }
            let ended = async move { transaction.await.map_err(write_error) };
            match in_time(ended).await? {
                TransactionResult::Committed => Ok(()),
                // The browser aborts a transaction when the disk or the quota is full.
                TransactionResult::Aborted => Err(StorageError::Full),
            }
        };
        written.boxed_local()
    }

    /// Returns the value of a record, or `None` if there is no such record.
    ///
    /// # Errors
    ///
    /// The database can't be read, or does not answer in time.
    pub async fn get(&self, store: Store, key: &str) -> Result<Option<JsValue>, StorageError> {
        let key = Query::from(JsValue::from_str(key));
        Ok(self.read(store, Some(key)).await?.pop())
    }

    /// Returns all JSON texts of a store.
    ///
    /// # Errors
    ///
    /// As for [`Storage::get`].
    pub async fn all_texts(&self, store: Store) -> Result<Vec<String>, StorageError> {
        let values = self.read(store, None).await?;
        Ok(values.iter().filter_map(JsValue::as_string).collect())
    }

    /// Returns the keys of all records in a folder, whose name ends in `/`.
    ///
    /// # Errors
    ///
    /// As for [`Storage::get`].
    pub async fn keys_under(
        &self,
        store: Store,
        folder: &str,
    ) -> Result<Vec<String>, StorageError> {
        let read = async move {
            let transaction = self.connection.begin(&[store], TransactionMode::ReadOnly)?;
            let store = transaction.object_store(store.name())?;
            let keys = store.get_all_keys(Some(everything_under(folder)?), None)?;
            Ok(keys.await?)
        };
        let keys = in_time(read).await?;
        Ok(keys.iter().filter_map(JsValue::as_string).collect())
    }

    /// Reads the records that the query finds, or all records without a query.
    fn read(
        &self,
        store: Store,
        query: Option<Query>,
    ) -> LocalBoxFuture<'_, Result<Vec<JsValue>, StorageError>> {
        let read = async move {
            let transaction = self.connection.begin(&[store], TransactionMode::ReadOnly)?;
            let store = transaction.object_store(store.name())?;
            Ok(store.get_all(query, None)?.await?)
        };
        in_time(read).boxed_local()
    }
}

/// Requests that records are put into their stores. Returns the request for the last one.
fn put_all(
    stores: &[(Store, ObjectStore)],
    records: &[(Store, String, JsValue)],
) -> Result<Option<PutStoreRequest>, Error> {
    let mut last = None;
    for (store, key, value) in records {
        for (_, object_store) in stores.iter().filter(|(other, _)| other == store) {
            last = Some(object_store.put(value, Some(&JsValue::from_str(key)))?);
        }
    }
    Ok(last)
}

/// Converts the error of a write. The error of a single request can't be read, so we assume that a failed put means that
/// storage is full.
fn write_error(error: Error) -> StorageError {
    match error {
        Error::UnexpectedJsType(..) => StorageError::Full,
        error => error.into(),
    }
}

/// Waits for the work. Returns an error after the timeout.
async fn in_time<T>(
    work: impl Future<Output = Result<T, StorageError>>,
) -> Result<T, StorageError> {
    match select(Box::pin(work), TimeoutFuture::new(TIMEOUT_MS)).await {
        Either::Left((result, _)) => result,
        Either::Right(_) => Err(StorageError::Silent),
    }
}

fn everything_under(key: &str) -> Result<Query, Error> {
    let from = JsValue::from_str(key);
    let to = match key.strip_suffix('/') {
        // `0` comes right after `/`.
        Some(folder) => format!("{folder}0"),
        None if key.is_empty() => "\u{ffff}".to_owned(),
        None => return Ok(from.into()),
    };
    let range = KeyRange::bound(&from, &JsValue::from_str(&to), None, Some(true))?;
    Ok(range.into())
}

/// Asks the browser not to evict the page's data when the device runs out of space. The browser may refuse.
pub fn ask_to_persist() {
    // On plain http, `storage` is undefined: the call then fails.
    let _ = window().navigator().storage().persist();
}

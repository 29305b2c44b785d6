//! Stores data in IndexedDB.
//!
//! [`Storage`] reads and writes tasks, batches and copies of outputs; [`tables`], [`thumbnails`] and [`replies`] have records
//! of their own form. [`database`] manages the connections of all.
//!
//! Records are stored as JSON text, not as JavaScript objects: a seed above 2^53 stays exact.
//! Transactions on one connection run in the order in which they are made, so writes of one record
//! cannot overtake each other; every writing function makes its transaction before it returns.

mod database;
mod error;
pub mod replies;
pub mod tables;
pub mod thumbnails;

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

/// The number of records that are put at a time, which takes some milliseconds. The next follow when these are put, in the
/// same transaction.
const MAX_CHUNK_PUTS: usize = 200;

/// Tasks, batches and copies of outputs, over an open connection.
pub struct Storage {
    connection: Rc<Connection>,
}

/// A write in progress; it ends when the transaction is complete.
///
/// Only the first of many records are put when it is returned. It must be polled in the same task, or the others are too
/// late for their transaction.
pub type Written = LocalBoxFuture<'static, Result<(), StorageError>>;

impl Storage {
    /// Opens the database, or uses the connection that the page has. `on_gone` is called once, when the connection has been
    /// taken away. May never return.
    ///
    /// # Errors
    ///
    /// The browser refuses storage, or a newer release has upgraded the database.
    pub async fn open(on_gone: impl FnOnce() + 'static) -> Result<Rc<Self>, StorageError> {
        let connection = Database::Records.connect().await?;
        connection.on_gone(on_gone);
        Ok(Rc::new(Self { connection }))
    }

    /// Opens a database of another name, for tests.
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

    /// Deletes records in one transaction; missing ones are no error. A key that ends in `/` deletes everything below it, like
    /// a folder; an empty key deletes the whole store.
    pub fn delete(&self, records: &[(Store, String)]) -> Written {
        self.change(records, &[])
    }

    /// Deletes some records and then writes others, in one transaction.
    pub fn change(
        &self,
        going: &[(Store, String)],
        coming: &[(Store, String, JsValue)],
    ) -> Written {
        let mut touched = Vec::new();
        let stores = going.iter().map(|(store, _)| *store);
        for store in stores.chain(coming.iter().map(|(store, ..)| *store)) {
            if !touched.contains(&store) {
                touched.push(store);
            }
        }
        let (now, later) = coming.split_at(coming.len().min(MAX_CHUNK_PUTS));
        let later = later.to_vec();
        let begun = (|| {
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
            for (store, key) in going {
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
            let Some((transaction, stores, mut last)) = begun? else {
                return Ok(());
            };
            for records in later.chunks(MAX_CHUNK_PUTS) {
                if let Some(last) = last.take() {
                    let is_put = in_time(async move { Ok(last.await.is_ok()) }).await?;
                    if !is_put {
                        break; // The transaction has the error.
                    }
                }
                last = put_all(&stores, records)?;
            }
            let ended = async move { transaction.await.map_err(of_write) };
            match in_time(ended).await? {
                TransactionResult::Committed => Ok(()),
                // The browser aborts a transaction when the disk or the quota is full.
                TransactionResult::Aborted => Err(StorageError::Full),
            }
        };
        written.boxed_local()
    }

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

/// Begins to put records into their stores. Returns the request for the last one.
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

/// Converts the error of a write. The error of a single request can't be read; a request to put a text fails because
/// storage is full.
fn of_write(error: Error) -> StorageError {
    match error {
        Error::UnexpectedJsType(..) => StorageError::Full,
        error => error.into(),
    }
}

/// Ends with an error after the timeout.
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

/// Asks the browser not to evict the stored data when it needs space. It may refuse.
pub fn ask_to_persist() {
    // Absent unless the page is https or localhost; the call fails then.
    let _ = window().navigator().storage().persist();
}

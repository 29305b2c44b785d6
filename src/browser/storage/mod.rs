//! IndexedDB: what must outlive the page.
//!
//! Records are kept as JSON text, not as JavaScript objects: a seed above 2^53 stays exact.
//! Transactions on one connection run in the order in which they are made, so writes of one record
//! cannot overtake each other; every writing function makes its transaction before it returns.

use std::cell::Cell;
use std::future::{Future, IntoFuture};
use std::rc::Rc;

use atelier_engine::recovery::{Failure, SUPERSEDED};
use futures::future::{Either, FutureExt, LocalBoxFuture, select};
use gloo_timers::future::TimeoutFuture;
use idb::request::PutStoreRequest;
use idb::{
    Database, Error, KeyRange, ObjectStore, ObjectStoreParams, Query, TransactionMode,
    TransactionResult,
};
use leptos::prelude::window;
use wasm_bindgen::{JsCast, JsValue};
use web_sys::DomException;

use crate::browser::connection::Connection;

const NAME: &str = "atelier";

/// Raised by one with each change of [`upgrade`], and where an older release must not lead any more.
const VERSION: u32 = 3;

/// How long a read or a write may take before it counts as refused: thousands of records on a busy
/// machine take a second or two.
const TIMEOUT_MS: u32 = 8_000;

/// Records that are put in one go, some milliseconds: more are put once these are, in the same
/// transaction.
const MAX_CHUNK_PUTS: usize = 200;

/// The kinds of records that are kept, each under a name of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Store {
    /// JSON of an engine task, by its key.
    Tasks,
    /// JSON of a batch, by its key.
    Batches,
    /// A copy of an output, as a blob, by `{task key}/{position}`; the file of an output that came as data, by
    /// [`atelier_engine::stored_output::key`].
    Outputs,
    /// JSON about a copy of an output, by the same key.
    OutputFacts,
}

impl Store {
    const ALL: [Self; 4] = [Self::Tasks, Self::Batches, Self::Outputs, Self::OutputFacts];

    fn name(self) -> &'static str {
        match self {
            Store::Tasks => "tasks",
            Store::Batches => "batches",
            Store::Outputs => "outputs",
            Store::OutputFacts => "output-facts",
        }
    }
}

/// The open database of what must outlive the page.
#[derive(Debug)]
pub struct Storage {
    connection: Connection,
}

/// Why something was not read or written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StorageError {
    /// The browser refuses: a private window, blocked by policy, or broken.
    Refused,
    /// No answer came in time.
    Silent,
    /// There is no room.
    Full,
    /// The connection is gone: site data was cleared, or a newer Atelier took over.
    Closed,
    /// A newer Atelier keeps its records in a way that this one does not know.
    Newer,
}

impl StorageError {
    const ALL: [Self; 5] = [
        Self::Refused,
        Self::Silent,
        Self::Full,
        Self::Closed,
        Self::Newer,
    ];

    /// Gives the word for it in messages between tabs.
    pub fn word(self) -> &'static str {
        match self {
            Self::Refused => "refused",
            Self::Silent => "silent",
            Self::Full => "full",
            Self::Closed => "closed",
            Self::Newer => "newer",
        }
    }

    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|error| error.word() == word)
    }

    /// Gives the reason for a person, as the middle of a sentence that begins with "This browser".
    pub fn reason(self) -> &'static str {
        match self {
            Self::Refused => "does not let Atelier keep anything",
            Self::Silent => "does not answer when Atelier wants to keep something",
            Self::Full => "has no room left for Atelier",
            Self::Closed => "has cleared what Atelier kept",
            Self::Newer => "keeps what a newer Atelier has written, and this one can't read",
        }
    }

    /// Tells a person what the error means for tasks.
    pub fn user_message(self) -> String {
        match self {
            Self::Newer => SUPERSEDED.into(),
            error => format!(
                "Tasks are not being kept: this browser {}. Those already sent go on, but closing this \
                 tab loses sight of them.",
                error.reason()
            ),
        }
    }
}

impl From<StorageError> for Failure {
    fn from(error: StorageError) -> Self {
        match error {
            StorageError::Full => Self::NoRoom,
            StorageError::Closed => Self::TakenAway,
            StorageError::Refused | StorageError::Silent | StorageError::Newer => {
                Self::NoConnection
            }
        }
    }
}

/// A write that has begun; await it to know that it is done.
///
/// Of many records only the first have been put when it is given: it has to be polled before the page
/// goes on to something else, or the others come too late for their transaction.
pub type Written = LocalBoxFuture<'static, Result<(), StorageError>>;

impl From<Error> for StorageError {
    /// The browsers' own words differ and tell a person nothing; the exception's name is all that tells what has
    /// happened.
    fn from(error: Error) -> Self {
        let exception = match error {
            Error::DomException(exception) => Some(exception),
            Error::IndexedDbOpenFailed(thrown)
            | Error::TransactionOpenFailed(thrown)
            | Error::TransactionCommitError(thrown)
            | Error::ObjectStoreNotFound(thrown)
            | Error::GetAllFailed(thrown)
            | Error::UpdateFailed(thrown)
            | Error::DeleteFailed(thrown) => thrown.dyn_into::<DomException>().ok(),
            _ => None,
        };
        match exception.map(|it| it.name()).as_deref() {
            Some("QuotaExceededError") => Self::Full,
            Some("VersionError") => Self::Newer,
            Some("InvalidStateError") => Self::Closed,
            _ => Self::Refused,
        }
    }
}

impl Storage {
    /// `on_gone` is called once, when the connection has been taken away. It may never answer; a
    /// future that is dropped leaves a connection behind that blocks others.
    ///
    /// # Errors
    ///
    /// The browser refuses storage, or a newer release keeps the tasks.
    pub async fn open(on_gone: impl FnOnce() + 'static) -> Result<Rc<Self>, StorageError> {
        Self::open_named(NAME, on_gone).await.map(Rc::new)
    }

    /// Opens a database of another name; tests do.
    ///
    /// # Errors
    ///
    /// As for [`Self::open`].
    pub async fn open_named(
        name: &str,
        on_gone: impl FnOnce() + 'static,
    ) -> Result<Self, StorageError> {
        let on_gone = Cell::new(Some(on_gone));
        let on_gone = move || {
            if let Some(on_gone) = on_gone.take() {
                on_gone();
            }
        };
        let connection =
            Connection::open(name, VERSION, Box::new(upgrade), Rc::new(on_gone)).await?;
        Ok(Self { connection })
    }

    /// Writes records in one transaction: all of them, or none.
    pub fn put(&self, records: &[(Store, String, JsValue)]) -> Written {
        self.change(&[], records)
    }

    /// Deletes records in one transaction; one that is not there is no error. As with folders, a
    /// key that ends in `/` means everything below it, and an empty one all there is.
    pub fn delete(&self, records: &[(Store, String)]) -> Written {
        self.change(records, &[])
    }

    /// Deletes some records and then writes others, in one transaction.
    pub fn change(
        &self,
        going: &[(Store, String)],
        coming: &[(Store, String, JsValue)],
    ) -> Written {
        let is_touched = |store: &Store| {
            going.iter().any(|(other, _)| other == store)
                || coming.iter().any(|(other, ..)| other == store)
        };
        let touched: Vec<Store> = Store::ALL.into_iter().filter(is_touched).collect();
        let names: Vec<&str> = touched.iter().map(|store| store.name()).collect();
        let (now, later) = coming.split_at(coming.len().min(MAX_CHUNK_PUTS));
        let later = later.to_vec();
        let begun = (|| {
            if names.is_empty() {
                return Ok(None);
            }
            let transaction = self.connection.begin(&names, TransactionMode::ReadWrite)?;
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
                // A committed transaction is written even if the page goes now. If it were left open and the browser
                // froze the page, it would block other tabs until the page is looked at.
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
                        break; // The transaction says why it failed.
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

    /// Every JSON text of a store.
    ///
    /// # Errors
    ///
    /// As for [`Storage::get`].
    pub async fn all_texts(&self, store: Store) -> Result<Vec<String>, StorageError> {
        let values = self.read(store, None).await?;
        Ok(values.iter().filter_map(JsValue::as_string).collect())
    }

    /// The keys of all records under a folder, which ends in `/`.
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
            let transaction = self
                .connection
                .begin(&[store.name()], TransactionMode::ReadOnly)?;
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
            let transaction = self
                .connection
                .begin(&[store.name()], TransactionMode::ReadOnly)?;
            let store = transaction.object_store(store.name())?;
            Ok(store.get_all(query, None)?.await?)
        };
        in_time(read).boxed_local()
    }
}

/// Begins to put records, each into its store; the request for the last one.
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

/// Why a write was refused. Where a request of it was, the error is not told in a way that can be
/// read, and what a request to put a text meets is a lack of room.
fn of_write(error: Error) -> StorageError {
    match error {
        Error::UnexpectedJsType(..) => StorageError::Full,
        error => error.into(),
    }
}

/// Gives up on what does not answer.
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

/// Asks the browser not to clear what is kept when it needs room for something else. It may refuse:
/// then things are as they were.
pub fn ask_to_persist() {
    // Absent where the page is neither https nor localhost; calling it fails then.
    let _ = window().navigator().storage().persist();
}

/// Brings a database of an older version up to [`VERSION`], one step after the other; what is
/// there already stays.
fn upgrade(database: &Database, old_version: u32) {
    let steps: [&[Store]; VERSION as usize] = [
        &[Store::Tasks],
        &[Store::Batches, Store::Outputs, Store::OutputFacts],
        // Earlier releases send tasks without their secret parameters.
        &[],
    ];
    for store in steps.iter().skip(old_version as usize).copied().flatten() {
        // It can only fail if the store exists, which is what is wanted.
        let _ = database.create_object_store(store.name(), ObjectStoreParams::new());
    }
}

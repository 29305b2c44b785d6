//! The IndexedDB databases of the page and its connections to them.
//!
//! Each page has one connection per database, which is opened when it is first needed. Caches are in separate databases:
//! Firefox and Safari run one write per database at a time, and a write to a cache must not delay the records of tasks.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use futures::channel::oneshot;
use futures::future::{Either, FutureExt, LocalBoxFuture, Shared, select};
use gloo_timers::future::TimeoutFuture;
use idb::{DatabaseEvent, Error, Factory, ObjectStoreParams, Transaction, TransactionMode};

use super::error::StorageError;
use crate::reactive::boxed::spawn;

/// The databases of the page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Database {
    /// Tasks, batches and copies of outputs. Once the version of this database is raised, tabs of older
    /// releases can't open it and no longer lead.
    Records,
    /// The tables in which batches are composed. A page of an older release may block an upgrade of
    /// [`Self::Records`], but not access to the tables.
    Tables,
    /// Thumbnails of outputs.
    Thumbnails,
    /// The last replies of services about their models.
    Replies,
}

impl Database {
    const COUNT: usize = 4;

    fn name(self) -> &'static str {
        match self {
            Self::Records => "atelier",
            Self::Tables => "atelier-drafts",
            Self::Thumbnails => "atelier-thumbnails",
            Self::Replies => "atelier-models",
        }
    }

    /// Returns the stores that each version has added. The number of entries is the current version.
    fn steps(self) -> &'static [&'static [Store]] {
        match self {
            Self::Records => &[
                &[Store::Tasks],
                &[Store::Batches, Store::Outputs, Store::OutputFacts],
                // Adds no store, but keeps older releases from opening the database: they submit tasks without their
                // secret parameters.
                &[],
            ],
            Self::Tables => &[&[Store::Tables]],
            Self::Thumbnails => &[&[Store::Thumbnails, Store::ThumbnailOrder]],
            Self::Replies => &[&[Store::Replies, Store::ReplyFacts]],
        }
    }

    /// Creates the stores that are missing in a database of an older version. Existing stores are not changed.
    fn upgrade(self, database: &idb::Database, old_version: u32) {
        for store in self
            .steps()
            .iter()
            .skip(old_version as usize)
            .copied()
            .flatten()
        {
            let mut params = ObjectStoreParams::new();
            params.auto_increment(*store == Store::ThumbnailOrder);
            // This can only fail if the store exists, which is fine.
            let _ = database.create_object_store(store.name(), params);
        }
    }
}

/// The kinds of records that are stored, each in a separate object store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Store {
    /// JSON of an engine task, by its key.
    Tasks,
    /// JSON of a batch, by its key.
    Batches,
    /// A copy of an output, as a blob, by `{task key}/{position}`; the file of an output that was sent as data, by
    /// [`atelier_engine::stored_output::key`].
    Outputs,
    /// JSON about a copy of an output, by the same key.
    OutputFacts,
    /// The table in which a batch is composed, by its model: see [`super::tables`].
    Tables,
    /// A small version of an output: see [`super::thumbnails`].
    Thumbnails,
    /// The names of the thumbnails, in the order in which they were stored.
    ThumbnailOrder,
    /// A reply of a service about its models, by its URL: see [`super::replies`].
    Replies,
    /// The time and size of such a reply, by the same key.
    ReplyFacts,
}

impl Store {
    pub fn name(self) -> &'static str {
        match self {
            Store::Tasks => "tasks",
            Store::Batches => "batches",
            Store::Outputs => "outputs",
            Store::OutputFacts => "output-facts",
            Store::Tables => "tables",
            Store::Thumbnails => "pictures",
            Store::ThumbnailOrder => "made",
            Store::Replies => "replies",
            Store::ReplyFacts => "facts",
        }
    }
}

type Callbacks = Vec<Box<dyn FnOnce()>>;

/// A connection to a database. It is closed when it is dropped, or as soon as another page upgrades or deletes the
/// database, which an open connection would block.
pub struct Connection {
    database: idb::Database,
    /// Called once, when the connection is closed by the browser or because of another page.
    on_gone: Rc<RefCell<Callbacks>>,
}

impl Drop for Connection {
    fn drop(&mut self) {
        // Dropping `idb::Database` does not close the connection.
        self.database.close();
    }
}

impl Connection {
    /// Opens a database under this name and creates the missing stores.
    ///
    /// The returned future may never complete, for example while an old page blocks the upgrade. If it is dropped, the
    /// browser may still open the connection, which is then never closed and blocks other pages.
    ///
    /// # Errors
    ///
    /// The browser refuses storage, or the database has a newer version.
    pub async fn open(database: Database, name: &str) -> Result<Rc<Self>, StorageError> {
        let version = database.steps().len() as u32;
        let mut request = Factory::new()?.open(name, Some(version))?;
        request.on_upgrade_needed(move |event| {
            if let Ok(opened) = event.database() {
                database.upgrade(&opened, event.old_version().unwrap_or(0));
            }
        });
        let mut database = request.await?;
        let on_gone = Rc::<RefCell<Callbacks>>::default();
        let report_gone = {
            let on_gone = on_gone.clone();
            move || {
                for act in on_gone.take() {
                    act();
                }
            }
        };
        let report_close = report_gone.clone();
        database.on_version_change(move |event| {
            if let Ok(database) = event.database() {
                database.close();
            }
            report_gone();
        });
        database.on_close(move |_| report_close());
        Ok(Rc::new(Self { database, on_gone }))
    }

    /// Calls back once, when the connection is closed because the user has cleared the site's data or a newer release
    /// upgrades the database.
    pub fn on_gone(&self, act: impl FnOnce() + 'static) {
        self.on_gone.borrow_mut().push(Box::new(act));
    }

    /// Begins a transaction on these stores.
    ///
    /// # Errors
    ///
    /// The browser has closed the connection without firing an event.
    pub fn begin(&self, stores: &[Store], mode: TransactionMode) -> Result<Transaction, Error> {
        let names: Vec<&str> = stores.iter().map(|store| store.name()).collect();
        self.database.transaction(&names, mode)
    }
}

type Opening = Shared<LocalBoxFuture<'static, Result<Rc<Connection>, StorageError>>>;

thread_local! {
    /// The connections of this page, open or being opened. A pending request to open a database is reused: another
    /// request would only queue behind it.
    static OPENINGS: RefCell<[Option<Opening>; Database::COUNT]> = const { RefCell::new([const { None }; _]) };
    static ON_GONE: Cell<fn()> = const { Cell::new(|| ()) };
}

/// Sets the callback for the end of each connection to the tables: the tables may have been deleted.
pub fn on_tables_gone(act: fn()) {
    ON_GONE.set(act);
}

impl Database {
    /// Returns the connection of this page, and opens it if there is none. The returned future may never complete.
    ///
    /// # Errors
    ///
    /// As for [`Connection::open`]; the next call tries again.
    pub async fn connect(self) -> Result<Rc<Connection>, StorageError> {
        let opening = OPENINGS.with_borrow_mut(|openings| {
            let begin = || {
                let opening = self.open().boxed_local().shared();
                // The request is completed even if all callers stop waiting.
                let end = opening.clone();
                spawn(async move {
                    if end.await.is_err() {
                        self.forget();
                    }
                });
                opening
            };
            openings[self as usize].get_or_insert_with(begin).clone()
        });
        opening.await
    }

    async fn open(self) -> Result<Rc<Connection>, StorageError> {
        let connection = Connection::open(self, self.name()).await?;
        connection.on_gone(move || {
            self.forget();
            if self == Self::Tables {
                // Deferred until the browser has completed the upgrade or deletion that the connection blocked.
                spawn(async { ON_GONE.get()() });
            }
        });
        Ok(connection)
    }

    fn forget(self) {
        OPENINGS.with_borrow_mut(|openings| openings[self as usize] = None);
    }

    /// Returns the connection of this page if it is open.
    pub fn connected(self) -> Option<Rc<Connection>> {
        let opening = OPENINGS.with_borrow(|openings| openings[self as usize].clone())?;
        opening.peek()?.as_ref().ok().cloned()
    }

    /// Discards a connection that no longer works, so that the next caller opens another one.
    pub fn discard(self, connection: &Rc<Connection>) {
        if self
            .connected()
            .is_some_and(|current| Rc::ptr_eq(&current, connection))
        {
            self.forget();
        }
    }

    /// Begins a transaction on the connection of this page. The returned future may never complete: see
    /// [`Self::connect`].
    ///
    /// # Errors
    ///
    /// The database can't be opened.
    pub async fn begin(
        self,
        stores: &[Store],
        mode: TransactionMode,
    ) -> Result<Transaction, StorageError> {
        let connection = self.connect().await?;
        if let Ok(transaction) = connection.begin(stores, mode) {
            return Ok(transaction);
        }
        self.discard(&connection);
        Ok(self.connect().await?.begin(stores, mode)?)
    }
}

/// Waits for the work for at most `timeout_ms` milliseconds. After the timeout, the work continues: if it were dropped, the
/// browser would invoke a callback that no longer exists.
///
/// # Errors
///
/// The error of the work, or [`StorageError::Silent`] after the timeout.
pub async fn in_time<T: 'static>(
    timeout_ms: u32,
    work: impl Future<Output = Result<T, StorageError>> + 'static,
) -> Result<T, StorageError> {
    let (answer, answered) = oneshot::channel();
    spawn(async move {
        // Fails if the caller has stopped waiting.
        let _ = answer.send(work.await);
    });
    match select(answered, TimeoutFuture::new(timeout_ms)).await {
        Either::Left((Ok(done), _)) => done,
        Either::Left((Err(_), _)) | Either::Right(_) => Err(StorageError::Silent),
    }
}

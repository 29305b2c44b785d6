//! The IndexedDB databases of the page and its connections to them.
//!
//! Each page has one connection per database, which is opened when it is first needed. What can't be made again, and what can,
//! are in databases of their own: Firefox and Safari run one write per database at a time, and a cache must not hold up
//! the records of tasks.

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
    /// Tasks, batches and copies of outputs. An older release must no longer lead after its version was raised.
    Records,
    /// The tables in which batches are composed. A page of another release that has [`Self::Records`] open does not block them.
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

    /// The stores that each version has added; their number is the version.
    fn steps(self) -> &'static [&'static [Store]] {
        match self {
            Self::Records => &[
                &[Store::Tasks],
                &[Store::Batches, Store::Outputs, Store::OutputFacts],
                // Releases before this version submit tasks without their secret parameters.
                &[],
            ],
            Self::Tables => &[&[Store::Tables]],
            Self::Thumbnails => &[&[Store::Thumbnails, Store::ThumbnailOrder]],
            Self::Replies => &[&[Store::Replies, Store::ReplyFacts]],
        }
    }

    /// Creates the stores that a database of an older version lacks; existing stores are not changed.
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

/// The kinds of records that are stored, each in an object store of its own.
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
    /// The names of thumbnails, in the order in which they were made.
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

/// An open database. It is closed when this is dropped, or as soon as another page wants to upgrade or delete the
/// database: it would block that page.
pub struct Connection {
    database: idb::Database,
    /// Called once, when the browser or another page has closed the connection.
    on_gone: Rc<RefCell<Callbacks>>,
}

impl Drop for Connection {
    fn drop(&mut self) {
        // The library's own handle stays open when it is dropped.
        self.database.close();
    }
}

impl Connection {
    /// Opens a database under this name and creates the stores that it lacks.
    ///
    /// This may never return, for example while an old page blocks the upgrade. Dropping the future leaves a
    /// connection behind that blocks others.
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

    /// Calls back once, when the connection has been taken away: the user has cleared the site's data, or a newer
    /// release upgrades the database.
    pub fn on_gone(&self, act: impl FnOnce() + 'static) {
        self.on_gone.borrow_mut().push(Box::new(act));
    }

    /// Begins a transaction on these stores.
    ///
    /// # Errors
    ///
    /// The browser has closed the connection without an event.
    pub fn begin(&self, stores: &[Store], mode: TransactionMode) -> Result<Transaction, Error> {
        let names: Vec<&str> = stores.iter().map(|store| store.name()).collect();
        self.database.transaction(&names, mode)
    }
}

type Opening = Shared<LocalBoxFuture<'static, Result<Rc<Connection>, StorageError>>>;

thread_local! {
    /// The connections of this page. An opening that is not answered goes on: another one would only queue behind it.
    static OPENINGS: RefCell<[Option<Opening>; Database::COUNT]> = const { RefCell::new([const { None }; _]) };
    static ON_GONE: Cell<fn()> = const { Cell::new(|| ()) };
}

/// Sets what is called whenever the connection to the tables has been taken away, because they may be gone with it.
pub fn on_tables_gone(act: fn()) {
    ON_GONE.set(act);
}

impl Database {
    /// Returns the connection of this page, and opens it if there is none. May never return.
    ///
    /// # Errors
    ///
    /// As for [`Connection::open`]; the next call tries again.
    pub async fn connect(self) -> Result<Rc<Connection>, StorageError> {
        let opening = OPENINGS.with_borrow_mut(|openings| {
            let begin = || {
                let opening = self.open().boxed_local().shared();
                // It is carried out to its end even if no caller waits that long.
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
                // Not before the browser has done what the connection blocked.
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

    /// Begins a transaction over the connection of this page. May never return, as [`Self::connect`].
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

/// Waits for this work for so many milliseconds. It is carried out to its end in any case: the browser calls back
/// what has made a request, so a dropped request would be an error of the page.
///
/// # Errors
///
/// The work's own, and [`StorageError::Silent`] if it takes longer.
pub async fn in_time<T: 'static>(
    timeout_ms: u32,
    work: impl Future<Output = Result<T, StorageError>> + 'static,
) -> Result<T, StorageError> {
    let (answer, answered) = oneshot::channel();
    spawn(async move {
        // The receiver is gone if it was too late.
        let _ = answer.send(work.await);
    });
    match select(answered, TimeoutFuture::new(timeout_ms)).await {
        Either::Left((Ok(done), _)) => done,
        Either::Left((Err(_), _)) | Either::Right(_) => Err(StorageError::Silent),
    }
}

//! IndexedDB: a database of its own for what can be had again.
//!
//! Nothing is lost with it: where it can't be had, or does not answer, there is nothing in it. It takes no room
//! from what can't be made again, and holds nothing up.

use std::cell::RefCell;
use std::rc::Rc;

use futures::channel::oneshot;
use futures::future::{Either, FutureExt, LocalBoxFuture, Shared, select};
use gloo_timers::future::TimeoutFuture;
use idb::{Database, DatabaseEvent, Factory, Transaction, TransactionMode};

use crate::boxed::spawn;
use crate::browser::storage::StorageError;

const VERSION: u32 = 1;

/// Does this to its end, and waits for that so long; what does not answer by then never does.
///
/// The browser calls back whoever has asked it: what was dropped meanwhile would be an error of the page.
///
/// # Errors
/// The work's own, and [`StorageError::Silent`] if it takes longer.
pub async fn in_time<T: 'static>(
    timeout_ms: u32,
    work: impl Future<Output = Result<T, StorageError>> + 'static,
) -> Result<T, StorageError> {
    let (answer, answered) = oneshot::channel();
    spawn(async move {
        let _ = answer.send(work.await);
    });
    match select(answered, TimeoutFuture::new(timeout_ms)).await {
        Either::Left((Ok(done), _)) => done,
        Either::Left((Err(_), _)) | Either::Right(_) => Err(StorageError::Silent),
    }
}

/// An open database. That of the library stays open when it is dropped.
struct Connection {
    database: Database,
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.database.close();
    }
}

type Opening = Shared<LocalBoxFuture<'static, Option<Rc<Connection>>>>;

/// One connection of this page, opened when it is first needed.
#[derive(Clone)]
pub struct Expendable {
    name: &'static str,
    /// Makes its stores. It can only fail if they exist, which is what is wanted.
    make_stores: fn(&Database),
    opening: Rc<RefCell<Option<Opening>>>,
}

impl Expendable {
    pub fn new(name: &'static str, make_stores: fn(&Database)) -> Self {
        Self {
            name,
            make_stores,
            opening: Rc::default(),
        }
    }

    /// Begins a transaction on these stores.
    ///
    /// # Errors
    /// If nothing can be kept here.
    pub async fn begin(
        &self,
        stores: &[&str],
        mode: TransactionMode,
    ) -> Result<Transaction, StorageError> {
        let connection = self.connection().await.ok_or(StorageError::Refused)?;
        let transaction = connection.database.transaction(stores, mode);
        if transaction.is_err() {
            // The browser has closed it without a word: the next one opens it anew.
            self.opening.take();
        }
        Ok(transaction?)
    }

    fn connection(&self) -> Opening {
        let begin = || {
            let this = self.clone();
            let opening = async move { this.open().await.ok() };
            let opening = opening.boxed_local().shared();
            // To its end, though nobody may wait so long.
            spawn(opening.clone().map(drop));
            opening
        };
        self.opening.borrow_mut().get_or_insert_with(begin).clone()
    }

    async fn open(self) -> Result<Rc<Connection>, StorageError> {
        let mut request = Factory::new()?.open(self.name, Some(VERSION))?;
        let make_stores = self.make_stores;
        request.on_upgrade_needed(move |event| {
            if let Ok(database) = event.database() {
                make_stores(&database);
            }
        });
        let mut database = request.await?;
        let opening = self.opening.clone();
        database.on_version_change(move |_| drop(opening.take()));
        let opening = self.opening;
        database.on_close(move |_| drop(opening.take()));
        Ok(Rc::new(Connection { database }))
    }
}

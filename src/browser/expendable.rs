//! IndexedDB: a database of its own for what can be had again.
//!
//! Nothing is lost with it: where it can't be had, or does not answer, there is nothing in it. It takes no room
//! from what can't be made again, and holds nothing up.

use std::cell::RefCell;
use std::rc::Rc;

use futures::channel::oneshot;
use futures::future::{Either, FutureExt, LocalBoxFuture, Shared, select};
use gloo_timers::future::TimeoutFuture;
use idb::{Database, Transaction, TransactionMode};

use crate::boxed::spawn;
use crate::browser::connection::Connection;
use crate::browser::storage::StorageError;

const VERSION: u32 = 1;

/// Does this to its end, and waits for that so long; what does not answer by then never does.
///
/// The browser calls back what has asked it: what was dropped meanwhile would be an error of the page.
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
        let transaction = connection.begin(stores, mode);
        if transaction.is_err() {
            // The browser has closed it without an event: the next caller opens it again.
            self.opening.take();
        }
        Ok(transaction?)
    }

    fn connection(&self) -> Opening {
        let begin = || {
            let this = self.clone();
            let opening = async move { this.open().await.ok() };
            let opening = opening.boxed_local().shared();
            // The opening is carried out to its end, though nothing may wait for it so long.
            spawn(opening.clone().map(drop));
            opening
        };
        self.opening.borrow_mut().get_or_insert_with(begin).clone()
    }

    async fn open(self) -> Result<Rc<Connection>, StorageError> {
        let make_stores = self.make_stores;
        let opening = self.opening;
        let connection = Connection::open(
            self.name,
            VERSION,
            Box::new(move |database, _| make_stores(database)),
            Rc::new(move || drop(opening.take())),
        );
        Ok(Rc::new(connection.await?))
    }
}

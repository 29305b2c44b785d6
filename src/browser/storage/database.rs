//! IndexedDB: a connection to a database, which is closed where others need that.

use std::rc::Rc;

use idb::{Database, DatabaseEvent, Error, Factory, Transaction, TransactionMode};

/// An open database. The library's own stays open when it is dropped, and would hold up a page that wants to upgrade or
/// delete the database.
#[derive(Debug)]
pub struct Connection(Database);

impl Drop for Connection {
    fn drop(&mut self) {
        self.0.close();
    }
}

/// Brings a database up to date, given the version that it has.
type Upgrade = Box<dyn Fn(&Database, u32)>;

impl Connection {
    /// Opens the database of this name. `upgrade` gets it and the version that it has, 0 if it is new, where that is
    /// older. `on_gone` is called when the connection has been taken away.
    ///
    /// This may never answer. A future that is dropped leaves a connection behind that blocks others.
    ///
    /// # Errors
    ///
    /// The browser refuses storage, or the database has a newer version.
    pub async fn open(
        name: &str,
        version: u32,
        upgrade: Upgrade,
        on_gone: Rc<dyn Fn()>,
    ) -> Result<Self, Error> {
        let mut request = Factory::new()?.open(name, Some(version))?;
        request.on_upgrade_needed(move |event| {
            if let Ok(database) = event.database() {
                upgrade(&database, event.old_version().unwrap_or(0));
            }
        });
        let mut database = request.await?;
        let on_close = on_gone.clone();
        // A newer Atelier in another tab wants to upgrade, or a page deletes the database: give way instead of
        // blocking it.
        database.on_version_change(move |event| {
            if let Ok(database) = event.database() {
                database.close();
            }
            on_gone();
        });
        database.on_close(move |_| on_close());
        Ok(Self(database))
    }

    /// Begins a transaction on these stores.
    ///
    /// # Errors
    ///
    /// The browser has closed the connection without a word.
    pub fn begin(&self, stores: &[&str], mode: TransactionMode) -> Result<Transaction, Error> {
        self.0.transaction(stores, mode)
    }
}

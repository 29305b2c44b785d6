//! Chooses where tasks, accounts and outputs are stored: on this machine, or, with the feature `cluster`, in a
//! database and a bucket that several processes share.

use std::sync::Arc;

use atelier_contract::ModelId;

use crate::accounts::{AccountError, Accounts};
#[cfg(feature = "cluster")]
use crate::cluster as shared;
use crate::config::{Config, Role};
use crate::limit::Limit;
#[cfg(not(feature = "cluster"))]
use crate::no_cluster as shared;
use crate::outputs::Outputs;
use crate::private;
use crate::start_error::StartError;
use crate::store::sqlite::Sqlite;
use crate::store::{Store, StoreError};
use crate::webhooks::secret;
use crate::worker::SharedQueue;
use shared::Database;

/// The store of a service, and its shared database, if any.
pub struct Backend {
    pub store: Arc<dyn Store>,
    /// `None` if the tasks are in SQLite.
    database: Option<Database>,
}

impl Backend {
    /// Opens the database of `--database`, or the file in the data directory.
    ///
    /// # Errors
    ///
    /// [`StartError::Database`], [`StartError::Cluster`] or [`StartError::Store`] if it can't be opened,
    /// [`StartError::Role`] if the role needs a shared database.
    pub fn open(config: &Config) -> Result<Self, StartError> {
        if let Some(url) = &config.database {
            let database = Database::open(url)?;
            return Ok(Self {
                store: database.store(),
                database: Some(database),
            });
        }
        if config.role != Role::Both {
            return Err(StartError::Role);
        }
        let opened = Sqlite::open(&config.data.join("tasks.sqlite"));
        Ok(Self {
            store: Arc::new(opened.map_err(|error| store_error(config, error))?),
            database: None,
        })
    }

    /// Returns the accounts. They are in the shared database, or in the data directory.
    pub fn accounts(&self, config: &Config) -> Accounts {
        match &self.database {
            Some(database) => database.accounts(),
            None => Accounts::of(&config.data),
        }
    }

    /// Limits calls to `rate` a second, across all processes.
    pub fn limit(&self, rate: f64) -> Limit {
        match &self.database {
            Some(database) => database.limit(rate),
            None => Limit::new(rate),
        }
    }

    /// Returns the secret that this service has created for its webhooks, and creates it if it is missing. It is in the
    /// shared database, or in the data directory.
    ///
    /// # Errors
    ///
    /// It can't be read or created.
    pub fn webhook_secret(&self, config: &Config) -> Result<String, StartError> {
        match &self.database {
            Some(database) => database.webhook_secret(),
            // This process has locked the database, so no other one creates the file at the same time.
            None => secret::in_directory(&config.data)
                .map_err(|error| StartError::Data(config.data.clone(), error)),
        }
    }

    /// Opens the shared queue, if there is one, with a lane for each of these models.
    ///
    /// # Errors
    ///
    /// The queue's tables can't be created.
    pub fn queue(&self, remotes: Vec<ModelId>) -> Result<Option<Box<dyn SharedQueue>>, StoreError> {
        let database = self.database.as_ref();
        database.map(|database| database.queue(remotes)).transpose()
    }
}

/// Converts an error of the store to a start error, with the path of the file if it is SQLite.
pub fn store_error(config: &Config, error: StoreError) -> StartError {
    match &config.database {
        Some(_) => StartError::Database(error),
        None => StartError::Store(config.data.join("tasks.sqlite"), error),
    }
}

/// Opens the folder of the outputs, or their bucket.
///
/// # Errors
///
/// [`StartError::Data`], [`StartError::Outputs`] or [`StartError::Cluster`] if they can't be opened.
pub fn outputs(config: &Config) -> Result<Outputs, StartError> {
    let Some(folder) = config.outputs_folder() else {
        return shared::outputs(config);
    };
    let error = |error| StartError::Data(folder.clone(), error);
    private::make_dir(&folder).map_err(error)?;
    Outputs::open(folder.clone()).map_err(error)
}

/// Opens the accounts for a command that runs outside the service's process.
///
/// # Errors
///
/// The database can't be opened.
pub fn open_accounts(config: &Config) -> Result<Accounts, AccountError> {
    match &config.database {
        Some(url) => shared::open_accounts(url),
        None => Ok(Accounts::of(&config.data)),
    }
}

/// As [`open_accounts`], but creates no tables: for reading accounts and changing existing ones.
///
/// # Errors
///
/// As for [`open_accounts`].
pub fn open_existing_accounts(config: &Config) -> Result<Accounts, AccountError> {
    match &config.database {
        Some(url) => shared::open_existing_accounts(url),
        None => Ok(Accounts::of(&config.data)),
    }
}

/// As [`Backend::webhook_secret`], for a command that runs outside the service's process. Does not create the secret in the
/// data directory.
///
/// # Errors
///
/// As for [`Backend::webhook_secret`]; also if the database can't be opened, or if there is no secret in the data directory.
pub fn webhook_secret(config: &Config) -> Result<String, StartError> {
    if let Some(url) = &config.database {
        return Database::open(url)?.webhook_secret();
    }
    let stored = secret::stored(&config.data);
    let stored = stored.map_err(|error| StartError::Data(config.data.clone(), error))?;
    stored.ok_or_else(|| StartError::NoWebhookSecret(config.data.join(secret::FILE)))
}

/// Checks that the bucket of the outputs can be written.
///
/// # Errors
///
/// [`StartError::Outputs`] or [`StartError::Cluster`] if it can't.
pub fn probe_bucket(config: &Config) -> Result<(), StartError> {
    shared::probe_outputs(config)
}

/// Checks that the database is reachable and accepts these credentials. Returns its name and version.
///
/// # Errors
///
/// A message for the operator.
pub fn probe_database(url: &str) -> Result<String, String> {
    Database::probe(url)
}

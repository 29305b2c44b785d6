//! Data that several processes of the service share: tasks, accounts and a queue in PostgreSQL, and outputs in a
//! bucket. Each part implements the same trait as its counterpart for a single process; [`crate::backend`] chooses.

mod accounts;
mod attempts;
pub mod bucket;
mod client_runtime;
mod error;
mod postgres;
mod queue;

use std::sync::Arc;

use atelier_contract::ModelId;

use crate::accounts::{AccountError, Accounts};
use crate::config::Config;
use crate::limit::Limit;
use crate::outputs::Outputs;
use crate::start_error::StartError;
use crate::store::{Store, StoreError};
use crate::webhooks::secret;
use crate::worker::SharedQueue;
use accounts::PostgresAccounts;
use bucket::{Bucket, BucketError};
use postgres::{Postgres, webhook_secret};
use queue::JobQueue;

/// The database that processes share.
pub struct Database(Postgres);

impl Database {
    /// Connects to the database, and creates or migrates its tables.
    ///
    /// # Errors
    ///
    /// [`StartError::Database`] if it can't be reached, or its tables can't be created or migrated.
    pub fn open(url: &str) -> Result<Self, StartError> {
        let opened = Postgres::open(url).map_err(StartError::Database)?;
        Ok(Self(opened))
    }

    /// Checks that the database is reachable and accepts these credentials. Returns its name and version.
    ///
    /// # Errors
    ///
    /// A message for the operator.
    pub fn probe(url: &str) -> Result<String, String> {
        match Postgres::probe(url) {
            Ok(version) => Ok(format!("PostgreSQL {version}")),
            Err(problem) => Err(format!(
                "{problem}; is it running, and are address, user, password and name right?"
            )),
        }
    }

    pub fn store(&self) -> Arc<dyn Store> {
        Arc::new(self.0.clone())
    }

    pub fn accounts(&self) -> Accounts {
        Accounts::with_store(PostgresAccounts::new(self.0.clone()))
    }

    pub fn limit(&self, rate: f64) -> Limit {
        Limit::shared(rate, self.0.clone())
    }

    /// Returns the secret that one of the processes has created for webhooks, and creates it if it is missing.
    ///
    /// # Errors
    ///
    /// [`StartError::Database`] if the database can't be read or written, [`StartError::Serve`] without random numbers.
    pub fn webhook_secret(&self) -> Result<String, StartError> {
        let new = secret::generate().map_err(StartError::Serve)?;
        webhook_secret(&self.0, &new).map_err(StartError::Database)
    }

    /// Opens the queue, with a lane for each of these models.
    ///
    /// # Errors
    ///
    /// [`StoreError::Queue`] if the queue's tables can't be created.
    pub fn queue(&self, remotes: Vec<ModelId>) -> Result<Box<dyn SharedQueue>, StoreError> {
        Ok(Box::new(JobQueue::open(self.0.clone(), remotes)?))
    }
}

/// Opens the accounts in this database, and creates or migrates its tables.
///
/// # Errors
///
/// The database can't be reached, or its tables can't be created or migrated.
pub fn open_accounts(url: &str) -> Result<Accounts, AccountError> {
    Ok(Accounts::with_store(PostgresAccounts::new(Postgres::open(
        url,
    )?)))
}

/// Opens the accounts in this database without creating missing tables.
///
/// # Errors
///
/// The database can't be reached.
pub fn open_existing_accounts(url: &str) -> Result<Accounts, AccountError> {
    Ok(Accounts::with_store(PostgresAccounts::new(
        Postgres::connect(url)?,
    )))
}

/// Opens the bucket of the outputs.
///
/// # Errors
///
/// As for [`probe_outputs`].
pub fn outputs(config: &Config) -> Result<Outputs, StartError> {
    let bucket = bucket(config).map_err(unusable)?;
    bucket.probe().map_err(unusable)?;
    Ok(Outputs::with_store(bucket))
}

/// Checks that the bucket can be written.
///
/// # Errors
///
/// [`StartError::Outputs`] if `--outputs` is not the address of a bucket, or the bucket can't be written.
pub fn probe_outputs(config: &Config) -> Result<(), StartError> {
    let probed = bucket(config).and_then(|bucket| bucket.probe());
    probed.map_err(unusable)
}

fn bucket(config: &Config) -> Result<Bucket, BucketError> {
    let address = config.outputs.as_deref().unwrap_or_default();
    Bucket::at(address, config.data.join("copies"))
}

fn unusable(error: BucketError) -> StartError {
    StartError::Outputs(error.into())
}

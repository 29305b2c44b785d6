//! Replaces the module `cluster` in builds without that feature: every function returns an error.

use std::convert::Infallible;
use std::sync::Arc;

use atelier_contract::ModelId;

use crate::accounts::{AccountError, Accounts};
use crate::config::Config;
use crate::limit::Limit;
use crate::outputs::Outputs;
use crate::start_error::StartError;
use crate::store::{Store, StoreError};
use crate::worker::SharedQueue;

const DATABASE: StartError = StartError::Cluster("PostgreSQL");
const BUCKET: StartError = StartError::Cluster("buckets");

pub struct Database(Infallible);

impl Database {
    pub fn open(_url: &str) -> Result<Self, StartError> {
        Err(DATABASE)
    }

    pub fn probe(_url: &str) -> Result<String, String> {
        Err(DATABASE.to_string())
    }

    pub fn store(&self) -> Arc<dyn Store> {
        match self.0 {}
    }

    pub fn accounts(&self) -> Accounts {
        match self.0 {}
    }

    pub fn limit(&self, _rate: f64) -> Limit {
        match self.0 {}
    }

    pub fn webhook_secret(&self) -> Result<String, StartError> {
        match self.0 {}
    }

    pub fn queue(&self, _remotes: Vec<ModelId>) -> Result<Box<dyn SharedQueue>, StoreError> {
        match self.0 {}
    }
}

pub fn open_accounts(_url: &str) -> Result<Accounts, AccountError> {
    Err(AccountError::Cluster)
}

pub fn open_existing_accounts(_url: &str) -> Result<Accounts, AccountError> {
    Err(AccountError::Cluster)
}

pub fn outputs(_config: &Config) -> Result<Outputs, StartError> {
    Err(BUCKET)
}

pub fn probe_outputs(_config: &Config) -> Result<(), StartError> {
    Err(BUCKET)
}

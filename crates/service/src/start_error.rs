//! Why the service can't start.

use std::error::Error;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

use crate::accounts::AccountError;
use crate::model_file::ModelFileError;
use crate::store::StoreError;
use crate::webhooks::secret::SecretError;

#[derive(Debug, thiserror::Error)]
pub enum StartError {
    #[error("can't listen on {0}: {1}")]
    Listen(SocketAddr, io::Error),
    #[error("can't use the data directory {0}: {1}")]
    Data(PathBuf, io::Error),
    #[error("can't open {0}: {1} (is another service using it?)")]
    Store(PathBuf, StoreError),
    #[error(transparent)]
    Models(#[from] ModelFileError),
    #[error(
        "{0} is reachable from other machines, so clients need a token. Add an account (atelier-service account add NAME), \
         or set --token"
    )]
    Open(SocketAddr),
    #[error("the metrics at {0} are reachable from other machines: set --metrics-token")]
    OpenMetrics(SocketAddr),
    #[error("--token can't be combined with accounts; remove it")]
    Token,
    #[error(transparent)]
    Accounts(#[from] AccountError),
    #[error("can't use --database: {0}")]
    Database(StoreError),
    #[error("processes that only serve or only work share their tasks: set --database")]
    Role,
    #[error("this build does not support {0}; build it with --features cluster")]
    Cluster(&'static str),
    #[error(transparent)]
    Outputs(Box<dyn Error + Send + Sync>),
    #[error("there is no index.html in {0}; build the front-end first")]
    Site(PathBuf),
    #[error("can't use the secret of webhooks: {0}")]
    WebhookSecret(SecretError),
    #[error("there is no {0}; start the service with --webhooks first")]
    NoWebhookSecret(PathBuf),
    #[error("serving failed: {0}")]
    Serve(io::Error),
}

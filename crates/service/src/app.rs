//! Puts the parts together and runs them.

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use thiserror::Error;
use tokio::net::TcpListener;

use crate::access::Access;
use crate::accounts::Accounts;
use crate::config::Config;
use crate::connections::{self, Bounds};
use crate::limit::Limit;
use crate::model_file::{self, Loaded, ModelFileError};
use crate::models::Models;
use crate::outputs::Outputs;
use crate::private;
use crate::routes;
use crate::runner::watch::watch;
use crate::sample::Samples;
use crate::site::Site;
use crate::store::{Store, StoreError};
use crate::worker::{Pool, WorkerContext};

#[derive(Debug, Error)]
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
        "{0} is in reach of others: they need a token. Add an account (atelier-service account add NAME), \
         or give --token"
    )]
    Open(SocketAddr),
    #[error("there are accounts, and a --token beside them would be nobody's: leave it away")]
    Token,
    #[error("there is no index.html in {0}; build the front-end first")]
    Site(PathBuf),
    #[error("serving failed: {0}")]
    Serve(io::Error),
}

/// What every request handler can reach.
pub struct App {
    pub store: Arc<Store>,
    pub models: Arc<Models>,
    pub outputs: Arc<Outputs>,
    pub pool: Pool,
    pub samples: Samples,
    pub limit: Option<Limit>,
    pub site: Option<Site>,
    pub token: Option<String>,
    pub accounts: Accounts,
    pub access: Arc<Access>,
    pub latency: Duration,
}

impl App {
    /// Opens the data directory and starts the workers.
    pub fn start(config: &Config) -> Result<Self, StartError> {
        let token = config.token.clone().filter(|token| !token.is_empty());
        let accounts = Accounts::of(&config.data);
        if accounts.are_there() && token.is_some() {
            return Err(StartError::Token);
        }
        if !config.listen.ip().is_loopback() && !accounts.are_there() && token.is_none() {
            return Err(StartError::Open(config.listen));
        }
        let data_error = |error| StartError::Data(config.data.clone(), error);
        private::make_dir(&config.data).map_err(data_error)?;
        let outputs = config.data.join("outputs");
        private::make_dir(&outputs).map_err(data_error)?;
        private::close(&config.data).map_err(data_error)?;
        let outputs = Arc::new(Outputs::open(outputs).map_err(data_error)?);
        let database = config.data.join("tasks.sqlite");
        let store_error = |error| StartError::Store(database.clone(), error);
        let store = Arc::new(Store::open(&database).map_err(store_error)?);
        let loaded = match &config.models {
            Some(file) => model_file::load(file, &config.data)?,
            None => Loaded::default(),
        };
        let mut models = if loaded.builtin {
            Models::built_in()
        } else {
            Models::none()
        };
        models.add(&loaded.remotes);
        let models = Arc::new(models);
        let context = WorkerContext {
            store: store.clone(),
            models: models.clone(),
            outputs: outputs.clone(),
            speed: config.speed,
        };
        let site = match &config.site {
            Some(dir) if !dir.join("index.html").is_file() => {
                return Err(StartError::Site(dir.clone()));
            }
            Some(dir) => Some(Site::new(dir)),
            None => None,
        };
        let pool = Pool::start(
            context,
            config.worker_count(),
            &loaded.remotes,
            config.bounds(),
        );
        let pool = pool.map_err(store_error)?;
        watch(&loaded.remotes, pool.stopping());
        Ok(Self {
            pool,
            samples: Samples::new(models.clone(), outputs.clone()),
            store,
            models,
            outputs,
            limit: config.rate.map(Limit::new),
            site,
            token,
            accounts,
            access: Arc::new(Access::new(config)),
            latency: config.latency,
        })
    }
}

/// Runs the service on `listener` until `stop` ends. Tasks under way are then left for the next
/// start.
pub async fn serve(
    config: Config,
    listener: TcpListener,
    stop: impl Future<Output = ()>,
) -> Result<(), StartError> {
    let app = Arc::new(App::start(&config)?);
    let bounds = Bounds::new(config.idle, config.worker_count());
    connections::serve(listener, routes::router(app.clone()), bounds, stop).await;
    tokio::task::spawn_blocking(move || app.pool.stop())
        .await
        .map_err(|error| StartError::Serve(io::Error::other(error)))
}

//! Puts the parts together and runs them.

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use thiserror::Error;
use tokio::net::TcpListener;

use crate::config::Config;
use crate::limit::Limit;
use crate::models::Models;
use crate::outputs::Outputs;
use crate::routes;
use crate::sample::Samples;
use crate::site::Site;
use crate::store::{Store, StoreError};
use crate::worker::{Pool, Workshop};

/// After a request to stop, open connections have this long to end.
const GRACE: Duration = Duration::from_secs(3);

#[derive(Debug, Error)]
pub enum StartError {
    #[error("can't listen on {0}: {1}")]
    Listen(SocketAddr, io::Error),
    #[error("can't use the data directory {0}: {1}")]
    Data(PathBuf, io::Error),
    #[error("can't open {0}: {1} (is another service using it?)")]
    Store(PathBuf, StoreError),
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
    pub public_url: Option<String>,
    pub latency: Duration,
}

impl App {
    /// Opens the data directory and starts the workers.
    pub fn start(config: &Config) -> Result<Self, StartError> {
        let data_error = |error| StartError::Data(config.data.clone(), error);
        std::fs::create_dir_all(&config.data).map_err(data_error)?;
        let outputs = Arc::new(Outputs::open(config.data.join("outputs")).map_err(data_error)?);
        let database = config.data.join("tasks.sqlite");
        let store_error = |error| StartError::Store(database.clone(), error);
        let store = Arc::new(Store::open(&database).map_err(store_error)?);
        let models = Arc::new(Models::all());
        let workshop = Workshop {
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
        Ok(Self {
            pool: Pool::start(workshop, config.worker_count()).map_err(store_error)?,
            samples: Samples::new(models.clone(), outputs.clone()),
            store,
            models,
            outputs,
            limit: config.rate.map(Limit::new),
            site,
            token: config.token.clone().filter(|token| !token.is_empty()),
            public_url: config.public_url.clone(),
            latency: config.latency,
        })
    }
}

/// Runs the service on `listener` until `stop` ends. Tasks under way are then left for the next
/// start.
pub async fn serve(
    config: Config,
    listener: TcpListener,
    stop: impl Future<Output = ()> + Send + 'static,
) -> Result<(), StartError> {
    let app = Arc::new(App::start(&config)?);
    let (stopping, stopped) = tokio::sync::watch::channel(false);
    let mut begun = stopped.clone();
    let serving =
        axum::serve(listener, routes::router(app.clone())).with_graceful_shutdown(async move {
            stop.await;
            stopping.send_replace(true);
        });
    let overdue = async move {
        if begun.wait_for(|stopping| *stopping).await.is_ok() {
            tokio::time::sleep(GRACE).await;
        } else {
            std::future::pending::<()>().await;
        }
    };
    let served = tokio::select! {
        served = serving => served.map_err(StartError::Serve),
        () = overdue => Ok(()),
    };
    tokio::task::spawn_blocking(move || app.pool.stop())
        .await
        .map_err(|error| StartError::Serve(io::Error::other(error)))?;
    served
}

//! Puts the parts together and runs them.

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use thiserror::Error;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use crate::access::Access;
use crate::accounts::Accounts;
use crate::cleanup::Cleanup;
use crate::config::{Config, Role};
use crate::connections::{self, Bounds};
use crate::limit::Limit;
use crate::metrics::Metrics;
use crate::model_file::{self, Loaded, ModelFileError};
use crate::models::Models;
use crate::old_secrets::delete_old;
use crate::outputs::Outputs;
use crate::private;
#[cfg(feature = "cluster")]
use crate::queue::SharedQueue;
use crate::readiness::Readiness;
use crate::routes;
use crate::runner::{Remote, watch};
use crate::sample::Samples;
use crate::site::Site;
use crate::state::App;
#[cfg(feature = "cluster")]
use crate::store::postgres::Postgres;
use crate::store::sqlite::Sqlite;
use crate::store::{Store, StoreError};
use crate::worker::{Pool, WorkerContext};

/// How often it is looked whether all has ended.
const LOOK_AGAIN: Duration = Duration::from_millis(50);

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
    #[error("the metrics at {0} are in reach of others: they need a --metrics-token")]
    OpenMetrics(SocketAddr),
    #[error("there are accounts, and a --token beside them would be nobody's: leave it away")]
    Token,
    #[error("can't use --database: {0}")]
    Database(StoreError),
    #[error("processes that only serve or only work share their tasks: name a --database")]
    Role,
    #[error("this build knows no {0}; build it with --features cluster")]
    Cluster(&'static str),
    #[cfg(feature = "cluster")]
    #[error(transparent)]
    Bucket(#[from] crate::outputs::bucket::BucketError),
    #[error("there is no index.html in {0}; build the front-end first")]
    Site(PathBuf),
    #[error("serving failed: {0}")]
    Serve(io::Error),
}

/// Whether the doors that are open may be.
///
/// # Errors
///
/// [`StartError::Token`] for a token in addition to accounts; [`StartError::Open`] and [`StartError::OpenMetrics`]
/// for an address in reach of others without a token.
pub fn allowed(config: &Config, accounts: &Accounts) -> Result<(), StartError> {
    let has = |token: &Option<String>| token.as_ref().is_some_and(|token| !token.is_empty());
    if accounts.are_there() && has(&config.token) {
        return Err(StartError::Token);
    }
    let listen = config.listen;
    if !listen.ip().is_loopback() && !accounts.are_there() && !has(&config.token) {
        return Err(StartError::Open(listen));
    }
    match config.metrics_listen {
        Some(address) if !address.ip().is_loopback() && !has(&config.metrics_token) => {
            Err(StartError::OpenMetrics(address))
        }
        _ => Ok(()),
    }
}

/// Opens the folder of the outputs, or their bucket.
fn outputs(config: &Config) -> Result<Outputs, StartError> {
    if let Some(folder) = config.outputs_folder() {
        let error = |error| StartError::Data(folder.clone(), error);
        private::make_dir(&folder).map_err(error)?;
        return Outputs::open(folder.clone()).map_err(error);
    }
    #[cfg(feature = "cluster")]
    {
        let bucket = config.bucket()?;
        bucket.probe()?;
        Ok(Outputs::in_bucket(bucket))
    }
    #[cfg(not(feature = "cluster"))]
    Err(StartError::Cluster("buckets"))
}

/// Opens the database.
fn store(config: &Config) -> Result<Store, StartError> {
    if let Some(url) = &config.database {
        #[cfg(feature = "cluster")]
        return Postgres::open(url)
            .map(Store::Postgres)
            .map_err(StartError::Database);
        #[cfg(not(feature = "cluster"))]
        {
            let _ = url;
            return Err(StartError::Cluster("PostgreSQL"));
        }
    }
    if config.role != Role::Both {
        return Err(StartError::Role);
    }
    let database = config.data.join("tasks.sqlite");
    let opened = Sqlite::open(&database).map(Store::Sqlite);
    opened.map_err(|error| store_error(config, error))
}

fn store_error(config: &Config, error: StoreError) -> StartError {
    match &config.database {
        Some(_) => StartError::Database(error),
        None => StartError::Store(config.data.join("tasks.sqlite"), error),
    }
}

impl App {
    /// Opens the data directory and starts the workers.
    ///
    /// # Errors
    ///
    /// The doors are not as [`allowed`] demands, the models' file has a mistake, the site has no page, the
    /// options need another build or a database, or the data directory, the database, the queue or the
    /// outputs can't be opened: each has its own [`StartError`].
    pub fn start(config: &Config) -> Result<Self, StartError> {
        if config.database.is_none() {
            // Checked before anything is made.
            allowed(config, &Accounts::of(&config.data))?;
        }
        let outputs = Arc::new(open_data(config)?);
        let store = Arc::new(store(config)?);
        let accounts = Accounts::beside(&store, &config.data);
        allowed(config, &accounts)?;
        let (models, remotes) = models(config)?;
        let site = site(config)?;
        let metrics = Arc::new(Metrics::default());
        let context = WorkerContext {
            store: store.clone(),
            models: models.clone(),
            outputs: outputs.clone(),
            metrics: metrics.clone(),
            speed: config.speed,
            draw_scale: config.draw_scale,
        };
        // The first answers are there before the first task and the first question.
        watch::check_all(&remotes);
        let pool = pool(config, context, &remotes)?;
        watch::watch(&remotes, pool.stopping());
        delete_old(&store, &models);
        let cleanup = Cleanup {
            keep: config.keep(),
            store: store.clone(),
            outputs: outputs.clone(),
            metrics: metrics.clone(),
        };
        cleanup.begin(pool.stopping().clone());
        Ok(Self {
            pool,
            samples: Samples::new(models.clone(), outputs.clone()),
            limit: limit(config, &store),
            store,
            models,
            outputs,
            site,
            token: config.token.clone().filter(|token| !token.is_empty()),
            accounts,
            access: Arc::new(Access::new(config)),
            latency: config.latency,
            account_disk: config.account_disk,
            metrics,
            metrics_token: config
                .metrics_token
                .clone()
                .filter(|token| !token.is_empty()),
            metrics_elsewhere: config.metrics_listen.is_some(),
            readiness: Readiness::default(),
        })
    }
}

/// Makes the data directory, with the outputs in it or elsewhere, and closes it to others.
fn open_data(config: &Config) -> Result<Outputs, StartError> {
    let data_error = |error| StartError::Data(config.data.clone(), error);
    private::make_dir(&config.data).map_err(data_error)?;
    let outputs = outputs(config)?;
    private::close(&config.data).map_err(data_error)?;
    Ok(outputs)
}

/// The models, and which of them run elsewhere.
fn models(config: &Config) -> Result<(Arc<Models>, Vec<Arc<Remote>>), StartError> {
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
    if loaded.remotes.iter().any(|remote| remote.is_program()) {
        private::hide_process();
    }
    Ok((Arc::new(models), loaded.remotes))
}

fn site(config: &Config) -> Result<Option<Site>, StartError> {
    match &config.site {
        Some(dir) if !dir.join("index.html").is_file() => Err(StartError::Site(dir.clone())),
        Some(dir) => Ok(Some(Site::new(dir))),
        None => Ok(None),
    }
}

/// Starts the workers: none where this process only serves.
fn pool(
    config: &Config,
    context: WorkerContext,
    remotes: &[Arc<Remote>],
) -> Result<Pool, StartError> {
    let works = config.role != Role::Serve;
    let size = if works { config.worker_count() } else { 0 };
    let lanes = if works { remotes } else { &[] };
    let store_error = |error| store_error(config, error);
    #[cfg(feature = "cluster")]
    let store = context.store.clone();
    let pool = Pool::start(context, size, lanes, config.bounds()).map_err(store_error)?;
    #[cfg(feature = "cluster")]
    if let Store::Postgres(database) = &*store {
        let lanes = remotes.iter().map(|remote| remote.id().clone()).collect();
        let queue = SharedQueue::open(database.clone(), lanes).map_err(store_error)?;
        pool.share(queue, size, remotes);
    }
    Ok(pool)
}

fn limit(config: &Config, store: &Store) -> Option<Limit> {
    config.rate.map(|rate| match store {
        Store::Sqlite(_) => Limit::new(rate),
        #[cfg(feature = "cluster")]
        Store::Postgres(database) => Limit::shared(rate, database.clone()),
    })
}

/// The parts that run whether the service answers requests or only works.
struct Started {
    app: Arc<App>,
    bounds: Bounds,
    /// Tells the metrics, where they have an address of their own.
    metrics: Option<JoinHandle<()>>,
}

impl Started {
    async fn begin(config: &Config) -> Result<Self, StartError> {
        // Bound before any work begins: an address that can't be listened on ends the start.
        let apart = match config.metrics_listen {
            Some(address) => Some(
                TcpListener::bind(address)
                    .await
                    .map_err(|error| StartError::Listen(address, error))?,
            ),
            None => None,
        };
        let app = Arc::new(App::start(config)?);
        let bounds = Bounds::new(config.idle, config.worker_count());
        let metrics = match apart {
            Some(listener) => Some(tokio::spawn(tell_apart(config, &app, listener, bounds)?)),
            None => None,
        };
        Ok(Self {
            app,
            bounds,
            metrics,
        })
    }

    async fn end(self) -> Result<(), StartError> {
        if let Some(metrics) = self.metrics {
            metrics.abort();
        }
        tokio::task::spawn_blocking(move || self.app.pool.stop())
            .await
            .map_err(|error| StartError::Serve(io::Error::other(error)))
    }
}

/// Runs the service on `listener`, and calls `ready` when it has started. It runs until `asked` ends for the first
/// time, which asks it to stop. Tasks that run then have `--drain-seconds` to end, or until `asked` ends once
/// more; the rest is left for the next start.
///
/// # Errors
///
/// As for [`App::start`]; also [`StartError::Listen`] if the metrics' own address is taken, and
/// [`StartError::Serve`] if stopping the workers panics.
pub async fn serve(
    config: Config,
    listener: TcpListener,
    ready: impl FnOnce(),
    asked: impl AsyncFn(),
) -> Result<(), StartError> {
    let started = Started::begin(&config).await?;
    let app = &started.app;
    ready();
    let stop = async {
        asked().await;
        app.pool.drain();
        drained(app, config.drain(), asked()).await;
    };
    connections::serve(listener, routes::router(app.clone()), started.bounds, stop).await;
    started.end().await
}

/// Works on tasks, and answers only requests for metrics, until `asked` ends; otherwise as
/// [`serve`].
///
/// # Errors
///
/// As for [`serve`].
pub async fn work(config: Config, asked: impl AsyncFn()) -> Result<(), StartError> {
    let started = Started::begin(&config).await?;
    tracing::info!("working");
    asked().await;
    started.app.pool.drain();
    drained(&started.app, config.drain(), asked()).await;
    started.end().await
}

/// `--metrics-listen`.
fn tell_apart(
    config: &Config,
    app: &Arc<App>,
    listener: TcpListener,
    bounds: Bounds,
) -> Result<impl Future<Output = ()> + use<>, StartError> {
    let address = listener.local_addr().map_err(StartError::Serve)?;
    tracing::info!("metrics on http://{address}/metrics");
    let access = Access::new(&Config {
        listen: address,
        ..config.clone()
    });
    let router = routes::metrics_router(app.clone(), Arc::new(access));
    Ok(connections::serve(
        listener,
        router,
        bounds,
        std::future::pending(),
    ))
}

/// Waits for what is being worked on, so long or until `hurried` ends.
async fn drained(app: &App, patience: Duration, hurried: impl Future<Output = ()>) {
    let running = app.pool.running();
    if running == 0 || patience.is_zero() {
        return;
    }
    tracing::info!("stopping: {running} tasks have {patience:?} to end");
    let ended = async {
        while app.pool.running() > 0 {
            tokio::time::sleep(LOOK_AGAIN).await;
        }
    };
    tokio::select! {
        () = ended => {}
        () = hurried => {}
        () = tokio::time::sleep(patience) => {}
    }
    match app.pool.running() {
        0 => {}
        left => tracing::warn!("stopping: {left} tasks are left for the next start"),
    }
}

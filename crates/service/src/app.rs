//! Creates the parts of the service, connects them, and runs them.

use std::future::Future;
use std::io;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use crate::access::Access;
use crate::accounts::Accounts;
use crate::backend::{self, Backend};
use crate::cleanup::Cleanup;
use crate::config::{Config, Role};
use crate::connections::{self, Bounds};
use crate::mcp::Mcp;
use crate::metrics::Metrics;
use crate::model_file::{self, Loaded};
use crate::models::Models;
use crate::old_secrets::delete_old;
use crate::openai_images::memory::Memory;
use crate::openai_images::refusals::Refusals;
use crate::openai_images::waits::Waits;
use crate::outputs::Outputs;
use crate::private;
use crate::readiness::Readiness;
use crate::recipe::Recipes;
use crate::routes;
use crate::runner::{Remote, watch};
use crate::sample::Samples;
use crate::site::Site;
use crate::start_error::StartError;
use crate::state::App;
use crate::uploads::Uploads;
use crate::webhooks::Webhooks;
use crate::worker::{Pool, WorkerContext};

/// How often to check whether all running tasks have ended.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Checks that addresses reachable from other machines require a token.
///
/// # Errors
///
/// [`StartError::Token`] for a token in addition to accounts; [`StartError::Open`] and [`StartError::OpenMetrics`]
/// for an address reachable from other machines without a token; [`StartError::Accounts`] if the accounts can't be read.
pub fn check_access(config: &Config, accounts: &Accounts) -> Result<(), StartError> {
    let has = |token: &Option<String>| token.as_ref().is_some_and(|token| !token.is_empty());
    let has_accounts = accounts.has_accounts()?;
    if has_accounts && has(&config.token) {
        return Err(StartError::Token);
    }
    let listen = config.listen;
    if !listen.ip().is_loopback() && !has_accounts && !has(&config.token) {
        return Err(StartError::Open(listen));
    }
    match config.metrics_listen {
        Some(address) if !address.ip().is_loopback() && !has(&config.metrics_token) => {
            Err(StartError::OpenMetrics(address))
        }
        _ => Ok(()),
    }
}

impl App {
    /// Opens the data directory and starts the workers.
    ///
    /// # Errors
    ///
    /// A [`StartError`]: [`check_access`] fails, the models file is invalid, the site has no page, the options need
    /// another build or a database, or the data directory, the database, the queue or the outputs can't be opened.
    pub fn start(config: &Config) -> Result<Self, StartError> {
        if config.database.is_none() {
            // Checked before any file is created.
            check_access(config, &Accounts::of(&config.data))?;
        }
        let outputs = Arc::new(open_data(config)?);
        let backend = Backend::open(config)?;
        let store = backend.store.clone();
        let accounts = backend.accounts(config);
        check_access(config, &accounts)?;
        let (models, remotes) = models(config)?;
        let site = site(config)?;
        let metrics = Arc::new(Metrics::default());
        let secret = || backend.webhook_secret(config);
        let webhooks = Webhooks::start(config, &store, &metrics, secret)?;
        let context = WorkerContext {
            store: store.clone(),
            models: models.clone(),
            outputs: outputs.clone(),
            metrics: metrics.clone(),
            speed: config.speed,
            draw_scale: config.draw_scale,
            recipes: Recipes::new(config),
        };
        // The models are checked before the first task and the first request.
        watch::check_all(&remotes);
        let pool = pool(config, context, &remotes, &backend)?;
        watch::watch(&remotes, pool.stopping());
        delete_old(&*store, &models);
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
            limit: config.rate.map(|rate| backend.limit(rate)),
            store,
            models,
            outputs,
            site,
            token: config.token.clone().filter(|token| !token.is_empty()),
            accounts,
            access: Arc::new(Access::new(config)),
            latency: config.latency,
            account_disk: config.account_disk,
            uploads: Uploads::new(config.upload_limit.0),
            waits: Waits::default(),
            openai_refusals: Refusals::default(),
            openai_memory: Memory::default(),
            submissions: Mutex::default(),
            mcp: Mcp::new(config.mcp_tools),
            metrics,
            metrics_token: config
                .metrics_token
                .clone()
                .filter(|token| !token.is_empty()),
            has_metrics_address: config.metrics_listen.is_some(),
            readiness: Readiness::default(),
            webhooks,
        })
    }
}

/// Creates the data directory and the outputs, and restricts them to their owner.
fn open_data(config: &Config) -> Result<Outputs, StartError> {
    let data_error = |error| StartError::Data(config.data.clone(), error);
    private::make_dir(&config.data).map_err(data_error)?;
    let outputs = backend::outputs(config)?;
    private::restrict_old_files(&config.data).map_err(data_error)?;
    Ok(outputs)
}

/// Loads the models; also returns the remote ones.
fn models(config: &Config) -> Result<(Arc<Models>, Vec<Arc<Remote>>), StartError> {
    let loaded = match &config.models {
        Some(file) => model_file::load(file, &config.data)?,
        None => Loaded::default(),
    };
    let mut models = if loaded.builtin {
        Models::built_in()
    } else {
        Models::empty()
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

/// Starts the workers. A process with the role [`Role::Serve`] has none.
fn pool(
    config: &Config,
    context: WorkerContext,
    remotes: &[Arc<Remote>],
    backend: &Backend,
) -> Result<Pool, StartError> {
    let works = config.role != Role::Serve;
    let size = if works { config.worker_count() } else { 0 };
    let lanes = if works { remotes } else { &[] };
    let ids = remotes.iter().map(|remote| remote.id().clone()).collect();
    let queue = backend.queue(ids);
    queue
        .and_then(|queue| Pool::start(context, size, lanes, config.account_limits(), queue))
        .map_err(|error| backend::store_error(config, error))
}

/// The parts of a process of any role.
struct Started {
    app: Arc<App>,
    bounds: Bounds,
    /// Serves the metrics, if they have their own address.
    metrics: Option<JoinHandle<()>>,
}

impl Started {
    async fn begin(config: &Config) -> Result<Self, StartError> {
        // Bound first: if the address is unusable, the start fails before any work begins.
        let metrics_listener = match config.metrics_listen {
            Some(address) => Some(
                TcpListener::bind(address)
                    .await
                    .map_err(|error| StartError::Listen(address, error))?,
            ),
            None => None,
        };
        let app = Arc::new(App::start(config)?);
        let bounds = Bounds::new(config.idle, config.worker_count());
        let metrics = match metrics_listener {
            Some(listener) => Some(tokio::spawn(serve_metrics(config, &app, listener, bounds)?)),
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
        let stop = move || {
            self.app.pool.stop();
            if let Some(webhooks) = &self.app.webhooks {
                webhooks.stop();
            }
        };
        tokio::task::spawn_blocking(stop)
            .await
            .map_err(|error| StartError::Serve(io::Error::other(error)))
    }
}

/// Runs the service on `listener`, and calls `ready` when it has started. Each call of `stop_requested` returns when
/// the user requests a stop. After the first request, running tasks have `--drain-seconds` to end; a second request
/// ends this wait. The remaining tasks are resumed at the next start.
///
/// # Errors
///
/// As for [`App::start`]; also [`StartError::Listen`] if the metrics' own address is taken, and
/// [`StartError::Serve`] if stopping the workers panics.
pub async fn serve(
    config: Config,
    listener: TcpListener,
    ready: impl FnOnce(),
    stop_requested: impl AsyncFn(),
) -> Result<(), StartError> {
    let started = Started::begin(&config).await?;
    let app = &started.app;
    ready();
    let stop = async {
        stop_requested().await;
        drain(app, config.drain(), stop_requested()).await;
        app.store.changes().close();
    };
    connections::serve(listener, routes::router(app.clone()), started.bounds, stop).await;
    started.end().await
}

/// Runs tasks without serving calls; serves only metrics. Stops as [`serve`] does.
///
/// # Errors
///
/// As for [`serve`].
pub async fn work(config: Config, stop_requested: impl AsyncFn()) -> Result<(), StartError> {
    let started = Started::begin(&config).await?;
    tracing::info!("working on tasks");
    stop_requested().await;
    drain(&started.app, config.drain(), stop_requested()).await;
    started.end().await
}

/// Returns a future that serves the metrics on their own address (`--metrics-listen`).
fn serve_metrics(
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

/// Starts no more tasks, and waits until the running ones have ended and the webhooks about them are sent, for at most
/// `timeout` or until `cut_short` ends.
async fn drain(app: &App, timeout: Duration, cut_short: impl Future<Output = ()>) {
    app.pool.drain();
    if timeout.is_zero() {
        return;
    }
    match app.pool.running() {
        0 => {}
        running => tracing::info!("stopping: {running} tasks have {timeout:?} to end"),
    }
    let ended = async {
        while app.pool.running() > 0 {
            tokio::time::sleep(POLL_INTERVAL).await;
        }
        let Some(webhooks) = &app.webhooks else {
            return;
        };
        webhooks.finish();
        while !webhooks.has_ended() {
            tokio::time::sleep(POLL_INTERVAL).await;
        }
    };
    tokio::select! {
        () = ended => {}
        () = cut_short => {}
        () = tokio::time::sleep(timeout) => {}
    }
    match app.pool.running() {
        0 => {}
        left => tracing::warn!("stopping: {left} tasks are left for the next start"),
    }
}

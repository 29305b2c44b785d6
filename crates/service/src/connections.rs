//! Limits the number of connections and their idle time.
//!
//! Connections and the files that tasks write use file descriptors, so the limit of connections is below the system's
//! limit of open files. When it is reached, the connection that was idle for longest is closed: HTTP lets a server
//! close a connection between two requests at any time.

use std::collections::HashMap;
use std::convert::Infallible;
use std::future::Future;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::Body;
use axum::http::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};
use tower::ServiceExt;

/// The maximum number of connections of a local service.
pub const MAX: usize = 4096;

/// The maximum size of a request line with its headers, in bytes.
const MAX_HEADER_BYTES: usize = 32 * 1024;

/// The maximum number of headers of a request.
const MAX_HEADERS: usize = 100;

/// How long open connections have to end after a stop request.
const GRACE: Duration = Duration::from_secs(3);

/// The pause before accepting a connection is retried.
const RETRY_PAUSE: Duration = Duration::from_millis(50);

/// The limits of connections.
#[derive(Debug, Clone, Copy)]
pub struct Bounds {
    /// The number of concurrent connections, from 8 to [`MAX`].
    pub connections: usize,
    /// How long a client may take to send the headers of its next request.
    pub idle: Duration,
}

impl Bounds {
    /// Raises the soft limit of open files to the hard one, and reserves descriptors for the files of `workers` tasks.
    /// Each connection counts twice, because it may have an output open, too.
    pub fn new(idle: Duration, workers: usize) -> Self {
        let others = 64 + 4 * workers;
        let connections = match raise_file_limit() {
            Some(files) => (files.saturating_sub(others) / 2).clamp(8, MAX),
            None => MAX,
        };
        Self { connections, idle }
    }
}

#[cfg(unix)]
fn raise_file_limit() -> Option<usize> {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    let raised = Rlimit {
        current: limit.maximum,
        maximum: limit.maximum,
    };
    let current = match setrlimit(Resource::Nofile, raised) {
        Ok(()) => limit.maximum,
        // Some systems enforce another limit below the hard limit.
        Err(_) => limit.current,
    };
    current.map(|files| usize::try_from(files).unwrap_or(usize::MAX))
}

#[cfg(not(unix))]
fn raise_file_limit() -> Option<usize> {
    None
}

/// The client of a request, attached to each request.
#[derive(Clone)]
pub struct Peer {
    pub address: IpAddr,
    connection: Arc<Connection>,
}

impl Peer {
    /// Runs `work`. Meanwhile the connection may be closed in favour of a new one, so that clients that send a body
    /// slowly can't occupy all connections.
    pub async fn evictable<T>(&self, work: impl Future<Output = T>) -> T {
        self.connection.is_evictable.store(true, Ordering::Relaxed);
        let done = work.await;
        self.connection.is_evictable.store(false, Ordering::Relaxed);
        done
    }
}

/// The state of an open connection.
struct Connection {
    opened: Instant,
    /// When bytes were last transferred, in milliseconds since `opened`.
    last_transfer: AtomicU64,
    /// The number of requests in progress.
    requests: AtomicUsize,
    is_evictable: AtomicBool,
    close: Notify,
}

impl Connection {
    fn new() -> Self {
        Self {
            opened: Instant::now(),
            last_transfer: AtomicU64::new(0),
            requests: AtomicUsize::new(0),
            is_evictable: AtomicBool::new(false),
            close: Notify::new(),
        }
    }

    fn touch(&self) {
        let since = u64::try_from(self.opened.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.last_transfer.store(since, Ordering::Relaxed);
    }

    fn idle_since(&self) -> Instant {
        self.opened + Duration::from_millis(self.last_transfer.load(Ordering::Relaxed))
    }

    fn can_close(&self) -> bool {
        self.requests.load(Ordering::Relaxed) == 0 || self.is_evictable.load(Ordering::Relaxed)
    }
}

/// All open connections.
#[derive(Clone, Default)]
struct Connections(Arc<Mutex<HashMap<u64, Arc<Connection>>>>);

impl Connections {
    /// Closes the connection that was idle for longest.
    fn evict_idle(&self) {
        let connections = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let longest_idle = connections
            .values()
            .filter(|connection| connection.can_close())
            .min_by_key(|connection| connection.idle_since());
        if let Some(connection) = longest_idle {
            connection.close.notify_one();
        }
    }

    fn insert(&self, number: u64, connection: Arc<Connection>) {
        let mut connections = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        connections.insert(number, connection);
    }

    fn remove(&self, number: u64) {
        let mut connections = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        connections.remove(&number);
    }
}

/// Serves connections until `stop` completes, then gives open ones [`GRACE`] to end.
pub async fn serve(
    listener: TcpListener,
    router: Router,
    bounds: Bounds,
    stop: impl Future<Output = ()>,
) {
    let graceful = GracefulShutdown::new();
    let mut stop = pin!(stop);
    tokio::select! {
        () = accept_all(&listener, router, bounds, &graceful) => {}
        () = &mut stop => {}
    }
    drop(listener);
    tokio::select! {
        () = graceful.shutdown() => {}
        () = tokio::time::sleep(GRACE) => {}
    }
}

async fn accept_all(
    listener: &TcpListener,
    router: Router,
    bounds: Bounds,
    graceful: &GracefulShutdown,
) {
    let permits = Arc::new(Semaphore::new(bounds.connections));
    let connections = Connections::default();
    for number in 0.. {
        let (stream, peer) = accept(listener).await;
        let permit = acquire_permit(&permits, &connections).await;
        let connection = Arc::new(Connection::new());
        connections.insert(number, connection.clone());
        let (connections, router, watcher) =
            (connections.clone(), router.clone(), graceful.watcher());
        tokio::spawn(async move {
            serve_connection(stream, peer, connection, router, bounds.idle, watcher).await;
            connections.remove(number);
            drop(permit);
        });
    }
}

async fn accept(listener: &TcpListener) -> (TcpStream, SocketAddr) {
    loop {
        match listener.accept().await {
            Ok(accepted) => return accepted,
            // The client has disconnected, or the system lacks a resource. Both are temporary.
            Err(error) => {
                tracing::warn!("a connection could not be accepted: {error}");
                tokio::time::sleep(RETRY_PAUSE).await;
            }
        }
    }
}

async fn acquire_permit(
    permits: &Arc<Semaphore>,
    connections: &Connections,
) -> Option<OwnedSemaphorePermit> {
    if let Ok(permit) = permits.clone().try_acquire_owned() {
        return Some(permit);
    }
    loop {
        connections.evict_idle();
        let waiting = permits.clone().acquire_owned();
        if let Ok(permit) = tokio::time::timeout(RETRY_PAUSE, waiting).await {
            // The semaphore is never closed.
            return permit.ok();
        }
    }
}

/// Serves one connection until it ends.
async fn serve_connection(
    stream: TcpStream,
    peer: SocketAddr,
    connection: Arc<Connection>,
    router: Router,
    idle: Duration,
    watcher: Watcher,
) {
    // Sends small responses at once (disables Nagle's algorithm).
    let _ = stream.set_nodelay(true);
    let io = TokioIo::new(Watched {
        stream,
        connection: connection.clone(),
    });
    let answering = connection.clone();
    let service = service_fn(move |request: Request<Incoming>| {
        let (router, connection) = (router.clone(), answering.clone());
        async move {
            let _working = InProgress::begin(&connection);
            let mut request = request.map(Body::new);
            let address = peer.ip();
            request.extensions_mut().insert(Peer {
                address,
                connection: connection.clone(),
            });
            Ok::<_, Infallible>(match router.oneshot(request).await {
                Ok(response) => response,
                Err(never) => match never {},
            })
        }
    });
    let http = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(idle)
        .max_headers(MAX_HEADERS)
        .max_header_size(MAX_HEADER_BYTES)
        .serve_connection(io, service);
    let mut http = pin!(watcher.watch(http));
    loop {
        tokio::select! {
            biased;
            ended = &mut http => {
                if let Err(error) = ended {
                    tracing::debug!("the connection of {peer} ended: {error}");
                }
                return;
            }
            // A request may have arrived since this connection was chosen.
            () = connection.close.notified() => if connection.can_close() { return },
        }
    }
}

/// Counts a request in progress, also if it is cancelled.
struct InProgress<'a>(&'a Connection);

impl<'a> InProgress<'a> {
    fn begin(connection: &'a Connection) -> Self {
        connection.requests.fetch_add(1, Ordering::Relaxed);
        Self(connection)
    }
}

impl Drop for InProgress<'_> {
    fn drop(&mut self) {
        self.0.requests.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A stream that records when bytes are transferred.
struct Watched {
    stream: TcpStream,
    connection: Arc<Connection>,
}

impl Watched {
    fn record<T>(&self, poll: Poll<T>) -> Poll<T> {
        if poll.is_ready() {
            self.connection.touch();
        }
        poll
    }
}

impl AsyncRead for Watched {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let poll = Pin::new(&mut self.stream).poll_read(context, buffer);
        self.record(poll)
    }
}

impl AsyncWrite for Watched {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let poll = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.record(poll)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let poll = Pin::new(&mut self.stream).poll_write_vectored(context, slices);
        self.record(poll)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

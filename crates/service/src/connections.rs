//! The connections: how many there are, and how long each may take.
//!
//! Each costs a file descriptor, and so do the files that tasks are written to. So there is a
//! bound below what the system permits, and when it is reached the connection on which nothing has
//! moved for longest is closed. A client with a connection of its own is told nothing it must not
//! bear: HTTP lets a server close a connection between two requests at any time.

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

/// More connections than this are of no use to a local service.
pub const MAX: usize = 1024;

/// A request's line and headers, in bytes.
const HEADER_BYTES: usize = 32 * 1024;

/// How many headers a request may have.
const HEADERS: usize = 100;

/// After a request to stop, open connections have this long to end.
const GRACE: Duration = Duration::from_secs(3);

/// How often a new connection that finds no room looks again.
const LOOK_AGAIN: Duration = Duration::from_millis(50);

/// The limits of connections.
#[derive(Debug, Clone, Copy)]
pub struct Bounds {
    /// How many may be open at once, from 8 to [`MAX`].
    pub connections: usize,
    /// How long a client may take to send the head of its next request.
    pub idle: Duration,
}

impl Bounds {
    /// Raises the soft limit of open files to the hard one, and leaves room for the files of
    /// `workers` tasks. A connection may have a file open, too: the output that it is sending.
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
        // Some systems have a limit of their own below the hard one.
        Err(_) => limit.current,
    };
    current.map(|files| usize::try_from(files).unwrap_or(usize::MAX))
}

#[cfg(not(unix))]
fn raise_file_limit() -> Option<usize> {
    None
}

/// The address that a request comes from; every request carries one.
#[derive(Clone)]
pub struct Peer {
    pub address: IpAddr,
    seat: Arc<Seat>,
}

impl Peer {
    /// Waits for `work` as something that may be given up at any time: a body that comes slowly
    /// does not keep its place.
    pub async fn dispensable<T>(&self, work: impl Future<Output = T>) -> T {
        self.seat.dispensable.store(true, Ordering::Relaxed);
        let done = work.await;
        self.seat.dispensable.store(false, Ordering::Relaxed);
        done
    }
}

/// One connection's place.
struct Seat {
    begun: Instant,
    /// When bytes last moved, in milliseconds since `begun`.
    moved: AtomicU64,
    /// Requests being answered.
    working: AtomicUsize,
    dispensable: AtomicBool,
    leave: Notify,
}

impl Seat {
    fn new() -> Self {
        Self {
            begun: Instant::now(),
            moved: AtomicU64::new(0),
            working: AtomicUsize::new(0),
            dispensable: AtomicBool::new(false),
            leave: Notify::new(),
        }
    }

    fn touch(&self) {
        let since = u64::try_from(self.begun.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.moved.store(since, Ordering::Relaxed);
    }

    fn still_since(&self) -> Instant {
        self.begun + Duration::from_millis(self.moved.load(Ordering::Relaxed))
    }

    fn may_leave(&self) -> bool {
        self.working.load(Ordering::Relaxed) == 0 || self.dispensable.load(Ordering::Relaxed)
    }
}

/// The places that are taken.
#[derive(Clone, Default)]
struct Seats(Arc<Mutex<HashMap<u64, Arc<Seat>>>>);

impl Seats {
    /// Asks the connection on which nothing has moved for longest to close.
    fn make_room(&self) {
        let seats = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let stillest = seats
            .values()
            .filter(|seat| seat.may_leave())
            .min_by_key(|seat| seat.still_since());
        if let Some(seat) = stillest {
            seat.leave.notify_one();
        }
    }

    fn insert(&self, number: u64, seat: Arc<Seat>) {
        let mut seats = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        seats.insert(number, seat);
    }

    fn remove(&self, number: u64) {
        let mut seats = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        seats.remove(&number);
    }
}

/// Serves connections until `stop` ends, then lets those under way end.
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
    let places = Arc::new(Semaphore::new(bounds.connections));
    let seats = Seats::default();
    for number in 0.. {
        let (stream, peer) = accept(listener).await;
        let place = take_place(&places, &seats).await;
        let seat = Arc::new(Seat::new());
        seats.insert(number, seat.clone());
        let (seats, router, watcher) = (seats.clone(), router.clone(), graceful.watcher());
        tokio::spawn(async move {
            converse(stream, peer, seat, router, bounds.idle, watcher).await;
            seats.remove(number);
            drop(place);
        });
    }
}

async fn accept(listener: &TcpListener) -> (TcpStream, SocketAddr) {
    loop {
        match listener.accept().await {
            Ok(accepted) => return accepted,
            // The other side has gone already, or this machine is short of something: both pass.
            Err(error) => {
                tracing::warn!("a connection could not be accepted: {error}");
                tokio::time::sleep(LOOK_AGAIN).await;
            }
        }
    }
}

async fn take_place(places: &Arc<Semaphore>, seats: &Seats) -> Option<OwnedSemaphorePermit> {
    if let Ok(place) = places.clone().try_acquire_owned() {
        return Some(place);
    }
    loop {
        seats.make_room();
        let waiting = places.clone().acquire_owned();
        if let Ok(place) = tokio::time::timeout(LOOK_AGAIN, waiting).await {
            // The semaphore is never closed.
            return place.ok();
        }
    }
}

/// One connection from its first request to its end.
async fn converse(
    stream: TcpStream,
    peer: SocketAddr,
    seat: Arc<Seat>,
    router: Router,
    idle: Duration,
    watcher: Watcher,
) {
    // Answers are small and awaited.
    let _ = stream.set_nodelay(true);
    let io = TokioIo::new(Watched {
        stream,
        seat: seat.clone(),
    });
    let answering = seat.clone();
    let service = service_fn(move |request: Request<Incoming>| {
        let (router, seat) = (router.clone(), answering.clone());
        async move {
            let _working = Working::begin(&seat);
            let mut request = request.map(Body::new);
            let address = peer.ip();
            request.extensions_mut().insert(Peer {
                address,
                seat: seat.clone(),
            });
            Ok::<_, Infallible>(match router.oneshot(request).await {
                Ok(response) => response,
                Err(never) => match never {},
            })
        }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(idle)
        .max_headers(HEADERS)
        .max_header_size(HEADER_BYTES)
        .serve_connection(io, service);
    let mut connection = pin!(watcher.watch(connection));
    loop {
        tokio::select! {
            biased;
            ended = &mut connection => {
                if let Err(error) = ended {
                    tracing::debug!("the connection of {peer} ended: {error}");
                }
                return;
            }
            // A request may have come in since this connection was chosen.
            () = seat.leave.notified() => if seat.may_leave() { return },
        }
    }
}

/// Counts a request while it is being answered, also if that is given up.
struct Working<'a>(&'a Seat);

impl<'a> Working<'a> {
    fn begin(seat: &'a Seat) -> Self {
        seat.working.fetch_add(1, Ordering::Relaxed);
        Self(seat)
    }
}

impl Drop for Working<'_> {
    fn drop(&mut self) {
        self.0.working.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A connection that notes when bytes move.
struct Watched {
    stream: TcpStream,
    seat: Arc<Seat>,
}

impl Watched {
    fn noted<T>(&self, poll: Poll<T>) -> Poll<T> {
        if poll.is_ready() {
            self.seat.touch();
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
        self.noted(poll)
    }
}

impl AsyncWrite for Watched {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let poll = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.noted(poll)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let poll = Pin::new(&mut self.stream).poll_write_vectored(context, slices);
        self.noted(poll)
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

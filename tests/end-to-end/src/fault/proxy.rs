//! Receives calls, applies faults to them, and forwards the others.

use super::clock::Clock;
use super::record::Call;
use super::reply::{self, Endless, Reply};
use super::rule::{Fault, RetryAfter, Rule};
use super::{EVENTS, command, first};
use crate::{Error, Result, http, received_refusals};
use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::header::{
    ACCEPT_ENCODING, AUTHORIZATION, CONNECTION, CONTENT_LENGTH, CONTENT_TYPE, TRANSFER_ENCODING,
};
use hyper::http::request::Parts;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response};
use hyper_util::rt::TokioIo;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinHandle;

/// A running proxy. Stops when dropped.
pub struct FaultProxy {
    address: SocketAddr,
    shared: Arc<Shared>,
    server: JoinHandle<()>,
}

pub(super) struct Shared {
    clock: Clock,
    /// `host:port` of the service.
    service: String,
    number: AtomicUsize,
    rules: Mutex<Vec<Rule>>,
    calls: Mutex<Vec<Call>>,
    /// See [`first`].
    first_scripts: Mutex<Vec<String>>,
    /// Notifies held calls when the rules are removed.
    cleared: watch::Sender<()>,
    /// Breaks the connections of all streams of events.
    cut: watch::Sender<()>,
}

impl FaultProxy {
    /// Starts a proxy for the service at this address, on a free port.
    ///
    /// # Errors
    ///
    /// As for [`Self::listen`].
    pub async fn start(service: &str) -> Result<Self> {
        Self::listen(service, SocketAddr::from(([127, 0, 0, 1], 0))).await
    }

    /// Starts a proxy for the service, which listens at `address`.
    ///
    /// # Errors
    ///
    /// The service's address does not start with `http://`, or the proxy can't listen at `address`.
    pub async fn listen(service: &str, address: SocketAddr) -> Result<Self> {
        let listener = TcpListener::bind(address)
            .await
            .map_err(|error| format!("{address}: {error}"))?;
        let shared = Arc::new(Shared {
            clock: Clock::start(),
            service: http::authority(service)?.to_owned(),
            number: AtomicUsize::new(0),
            rules: Mutex::default(),
            calls: Mutex::default(),
            first_scripts: Mutex::default(),
            cleared: watch::Sender::new(()),
            cut: watch::Sender::new(()),
        });
        let address = listener.local_addr()?;
        let server = tokio::spawn(serve(listener, Arc::clone(&shared)));
        Ok(Self {
            address,
            shared,
            server,
        })
    }

    pub fn address(&self) -> String {
        format!("http://{}", self.address)
    }

    pub fn add(&self, rule: Rule) {
        self.shared.rules().push(rule);
    }

    /// Removes all rules except those that hide something that the service offers.
    pub fn clear(&self) {
        self.shared.clear(Rule::hides);
    }

    /// Closes every connection for this path until [`Self::bring_up`]. Takes precedence over other rules.
    pub fn take_down(&self, path: &str) {
        self.shared
            .rules()
            .insert(0, Rule::every(path, Fault::Down));
        if self.shared.is_down(EVENTS) {
            self.cut_streams();
        }
    }

    /// Undoes [`Self::take_down`].
    pub fn bring_up(&self, path: &str) {
        let down = Rule::every(path, Fault::Down);
        self.shared.rules().retain(|rule| *rule != down);
    }

    /// Breaks the connections of all streams of events that are open now.
    pub fn cut_streams(&self) {
        self.shared.cut.send_replace(());
    }

    /// Hides the service's stream of events from now on, so that the page only polls. A page that already knows of the
    /// stream finds that it does not exist.
    pub fn hide_events(&self) {
        let field = "events".to_owned();
        self.add(Rule::every("/api/models", Fault::HideField { field }));
        self.add(Rule::every(EVENTS, Fault::Absent));
    }

    /// Hides the service's support for idempotency keys from now on. Most services have none.
    pub fn hide_idempotency_keys(&self) {
        let field = "idempotency_key".to_owned();
        self.add(Rule::every("/api/models", Fault::HideField { field }));
    }

    pub(super) fn shared(&self) -> &Shared {
        &self.shared
    }

    /// Returns the number of rules that are not used up, except those that hide something.
    pub fn remaining_rules(&self) -> usize {
        let rules = self.shared.rules();
        rules.iter().filter(|rule| !rule.hides()).count()
    }

    /// Returns every call so far, in order of arrival.
    pub fn calls(&self) -> Vec<Call> {
        self.shared.calls().clone()
    }

    pub fn calls_to(&self, path: &str) -> Vec<Call> {
        self.calls()
            .into_iter()
            .filter(|call| call.path == path)
            .collect()
    }

    /// Returns the current time on the clock of [`Call::at`].
    pub fn now(&self) -> Duration {
        self.shared.clock.now()
    }

    /// Moves the clock of the proxy forward.
    pub(crate) fn skip(&self, by: Duration) {
        self.shared.clock.skip(by);
    }

    /// Serves until the process is ended.
    ///
    /// # Errors
    ///
    /// The server task panicked.
    pub async fn wait(mut self) -> Result<()> {
        Ok((&mut self.server).await?)
    }
}

impl Drop for FaultProxy {
    fn drop(&mut self) {
        self.server.abort();
    }
}

impl Shared {
    // Ignores poisoned locks: a test that panics while it holds one has already failed.
    pub(super) fn rules(&self) -> MutexGuard<'_, Vec<Rule>> {
        self.rules.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn calls(&self) -> MutexGuard<'_, Vec<Call>> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn first_scripts(&self) -> MutexGuard<'_, Vec<String>> {
        let scripts = self.first_scripts.lock();
        scripts.unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn clear(&self, stays: impl Fn(&Rule) -> bool) {
        self.rules().retain(stays);
        self.cleared.send_replace(());
    }

    /// Updates the record of a call, unless it was cleared meanwhile.
    fn update(&self, number: usize, change: impl FnOnce(&mut Call)) {
        if let Some(call) = self.calls().iter_mut().find(|call| call.number == number) {
            change(call);
        }
    }

    fn is_down(&self, path: &str) -> bool {
        self.rules()
            .iter()
            .find(|rule| rule.matches(path))
            .is_some_and(|rule| rule.fault == Fault::Down)
    }

    /// Returns the fields to be removed from the response to a call to this path.
    fn hidden_fields(&self, path: &str) -> Vec<String> {
        let rules = self.rules();
        let matching = rules.iter().filter(|rule| rule.matches(path));
        matching.filter_map(Rule::hidden_field).collect()
    }

    /// Returns the fault for a call to this path, and counts one use of its rule. Hidden fields apply in addition to it.
    fn take_fault(&self, path: &str) -> Option<Fault> {
        let mut rules = self.rules();
        let at = rules
            .iter()
            .position(|rule| rule.matches(path) && rule.hidden_field().is_none())?;
        let fault = rules[at].fault.clone();
        if let Some(times) = &mut rules[at].times {
            *times = times.saturating_sub(1);
            if *times == 0 {
                rules.remove(at);
            }
        }
        Some(fault)
    }
}

async fn serve(listener: TcpListener, shared: Arc<Shared>) {
    // Dropping this task also drops the connections.
    let mut connections = tokio::task::JoinSet::new();
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            continue;
        };
        while connections.try_join_next().is_some() {}
        let shared = Arc::clone(&shared);
        connections.spawn(async move {
            let handler = service_fn(|request| respond(&shared, request));
            // Each call gets a new connection. When a reused connection is closed without a response, Chromium
            // retries the call, even a POST. The fault would not reach the page, and the record would contain calls
            // that the page did not send.
            let _ = http1::Builder::new()
                .keep_alive(false)
                .serve_connection(TokioIo::new(stream), handler)
                .await;
        });
    }
}

/// Responds to a request. An error closes the connection.
async fn respond(shared: &Shared, request: Request<Incoming>) -> Result<reply::Streamed> {
    Ok(reply::stream(reply_to(shared, request).await?))
}

async fn reply_to(shared: &Shared, request: Request<Incoming>) -> Result<Reply> {
    let (parts, body) = request.into_parts();
    let mut call = Inbound {
        parts,
        body: body.collect().await?.to_bytes(),
    };
    let path = call.parts.uri.path().to_owned();
    let path = path.as_str();
    if command::is_command(path) {
        return Ok(command::execute(
            shared,
            &call.parts.method,
            path,
            &call.body,
        ));
    }
    // A CORS preflight request of the browser. It is not recorded, and only [`Fault::Down`] applies to it.
    if call.parts.method == Method::OPTIONS {
        return if shared.is_down(path) {
            Err("down".into())
        } else {
            call.forward(shared).await
        };
    }

    // Subscribes before the call is recorded: a test may remove the rules as soon as it sees the call.
    let mut cleared = shared.cleared.subscribe();
    let fault = shared.take_fault(path);
    let hidden = shared.hidden_fields(path);
    let number = shared.number.fetch_add(1, Ordering::Relaxed);
    let mut entry = Call::new(
        number,
        shared.clock.now(),
        call.parts.method.as_str(),
        path,
        call.parts
            .headers
            .get("idempotency-key")
            .and_then(|key| key.to_str().ok()),
        &call.body,
    );
    let header = |name| call.parts.headers.get(name)?.to_str().ok();
    entry.mark = header(received_refusals::CALL_ID).map(str::to_owned);
    let received = header(received_refusals::RECEIVED).unwrap_or_default();
    entry.received = received.split_whitespace().map(str::to_owned).collect();
    entry.authorization = header(AUTHORIZATION.as_str()).map(str::to_owned);
    entry.dictionary = header("available-dictionary").map(str::to_owned);
    entry.fault = fault.as_ref().map(|fault| format!("{fault:?}"));
    shared.calls().push(entry);
    if fault == Some(Fault::Halved) {
        // Uncompressed, so that half of the body is readable.
        call.parts.headers.remove(ACCEPT_ENCODING);
    }

    let forward = async || {
        let reply = call.forward(shared).await?;
        let (parts, body) = reply.into_parts();
        let body = body.collect().await?.to_bytes();
        shared.update(number, |call| call.record_response(&body));
        let mut reply = Response::from_parts(parts, Full::new(body));
        for field in &hidden {
            reply = reply::hide_field(reply, field).await;
        }
        let has_scripts = !shared.first_scripts().is_empty();
        Ok::<_, Error>(if has_scripts {
            first::insert_into(reply).await
        } else {
            reply
        })
    };
    let reply = match fault {
        None | Some(Fault::HideField { .. }) => forward().await?,
        Some(Fault::Absent) => reply::refusal(404, None, shared.clock.date()),
        Some(Fault::Status {
            status,
            retry_after,
        }) => reply::refusal(status, retry_after, shared.clock.date()),
        Some(Fault::StatusWithMessage { status, message }) => reply::failure(status, &message),
        Some(Fault::NotJson) => reply::page(),
        Some(Fault::DropBefore | Fault::Down) => return Err("closed before forwarding".into()),
        Some(Fault::DropAfter) => {
            forward().await?;
            return Err("closed after forwarding".into());
        }
        Some(Fault::Unfinished) => reply::unfinished(forward().await?, usize::MAX),
        Some(Fault::Halved) => reply::halve(forward().await?).await,
        Some(Fault::CutLimit { retry_after }) => {
            let refusal = reply::refusal(
                429,
                Some(RetryAfter::Seconds(retry_after)),
                shared.clock.date(),
            );
            reply::unfinished(refusal, 9)
        }
        Some(Fault::Delay { time }) => {
            tokio::time::sleep(time).await;
            forward().await?
        }
        Some(Fault::Hold) => {
            cleared.changed().await?;
            forward().await?
        }
        Some(Fault::NoStore) => reply::no_store(forward().await?),
        Some(Fault::CutBatch { keep }) => {
            reply::change_batch(forward().await?, |entries| entries.truncate(keep)).await
        }
        Some(Fault::OtherStatus { status }) => reply::with_status(forward().await?, status),
        Some(Fault::ReorderBatch) => {
            reply::change_batch(forward().await?, |entries| entries.reverse()).await
        }
    };
    let not_before =
        reply::retry_after(&reply, shared.clock.date()).map(|wait| shared.clock.now() + wait);
    shared.update(number, |call| {
        call.status = Some(reply.status().as_u16());
        call.not_before = not_before;
    });
    Ok(reply)
}

/// A call as received.
struct Inbound {
    parts: Parts,
    body: Bytes,
}

impl Inbound {
    async fn forward(&self, shared: &Shared) -> Result<Reply> {
        let mut request = Request::new(Full::new(self.body.clone()));
        *request.method_mut() = self.parts.method.clone();
        *request.uri_mut() = self
            .parts
            .uri
            .path_and_query()
            .map_or("/", |path| path.as_str())
            .parse()?;
        for (name, value) in &self.parts.headers {
            // Pages must be uncompressed so that scripts can be inserted.
            if *name == ACCEPT_ENCODING && !shared.first_scripts().is_empty() {
                continue;
            }
            // Keeps the host header: the service derives output addresses from it.
            if ![CONNECTION, CONTENT_LENGTH, TRANSFER_ENCODING].contains(name) {
                request.headers_mut().append(name, value.clone());
            }
        }
        // Subscribes before the call is sent: a test may cut the stream as soon as the service has received it.
        let cut = shared.cut.subscribe();
        let (mut parts, body) = http::send(&shared.service, request).await?.into_parts();
        parts.headers.remove(CONNECTION);
        parts.headers.remove(TRANSFER_ENCODING);
        let kind = parts.headers.get(CONTENT_TYPE);
        if kind.is_some_and(|kind| kind.as_bytes().starts_with(b"text/event-stream")) {
            parts.extensions.insert(Endless::new(body, cut));
            return Ok(Response::from_parts(parts, Full::default()));
        }
        Ok(Response::from_parts(
            parts,
            Full::new(body.collect().await?.to_bytes()),
        ))
    }
}

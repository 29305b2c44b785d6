//! Responses that the proxy creates or changes.

use super::rule::RetryAfter;
use http_body_util::channel::Channel;
use http_body_util::{BodyExt, Collected, Either, Full};
use hyper::body::{Bytes, Incoming};
use hyper::header::{HeaderMap, HeaderValue};
use hyper::{Response, header};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};
use tokio::sync::watch;

pub(super) type Reply = Response<Full<Bytes>>;

/// Marks a response that is cut off after this many bytes, without the end of the body.
#[derive(Clone, Copy)]
struct Unfinished(usize);

/// Cuts a response off after `bytes` bytes, so that the client sees a broken connection.
pub(super) fn unfinished(mut reply: Reply, bytes: usize) -> Reply {
    reply.headers_mut().remove(header::CONTENT_LENGTH);
    reply.extensions_mut().insert(Unfinished(bytes));
    reply
}

/// Drops the second half of the body. The response looks complete.
pub(super) async fn halve(reply: Reply) -> Reply {
    let (mut head, body) = reply.into_parts();
    head.headers.remove(header::CONTENT_LENGTH);
    let Ok(body) = body.collect().await.map(Collected::to_bytes);
    Response::from_parts(head, Full::new(body.slice(..body.len() / 2)))
}

pub(super) type Streamed = Response<Either<Full<Bytes>, Channel<Bytes, std::io::Error>>>;

/// The body of a stream of events, which is passed on as it arrives until the streams are cut.
struct Passed {
    body: Incoming,
    cut: watch::Receiver<()>,
}

/// Marks a response whose body is a stream of events.
#[derive(Clone)]
pub(super) struct Endless(Arc<Mutex<Option<Passed>>>);

impl Endless {
    pub fn new(body: Incoming, cut: watch::Receiver<()>) -> Self {
        Self(Arc::new(Mutex::new(Some(Passed { body, cut }))))
    }

    fn take(&self) -> Option<Passed> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// Returns the response to send, which may break off.
pub(super) fn stream(reply: Reply) -> Streamed {
    let endless: Option<&Endless> = reply.extensions().get();
    if let Some(passed) = endless.and_then(Endless::take) {
        return reply.map(|_| Either::Right(pass_on(passed)));
    }
    let Some(&Unfinished(bytes)) = reply.extensions().get() else {
        return reply.map(Either::Left);
    };
    reply.map(|body| {
        let (mut sender, channel) = Channel::new(1);
        tokio::spawn(async move {
            let Ok(body) = body.collect().await.map(Collected::to_bytes);
            // Ignores a client that has disconnected.
            let _ = sender.send_data(body.slice(..bytes.min(body.len()))).await;
            // Gives the data time to be sent before the connection breaks.
            tokio::time::sleep(Duration::from_millis(200)).await;
            sender.abort(std::io::ErrorKind::ConnectionAborted.into());
        });
        Either::Right(channel)
    })
}

fn pass_on(passed: Passed) -> Channel<Bytes, std::io::Error> {
    let Passed { mut body, mut cut } = passed;
    let (mut sender, channel) = Channel::new(1);
    tokio::spawn(async move {
        loop {
            let frame = tokio::select! {
                frame = body.frame() => frame,
                _ = cut.changed() => break,
            };
            let data = match frame {
                None => return,
                Some(Ok(frame)) => frame.into_data().unwrap_or_default(),
                Some(Err(_)) => break,
            };
            // Ends when the client has disconnected.
            if sender.send_data(data).await.is_err() {
                return;
            }
        }
        sender.abort(std::io::ErrorKind::ConnectionAborted.into());
    });
    channel
}

pub(super) fn json(status: u16, body: &Value) -> Reply {
    with(status, "application/json", body.to_string())
}

pub(super) fn script(text: String) -> Reply {
    no_store(with(200, "text/javascript", text))
}

/// Returns a response with `Clear-Site-Data` for this kind of data.
pub(super) fn clearing(what: &'static str) -> Reply {
    let mut reply = no_store(json(200, &json!({ "success": true })));
    let what = HeaderValue::from_static(what);
    reply.headers_mut().insert("clear-site-data", what);
    reply
}

/// Returns the sign-in page of a gateway.
pub(super) fn page() -> Reply {
    with(
        200,
        "text/html",
        "<!doctype html><title>Gateway</title><p>Please sign in.".to_owned(),
    )
}

pub(super) fn failure(status: u16, message: &str) -> Reply {
    let body = json!({ "success": false, "error": "fault", "message": message });
    json(status, &body)
}

/// Returns a refusal. `now` is the current date for an HTTP date in `Retry-After`.
pub(super) fn refusal(status: u16, retry_after: Option<RetryAfter>, now: SystemTime) -> Reply {
    let mut reply = failure(status, "asked for by a test");
    if let Some(after) = retry_after {
        let value = match after {
            RetryAfter::Seconds(seconds) => seconds.to_string(),
            RetryAfter::Date(seconds) => {
                // An HTTP date has whole seconds: round up, so that it is never too early.
                let then = now + Duration::from_secs(seconds) + Duration::from_millis(999);
                httpdate::fmt_http_date(then)
            }
        };
        if let Ok(value) = HeaderValue::from_str(&value) {
            reply.headers_mut().insert(header::RETRY_AFTER, value);
        }
    }
    reply
}

pub(super) fn no_store(mut reply: Reply) -> Reply {
    let value = HeaderValue::from_static("no-store");
    reply.headers_mut().insert(header::CACHE_CONTROL, value);
    reply
}

pub(super) fn with_status(mut reply: Reply, status: u16) -> Reply {
    *reply.status_mut() = hyper::StatusCode::from_u16(status).unwrap_or_default();
    reply
}

/// Returns the wait that `Retry-After` asks for.
pub(super) fn retry_after(reply: &Reply, now: SystemTime) -> Option<Duration> {
    let value = reply.headers().get(header::RETRY_AFTER)?.to_str().ok()?;
    if let Ok(seconds) = value.parse() {
        return Some(Duration::from_secs(seconds));
    }
    let date = httpdate::parse_http_date(value).ok()?;
    date.duration_since(now).ok()
}

/// Returns a response of the proxy, with CORS headers for every origin. Forwarded responses keep the service's headers,
/// so that tests check the headers of the service.
fn with(status: u16, kind: &'static str, body: String) -> Reply {
    let mut reply = Response::new(Full::new(Bytes::from(body)));
    *reply.status_mut() = hyper::StatusCode::from_u16(status).unwrap_or_default();
    let headers = reply.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    open_to_all(headers);
    reply
}

fn open_to_all(headers: &mut HeaderMap) {
    let any = HeaderValue::from_static("*");
    headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, any.clone());
    headers.insert(
        header::ACCESS_CONTROL_ALLOW_METHODS,
        HeaderValue::from_static("GET, POST, DELETE"),
    );
    headers.insert(
        header::ACCESS_CONTROL_ALLOW_HEADERS,
        HeaderValue::from_static("authorization, content-type"),
    );
    headers.insert(
        header::ACCESS_CONTROL_EXPOSE_HEADERS,
        HeaderValue::from_static("retry-after"),
    );
}

/// Changes the entries of a batch response. Leaves other responses unchanged.
pub(super) async fn change_batch(reply: Reply, change: impl FnOnce(&mut Vec<Value>)) -> Reply {
    change_json(reply, |value| {
        change(value.pointer_mut("/data/results")?.as_array_mut()?);
        Some(())
    })
    .await
}

/// Removes a field of a JSON object. Leaves other responses unchanged.
pub(super) async fn hide_field(reply: Reply, field: &str) -> Reply {
    change_json(reply, |value| {
        value.as_object_mut()?.remove(field)?;
        Some(())
    })
    .await
}

async fn change_json(reply: Reply, change: impl FnOnce(&mut Value) -> Option<()>) -> Reply {
    let (mut parts, body) = reply.into_parts();
    let Ok(body) = body.collect().await.map(Collected::to_bytes);
    let changed = serde_json::from_slice::<Value>(&body)
        .ok()
        .and_then(|mut value| {
            change(&mut value)?;
            Some(Bytes::from(value.to_string()))
        });
    if changed.is_some() {
        // The length has changed: the server computes it again.
        parts.headers.remove(header::CONTENT_LENGTH);
    }
    Response::from_parts(parts, Full::new(changed.unwrap_or(body)))
}

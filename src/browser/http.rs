//! HTTP requests. They are limited in time and size, are aborted when dropped, and fail with an [`ApiError`].

use std::cell::Cell;

use atelier_contract::{
    ApiError, Credentials, IDEMPOTENCY_HEADER, envelope, json, parse_retry_after,
};
use atelier_engine::{CallKind, ReplyLimits};
use futures::future::{Either, FutureExt, LocalBoxFuture, select};
use gloo_net::http::{Method, Request, RequestBuilder, Response};
use gloo_timers::future::TimeoutFuture;
use js_sys::{Array, Reflect, Uint8Array};
use serde_json::Value;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::{
    AbortController, Blob, BlobPropertyBag, ReadableStreamDefaultReader, ReferrerPolicy,
    RequestCache, RequestCredentials, RequestRedirect, ResponseType,
};

use super::early::Early;
use super::{clock, early};

/// The limits for JSON replies, which are much smaller in practice.
const LIMITS: ReplyLimits = ReplyLimits::new(16 << 20, 30_000);

/// The limits for the list of models, which grows with the service: a hundred thousand entries are 25 MB.
const LIST_LIMITS: ReplyLimits = ReplyLimits::new(128 << 20, LIMITS.timeout_ms);

/// The timeout for files, in milliseconds: enough for a long video over a slow connection.
const FILE_TIMEOUT_MS: u32 = 900_000;

/// The body of a reply, in the chunks in which it was received. It is outside of the wasm memory, because it can be large.
pub struct Body(Array);

impl Body {
    /// Copies the body into the wasm memory.
    pub fn bytes(&self) -> Vec<u8> {
        let parts = || self.0.iter().map(JsCast::unchecked_into::<Uint8Array>);
        let mut bytes = vec![0; parts().map(|part| part.length() as usize).sum()];
        let mut rest = bytes.as_mut_slice();
        for part in parts() {
            let (here, after) = rest.split_at_mut(part.length() as usize);
            part.copy_to(here);
            rest = after;
        }
        bytes
    }

    /// Returns the body as one array, outside of the wasm memory.
    pub fn array(&self) -> Uint8Array {
        let parts = || self.0.iter().map(JsCast::unchecked_into::<Uint8Array>);
        let whole = Uint8Array::new_with_length(parts().map(|part| part.length()).sum());
        let mut at = 0;
        for part in parts() {
            whole.set(&part, at);
            at += part.length();
        }
        whole
    }

    /// Returns the body as a blob of this MIME type.
    ///
    /// # Errors
    /// If the browser has not enough space for the blob.
    fn blob(&self, mime: &str) -> Result<Blob, ApiError> {
        let options = BlobPropertyBag::new();
        options.set_type(mime);
        Blob::new_with_u8_array_sequence_and_options(&self.0, &options).map_err(broken)
    }
}

/// Sends a `GET` request to a discovery endpoint, without credentials.
///
/// # Errors
/// There was no complete reply in time, its status is outside 200–299, or its body is too large.
pub async fn get(url: &str) -> Result<Body, ApiError> {
    let reply = exchange(Request::get(url), None, LIMITS).await?;
    Ok(reply.ok()?.body)
}

/// Requests the list of models. `index.html` may have requested it already, while the program was loading; if that request
/// failed, it is sent again.
///
/// The browser must not reply from its cache alone: a reply must show that the service is available.
///
/// # Errors
/// See [`get`].
pub async fn get_models(url: &str) -> Result<Body, ApiError> {
    let early = early::take(url);
    if let Some(body) = early.as_ref().and_then(Early::body) {
        return Ok(Body(Array::of1(&body)));
    }
    let early = match early {
        Some(early) => early_reply(early).await,
        None => None,
    };
    let reply = match early {
        Some(reply) => reply?,
        None => {
            let request = Request::get(url).cache(RequestCache::NoCache);
            exchange(request, None, LIST_LIMITS).await?
        }
    };
    Ok(reply.ok()?.body)
}

/// Returns the reply to the early request; `None` if it did not reach the service, or its reply is incomplete.
async fn early_reply(early: Early) -> Option<Result<Reply, ApiError>> {
    let response = async {
        let response = JsFuture::from(early.answer).await.map_err(broken)?;
        let response: web_sys::Response = response.dyn_into().map_err(broken)?;
        Ok(Response::from(response))
    };
    let guard = AbortGuard(early.controller);
    match receive(guard, response.boxed_local(), LIST_LIMITS).await {
        Err(ApiError::Network { .. }) => None,
        Ok(reply) if !reply.is_whole => None,
        reply => Some(reply),
    }
}

/// Requests a text file of the service, without credentials.
///
/// # Errors
/// See [`get`].
pub async fn get_text(url: &str) -> Result<String, ApiError> {
    text(exchange(Request::get(url), None, LIMITS).await?)
}

/// Requests a text file from the host of the page, bypassing the browser's cache.
///
/// # Errors
/// See [`get`].
pub async fn get_fresh_text(url: &str) -> Result<String, ApiError> {
    let request = Request::get(url).cache(RequestCache::NoStore);
    text(exchange(request, None, LIMITS).await?)
}

fn text(reply: Reply) -> Result<String, ApiError> {
    String::from_utf8(reply.ok()?.body.bytes())
        .map_err(|_| ApiError::malformed("the file is not UTF-8 text"))
}

/// Requests a file at its own address, such as an output, of at most `max_bytes` bytes, without credentials and referrer.
///
/// # Errors
/// See [`get`].
pub async fn get_blob(url: &str, max_bytes: u64) -> Result<Blob, ApiError> {
    let request = Request::get(url).credentials(RequestCredentials::Omit);
    let limits = ReplyLimits::new(max_bytes, FILE_TIMEOUT_MS);
    let reply = exchange(request, None, limits).await?.ok()?;
    reply.body.blob(&reply.mime)
}

/// Returns the size of a file in bytes as reported by its host, without fetching the file.
pub async fn content_length(url: &str) -> Option<u64> {
    let request = Request::get(url).method(Method::HEAD);
    let request = request
        .credentials(RequestCredentials::Omit)
        .referrer_policy(ReferrerPolicy::NoReferrer);
    let reply = request.send().await.ok().filter(Response::ok)?;
    reply.headers().get("content-length")?.parse().ok()
}

/// Sends a `GET` request with credentials. Redirects are not followed, so that the token is sent to this address only.
///
/// # Errors
/// See [`get`]; also a redirect, or a body that is not JSON.
pub async fn get_with(url: &str, credentials: &Credentials) -> Result<Value, ApiError> {
    let request = Request::get(url)
        .header("Authorization", &credentials.authorization())
        .redirect(RequestRedirect::Manual)
        .cache(RequestCache::NoStore);
    exchange(request, None, LIMITS).await?.into_json()
}

/// Sends a `POST` request to a v2 endpoint. Redirects are not followed, so that the token is sent to this address only.
///
/// # Errors
/// See [`get_with`]. A generate request that was refused but whose tasks were accepted is no error
/// ([`envelope::submitted`]).
pub async fn post_json(
    kind: CallKind,
    limits: ReplyLimits,
    url: &str,
    body: &Value,
    credentials: &Credentials,
    idempotency_key: Option<&str>,
) -> Result<Value, ApiError> {
    let builder = Request::post(url)
        .header("Content-Type", "application/json")
        .header("Authorization", &credentials.authorization())
        .redirect(RequestRedirect::Manual)
        .cache(RequestCache::NoStore);
    let builder = match idempotency_key {
        Some(key) => builder.header(IDEMPOTENCY_HEADER, key),
        None => builder,
    };
    let reply = exchange(builder, Some(body.to_string()), limits).await?;
    match kind {
        CallKind::Generate => reply.read_json(envelope::submitted),
        CallKind::Status | CallKind::Response | CallKind::Cancel => reply.into_json(),
    }
}

struct Reply {
    status: u16,
    retry_after_ms: Option<u64>,
    mime: String,
    body: Body,
    /// Whether the connection lasted until the end of the body.
    is_whole: bool,
}

impl Reply {
    /// Returns the reply if its status is a success and its body is complete.
    fn ok(self) -> Result<Self, ApiError> {
        if (200..300).contains(&self.status) {
            return if self.is_complete() {
                Ok(self)
            } else {
                Err(cut_off())
            };
        }
        let body = json::parse(&self.body.bytes()).ok();
        Err(ApiError::from_status(
            self.status,
            body.as_ref(),
            self.retry_after_ms,
        ))
    }

    /// Returns whether the body is complete. A JSON object is complete if it can be parsed, even if the connection broke
    /// after it. Only JSON is parsed, not a video for example.
    fn is_complete(&self) -> bool {
        let is_json = self.mime.starts_with("application/json");
        self.is_whole || is_json && json::parse(&self.body.bytes()).is_ok_and(|it| it.is_object())
    }

    fn into_json(self) -> Result<Value, ApiError> {
        self.read_json(envelope::answer)
    }

    fn read_json(
        self,
        read: fn(u16, Value, Option<u64>) -> Result<Value, ApiError>,
    ) -> Result<Value, ApiError> {
        let bytes = self.body.bytes();
        match json::parse(&bytes) {
            Ok(body) if self.is_whole || body.is_object() => {
                read(self.status, body, self.retry_after_ms)
            }
            // A refusal that was cut off may have contained the ids of accepted tasks. The statuses 429 and 503 need no
            // body.
            _ if !self.is_whole && !matches!(self.status, 429 | 503) => Err(cut_off()),
            _ => Err(ApiError::not_json(&self.ok()?.body.bytes())),
        }
    }
}

/// Sends a request and reads the reply. Boxed, so that the code exists once and not in each caller.
fn exchange(
    builder: RequestBuilder,
    body: Option<String>,
    limits: ReplyLimits,
) -> LocalBoxFuture<'static, Result<Reply, ApiError>> {
    exchange_once(builder, body, limits).boxed_local()
}

async fn exchange_once(
    builder: RequestBuilder,
    body: Option<String>,
    limits: ReplyLimits,
) -> Result<Reply, ApiError> {
    let guard = AbortGuard::new()?;
    let builder = builder
        .referrer_policy(ReferrerPolicy::NoReferrer)
        .abort_signal(Some(&guard.0.signal()));
    let request = match body {
        Some(body) => builder.body(body),
        None => builder.build(),
    }
    .map_err(network)?;
    let response = async { request.send().await.map_err(network) };
    receive(guard, response.boxed_local(), limits).await
}

/// Waits for the complete reply. Aborts the request if it takes longer than the limits.
async fn receive(
    _guard: AbortGuard,
    response: LocalBoxFuture<'static, Result<Response, ApiError>>,
    limits: ReplyLimits,
) -> Result<Reply, ApiError> {
    let has_response = Cell::new(false);
    let mut work = Box::pin(async {
        let response = response.await?;
        has_response.set(true);
        read(response, limits.bytes).await
    });
    for wait_ms in [limits.timeout_ms, limits.more_ms] {
        match select(work, TimeoutFuture::new(wait_ms)).await {
            Either::Left((result, _)) => return result,
            Either::Right((_, rest)) => work = rest,
        }
        if !has_response.get() {
            return Err(ApiError::Timeout {
                after_ms: limits.timeout_ms.into(),
            });
        }
    }
    Err(cut_off())
}

async fn read(response: Response, max_bytes: u64) -> Result<Reply, ApiError> {
    refuse_redirect(&response)?;
    let headers = response.headers();
    // An error reply contains an explanation instead of a file, so the limit for JSON applies.
    let max_bytes = if response.ok() {
        max_bytes
    } else {
        LIMITS.bytes
    };
    let (body, is_whole) = read_bounded(&response, max_bytes).await?;
    Ok(Reply {
        status: response.status(),
        retry_after_ms: retry_after_ms(&|name| headers.get(name)),
        mime: headers.get("Content-Type").unwrap_or_default(),
        body: Body(body),
        is_whole,
    })
}

/// Returns an error if the reply is a redirect that was not followed.
pub(super) fn refuse_redirect(response: &Response) -> Result<(), ApiError> {
    match response.type_() {
        ResponseType::Opaqueredirect => Err(redirected()),
        _ => Ok(()),
    }
}

pub(super) fn redirected() -> ApiError {
    ApiError::Network {
        detail: ApiError::REDIRECTED.into(),
    }
}

/// Returns the wait that a reply asks for, in milliseconds. `header`: returns a header of the reply.
pub(super) fn retry_after_ms(header: &dyn Fn(&str) -> Option<String>) -> Option<u64> {
    // Uses the clock of the service if the page may read this header, because the local clock may be wrong.
    let now = header("Date")
        .and_then(|date| clock::parse_http_date(&date))
        .unwrap_or_else(clock::now);
    parse_retry_after(&header("Retry-After")?, now, clock::parse_http_date)
}

/// Reads the body chunk by chunk, so that an endless body is aborted before it fills the memory. Also returns whether the
/// end of the body was reached.
async fn read_bounded(response: &Response, max_bytes: u64) -> Result<(Array, bool), ApiError> {
    let parts = Array::new();
    let mut left = max_bytes;
    let Some(stream) = response.body() else {
        return Ok((parts, true));
    };
    let reader: ReadableStreamDefaultReader = stream.get_reader().unchecked_into();
    loop {
        let Ok(chunk) = JsFuture::from(reader.read()).await else {
            return Ok((parts, false));
        };
        let Some(chunk) = chunk_bytes(&chunk)? else {
            return Ok((parts, true));
        };
        let Some(rest) = left.checked_sub(chunk.length().into()) else {
            // The guard aborts the request, and with it the reader.
            return Err(ApiError::malformed(ApiError::TOO_LARGE));
        };
        left = rest;
        parts.push(&chunk);
    }
}

/// Returns the bytes of a chunk that a reader has returned; `None` at the end of the body.
pub(super) fn chunk_bytes(chunk: &JsValue) -> Result<Option<Uint8Array>, ApiError> {
    let done = Reflect::get(chunk, &"done".into()).map_err(broken)?;
    if done.is_truthy() {
        return Ok(None);
    }
    let value = Reflect::get(chunk, &"value".into()).map_err(broken)?;
    Ok(Some(value.unchecked_into()))
}

pub(super) fn network(error: gloo_net::Error) -> ApiError {
    ApiError::Network {
        detail: error.to_string(),
    }
}

fn cut_off() -> ApiError {
    ApiError::Network {
        detail: ApiError::CUT_OFF.into(),
    }
}

/// Drops the browser's message about a broken reply, because it does not help.
pub(super) fn broken(_: JsValue) -> ApiError {
    cut_off()
}

/// Aborts a request when its future is dropped, which the browser does not do by itself.
pub(super) struct AbortGuard(pub(super) AbortController);

impl AbortGuard {
    pub(super) fn new() -> Result<Self, ApiError> {
        AbortController::new().map(Self).map_err(broken)
    }
}

impl Drop for AbortGuard {
    fn drop(&mut self) {
        self.0.abort();
    }
}

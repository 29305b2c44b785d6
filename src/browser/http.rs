//! HTTP calls to the service: bounded in time and size, aborted when dropped, every failure an
//! [`ApiError`].

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

/// Replies larger than this are not read on: no JSON of the interface comes near it.
const LIMITS: ReplyLimits = ReplyLimits::new(16 << 20, 30_000);

/// The list of models grows with the service: a hundred thousand entries are 25 MB.
const LIST_LIMITS: ReplyLimits = ReplyLimits::new(128 << 20, LIMITS.timeout_ms);

/// A long video over a slow line.
const FILE_TIMEOUT_MS: u32 = 900_000;

/// The body of a reply as it came, in parts: what is large does not stay in the memory of the wasm.
pub struct Body(Array);

impl Body {
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

    /// The same, outside of the memory of the wasm.
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

    /// # Errors
    /// If the browser has no room for it.
    fn blob(&self, mime: &str) -> Result<Blob, ApiError> {
        let options = BlobPropertyBag::new();
        options.set_type(mime);
        Blob::new_with_u8_array_sequence_and_options(&self.0, &options).map_err(broken)
    }
}

/// `GET` of a discovery endpoint, without credentials.
///
/// # Errors
/// As for every call here: there was no answer in time, it broke off or was too large, or it was no success.
pub async fn get(url: &str) -> Result<Body, ApiError> {
    let reply = exchange(Request::get(url), None, LIMITS).await?;
    Ok(reply.ok()?.body)
}

/// `GET` of the list of models, which the page may have asked for already, while the program was
/// loading. Where that came to nothing, it is asked for once more.
///
/// Whatever the browser has kept, the service is asked: who is not there can't be sent anything.
///
/// # Errors
/// No whole answer in time, an HTTP status outside 200–299, or a body that is too large.
pub async fn get_models(url: &str) -> Result<Body, ApiError> {
    let early = early::take(url);
    if let Some(body) = early.as_ref().and_then(Early::body) {
        return Ok(Body(Array::of1(&body)));
    }
    let early = match early {
        Some(early) => answered_early(early).await,
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

/// The answer to the early call; `None` if it did not reach the service, or its answer did not arrive.
async fn answered_early(early: Early) -> Option<Result<Reply, ApiError>> {
    let response = async {
        let response = JsFuture::from(early.answer).await.map_err(broken)?;
        let response: web_sys::Response = response.dyn_into().map_err(broken)?;
        Ok(Response::from(response))
    };
    let guard = AbortGuard(early.controller);
    match answered(guard, response.boxed_local(), LIST_LIMITS).await {
        Err(ApiError::Network { .. }) => None,
        Ok(reply) if !reply.is_whole => None,
        reply => Some(reply),
    }
}

/// `GET` of a text file of the service, without credentials.
///
/// # Errors
/// As for [`get_models`].
pub async fn get_text(url: &str) -> Result<String, ApiError> {
    text(exchange(Request::get(url), None, LIMITS).await?)
}

/// A text as the page's own host gives it out now, whatever the browser has kept.
///
/// # Errors
/// As for [`get_models`].
pub async fn get_fresh_text(url: &str) -> Result<String, ApiError> {
    let request = Request::get(url).cache(RequestCache::NoStore);
    text(exchange(request, None, LIMITS).await?)
}

fn text(reply: Reply) -> Result<String, ApiError> {
    String::from_utf8(reply.ok()?.body.bytes())
        .map_err(|_| ApiError::malformed("the file is not UTF-8 text"))
}

/// A file at its own address, e.g. an output, of at most so many bytes: no credentials, no
/// referrer.
///
/// # Errors
/// As for [`get_models`].
pub async fn get_blob(url: &str, most: u64) -> Result<Blob, ApiError> {
    let request = Request::get(url).credentials(RequestCredentials::Omit);
    let limits = ReplyLimits::new(most, FILE_TIMEOUT_MS);
    let reply = exchange(request, None, limits).await?.ok()?;
    reply.body.blob(&reply.mime)
}

/// How long a file is, as its host says it without giving it.
pub async fn content_length(url: &str) -> Option<u64> {
    let request = Request::get(url).method(Method::HEAD);
    let request = request
        .credentials(RequestCredentials::Omit)
        .referrer_policy(ReferrerPolicy::NoReferrer);
    let reply = request.send().await.ok().filter(Response::ok)?;
    reply.headers().get("content-length")?.parse().ok()
}

/// `GET` with credentials. The token goes to this address alone: a redirect is not followed.
///
/// # Errors
/// As for [`get_models`]; also a redirect, or a body that is no JSON.
pub async fn get_with(url: &str, credentials: &Credentials) -> Result<Value, ApiError> {
    let request = Request::get(url)
        .header("Authorization", &credentials.authorization())
        .redirect(RequestRedirect::Manual)
        .cache(RequestCache::NoStore);
    exchange(request, None, LIMITS).await?.into_json()
}

/// `POST` of a v2 endpoint. The token goes to this address alone: a redirect is not followed.
///
/// # Errors
/// As for [`get_with`]; none if a generate was refused but took tasks ([`envelope::submitted`]).
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
        CallKind::Status | CallKind::Response => reply.into_json(),
    }
}

struct Reply {
    status: u16,
    retry_after_ms: Option<u64>,
    mime: String,
    body: Body,
    /// Otherwise the connection broke before its end was said.
    is_whole: bool,
}

impl Reply {
    /// Itself, where it is one of success.
    fn ok(self) -> Result<Self, ApiError> {
        if (200..300).contains(&self.status) {
            return if self.has_its_end() {
                Ok(self)
            } else {
                Err(cut())
            };
        }
        let body = json::parse(&self.body.bytes()).ok();
        Err(ApiError::from_status(
            self.status,
            body.as_ref(),
            self.retry_after_ms,
        ))
    }

    /// A JSON object has its end in itself, whatever became of the connection after it. A film is not looked at.
    fn has_its_end(&self) -> bool {
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
            // A refusal may have had the id of what was taken all the same; that the service wants no calls is told
            // by its head.
            _ if !self.is_whole && !matches!(self.status, 429 | 503) => Err(cut()),
            _ => Err(ApiError::not_json(&self.ok()?.body.bytes())),
        }
    }
}

/// Boxed, so that its code is there once and not in each of its callers.
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
    answered(guard, response.boxed_local(), limits).await
}

/// The whole reply, in time; else the call is ended.
async fn answered(
    _guard: AbortGuard,
    response: LocalBoxFuture<'static, Result<Response, ApiError>>,
    limits: ReplyLimits,
) -> Result<Reply, ApiError> {
    let has_begun = Cell::new(false);
    let mut work = Box::pin(async {
        let response = response.await?;
        has_begun.set(true);
        read(response, limits.bytes).await
    });
    for wait_ms in [limits.timeout_ms, limits.more_ms] {
        match select(work, TimeoutFuture::new(wait_ms)).await {
            Either::Left((result, _)) => return result,
            Either::Right((_, rest)) => work = rest,
        }
        if !has_begun.get() {
            return Err(ApiError::Timeout {
                after_ms: limits.timeout_ms.into(),
            });
        }
    }
    Err(cut())
}

async fn read(response: Response, most_bytes: u64) -> Result<Reply, ApiError> {
    if response.type_() == ResponseType::Opaqueredirect {
        return Err(ApiError::Network {
            detail: ApiError::REDIRECTED.into(),
        });
    }
    let headers = response.headers();
    // The service's own clock where we may read it, so that a wrong local one does not matter.
    let now = headers
        .get("Date")
        .and_then(|date| clock::parse_http_date(&date))
        .unwrap_or_else(clock::now);
    // An answer that is no success holds an explanation instead of a file, and is read as any reply.
    let most_bytes = if response.ok() {
        most_bytes
    } else {
        LIMITS.bytes
    };
    let (body, is_whole) = read_bounded(&response, most_bytes).await?;
    Ok(Reply {
        status: response.status(),
        retry_after_ms: headers
            .get("Retry-After")
            .and_then(|header| parse_retry_after(&header, now, clock::parse_http_date)),
        mime: headers.get("Content-Type").unwrap_or_default(),
        body: Body(body),
        is_whole,
    })
}

/// Reads the body chunk by chunk, so that an endless one is given up instead of filling memory; and whether
/// its end was said.
async fn read_bounded(response: &Response, most_bytes: u64) -> Result<(Array, bool), ApiError> {
    let parts = Array::new();
    let mut left = most_bytes;
    let Some(stream) = response.body() else {
        return Ok((parts, true));
    };
    let reader: ReadableStreamDefaultReader = stream.get_reader().unchecked_into();
    loop {
        let Ok(chunk) = JsFuture::from(reader.read()).await else {
            return Ok((parts, false));
        };
        let done = Reflect::get(&chunk, &"done".into()).map_err(broken)?;
        if done.is_truthy() {
            return Ok((parts, true));
        }
        let value = Reflect::get(&chunk, &"value".into()).map_err(broken)?;
        let chunk: Uint8Array = value.unchecked_into();
        let Some(rest) = left.checked_sub(chunk.length().into()) else {
            // The reader is given up with the request: the guard aborts it.
            return Err(ApiError::malformed(ApiError::TOO_LARGE));
        };
        left = rest;
        parts.push(&chunk);
    }
}

fn network(error: gloo_net::Error) -> ApiError {
    ApiError::Network {
        detail: error.to_string(),
    }
}

fn cut() -> ApiError {
    ApiError::Network {
        detail: ApiError::CUT_OFF.into(),
    }
}

/// The browser's own words for a broken answer are of no help, so that they are dropped.
fn broken(_: JsValue) -> ApiError {
    cut()
}

/// Dropping the future of a call ends the call: the browser does not by itself.
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

//! Inspects a file at its own address without fetching all of it, and without credentials and referrer.

use atelier_contract::ApiError;
use atelier_studio::form::upload::expiry;
use atelier_studio::output::file_type::HEAD_LENGTH;
use atelier_studio::output::output_access::FileStart;
use futures::future::{Either, FutureExt, LocalBoxFuture, select};
use gloo_net::http::{Method, Request, RequestBuilder, Response};
use gloo_timers::future::TimeoutFuture;
use js_sys::{Reflect, Uint8Array};
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::{
    Blob, ReadableStreamDefaultReader, ReferrerPolicy, RequestCache, RequestCredentials,
    RequestMode,
};

use super::http::AbortGuard;

/// How long to wait for a host, in milliseconds.
const TIMEOUT_MS: u32 = 20_000;

/// How long to wait for the status of a file, in milliseconds: Generate waits for it.
const STATUS_TIMEOUT_MS: u32 = 5_000;

/// Returns the start of the file.
///
/// # Errors
/// No reply in time that the page may read, or a status outside 200–299.
pub async fn start(url: &str) -> Result<FileStart, ApiError> {
    let guard = AbortGuard::new()?;
    let request = plain(Request::get(url), &guard);
    let work = async {
        let response = request.send().await.map_err(|_| broken())?;
        if !response.ok() {
            return Err(ApiError::from_status(response.status(), None, None));
        }
        Ok(FileStart {
            mime: response.headers().get("Content-Type").unwrap_or_default(),
            head: read_head(&response).await.map_err(|_| broken())?,
        })
    };
    let done = in_time(TIMEOUT_MS, work.boxed_local()).await;
    done.unwrap_or_else(|| {
        Err(ApiError::Timeout {
            after_ms: TIMEOUT_MS.into(),
        })
    })
}

/// Returns whether the host replies at all, even if the page may not read the reply.
pub async fn is_answered(url: &str) -> bool {
    let Ok(guard) = AbortGuard::new() else {
        return false;
    };
    let request = plain(Request::get(url).method(Method::HEAD), &guard);
    let request = request.mode(RequestMode::NoCors);
    let work = async move { request.send().await.is_ok() };
    in_time(TIMEOUT_MS, work.boxed_local()).await == Some(true)
}

/// Returns whether the host replies but does not allow the page to read the reply (CORS).
pub async fn is_unreadable(url: &str) -> bool {
    is_answered(url).await && matches!(start(url).await, Err(ApiError::Network { .. }))
}

/// Returns whether the host replies that it has no such file. The browser's cache is not used.
pub async fn is_gone(url: &str) -> bool {
    is_missing(url).await == Some(true)
}

/// Returns whether the host replies that it has no such file; `None` if there is no reply in time that says so and that the
/// page may read. The browser's cache is not used.
pub async fn is_missing(url: &str) -> Option<bool> {
    match is_missing_by(Method::HEAD, url).await? {
        // A host may know only GET.
        true => is_missing_by(Method::GET, url).await,
        false => Some(false),
    }
}

/// Returns what the reply to a request of this method says, as [`is_missing`].
async fn is_missing_by(method: Method, url: &str) -> Option<bool> {
    // Aborts the transfer of the file at the end.
    let guard = AbortGuard::new().ok()?;
    let request = plain(Request::get(url).method(method), &guard);
    let request = request.cache(RequestCache::NoStore);
    let work = async move { expiry::is_missing(request.send().await.ok()?.status()) };
    in_time(STATUS_TIMEOUT_MS, work.boxed_local())
        .await
        .flatten()
}

/// Returns the first bytes of a file that the page has.
pub async fn head_of(file: &Blob) -> Vec<u8> {
    let Ok(head) = file.slice_with_i32_and_i32(0, HEAD_LENGTH as i32) else {
        return Vec::new();
    };
    let bytes = JsFuture::from(head.array_buffer()).await;
    bytes.map_or_else(|_| Vec::new(), |bytes| Uint8Array::new(&bytes).to_vec())
}

fn plain(builder: RequestBuilder, guard: &AbortGuard) -> RequestBuilder {
    builder
        .credentials(RequestCredentials::Omit)
        .referrer_policy(ReferrerPolicy::NoReferrer)
        .abort_signal(Some(&guard.0.signal()))
}

async fn in_time<T>(timeout_ms: u32, work: LocalBoxFuture<'_, T>) -> Option<T> {
    match select(work, TimeoutFuture::new(timeout_ms)).await {
        Either::Left((result, _)) => Some(result),
        Either::Right(_) => None,
    }
}

async fn read_head(response: &Response) -> Result<Vec<u8>, JsValue> {
    let mut head = Vec::new();
    let Some(stream) = response.body() else {
        return Ok(head);
    };
    let reader: ReadableStreamDefaultReader = stream.get_reader().unchecked_into();
    while head.len() < HEAD_LENGTH {
        let chunk = JsFuture::from(reader.read()).await?;
        if Reflect::get(&chunk, &"done".into())?.is_truthy() {
            break;
        }
        let chunk: Uint8Array = Reflect::get(&chunk, &"value".into())?.unchecked_into();
        let rest = (HEAD_LENGTH - head.len()) as u32;
        head.extend(chunk.subarray(0, rest.min(chunk.length())).to_vec());
    }
    Ok(head)
}

fn broken() -> ApiError {
    ApiError::Network {
        detail: "the file's start could not be read".into(),
    }
}

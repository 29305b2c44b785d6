//! Reads a stream of server-sent events with credentials, which `EventSource` does not send.

use atelier_contract::{ApiError, Credentials, ServerEvent, ServerEventParser};
use gloo_net::http::{Request, Response};
use wasm_bindgen::JsCast;
use wasm_bindgen_futures::JsFuture;
use web_sys::{
    AbortSignal, ReadableStreamDefaultReader, ReferrerPolicy, RequestCache, RequestRedirect,
};

use super::http::{AbortGuard, broken, chunk_bytes, network, refuse_redirect, retry_after_ms};
use crate::reactive::boxed::spawn;

/// Receives the events of a chunk, of which there may be none.
type Receiver = Box<dyn FnMut(&[ServerEvent])>;

/// A stream of server-sent events. It is closed when this is dropped; nothing is received after that.
pub struct EventStream(
    #[expect(dead_code, reason = "aborts the request when it is dropped")] AbortGuard,
);

impl EventStream {
    /// Opens a stream that continues after the event `last_event`, if it is known. Calls `ended` at its end, with the
    /// error if it could not be opened.
    ///
    /// # Errors
    ///
    /// The browser can't abort requests.
    pub fn open(
        url: &str,
        credentials: &Credentials,
        last_event: Option<&str>,
        receive: Receiver,
        ended: Box<dyn FnOnce(Option<ApiError>)>,
    ) -> Result<Self, ApiError> {
        let guard = AbortGuard::new()?;
        let signal = guard.0.signal();
        // Redirects are not followed, so that the token is sent to this address only.
        let mut request = Request::get(url)
            .header("Authorization", &credentials.authorization())
            .redirect(RequestRedirect::Manual)
            .cache(RequestCache::NoStore)
            .referrer_policy(ReferrerPolicy::NoReferrer)
            .abort_signal(Some(&signal));
        if let Some(id) = last_event {
            request = request.header("Last-Event-ID", id);
        }
        spawn(async move {
            let result = match request.send().await {
                Ok(response) => read(&response, &signal, receive).await,
                Err(error) => Err(network(error)),
            };
            if !signal.aborted() {
                ended(result.err());
            }
        });
        Ok(Self(guard))
    }
}

async fn read(
    response: &Response,
    signal: &AbortSignal,
    mut receive: Receiver,
) -> Result<(), ApiError> {
    refuse_redirect(response)?;
    let headers = response.headers();
    if !response.ok() {
        let retry_after_ms = retry_after_ms(&|name| headers.get(name));
        return Err(ApiError::from_status(
            response.status(),
            None,
            retry_after_ms,
        ));
    }
    let mime = headers.get("Content-Type").unwrap_or_default();
    let stream = response
        .body()
        .filter(|_| mime.starts_with("text/event-stream"));
    let stream = stream.ok_or_else(|| ApiError::malformed("it is not a stream of events"))?;
    let reader: ReadableStreamDefaultReader = stream.get_reader().unchecked_into();
    let mut parser = ServerEventParser::default();
    loop {
        let chunk = JsFuture::from(reader.read()).await.map_err(broken)?;
        let Some(bytes) = chunk_bytes(&chunk)? else {
            return Ok(());
        };
        let events = parser.push(&bytes.to_vec());
        let events = events.ok_or_else(|| ApiError::malformed(ApiError::TOO_LARGE))?;
        if signal.aborted() {
            return Ok(());
        }
        receive(&events);
    }
}

#[cfg(test)]
mod tests {
    use wasm_bindgen::JsValue;
    use wasm_bindgen_test::wasm_bindgen_test;

    use super::*;

    /// Reads a response that a script creates.
    async fn read_response(script: &str) -> Result<(), ApiError> {
        let response = js_sys::Function::new_no_args(script).call0(&JsValue::UNDEFINED);
        let response: web_sys::Response = response.expect("a response").unchecked_into();
        let guard = AbortGuard::new().expect("an abort controller");
        read(&response.into(), &guard.0.signal(), Box::new(|_| ())).await
    }

    /// Guards against a redirect that counts as a refusal, so that there is no stream for ten minutes.
    #[wasm_bindgen_test]
    async fn redirect_is_a_retryable_error() {
        let error = read_response(
            "const value = (value) => ({ value });
            return Object.defineProperties(new Response(), {
                type: value('opaqueredirect'), status: value(0), ok: value(false),
            })",
        )
        .await
        .expect_err("a redirect");
        assert!(error.is_retryable(), "{error:?}");
        assert!(matches!(error, ApiError::Network { detail } if detail == ApiError::REDIRECTED));
    }

    /// Guards against a wrong clock of this device, by which the wait would be years.
    #[wasm_bindgen_test]
    async fn retry_after_is_relative_to_the_date_of_the_reply() {
        let error = read_response(
            "const date = (seconds) => new Date(4e12 + seconds * 1e3).toUTCString();
            const headers = { Date: date(0), 'Retry-After': date(30) };
            return new Response('', { status: 503, headers })",
        )
        .await
        .expect_err("an error");
        assert_eq!(error.retry_after_ms(), Some(30_000));
    }
}

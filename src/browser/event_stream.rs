//! Reads a stream of server-sent events with credentials, which `EventSource` does not send.

use atelier_contract::{ApiError, Credentials, ServerEvent, ServerEventParser, parse_retry_after};
use gloo_net::http::{Request, Response};
use wasm_bindgen::JsCast;
use wasm_bindgen_futures::JsFuture;
use web_sys::{
    AbortSignal, ReadableStreamDefaultReader, ReferrerPolicy, RequestCache, RequestRedirect,
};

use super::clock;
use super::http::{AbortGuard, broken, chunk_bytes, network};
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
    let headers = response.headers();
    if !response.ok() {
        let retry_after_ms = headers
            .get("Retry-After")
            .and_then(|header| parse_retry_after(&header, clock::now(), clock::parse_http_date));
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

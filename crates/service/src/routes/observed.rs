//! Logs and counts every call: its id, its duration, and why it was refused.

use std::sync::Arc;
use std::time::Instant;

use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method};
use axum::middleware::Next;
use axum::response::Response;
use tracing::Instrument;

use crate::failure::Refusal;
use crate::outputs::ROUTE as OUTPUTS;
use crate::state::App;

/// The id of a call, in its response and in the log.
pub const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// The maximum length of an id that is adopted from the caller.
const MAX_LENGTH: usize = 128;

/// Counts and logs a call. Logs its route, but no tokens, prompts or URLs.
pub async fn observe(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let started = Instant::now();
    let id = request_id(request.headers());
    let route = route(&request);
    let reads = matches!(
        *request.method(),
        Method::GET | Method::HEAD | Method::OPTIONS
    ) || route.starts_with("/v2/status")
        || route.starts_with("/v2/response");
    // The span has the highest level, so that no log filter removes the id from a line.
    let call = tracing::error_span!("call", request_id = %id);
    let mut response = next.run(request).instrument(call.clone()).await;
    let took = started.elapsed();
    let status = response.status();
    app.metrics.count_call(&route, status.as_u16(), took);
    let refusal = response.extensions_mut().remove::<Refusal>();
    if let Some(Refusal(reason)) = &refusal {
        app.metrics.count_refusal(reason);
    }
    call.in_scope(|| {
        let status = status.as_u16();
        let ms = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
        match &refusal {
            Some(Refusal(reason)) => tracing::info!(route, status, ms, reason, "refused"),
            // Polls are frequent, so they are only traced.
            None if reads => tracing::trace!(route, status, ms, "answered"),
            None => tracing::info!(route, status, ms, "answered"),
        }
    });
    if let Ok(id) = HeaderValue::from_str(&id) {
        response.headers_mut().insert(REQUEST_ID, id);
    }
    response
}

/// Returns the caller's id if it needs no escaping in a log; otherwise a new one.
fn request_id(headers: &HeaderMap) -> String {
    let is_plain = |b: u8| b.is_ascii_alphanumeric() || b"-_.".contains(&b);
    let given = headers.get(REQUEST_ID).and_then(|id| id.to_str().ok());
    match given {
        Some(id) if (1..=MAX_LENGTH).contains(&id.len()) && id.bytes().all(is_plain) => {
            id.to_owned()
        }
        _ => format!("{:016x}", getrandom::u64().unwrap_or_default()),
    }
}

/// Returns the route with its placeholders, so that metrics have few labels.
fn route(request: &Request) -> String {
    match request.extensions().get::<MatchedPath>() {
        Some(path) => path.as_str().to_owned(),
        None if request.uri().path().starts_with(OUTPUTS) => OUTPUTS.to_owned(),
        None => "other".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plain_id_of_the_caller_is_adopted() {
        let of = |id: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(REQUEST_ID, HeaderValue::from_bytes(id.as_bytes()).unwrap());
            request_id(&headers)
        };
        assert_eq!(of("3f2c-A.b_1"), "3f2c-A.b_1");
        assert_eq!(of(&"x".repeat(128)).len(), 128);
        for odd in ["", "a b", "a\"b", "é", &"x".repeat(129)] {
            assert_eq!(of(odd).len(), 16, "{odd}");
        }
        assert_ne!(request_id(&HeaderMap::new()), request_id(&HeaderMap::new()));
    }
}

//! The ten endpoints of INTERFACE.md, the outputs, and the pages beside them.

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, Method, StatusCode, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use futures_util::StreamExt;
use serde_json::Value;
use tower_http::cors::{Any, CorsLayer};

use crate::app::App;
use crate::failure::Failure;
use crate::outputs::ROUTE as OUTPUTS;
use crate::{auth, idempotency, origin::Origin};

mod batch;
mod discovery;
mod documentation;
mod downloads;
mod generate;
mod task;

/// The largest request body, in bytes.
pub const MAX_BODY: usize = 1 << 20;

/// Of a body that is too large, this much is read to be able to answer at all.
const MAX_DRAINED: usize = 32 << 20;

/// How long a browser may remember what CORS permits.
const PREFLIGHT_AGE: Duration = Duration::from_secs(2 * 60 * 60);

/// Every route of the service.
pub fn router(app: Arc<App>) -> Router {
    use atelier_contract::path;
    let model = "{category}/{subcategory}";
    Router::new()
        .route(path::GENERATE, post(generate::single))
        .route(path::STATUS, post(task::status))
        .route(path::RESPONSE, post(task::response))
        .route(path::GENERATE_BATCH, post(batch::generate))
        .route(path::STATUS_BATCH, post(batch::status))
        .route(path::RESPONSE_BATCH, post(batch::response))
        .route(path::MODELS, get(discovery::models))
        .route(&format!("/api/schema/{model}"), get(discovery::schema))
        .route(
            &format!("/api/openai-function/{model}"),
            get(downloads::openai_function),
        )
        .route(
            &format!("/api/comfyui-node/{model}"),
            get(downloads::comfyui_node),
        )
        .route(&format!("/api/docs/{model}"), get(documentation::page))
        .fallback(elsewhere)
        .method_not_allowed_fallback(method_not_allowed)
        .layer(from_fn_with_state(app.clone(), delayed))
        .layer(cors())
        .with_state(app)
}

/// Any page may call the service: callers are known by their token, never by a cookie.
fn cors() -> CorsLayer {
    CorsLayer::new()
        .allow_origin(Any)
        .allow_methods([Method::GET, Method::HEAD, Method::POST, Method::OPTIONS])
        .allow_headers([
            header::AUTHORIZATION,
            header::CONTENT_TYPE,
            header::RANGE,
            idempotency::HEADER,
        ])
        .expose_headers([
            header::RETRY_AFTER,
            header::DATE,
            header::CONTENT_DISPOSITION,
            header::CONTENT_LENGTH,
            header::CONTENT_RANGE,
        ])
        .max_age(PREFLIGHT_AGE)
}

/// `--latency`.
async fn delayed(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    if !app.latency.is_zero() {
        tokio::time::sleep(app.latency).await;
    }
    next.run(request).await
}

/// What has no route: an output, a file of the front-end, or nothing.
async fn elsewhere(State(app): State<Arc<App>>, request: Request) -> Response {
    let path = request.uri().path().to_owned();
    let inside = |prefix: &str| {
        path.strip_prefix(prefix)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    if inside(OUTPUTS) {
        let preparing = app.clone();
        let prepared = blocking(move || Ok(preparing.samples.prepare(&path))).await;
        return match prepared {
            Ok(Ok(())) => app.outputs.serve(request).await,
            Ok(Err(error)) => Failure::internal(error).into_response(),
            Err(failure) => failure.into_response(),
        };
    }
    let interface = inside("/api") || inside("/v2");
    match &app.site {
        Some(site) if !interface => site.serve(request).await,
        _ => {
            let message = format!("There is nothing at {path}.");
            Failure::not_found("not_found", message).into_response()
        }
    }
}

async fn method_not_allowed(method: Method) -> Failure {
    Failure::new(
        StatusCode::METHOD_NOT_ALLOWED,
        "method_not_allowed",
        format!("{method} is not a method of this endpoint."),
    )
}

/// A v2 call that may go ahead: its token is good, it is within the rate, its body is JSON.
struct Call {
    origin: Origin,
    /// The caller's access token.
    token: String,
    body: Value,
}

impl Call {
    async fn of(app: &App, headers: &HeaderMap, body: Body) -> Result<Self, Failure> {
        // Read first, whatever the answer: a client that is cut off while it sends sees a broken
        // connection instead of the answer.
        let bytes = read(body).await;
        let caller = auth::bearer(headers, app.token.as_deref())?;
        if let Some(limit) = &app.limit {
            limit.take(caller, Instant::now())?;
        }
        let bytes = bytes?;
        let body = serde_json::from_slice(&bytes)
            .map_err(|error| Failure::bad_request(format!("The body is not JSON: {error}.")))?;
        Ok(Self {
            origin: Origin::of(headers, app.public_url.as_deref()),
            token: caller.to_owned(),
            body,
        })
    }
}

/// The whole body; 413 if it is too large. What is too much is read and dropped, up to a point.
async fn read(body: Body) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    let mut length = 0;
    let mut chunks = body.into_data_stream();
    while let Some(chunk) = chunks.next().await {
        let chunk =
            chunk.map_err(|error| Failure::bad_request(format!("The body broke off: {error}.")))?;
        length += chunk.len();
        if length > MAX_DRAINED {
            break;
        }
        if length <= MAX_BODY {
            bytes.extend_from_slice(&chunk);
        } else {
            bytes = Vec::new();
        }
    }
    if length > MAX_BODY {
        return Err(Failure::new(
            StatusCode::PAYLOAD_TOO_LARGE,
            "too_large",
            format!("The body is larger than {MAX_BODY} bytes."),
        ));
    }
    Ok(bytes)
}

/// Runs work that waits for the disk or computes, away from the threads that serve requests.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Failure> + Send + 'static,
) -> Result<T, Failure> {
    tokio::task::spawn_blocking(work)
        .await
        .unwrap_or_else(|error| Err(Failure::internal(error)))
}

const NOSNIFF: (HeaderName, &str) = (header::X_CONTENT_TYPE_OPTIONS, "nosniff");

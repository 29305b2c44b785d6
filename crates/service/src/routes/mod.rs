//! The routes: the ten endpoints of INTERFACE.md, the outputs, and additional pages and files.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::{HeaderName, Method, StatusCode, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodRouter, get, post};
use tower_http::cors::{AllowOrigin, CorsLayer};

use crate::access::Access;
use crate::failure::Failure;
use crate::idempotency;
use crate::outputs::{self, ROUTE as OUTPUTS};
use crate::report::Preview;
use crate::state::App;

mod account;
mod agents;
mod batch;
mod call;
mod discovery;
mod documentation;
mod downloads;
mod events;
mod files;
mod generate;
mod health;
mod mcp;
mod model_path;
mod numbering;
mod observed;
mod openai_images;
mod openapi;
mod preview;
mod task;
mod uploads;

use call::Call;
use model_path::ModelPath;
pub use observed::REQUEST_ID;

/// How long a browser may cache the result of a CORS preflight.
const PREFLIGHT_AGE: Duration = Duration::from_secs(2 * 60 * 60);

/// Returns every endpoint: its path (in the notation that the router and OpenAPI share), its method, and its handler. A
/// test checks the document at [`openapi::PATH`] against this list.
fn endpoints() -> Vec<(&'static str, Method, MethodRouter<Arc<App>>)> {
    use atelier_contract::path;
    vec![
        (path::GENERATE, Method::POST, post(generate::single)),
        (path::STATUS, Method::POST, post(task::status)),
        (path::RESPONSE, Method::POST, post(task::response)),
        (path::GENERATE_BATCH, Method::POST, post(batch::generate)),
        (path::STATUS_BATCH, Method::POST, post(batch::status)),
        (path::RESPONSE_BATCH, Method::POST, post(batch::response)),
        (path::CANCEL, Method::POST, post(task::cancel)),
        (path::CANCEL_BATCH, Method::POST, post(batch::cancel)),
        (path::EVENTS, Method::GET, get(events::stream)),
        (path::UPLOADS, Method::POST, post(uploads::create)),
        (
            "/v1/images/generations",
            Method::POST,
            post(openai_images::generations),
        ),
        ("/v1/images/edits", Method::POST, post(openai_images::edits)),
        ("/v1/models", Method::GET, get(openai_images::models)),
        (path::MCP_ENDPOINT, Method::POST, post(mcp::call)),
        (path::MODELS, Method::GET, get(discovery::models)),
        (
            "/api/schema/{category}/{subcategory}",
            Method::GET,
            get(discovery::schema),
        ),
        (
            "/api/openai-function/{category}/{subcategory}",
            Method::GET,
            get(downloads::openai_function),
        ),
        (
            "/api/comfyui-node/{category}/{subcategory}",
            Method::GET,
            get(downloads::comfyui_node),
        ),
        (
            path::COMFYUI_NODES,
            Method::GET,
            get(downloads::comfyui_nodes),
        ),
        (
            path::OPENAI_FUNCTIONS,
            Method::GET,
            get(downloads::openai_functions),
        ),
        (path::MCP, Method::GET, get(downloads::mcp_of_all)),
        (
            "/api/mcp/{category}/{subcategory}",
            Method::GET,
            get(downloads::mcp),
        ),
        (
            "/api/docs/{category}/{subcategory}",
            Method::GET,
            get(documentation::page),
        ),
        (path::ACCOUNT, Method::GET, get(account::status)),
        (path::SKILL, Method::GET, get(agents::skill)),
        (path::LLMS, Method::GET, get(agents::llms)),
        (openapi::PATH, Method::GET, get(openapi::document)),
        (health::LIVE, Method::GET, get(health::live)),
        (health::READY, Method::GET, get(health::ready)),
    ]
}

/// Returns the router of the service.
pub fn router(app: Arc<App>) -> Router {
    endpoints()
        .into_iter()
        .fold(Router::new(), |router, (path, _, endpoint)| {
            router.route(path, endpoint)
        })
        .route(health::METRICS, get(health::metrics))
        .fallback(fallback)
        .method_not_allowed_fallback(method_not_allowed)
        .layer(from_fn_with_state(app.clone(), delay))
        .layer(cors(app.access.clone()))
        .layer(from_fn_with_state(app.access.clone(), check_access))
        .layer(from_fn_with_state(app.clone(), observed::observe))
        .with_state(app)
}

/// Returns the router of `--metrics-listen`.
pub fn metrics_router(app: Arc<App>, access: Arc<Access>) -> Router {
    Router::new()
        .route(health::METRICS, get(health::metrics_on_own_address))
        .route(health::LIVE, get(health::live))
        .route(health::READY, get(health::ready))
        .layer(from_fn_with_state(access, check_access))
        .with_state(app)
}

/// Refuses requests for other host names and from other origins.
async fn check_access(State(access): State<Arc<Access>>, request: Request, next: Next) -> Response {
    let (parts, body) = request.into_parts();
    match access.check(&parts) {
        Ok(()) => next.run(Request::from_parts(parts, body)).await,
        Err(failure) => failure.into_response(),
    }
}

/// Permits calls from allowed origins. Callers are identified by a token, never by a cookie.
fn cors(access: Arc<Access>) -> CorsLayer {
    CorsLayer::new()
        .allow_origin(AllowOrigin::predicate(move |origin, parts| {
            origin
                .to_str()
                .is_ok_and(|origin| access.is_origin_allowed(origin, parts))
        }))
        .allow_methods([Method::GET, Method::HEAD, Method::POST, Method::OPTIONS])
        .allow_headers([
            header::AUTHORIZATION,
            header::CONTENT_TYPE,
            header::RANGE,
            idempotency::HEADER,
            events::LAST_EVENT_ID,
            REQUEST_ID,
            HeaderName::from_static("mcp-protocol-version"),
            HeaderName::from_static("mcp-method"),
            HeaderName::from_static("mcp-name"),
        ])
        .expose_headers([
            header::RETRY_AFTER,
            header::DATE,
            header::CONTENT_DISPOSITION,
            header::CONTENT_LENGTH,
            header::CONTENT_RANGE,
            REQUEST_ID,
        ])
        .max_age(PREFLIGHT_AGE)
}

/// Delays each response by `--latency`.
async fn delay(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    if !app.latency.is_zero() {
        tokio::time::sleep(app.latency).await;
    }
    next.run(request).await
}

/// Answers requests without a route: with an output, a file of the front-end, or 404.
async fn fallback(State(app): State<Arc<App>>, request: Request) -> Response {
    let path = request.uri().path().to_owned();
    let inside = |prefix: &str| {
        path.strip_prefix(prefix)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    if inside(OUTPUTS) {
        if let Some(task) = Preview::task_of(&path) {
            return preview::serve(app, task.to_owned(), request.method()).await;
        }
        let preparing = app.clone();
        let prepared = run_blocking(move || Ok(preparing.samples.prepare(&path))).await;
        return match prepared {
            Ok(Ok(())) => app.outputs.serve(request).await,
            Ok(Err(error)) => outputs::sandbox(Failure::internal(error).into_response()),
            Err(failure) => outputs::sandbox(failure.into_response()),
        };
    }
    let interface = ["/api", "/mcp", "/v1", "/v2"].into_iter().any(inside);
    match &app.site {
        Some(site) if !interface => site.serve(request).await,
        _ => {
            let message = format!("There is nothing at {path}.");
            let failure = Failure::not_found("not_found", message);
            match inside("/v1") {
                true => openai_images::to_response(failure),
                false => failure.into_response(),
            }
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

/// Runs blocking or CPU-bound work on the blocking threads.
async fn run_blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Failure> + Send + 'static,
) -> Result<T, Failure> {
    // Log lines of the work get the id of the call.
    let call = tracing::Span::current();
    tokio::task::spawn_blocking(move || call.in_scope(work))
        .await
        .unwrap_or_else(|error| Err(Failure::internal(error)))
}

/// Returns whether clients need an account.
///
/// # Errors
///
/// 500 or 503 if the accounts can't be read.
async fn needs_account(app: &Arc<App>) -> Result<bool, Failure> {
    match app.accounts.has_accounts_cached() {
        Some(has_accounts) => Ok(has_accounts),
        None => {
            let app = app.clone();
            run_blocking(move || app.accounts.has_accounts().map_err(Failure::accounts)).await
        }
    }
}

/// Returns whether clients need an account; `true` if the accounts can't be read.
async fn may_need_account(app: &Arc<App>) -> bool {
    needs_account(app).await.unwrap_or(true)
}

const NOSNIFF: (HeaderName, &str) = (header::X_CONTENT_TYPE_OPTIONS, "nosniff");

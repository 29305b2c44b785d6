//! Health checks and metrics for operators.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use serde_json::{Map, Value, json};

use super::{may_need_account, run_blocking};
use crate::auth;
use crate::failure::{Failure, Refusal};
use crate::metrics::{CONTENT_TYPE, Snapshot};
use crate::state::App;
use crate::store::now_ms;

pub const LIVE: &str = "/healthz";
pub const READY: &str = "/readyz";

/// The maximum time that metrics wait for the database.
const DATABASE_TIMEOUT: Duration = Duration::from_secs(2);
pub const METRICS: &str = "/metrics";

/// Answers `GET /healthz`: the process responds.
pub async fn live() -> Json<Value> {
    Json(json!({"success": true}))
}

/// Answers `GET /readyz`: 503 if a part is not ready, with the problem of each.
pub async fn ready(State(app): State<Arc<App>>) -> Response {
    let checks = app
        .readiness
        .check(&app.store, &app.pool, &app.outputs)
        .await;
    let states: Map<String, Value> = checks
        .iter()
        .map(|check| {
            let state = check.problem.as_deref().unwrap_or("ok");
            (check.part.to_owned(), state.into())
        })
        .collect();
    let problems: Vec<&str> = checks.iter().filter_map(|c| c.problem.as_deref()).collect();
    if problems.is_empty() {
        return Json(json!({"success": true, "checks": states})).into_response();
    }
    let reason = "not_ready";
    let body = json!({
        "success": false,
        "error": reason,
        "message": problems.join(" "),
        "checks": states,
    });
    let refusal = Extension(Refusal(reason.to_owned()));
    (StatusCode::SERVICE_UNAVAILABLE, refusal, Json(body)).into_response()
}

/// Answers `GET /metrics`. The metrics cover the tasks of all owners, so they require the metrics token, if one is
/// set. Without one, they are served only if the service itself requires no token.
///
/// # Errors
///
/// 401 without the metrics token, if one is set; 403 if none is set, but the service requires a token or the metrics
/// have their own address; 500 if the metrics can't be encoded.
pub async fn metrics(State(app): State<Arc<App>>, headers: HeaderMap) -> Result<Response, Failure> {
    match &app.metrics_token {
        Some(token) => {
            auth::bearer(&headers, Some(token))?;
        }
        None if app.token.is_some() || app.has_metrics_address || may_need_account(&app).await => {
            return Err(Failure::new(
                StatusCode::FORBIDDEN,
                "metrics_closed",
                "Metrics are closed: --metrics-token opens them to clients with that token, \
                 --metrics-listen serves them at their own address.",
            ));
        }
        None => {}
    }
    render_metrics(&app).await
}

/// Answers `GET /metrics` on the listener of `--metrics-listen`.
///
/// # Errors
///
/// 401 without the metrics token, if one is set; 500 if the metrics can't be encoded.
pub async fn metrics_on_own_address(
    State(app): State<Arc<App>>,
    headers: HeaderMap,
) -> Result<Response, Failure> {
    if let Some(token) = &app.metrics_token {
        auth::bearer(&headers, Some(token))?;
    }
    render_metrics(&app).await
}

async fn render_metrics(app: &Arc<App>) -> Result<Response, Failure> {
    let webhooks_waiting = webhooks_waiting(app).await;
    let (loads, oldest) = app.pool.load();
    let waited = oldest.map(|since| now_ms().saturating_sub(since).max(0).unsigned_abs());
    let now = Snapshot {
        loads,
        oldest_wait: Duration::from_millis(waited.unwrap_or_default()),
        unavailable: app
            .models
            .remotes()
            .map(|remote| (remote.id().clone(), remote.unavailable().is_some()))
            .collect(),
        webhooks_waiting,
    };
    let text = app.metrics.text(&now).map_err(Failure::internal)?;
    Ok(([(header::CONTENT_TYPE, CONTENT_TYPE)], text).into_response())
}

/// Returns the number of webhooks that are not delivered yet; `None` if webhooks are off, or if the database does not
/// respond, because the other metrics show why.
async fn webhooks_waiting(app: &Arc<App>) -> Option<u64> {
    app.webhooks.as_ref()?;
    let store = app.store.clone();
    let count = run_blocking(move || {
        let count = store.webhooks_waiting();
        Ok(count.inspect_err(|error| tracing::error!("the number of waiting webhooks: {error}")))
    });
    let count = tokio::time::timeout(DATABASE_TIMEOUT, count).await;
    count.ok()?.ok()?.ok()
}

//! Answers operators and their programs: whether the service lives, whether it can do its work, and how much of it
//! there is.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use serde_json::{Map, Value, json};

use super::needs_account;
use crate::auth;
use crate::failure::{Failure, Refusal};
use crate::metrics::{CONTENT_TYPE, Now};
use crate::state::App;
use crate::store::now_ms;

pub const LIVE: &str = "/healthz";
pub const READY: &str = "/readyz";
pub const METRICS: &str = "/metrics";

/// The process answers.
pub async fn live() -> Json<Value> {
    Json(json!({"success": true}))
}

/// 503 names each part that is not ready.
pub async fn ready(State(app): State<Arc<App>>) -> Response {
    let checks = app
        .readiness
        .look(&app.store, &app.pool, &app.outputs)
        .await;
    let words: Map<String, Value> = checks
        .iter()
        .map(|check| {
            let state = check.problem.as_deref().unwrap_or("ok");
            (check.part.to_owned(), state.into())
        })
        .collect();
    let problems: Vec<&str> = checks.iter().filter_map(|c| c.problem.as_deref()).collect();
    if problems.is_empty() {
        return Json(json!({"success": true, "checks": words})).into_response();
    }
    let reason = "not_ready";
    let body = json!({
        "success": false,
        "error": reason,
        "message": problems.join(" "),
        "checks": words,
    });
    let refusal = Extension(Refusal(reason.to_owned()));
    (StatusCode::SERVICE_UNAVAILABLE, refusal, Json(body)).into_response()
}

/// Answers with the metrics. They are of the tasks of all owners, so not for every client: for those that have the
/// token for it, or, where none is demanded, for this machine.
///
/// # Errors
///
/// 401 without the metrics' token where there is one, 403 where there is none and other doors are closed; 500
/// if the metrics can't be written.
pub async fn metrics(State(app): State<Arc<App>>, headers: HeaderMap) -> Result<Response, Failure> {
    match &app.metrics_token {
        Some(token) => {
            auth::bearer(&headers, Some(token))?;
        }
        None if app.token.is_some() || app.metrics_elsewhere || needs_account(&app).await => {
            return Err(Failure::new(
                StatusCode::FORBIDDEN,
                "metrics_closed",
                "Metrics are not for everybody: --metrics-token opens them to whoever has it, \
                 --metrics-listen serves them at an address of their own.",
            ));
        }
        None => {}
    }
    tell(&app)
}

/// The same on a listener of their own.
///
/// # Errors
///
/// 401 without the metrics' token where there is one; 500 if the metrics can't be written.
pub async fn metrics_apart(
    State(app): State<Arc<App>>,
    headers: HeaderMap,
) -> Result<Response, Failure> {
    if let Some(token) = &app.metrics_token {
        auth::bearer(&headers, Some(token))?;
    }
    tell(&app)
}

fn tell(app: &App) -> Result<Response, Failure> {
    let (loads, oldest) = app.pool.load();
    let waited = oldest.map(|since| now_ms().saturating_sub(since).max(0).unsigned_abs());
    let now = Now {
        loads,
        oldest_wait: Duration::from_millis(waited.unwrap_or_default()),
        away: app
            .models
            .remotes()
            .map(|remote| (remote.id().clone(), remote.away().is_some()))
            .collect(),
    };
    let text = app.metrics.text(&now).map_err(Failure::internal)?;
    Ok(([(header::CONTENT_TYPE, CONTENT_TYPE)], text).into_response())
}

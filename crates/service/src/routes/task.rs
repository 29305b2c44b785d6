//! `POST /v2/status`, `POST /v2/response`, and the addition `POST /v2/cancel`.

use std::sync::Arc;

use atelier_contract::{Envelope, StatusWord};
use axum::Json;
use axum::extract::{Request, State};
use serde_json::{Value, json};

use super::generate::Common;
use super::{Call, run_blocking};
use crate::failure::{Failure, success};
use crate::origin::Origin;
use crate::report::Report;
use crate::runner::Remote;
use crate::state::App;
use crate::store::Progress;

/// Why a task is not canceled.
const NOT_CANCELABLE: &str = "The task was sent to a server that can't cancel it, and may be charged for it. It \
     continues, and its result is stored.";

/// Answers `POST /v2/status` (INTERFACE).
///
/// # Errors
///
/// As for [`Call::of`] and [`progress_of`].
pub async fn status(
    State(app): State<Arc<App>>,
    request: Request,
) -> Result<Json<Envelope<Value>>, Failure> {
    let call = Call::of(&app, request).await?;
    Ok(success(
        run_blocking(move || progress_of(&app, &call, &call.body)).await?,
    ))
}

/// Answers `POST /v2/response` (INTERFACE).
///
/// # Errors
///
/// As for [`Call::of`] and [`output_of`].
pub async fn response(
    State(app): State<Arc<App>>,
    request: Request,
) -> Result<Json<Envelope<Value>>, Failure> {
    let call = Call::of(&app, request).await?;
    Ok(success(
        run_blocking(move || output_of(&app, &call, &call.body)).await?,
    ))
}

/// Answers `POST /v2/cancel`. Not part of INTERFACE.
///
/// # Errors
///
/// As for [`Call::of`] and [`cancel_one`].
pub async fn cancel(
    State(app): State<Arc<App>>,
    request: Request,
) -> Result<Json<Envelope<Value>>, Failure> {
    let call = Call::of(&app, request).await?;
    Ok(success(
        run_blocking(move || cancel_one(&app, &call, &call.body)).await?,
    ))
}

/// Returns `{id, status}`, with `error` if the task failed, and never any output. Blocks.
///
/// # Errors
///
/// As for [`Common::read`]; also 404 if the caller has no such task of this model, 500 or 503 if the store
/// does not respond.
pub fn progress_of(app: &App, call: &Call, body: &Value) -> Result<Value, Failure> {
    let task = find(app, call, body)?;
    Ok(progress_data(app, &call.origin, &task))
}

/// Cancels a task that has not ended, and returns its progress. Blocks.
///
/// A task that has ended, or that was sent to a server that can't cancel it, does not change; for the latter, `message`
/// says so.
///
/// # Errors
///
/// As for [`progress_of`].
pub fn cancel_one(app: &App, call: &Call, body: &Value) -> Result<Value, Failure> {
    let task = find(app, call, body)?;
    if !task.status.is_terminal() && app.store.cancel(&task.id).map_err(Failure::store)? {
        app.pool.cancel(&task.id);
        app.metrics.count_ended(&task.model, &StatusWord::Failed);
        tracing::info!("task {:.8}… canceled", task.id);
    }
    let task = find(app, call, body)?;
    let mut data = progress_data(app, &call.origin, &task);
    data["canceled"] = task.canceled.into();
    if !task.status.is_terminal() {
        data["message"] = NOT_CANCELABLE.into();
    }
    Ok(data)
}

/// Returns the data of `status` for a task.
pub fn progress_data(app: &App, origin: &Origin, task: &Progress) -> Value {
    if task.status.is_terminal() {
        return task.ended_data();
    }
    let mut data = json!({"id": task.id, "status": StatusWord::Processing});
    // Not part of INTERFACE.
    let Report {
        fraction,
        message,
        preview,
    } = report_of(app, task);
    if let Some(fraction) = fraction {
        data["progress"] = fraction.into();
    }
    if !message.is_empty() {
        data["message"] = message.into();
    }
    if let Some(name) = preview {
        data["preview"] = origin.output_url(&format!("{}/{name}", task.id)).into();
    }
    data
}

/// Returns why the task's model is unavailable, or what it has reported.
fn report_of(app: &App, task: &Progress) -> Report {
    let unavailable = app.models.remote(&task.model).and_then(Remote::unavailable);
    let unavailable = unavailable.map(|why| Report::message(format!("The model is away: {why}")));
    unavailable
        .or_else(|| app.pool.report(&task.id))
        .or_else(|| task.report.clone())
        .unwrap_or_default()
}

/// Returns the status with `processing` for all unfinished tasks: `starting` and `queued` occur only in the response to
/// generate.
fn standard_status(status: &StatusWord) -> &StatusWord {
    if status.is_terminal() {
        status
    } else {
        &StatusWord::Processing
    }
}

/// Returns `{status, output}` when completed, `{status, error}` when failed, and otherwise
/// `{status: "processing"}`: an early request is not an error. Blocks.
///
/// # Errors
///
/// As for [`progress_of`]. A failed task is not an error: its message is in the body (INTERFACE "Errors" 2).
pub fn output_of(app: &App, call: &Call, body: &Value) -> Result<Value, Failure> {
    let task = find(app, call, body)?;
    Ok(match task.status {
        StatusWord::Completed => {
            let urls: Vec<String> = task
                .output
                .iter()
                .map(|path| call.origin.output_url(path))
                .collect();
            json!({"status": task.status, "output": urls})
        }
        StatusWord::Failed if task.canceled => {
            // `canceled` is not part of INTERFACE.
            json!({"status": task.status, "error": task.error, "canceled": true})
        }
        StatusWord::Failed => json!({"status": task.status, "error": task.error}),
        other => json!({"status": standard_status(&other)}),
    })
}

/// Finds the requested task. Returns 404 to clients other than its owner, and for another model.
fn find(app: &App, call: &Call, body: &Value) -> Result<Progress, Failure> {
    let common = Common::read(body, true)?;
    app.store
        .progress(common.id)
        .map_err(Failure::store)?
        .filter(|task| {
            call.can_access(&task.uid) && task.uid == common.uid && task.model == common.model
        })
        .ok_or_else(|| {
            Failure::not_found(
                "unknown_task",
                format!("There is no task {} of this user and model.", common.id),
            )
        })
}

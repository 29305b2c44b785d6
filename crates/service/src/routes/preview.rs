//! `GET /outputs/{task}/preview_….jpg`: the newest preview of a running task. Not part of INTERFACE.

use std::sync::Arc;

use axum::http::{Method, header};
use axum::response::{IntoResponse, Response};

use super::run_blocking;
use crate::failure::Failure;
use crate::outputs;
use crate::report::Preview;
use crate::state::App;

/// Serves the newest preview of the task, also for the address of an earlier one. Like outputs, it is accessible to clients
/// that know its address, and sandboxed; unlike them, it is not cached.
pub async fn serve(app: Arc<App>, task: String, method: &Method) -> Response {
    if !matches!(*method, Method::GET | Method::HEAD) {
        return outputs::sandbox(outputs::method_not_allowed());
    }
    let found = run_blocking(move || find(&app, &task)).await;
    outputs::sandbox(match found {
        Ok(preview) => {
            let content_type = [(header::CONTENT_TYPE, preview.content_type())];
            (content_type, preview.bytes.clone()).into_response()
        }
        Err(failure) => failure.into_response(),
    })
}

fn find(app: &App, task: &str) -> Result<Arc<Preview>, Failure> {
    if let Some(preview) = app.pool.preview(task) {
        // A canceled task may still be running.
        let progress = app.store.progress(task).map_err(Failure::store)?;
        let is_running = progress.is_some_and(|task| !task.status.is_terminal());
        return is_running.then_some(preview).ok_or_else(outputs::not_found);
    }
    let stored = app.store.preview(task).map_err(Failure::store)?;
    stored.map(Arc::new).ok_or_else(outputs::not_found)
}

//! OpenAI's images API for every model: `POST /v1/images/generations`, `POST /v1/images/edits` and `GET /v1/models`. Not part
//! of INTERFACE.
//!
//! A request becomes ordinary tasks, and the response waits for them. OpenAI's clients repeat a request after 408, 409, 429
//! and 5xx, after their timeout, and after a lost connection. A repeated request must not be charged again: once a task was
//! accepted, no response has one of these codes, and `submit` recognizes the repeated requests of OpenAI's packages.

use std::sync::Arc;
use std::time::Duration;

use atelier_contract::{ModelId, StatusWord};
use axum::Json;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::{Map, Value, json};

use super::call::{Admitted, MAX_BODY, admit, discard_body};
use super::generate::merge_keys;
use super::uploads::owner_of;
use super::{Call, run_blocking};
use crate::connections::Peer;
use crate::failure::Failure;
use crate::idempotency::Key;
use crate::openai_images::{MODEL, Picture, read};
use crate::state::App;
use crate::store::Progress;
use answer::answer;
use form::{Form, MAX_PICTURES};
use submit::{remember_refusal, remember_refusal_of, submit};

mod answer;
mod form;
mod submit;

/// The first and the longest pause between two checks whether a task has ended.
const FIRST_PAUSE: Duration = Duration::from_millis(50);
const MAX_PAUSE: Duration = Duration::from_secs(1);

/// The maximum length of a name in an error message, in characters.
const MAX_NAME: usize = 100;

/// Answers `GET /v1/models`: every model, as `category/subcategory`.
pub async fn models(State(app): State<Arc<App>>) -> Json<Value> {
    let entry =
        |id: String| json!({"id": id, "object": "model", "created": 0, "owned_by": "atelier"});
    let ids = app.models.iter().map(|model| model.id().to_string());
    let aliases = app.models.remotes().filter_map(|remote| remote.alias());
    let all = ids.chain(aliases.map(str::to_owned));
    Json(json!({"object": "list", "data": all.map(entry).collect::<Vec<_>>()}))
}

/// Answers `POST /v1/images/generations`.
pub async fn generations(State(app): State<Arc<App>>, request: Request) -> Response {
    let generated = async {
        let headers = request.headers().clone();
        let call = Call::of(&app, request).await;
        let call = call.inspect_err(|failure| remember_refusal(&app, &headers, failure))?;
        let fields = match &call.body {
            Value::Object(fields) => fields.clone(),
            _ => return Err(Failure::bad_request("The body must be a JSON object.")),
        };
        generate(&app, call, &fields, &[], false).await
    };
    respond(generated.await)
}

/// Answers `POST /v1/images/edits`, a form with pictures. They are stored as uploads.
pub async fn edits(State(app): State<Arc<App>>, request: Request) -> Response {
    respond(edit(&app, request).await)
}

fn respond(result: Result<Response, Failure>) -> Response {
    result.unwrap_or_else(to_response)
}

/// Returns the response to a refused call in OpenAI's form.
pub fn to_response(failure: Failure) -> Response {
    let kind = match failure.status {
        StatusCode::UNAUTHORIZED => "authentication_error",
        StatusCode::FORBIDDEN => "permission_error",
        StatusCode::TOO_MANY_REQUESTS => "rate_limit_error",
        status if status.is_server_error() => "server_error",
        _ => "invalid_request_error",
    };
    let error = json!({"error": {
        "message": failure.body.message,
        "type": kind,
        "param": failure.body.fields.first().map(|field| &field.parameter),
        "code": failure.body.error,
    }});
    // OpenAI has no 422.
    let status = match failure.status {
        StatusCode::UNPROCESSABLE_ENTITY => StatusCode::BAD_REQUEST,
        status => status,
    };
    // The headers and the record for metrics and log.
    let (mut parts, _) = failure.into_response().into_parts();
    parts.status = status;
    parts.headers.remove(header::CONTENT_LENGTH);
    Response::from_parts(parts, Body::from(error.to_string()))
}

/// Submits the tasks of a request, and waits for their outputs.
async fn generate(
    app: &Arc<App>,
    call: Call,
    fields: &Map<String, Value>,
    pictures: &[Picture],
    is_form: bool,
) -> Result<Response, Failure> {
    let model = find_model(app, fields)?;
    let order = {
        let found = app.models.find(&model);
        let schema = found.ok_or_else(|| no_such_model(&model.to_string()))?;
        read(fields, pictures, &schema.schema(), is_form)?
    };
    let key = merge_keys(Key::of_headers(&call.headers)?, Key::of_fields(fields)?)?;
    let owner = owner_of(app, call.account.as_deref(), &call.token);
    let wait = app
        .waits
        .begin(&owner)
        .inspect_err(|failure| remember_refusal_of(app, &call, &model, &order, failure))?;
    let origin = call.origin.clone();
    let is_base64 = order.is_base64;
    let submitting = app.clone();
    let ids = run_blocking(move || submit(&submitting, &call, &model, &order, key)).await?;
    let mut paths = Vec::new();
    let mut error = None;
    for (at, id) in ids.iter().enumerate() {
        match wait_for_end(app, id).await {
            End::Completed(output) => paths.extend(output),
            End::Failed(message) => {
                tracing::warn!("task {id:.8}… of a request to OpenAI's API failed");
                error = error.or(Some(message));
            }
            End::Stopping => return Err(not_ended(&ids[at..])),
        }
    }
    if let (true, Some(message)) = (paths.is_empty(), error) {
        return Err(generation_failed(message));
    }
    Ok(answer(app, &origin, paths, is_base64, wait).await)
}

fn generation_failed(message: String) -> Failure {
    Failure::new(StatusCode::BAD_REQUEST, "generation_failed", message)
}

/// Returns the error if the service stops before these tasks have ended.
fn not_ended(ids: &[String]) -> Failure {
    generation_failed(format!(
        "The service is stopping. It continues its tasks when it has started again: {}. The same request with the same \
         Idempotency-Key then waits for them.",
        ids.join(", ")
    ))
}

/// Finds the model of a request by `category/subcategory`, or by its alias.
fn find_model(app: &App, fields: &Map<String, Value>) -> Result<ModelId, Failure> {
    let name = match fields.get(MODEL) {
        Some(Value::String(name)) => name.trim(),
        _ => {
            let example = app.models.iter().next().map(|model| model.id().to_string());
            let message = format!(
                "model must be the name of a model, such as {}; GET /v1/models lists them",
                example.unwrap_or_default()
            );
            return Err(Failure::invalid_field(MODEL, message));
        }
    };
    model_named(app, name).ok_or_else(|| no_such_model(name))
}

/// Finds a model by `category/subcategory`, or by its alias.
pub(super) fn model_named(app: &App, name: &str) -> Option<ModelId> {
    let mut remotes = app.models.remotes();
    if let Some(remote) = remotes.find(|remote| remote.alias() == Some(name)) {
        return Some(remote.id().clone());
    }
    name.split_once('/')
        .map(|(category, subcategory)| ModelId::new(category, subcategory))
        .filter(|id| app.models.find(id).is_some())
}

fn no_such_model(name: &str) -> Failure {
    let name: String = name.chars().take(MAX_NAME).collect();
    let message = format!("There is no model {name}; GET /v1/models lists the models.");
    Failure::not_found("model_not_found", message)
}

/// The end of a task, or of the wait for it.
enum End {
    /// The paths of its outputs below `/outputs/`.
    Completed(Vec<String>),
    /// The error of the task.
    Failed(String),
    /// The service stops before the task has ended.
    Stopping,
}

/// Waits until a task has ended.
async fn wait_for_end(app: &Arc<App>, id: &str) -> End {
    let mut pause = FIRST_PAUSE;
    loop {
        let (reading, task) = (app.clone(), id.to_owned());
        let progress = run_blocking(move || reading.store.progress(&task).map_err(Failure::store));
        match progress.await {
            Ok(Some(Progress {
                status: StatusWord::Completed,
                output,
                ..
            })) => return End::Completed(output),
            Ok(Some(Progress {
                status: StatusWord::Failed,
                error,
                ..
            })) => return End::Failed(error.unwrap_or_else(|| "The task failed.".to_owned())),
            Ok(Some(_)) => {}
            Ok(None) => return End::Failed("The task was removed.".to_owned()),
            // The store is unavailable at the moment.
            Err(_) => pause = MAX_PAUSE,
        }
        if app.pool.is_draining() {
            return End::Stopping;
        }
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(MAX_PAUSE);
    }
}

async fn edit(app: &Arc<App>, request: Request) -> Result<Response, Failure> {
    let (parts, body) = request.into_parts();
    let peer = parts.extensions.get::<Peer>().cloned();
    let headers = parts.headers;
    let max_bytes = app.uploads.max_bytes.unwrap_or(MAX_BODY as u64);
    let max_form_bytes = max_bytes.saturating_mul(MAX_PICTURES);
    let Admitted {
        token,
        account,
        caller,
    } = match admit(app, &headers, peer.as_ref(), max_form_bytes).await {
        Ok(admitted) => admitted,
        Err(failure) => {
            remember_refusal(app, &headers, &failure);
            discard_body(&headers, body, max_form_bytes);
            return Err(failure);
        }
    };
    let owner = owner_of(app, account.as_deref(), &token);
    let reading = Form::read(app, &headers, body, &owner, max_bytes);
    let form = match &peer {
        Some(peer) => peer.evictable(reading).await,
        None => reading.await,
    };
    let form = form.inspect_err(|failure| remember_refusal(app, &headers, failure))?;
    let call = Call {
        origin: app.access.origin(&headers),
        headers,
        token,
        account,
        caller,
        body: Value::Null,
    };
    generate(app, call, &form.fields, &form.pictures, true).await
}

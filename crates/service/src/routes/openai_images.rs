//! OpenAI's images API for every model: `POST /v1/images/generations`, `POST /v1/images/edits` and `GET /v1/models`. Not part
//! of INTERFACE.
//!
//! A request becomes ordinary tasks, and the response waits for them. OpenAI's clients repeat a request after 408, 409, 429
//! and 5xx and after a lost connection. So once a task was accepted, no response has one of these codes, because the repeated
//! request would be a new task.

use std::fs;
use std::sync::Arc;
use std::time::Duration;

use atelier_contract::{IDEMPOTENCY_FIELD, ModelId, StatusWord};
use axum::Json;
use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use multer::{Constraints, Field, Multipart, SizeLimit};
use serde_json::{Map, Value, json};

use super::call::{Admitted, Chunks, MAX_BODY, admit, discard_body};
use super::generate::accept;
use super::uploads::{owner_of, store_part};
use super::{Call, run_blocking};
use crate::connections::Peer;
use crate::failure::Failure;
use crate::idempotency::Key;
use crate::openai_images::{MODEL, Order, Picture, read};
use crate::outputs::ROUTE as OUTPUTS;
use crate::state::App;
use crate::store::{Progress, now_ms};

/// The first and the longest pause between two checks whether a task has ended.
const FIRST_PAUSE: Duration = Duration::from_millis(50);
const MAX_PAUSE: Duration = Duration::from_secs(1);

/// The user of tasks if the service has no accounts.
const UID: &str = "local";

/// The maximum number of pictures in a form.
const MAX_PICTURES: u64 = 17;

/// The maximum number of other fields in a form.
const MAX_FIELDS: usize = 100;

/// The maximum duration of a whole form.
const MAX_FORM_TIME: Duration = Duration::from_secs(30 * 60);

/// A larger file is returned as its URL, even if the request asks for its bytes.
const MAX_BASE64_BYTES: u64 = 32 << 20;

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
        let call = Call::of(&app, request).await?;
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

fn respond(result: Result<Value, Failure>) -> Response {
    match result {
        Ok(body) => Json(body).into_response(),
        Err(failure) => to_response(failure),
    }
}

/// Returns the response to a refused call in OpenAI's form.
fn to_response(failure: Failure) -> Response {
    let kind = match failure.status {
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
) -> Result<Value, Failure> {
    let model = find_model(app, fields)?;
    let order = {
        let found = app.models.find(&model);
        let schema = found.ok_or_else(|| no_such_model(&model.to_string()))?;
        read(fields, pictures, &schema.schema(), is_form)?
    };
    let key = Key::of_headers(&call.headers)?;
    if let Some(limit) = &app.limit {
        limit.charge(&call.caller, order.tasks - 1);
    }
    let origin = call.origin.clone();
    let is_base64 = order.is_base64;
    let submitting = app.clone();
    let ids = run_blocking(move || submit(&submitting, &call, &model, &order, key)).await?;
    let mut paths = Vec::new();
    let mut error = None;
    for id in &ids {
        match wait_for_end(app, id).await {
            Ok(output) => paths.extend(output),
            Err(message) => error = error.or(Some(message)),
        }
    }
    if let (true, Some(message)) = (paths.is_empty(), error) {
        let code = "generation_failed";
        return Err(Failure::new(StatusCode::BAD_REQUEST, code, message));
    }
    let reading = app.clone();
    let images = run_blocking(move || {
        let image = |path: &String| {
            let url = format!("{OUTPUTS}/{path}");
            let bytes = is_base64.then(|| read_output(&reading, &url)).flatten();
            match bytes {
                Some(bytes) => json!({"b64_json": BASE64.encode(bytes)}),
                None => json!({"url": origin.url(&url)}),
            }
        };
        Ok(paths.iter().map(image).collect::<Vec<_>>())
    })
    .await?;
    Ok(json!({"created": now_ms() / 1000, "data": images}))
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
    let mut remotes = app.models.remotes();
    if let Some(remote) = remotes.find(|remote| remote.alias() == Some(name)) {
        return Ok(remote.id().clone());
    }
    name.split_once('/')
        .map(|(category, subcategory)| ModelId::new(category, subcategory))
        .filter(|id| app.models.find(id).is_some())
        .ok_or_else(|| no_such_model(name))
}

fn no_such_model(name: &str) -> Failure {
    let message = format!("There is no model {name}; GET /v1/models lists the models.");
    Failure::not_found("model_not_found", message)
}

/// Submits the tasks and returns their ids. If only some are accepted, the others are left out: a refusal would make the
/// client repeat the request, and pay for the accepted ones again.
fn submit(
    app: &App,
    call: &Call,
    model: &ModelId,
    order: &Order,
    key: Option<Key>,
) -> Result<Vec<String>, Failure> {
    let mut ids = Vec::new();
    for number in 1..=order.tasks {
        let mut body = order.input.clone();
        let uid = call.account.as_deref().unwrap_or(UID);
        body.insert("uid".into(), uid.into());
        body.insert("category".into(), model.category.as_str().into());
        body.insert("subcategory".into(), model.subcategory.as_str().into());
        if let Some(key) = &key {
            let key = match order.tasks {
                1 => key.as_str().to_owned(),
                _ => format!("{}-{number}", key.as_str()),
            };
            body.insert(IDEMPOTENCY_FIELD.into(), key.into());
        }
        match accept(app, call, &body.into(), None, StatusWord::Queued) {
            Ok(accepted) => ids.extend(accepted.data["id"].as_str().map(str::to_owned)),
            Err(failure) if ids.is_empty() => return Err(failure),
            Err(failure) => {
                let message = &failure.body.message;
                tracing::warn!(
                    "{} of {} images accepted: {message}",
                    ids.len(),
                    order.tasks
                );
                break;
            }
        }
    }
    Ok(ids)
}

/// Waits until a task has ended, and returns the paths of its outputs or its error.
async fn wait_for_end(app: &Arc<App>, id: &str) -> Result<Vec<String>, String> {
    let mut pause = FIRST_PAUSE;
    loop {
        let (reading, task) = (app.clone(), id.to_owned());
        let progress = run_blocking(move || reading.store.progress(&task).map_err(Failure::store));
        match progress.await {
            Ok(Some(Progress {
                status: StatusWord::Completed,
                output,
                ..
            })) => return Ok(output),
            Ok(Some(Progress {
                status: StatusWord::Failed,
                error,
                ..
            })) => return Err(error.unwrap_or_else(|| "The task failed.".to_owned())),
            Ok(Some(_)) => {}
            Ok(None) => return Err("The task was removed.".to_owned()),
            // The store is unavailable at the moment.
            Err(_) => pause = MAX_PAUSE,
        }
        if app.pool.is_draining() {
            return Err(format!(
                "The service is stopping. The task {id} continues when it has started again. The same request with the same \
                 Idempotency-Key then waits for it."
            ));
        }
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(MAX_PAUSE);
    }
}

/// Reads an output; `None` if it is too large or can't be read.
fn read_output(app: &App, path: &str) -> Option<Vec<u8>> {
    let file = app.outputs.own_file(path).ok()??;
    let length = fs::metadata(&file).ok()?.len();
    let bytes = (length <= MAX_BASE64_BYTES).then(|| fs::read(&file))?;
    bytes.ok()
}

async fn edit(app: &Arc<App>, request: Request) -> Result<Value, Failure> {
    let (parts, body) = request.into_parts();
    let peer = parts.extensions.get::<Peer>().cloned();
    let headers = parts.headers;
    let max_bytes = app.uploads.max_bytes.unwrap_or(MAX_BODY as u64);
    let max_form_bytes = max_bytes.saturating_mul(MAX_PICTURES);
    let admitted = match admit(app, &headers, peer.as_ref(), max_form_bytes).await {
        Ok(admitted) => admitted,
        Err(failure) => {
            discard_body(&headers, body, max_form_bytes);
            return Err(failure);
        }
    };
    let Some(boundary) = boundary(&headers) else {
        discard_body(&headers, body, max_form_bytes);
        let message = "The body must be multipart/form-data with the pictures.";
        return Err(Failure::bad_request(message));
    };
    let sizes = SizeLimit::new()
        .whole_stream(max_form_bytes)
        .per_field(max_bytes);
    let constraints = Constraints::new().size_limit(sizes);
    let mut multipart = Multipart::with_constraints(body.into_data_stream(), boundary, constraints);
    let owner = owner_of(app, &admitted);
    let origin = app.access.origin(&headers);
    let reading = async {
        let reading = Form::read(app, &mut multipart, &owner, |path| origin.url(path));
        let read = tokio::time::timeout(MAX_FORM_TIME, reading).await;
        read.unwrap_or_else(|_| Err(too_slow()))
    };
    let form = match &peer {
        Some(peer) => peer.evictable(reading).await,
        None => reading.await,
    };
    let form = match form {
        Ok(form) => form,
        Err(failure) => {
            // A client that still sends its body would see a broken connection instead of the response.
            tokio::spawn(tokio::time::timeout(MAX_FORM_TIME, async move {
                while let Ok(Some(_)) = multipart.next_field().await {}
            }));
            return Err(failure);
        }
    };
    let Admitted {
        token,
        account,
        caller,
    } = admitted;
    let call = Call {
        origin,
        headers,
        token,
        account,
        caller,
        body: Value::Null,
    };
    generate(app, call, &form.fields, &form.pictures, true).await
}

fn boundary(headers: &HeaderMap) -> Option<String> {
    let content_type = headers.get(header::CONTENT_TYPE)?.to_str().ok()?;
    multer::parse_boundary(content_type).ok()
}

fn too_slow() -> Failure {
    Failure::new(
        StatusCode::REQUEST_TIMEOUT,
        "timeout",
        "The form did not come in time.",
    )
}

/// The fields of a form, and its stored pictures.
#[derive(Default)]
struct Form {
    fields: Map<String, Value>,
    pictures: Vec<Picture>,
}

impl Form {
    /// Reads a form. A field with a file name is a picture.
    async fn read(
        app: &Arc<App>,
        multipart: &mut Multipart<'static>,
        owner: &str,
        url: impl Fn(&str) -> String,
    ) -> Result<Self, Failure> {
        let mut form = Self::default();
        let (mut count, mut length) = (0, 0);
        while let Some(field) = multipart.next_field().await.map_err(broken)? {
            let name = field.name().unwrap_or_default().to_owned();
            if field.file_name().is_some() {
                if form.pictures.len() as u64 >= MAX_PICTURES {
                    let message = format!("{name}: a request has at most {MAX_PICTURES} pictures");
                    return Err(Failure::invalid_field(&name, message));
                }
                let path = store_part(app, owner, body_of(field)).await?;
                form.pictures.push(Picture {
                    field: name,
                    url: url(&path),
                });
                continue;
            }
            count += 1;
            let text = text_of(field).await?;
            length += text.len();
            if count > MAX_FIELDS || length > MAX_BODY {
                return Err(Failure::bad_request("The form has too many fields."));
            }
            form.fields.insert(name, text.into());
        }
        Ok(form)
    }
}

fn body_of(field: Field<'static>) -> Body {
    Body::from_stream(field)
}

async fn text_of(field: Field<'static>) -> Result<String, Failure> {
    let mut chunks = Chunks::new(body_of(field), MAX_BODY as u64, MAX_FORM_TIME);
    let mut bytes = Vec::new();
    while let Some(chunk) = chunks.next().await? {
        let chunk: Bytes = chunk;
        bytes.extend_from_slice(&chunk);
    }
    String::from_utf8(bytes).map_err(|_| Failure::bad_request("A field of the form is not UTF-8."))
}

fn broken(error: multer::Error) -> Failure {
    match error {
        multer::Error::FieldSizeExceeded { limit, .. }
        | multer::Error::StreamSizeExceeded { limit } => Failure::new(
            StatusCode::PAYLOAD_TOO_LARGE,
            "too_large",
            format!("The form or one of its pictures is larger than {limit} bytes."),
        ),
        error => Failure::bad_request(format!("The form can't be read: {error}.")),
    }
}

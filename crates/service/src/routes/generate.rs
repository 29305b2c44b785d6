//! `POST /v2/generate` (INTERFACE "POST /v2/generate").

use std::sync::Arc;

use atelier_contract::{Envelope, IDEMPOTENCY_FIELD, ModelId, Problem, RESERVED_NAMES, StatusWord};
use axum::Json;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use serde_json::{Map, Value, json};

use super::files::resolve_files;
use super::{Call, run_blocking};
use crate::failure::{Failure, success};
use crate::idempotency::{Key, Submission, account, fingerprint};
use crate::models::complete;
use crate::secrets::Secrets;
use crate::state::App;
use crate::store::{FirstResponse, Task};

/// The `Retry-After` if too many tasks wait, in seconds.
const WAITING_RETRY_SECONDS: u64 = 5;

/// Answers `POST /v2/generate` (INTERFACE).
///
/// # Errors
///
/// As for [`Call::of`] and [`accept`]; also 400 if the idempotency key in the headers is invalid.
pub async fn single(
    State(app): State<Arc<App>>,
    request: Request,
) -> Result<Json<Envelope<Value>>, Failure> {
    let call = Call::of(&app, request).await?;
    let key = Key::of_headers(&call.headers)?;
    let Accepted { data, .. } = run_blocking(move || {
        let webhook = WebhookFields::Read;
        accept(&app, &call, &call.body, key, StatusWord::Starting, webhook)
    })
    .await?;
    Ok(success(data))
}

/// Whether a request to generate can have a webhook (`--webhooks`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WebhookFields {
    Read,
    /// The fields are parameters like any other.
    Ignore,
}

/// The response to a submission.
pub struct Accepted {
    /// `{id, status}`
    pub data: Value,
    /// Whether the submission was repeated and created no task.
    pub is_repeat: bool,
}

/// Accepts a task. When this returns, the task is on disk and queued. Blocks.
///
/// A submission with a known idempotency key gets the first response again.
///
/// # Errors
///
/// 400 or 422 if the common fields, the webhook or the input are invalid, 403 for another user's `uid`, 404 for an unknown model,
/// 400 or 422 for an idempotency key that is invalid or was used for another request, 402 or 503 without disk space,
/// 429 if too many tasks wait, 503 while the service is about to stop or the model is unavailable, 500 or 503 if the
/// store or the outputs don't respond. INTERFACE ("Errors" 5) defines none of these.
pub fn accept(
    app: &App,
    call: &Call,
    body: &Value,
    key_of_headers: Option<Key>,
    initial_status: StatusWord,
    webhook_fields: WebhookFields,
) -> Result<Accepted, Failure> {
    let common = Common::read(body, false)?;
    if !call.can_access(common.uid) {
        return Err(Failure::new(
            StatusCode::FORBIDDEN,
            "wrong_uid",
            "This access token belongs to another user: the uid must be the name of its account.",
        ));
    }
    let mut given: Map<String, Value> = common
        .fields
        .iter()
        .filter(|(name, _)| !RESERVED_NAMES.contains(&name.as_str()) && *name != IDEMPOTENCY_FIELD)
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    let key = merge_keys(key_of_headers, Key::of_fields(common.fields)?)?;
    let submission = key.map(|key| submission(app, call, common.uid, &common.model, &given, key));
    if let Some(submission) = &submission
        && let Some(first_response) = app
            .store
            .first_response(submission)
            .map_err(Failure::store)?
    {
        return repeat_response(submission, &first_response);
    }

    if app.pool.is_draining() {
        return Err(Failure::draining());
    }
    let model = app
        .models
        .find(&common.model)
        .ok_or_else(|| unknown_model(&common.model))?;
    let schema = model.schema();
    let remote = app.models.remote(&common.model);
    let is_unavailable = remote.is_some_and(|remote| remote.unavailable().is_some());
    if is_unavailable && schema.parameters().next().is_none() {
        return Err(Failure::model_unavailable());
    }
    let webhook = match (&app.webhooks, webhook_fields) {
        (Some(webhooks), WebhookFields::Read) => webhooks.take_from(&mut given, &schema)?,
        _ => None,
    };
    let mut input = complete(&schema, &given).map_err(Failure::invalid)?;
    // From now on, the clean-up does not remove the input files. The next step checks that they exist.
    let pin = app.outputs.pins.pin(&body.to_string());
    resolve_files(app, &call.origin, &schema, remote, &mut input)?;

    check_space(app, common.uid, 1)?;
    let slot = app.pool.reserve(common.uid).map_err(Failure::store)?;
    let slot = slot.ok_or_else(too_many_waiting)?;
    let secrets = Secrets::take_from(&mut input, &schema);
    let task = Task {
        id: new_id()?,
        uid: common.uid.to_owned(),
        model: common.model,
        input,
        secrets,
        status: initial_status,
        webhook,
    };
    let first_response = app
        .store
        .insert(&task, submission.as_ref())
        .map_err(Failure::store)?;
    // A concurrent call may have used the same key.
    if let (Some(submission), Some(first_response)) = (&submission, &first_response) {
        return repeat_response(submission, first_response);
    }
    slot.submit(task.id.clone(), &task.model, pin);
    app.metrics.count_accepted(&task.model);
    // Logs only the start of the id, because the whole id gives access to the outputs.
    tracing::info!("task {:.8}… of {} accepted", task.id, task.model);
    Ok(Accepted {
        data: json!({"id": task.id, "status": task.status}),
        is_repeat: false,
    })
}

/// Returns the id of the task that was submitted with this key; `None` if there is none. Blocks.
///
/// # Errors
///
/// 422 if the key was used for another request, 500 or 503 if the store does not respond.
pub(super) fn earlier_task(
    app: &App,
    call: &Call,
    uid: &str,
    model: &ModelId,
    given: &Map<String, Value>,
    key: Key,
) -> Result<Option<String>, Failure> {
    let submission = submission(app, call, uid, model, given, key);
    let first_response = app.store.first_response(&submission);
    let Some(first_response) = first_response.map_err(Failure::store)? else {
        return Ok(None);
    };
    repeat_response(&submission, &first_response)?;
    Ok(Some(first_response.id))
}

fn submission(
    app: &App,
    call: &Call,
    uid: &str,
    model: &ModelId,
    given: &Map<String, Value>,
    key: Key,
) -> Submission {
    Submission {
        account: account(
            uid,
            &call.token,
            // An account stays the same when its token is replaced.
            app.token.is_some() || call.account.is_some(),
        ),
        key,
        fingerprint: fingerprint(model, given),
    }
}

/// Returns the idempotency key of a submission, from the header or the field.
///
/// # Errors
///
/// 400 if both are present and differ.
pub(super) fn merge_keys(header: Option<Key>, field: Option<Key>) -> Result<Option<Key>, Failure> {
    match (header, field) {
        (Some(header), Some(field)) if header != field => Err(Failure::bad_request(
            "The header Idempotency-Key and the field idempotency_key differ.",
        )),
        (header, field) => Ok(header.or(field)),
    }
}

/// Checks that there is space on the disk, and for `more` bytes within the user's limit.
///
/// # Errors
///
/// 503 if the disk is full, 402 if the user's limit is reached; also errors of the store.
pub(super) fn check_space(app: &App, uid: &str, more: u64) -> Result<(), Failure> {
    if !app.outputs.has_space() {
        return Err(Failure::full());
    }
    if let Some(most) = app.account_disk {
        let taken = app.store.bytes_of(uid).map_err(Failure::store)?;
        if taken.saturating_add(more) > most {
            return Err(account_full(taken, most));
        }
    }
    Ok(())
}

/// Returns the first response again; 422 if the key was used for another request.
fn repeat_response(
    submission: &Submission,
    first_response: &FirstResponse,
) -> Result<Accepted, Failure> {
    if submission.fingerprint != first_response.fingerprint {
        return Err(Failure::new(
            StatusCode::UNPROCESSABLE_ENTITY,
            "idempotency_key_reused",
            "This idempotency key was used for another request; a new request needs a new key.",
        ));
    }
    Ok(Accepted {
        data: json!({"id": first_response.id, "status": first_response.status}),
        is_repeat: true,
    })
}

/// The fields that every request has (INTERFACE "Common request fields").
pub struct Common<'a> {
    pub uid: &'a str,
    pub model: ModelId,
    /// Empty for generate.
    pub id: &'a str,
    pub fields: &'a Map<String, Value>,
}

impl<'a> Common<'a> {
    /// Reads the common fields of a request, including `id` if `with_id` is set.
    ///
    /// # Errors
    ///
    /// 400 if the body is not an object, 422 unless each field is a non-empty string.
    pub fn read(body: &'a Value, with_id: bool) -> Result<Self, Failure> {
        let fields = body
            .as_object()
            .ok_or_else(|| Failure::bad_request("The body must be a JSON object."))?;
        let mut problems = Vec::new();
        let mut text = |name: &str| match fields.get(name) {
            Some(Value::String(text)) if !text.trim().is_empty() => text.as_str(),
            given => {
                let what = match given {
                    None | Some(Value::Null) => "is required",
                    Some(Value::String(_)) => "must not be empty",
                    Some(_) => "must be a text",
                };
                problems.push(Problem {
                    parameter: name.to_owned(),
                    message: format!("{name} {what}"),
                });
                ""
            }
        };
        let common = Self {
            uid: text("uid"),
            model: ModelId::new(text("category"), text("subcategory")),
            id: if with_id { text("id") } else { "" },
            fields,
        };
        if problems.is_empty() {
            Ok(common)
        } else {
            Err(Failure::invalid(problems))
        }
    }
}

/// Returns a 429: the user's limit of waiting tasks is reached.
fn too_many_waiting() -> Failure {
    let mut failure = Failure::new(
        StatusCode::TOO_MANY_REQUESTS,
        "too_many_waiting",
        "Too many of your tasks are waiting. Nothing was accepted; try again later.",
    );
    failure.retry_after = Some(WAITING_RETRY_SECONDS);
    failure
}

/// Returns a 402: the user's tasks have reached their disk limit.
fn account_full(taken: u64, most: u64) -> Failure {
    let megabytes = |bytes: u64| bytes as f64 / 1e6;
    // The status is not 429, because waiting does not help; and not 409, which with an idempotency key would mean that
    // the same submission is in progress.
    Failure::new(
        StatusCode::PAYMENT_REQUIRED,
        "account_disk_full",
        format!(
            "Your tasks and uploads use {:.1} MB of at most {:.1} MB of disk space. Nothing was accepted; space is \
             freed when old tasks are removed.",
            megabytes(taken),
            megabytes(most)
        ),
    )
}

pub fn unknown_model(model: &ModelId) -> Failure {
    Failure::not_found("unknown_model", format!("There is no model {model}."))
}

/// Returns 128 random bits: an id gives access to the outputs, so it must not be guessable.
pub(super) fn new_id() -> Result<String, Failure> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(Failure::internal)?;
    Ok(hex::encode(bytes))
}

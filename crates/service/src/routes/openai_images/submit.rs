//! Submits the tasks of a request, or finds those of a request that its client repeats.

use std::sync::PoisonError;
use std::time::Instant;

use atelier_contract::{IDEMPOTENCY_FIELD, ModelId, StatusWord};
use axum::http::{HeaderMap, StatusCode};
use serde_json::{Value, json};

use super::super::Call;
use super::super::generate::{WebhookFields, accept, earlier_task};
use super::super::numbering::{count, current_slot, last, next};
use super::super::uploads::owner_of;
use crate::auth;
use crate::failure::Failure;
use crate::idempotency::{Key, fingerprint};
use crate::openai_images::Order;
use crate::openai_images::refusals::{CLIENT_TTL, TTL};
use crate::state::App;

/// The user of tasks if the service has no accounts.
const UID: &str = "local";

/// The header in which OpenAI's packages count how often they have repeated a request.
const RETRY_COUNT: &str = "x-stainless-retry-count";

/// Submits the tasks of a request and returns their ids. Returns the ids of the earlier tasks if the request was submitted
/// before with the same key, or if the header of OpenAI's packages shows that it is repeated. Blocks.
///
/// If only some of the tasks are accepted, the others are left out: a refusal would make the client repeat the request, and pay
/// for the accepted ones again.
///
/// # Errors
///
/// As for [`accept`], if no task is accepted.
pub fn submit(
    app: &App,
    call: &Call,
    model: &ModelId,
    order: &Order,
    key: Option<Key>,
) -> Result<Vec<String>, Failure> {
    let request = Request {
        app,
        call,
        model,
        order,
        uid: call.account.as_deref().unwrap_or(UID),
    };
    let retries = retries(&call.headers);
    if key.is_none() && retries.is_none() {
        return Ok(request.submit_all(None)?.ids);
    }
    // A repetition waits until the first attempt has submitted all of its tasks.
    let submitting = app.submissions.lock();
    let _submitting = submitting.unwrap_or_else(PoisonError::into_inner);
    match key {
        Some(key) => {
            let base = json!(["key", key.as_str()]);
            Ok(request.submit_all(Some(&base))?.ids)
        }
        None => request.submit_or_repeat(retries.unwrap_or_default()),
    }
}

/// Returns how often OpenAI's package has repeated the request; `None` for other clients.
fn retries(headers: &HeaderMap) -> Option<u32> {
    headers.get(RETRY_COUNT)?.to_str().ok()?.trim().parse().ok()
}

/// Remembers an attempt of OpenAI's packages that was refused before its content was known.
pub fn remember_refusal(app: &App, headers: &HeaderMap, failure: &Failure) {
    if let Some(attempt) = retries(headers)
        && is_repeated(failure)
        && let Ok(token) = auth::bearer(headers, app.token.as_deref())
    {
        let client = client(token);
        let refusals = &app.openai_refusals;
        refusals.continue_with(&client, attempt, Instant::now(), CLIENT_TTL);
    }
}

/// Remembers an attempt of OpenAI's packages that was refused before any of its tasks was submitted.
pub fn remember_refusal_of(
    app: &App,
    call: &Call,
    model: &ModelId,
    order: &Order,
    failure: &Failure,
) {
    if let Some(attempt) = retries(&call.headers)
        && is_repeated(failure)
    {
        let content = content(app, call, model, order);
        let refusals = &app.openai_refusals;
        refusals.continue_with(&content, attempt, Instant::now(), TTL);
    }
}

/// Returns whether OpenAI's packages repeat a request after this failure, and certainly nothing was accepted.
fn is_repeated(failure: &Failure) -> bool {
    let is_repeated = matches!(
        failure.status,
        StatusCode::REQUEST_TIMEOUT | StatusCode::CONFLICT | StatusCode::TOO_MANY_REQUESTS
    ) || failure.status.is_server_error();
    // The database may have stored a task although it did not respond.
    let is_certain = !matches!(
        failure.body.error.as_str(),
        "storage_unavailable" | "internal"
    );
    is_repeated && is_certain
}

/// Identifies a client among the refused attempts whose content is unknown.
fn client(token: &str) -> String {
    Key::derived(&json!(["client", token])).as_str().to_owned()
}

/// Identifies the requests of an account with the same content.
fn content(app: &App, call: &Call, model: &ModelId, order: &Order) -> String {
    let owner = owner_of(app, call.account.as_deref(), &call.token);
    let content = fingerprint(model, &order.input);
    let parts = json!(["content", owner, content, order.tasks]);
    Key::derived(&parts).as_str().to_owned()
}

/// The tasks of a request.
struct Submitted {
    ids: Vec<String>,
    /// Whether the first of them was submitted before.
    is_repeat: bool,
}

struct Request<'a> {
    app: &'a App,
    call: &'a Call,
    model: &'a ModelId,
    order: &'a Order,
    uid: &'a str,
}

impl Request<'_> {
    /// Submits a request of OpenAI's packages without a key, or finds the tasks of the attempt that it repeats. Requests with
    /// the same content are numbered. `attempt`: how often the package has sent the request before.
    fn submit_or_repeat(&self, attempt: u32) -> Result<Vec<String>, Failure> {
        if attempt > 0
            && let Some(base) = self.repeated(attempt)?
        {
            return Ok(self.submit_all(Some(&base))?.ids);
        }
        let submitted = self.submit_next();
        if let Err(failure) = &submitted
            && is_repeated(failure)
        {
            let content = content(self.app, self.call, self.model, self.order);
            let refusals = &self.app.openai_refusals;
            refusals.add(&content, attempt, Instant::now(), TTL);
        }
        submitted
    }

    /// Returns the base of the request that this one repeats; `None` if no attempt of this request was accepted.
    fn repeated(&self, attempt: u32) -> Result<Option<Value>, Failure> {
        let content = content(self.app, self.call, self.model, self.order);
        let refusals = &self.app.openai_refusals;
        if refusals.take_before(&content, attempt, Instant::now()) {
            return Ok(None);
        }
        let base = self.last()?;
        // The client does not repeat a request because of the refusal of another one while its own tasks run.
        if let Some(base) = &base
            && self.is_unfinished(base)?
        {
            return Ok(Some(base.clone()));
        }
        let client = client(&self.call.token);
        let is_refused = refusals.take_before(&client, attempt, Instant::now());
        Ok(base.filter(|_| !is_refused))
    }

    /// Submits the request with the next number.
    fn submit_next(&self) -> Result<Vec<String>, Failure> {
        let slot = current_slot();
        loop {
            let (slot, number) = next(slot, last(slot, |slot| self.count(slot))?);
            let submitted = self.submit_all(Some(&self.base(slot, number)))?;
            // Otherwise another process has submitted a request with this number since.
            if !submitted.is_repeat {
                return Ok(submitted.ids);
            }
        }
    }

    /// Returns the base of the last request with the same content.
    fn last(&self) -> Result<Option<Value>, Failure> {
        let found = last(current_slot(), |slot| self.count(slot))?;
        Ok(found.map(|(slot, number)| self.base(slot, number)))
    }

    /// Returns the base of the keys for a request without a key.
    fn base(&self, slot: i64, number: u64) -> Value {
        let content = fingerprint(self.model, &self.order.input);
        json!(["request", content, self.order.tasks, slot, number])
    }

    /// Returns the number of requests with the same content in a slot.
    fn count(&self, slot: i64) -> Result<u64, Failure> {
        count(|number| Ok(self.earlier_task(&self.base(slot, number), 1)?.is_some()))
    }

    /// Returns whether a task of this base has not ended.
    fn is_unfinished(&self, base: &Value) -> Result<bool, Failure> {
        for number in 1..=self.order.tasks {
            let Some(id) = self.earlier_task(base, number)? else {
                continue;
            };
            let progress = self.app.store.progress(&id).map_err(Failure::store)?;
            if progress.is_some_and(|progress| !progress.status.is_terminal()) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn earlier_task(&self, base: &Value, number: usize) -> Result<Option<String>, Failure> {
        let key = Key::derived(&json!([base, number]));
        earlier_task(
            self.app,
            self.call,
            self.uid,
            self.model,
            &self.order.input,
            key,
        )
    }

    /// Submits the tasks of the request. Those that were submitted before with keys of this base are not submitted again.
    fn submit_all(&self, base: Option<&Value>) -> Result<Submitted, Failure> {
        let mut ids = Vec::new();
        let (mut is_repeat, mut new) = (false, 0);
        for number in 1..=self.order.tasks {
            let mut body = self.order.input.clone();
            body.insert("uid".into(), self.uid.into());
            body.insert("category".into(), self.model.category.as_str().into());
            body.insert("subcategory".into(), self.model.subcategory.as_str().into());
            if let Some(base) = base {
                let key = Key::derived(&json!([base, number]));
                body.insert(IDEMPOTENCY_FIELD.into(), key.as_str().into());
            }
            match accept(
                self.app,
                self.call,
                &body.into(),
                None,
                StatusWord::Queued,
                WebhookFields::Ignore,
            ) {
                Ok(accepted) => {
                    is_repeat |= accepted.is_repeat && number == 1;
                    new += usize::from(!accepted.is_repeat);
                    ids.extend(accepted.data["id"].as_str().map(str::to_owned));
                }
                Err(failure) if ids.is_empty() => return Err(failure),
                Err(failure) => {
                    let (count, tasks) = (ids.len(), self.order.tasks);
                    let message = &failure.body.message;
                    tracing::warn!("accepted {count} of {tasks} images: {message}");
                    break;
                }
            }
        }
        if let Some(limit) = &self.app.limit {
            limit.charge(&self.call.caller, new.saturating_sub(1));
        }
        Ok(Submitted { ids, is_repeat })
    }
}

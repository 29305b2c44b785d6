//! Submits the tasks of a request, or finds those of a request that its client repeats.

use std::sync::PoisonError;

use atelier_contract::{IDEMPOTENCY_FIELD, ModelId, StatusWord};
use axum::http::HeaderMap;
use serde_json::{Value, json};

use super::super::Call;
use super::super::generate::{accept, earlier_task};
use crate::failure::Failure;
use crate::idempotency::{Key, fingerprint};
use crate::openai_images::Order;
use crate::state::App;

/// The user of tasks if the service has no accounts.
const UID: &str = "local";

/// The header in which OpenAI's packages count how often they have repeated a request.
const RETRY_COUNT: &str = "x-stainless-retry-count";

/// Submits the tasks of a request and returns their ids. Returns the ids of the earlier tasks if the request was submitted
/// before with the same key, or if the header of OpenAI's packages tells that it is repeated. Blocks.
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
        return request.submit_all(None);
    }
    // Otherwise a concurrent repetition would see only some of the tasks.
    let submitting = app.openai_submissions.lock();
    let _submitting = submitting.unwrap_or_else(PoisonError::into_inner);
    let base = match key {
        Some(key) => json!(["key", key.as_str()]),
        None => request.base(retries.unwrap_or_default() > 0)?,
    };
    let earlier = request.earlier(&base)?;
    match earlier.is_empty() {
        true => request.submit_all(Some(&base)),
        false => Ok(earlier),
    }
}

/// Returns how often OpenAI's package has repeated the request; `None` for other clients.
fn retries(headers: &HeaderMap) -> Option<u32> {
    headers.get(RETRY_COUNT)?.to_str().ok()?.trim().parse().ok()
}

struct Request<'a> {
    app: &'a App,
    call: &'a Call,
    model: &'a ModelId,
    order: &'a Order,
    uid: &'a str,
}

impl Request<'_> {
    /// Returns the base of the keys for a request without a key: requests with the same content are numbered. `is_repeat`:
    /// whether the request repeats the last one with the same content.
    fn base(&self, is_repeat: bool) -> Result<Value, Failure> {
        let content = fingerprint(self.model, &self.order.input);
        let base = |number: u64| json!(["request", content, self.order.tasks, number]);
        let count = count(|number| Ok(self.earlier_task(&base(number), 1)?.is_some()))?;
        Ok(base(match is_repeat {
            true => count.saturating_sub(1),
            false => count,
        }))
    }

    /// Returns the ids of the tasks that were submitted with keys of this base.
    fn earlier(&self, base: &Value) -> Result<Vec<String>, Failure> {
        let mut ids = Vec::new();
        for number in 1..=self.order.tasks {
            ids.extend(self.earlier_task(base, number)?);
        }
        Ok(ids)
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

    fn submit_all(&self, base: Option<&Value>) -> Result<Vec<String>, Failure> {
        let mut ids = Vec::new();
        for number in 1..=self.order.tasks {
            let mut body = self.order.input.clone();
            body.insert("uid".into(), self.uid.into());
            body.insert("category".into(), self.model.category.as_str().into());
            body.insert("subcategory".into(), self.model.subcategory.as_str().into());
            if let Some(base) = base {
                let key = Key::derived(&json!([base, number]));
                body.insert(IDEMPOTENCY_FIELD.into(), key.as_str().into());
            }
            match accept(self.app, self.call, &body.into(), None, StatusWord::Queued) {
                Ok(accepted) => ids.extend(accepted.data["id"].as_str().map(str::to_owned)),
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
            limit.charge(&self.call.caller, ids.len().saturating_sub(1));
        }
        Ok(ids)
    }
}

/// Returns the first number for which `exists` is false. It must be true for all numbers below.
///
/// # Errors
///
/// As for `exists`.
fn count(mut exists: impl FnMut(u64) -> Result<bool, Failure>) -> Result<u64, Failure> {
    let mut end = 1;
    while exists(end - 1)? {
        end *= 2;
    }
    // `exists` is true below `start`, and false for `end - 1`.
    let mut start = end / 2;
    end -= 1;
    while start < end {
        let middle = start.midpoint(end);
        match exists(middle)? {
            true => start = middle + 1,
            false => end = middle,
        }
    }
    Ok(start)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn existing_numbers_are_counted() {
        for total in 0..70 {
            let mut calls = 0;
            let counted = count(|number| {
                calls += 1;
                Ok(number < total)
            });
            assert_eq!(counted.unwrap(), total);
            assert!(calls < 16, "{calls} calls for {total}");
        }
    }
}

//! Submits a task, or finds the one of an earlier call with the same arguments.
//!
//! The arguments, the account and a number make an idempotency key, so the last call with the same arguments is found in
//! every process and after a restart. A call joins its task while that runs, and for [`KEEP`] after its end unless this
//! process has reported the end. The others take the next number; calls that take the same number get the same task.
//! `request_id` replaces the slot.

use std::sync::PoisonError;
use std::time::Duration;

use atelier_contract::{IDEMPOTENCY_FIELD, ModelId, RESERVED_NAMES, StatusWord};
use serde_json::{Map, Value, json};

use super::super::Call;
use super::super::generate::{WebhookFields, accept, earlier_task};
use super::super::numbering::{count, current_slot, last, next};
use crate::failure::Failure;
use crate::idempotency::{Key, fingerprint};
use crate::mcp::delivered::KEEP;
use crate::state::App;
use crate::store::now_ms;

/// The maximum number of tasks with a `request_id`, of which all but the last are canceled or removed.
const MAX_NAMED: u64 = 16;

/// The user of tasks if the service has no accounts.
const UID: &str = "local";

/// The task of a call.
#[derive(Debug)]
pub struct Submitted {
    pub id: String,
    /// Whether an earlier call has submitted it.
    pub is_joined: bool,
}

/// Returns the user of the tasks of a call.
pub fn uid(call: &Call) -> &str {
    call.account.as_deref().unwrap_or(UID)
}

/// Submits a task, or finds the one to join. Blocks.
///
/// # Errors
///
/// As for [`accept`]; also 422 if the input contains a reserved name.
pub fn submit(
    app: &App,
    call: &Call,
    model: &ModelId,
    input: &Map<String, Value>,
    request_id: Option<&str>,
) -> Result<Submitted, Failure> {
    let reserved = RESERVED_NAMES.into_iter().chain([IDEMPOTENCY_FIELD]);
    for name in reserved {
        if input.contains_key(name) {
            return Err(Failure::invalid_field(
                name,
                format!("{name} is no parameter"),
            ));
        }
    }
    let request = Request {
        app,
        call,
        model,
        input,
    };
    match request_id {
        Some(id) => request.submit_or_join_named(id),
        None => request.submit_or_join(),
    }
}

struct Request<'a> {
    app: &'a App,
    call: &'a Call,
    model: &'a ModelId,
    input: &'a Map<String, Value>,
}

impl Request<'_> {
    fn submit_or_join(&self) -> Result<Submitted, Failure> {
        // Two calls on both sides of the end of a slot would find no number of each other.
        let _guard = self
            .app
            .submissions
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let slot = current_slot();
        let last = last(slot, |slot| {
            count(|number| Ok(self.task(&json!([slot, number]))?.is_some()))
        })?;
        if let Some((slot, number)) = last
            && let Some(id) = self.task(&json!([slot, number]))?
            && self.joins(&id)?
        {
            return Ok(Submitted {
                id,
                is_joined: true,
            });
        }
        // Not counted again: if another call has taken the number since, this one joins its task.
        let (slot, number) = next(slot, last);
        self.accept(self.key(&json!([slot, number])))
    }

    /// As [`Self::submit_or_join`] for a `request_id`, which has its own numbers. A task that was canceled or removed is not
    /// joined.
    fn submit_or_join_named(&self, request_id: &str) -> Result<Submitted, Failure> {
        let distinction = |number: u64| json!(["id", request_id, number]);
        // Not counted: the key of a lower number expires before that of a higher one.
        let mut number = 0;
        for used in 0..MAX_NAMED {
            let Some(id) = self.task(&distinction(used))? else {
                continue;
            };
            number = used + 1;
            if let Some(task) = self.app.store.progress(&id).map_err(Failure::store)?
                && !(task.canceled && task.status.is_terminal())
            {
                return Ok(Submitted {
                    id,
                    is_joined: true,
                });
            }
        }
        if number == MAX_NAMED {
            let message = "The tasks of this request_id were canceled too often: use another one.";
            return Err(Failure::invalid_field("request_id", message));
        }
        self.accept(self.key(&distinction(number)))
    }

    /// Returns whether a call with the same arguments as this task's joins it.
    fn joins(&self, id: &str) -> Result<bool, Failure> {
        let Some(task) = self.app.store.progress(id).map_err(Failure::store)? else {
            return Ok(false);
        };
        if !task.status.is_terminal() {
            return Ok(true);
        }
        let ended = now_ms().saturating_sub(task.ended_ms.unwrap_or_default());
        let is_recent = Duration::from_millis(u64::try_from(ended).unwrap_or_default()) < KEEP;
        Ok(is_recent && !task.canceled && !self.app.mcp.delivered.contains(id))
    }

    fn key(&self, distinction: &Value) -> Key {
        let content = fingerprint(self.model, self.input);
        Key::derived(&json!(["mcp", content, distinction]))
    }

    fn task(&self, distinction: &Value) -> Result<Option<String>, Failure> {
        let key = self.key(distinction);
        earlier_task(
            self.app,
            self.call,
            uid(self.call),
            self.model,
            self.input,
            key,
        )
    }

    fn accept(&self, key: Key) -> Result<Submitted, Failure> {
        let mut body = self.input.clone();
        body.insert("uid".into(), uid(self.call).into());
        body.insert("category".into(), self.model.category.as_str().into());
        body.insert("subcategory".into(), self.model.subcategory.as_str().into());
        let accepted = accept(
            self.app,
            self.call,
            &body.into(),
            Some(key),
            StatusWord::Queued,
            WebhookFields::Ignore,
        )?;
        Ok(Submitted {
            id: accepted.data["id"].as_str().unwrap_or_default().to_owned(),
            is_joined: accepted.is_repeat,
        })
    }
}

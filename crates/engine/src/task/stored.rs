//! A task as it is stored and as tabs tell each other of it. Records of earlier visits must stay
//! readable: names and shapes do not change.

use atelier_contract::json::{self, Record};
use atelier_contract::{ApiError, Input, ModelId, serde_through_value};
use serde_json::Value;

use super::{Account, BatchKey, BatchPlace, PollError, Task, TaskKey};
use crate::TaskState;

serde_through_value!(Task);

impl Task {
    /// `None` where a field that is known can't be read: half a task is none.
    pub fn from_value(value: Value) -> Option<Self> {
        let mut record = Record::read(value)?;
        Some(Self {
            key: TaskKey(record.text("key")?),
            account: Account::from_value(record.take("account")?)?,
            model: ModelId::from_value(record.take("model")?)?,
            model_name: record.text("model_name")?,
            input: Input::from_value(record.take("input")?)?,
            created: record.number("created")?,
            state: TaskState::from_value(record.take("state")?)?,
            poll_error: record.optional("trouble", PollError::from_value)?,
            watching: record.switch("watching", true)?,
            paused: record.switch("paused", false)?,
            taken_back: record.switch("taken_back", false)?,
            not_before: record.optional("not_before", json::number)?,
            waits_since: record.optional("waits_since", json::number)?,
            retry_of: record.optional("retry_of", json::text)?.map(TaskKey),
            batch: record.optional("batch", BatchPlace::from_value)?,
            submitted: record.optional("submitted", json::number)?,
            idempotency_key: record.optional("idempotency_key", json::text)?,
            accepted: record.optional("accepted", json::number)?,
            finished: record.optional("finished", json::number)?,
            refreshed: record.optional("refreshed", json::number)?,
            removed: record.optional("removed", json::number)?,
            favorites: record.optional("favorites", positions)?.unwrap_or_default(),
            extra: record.rest(),
        })
    }

    pub fn to_value(&self) -> Value {
        let mut record = Record::new();
        record.put("key", self.key.0.as_str().into());
        record.put("account", self.account.to_value());
        record.put("model", self.model.to_value());
        record.put("model_name", self.model_name.as_str().into());
        record.put("input", self.input.to_value());
        record.put("created", self.created.into());
        record.put("state", self.state.to_value());
        record.put_some("trouble", self.poll_error.as_ref().map(PollError::to_value));
        record.put("watching", self.watching.into());
        if self.paused {
            record.put("paused", true.into());
        }
        if self.taken_back {
            record.put("taken_back", true.into());
        }
        record.put_some("not_before", self.not_before.map(Value::from));
        record.put_some("waits_since", self.waits_since.map(Value::from));
        let retry_of = self.retry_of.as_ref();
        record.put_some("retry_of", retry_of.map(|key| key.0.as_str().into()));
        record.put_some("batch", self.batch.as_ref().map(BatchPlace::to_value));
        record.put_some("submitted", self.submitted.map(Value::from));
        let key = self.idempotency_key.as_ref();
        record.put_some("idempotency_key", key.map(|key| key.as_str().into()));
        record.put_some("accepted", self.accepted.map(Value::from));
        record.put_some("finished", self.finished.map(Value::from));
        record.put_some("refreshed", self.refreshed.map(Value::from));
        record.put_some("removed", self.removed.map(Value::from));
        if !self.favorites.is_empty() {
            let favorites = self.favorites.iter().map(|at| Value::from(*at));
            record.put("favorites", Value::Array(favorites.collect()));
        }
        record.put_all(&self.extra);
        record.into_value()
    }
}

fn positions(value: Value) -> Option<Vec<usize>> {
    json::list(value, |value| usize::try_from(json::number(value)?).ok())
}

impl Account {
    fn from_value(value: Value) -> Option<Self> {
        let mut record = Record::read(value)?;
        Some(Self {
            address: record.text("address")?,
            uid: record.text("uid")?,
        })
    }

    fn to_value(&self) -> Value {
        let mut record = Record::new();
        record.put("address", self.address.as_str().into());
        record.put("uid", self.uid.as_str().into());
        record.into_value()
    }
}

impl BatchPlace {
    pub(crate) fn from_value(value: Value) -> Option<Self> {
        let mut record = Record::read(value)?;
        Some(Self {
            batch: BatchKey(record.text("batch")?),
            index: record.index("index")?,
        })
    }

    pub(crate) fn to_value(&self) -> Value {
        let mut record = Record::new();
        record.put("batch", self.batch.0.as_str().into());
        record.put("index", self.index.into());
        record.into_value()
    }
}

impl PollError {
    fn from_value(value: Value) -> Option<Self> {
        let mut record = Record::read(value)?;
        Some(Self {
            since: record.number("since")?,
            error: ApiError::from_value(record.take("error")?)?,
        })
    }

    fn to_value(&self) -> Value {
        let mut record = Record::new();
        record.put("since", self.since.into());
        record.put("error", self.error.to_value());
        record.into_value()
    }
}

#[cfg(test)]
mod tests;

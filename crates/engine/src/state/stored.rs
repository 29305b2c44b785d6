//! A state as it is stored: an object with its `state`.

use atelier_contract::json::{self, Record};
use atelier_contract::{ApiError, StatusWord, TaskId};
use serde_json::Value;

use super::TaskState;

impl TaskState {
    pub(crate) fn from_value(value: Value) -> Option<Self> {
        let mut record = Record::read(value)?;
        let state = record.text("state")?;
        let id = |record: &mut Record| record.text("id").map(TaskId);
        Some(match state.as_str() {
            "queued" => Self::Queued,
            "submitting" => Self::Submitting,
            "unconfirmed" => Self::Unconfirmed {
                error: ApiError::from_value(record.take("error")?)?,
            },
            "running" => Self::Running {
                id: id(&mut record)?,
                word: StatusWord::from_value(record.take("word")?)?,
            },
            "fetching" => Self::Fetching {
                id: id(&mut record)?,
            },
            "ready" => Self::Ready {
                id: id(&mut record)?,
                outputs: json::list(record.take("outputs")?, json::text)?,
            },
            "failed" => Self::Failed {
                id: record.optional("id", json::text)?.map(TaskId),
                message: record.text("message")?,
            },
            "gone" => Self::Gone {
                id: id(&mut record)?,
            },
            _ => return None,
        })
    }

    pub(crate) fn to_value(&self) -> Value {
        let mut record = Record::new();
        record.put("state", self.phase().word().into());
        if let Some(id) = self.id() {
            record.put("id", id.0.as_str().into());
        }
        match self {
            Self::Unconfirmed { error } => record.put("error", error.to_value()),
            Self::Running { word, .. } => record.put("word", word.to_value()),
            Self::Ready { outputs, .. } => {
                let outputs = outputs.iter().map(|url| url.as_str().into()).collect();
                record.put("outputs", Value::Array(outputs));
            }
            Self::Failed { id, message } => {
                if id.is_none() {
                    record.put("id", Value::Null);
                }
                record.put("message", message.as_str().into());
            }
            Self::Queued | Self::Submitting | Self::Fetching { .. } | Self::Gone { .. } => {}
        }
        record.into_value()
    }
}

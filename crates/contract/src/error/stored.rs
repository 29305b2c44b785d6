//! An error as it is kept with a task: an object with its `kind`.

use serde_json::Value;

use super::{ApiError, FieldProblem};
use crate::json::{self, Record};

impl ApiError {
    pub fn from_value(value: Value) -> Option<Self> {
        let mut record = Record::read(value)?;
        let kind = record.text("kind")?;
        let message = |record: &mut Record| record.text("message");
        let wait = |record: &mut Record| record.optional("retry_after_ms", json::number);
        let status = |record: &mut Record| u16::try_from(record.number("status")?).ok();
        Some(match kind.as_str() {
            "network" => Self::Network {
                detail: record.text("detail")?,
            },
            "timeout" => Self::Timeout {
                after_ms: record.number("after_ms")?,
            },
            "unauthorized" => Self::Unauthorized {
                message: message(&mut record)?,
            },
            "not_found" => Self::NotFound {
                message: message(&mut record)?,
            },
            "invalid" => Self::Invalid {
                message: message(&mut record)?,
                fields: match record.take("fields") {
                    None => Vec::new(),
                    Some(fields) => json::list(fields, FieldProblem::from_value)?,
                },
            },
            "rate_limited" => Self::RateLimited {
                message: message(&mut record)?,
                retry_after_ms: wait(&mut record)?,
            },
            "server" => Self::Server {
                status: status(&mut record)?,
                message: message(&mut record)?,
                retry_after_ms: wait(&mut record)?,
            },
            "malformed" => Self::Malformed {
                detail: record.text("detail")?,
            },
            "refused" => Self::Refused {
                status: status(&mut record)?,
                message: message(&mut record)?,
            },
            _ => return None,
        })
    }

    pub fn to_value(&self) -> Value {
        let mut record = Record::new();
        record.put("kind", self.kind().into());
        if let Self::Server { status, .. } | Self::Refused { status, .. } = self {
            record.put("status", (*status).into());
        }
        match self {
            Self::Network { detail } | Self::Malformed { detail } => {
                record.put("detail", detail.as_str().into());
            }
            Self::Timeout { after_ms } => record.put("after_ms", (*after_ms).into()),
            Self::Unauthorized { message }
            | Self::NotFound { message }
            | Self::Invalid { message, .. }
            | Self::RateLimited { message, .. }
            | Self::Server { message, .. }
            | Self::Refused { message, .. } => record.put("message", message.as_str().into()),
        }
        match self {
            Self::Invalid { fields, .. } => {
                let fields = fields.iter().map(FieldProblem::to_value).collect();
                record.put("fields", Value::Array(fields));
            }
            Self::RateLimited { retry_after_ms, .. } | Self::Server { retry_after_ms, .. } => {
                let wait = retry_after_ms.map_or(Value::Null, Value::from);
                record.put("retry_after_ms", wait);
            }
            _ => {}
        }
        record.into_value()
    }

    fn kind(&self) -> &'static str {
        match self {
            Self::Network { .. } => "network",
            Self::Timeout { .. } => "timeout",
            Self::Unauthorized { .. } => "unauthorized",
            Self::NotFound { .. } => "not_found",
            Self::Invalid { .. } => "invalid",
            Self::RateLimited { .. } => "rate_limited",
            Self::Server { .. } => "server",
            Self::Malformed { .. } => "malformed",
            Self::Refused { .. } => "refused",
        }
    }
}

impl FieldProblem {
    fn from_value(value: Value) -> Option<Self> {
        let mut record = Record::read(value)?;
        Some(Self {
            parameter: record.text("parameter")?,
            message: record.text("message")?,
        })
    }

    fn to_value(&self) -> Value {
        let mut record = Record::new();
        record.put("parameter", self.parameter.as_str().into());
        record.put("message", self.message.as_str().into());
        record.into_value()
    }
}

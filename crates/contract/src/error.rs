use serde::{Deserialize, Serialize};
use serde_json::Value;
use thiserror::Error;

use crate::prose::message_in;

/// Why a call gave no answer that can be used. [`ApiError::user_message`] says it to a person.
///
/// Codes, names and shapes of failing replies are "not shown" in INTERFACE ("Errors" 4, 5): the
/// HTTP status decides the kind, and any message found in the body is kept.
///
/// Stored with tasks: names and shapes do not change.
#[derive(Debug, Clone, PartialEq, Error, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ApiError {
    /// The browser got no answer: no network, nobody listening, the connection broke, or the
    /// service's CORS headers do not allow this page. A browser does not tell these apart.
    #[error("no answer: {detail}")]
    Network { detail: String },
    #[error("no answer within {after_ms} ms")]
    Timeout { after_ms: u64 },
    /// 401 or 403.
    #[error("unauthorized: {message}")]
    Unauthorized { message: String },
    /// 404 or 405 or 410.
    #[error("not found: {message}")]
    NotFound { message: String },
    /// 400, 413, 415 or 422.
    #[error("invalid: {message}")]
    Invalid {
        message: String,
        #[serde(default)]
        fields: Vec<FieldProblem>,
    },
    /// 429; the wait in milliseconds, where the service said one.
    #[error("rate-limited: {message}")]
    RateLimited {
        message: String,
        retry_after_ms: Option<u64>,
    },
    /// 5xx; the wait in milliseconds, where the service said one.
    #[error("server error {status}: {message}")]
    Server {
        status: u16,
        message: String,
        retry_after_ms: Option<u64>,
    },
    /// The answer is not JSON, lacks what it must have, or is too large to read.
    #[error("malformed answer: {detail}")]
    Malformed { detail: String },
    /// Any other refusal: another 4xx, a 3xx, or `success: false`.
    #[error("refused ({status}): {message}")]
    Refused { status: u16, message: String },
}

/// What a 4xx says of one parameter.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FieldProblem {
    pub parameter: String,
    pub message: String,
}

/// The body of a failing reply as the local service writes it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ErrorBody {
    pub success: bool,
    /// A short code, e.g. `invalid_input`.
    pub error: String,
    /// A sentence.
    pub message: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fields: Vec<FieldProblem>,
}

impl ErrorBody {
    pub fn new(error: &str, message: impl Into<String>) -> Self {
        Self {
            success: false,
            error: error.to_owned(),
            message: message.into(),
            fields: Vec::new(),
        }
    }
}

impl ApiError {
    /// Details of [`ApiError::Network`] where it is known why no answer was seen. Stored with tasks.
    pub const PAGE_CLOSED: &str = "the page was closed before the answer came";
    pub const EXPORTED_UNSENT: &str = "not sent yet when its history was exported";
    pub const WITHDRAWN: &str = "sent before, and cancelled before it was sent once more";

    pub fn malformed(detail: impl Into<String>) -> Self {
        Self::Malformed {
            detail: detail.into(),
        }
    }

    /// An answer that is to be JSON and is something else.
    pub fn not_json(body: &[u8]) -> Self {
        let start = String::from_utf8_lossy(&body[..body.len().min(60)]);
        match start.trim() {
            "" => Self::malformed("it is empty"),
            start if start.starts_with('<') => {
                Self::malformed("it is a web page, not JSON. The service address may be wrong")
            }
            start => Self::malformed(format!("it is not JSON but begins “{start}”")),
        }
    }

    /// `success: false` under a good HTTP status.
    pub(crate) fn refused(body: &Value) -> Self {
        Self::Refused {
            status: 200,
            message: body_message(body),
        }
    }

    /// The error that an HTTP status outside 200–299 and its body mean. `body` is `None` where it
    /// was not JSON.
    pub fn from_status(status: u16, body: Option<&Value>, retry_after_ms: Option<u64>) -> Self {
        let message = body.map(body_message).unwrap_or_default();
        match status {
            401 | 403 => Self::Unauthorized { message },
            404 | 405 | 410 => Self::NotFound { message },
            400 | 413 | 415 | 422 => Self::Invalid {
                message,
                fields: body.map(field_problems).unwrap_or_default(),
            },
            408 => Self::Timeout { after_ms: 0 },
            429 => Self::RateLimited {
                message,
                retry_after_ms,
            },
            500..=599 => Self::Server {
                status,
                message,
                retry_after_ms,
            },
            _ => Self::Refused { status, message },
        }
    }

    /// Asking again later may succeed. For `generate` that is not enough to retry: see
    /// [`ApiError::was_certainly_not_accepted`].
    pub fn is_retryable(&self) -> bool {
        matches!(
            self,
            Self::Network { .. }
                | Self::Timeout { .. }
                | Self::RateLimited { .. }
                | Self::Server { .. }
                | Self::Malformed { .. }
        )
    }

    /// The service has said that it did not take the request: no task exists and nothing was
    /// billed. After anything else a `generate` may have been received.
    pub fn was_certainly_not_accepted(&self) -> bool {
        match self {
            Self::Unauthorized { .. }
            | Self::NotFound { .. }
            | Self::Invalid { .. }
            | Self::RateLimited { .. }
            | Self::Refused { .. } => true,
            Self::Server {
                status,
                retry_after_ms,
                ..
            } => *status == 501 || (*status == 503 && retry_after_ms.is_some()),
            Self::Network { .. } | Self::Timeout { .. } | Self::Malformed { .. } => false,
        }
    }

    /// The wait that the service asked for, in milliseconds.
    pub fn retry_after_ms(&self) -> Option<u64> {
        match self {
            Self::RateLimited { retry_after_ms, .. } | Self::Server { retry_after_ms, .. } => {
                *retry_after_ms
            }
            _ => None,
        }
    }

    /// What happened and what to do, for a person.
    pub fn user_message(&self) -> String {
        match self {
            Self::Network { detail } if detail == Self::PAGE_CLOSED => {
                "The page was closed before the answer came.".into()
            }
            Self::Network { detail } if detail == Self::EXPORTED_UNSENT => {
                "It was not sent yet when its history was exported. The browser that it comes from may have \
                 sent it since."
                    .into()
            }
            Self::Network { detail } if detail == Self::WITHDRAWN => {
                "An earlier submission was not answered; the one after it was cancelled before it was sent."
                    .into()
            }
            Self::Network { .. } => {
                "No answer from the service. Either the network or the service is down, \
                 or the service does not allow this page to call it (CORS)."
                    .into()
            }
            Self::Timeout { after_ms: 0 } => "The service gave up waiting for the request.".into(),
            Self::Timeout { after_ms } => {
                format!("No answer within {} s.", after_ms.div_ceil(1000))
            }
            Self::Unauthorized { message } => with(
                "The service did not accept the credentials. Check User ID and Access token in Settings.",
                message,
            ),
            Self::NotFound { message } => {
                with("The service does not know what was asked for.", message)
            }
            Self::Invalid { message, fields } => {
                let details = fields
                    .iter()
                    .filter(|field| !message.contains(&field.message))
                    .map(|field| field.message.as_str());
                let details: Vec<&str> = [message.as_str()]
                    .into_iter()
                    .chain(details)
                    .filter(|d| !d.is_empty())
                    .collect();
                with("The service found the input invalid.", &details.join("; "))
            }
            Self::RateLimited { message, .. } => {
                with("Rate-limited: the service asks for fewer calls.", message)
            }
            Self::Server {
                status, message, ..
            } => with(
                &format!("The service has a problem of its own (HTTP {status})."),
                message,
            ),
            Self::Malformed { detail } => {
                format!("The service's answer could not be read: {detail}.")
            }
            Self::Refused {
                status: 200,
                message,
            } => with("The service refused.", message),
            Self::Refused { status, message } => {
                with(&format!("The service refused (HTTP {status})."), message)
            }
        }
    }
}

/// A sentence of ours, then the service's own words, marked as such.
fn with(sentence: &str, message: &str) -> String {
    if message.is_empty() {
        return sentence.to_owned();
    }
    let stop = if message.ends_with(['.', '!', '?']) {
        ""
    } else {
        "."
    };
    format!("{sentence} It says: {message}{stop}")
}

/// The most telling message of a body: `message`, `error`, `detail`, of any shape, at the top or
/// in `data`.
fn body_message(body: &Value) -> String {
    const MAX: usize = 2000;
    let found = ["message", "error", "detail", "msg", "title"]
        .iter()
        .find_map(|key| message_in(body.get(*key)?))
        .or_else(|| message_in(body.pointer("/data/error")?))
        .or_else(|| message_in(body.pointer("/data/message")?))
        .unwrap_or_default();
    found.chars().take(MAX).collect()
}

/// Problems by parameter, in the shapes seen in the field: `fields: [{parameter, message}]`,
/// `errors: {name: message}` and `detail: [{loc: [.., name], msg}]`.
fn field_problems(body: &Value) -> Vec<FieldProblem> {
    for key in ["fields", "errors", "detail", "details"] {
        let found: Vec<FieldProblem> = match body.get(key) {
            Some(Value::Array(entries)) => entries.iter().filter_map(field_problem).collect(),
            Some(Value::Object(map)) => map
                .iter()
                .filter_map(|(name, message)| {
                    let message = match message {
                        Value::Array(messages) => message_in(messages.first()?)?,
                        other => message_in(other)?,
                    };
                    Some(FieldProblem {
                        parameter: name.clone(),
                        message,
                    })
                })
                .collect(),
            _ => Vec::new(),
        };
        if !found.is_empty() {
            return found;
        }
    }
    Vec::new()
}

fn field_problem(entry: &Value) -> Option<FieldProblem> {
    let message = ["message", "msg", "error"]
        .iter()
        .find_map(|key| message_in(entry.get(*key)?))?;
    let parameter = ["parameter", "field", "name", "path", "loc"]
        .iter()
        .find_map(|key| match entry.get(*key)? {
            Value::String(name) => Some(name.clone()),
            Value::Array(path) => path.iter().rev().find_map(Value::as_str).map(str::to_owned),
            _ => None,
        })?;
    Some(FieldProblem { parameter, message })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    #[test]
    fn statuses_and_their_kinds() {
        let kind = |status| {
            crate::json::encode(&ApiError::from_status(status, None, None))["kind"].clone()
        };
        for (status, expected) in [
            (400, "invalid"),
            (401, "unauthorized"),
            (403, "unauthorized"),
            (404, "not_found"),
            (405, "not_found"),
            (422, "invalid"),
            (429, "rate_limited"),
            (500, "server"),
            (503, "server"),
            (418, "refused"),
            (302, "refused"),
        ] {
            assert_eq!(kind(status), expected, "{status}");
        }
    }

    #[test]
    fn only_the_services_own_word_makes_a_generate_safe_to_send_again() {
        let error = |status, wait| ApiError::from_status(status, None, wait);
        assert!(error(429, None).was_certainly_not_accepted());
        assert!(error(503, Some(1000)).was_certainly_not_accepted());
        for unsure in [
            error(503, None),
            error(500, None),
            error(502, Some(1000)),
            error(504, None),
            ApiError::Network {
                detail: String::new(),
            },
            ApiError::Timeout { after_ms: 1 },
            ApiError::malformed("x"),
        ] {
            assert!(!unsure.was_certainly_not_accepted(), "{unsure:?}");
        }
    }

    #[test]
    fn field_problems_of_several_shapes() {
        for body in [
            json!({"fields": [{"parameter": "seed", "message": "too big"}]}),
            json!({"errors": {"seed": ["too big"]}}),
            json!({"detail": [{"loc": ["body", "seed"], "msg": "too big"}]}),
        ] {
            let ApiError::Invalid { fields, .. } = ApiError::from_status(422, Some(&body), None)
            else {
                panic!("422 is invalid");
            };
            assert_eq!(
                fields,
                [FieldProblem {
                    parameter: "seed".into(),
                    message: "too big".into()
                }]
            );
        }
    }

    proptest! {
        #[test]
        fn every_reply_gives_a_sentence(status: u16, text in r#"[\{\}\[\]",:a-z0-9 ]{0,60}"#) {
            let body = serde_json::from_str::<Value>(&text).ok();
            let sentence = ApiError::from_status(status, body.as_ref(), None).user_message();
            prop_assert!(sentence.ends_with(['.', '!', '?']), "{sentence}");
        }
    }
}

//! The ways in which a call can fail, and what a person is told of each.

mod blame;
mod error_body;
mod field_problem;
mod words;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use thiserror::Error;

use crate::prose::message_in;
use blame::blames_credentials;
use field_problem::field_problems;

pub use error_body::ErrorBody;
pub use field_problem::FieldProblem;

/// Why a call gave no answer that can be used. [`ApiError::user_message`] says it to a person.
///
/// Codes, names and shapes of failing replies are "not shown" in INTERFACE ("Errors" 4, 5): the
/// HTTP status decides the kind, and any message found in the body is kept.
///
/// Stored with tasks: names and shapes do not change.
#[derive(Debug, Clone, PartialEq, Error, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ApiError {
    /// The browser got no answer: no network, no server listening, the connection broke, or the
    /// service's CORS headers do not allow this page. A browser does not tell these apart.
    #[error("no answer: {detail}")]
    Network { detail: String },
    #[error("no answer within {after_ms} ms")]
    Timeout { after_ms: u64 },
    /// 401 or 403.
    #[error("unauthorized: {message}")]
    Unauthorized {
        message: String,
        /// It was 403: the service knows who asks and refuses this all the same, where it uses the codes as they are
        /// meant. Not kept.
        #[serde(skip)]
        is_forbidden: bool,
    },
    /// 404 or 405 or 410.
    #[error("not found: {message}")]
    NotFound {
        message: String,
        /// The service itself said so: each of its responses carries a boolean `success` (INTERFACE.md, rules). What
        /// stands in its place for a while, a proxy or a gateway, has words of its own. Not kept.
        #[serde(skip)]
        is_of_service: bool,
    },
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

impl ApiError {
    /// Details of [`ApiError::Network`] where it is known why no answer was seen. Stored with tasks.
    pub const PAGE_CLOSED: &str = "the page was closed before the answer came";
    pub const EXPORTED_UNSENT: &str = "not sent yet when its history was exported";
    pub const REDIRECTED: &str = "redirected";
    /// Detail of [`ApiError::Malformed`] where an answer was not read to its end. Stored with tasks.
    pub const TOO_LARGE: &str = "it is too large to read";
    /// Detail of [`ApiError::Network`] where an answer had begun. Stored with tasks.
    pub const CUT: &str = "the connection broke while the answer arrived";
    pub const WITHDRAWN: &str = "sent before, and cancelled before it was sent once more";
    /// How [`ApiError::user_message`] begins of [`ApiError::Invalid`]. Stored with tasks.
    const INVALID_INPUT: &str = "The service found the input invalid.";
    /// How it begins of [`ApiError::Unauthorized`]. Stored with tasks.
    const UNAUTHORIZED: &str =
        "The service did not accept the credentials. Check User ID and Access token in Settings.";
    /// Detail of [`ApiError::Malformed`] where another than the service has answered. Stored with tasks.
    const WEB_PAGE: &str = "it is a web page, not JSON. The service address may be wrong";

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
            start if start.starts_with('<') => Self::malformed(Self::WEB_PAGE),
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
            401 | 403 => Self::Unauthorized {
                message,
                is_forbidden: status == 403,
            },
            404 | 405 | 410 => Self::NotFound {
                message,
                is_of_service: body.is_some_and(|body| body["success"].is_boolean()),
            },
            400 | 413 | 415 | 422 => Self::Invalid {
                message,
                fields: body.map(field_problems).unwrap_or_default(),
            },
            300..=399 => Self::Network {
                detail: Self::REDIRECTED.into(),
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

    /// The service says nothing at present of what was asked for, though it may have before: it does
    /// not answer, it is asked too often, or it has a problem of its own. A refusal is an answer, and so is what
    /// can't be read.
    pub fn is_outage(&self) -> bool {
        self.is_unreachable() || matches!(self, Self::RateLimited { .. } | Self::Server { .. })
    }

    /// No service is there that could take a request: there is no answer, or what stands before the service says
    /// that it gets none, or answers in its place with a page for people.
    pub fn is_unreachable(&self) -> bool {
        match self {
            Self::Network { .. } | Self::Timeout { .. } => true,
            Self::Server { status, .. } => matches!(status, 502..=504),
            Self::Malformed { detail } => detail == Self::WEB_PAGE,
            _ => false,
        }
    }

    /// The account has no credit left (402): whatever is sent is refused until that has changed.
    pub fn is_out_of_credit(&self) -> bool {
        matches!(self, Self::Refused { status: 402, .. })
    }

    /// It is a 403 whose words are not about credentials: a quota, a limit of the plan, a rule on what is asked for.
    pub fn is_other_refusal(&self) -> bool {
        matches!(self, Self::Unauthorized { message, is_forbidden: true } if !blames_credentials(message))
    }

    /// Asking once more, with the same, would be answered the same: a 4xx that is about the request itself. Not what
    /// depends on credentials, credit, time or another's request.
    pub fn is_final(&self) -> bool {
        match self {
            Self::Invalid { .. } => true,
            Self::Refused { status, .. } => {
                matches!(status, 406 | 412 | 414 | 416..=418 | 428 | 431 | 451)
            }
            _ => false,
        }
    }

    /// The answer would be as large if it were asked for again.
    pub fn is_too_large(&self) -> bool {
        matches!(self, Self::Malformed { detail } if detail == Self::TOO_LARGE)
    }

    /// The answer had begun and broke off.
    pub fn is_cut(&self) -> bool {
        matches!(self, Self::Network { detail } if detail == Self::CUT)
    }

    /// The service has said that it did not take the request: no task exists and nothing was
    /// billed. After anything else a `generate` may have been received; a service that notices the same request
    /// twice (409, 425) has perhaps taken it the first time: browsers send one again by themselves where a
    /// connection breaks.
    pub fn was_certainly_not_accepted(&self) -> bool {
        match self {
            Self::Unauthorized { .. }
            | Self::NotFound { .. }
            | Self::Invalid { .. }
            | Self::RateLimited { .. } => true,
            // A gateway gave up waiting for the answer (444, 460, 499): the request had gone on.
            Self::Refused {
                status: 444 | 460 | 499,
                ..
            } => false,
            Self::Refused { .. } => !self.is_conflict(),
            Self::Server {
                status,
                retry_after_ms,
                ..
            } => *status == 501 || (*status == 503 && retry_after_ms.is_some()),
            Self::Network { .. } | Self::Timeout { .. } | Self::Malformed { .. } => false,
        }
    }

    /// The service has noticed that the request is like one that it has had (409), or may be a repetition (425).
    pub fn is_conflict(&self) -> bool {
        matches!(
            self,
            Self::Refused {
                status: 409 | 425,
                ..
            }
        )
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

#[cfg(test)]
mod tests;

//! The errors of a call, and their messages for the user.

mod credentials_message;
mod error_body;
mod field_problem;
mod messages;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use thiserror::Error;

use crate::prose::message_in;
use credentials_message::may_be_about_credentials;
use field_problem::field_problems;

pub use error_body::ErrorBody;
pub use field_problem::FieldProblem;

/// The reason why a call returned no usable response. [`ApiError::user_message`] explains it to the user.
///
/// INTERFACE does not show the codes, names and shapes of failing responses ("Errors" 4, 5), so the HTTP status
/// determines the kind. A message in the body is preserved.
///
/// It is stored with tasks, so names and types must not change.
#[derive(Debug, Clone, PartialEq, Error, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ApiError {
    /// No response: no network, no server, a broken connection, or CORS headers that don't allow this page. Browsers
    /// don't distinguish these.
    #[error("no answer: {detail}")]
    Network { detail: String },
    #[error("no answer within {after_ms} ms")]
    Timeout { after_ms: u64 },
    /// 401 or 403.
    #[error("unauthorized: {message}")]
    Unauthorized {
        message: String,
        /// Whether the status was 403. According to the HTTP specification, the service then knows the caller and
        /// refuses the request nevertheless. Not stored.
        #[serde(skip)]
        is_forbidden: bool,
    },
    /// 404 or 405 or 410.
    #[error("not found: {message}")]
    NotFound {
        message: String,
        /// Whether the 404 comes from the service itself, whose responses all contain a boolean `success`
        /// (INTERFACE.md, rules). Responses of proxies and gateways don't. Not stored.
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
    /// 429, with the wait in milliseconds if the service requested one.
    #[error("rate-limited: {message}")]
    RateLimited {
        message: String,
        retry_after_ms: Option<u64>,
    },
    /// 5xx, with the wait in milliseconds if the service requested one.
    #[error("server error {status}: {message}")]
    Server {
        status: u16,
        message: String,
        retry_after_ms: Option<u64>,
    },
    /// The response is not JSON, lacks a required field, or is too large to read.
    #[error("malformed answer: {detail}")]
    Malformed { detail: String },
    /// Any other refusal: another 4xx, a 3xx, or `success: false`.
    #[error("refused ({status}): {message}")]
    Refused { status: u16, message: String },
}

impl ApiError {
    /// Values of the detail of [`ApiError::Network`] if the cause is known. Stored with tasks.
    pub const PAGE_CLOSED: &str = "the page was closed before the answer came";
    pub const EXPORTED_UNSENT: &str = "not sent yet when its history was exported";
    pub const REDIRECTED: &str = "redirected";
    /// The detail of [`ApiError::Malformed`] for a response that exceeds the size limit. Stored with tasks.
    pub const TOO_LARGE: &str = "it is too large to read";
    /// The detail of [`ApiError::Network`] for a response that was cut off. Stored with tasks.
    pub const CUT_OFF: &str = "the connection broke while the answer arrived";
    pub const WITHDRAWN: &str = "sent before, and cancelled before it was sent once more";
    /// The prefix of the [`ApiError::user_message`] of [`ApiError::Invalid`]. Stored with tasks.
    const INVALID_INPUT: &str = "The service found the input invalid.";
    /// The prefix of the message of [`ApiError::Unauthorized`]. Stored with tasks.
    const UNAUTHORIZED: &str =
        "The service did not accept the credentials. Check User ID and Access token in Settings.";
    /// The detail of [`ApiError::Malformed`] for a web page in place of JSON. Stored with tasks.
    const WEB_PAGE: &str = "it is a web page, not JSON. The service address may be wrong";

    /// Creates the error for a response that can't be used.
    pub fn malformed(detail: impl Into<String>) -> Self {
        Self::Malformed {
            detail: detail.into(),
        }
    }

    /// Creates the error for a body that is not JSON.
    pub fn not_json(body: &[u8]) -> Self {
        let start = String::from_utf8_lossy(&body[..body.len().min(60)]);
        match start.trim() {
            "" => Self::malformed("it is empty"),
            start if start.starts_with('<') => Self::malformed(Self::WEB_PAGE),
            start => Self::malformed(format!("it is not JSON but begins “{start}”")),
        }
    }

    /// Creates the error for `success: false` with a successful HTTP status.
    pub(crate) fn refused(body: &Value) -> Self {
        Self::Refused {
            status: 200,
            message: body_message(body),
        }
    }

    /// Creates the error for an HTTP status outside 200–299. `body` is `None` if it was not JSON.
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

    /// Whether a later attempt may succeed. For `generate`, that is not enough to retry: see
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

    /// Whether the service can't answer at present, so that a cached response may be shown: it is unreachable, limits
    /// the rate, or reports an internal error. Refusals and unreadable responses are answers.
    pub fn is_outage(&self) -> bool {
        self.is_unreachable() || matches!(self, Self::RateLimited { .. } | Self::Server { .. })
    }

    /// Whether the service can't be reached: there is no response, a proxy reports that it can't reach the service, or
    /// the response is a web page.
    pub fn is_unreachable(&self) -> bool {
        match self {
            Self::Network { .. } | Self::Timeout { .. } => true,
            Self::Server { status, .. } => matches!(status, 502..=504),
            Self::Malformed { detail } => detail == Self::WEB_PAGE,
            _ => false,
        }
    }

    /// Whether the account is out of credit (402), so that all submissions are refused.
    pub fn is_out_of_credit(&self) -> bool {
        matches!(self, Self::Refused { status: 402, .. })
    }

    /// Whether this is a 403 whose message is not about credentials, but about a quota, a limit of the plan, or a
    /// content rule.
    pub fn is_other_refusal(&self) -> bool {
        matches!(self, Self::Unauthorized { message, is_forbidden: true } if !may_be_about_credentials(message))
    }

    /// Whether repeating the request would fail in the same way: a 4xx about the request itself, and not about
    /// credentials, credit, timing or another request.
    pub fn is_final(&self) -> bool {
        match self {
            Self::Invalid { .. } => true,
            Self::Refused { status, .. } => {
                matches!(status, 406 | 412 | 414 | 416..=418 | 428 | 431 | 451)
            }
            _ => false,
        }
    }

    /// Whether the response exceeded the size limit. Repeating the call would have the same result.
    pub fn is_too_large(&self) -> bool {
        matches!(self, Self::Malformed { detail } if detail == Self::TOO_LARGE)
    }

    /// Whether the response was cut off.
    pub fn is_cut_off(&self) -> bool {
        matches!(self, Self::Network { detail } if detail == Self::CUT_OFF)
    }

    /// Whether the service has certainly not accepted the request, so that no task exists and nothing was billed. After
    /// all other errors, the service may have accepted a `generate`. A 409 or 425 may mean that it has accepted the
    /// same request before, because browsers repeat a request when the connection breaks.
    pub fn was_certainly_not_accepted(&self) -> bool {
        match self {
            Self::Unauthorized { .. }
            | Self::NotFound { .. }
            | Self::Invalid { .. }
            | Self::RateLimited { .. } => true,
            // With 444, 460 and 499, a gateway has forwarded the request and then stopped waiting for the response.
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

    /// Whether the service reports a conflict with an earlier request (409), or a possible repetition (425).
    pub fn is_conflict(&self) -> bool {
        matches!(
            self,
            Self::Refused {
                status: 409 | 425,
                ..
            }
        )
    }

    /// Returns the wait that the service requested, in milliseconds.
    pub fn retry_after_ms(&self) -> Option<u64> {
        match self {
            Self::RateLimited { retry_after_ms, .. } | Self::Server { retry_after_ms, .. } => {
                *retry_after_ms
            }
            _ => None,
        }
    }
}

/// Returns the best message of a body: `message`, `error` or `detail`, of any shape, at the top level or in `data`.
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

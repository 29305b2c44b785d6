//! The error response to a refused call.

use atelier_contract::{Envelope, ErrorBody, FieldProblem, Problem};
use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};

use crate::accounts::AccountError;
use crate::idempotency::KeyError;
use crate::store::StoreError;
use crate::webhooks::fields::WebhookError;

/// The `Retry-After` of retryable errors, in seconds.
const RETRY_SECONDS: u64 = 5;

/// A refused call: an HTTP status, and the body `{success: false, error, message, fields?}`.
#[derive(Debug, Clone)]
pub struct Failure {
    pub status: StatusCode,
    pub body: ErrorBody,
    /// Seconds to wait before the next call; the `Retry-After` header.
    pub retry_after: Option<u64>,
}

impl Failure {
    pub fn new(status: StatusCode, code: &str, message: impl Into<String>) -> Self {
        Self {
            status,
            body: ErrorBody::new(code, message),
            retry_after: None,
        }
    }

    pub fn bad_request(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "bad_request", message)
    }

    /// Returns a 400: the webhook of a request can't be used.
    pub fn webhook(error: WebhookError) -> Self {
        Self::new(
            StatusCode::BAD_REQUEST,
            "invalid_webhook",
            error.to_string(),
        )
    }

    pub fn not_found(code: &str, message: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, code, message)
    }

    /// Returns a 422 that lists all problems.
    pub fn invalid(problems: Vec<Problem>) -> Self {
        let sentences: Vec<&str> = problems.iter().map(|p| p.message.as_str()).collect();
        let mut failure = Self::new(
            StatusCode::UNPROCESSABLE_ENTITY,
            "invalid_input",
            sentences.join("; "),
        );
        failure.body.fields = problems
            .into_iter()
            .map(|problem| FieldProblem {
                parameter: problem.parameter,
                message: problem.message,
            })
            .collect();
        failure
    }

    /// Returns a 422 for one field.
    pub fn invalid_field(parameter: &str, message: impl Into<String>) -> Self {
        Self::invalid(vec![Problem {
            parameter: parameter.to_owned(),
            message: message.into(),
        }])
    }

    /// Returns a 503 with `Retry-After`. The message says that nothing was accepted.
    fn retryable(code: &str, message: &str) -> Self {
        let mut failure = Self::new(StatusCode::SERVICE_UNAVAILABLE, code, message);
        failure.retry_after = Some(RETRY_SECONDS);
        failure
    }

    /// Returns a 503: the disk has no space for the output of another task.
    pub fn full() -> Self {
        Self::retryable(
            "disk_full",
            "The service's disk is full. Nothing was accepted; free some space, then try again.",
        )
    }

    /// Returns a 503: the service is about to stop.
    pub fn draining() -> Self {
        Self::retryable(
            "draining",
            "The service is about to restart. Nothing was accepted; try again in a moment.",
        )
    }

    /// Returns a 503: the parameters of the model are unknown, because its server was never available.
    pub fn model_unavailable() -> Self {
        Self::retryable(
            "model_away",
            "The model is unavailable, and its parameters are unknown. Nothing was accepted; try again later.",
        )
    }

    /// Returns a 503: the store of the outputs does not respond, or refuses the request.
    pub fn outputs_unavailable(cause: impl std::fmt::Display) -> Self {
        tracing::error!("outputs: {cause}");
        Self::retryable(
            "storage_unavailable",
            "The service can't reach its outputs at the moment; see its log.",
        )
    }

    /// Returns a 500 or 503 for an error of the store of the tasks.
    pub fn store(error: StoreError) -> Self {
        if error.is_full() {
            tracing::warn!("{error}");
            return Self::full();
        }
        if error.is_retryable() {
            tracing::error!("{error}");
            return Self::retryable(
                "storage_unavailable",
                "The service can't use its disk at the moment; see its log.",
            );
        }
        Self::internal(error)
    }

    /// Returns a 500 or 503 for an error of the store of the accounts.
    pub fn accounts(error: AccountError) -> Self {
        match error {
            AccountError::Store(error) => Self::store(error),
            AccountError::Database(error) => Self::store(error.into()),
            error => Self::internal(error),
        }
    }

    /// Returns a 500; the cause is logged, and not returned to the caller.
    pub fn internal(cause: impl std::fmt::Display) -> Self {
        tracing::error!("{cause}");
        Self::new(
            StatusCode::INTERNAL_SERVER_ERROR,
            "internal",
            "The service failed; see its log.",
        )
    }

    /// Returns the `body` of a batch entry (INTERFACE "Batch result entry").
    pub fn to_body(&self) -> Value {
        json!(self.body)
    }
}

impl From<KeyError> for Failure {
    fn from(error: KeyError) -> Self {
        Self::bad_request(error.to_string())
    }
}

/// The error code of a refused call, attached to the response for metrics and the log.
#[derive(Debug, Clone)]
pub struct Refusal(pub String);

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        let refusal = Refusal(self.body.error.clone());
        let mut response = (self.status, Json(self.body)).into_response();
        response.extensions_mut().insert(refusal);
        if let Some(seconds) = self.retry_after {
            response
                .headers_mut()
                .insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        response
    }
}

/// Returns the response to a single v2 call: `{success: true, data}`.
pub fn success(data: Value) -> Json<Envelope<Value>> {
    Json(Envelope::success(data))
}

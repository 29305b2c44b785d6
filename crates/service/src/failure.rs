//! The answer to a call that can't be carried out.

use atelier_contract::{Envelope, ErrorBody, FieldProblem, Problem};
use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};

use crate::idempotency::KeyError;
use crate::store::StoreError;

/// When to try again what the disk did not permit.
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

    pub fn not_found(code: &str, message: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, code, message)
    }

    /// 422, with every problem named.
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

    /// 422 for one field.
    pub fn invalid_field(parameter: &str, message: impl Into<String>) -> Self {
        Self::invalid(vec![Problem {
            parameter: parameter.to_owned(),
            message: message.into(),
        }])
    }

    /// 503: nothing was taken in, and it may work later.
    fn later(code: &str, message: &str) -> Self {
        let mut failure = Self::new(StatusCode::SERVICE_UNAVAILABLE, code, message);
        failure.retry_after = Some(RETRY_SECONDS);
        failure
    }

    /// There is no room for what another task would make.
    pub fn full() -> Self {
        Self::later(
            "disk_full",
            "The service's disk is full. Nothing was taken in; make room on it, then try again.",
        )
    }

    /// The service is about to stop.
    pub fn draining() -> Self {
        Self::later(
            "draining",
            "The service is about to be started anew. Nothing was taken in; try again in a moment.",
        )
    }

    /// What the model takes is not known yet: where it runs could not be asked.
    pub fn model_away() -> Self {
        Self::later(
            "model_away",
            "The model is away, and has not said yet what it takes. Nothing was taken in; try again later.",
        )
    }

    /// The store of the outputs does not answer, or refuses.
    pub fn outputs_away(cause: impl std::fmt::Display) -> Self {
        tracing::error!("outputs: {cause}");
        Self::later(
            "storage_unavailable",
            "The service can't reach its outputs at the moment; its log says why.",
        )
    }

    /// The store could not read or write something.
    pub fn store(error: StoreError) -> Self {
        if error.is_full() {
            tracing::warn!("{error}");
            return Self::full();
        }
        if error.may_pass() {
            tracing::error!("{error}");
            return Self::later(
                "storage_unavailable",
                "The service can't use its disk at the moment; its log says why.",
            );
        }
        Self::internal(error)
    }

    /// 500; the cause goes to the log, not to the caller.
    pub fn internal(cause: impl std::fmt::Display) -> Self {
        tracing::error!("{cause}");
        Self::new(
            StatusCode::INTERNAL_SERVER_ERROR,
            "internal",
            "The service failed on its own; its log says why.",
        )
    }

    /// The `body` of a batch entry (INTERFACE "Batch result entry").
    pub fn to_body(&self) -> Value {
        json!(self.body)
    }
}

impl From<KeyError> for Failure {
    fn from(error: KeyError) -> Self {
        Self::bad_request(error.to_string())
    }
}

/// Goes with the answer to a refused call, for metrics: the code of the refusal.
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

/// The answer to a single v2 call: `{success: true, data}`.
pub fn success(data: Value) -> Json<Envelope<Value>> {
    Json(Envelope::success(data))
}

//! The envelope of every response.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Accepted, ApiError};

/// The envelope of every response (INTERFACE "Envelope of v2 single calls", "Errors" 1).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Envelope<T> {
    pub success: bool,
    pub data: T,
    /// Present in discovery responses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

impl<T> Envelope<T> {
    /// Wraps the data of a successful response.
    pub fn success(data: T) -> Self {
        Self {
            success: true,
            data,
            message: None,
        }
    }
}

/// Returns the body of a successful response. `retry_after_ms` is the wait in milliseconds from its `Retry-After`
/// header.
///
/// # Errors
///
/// The HTTP status is outside 200–299.
pub fn answer(status: u16, body: Value, retry_after_ms: Option<u64>) -> Result<Value, ApiError> {
    match is_success(status.into()) {
        true => Ok(body),
        false => Err(ApiError::from_status(status, Some(&body), retry_after_ms)),
    }
}

/// Returns the body of a response to generate or generate-batch.
///
/// INTERFACE does not show the bodies of failing responses ("Errors" 5). If the body contains a task with an id and a
/// status, or a successful batch item, the service has accepted the task, regardless of the HTTP status. Sending the
/// task again would be billed twice.
///
/// # Errors
///
/// The HTTP status is outside 200–299, and the body contains no accepted task.
pub fn submitted(status: u16, body: Value, retry_after_ms: Option<u64>) -> Result<Value, ApiError> {
    match contains_task(&body) || contains_accepted_item(&body) {
        true => Ok(body),
        false => answer(status, body, retry_after_ms),
    }
}

fn is_success(status: u64) -> bool {
    (200..300).contains(&status)
}

fn contains_task(body: &Value) -> bool {
    let has_status = body.pointer("/data/status").is_some_and(Value::is_string);
    let is_success = body.get("success") == Some(&Value::Bool(true));
    (has_status || is_success) && Accepted::from_body(body).is_ok()
}

fn contains_accepted_item(body: &Value) -> bool {
    let results = body.pointer("/data/results").and_then(Value::as_array);
    let is_accepted = |result: &Value| {
        let status = result.get("status").and_then(Value::as_u64);
        status.is_some_and(is_success) || result.get("body").is_some_and(contains_task)
    };
    results.into_iter().flatten().any(is_accepted)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// Guards against a second charge, and against a false "nothing was billed": the body of a failing response
    /// contains the ids of accepted tasks.
    #[test]
    fn an_accepted_task_counts_with_any_http_status() {
        let task = json!({"success": false, "data": {"id": "t", "status": "starting"}});
        let batch = json!({"success": false, "data": {"results": [
            {"index": 0, "status": 422, "body": {}}, {"index": 1, "status": 200, "body": task}
        ]}});
        let succeeded = json!({"success": true, "data": {"id": "t"}});
        let without_status = json!({"data": {"results": [{"index": 0, "body": succeeded}]}});
        let as_text =
            json!({"data": {"results": [{"index": 0, "status": "200", "body": succeeded}]}});
        for body in [task, batch, succeeded, without_status, as_text] {
            for status in [200, 302, 400, 403, 404, 409, 422, 429, 500, 503] {
                let result = submitted(status, body.clone(), None);
                assert_eq!(result, Ok(body.clone()), "{status}");
                // For all other calls, the HTTP status alone decides.
                assert_eq!(answer(status, body.clone(), None).is_ok(), status == 200);
            }
        }
    }

    #[test]
    fn a_refusal_is_an_error() {
        let all_refused =
            json!({"data": {"results": [{"index": 0, "status": 429, "body": {}}, {}, 7]}});
        let bodies = [
            json!({"success": false, "error": "x"}),
            json!({"data": {"id": "request-1"}}),
            json!({"data": {"id": null, "status": "x"}}),
            json!({"data": {"id": "request-1", "status": 422}}),
            json!({"data": {"results": []}}),
            json!({"data": [1]}),
            json!(null),
            all_refused,
        ];
        for body in bodies {
            let refused = Err(ApiError::from_status(429, Some(&body), Some(5)));
            assert_eq!(submitted(429, body.clone(), Some(5)), refused, "{body}");
        }
    }
}

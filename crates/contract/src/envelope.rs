use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::ApiError;

/// What every reply is wrapped in (INTERFACE "Envelope of v2 single calls", "Errors" 1).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Envelope<T> {
    pub success: bool,
    pub data: T,
    /// Present on discovery replies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

impl<T> Envelope<T> {
    /// A successful reply.
    pub fn success(data: T) -> Self {
        Self {
            success: true,
            data,
            message: None,
        }
    }
}

/// The body of a JSON reply with this HTTP status, if it answers what was asked; `retry_after_ms`: the wait in
/// milliseconds that its headers ask for.
///
/// Bodies of failing replies are "not shown" in INTERFACE ("Errors" 5). One that tells of a task, with its id and its
/// status, or of an item of a batch that was answered well, says that these were taken, whatever its HTTP status:
/// what is sent once more would be paid twice.
///
/// # Errors
///
/// The HTTP status is outside 200–299, and the body says no such thing.
pub fn answer(status: u16, body: Value, retry_after_ms: Option<u64>) -> Result<Value, ApiError> {
    let is_good = |status: u64| (200..300).contains(&status);
    let data = body.get("data");
    let tells_of_task = data.is_some_and(|data| {
        let has = |name| data.get(name).is_some_and(|value| !value.is_null());
        has("id") && has("status")
    });
    let results = data
        .and_then(|data| data.get("results"))
        .and_then(Value::as_array);
    let tells_of_item = results.is_some_and(|results| {
        let statuses = results.iter().map(|result| result.get("status"));
        statuses.flatten().filter_map(Value::as_u64).any(is_good)
    });
    if is_good(status.into()) || tells_of_task || tells_of_item {
        return Ok(body);
    }
    Err(ApiError::from_status(status, Some(&body), retry_after_ms))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// Guards against paying twice, and against "nothing was billed" about what was: the body of a failing reply has
    /// the ids of tasks that were taken.
    #[test]
    fn what_was_taken_counts_whatever_the_http_status() {
        let task = json!({"success": false, "data": {"id": "t", "status": "starting"}});
        let batch = json!({"success": false, "data": {"results": [
            {"index": 0, "status": 422, "body": {}}, {"index": 1, "status": 200, "body": task}
        ]}});
        for body in [task, batch] {
            for status in [200, 302, 400, 403, 404, 409, 422, 429, 500, 503] {
                assert_eq!(
                    answer(status, body.clone(), None),
                    Ok(body.clone()),
                    "{status}"
                );
            }
        }
    }

    #[test]
    fn a_refusal_stays_one() {
        let all_refused =
            json!({"data": {"results": [{"index": 0, "status": 429, "body": {}}, {}, 7]}});
        let bodies = [
            json!({"success": false, "error": "x"}),
            json!({"data": {"id": "request-1"}}),
            json!({"data": {"id": null, "status": "x"}}),
            json!({"data": {"results": []}}),
            json!({"data": [1]}),
            json!(null),
            all_refused,
        ];
        for body in bodies {
            let refused = Err(ApiError::from_status(429, Some(&body), Some(5)));
            assert_eq!(answer(429, body.clone(), Some(5)), refused, "{body}");
        }
    }
}

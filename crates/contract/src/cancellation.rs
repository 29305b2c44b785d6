//! The response of `POST /v2/cancel`, an extension of the interface.

use serde_json::Value;

use crate::prose::message_in;
use crate::{ApiError, Progress};

/// The response to a request to cancel a task.
#[derive(Debug, Clone, PartialEq)]
pub struct Cancellation {
    /// The status of the task, which may have ended before.
    pub progress: Progress,
    /// Whether the service has accepted the request, although the task may not have ended yet.
    pub is_accepted: bool,
    /// The service's reason why the task is not canceled, of at most [`crate::MAX_PROSE`] characters.
    pub message: Option<String>,
}

impl Cancellation {
    /// Parses the body of a cancel response.
    ///
    /// # Errors
    ///
    /// As for [`Progress::from_body`].
    pub fn from_body(body: &Value) -> Result<Self, ApiError> {
        let progress = Progress::from_body(body)?;
        let data = &body["data"];
        Ok(Self {
            progress,
            is_accepted: data.get("canceled") == Some(&Value::Bool(true)),
            message: data.get("message").and_then(message_in),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::StatusWord;
    use serde_json::json;

    fn read(data: Value) -> Result<Cancellation, ApiError> {
        Cancellation::from_body(&json!({"success": true, "data": data}))
    }

    #[test]
    fn reads_the_outcomes_that_a_service_reports() {
        let canceled =
            json!({"id": "1", "status": "failed", "error": "Canceled", "canceled": true});
        let canceled = read(canceled).unwrap();
        assert!(canceled.progress.is_canceled && canceled.is_accepted);
        let finished = read(json!({"id": "1", "status": "completed", "canceled": false})).unwrap();
        assert_eq!(finished.progress.status, StatusWord::Completed);
        assert!(!finished.progress.is_canceled && !finished.is_accepted);
        let refused = json!({"status": "processing", "canceled": false, "message": "It can't."});
        let refused = read(refused).unwrap();
        assert_eq!(refused.message.as_deref(), Some("It can't."));
        assert!(!refused.is_accepted && !refused.progress.is_canceled);
    }

    #[test]
    fn an_accepted_request_is_not_an_ended_task() {
        let accepted = read(json!({"status": "processing", "canceled": true})).unwrap();
        assert!(accepted.is_accepted && !accepted.progress.is_canceled);
    }

    #[test]
    fn only_true_means_canceled() {
        for odd in [
            json!("true"),
            json!(1),
            json!(null),
            json!({}),
            json!([true]),
        ] {
            let read = read(json!({"status": "failed", "canceled": odd, "message": odd})).unwrap();
            assert!(!read.is_accepted && !read.progress.is_canceled, "{odd}");
        }
        for body in [json!({}), json!([]), json!({"data": {"canceled": true}})] {
            let read = Cancellation::from_body(&body);
            assert!(matches!(read, Err(ApiError::Malformed { .. })), "{body}");
        }
    }
}

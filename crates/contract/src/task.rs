//! A task as the service tells it: its id, its status and its response.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::prose::message_in;
use crate::{ApiError, StatusWord};

/// The service's identifier of a task; opaque (INTERFACE "Task").
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TaskId(pub String);

impl fmt::Display for TaskId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What `POST /v2/generate` answers: the task exists (INTERFACE "POST /v2/generate").
#[derive(Debug, Clone, PartialEq)]
pub struct Accepted {
    pub id: TaskId,
    pub status: StatusWord,
    /// `data.error` as text, where the task has failed already.
    pub error: Option<String>,
}

/// What `POST /v2/status` answers (INTERFACE "POST /v2/status").
#[derive(Debug, Clone, PartialEq)]
pub struct Progress {
    /// The id as the reply repeats it, if it does.
    pub id: Option<TaskId>,
    pub status: StatusWord,
    /// `data.error` as text, where there is one.
    pub error: Option<String>,
    /// How far it is, in the words of what makes it, where the service has them: `data.progress`, next to
    /// the interface. One line of at most [`Progress::MAX_LINE`] characters.
    pub line: Option<String>,
}

/// What `POST /v2/response` answers (INTERFACE "POST /v2/response").
#[derive(Debug, Clone, PartialEq)]
pub struct Output {
    pub status: StatusWord,
    /// Result URLs; empty if the reply carried none.
    pub output: Vec<String>,
    pub error: Option<String>,
}

impl Accepted {
    /// Reads the body of a generate reply. Without an id there is no telling whether a task
    /// exists: [`ApiError::Malformed`].
    ///
    /// # Errors
    ///
    /// [`ApiError::Refused`] if the reply says `success: false` and has neither a status nor an id.
    /// [`ApiError::Malformed`] if it has no `data`, or no id in it.
    pub fn from_body(body: &Value) -> Result<Self, ApiError> {
        // With an id the task was taken, and may be billed, whatever else is said.
        let taken = body.get("data").filter(|data| id_of(data).is_some());
        let data = taken.map_or_else(|| data_of(body), Ok)?;
        let id = id_of(data).ok_or_else(|| ApiError::malformed("the reply has no task id"))?;
        Ok(Self {
            id,
            status: status_of(data).unwrap_or(StatusWord::Other(String::new())),
            error: error_text(body, data),
        })
    }
}

impl Progress {
    /// The longest line of progress that is shown, in characters.
    pub const MAX_LINE: usize = 200;

    /// Reads the body of a status reply; one without a status is malformed.
    ///
    /// # Errors
    ///
    /// [`ApiError::Refused`] if the reply says `success: false` and has no status.
    /// [`ApiError::Malformed`] if it has no `data`, or no status in it.
    pub fn from_body(body: &Value) -> Result<Self, ApiError> {
        let data = data_of(body)?;
        let status =
            status_of(data).ok_or_else(|| ApiError::malformed("the reply has no status"))?;
        let error = error_text(body, data);
        // It may be all that explains a word that the interface does not name.
        let explained = error
            .as_deref()
            .filter(|_| matches!(status, StatusWord::Other(_)));
        Ok(Self {
            id: id_of(data),
            line: line_of(data).or_else(|| explained.and_then(last_line)),
            status,
            error,
        })
    }
}

impl Output {
    /// Reads the body of a response reply. A reply with outputs and no status counts as completed.
    ///
    /// # Errors
    ///
    /// [`ApiError::Refused`] if the reply says `success: false` and has no status.
    /// [`ApiError::Malformed`] if it has no `data`, or neither status nor output in it.
    pub fn from_body(body: &Value) -> Result<Self, ApiError> {
        let data = data_of(body)?;
        let output = data.get("output").map(outputs_of);
        let status = match (status_of(data), &output) {
            (Some(status), _) => status,
            (None, Some(_)) => StatusWord::Completed,
            (None, None) => {
                return Err(ApiError::malformed(
                    "the reply has neither status nor output",
                ));
            }
        };
        Ok(Self {
            status,
            output: output.unwrap_or_default(),
            error: error_text(body, data),
        })
    }
}

/// The `data` object of a successful reply.
///
/// `success: false` under a good HTTP status is a refusal, unless the reply carries a status of
/// its own: a task that ended `failed` is an answer, not a failed call.
fn data_of(body: &Value) -> Result<&Value, ApiError> {
    let data = body.get("data").filter(|data| data.is_object());
    let has_status = data.is_some_and(|data| data.get("status").is_some());
    if body.get("success") == Some(&Value::Bool(false)) && !has_status {
        return Err(ApiError::refused(body));
    }
    data.ok_or_else(|| ApiError::malformed("the reply has no data"))
}

fn id_of(data: &Value) -> Option<TaskId> {
    match data.get("id")? {
        Value::String(id) if !id.is_empty() => Some(TaskId(id.clone())),
        // What is read as a fraction has lost digits: by that id nothing would be found.
        Value::Number(id) if !id.is_f64() => Some(TaskId(id.to_string())),
        _ => None,
    }
}

fn status_of(data: &Value) -> Option<StatusWord> {
    let status = data.get("status").filter(|status| !status.is_null())?;
    StatusWord::from_value(status.clone())
}

/// The last line: a bar that draws itself again has many.
fn line_of(data: &Value) -> Option<String> {
    last_line(data.get("progress")?.as_str()?)
}

fn last_line(text: &str) -> Option<String> {
    let is_end = |c| c == '\n' || c == '\r';
    let line = text.trim_end().rsplit(is_end).next()?.trim();
    let line: String = line
        .chars()
        .filter(|c| !c.is_control())
        .take(Progress::MAX_LINE)
        .collect();
    (!line.is_empty()).then_some(line)
}

/// Output may be an array, one string or absent. Entries may be bare URLs or objects with a `url`;
/// anything else is kept as JSON text, so that nothing paid for is dropped.
fn outputs_of(output: &Value) -> Vec<String> {
    match output {
        Value::Null => Vec::new(),
        Value::Array(entries) => entries.iter().flat_map(outputs_of).collect(),
        Value::String(url) => vec![url.clone()],
        Value::Object(map) => match map.get("url").and_then(Value::as_str) {
            Some(url) => vec![url.to_owned()],
            None => vec![output.to_string()],
        },
        other => vec![other.to_string()],
    }
}

/// `data.error` may be a text, an object with a message, any other JSON, or absent; then it may stand next to
/// `data`.
fn error_text(body: &Value, data: &Value) -> Option<String> {
    let own = data.get("error").and_then(message_in);
    own.or_else(|| message_in(body.get("error")?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    /// Guards against a service's own explanation being dropped next to a word like `cancelled`.
    #[test]
    fn an_error_beside_an_unknown_word_is_what_the_task_says() {
        let body = json!({"data": {"status": "cancelled", "error": {"message": "blocked"}}});
        assert_eq!(
            Progress::from_body(&body).unwrap().line.as_deref(),
            Some("blocked")
        );
        let known = json!({"data": {"status": "processing", "error": "odd"}});
        assert_eq!(Progress::from_body(&known).unwrap().line, None);
    }

    /// Guards against "nothing was generated or billed" about a task that was taken, and against sending it once more.
    #[test]
    fn a_task_with_an_id_was_taken_whatever_success_says() {
        let body = json!({"success": false, "message": "warning", "data": {"id": "t"}});
        assert_eq!(Accepted::from_body(&body).unwrap().id.0, "t");
        let without = json!({"success": false, "message": "no", "data": {}});
        let refused = Accepted::from_body(&without);
        assert!(matches!(refused, Err(ApiError::Refused { .. })));
    }

    /// Guards against an id that is asked about with digits that the service has never given.
    #[test]
    fn an_id_that_lost_digits_is_none() {
        let body = |id: &str| crate::json::read(&format!(r#"{{"data": {{"id": {id}}}}}"#)).unwrap();
        let id = |text: &str| Accepted::from_body(&body(text)).map(|accepted| accepted.id.0);
        assert_eq!(id("18446744073709551615").unwrap(), "18446744073709551615");
        for lost in ["123456789012345678901234567890", "1.5"] {
            assert!(
                matches!(id(lost), Err(ApiError::Malformed { .. })),
                "{lost}"
            );
        }
    }

    /// Guards against a failure without a word, where the word stands next to `data`.
    #[test]
    fn a_failure_may_say_why_beside_its_data() {
        let error = |body: Value| Progress::from_body(&body).unwrap().error;
        let outside =
            json!({"success": false, "error": "out of memory", "data": {"status": "failed"}});
        assert_eq!(error(outside).as_deref(), Some("out of memory"));
        let both = json!({"error": "outer", "data": {"status": "failed", "error": "inner"}});
        assert_eq!(error(both).as_deref(), Some("inner"));
    }

    /// What a program draws over and over is not shown as one long line.
    #[test]
    fn progress_is_its_last_line() {
        let line = |progress: Value| {
            let body = json!({"data": {"status": "processing", "progress": progress}});
            Progress::from_body(&body).unwrap().line
        };
        assert_eq!(line(json!("step 3 of 20")).as_deref(), Some("step 3 of 20"));
        assert_eq!(line(json!("10%\r20%\r 30% \n")).as_deref(), Some("30%"));
        for nothing in [
            json!(null),
            json!(""),
            json!(" \n"),
            json!(7),
            json!({"a": 1}),
        ] {
            assert_eq!(line(nothing), None);
        }
        let long = line(json!("x".repeat(5_000))).unwrap();
        assert_eq!(long.len(), Progress::MAX_LINE);
    }

    #[test]
    fn error_of_any_shape_gives_its_message() {
        for (error, expected) in [
            (json!("no"), Some("no")),
            (json!({"message": "no"}), Some("no")),
            (json!({"error": {"detail": "no"}}), Some("no")),
            (json!({"code": 7}), Some(r#"{"code":7}"#)),
            (json!(null), None),
            (json!(""), None),
        ] {
            let body =
                json!({"success": true, "data": {"id": "1", "status": "failed", "error": error}});
            assert_eq!(
                Progress::from_body(&body).unwrap().error.as_deref(),
                expected
            );
        }
    }

    #[test]
    fn output_may_be_an_array_one_string_or_absent() {
        let output = |data| {
            Output::from_body(&json!({"success": true, "data": data}))
                .unwrap()
                .output
        };
        assert_eq!(
            output(json!({"status": "completed", "output": ["a", "b"]})),
            ["a", "b"]
        );
        assert_eq!(output(json!({"status": "completed", "output": "a"})), ["a"]);
        assert_eq!(
            output(json!({"status": "completed", "output": [{"url": "a"}, 7]})),
            ["a", "7"]
        );
        assert!(output(json!({"status": "completed"})).is_empty());
    }

    #[test]
    fn a_failed_task_is_an_answer_even_under_success_false() {
        let body = json!({"success": false, "data": {"status": "failed", "error": "nsfw"}});
        let progress = Progress::from_body(&body).unwrap();
        assert_eq!(progress.status, StatusWord::Failed);
        let refused = json!({"success": false, "error": "no credit"});
        assert!(matches!(
            Accepted::from_body(&refused),
            Err(ApiError::Refused { .. })
        ));
    }

    fn any_json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
            "[a-z0-9]{0,6}".prop_map(Value::from),
        ];
        leaf.prop_recursive(3, 12, 4, |inner| {
            let key = prop_oneof![Just("url".to_owned()), "[a-z]{1,3}"];
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::vec((key, inner), 0..4)
                    .prop_map(|fields| Value::Object(fields.into_iter().collect())),
            ]
        })
    }

    /// The texts that are addresses, or may be.
    fn texts_in(output: &Value) -> Vec<&str> {
        match output {
            Value::String(text) => vec![text],
            Value::Array(entries) => entries.iter().flat_map(texts_in).collect(),
            Value::Object(fields) => match fields.get("url") {
                Some(Value::String(url)) => vec![url],
                _ => fields.values().flat_map(texts_in).collect(),
            },
            _ => Vec::new(),
        }
    }

    proptest! {
        /// Guards against losing a task, or files that are paid for, because of what else is in the reply.
        #[test]
        fn keeps_the_id_and_the_outputs_of_a_reply_of_any_shape(
            id in "[a-z0-9]{1,8}", other in any_json(), output in any_json()
        ) {
            let body = json!({
                "success": other, "message": other, "error": other,
                "data": {"id": id, "status": other, "progress": other, "error": other, "output": output}
            });
            prop_assert_eq!(Accepted::from_body(&body).map(|accepted| accepted.id), Ok(TaskId(id)));
            let read = Output::from_body(&body).unwrap().output.join(" ");
            for text in texts_in(&output) {
                prop_assert!(read.contains(text), "{text} is not in {read}");
            }
        }
    }
}

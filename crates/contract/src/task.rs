//! A task in the service's responses: its id, status and outputs.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::output::OutputAddress;
use crate::prose::message_in;
use crate::{ApiError, StatusWord};

/// The service's opaque identifier of a task (INTERFACE "Task").
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TaskId(pub String);

impl fmt::Display for TaskId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The response of `POST /v2/generate` for an accepted task (INTERFACE "POST /v2/generate").
#[derive(Debug, Clone, PartialEq)]
pub struct Accepted {
    pub id: TaskId,
    pub status: StatusWord,
    /// `data.error` as text, if the task has already failed.
    pub error: Option<String>,
}

/// The response of `POST /v2/status` (INTERFACE "POST /v2/status").
#[derive(Debug, Clone, PartialEq)]
pub struct Progress {
    /// The task id, if the response repeats it.
    pub id: Option<TaskId>,
    pub status: StatusWord,
    /// `data.error` as text, if there is one.
    pub error: Option<String>,
    /// The progress message, an extension of the interface: `data.message`, or a text in `data.progress` that is not a
    /// number. One line of at most [`Progress::MAX_LINE`] characters.
    pub line: Option<String>,
    /// The completed fraction from 0 to 1, `data.progress`, an extension of the interface.
    pub fraction: Option<f64>,
    /// The address of a small picture of the unfinished output, `data.preview`, an extension of the interface. It is an
    /// http(s) URL or a path of the service; see [`crate::output::SafeUrl`].
    pub preview: Option<String>,
    /// Whether the task was canceled, `data.canceled`, an extension of the interface.
    pub is_canceled: bool,
}

/// The response of `POST /v2/response` (INTERFACE "POST /v2/response").
#[derive(Debug, Clone, PartialEq)]
pub struct Output {
    pub status: StatusWord,
    /// The output URLs; empty if the response has none.
    pub output: Vec<String>,
    pub error: Option<String>,
    /// See [`Progress::is_canceled`].
    pub is_canceled: bool,
}

impl Accepted {
    /// Parses the body of a generate response.
    ///
    /// # Errors
    ///
    /// [`ApiError::Refused`] if the response has `success: false` and neither a status nor an id.
    /// [`ApiError::Malformed`] if it has no `data` or no id, so that it is unknown whether a task exists.
    pub fn from_body(body: &Value) -> Result<Self, ApiError> {
        // A task with an id was accepted and may be billed, regardless of the rest of the response.
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
    /// The maximum length of a progress message, in characters.
    pub const MAX_LINE: usize = 200;

    /// The maximum length of the address of a preview, in bytes.
    pub const MAX_PREVIEW: usize = 2_000;

    /// Parses the body of a status response.
    ///
    /// # Errors
    ///
    /// [`ApiError::Refused`] if the response has `success: false` and no status. [`ApiError::Malformed`] if it has no
    /// `data` or no status.
    pub fn from_body(body: &Value) -> Result<Self, ApiError> {
        let data = data_of(body)?;
        let status =
            status_of(data).ok_or_else(|| ApiError::malformed("the reply has no status"))?;
        let error = error_text(body, data);
        // The error may be the only explanation of an unknown status.
        let explained = error
            .as_deref()
            .filter(|_| matches!(status, StatusWord::Other(_)));
        Ok(Self {
            id: id_of(data),
            line: progress_line(data).or_else(|| explained.and_then(last_line)),
            fraction: data.get("progress").and_then(fraction),
            preview: data.get("preview").and_then(preview),
            is_canceled: is_canceled(data, &status),
            status,
            error,
        })
    }
}

impl Output {
    /// Parses the body of a `/v2/response` response. With outputs and without a status, it counts as completed.
    ///
    /// # Errors
    ///
    /// [`ApiError::Refused`] if the response has `success: false` and no status. [`ApiError::Malformed`] if it has no
    /// `data`, or neither a status nor outputs.
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
            is_canceled: is_canceled(data, &status),
            status,
            output: output.unwrap_or_default(),
            error: error_text(body, data),
        })
    }
}

/// Returns the `data` object of a successful response.
///
/// `success: false` with a successful HTTP status is a refusal, unless there is a status: the report that a task has
/// `failed` is an answer, not a failed call.
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
        // A fraction, or a number that is too large for an integer, has lost digits, so it is not the id.
        Value::Number(id) if !id.is_f64() => Some(TaskId(id.to_string())),
        _ => None,
    }
}

fn status_of(data: &Value) -> Option<StatusWord> {
    let status = data.get("status").filter(|status| !status.is_null())?;
    StatusWord::from_value(status.clone())
}

/// Whether the task has ended because it was canceled.
fn is_canceled(data: &Value, status: &StatusWord) -> bool {
    *status == StatusWord::Failed && data.get("canceled") == Some(&Value::Bool(true))
}

/// Returns the last line of the progress, because a redrawn progress bar has many lines.
fn progress_line(data: &Value) -> Option<String> {
    let line = |name: &str| last_line(data.get(name)?.as_str()?);
    line("message").or_else(|| line("progress").filter(|line| !is_number(line)))
}

/// Returns the completed fraction from a number or a text with a number. A value above 1 is a percentage, as is a text with
/// a percent sign. `None` for any other value, such as a negative number.
fn fraction(progress: &Value) -> Option<f64> {
    let (number, is_percentage) = match progress.as_str().map(str::trim) {
        None => (progress.as_f64()?, false),
        Some(text) => {
            let percentage = text.strip_suffix('%');
            let number = number(percentage.unwrap_or(text).trim_end())?;
            (number, percentage.is_some())
        }
    };
    match number {
        0.0..=1.0 if !is_percentage => Some(number),
        0.0..=100.0 => Some(number / 100.0),
        _ => None,
    }
}

/// Whether a text is a number, or one of the words that languages write for what is none.
fn is_number(text: &str) -> bool {
    let unsigned = text.trim_start_matches('-');
    let words = ["nan", "inf", "infinity"];
    number(text).is_some() || words.iter().any(|word| unsigned.eq_ignore_ascii_case(word))
}

/// Parses a number. serde_json is used already; the parser of the standard library would add 15 kB to the page.
fn number(text: &str) -> Option<f64> {
    serde_json::from_str(text).ok()
}

/// Returns the address of a preview. `data:` URIs are rejected, because they would be copied with the task.
fn preview(preview: &Value) -> Option<String> {
    let url = outputs_of(preview).into_iter().next()?;
    let is_address = matches!(
        OutputAddress::of(&url),
        OutputAddress::Web | OutputAddress::Path
    );
    let is_usable = is_address && url.len() <= Progress::MAX_PREVIEW;
    (is_usable && !url.chars().any(char::is_control)).then_some(url)
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

/// Returns the outputs. `output` may be an array, a string or absent; entries may be URLs or objects with a `url`.
/// Other values are preserved as JSON text, so that no paid output is lost.
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

/// Returns the error message: `data.error` as text, as an object with a message or as other JSON, or `error` next to
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

    /// The error may explain a status such as `cancelled`.
    #[test]
    fn an_error_explains_an_unknown_status() {
        let body = json!({"data": {"status": "cancelled", "error": {"message": "blocked"}}});
        assert_eq!(
            Progress::from_body(&body).unwrap().line.as_deref(),
            Some("blocked")
        );
        let known = json!({"data": {"status": "processing", "error": "odd"}});
        assert_eq!(Progress::from_body(&known).unwrap().line, None);
    }

    /// The task was accepted and billed, so it must not be reported as refused or sent again.
    #[test]
    fn a_task_with_an_id_was_accepted_regardless_of_success() {
        let body = json!({"success": false, "message": "warning", "data": {"id": "t"}});
        assert_eq!(Accepted::from_body(&body).unwrap().id.0, "t");
        let without = json!({"success": false, "message": "no", "data": {}});
        let refused = Accepted::from_body(&without);
        assert!(matches!(refused, Err(ApiError::Refused { .. })));
    }

    /// A rounded id would be the id of another task.
    #[test]
    fn rejects_rounded_ids() {
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

    /// The error message may be next to `data`.
    #[test]
    fn reads_an_error_next_to_data() {
        let error = |body: Value| Progress::from_body(&body).unwrap().error;
        let outside =
            json!({"success": false, "error": "out of memory", "data": {"status": "failed"}});
        assert_eq!(error(outside).as_deref(), Some("out of memory"));
        let both = json!({"error": "outer", "data": {"status": "failed", "error": "inner"}});
        assert_eq!(error(both).as_deref(), Some("inner"));
    }

    /// A redrawn progress bar must not be shown as one long line.
    #[test]
    fn shows_the_last_line_of_progress() {
        let line = |progress: Value| {
            let body = json!({"data": {"status": "processing", "progress": progress}});
            Progress::from_body(&body).unwrap().line
        };
        assert_eq!(line(json!("step 3 of 20")).as_deref(), Some("step 3 of 20"));
        let body = json!({"data": {"status": "processing", "progress": 0.4, "message": "step 8"}});
        let both = Progress::from_body(&body).unwrap();
        assert_eq!(
            (both.line.as_deref(), both.fraction),
            (Some("step 8"), Some(0.4))
        );
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
    fn reads_the_completed_fraction_of_any_shape() {
        let read = |progress: Value| {
            let body = json!({"data": {"status": "processing", "progress": progress}});
            let progress = Progress::from_body(&body).unwrap();
            (progress.fraction, progress.line.is_some())
        };
        for (progress, expected) in [
            (json!(0), Some(0.0)),
            (json!(0.4), Some(0.4)),
            (json!(1), Some(1.0)),
            (json!(1.5), Some(0.015)),
            (json!(40), Some(0.4)),
            (json!(100.0), Some(1.0)),
            (json!(101), None),
            (json!(-0.1), None),
            (json!(u64::MAX), None),
            (json!(1e308), None),
            (json!("0.4"), Some(0.4)),
            (json!(" 40 "), Some(0.4)),
            (json!("NaN"), None),
            (json!("inf"), None),
            (json!("-3"), None),
            (json!(""), None),
            (json!(true), None),
            (json!(null), None),
            (json!([0.4]), None),
            (json!({"value": 0.4}), None),
        ] {
            // A number is not a message.
            assert_eq!(read(progress.clone()), (expected, false), "{progress}");
        }
        assert_eq!(read(json!("0.5 %")), (Some(0.005), true));
        assert_eq!(read(json!("step 3 of 20")), (None, true));
    }

    /// Guards against previews that run code or that are copied with each record of the task.
    #[test]
    fn a_preview_is_a_short_web_address_or_path() {
        let read = |preview: Value| {
            let body = json!({"data": {"status": "processing", "preview": preview}});
            Progress::from_body(&body).unwrap().preview
        };
        for url in ["https://files.example/p.webp", "/outputs/t/preview.jpg?n=3"] {
            assert_eq!(read(json!(url)).as_deref(), Some(url));
            assert_eq!(read(json!({"url": url})).as_deref(), Some(url));
        }
        let long = format!(
            "https://files.example/{}",
            "p".repeat(Progress::MAX_PREVIEW)
        );
        for other in [
            json!("javascript:alert(1)"),
            json!(" JavaScript:alert(1)"),
            json!("data:image/png;base64,iVBORw0KGgo="),
            json!("blob:https://files.example/1"),
            json!("//files.example/p.webp"),
            json!("https://me:secret@files.example/p.webp"),
            json!("/p\n.webp"),
            json!("p.webp"),
            json!(long),
            json!(""),
            json!(7),
            json!([]),
            json!({"a": 1}),
            json!(null),
        ] {
            assert_eq!(read(other.clone()), None, "{other}");
        }
    }

    #[test]
    fn reads_errors_of_any_shape() {
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
    fn reads_outputs_of_any_shape() {
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
    fn a_failed_task_is_an_answer_despite_success_false() {
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

    /// Returns the texts that may be URLs.
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
        /// Other fields of the response must not lose a task or paid files.
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

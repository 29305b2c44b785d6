//! The statuses of a task.

use std::fmt;

use serde_json::Value;

use crate::prose::bounded_to;
use crate::serde_through_value;

/// The maximum length of a status, in characters.
const MAX_WORD: usize = 100;

/// The service's status of a task (INTERFACE "States and transitions").
///
/// `completed` and `failed` are final; all other statuses, known or not, mean progress.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum StatusWord {
    Starting,
    Queued,
    Processing,
    Completed,
    Failed,
    /// A status that the interface doesn't define; empty if the response has none.
    Other(String),
}

serde_through_value!(StatusWord);

impl StatusWord {
    /// Reads a status; never `None`. A value that is not a text counts as an unknown status.
    pub fn from_value(value: Value) -> Option<Self> {
        Some(match value {
            Value::String(word) => Self::from(word.as_str()),
            Value::Null => Self::Other(String::new()),
            other => Self::from(other.to_string().as_str()),
        })
    }

    pub fn to_value(&self) -> Value {
        self.as_str().into()
    }

    /// Returns the status, truncated if it is long; known statuses are in lower case.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Starting => "starting",
            Self::Queued => "queued",
            Self::Processing => "processing",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Other(word) => word,
        }
    }

    /// Whether another service's status may mean `completed`. The interface doesn't define it, so the output must be
    /// requested to find out.
    pub fn may_mean_completed(&self) -> bool {
        let words = [
            "succeeded",
            "success",
            "successful",
            "done",
            "finished",
            "complete",
        ];
        matches!(self, Self::Other(word) if words.iter().any(|other| word.eq_ignore_ascii_case(other)))
    }

    /// Whether the status is final (INTERFACE "States and transitions").
    pub fn is_terminal(&self) -> bool {
        matches!(self, Self::Completed | Self::Failed)
    }
}

impl From<&str> for StatusWord {
    fn from(word: &str) -> Self {
        match word.trim().to_ascii_lowercase().as_str() {
            "starting" => Self::Starting,
            "queued" => Self::Queued,
            "processing" => Self::Processing,
            "completed" => Self::Completed,
            "failed" => Self::Failed,
            _ => Self::Other(bounded_to(word.trim().to_owned(), MAX_WORD)),
        }
    }
}

impl fmt::Display for StatusWord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_statuses_mean_progress_and_keep_their_spelling() {
        let word = StatusWord::from("Warming-Up");
        assert!(!word.is_terminal());
        assert_eq!(word.to_string(), "Warming-Up");
        assert_eq!(StatusWord::from("COMPLETED"), StatusWord::Completed);
    }

    /// A status of 10 MB must not block the page for minutes at each visit.
    #[test]
    fn truncates_long_statuses() {
        let long = "x".repeat(10_000_000);
        let words = [
            StatusWord::from(long.as_str()),
            StatusWord::from_value(Value::Array(vec![long.into()])).unwrap(),
        ];
        for word in words {
            assert_eq!(word.as_str().chars().count(), MAX_WORD + 1);
            assert!(word.as_str().ends_with('…') && !word.is_terminal());
            // Statuses in records that were stored in full are truncated, too.
            assert_eq!(StatusWord::from_value(word.to_value()), Some(word));
        }
    }
}

//! The words for the progress of a task.

use std::fmt;

use serde_json::Value;

use crate::prose::bounded_to;
use crate::serde_through_value;

/// The longest word that is kept and shown, in characters.
const MAX_WORD: usize = 100;

/// The service's word for a task's progress (INTERFACE "States and transitions").
///
/// `completed` and `failed` end a task; every other word, known or not, is progress.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum StatusWord {
    Starting,
    Queued,
    Processing,
    Completed,
    Failed,
    /// A word the interface does not name; empty if the reply had none.
    Other(String),
}

serde_through_value!(StatusWord);

impl StatusWord {
    /// A status that is no text reads as an unnamed word: progress. There is always one.
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

    /// The word as the service writes it, or its beginning; in lower case, if it is one that is known.
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

    /// Another service's word for `completed`. The interface does not name it, so whether there is an output is found
    /// out by asking for it.
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

    /// Nothing more becomes of the task (INTERFACE "States and transitions").
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
    fn unknown_words_are_progress_and_keep_their_spelling() {
        let word = StatusWord::from("Warming-Up");
        assert!(!word.is_terminal());
        assert_eq!(word.to_string(), "Warming-Up");
        assert_eq!(StatusWord::from("COMPLETED"), StatusWord::Completed);
    }

    /// Guards against a page that stands still for minutes, at each visit, because of a word of 10 MB.
    #[test]
    fn a_word_is_kept_as_far_as_anyone_reads_it() {
        let long = "x".repeat(10_000_000);
        let words = [
            StatusWord::from(long.as_str()),
            StatusWord::from_value(Value::Array(vec![long.into()])).unwrap(),
        ];
        for word in words {
            assert_eq!(word.as_str().chars().count(), MAX_WORD + 1);
            assert!(word.as_str().ends_with('…') && !word.is_terminal());
            // Also of records that were stored with all of it.
            assert_eq!(StatusWord::from_value(word.to_value()), Some(word));
        }
    }
}

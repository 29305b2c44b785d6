//! The contents of a form before validation.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::json;

/// The user's entries by parameter name. A parameter without an entry was not touched. A parameter with an empty text
/// was cleared, which is different; see [`crate::check`].
///
/// Browsers store drafts, so names and types must not change.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Draft {
    entries: BTreeMap<String, Entry>,
}

/// The content of a form control.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Entry {
    /// The text as typed; may be invalid.
    Text(String),
    /// The value of a choice or switch, or from a file, with its JSON type.
    Value(Value),
}

impl Draft {
    /// Decodes a stored draft. `None` if any part of it is invalid.
    pub fn from_value(value: Value) -> Option<Self> {
        json::decode(value)
    }

    pub fn to_value(&self) -> Value {
        json::encode(self)
    }

    /// Returns the entry of a parameter; `None` if it was not touched.
    pub fn get(&self, name: &str) -> Option<&Entry> {
        self.entries.get(name)
    }

    /// Sets the entry of a parameter.
    pub fn set(&mut self, name: impl Into<String>, entry: Entry) {
        self.entries.insert(name.into(), entry);
    }

    /// Marks a parameter as not touched.
    pub fn reset(&mut self, name: &str) {
        self.entries.remove(name);
    }

    /// Whether no parameter was touched.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Returns the touched parameters, ordered by name, with their entries.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Entry)> {
        let entries = self.entries.iter();
        entries.map(|(name, entry)| (name.as_str(), entry))
    }

    /// Creates a draft with exactly these values, for example to repeat an earlier input.
    pub fn from_values<'a>(values: impl IntoIterator<Item = (&'a String, &'a Value)>) -> Self {
        let mut draft = Self::default();
        for (name, value) in values {
            draft.set(name.clone(), Entry::Value(value.clone()));
        }
        draft
    }
}

impl Entry {
    /// Returns the entry as text for a text control: strings without quotes, other values as JSON.
    pub fn to_text(&self) -> String {
        match self {
            Entry::Text(text) | Entry::Value(Value::String(text)) => text.clone(),
            Entry::Value(value) => value.to_string(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Drafts are stored in browsers, so their format must stay the same.
    #[test]
    fn stored_samples_round_trip() {
        for sample in include_str!("draft/samples.jsonl").lines() {
            let draft = json::read(sample).and_then(Draft::from_value);
            let written = draft.map(|draft| draft.to_value().to_string());
            assert_eq!(written.as_deref(), Some(sample));
        }
    }

    #[test]
    fn rejects_invalid_drafts() {
        for text in ["null", "{}", r#"{"entries":1}"#, r#"{"entries":{"a":1}}"#] {
            assert_eq!(json::read(text).and_then(Draft::from_value), None, "{text}");
        }
    }
}

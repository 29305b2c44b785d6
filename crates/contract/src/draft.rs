//! What a person has entered into a form, before it is checked.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::json;

/// What a person has entered so far, by parameter name. A parameter that is absent was not
/// touched; one that holds an empty text was cleared. The two differ: see [`crate::check`].
///
/// Stored in browsers: names and shapes do not change.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Draft {
    entries: BTreeMap<String, Entry>,
}

/// What stands in one control.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Entry {
    /// As typed; may be no valid value yet.
    Text(String),
    /// A choice or switch, or a value from a file, with its JSON type.
    Value(Value),
}

impl Draft {
    /// `None` for what is no draft: half a draft is none.
    pub fn from_value(value: Value) -> Option<Self> {
        json::decode(value)
    }

    pub fn to_value(&self) -> Value {
        json::encode(self)
    }

    /// `None` while untouched.
    pub fn get(&self, name: &str) -> Option<&Entry> {
        self.entries.get(name)
    }

    pub fn set(&mut self, name: impl Into<String>, entry: Entry) {
        self.entries.insert(name.into(), entry);
    }

    /// Back to untouched.
    pub fn reset(&mut self, name: &str) {
        self.entries.remove(name);
    }

    /// Nothing was touched.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The parameters that were touched, by name, with what stands in them.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Entry)> {
        let entries = self.entries.iter();
        entries.map(|(name, entry)| (name.as_str(), entry))
    }

    /// A draft that holds exactly these values, e.g. to run an earlier input again.
    pub fn from_values<'a>(values: impl IntoIterator<Item = (&'a String, &'a Value)>) -> Self {
        let mut draft = Self::default();
        for (name, value) in values {
            draft.set(name.clone(), Entry::Value(value.clone()));
        }
        draft
    }
}

impl Entry {
    /// The entry as text for a text control: strings bare, everything else as JSON.
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

    /// Drafts lie in browsers: they are read and written as they always were.
    #[test]
    fn stored_samples_are_read_and_written_as_they_were() {
        for sample in include_str!("draft/samples.jsonl").lines() {
            let draft = json::read(sample).and_then(Draft::from_value);
            let written = draft.map(|draft| draft.to_value().to_string());
            assert_eq!(written.as_deref(), Some(sample));
        }
    }

    #[test]
    fn what_cannot_be_read_is_no_draft() {
        for text in ["null", "{}", r#"{"entries":1}"#, r#"{"entries":{"a":1}}"#] {
            assert_eq!(json::read(text).and_then(Draft::from_value), None, "{text}");
        }
    }
}

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What a person has entered so far, by parameter name. A parameter that is absent was not
/// touched; one that holds an empty text was cleared. The two differ: see [`crate::check`].
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Draft {
    pub entries: BTreeMap<String, Entry>,
}

/// What stands in one control.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Entry {
    /// As typed; may be no valid value yet.
    Text(String),
    /// A choice or switch, or a value from a file, with its JSON type.
    Value(Value),
}

impl Draft {
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

    /// A draft that holds exactly these values, e.g. to run an earlier input again.
    pub fn from_values<'a>(values: impl IntoIterator<Item = (&'a String, &'a Value)>) -> Self {
        Self {
            entries: values
                .into_iter()
                .map(|(name, value)| (name.clone(), Entry::Value(value.clone())))
                .collect(),
        }
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

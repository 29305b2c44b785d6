use serde_json::Value;

use crate::json::Record;

/// What a person has entered so far, by parameter name. A parameter that is absent was not
/// touched; one that holds an empty text was cleared. The two differ: see [`crate::check`].
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Draft {
    /// In the order of the names. A form has few: a list beats a tree, which weighs in the page.
    entries: Vec<(String, Entry)>,
}

/// What stands in one control.
#[derive(Debug, Clone, PartialEq)]
pub enum Entry {
    /// As typed; may be no valid value yet.
    Text(String),
    /// A choice or switch, or a value from a file, with its JSON type.
    Value(Value),
}

impl Draft {
    pub fn from_value(value: Value) -> Option<Self> {
        let entries = Record::read(Record::read(value)?.take("entries")?)?.rest();
        let mut draft = Self::default();
        for (name, entry) in entries {
            draft.set(name, Entry::from_value(entry)?);
        }
        Some(draft)
    }

    pub fn to_value(&self) -> Value {
        let mut entries = Record::new();
        for (name, entry) in &self.entries {
            entries.put(name, entry.to_value());
        }
        let mut record = Record::new();
        record.put("entries", entries.into_value());
        record.into_value()
    }

    pub fn get(&self, name: &str) -> Option<&Entry> {
        let (_, entry) = self.entries.get(self.place(name).ok()?)?;
        Some(entry)
    }

    pub fn set(&mut self, name: impl Into<String>, entry: Entry) {
        let name = name.into();
        match self.place(&name) {
            Ok(at) => self.entries[at].1 = entry,
            Err(at) => self.entries.insert(at, (name, entry)),
        }
    }

    /// Back to untouched.
    pub fn reset(&mut self, name: &str) {
        if let Ok(at) = self.place(name) {
            self.entries.remove(at);
        }
    }

    /// Nothing was touched.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The parameters that were touched, by name, with what stands in them.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Entry)> {
        self.entries
            .iter()
            .map(|(name, entry)| (name.as_str(), entry))
    }

    fn place(&self, name: &str) -> Result<usize, usize> {
        self.entries
            .binary_search_by(|(known, _)| known.as_str().cmp(name))
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
    fn from_value(value: Value) -> Option<Self> {
        let mut record = Record::read(value)?;
        match record.text("text") {
            Some(text) => Some(Entry::Text(text)),
            None => record.take("value").map(Entry::Value),
        }
    }

    fn to_value(&self) -> Value {
        let mut record = Record::new();
        match self {
            Entry::Text(text) => record.put("text", text.as_str().into()),
            Entry::Value(value) => record.put("value", value.clone()),
        }
        record.into_value()
    }

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
    use crate::json;

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

//! JSON parsing, and JSON objects that are read and written field by field.
//!
//! Records use serde: [`decode`], [`encode`]. [`Record`] is for types in the first part of the page, where derived code
//! would be several times as large, and for types that tolerate fields of unexpected types. The model list is parsed
//! directly into its types; see [`crate::ModelList`].

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

/// Parses a JSON text. This is the only JSON parser; a second one would increase the binary size.
///
/// # Errors
///
/// The text is not JSON, or is nested more than 128 levels deep.
#[inline(never)]
pub fn parse(text: &[u8]) -> Result<Value, serde_json::Error> {
    // Some servers send a byte order mark, which browsers ignore, too.
    serde_json::from_slice(text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text))
}

/// Parses a JSON text; `None` if it is invalid.
pub fn read(text: &str) -> Option<Value> {
    parse(text.as_bytes()).ok()
}

/// Parses several JSON values in sequence.
///
/// # Errors
///
/// Any of them is not JSON.
pub fn parse_all(text: &str) -> Result<Vec<Value>, serde_json::Error> {
    serde_json::Deserializer::from_slice(text.as_bytes())
        .into_iter()
        .collect()
}

/// Decodes a value with serde; `None` if it does not match the type.
pub fn decode<T: DeserializeOwned>(value: Value) -> Option<T> {
    serde_json::from_value(value).ok()
}

/// Encodes a value with serde.
pub fn encode(value: &impl Serialize) -> Value {
    match serde_json::to_value(value) {
        Ok(value) => value,
        Err(_) => unreachable!("maps with keys other than text can't be serialized"),
    }
}

/// Encodes a value as JSON text, without an intermediate [`Value`].
pub fn to_text(value: &impl Serialize) -> String {
    match serde_json::to_string(value) {
        Ok(text) => text,
        Err(_) => unreachable!("maps with keys other than text can't be serialized"),
    }
}

/// Returns the content of a JSON string.
pub fn text(value: Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text),
        _ => None,
    }
}

/// Returns a non-negative integer.
pub fn number(value: Value) -> Option<u64> {
    value.as_u64()
}

/// Reads every entry of a JSON array; `None` if any of them is invalid.
pub fn list<T>(value: Value, read: fn(Value) -> Option<T>) -> Option<Vec<T>> {
    match value {
        Value::Array(entries) => entries.into_iter().map(read).collect(),
        _ => None,
    }
}

/// A JSON object that is being read or written. Reading a field removes it, so that the unknown fields remain.
#[derive(Debug, Default)]
pub struct Record(Map<String, Value>);

impl Record {
    pub fn new() -> Self {
        Self::default()
    }

    /// Reads a JSON object; `None` for other values.
    pub fn read(value: Value) -> Option<Self> {
        match value {
            Value::Object(map) => Some(Self(map)),
            _ => None,
        }
    }

    /// Removes a field and returns it.
    #[inline(never)]
    pub fn take(&mut self, name: &str) -> Option<Value> {
        self.0.shift_remove(name)
    }

    pub fn text(&mut self, name: &str) -> Option<String> {
        text(self.take(name)?)
    }

    pub fn number(&mut self, name: &str) -> Option<u64> {
        number(self.take(name)?)
    }

    /// Reads a non-negative integer that fits into `usize`.
    pub fn index(&mut self, name: &str) -> Option<usize> {
        usize::try_from(self.number(name)?).ok()
    }

    /// Reads an optional field. `Some(None)` if it is absent or null; `None` if it is invalid.
    pub fn optional<T>(
        &mut self,
        name: &str,
        read: impl FnOnce(Value) -> Option<T>,
    ) -> Option<Option<T>> {
        match self.take(name) {
            None | Some(Value::Null) => Some(None),
            Some(value) => read(value).map(Some),
        }
    }

    /// Reads a boolean with a default for an absent field; `None` if it is invalid.
    pub fn switch(&mut self, name: &str, absent: bool) -> Option<bool> {
        match self.take(name) {
            None => Some(absent),
            Some(value) => value.as_bool(),
        }
    }

    /// Sets a field.
    #[inline(never)]
    pub fn put(&mut self, name: &str, value: Value) {
        self.0.insert(name.to_owned(), value);
    }

    /// Sets a field if there is a value.
    pub fn put_some(&mut self, name: &str, value: Option<Value>) {
        if let Some(value) = value {
            self.put(name, value);
        }
    }

    /// Appends all fields of another object.
    pub fn put_all(&mut self, fields: &Map<String, Value>) {
        for (name, value) in fields {
            self.put(name, value.clone());
        }
    }

    /// Returns the fields that were not read.
    pub fn rest(self) -> Map<String, Value> {
        self.0
    }

    pub fn into_value(self) -> Value {
        Value::Object(self.0)
    }
}

/// Implements serde's traits with `to_value` and `from_value`, for the service and for tests.
#[macro_export]
macro_rules! serde_through_value {
    ($($type:ty),+) => {$(
        impl ::serde::Serialize for $type {
            fn serialize<S: ::serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                ::serde::Serialize::serialize(&self.to_value(), serializer)
            }
        }

        impl<'de> ::serde::Deserialize<'de> for $type {
            fn deserialize<D: ::serde::Deserializer<'de>>(
                deserializer: D,
            ) -> Result<Self, D::Error> {
                let value = <::serde_json::Value as ::serde::Deserialize>::deserialize(deserializer)?;
                Self::from_value(value).ok_or_else(|| {
                    ::serde::de::Error::custom(concat!("invalid ", stringify!($type)))
                })
            }
        }
    )+};
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn reading_fields_leaves_the_rest_in_order() {
        let mut record =
            Record::read(json!({"a": 1, "b": "x", "c": null, "d": -1, "e": 0})).unwrap();
        assert_eq!(record.text("b").as_deref(), Some("x"));
        assert_eq!(record.optional("c", text), Some(None));
        assert_eq!(record.optional("absent", text), Some(None));
        assert_eq!(record.optional("d", number), None);
        assert_eq!(record.switch("absent", true), Some(true));
        assert_eq!(Value::Object(record.rest()).to_string(), r#"{"a":1,"e":0}"#);
    }

    /// A byte order mark must not lose the id of a paid task.
    #[test]
    fn skips_a_byte_order_mark() {
        let text = "\u{feff}{\"id\":1}";
        assert_eq!(parse(text.as_bytes()).unwrap(), json!({"id": 1}));
        assert_eq!(read(text), Some(json!({"id": 1})));
    }

    #[test]
    fn an_invalid_entry_invalidates_a_list() {
        assert_eq!(list(json!(["a", "b"]), text).unwrap(), ["a", "b"]);
        assert_eq!(list(json!(["a", 1]), text), None);
        assert_eq!(list(json!("a"), text), None);
    }
}

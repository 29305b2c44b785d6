//! JSON texts, and JSON objects that are read and written field by field.
//!
//! Records are serde's: [`decode`], [`encode`]. [`Record`] is for the few that are read on the way to the
//! first card, where derived code weighs several times as much, and for what is tolerant of a field's shape.
//! The models list is read without values in between, see [`crate::ModelList`].

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

/// The one reader of JSON texts: every other way in would bring a parser of its own.
///
/// # Errors
///
/// It is no JSON, or deeper than 128 levels.
#[inline(never)]
pub fn parse(text: &[u8]) -> Result<Value, serde_json::Error> {
    // Some servers put a byte order mark before it; browsers pass over it, too.
    serde_json::from_slice(text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text))
}

/// [`parse`], where what is wrong with a text does not matter.
pub fn read(text: &str) -> Option<Value> {
    parse(text.as_bytes()).ok()
}

/// Several JSON values, one after the other.
///
/// # Errors
///
/// One of them is no JSON: then none is given.
pub fn parse_all(text: &str) -> Result<Vec<Value>, serde_json::Error> {
    serde_json::Deserializer::from_slice(text.as_bytes())
        .into_iter()
        .collect()
}

/// What serde's derives read; `None` for what is no such thing.
pub fn decode<T: DeserializeOwned>(value: Value) -> Option<T> {
    serde_json::from_value(value).ok()
}

/// What serde's derives write.
pub fn encode(value: &impl Serialize) -> Value {
    match serde_json::to_value(value) {
        Ok(value) => value,
        Err(_) => unreachable!("only maps whose keys are no texts can't be written"),
    }
}

/// The text of [`encode`], without the values in between.
pub fn to_text(value: &impl Serialize) -> String {
    match serde_json::to_string(value) {
        Ok(text) => text,
        Err(_) => unreachable!("only maps whose keys are no texts can't be written"),
    }
}

/// The text inside a JSON string.
pub fn text(value: Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text),
        _ => None,
    }
}

/// A whole number that is not negative.
pub fn number(value: Value) -> Option<u64> {
    value.as_u64()
}

/// Every entry of a JSON array; `None` if one of them can't be read.
pub fn list<T>(value: Value, read: fn(Value) -> Option<T>) -> Option<Vec<T>> {
    match value {
        Value::Array(entries) => entries.into_iter().map(read).collect(),
        _ => None,
    }
}

/// A JSON object on its way in or out. What is read is taken out, so that what is left are the
/// fields that were not asked for.
#[derive(Debug, Default)]
pub struct Record(Map<String, Value>);

impl Record {
    pub fn new() -> Self {
        Self::default()
    }

    pub fn read(value: Value) -> Option<Self> {
        match value {
            Value::Object(map) => Some(Self(map)),
            _ => None,
        }
    }

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

    pub fn index(&mut self, name: &str) -> Option<usize> {
        usize::try_from(self.number(name)?).ok()
    }

    /// A field that may be absent or null, which is `Some(None)`; `None` if it can't be read.
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

    /// A switch that may be absent, which is `absent`; `None` if it can't be read.
    pub fn switch(&mut self, name: &str, absent: bool) -> Option<bool> {
        match self.take(name) {
            None => Some(absent),
            Some(value) => value.as_bool(),
        }
    }

    #[inline(never)]
    pub fn put(&mut self, name: &str, value: Value) {
        self.0.insert(name.to_owned(), value);
    }

    /// Leaves out what is absent.
    pub fn put_some(&mut self, name: &str, value: Option<Value>) {
        if let Some(value) = value {
            self.put(name, value);
        }
    }

    /// Puts every field of another object behind those that are there.
    pub fn put_all(&mut self, fields: &Map<String, Value>) {
        for (name, value) in fields {
            self.put(name, value.clone());
        }
    }

    /// The fields that were not taken out.
    pub fn rest(self) -> Map<String, Value> {
        self.0
    }

    pub fn into_value(self) -> Value {
        Value::Object(self.0)
    }
}

/// Serde's traits on top of `to_value` and `from_value`, for the service and for tests.
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
                    ::serde::de::Error::custom(concat!("this is no ", stringify!($type)))
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
    fn what_is_taken_leaves_the_rest_in_order() {
        let mut record =
            Record::read(json!({"a": 1, "b": "x", "c": null, "d": -1, "e": 0})).unwrap();
        assert_eq!(record.text("b").as_deref(), Some("x"));
        assert_eq!(record.optional("c", text), Some(None));
        assert_eq!(record.optional("absent", text), Some(None));
        assert_eq!(record.optional("d", number), None);
        assert_eq!(record.switch("absent", true), Some(true));
        assert_eq!(Value::Object(record.rest()).to_string(), r#"{"a":1,"e":0}"#);
    }

    /// Guards against a paid task whose id is thrown away: the answer that has it begins with a byte order mark.
    #[test]
    fn a_byte_order_mark_is_passed_over() {
        let text = "\u{feff}{\"id\":1}";
        assert_eq!(parse(text.as_bytes()).unwrap(), json!({"id": 1}));
        assert_eq!(read(text), Some(json!({"id": 1})));
    }

    #[test]
    fn one_bad_entry_spoils_a_list() {
        assert_eq!(list(json!(["a", "b"]), text).unwrap(), ["a", "b"]);
        assert_eq!(list(json!(["a", 1]), text), None);
        assert_eq!(list(json!("a"), text), None);
    }
}

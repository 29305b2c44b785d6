//! Tolerant parsing of JSON directly into types. A value of an unexpected type is read as absent and does not affect
//! other values.
//!
//! It is used for long responses, which would otherwise be in memory twice: as [`serde_json::Value`]s and as the final
//! types.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};

/// Receives a parsed value. For the entries of a list and the fields of an object, it returns the target of the nested
/// value; `None` skips it.
///
/// It is used as a trait object, so that the parser's code is not duplicated for each type.
pub trait Target {
    fn text(&mut self, _text: &str) {}

    fn number(&mut self, _number: f64) {}

    fn boolean(&mut self, _is_true: bool) {}

    fn begin_list(&mut self) {}

    /// Returns the target of the next list entry.
    fn entry(&mut self) -> Option<&mut dyn Target> {
        None
    }

    fn begin_object(&mut self) {}

    /// Returns the target of a field. If a field occurs twice, the last one counts.
    fn field(&mut self, _name: &str) -> Option<&mut dyn Target> {
        None
    }
}

impl Target for Option<String> {
    fn text(&mut self, text: &str) {
        *self = Some(text.to_owned());
    }
}

impl Target for Option<f64> {
    fn number(&mut self, number: f64) {
        *self = Some(number);
    }
}

impl Target for Option<bool> {
    fn boolean(&mut self, is_true: bool) {
        *self = Some(is_true);
    }
}

/// Parses a JSON text.
///
/// # Errors
///
/// The text is not JSON, or is nested too deeply, even in a part that is skipped.
pub fn read(text: &[u8], target: &mut dyn Target) -> Result<(), serde_json::Error> {
    let mut reader = serde_json::Deserializer::from_slice(text);
    Reader(Some(target)).deserialize(&mut reader)?;
    reader.end()
}

struct Reader<'a>(Option<&'a mut dyn Target>);

impl<'de> DeserializeSeed<'de> for Reader<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Reader<'_> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("JSON")
    }

    fn visit_bool<E: Error>(self, is_true: bool) -> Result<(), E> {
        if let Some(target) = self.0 {
            target.boolean(is_true);
        }
        Ok(())
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<(), E> {
        self.visit_f64(number as f64)
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<(), E> {
        self.visit_f64(number as f64)
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<(), E> {
        if let Some(target) = self.0 {
            target.number(number);
        }
        Ok(())
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<(), E> {
        if let Some(target) = self.0 {
            target.text(text);
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut entries: A) -> Result<(), A::Error> {
        if let Some(target) = &mut self.0 {
            target.begin_list();
        }
        loop {
            let entry = Entry(reborrowed(&mut self.0));
            if entries.next_element_seed(entry)?.is_none() {
                return Ok(());
            }
        }
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut fields: A) -> Result<(), A::Error> {
        if let Some(target) = &mut self.0 {
            target.begin_object();
        }
        while let Some(field) = fields.next_key_seed(Field(reborrowed(&mut self.0)))? {
            fields.next_value_seed(Reader(field))?;
        }
        Ok(())
    }
}

/// Reborrows the target.
fn reborrowed<'a>(target: &'a mut Option<&mut dyn Target>) -> Option<&'a mut dyn Target> {
    match target {
        Some(target) => Some(&mut **target),
        None => None,
    }
}

/// An entry of a list.
struct Entry<'a>(Option<&'a mut dyn Target>);

impl<'de> DeserializeSeed<'de> for Entry<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        Reader(self.0.and_then(Target::entry)).deserialize(deserializer)
    }
}

/// The name of a field; deserializes to the target of its value.
struct Field<'a>(Option<&'a mut dyn Target>);

impl<'de, 'a> DeserializeSeed<'de> for Field<'a> {
    type Value = Option<&'a mut dyn Target>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl<'a> Visitor<'_> for Field<'a> {
    type Value = Option<&'a mut dyn Target>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a name")
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<Self::Value, E> {
        Ok(self.0.and_then(|target| target.field(name)))
    }
}

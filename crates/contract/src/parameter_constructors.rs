//! Constructors for parameters of common types.

use serde_json::{Map, Number, Value, json};

use crate::Parameter;

impl Parameter {
    /// Creates a text parameter of at most `max_length` characters.
    pub fn text(name: &str, max_length: u64, description: &str) -> Self {
        let mut text = Self::of_type("string", name, description);
        text.extra.insert("maxLength".into(), max_length.into());
        text
    }

    /// Creates a choice between texts.
    pub fn choice(name: &str, values: &[&str], default: &str, description: &str) -> Self {
        Self {
            default: Some(default.into()),
            allowed_values: Some(values.iter().map(|value| json!(value)).collect()),
            ..Self::of_type("enum", name, description)
        }
    }

    /// Creates a choice between integers, which are sent as numbers.
    pub fn number_choice(name: &str, values: &[u64], default: u64, description: &str) -> Self {
        Self {
            default: Some(default.into()),
            allowed_values: Some(values.iter().map(|value| json!(value)).collect()),
            ..Self::of_type("enum", name, description)
        }
    }

    pub fn integer(name: &str, default: u64, min: u64, max: u64, description: &str) -> Self {
        Self {
            default: Some(default.into()),
            minimum: Some(min.into()),
            maximum: Some(max.into()),
            ..Self::of_type("integer", name, description)
        }
    }

    pub fn float(name: &str, default: f64, min: f64, max: f64, description: &str) -> Self {
        Self {
            default: Some(json!(default)),
            minimum: Number::from_f64(min),
            maximum: Number::from_f64(max),
            ..Self::of_type("float", name, description)
        }
    }

    pub fn boolean(name: &str, default: bool, description: &str) -> Self {
        Self {
            default: Some(default.into()),
            ..Self::of_type("boolean", name, description)
        }
    }

    /// Creates a parameter without default, bounds or choices. `type_name` as in INTERFACE.md: `string`, `integer`,
    /// `float`, ….
    pub fn of_type(type_name: &str, name: &str, description: &str) -> Self {
        Self {
            name: name.to_owned(),
            type_name: type_name.to_owned(),
            description: description.to_owned(),
            default: None::<Value>,
            allowed_values: None,
            minimum: None,
            maximum: None,
            extra: Map::new(),
        }
    }
}

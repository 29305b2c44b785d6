//! The arguments of tools, as language models write them.

use atelier_contract::function_schema::{argument_names, declared_items, labels};
use atelier_contract::{Kind, Parameter, Schema};
use serde_json::{Map, Value};

use crate::failure::Failure;

/// The arguments of a call. Each is taken once; [`Self::finish`] refuses the others.
pub struct Arguments(Map<String, Value>);

impl Arguments {
    pub fn new(arguments: Option<Map<String, Value>>) -> Self {
        Self(arguments.unwrap_or_default())
    }

    /// Takes an optional text of at most `max` characters. An empty text counts as omitted.
    ///
    /// # Errors
    ///
    /// It is no text, or is too long.
    pub fn text(&mut self, name: &str, max: usize) -> Result<Option<String>, Failure> {
        match self.0.remove(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) if text.chars().count() > max => Err(Failure::invalid_field(
                name,
                format!("{name} has more than {max} characters"),
            )),
            Some(Value::String(text)) => {
                Ok(Some(text.trim().to_owned()).filter(|text| !text.is_empty()))
            }
            Some(_) => Err(Failure::invalid_field(
                name,
                format!("{name} must be a text"),
            )),
        }
    }

    /// Takes a required text.
    ///
    /// # Errors
    ///
    /// As for [`Self::text`]; also if it is missing.
    pub fn required_text(&mut self, name: &str, max: usize) -> Result<String, Failure> {
        self.text(name, max)?
            .ok_or_else(|| Failure::invalid_field(name, format!("{name} is required")))
    }

    /// Takes an optional number from `min` to `max`.
    ///
    /// # Errors
    ///
    /// It is no such number.
    pub fn number(&mut self, name: &str, min: u32, max: u32) -> Result<Option<f64>, Failure> {
        let number = match self.0.remove(name) {
            None | Some(Value::Null) => return Ok(None),
            Some(Value::Number(number)) => number.as_f64(),
            Some(Value::String(text)) => text.trim().parse().ok(),
            Some(_) => None,
        };
        let is_valid = |number: &f64| (f64::from(min)..=f64::from(max)).contains(number);
        number.filter(is_valid).map(Some).ok_or_else(|| {
            Failure::invalid_field(name, format!("{name} must be a number from {min} to {max}"))
        })
    }

    /// Takes an optional object. Accepts its JSON as a text, too.
    ///
    /// # Errors
    ///
    /// It is no object.
    pub fn object(&mut self, name: &str) -> Result<Map<String, Value>, Failure> {
        let value = match self.0.remove(name) {
            Some(Value::String(text)) => serde_json::from_str(&text).unwrap_or(Value::Bool(false)),
            value => value.unwrap_or_default(),
        };
        match value {
            Value::Null => Ok(Map::new()),
            Value::Object(fields) => Ok(fields),
            _ => Err(Failure::invalid_field(
                name,
                format!("{name} must be an object"),
            )),
        }
    }

    /// Takes the parameters of a model from the arguments of its tool, which have the form of
    /// [`atelier_contract::function_schema::function_schema`].
    pub fn parameters(&mut self, schema: &Schema) -> Map<String, Value> {
        let mut input = Map::new();
        for ((parameter, _), (name, argument)) in schema.parameters().zip(argument_names(schema)) {
            if let Some(value) = self.0.remove(&argument) {
                input.insert(name, to_value(parameter, value));
            }
        }
        input
    }

    /// Checks that all arguments were taken.
    ///
    /// # Errors
    ///
    /// Names the others.
    pub fn finish(self) -> Result<(), Failure> {
        match self.0.keys().next() {
            None => Ok(()),
            Some(name) => {
                let name: String = name.chars().take(100).collect();
                Err(Failure::invalid_field(
                    &name,
                    format!("{name} is no argument of this tool"),
                ))
            }
        }
    }
}

/// Converts the texts of an argument to the values of the parameter.
fn to_value(parameter: &Parameter, value: Value) -> Value {
    match (parameter.kind(), value) {
        (Kind::Enum, value) => of_label(parameter, value),
        (Kind::MultiChoice, Value::Array(values)) => values
            .into_iter()
            .map(|value| of_label(parameter, value))
            .collect(),
        (Kind::Array, Value::Array(values)) if declared_items(parameter).is_none() => {
            values.into_iter().map(parse).collect()
        }
        (Kind::Unknown | Kind::Object, value) => parse(value),
        (_, value) => value,
    }
}

fn of_label(parameter: &Parameter, value: Value) -> Value {
    let labels = labels(parameter.choices());
    let found = labels
        .into_iter()
        .find(|(label, _)| value.as_str() == Some(label));
    found.map_or(value, |(_, value)| value)
}

/// Parses a text that is JSON.
fn parse(value: Value) -> Value {
    let parsed = value
        .as_str()
        .and_then(|text| serde_json::from_str(text).ok());
    parsed.unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn arguments(value: Value) -> Arguments {
        Arguments::new(value.as_object().cloned())
    }

    fn message(result: Result<impl std::fmt::Debug, Failure>) -> String {
        result.unwrap_err().body.message
    }

    #[test]
    fn arguments_have_types_and_limits() {
        let mut given = arguments(json!({
            "a": " x ", "b": 1, "c": "long", "d": "20", "e": 301, "f": "{\"x\": 1}", "g": [], "h": "  ",
        }));
        assert_eq!(given.required_text("a", 9).unwrap(), "x");
        assert_eq!(message(given.text("b", 9)), "b must be a text");
        assert_eq!(message(given.text("c", 3)), "c has more than 3 characters");
        assert_eq!(given.number("d", 0, 300).unwrap(), Some(20.0));
        assert_eq!(
            message(given.number("e", 0, 300)),
            "e must be a number from 0 to 300"
        );
        assert_eq!(json!(given.object("f").unwrap()), json!({"x": 1}));
        assert_eq!(message(given.object("g")), "g must be an object");
        assert_eq!(message(given.required_text("h", 9)), "h is required");
        assert!(given.finish().is_ok());
        assert_eq!(
            message(arguments(json!({"z": 1})).finish()),
            "z is no argument of this tool"
        );
    }

    #[test]
    fn texts_become_the_values_of_the_parameters() {
        let schema: Schema = serde_json::from_value(json!({
            "category": "a", "subcategory": "b",
            "parameters": {"required": [], "optional": [
                {"name": "n", "type": "enum", "allowedValues": [1, 2], "description": ""},
                {"name": "list", "type": "array", "description": ""},
                {"name": "any", "type": "tensor", "description": ""},
                {"name": "9 lives%", "type": "string", "description": ""},
            ]}
        }))
        .unwrap();
        let names = argument_names(&schema);
        let mut given = json!({"n": "2", "list": ["1", "x"], "any": "[1]"});
        given[names[3].1.as_str()] = "1".into();
        let mut given = arguments(given);
        let expected = json!({"n": 2, "list": [1, "x"], "any": [1], "9 lives%": "1"});
        assert_eq!(json!(given.parameters(&schema)), expected);
        assert!(given.finish().is_ok());
    }
}

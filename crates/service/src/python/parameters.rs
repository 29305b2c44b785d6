//! The table of parameters in both files: what their shared code checks inputs by.

use atelier_contract::{Kind, Schema};
use serde_json::{Map, Value, json};

use atelier_contract::function_schema::{argument_names, labels};

/// The word for a kind in the Python files.
pub fn kind_word(kind: Kind) -> &'static str {
    match kind {
        Kind::Text => "text",
        Kind::Enum => "enum",
        Kind::Integer => "integer",
        Kind::Number => "number",
        Kind::Boolean => "boolean",
        Kind::Array => "array",
        Kind::Object => "object",
        Kind::Unknown => "any",
    }
}

/// One entry a parameter, in the schema's order.
pub fn table(schema: &Schema) -> Value {
    schema
        .parameters()
        .zip(argument_names(schema))
        .map(|((parameter, required), (name, argument))| {
            let mut entry = Map::new();
            entry.insert("name".into(), json!(name));
            if argument != name {
                entry.insert("argument".into(), json!(argument));
            }
            entry.insert("kind".into(), json!(kind_word(parameter.kind())));
            entry.insert("required".into(), json!(required));
            let optional = [
                ("default", parameter.default.clone()),
                ("values", parameter.allowed_values.clone().map(Value::Array)),
                ("minimum", parameter.minimum.clone().map(Value::Number)),
                ("maximum", parameter.maximum.clone().map(Value::Number)),
                ("max_length", parameter.max_length().map(Value::from)),
            ];
            for (key, value) in optional {
                if let Some(value) = value {
                    entry.insert(key.into(), value);
                }
            }
            let values = parameter.allowed_values.as_deref().unwrap_or_default();
            let labels = labels(values);
            let is_itself = |(label, value): &(String, Value)| value.as_str() == Some(label);
            if !labels.iter().all(is_itself) {
                entry.insert("labels".into(), labels.into_iter().collect());
            }
            if parameter.takes_file() {
                entry.insert("file".into(), json!(true));
            }
            Value::Object(entry)
        })
        .collect()
}

//! The JSON schema of the function that a chat model may call: the service puts it into its Python
//! files (INTERFACE "GET /api/openai-function"), the page shows it on its own.

mod names;

use serde_json::{Map, Value, json};

use crate::{Kind, Parameter, Schema};

pub use names::{argument_names, function_name};

/// OpenAI's limit for a function's description, in characters.
const MAX_DESCRIPTION: usize = 1024;

/// `{name, description, parameters}`; `description` is the model's. It accepts the inputs that the
/// service's own validation accepts.
pub fn function_schema(schema: &Schema, description: &str) -> Value {
    let mut properties = Map::new();
    let mut required = Vec::new();
    for ((parameter, is_required), (_, argument)) in schema.parameters().zip(argument_names(schema))
    {
        properties.insert(argument.clone(), property(parameter, is_required));
        // What has a default is filled in when it is left out, even if it must be sent.
        if is_required && parameter.default.is_none() {
            required.push(argument);
        }
    }
    let mut description = format!(
        "{} Takes seconds to minutes. Returns the URLs of the results.",
        description.trim()
    );
    description = description
        .trim_start()
        .chars()
        .take(MAX_DESCRIPTION)
        .collect();
    json!({
        "name": function_name(&schema.model),
        "description": description,
        "parameters": {
            "type": "object",
            "properties": properties,
            "required": required,
            "additionalProperties": false,
        },
    })
}

/// One parameter.
pub fn property(parameter: &Parameter, required: bool) -> Value {
    let mut property = Map::new();
    let nullable = parameter.default == Some(Value::Null);
    let values = parameter.allowed_values.as_deref().unwrap_or_default();
    let type_name = match parameter.kind() {
        Kind::Text => Some("string"),
        Kind::Integer => Some("integer"),
        Kind::Number => Some("number"),
        Kind::Boolean => Some("boolean"),
        Kind::Array => Some("array"),
        Kind::Object => Some("object"),
        Kind::Enum => type_of_all(values),
        Kind::Unknown => None,
    };
    match type_name {
        Some(name) if nullable => property.insert("type".into(), json!([name, "null"])),
        Some(name) => property.insert("type".into(), json!(name)),
        None => None,
    };
    let mut description = parameter.description.clone();
    if parameter.kind() == Kind::Array {
        // OpenAI asks for it; the service does not say what the items are.
        property.insert("items".into(), json!({}));
    }
    if parameter.kind() == Kind::Unknown && !parameter.type_name.is_empty() {
        description = format!("{description} (Type: {}.)", parameter.type_name);
    }
    property.insert("description".into(), json!(description.trim()));
    if parameter.kind() == Kind::Enum {
        let mut allowed = values.to_vec();
        if nullable && !allowed.contains(&Value::Null) {
            allowed.push(Value::Null);
        }
        property.insert("enum".into(), Value::Array(allowed));
    }
    if required && parameter.kind() == Kind::Text {
        // A required text may not be blank.
        property.insert("pattern".into(), json!("\\S"));
    }
    for (key, bound) in [
        ("minimum", &parameter.minimum),
        ("maximum", &parameter.maximum),
    ] {
        if let Some(bound) = bound {
            property.insert(key.into(), json!(bound));
        }
    }
    if let Some(most) = parameter.max_length() {
        property.insert("maxLength".into(), json!(most));
    }
    if let Some(default) = &parameter.default {
        property.insert("default".into(), default.clone());
    }
    Value::Object(property)
}

/// The type that all values have; `None` if they differ.
fn type_of_all(values: &[Value]) -> Option<&'static str> {
    let type_of = |value: &Value| match value {
        Value::String(_) => Some("string"),
        Value::Number(number) if number.is_f64() => Some("number"),
        Value::Number(_) => Some("integer"),
        Value::Bool(_) => Some("boolean"),
        _ => None,
    };
    let first = type_of(values.first()?)?;
    values
        .iter()
        .all(|value| type_of(value) == Some(first))
        .then_some(first)
}

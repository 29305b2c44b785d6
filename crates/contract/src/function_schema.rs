//! The JSON schema of a model as a function for chat models. The service puts it into its Python files (INTERFACE "GET
//! /api/openai-function"), and the page shows it.

mod labels;
mod names;

use serde_json::{Map, Value, json};

use crate::{Kind, Parameter, Schema};

pub use labels::labels;
pub use names::{argument_names, function_name};

/// OpenAI's limit for a function's description, in characters.
const MAX_DESCRIPTION: usize = 1024;

/// The instruction for values of an unknown type.
const AS_JSON: &str = "Write values other than text as JSON.";

/// The instruction for list items of any type.
const ITEMS_AS_JSON: &str = "Write items other than text as JSON.";

/// Returns `{name, description, parameters}`. `description`: the description of the model.
///
/// Each argument has one type that all providers support, and enumerations contain only texts, because some providers
/// otherwise refuse all tools of a request. The Python files convert the texts back (see [`labels()`]) and accept all
/// inputs that the service accepts. Secrets are left out.
pub fn function_schema(schema: &Schema, description: &str) -> Value {
    let mut properties = Map::new();
    let mut required = Vec::new();
    for ((parameter, is_required), (_, argument)) in schema.parameters().zip(argument_names(schema))
    {
        if parameter.is_secret() {
            continue;
        }
        properties.insert(argument.clone(), argument_schema(parameter, is_required));
        // The service adds a default, so the chat model may leave the parameter out.
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

/// Returns the schema of a parameter as a function argument.
fn argument_schema(parameter: &Parameter, is_required: bool) -> Value {
    let mut schema = property(parameter, is_required);
    let Value::Object(fields) = &mut schema else {
        return schema;
    };
    match parameter.kind() {
        Kind::Enum => {
            let labels = labels(parameter.choices());
            let label_of = |value: &Value| labels.iter().find(|(_, known)| known == value);
            fields.insert("type".into(), json!("string"));
            if let Some(default) = fields.remove("default")
                && let Some((label, _)) = label_of(&default)
            {
                fields.insert("default".into(), json!(label));
            }
            let texts: Vec<&String> = labels.iter().map(|(label, _)| label).collect();
            fields.insert("enum".into(), json!(texts));
            // Bounds apply to numbers only.
            fields.remove("minimum");
            fields.remove("maximum");
        }
        Kind::MultiChoice => {
            let labels = labels(parameter.choices());
            let label_of = |value: &Value| {
                let found = labels.iter().find(|(_, known)| known == value);
                found.map(|(label, _)| label.clone())
            };
            fields.insert("type".into(), json!("array"));
            if let Some(Value::Array(default)) = fields.remove("default") {
                let default: Option<Vec<String>> = default.iter().map(label_of).collect();
                if let Some(default) = default {
                    fields.insert("default".into(), json!(default));
                }
            }
            let texts: Vec<&String> = labels.iter().map(|(label, _)| label).collect();
            fields.insert("items".into(), json!({"type": "string", "enum": texts}));
        }
        Kind::Unknown => {
            fields.insert("type".into(), json!("string"));
            let description = format!("{} {AS_JSON}", parameter_words(parameter));
            fields.insert("description".into(), json!(description.trim()));
            fields.remove("minimum");
            fields.remove("maximum");
            if let Some(default) = fields.get_mut("default")
                && !default.is_string()
            {
                *default = Value::String(crate::json::to_text(default));
            }
        }
        Kind::Array => {
            fields.insert("type".into(), json!("array"));
            let declared = declared_items(parameter);
            fields.insert(
                "items".into(),
                json!({"type": declared.unwrap_or("string")}),
            );
            if declared.is_none() {
                let description = format!("{} {ITEMS_AS_JSON}", parameter.description);
                fields.insert("description".into(), json!(description.trim()));
            }
        }
        // A default of null means that the parameter is left out, so the type need not include null.
        _ => {
            if let Some(Value::Array(types)) = fields.get("type") {
                let name = types.first().cloned().unwrap_or_default();
                fields.insert("type".into(), name);
            }
        }
    }
    if fields.get("default") == Some(&Value::Null) {
        fields.remove("default");
    }
    schema
}

/// Returns the type of a list's items if the schema declares one that all providers support. For all other lists, the
/// chat model writes the items as texts, which the Python files parse as JSON.
pub fn declared_items(parameter: &Parameter) -> Option<&str> {
    let items = parameter.extra.get("items")?.get("type")?.as_str();
    let known = ["string", "integer", "number", "boolean", "object"];
    items.filter(|name| known.contains(name))
}

/// Returns the schema of a parameter as the service accepts it.
pub fn property(parameter: &Parameter, required: bool) -> Value {
    let mut property = Map::new();
    let nullable = parameter.default == Some(Value::Null);
    let values = parameter.choices();
    let type_name = match parameter.kind() {
        Kind::Text => Some("string"),
        Kind::Integer => Some("integer"),
        Kind::Number => Some("number"),
        Kind::Boolean => Some("boolean"),
        Kind::Array | Kind::MultiChoice => Some("array"),
        Kind::Object => Some("object"),
        Kind::Enum => type_of_all(values),
        Kind::Unknown => None,
    };
    match type_name {
        Some(name) if nullable => property.insert("type".into(), json!([name, "null"])),
        Some(name) => property.insert("type".into(), json!(name)),
        None => None,
    };
    if parameter.kind() == Kind::Array {
        // OpenAI requires `items`. The type of the items is unknown.
        property.insert("items".into(), json!({}));
    }
    let description = parameter_words(parameter);
    property.insert("description".into(), json!(description.trim()));
    if parameter.kind() == Kind::MultiChoice {
        property.insert("items".into(), json!({"enum": values}));
    }
    if parameter.kind() == Kind::Enum {
        let mut allowed = values.to_vec();
        if nullable && !allowed.contains(&Value::Null) {
            allowed.push(Value::Null);
        }
        property.insert("enum".into(), Value::Array(allowed));
    }
    if required && parameter.kind() == Kind::Text {
        // A required text must not be blank.
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
    if parameter.is_secret() {
        property.insert("format".into(), json!("password"));
        property.insert("writeOnly".into(), json!(true));
    }
    Value::Object(property)
}

/// Returns the description, with the type name if the schema can't express it.
fn parameter_words(parameter: &Parameter) -> String {
    let (description, type_name) = (&parameter.description, &parameter.type_name);
    if parameter.kind() == Kind::Unknown && !type_name.is_empty() {
        return format!("{description} (Type: {type_name}.)");
    }
    description.clone()
}

/// Returns the common type of all values; `None` if they differ.
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

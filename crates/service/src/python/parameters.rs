//! Creates the table of parameters in the Python files. Their shared code validates inputs against it.

use atelier_contract::{Kind, Parameter, Schema};
use serde_json::{Map, Value, json};

use super::media::takes_files;
use atelier_contract::function_schema::{argument_names, declared_items, labels};

/// Returns the name of a kind in the Python files.
pub fn kind_word(kind: Kind) -> &'static str {
    match kind {
        Kind::Text => "text",
        Kind::Enum => "enum",
        Kind::MultiChoice => "several",
        Kind::Integer => "integer",
        Kind::Number => "number",
        Kind::Boolean => "boolean",
        Kind::Array => "array",
        Kind::Object => "object",
        Kind::Unknown => "any",
    }
}

/// Returns each secret parameter with the environment variable that the files read its value from: `ATELIER_API_KEY`
/// for `api_key`. The variables of a model are unique and consist of capital letters, digits and `_`.
pub fn variables(schema: &Schema) -> Vec<(String, String)> {
    let mut variables: Vec<(String, String)> = Vec::new();
    let secret = schema
        .parameters()
        .filter(|(parameter, _)| parameter.is_secret());
    for (parameter, _) in secret {
        let plain = |c: char| match c.is_ascii_alphanumeric() {
            true => c.to_ascii_uppercase(),
            false => '_',
        };
        let base: String = parameter.name.chars().map(plain).collect();
        let base = format!("ATELIER_{base}");
        let is_free = |name: &String| variables.iter().all(|(_, taken)| taken != name);
        let numbered = (2u32..).map(|n| format!("{base}_{n}"));
        let mut names = std::iter::once(base.clone()).chain(numbered);
        let free = names.find(is_free).unwrap_or_default();
        variables.push((parameter.name.clone(), free));
    }
    variables
}

fn values_of(parameter: &Parameter) -> Option<Value> {
    let choices = parameter.choices();
    match choices.is_empty() {
        true => parameter.allowed_values.clone().map(Value::Array),
        false => Some(Value::Array(choices.to_vec())),
    }
}

/// Returns the table: one entry per parameter, in the schema's order.
pub fn table(schema: &Schema) -> Value {
    let variables = variables(schema);
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
                ("values", values_of(parameter)),
                ("minimum", parameter.minimum.clone().map(Value::Number)),
                ("maximum", parameter.maximum.clone().map(Value::Number)),
                ("max_length", parameter.max_length().map(Value::from)),
            ];
            for (key, value) in optional {
                if let Some(value) = value {
                    entry.insert(key.into(), value);
                }
            }
            let labels = labels(parameter.choices());
            let is_itself = |(label, value): &(String, Value)| value.as_str() == Some(label);
            if !labels.iter().all(is_itself) {
                entry.insert("labels".into(), labels.into_iter().collect());
            }
            if parameter.kind() == Kind::Array && declared_items(parameter).is_none() {
                entry.insert("items".into(), json!("any"));
            }
            if let Some((_, variable)) = variables.iter().find(|(of, _)| *of == name) {
                entry.insert("variable".into(), json!(variable));
            }
            if parameter.takes_file() {
                entry.insert("file".into(), json!(true));
            }
            if takes_files(parameter) {
                entry.insert("media".into(), json!(true));
            }
            Value::Object(entry)
        })
        .collect()
}

//! Sorts a prediction's output into files, which are fetched or decoded, and the rest.
//!
//! Only what the container's OpenAPI document declares as a file (`format: uri`) is fetched: a text model
//! can be asked to print any address.

use std::collections::HashMap;

use serde_json::Value;

use super::schema::resolved;
use crate::runner::file;

/// What the container's document declares of a value.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum Shape {
    /// A text with `format: uri`.
    File,
    /// Any other text, whatever it looks like.
    Text,
    List(Box<Shape>),
    Object(HashMap<String, Shape>),
    /// Nothing: it may hold files as `data:` URIs, but nothing of it is fetched.
    #[default]
    Any,
}

/// Reads the shape of the output from a container's OpenAPI document.
pub fn shape_of(document: &Value) -> Shape {
    let output = document.pointer("/components/schemas/Output");
    output.map_or(Shape::Any, |output| shape(document, output, 0))
}

fn shape(document: &Value, schema: &Value, depth: u8) -> Shape {
    // A document that leads back to itself ends here.
    if depth > 8 {
        return Shape::Any;
    }
    let schema = resolved(document, schema, 0);
    let text = |key: &str| schema.get(key).and_then(Value::as_str);
    match (text("type"), text("format")) {
        (Some("string"), Some("uri")) => Shape::File,
        (Some("string"), _) => Shape::Text,
        (Some("array"), _) => {
            let items = schema.get("items").unwrap_or(&Value::Null);
            Shape::List(Box::new(shape(document, items, depth + 1)))
        }
        _ => match schema.get("properties").and_then(Value::as_object) {
            Some(properties) => Shape::Object(
                properties
                    .iter()
                    .map(|(name, property)| (name.clone(), shape(document, property, depth + 1)))
                    .collect(),
            ),
            None => Shape::Any,
        },
    }
}

/// Moves the addresses of files out of a value, in its order, and leaves null in their places.
pub fn take_files(value: &mut Value, shape: &Shape, files: &mut Vec<String>) {
    match value {
        Value::String(text) => {
            let is_file = match shape {
                Shape::File => is_address(text) || file::of_data_uri(text).is_some(),
                Shape::Text => false,
                _ => file::of_data_uri(text).is_some(),
            };
            if is_file {
                files.push(std::mem::take(text));
                *value = Value::Null;
            }
        }
        Value::Array(list) => {
            let item = match shape {
                Shape::List(item) => item,
                _ => &Shape::Any,
            };
            for value in list {
                take_files(value, item, files);
            }
        }
        Value::Object(fields) => {
            for (name, value) in fields {
                let field = match shape {
                    Shape::Object(fields) => fields.get(name),
                    _ => None,
                };
                take_files(value, field.unwrap_or(&Shape::Any), files);
            }
        }
        _ => {}
    }
}

fn is_address(text: &str) -> bool {
    text.starts_with("http://") || text.starts_with("https://")
}

/// Removes nulls, and the lists and objects that have nothing else.
pub fn without_nulls(value: Value) -> Option<Value> {
    match value {
        Value::Null => None,
        Value::Array(list) => {
            let list: Vec<Value> = list.into_iter().filter_map(without_nulls).collect();
            (!list.is_empty()).then_some(Value::Array(list))
        }
        Value::Object(fields) => {
            let fields: serde_json::Map<String, Value> = fields
                .into_iter()
                .filter_map(|(name, value)| Some((name, without_nulls(value)?)))
                .collect();
            (!fields.is_empty()).then_some(Value::Object(fields))
        }
        other => Some(other),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn taken(output: Value, schema: Value) -> (Vec<String>, Option<Value>) {
        let document = json!({"components": {"schemas": {"Output": schema,
            "Mask": {"type": "object", "properties": {
                "file": {"anyOf": [{"type": "string", "format": "uri"}, {"type": "null"}]},
                "label": {"type": "string"}}}}}});
        let (mut output, mut files) = (output, Vec::new());
        take_files(&mut output, &shape_of(&document), &mut files);
        (files, without_nulls(output))
    }

    /// The service fetched every text that looked like an address.
    #[test]
    fn only_what_is_declared_as_a_file_is_fetched() {
        let address = "http://169.254.169.254/latest";
        for schema in [
            json!({"type": "string"}),
            json!({"type": "array", "items": {"type": "string"}}),
            json!({"type": "object"}),
            json!({}),
            json!({"anyOf": [{"type": "string"}, {"type": "string", "format": "uri"}]}),
            json!({"$ref": "#/components/schemas/Output"}),
        ] {
            for output in [json!(address), json!([address]), json!({"a": [address]})] {
                let found = taken(output.clone(), schema.clone());
                assert_eq!(found, (vec![], Some(output)), "{schema}");
            }
        }
        let file = json!({"type": "string", "format": "uri"});
        assert_eq!(
            taken(json!(address), file.clone()),
            (vec![address.into()], None)
        );
        let list = json!({"type": "array", "items": file});
        assert_eq!(
            taken(json!([address, "words"]), list).1,
            Some(json!(["words"]))
        );
    }

    #[test]
    fn files_are_found_however_deep_they_lie() {
        let masks = json!({"type": "array", "items": {"$ref": "#/components/schemas/Mask"}});
        let output = json!([
            {"file": "https://a.example/1", "label": "https://a.example/label"},
            {"file": null, "label": "none"},
            {"file": "data:,2", "label": null},
        ]);
        let (files, rest) = taken(output, masks);
        assert_eq!(files, ["https://a.example/1", "data:,2"]);
        assert_eq!(
            rest,
            Some(json!([{"label": "https://a.example/label"}, {"label": "none"}]))
        );
        let (files, rest) = taken(json!({"a": {"b": ["data:,1"]}, "seed": 5}), json!({}));
        assert_eq!(
            (files, rest),
            (vec!["data:,1".into()], Some(json!({"seed": 5})))
        );
    }
}

//! Separates a prediction's output into files, which are fetched or decoded, and the rest.
//!
//! Only values that the container's OpenAPI document declares as files (`format: uri`) are fetched, because a user can
//! make a text model return any address.

use std::collections::HashMap;

use serde_json::Value;

use super::schema::resolve;
use crate::runner::addresses::is_http;
use crate::runner::file;

/// The declaration of a value in the container's document. Undeclared values are not fetched, but may contain files as
/// `data:` URIs.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Shape {
    text: Option<Text>,
    items: Option<Box<Shape>>,
    fields: HashMap<String, Shape>,
    /// The shape of undeclared fields (`additionalProperties`).
    others: Option<Box<Shape>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Text {
    /// `format: uri`.
    File,
    /// Any other text, even if it looks like an address.
    Plain,
    /// A file or other text.
    Either,
}

impl Shape {
    /// Returns the shape of a choice between two shapes.
    fn or(mut self, other: Self) -> Self {
        let boxed = |a: Option<Box<Self>>, b: Option<Box<Self>>| match (a, b) {
            (Some(a), Some(b)) => Some(Box::new(a.or(*b))),
            (a, b) => a.or(b),
        };
        for (name, shape) in other.fields {
            let known = self.fields.remove(&name);
            let shape = known.map_or(shape.clone(), |known| known.or(shape));
            self.fields.insert(name, shape);
        }
        Self {
            text: match (self.text, other.text) {
                (Some(a), Some(b)) if a != b => Some(Text::Either),
                (a, b) => a.or(b),
            },
            items: boxed(self.items, other.items),
            fields: self.fields,
            others: boxed(self.others, other.others),
        }
    }
}

/// Reads the shape of the output from a container's OpenAPI document.
pub fn shape_of(document: &Value) -> Shape {
    let output = document.pointer("/components/schemas/Output");
    output.map_or_else(Shape::default, |output| shape(document, output, 0))
}

fn shape(document: &Value, schema: &Value, depth: u8) -> Shape {
    // Limits the recursion of self-referencing documents.
    if depth > 8 {
        return Shape::default();
    }
    let schema = resolve(document, schema, 0);
    let of = |schema: &Value| shape(document, schema, depth + 1);
    let boxed = |key: &str| schema.get(key).map(|schema| Box::new(of(schema)));
    let kind = schema.get("type");
    let is_text = kind.is_some_and(|kind| {
        let mut kinds = kind.as_array().into_iter().flatten();
        kind == "string" || kinds.any(|kind| kind == "string")
    });
    let is_uri = schema.get("format").is_some_and(|format| format == "uri");
    let properties = schema.get("properties").and_then(Value::as_object);
    let own = Shape {
        text: match (is_text, is_uri) {
            (true, true) => Some(Text::File),
            (true, false) => Some(Text::Plain),
            _ => None,
        },
        items: boxed("items"),
        fields: properties
            .into_iter()
            .flatten()
            .map(|(name, property)| (name.clone(), of(property)))
            .collect(),
        others: boxed("additionalProperties"),
    };
    let choices = |key: &str| {
        let choices = schema.get(key).and_then(Value::as_array);
        let choices = choices.into_iter().flatten();
        choices
            .filter(|choice| choice["type"] != "null")
            .collect::<Vec<_>>()
    };
    // Choices between null and one schema are already resolved.
    let any = Some(choices("anyOf")).filter(|choices| choices.len() > 1);
    let any = any.into_iter().flatten().chain(choices("oneOf"));
    any.map(of).fold(own, Shape::or)
}

/// Moves the addresses of files out of a value, in order, and replaces them with null.
pub fn take_files(value: &mut Value, shape: &Shape, files: &mut Vec<String>) {
    let unknown = Shape::default();
    match value {
        Value::String(text) => {
            let is_file = match shape.text {
                Some(Text::File) => is_http(text) || file::of_data_uri(text).is_some(),
                Some(Text::Plain) => false,
                Some(Text::Either) | None => file::of_data_uri(text).is_some(),
            };
            if is_file {
                files.push(std::mem::take(text));
                *value = Value::Null;
            }
        }
        Value::Array(list) => {
            let item = shape.items.as_deref().unwrap_or(&unknown);
            for value in list {
                take_files(value, item, files);
            }
        }
        Value::Object(fields) => {
            for (name, value) in fields {
                let field = shape.fields.get(name).or(shape.others.as_deref());
                take_files(value, field.unwrap_or(&unknown), files);
            }
        }
        _ => {}
    }
}

/// Removes nulls, and lists and objects that contain only nulls.
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

    /// Guards against fetching every text that looks like an address.
    #[test]
    fn only_declared_files_are_fetched() {
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
        let uppercase_uri = "HTTPS://a.example/1";
        assert_eq!(
            taken(json!(uppercase_uri), file.clone()),
            (vec![uppercase_uri.into()], None)
        );
        let list = json!({"type": "array", "items": file});
        assert_eq!(
            taken(json!([address, "words"]), list).1,
            Some(json!(["words"]))
        );
    }

    #[test]
    fn nested_files_are_found() {
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

    /// Guards against returning files in dictionaries, nested lists and unions as texts.
    #[test]
    fn files_are_found_wherever_they_are_declared() {
        let file = json!({"type": "string", "format": "uri"});
        let files = json!({"type": "array", "items": file});
        let (a, b) = ("https://a.example/a", "https://a.example/b");
        for (schema, output) in [
            (
                json!({"type": "object", "additionalProperties": file}),
                json!({"vocals": a, "drums": b}),
            ),
            (
                json!({"type": "object", "additionalProperties": true, "properties": {"files": files}}),
                json!({"files": [a, b]}),
            ),
            (json!({"type": "array", "items": files}), json!([[a], [b]])),
            (json!({"anyOf": [file, files]}), json!([a, b])),
            (
                json!({"anyOf": [{"type": "object", "additionalProperties": files}, {"type": "null"}]}),
                json!({"first": [a, null], "second": [b]}),
            ),
            (
                json!({"type": "array", "items": {"type": ["string", "null"], "format": "uri"}}),
                json!([null, a, b]),
            ),
        ] {
            let found = taken(output.clone(), schema.clone());
            assert_eq!(found, (vec![a.into(), b.into()], None), "{schema}");
        }
        // A value that may be text is not fetched.
        let words = json!({"type": "object", "additionalProperties": {"type": "string"}});
        let files = json!({"type": "object", "additionalProperties": file});
        let either = json!({"oneOf": [words, files, files]});
        assert_eq!(
            taken(json!({"a": a, "b": "data:,b"}), either).0,
            ["data:,b"]
        );
    }
}

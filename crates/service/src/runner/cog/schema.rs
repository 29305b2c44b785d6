//! Reads the parameters of a cog container from its OpenAPI document.

use atelier_contract::{IDEMPOTENCY_FIELD, Parameter, Parameters, RESERVED_NAMES};
use serde_json::{Map, Number, Value};

/// The inputs that a container's document declares.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Inputs {
    /// In the order of the predictor's inputs.
    pub parameters: Parameters,
    /// Parameter name and input name of each renamed input. Inputs are renamed if every request has a field of that name.
    pub renamed: Vec<(String, String)>,
}

/// Reads the inputs; `None` if the document has none.
pub fn inputs_of(document: &Value) -> Option<Inputs> {
    let input = document.pointer("/components/schemas/Input")?;
    let required = input["required"].as_array().cloned().unwrap_or_default();
    let declared = input["properties"].as_object()?;
    let mut properties: Vec<(&String, Map<String, Value>)> = declared
        .iter()
        .map(|(name, property)| (name, resolve(document, property, 0)))
        .collect();
    properties.sort_by_key(|(_, property)| property.get("x-order").and_then(Value::as_u64));
    let mut inputs = Inputs::default();
    for (name, property) in properties {
        let mut parameter = parameter(name, &property);
        while is_reserved(&parameter.name)
            || parameter.name != *name && declared.contains_key(&parameter.name)
        {
            parameter.name.insert_str(0, "input_");
        }
        if parameter.name != *name {
            inputs.renamed.push((parameter.name.clone(), name.clone()));
        }
        let is_required = required.iter().any(|required| required == name.as_str());
        // A nullable input is optional.
        if is_required && parameter.default.is_none() && !is_nullable(&property) {
            inputs.parameters.required.push(parameter);
        } else {
            inputs.parameters.optional.push(parameter);
        }
    }
    Some(inputs)
}

fn is_reserved(name: &str) -> bool {
    RESERVED_NAMES.contains(&name) || name == IDEMPOTENCY_FIELD
}

/// Resolves `$ref`, `allOf` and an `anyOf` with null in a property.
pub(super) fn resolve(document: &Value, property: &Value, depth: u8) -> Map<String, Value> {
    let mut whole = property.as_object().cloned().unwrap_or_default();
    // Limits the recursion of self-referencing documents.
    if depth > 8 {
        return whole;
    }
    let mut take = |part: &Value| {
        for (key, value) in resolve(document, part, depth + 1) {
            // The referring schema takes precedence.
            whole.entry(key).or_insert(value);
        }
    };
    if let Some(reference) = property["$ref"].as_str().and_then(|r| r.strip_prefix('#'))
        && let Some(part) = document.pointer(reference)
    {
        take(part);
    }
    for part in property["allOf"].as_array().into_iter().flatten() {
        take(part);
    }
    let choices = property["anyOf"].as_array().into_iter().flatten();
    let (nulls, others): (Vec<&Value>, Vec<&Value>) =
        choices.partition(|choice| choice["type"] == "null");
    if let [only] = others[..] {
        take(only);
    }
    if !nulls.is_empty() {
        whole.insert("nullable".into(), true.into());
    }
    whole
}

fn is_nullable(property: &Map<String, Value>) -> bool {
    property.get("nullable") == Some(&Value::Bool(true))
}

fn parameter(name: &str, property: &Map<String, Value>) -> Parameter {
    let text = |key: &str| property.get(key).and_then(Value::as_str);
    let allowed = property.get("enum").and_then(Value::as_array).cloned();
    let type_name = match (&allowed, text("type")) {
        (Some(_), _) => "enum",
        (None, Some("number")) => "float",
        (None, Some(name @ ("string" | "integer" | "boolean" | "array" | "object"))) => name,
        (None, _) => "any",
    };
    let mut extra = Map::new();
    // The formats of files and secrets, and the items of a list.
    for key in [
        "format",
        "items",
        "x-cog-secret",
        "maxLength",
        "minLength",
        "pattern",
    ] {
        if let Some(value) = property.get(key) {
            extra.insert(key.into(), value.clone());
        }
    }
    Parameter {
        name: name.to_owned(),
        type_name: type_name.to_owned(),
        description: text("description").unwrap_or_default().to_owned(),
        default: property.get("default").filter(|v| !v.is_null()).cloned(),
        allowed_values: allowed,
        minimum: property.get("minimum").and_then(bound),
        maximum: property.get("maximum").and_then(bound),
        extra,
    }
}

/// Reads a bound. Cog writes the bounds of integers with a decimal point.
fn bound(value: &Value) -> Option<Number> {
    let number = value.as_number()?;
    match number.as_f64() {
        Some(whole) if number.is_f64() && whole.fract() == 0.0 && whole.abs() < 9e15 => {
            Some(Number::from(whole as i64))
        }
        _ => Some(number.clone()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn all_forms_of_cog_schemas_are_read() {
        let document = json!({"components": {"schemas": {
            "colour": {"enum": ["red", "green"], "type": "string", "description": "An enumeration."},
            "Input": {"required": ["prompt", "images", "token"], "properties": {
                "seed": {"type": "integer", "nullable": true, "x-order": 2},
                "prompt": {"type": "string", "description": "Words", "x-order": 0},
                "colour": {"description": "Of it", "default": "green", "x-order": 1,
                           "allOf": [{"$ref": "#/components/schemas/colour"}]},
                "size": {"type": "integer", "minimum": 16.0, "maximum": 512.0, "x-order": 3},
                "guidance": {"type": "number", "minimum": 0.5, "default": 7.5, "x-order": 4},
                "images": {"type": "array", "items": {"type": "string", "format": "uri"}, "x-order": 5},
                "mask": {"anyOf": [{"type": "string", "format": "uri"}, {"type": "null"}], "x-order": 6},
                "token": {"type": "string", "format": "password", "x-cog-secret": true, "x-order": 7},
                "odd": {"allOf": [{"$ref": "#/components/schemas/Input/properties/odd"}], "x-order": 8}
            }}
        }}});
        let parameters = inputs_of(&document).unwrap().parameters;
        let names =
            |list: &[Parameter]| -> Vec<String> { list.iter().map(|p| p.name.clone()).collect() };
        assert_eq!(names(&parameters.required), ["prompt", "images", "token"]);
        assert_eq!(
            names(&parameters.optional),
            ["colour", "seed", "size", "guidance", "mask", "odd"]
        );
        let find = |name: &str| {
            let mut all = parameters.required.iter().chain(&parameters.optional);
            all.find(|p| p.name == name).unwrap().to_value()
        };
        assert_eq!(
            find("colour"),
            json!({"name": "colour", "type": "enum", "description": "Of it", "default": "green",
                   "allowedValues": ["red", "green"]})
        );
        assert_eq!(
            (&find("size")["minimum"], &find("size")["maximum"]),
            (&json!(16), &json!(512))
        );
        assert_eq!(find("guidance")["minimum"], json!(0.5));
        assert_eq!(find("mask")["format"], "uri");
        assert_eq!(find("token")["format"], "password");
        assert_eq!(find("seed").get("default"), None);
        assert_eq!(inputs_of(&json!({})), None);
    }

    /// Guards against refusing all tasks of a container because a required input has the name of a field of the
    /// interface.
    #[test]
    fn inputs_with_names_of_the_interface_are_renamed() {
        let text = json!({"type": "string"});
        let properties = json!({"id": text, "category": text, "input_category": text,
            "uid": {"type": "string", "default": "none"}, "idempotency_key": text});
        let input = json!({"required": ["id", "category"], "properties": properties});
        let document = json!({"components": {"schemas": {"Input": input}}});
        let inputs = inputs_of(&document).unwrap();
        let names = |list: &[Parameter]| list.iter().map(|p| p.name.clone()).collect::<Vec<_>>();
        assert_eq!(
            names(&inputs.parameters.required),
            ["id", "input_input_category"]
        );
        assert_eq!(
            names(&inputs.parameters.optional),
            ["input_category", "input_uid", "input_idempotency_key"]
        );
        let renamed = |parameter: &str, input: &str| (parameter.to_owned(), input.to_owned());
        assert_eq!(
            inputs.renamed,
            [
                renamed("input_input_category", "category"),
                renamed("input_uid", "uid"),
                renamed("input_idempotency_key", "idempotency_key"),
            ]
        );
    }
}

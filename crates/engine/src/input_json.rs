//! A form's input as a JSON text: what stands in the form, written, and read back.

use atelier_contract::{Draft, Entry, Schema, check, json};
use serde_json::{Map, Value};

/// What was entered, as an indented JSON object in the form's order. A value that can't be sent yet
/// stands as it was typed; what is not in the schema comes last.
pub fn write(draft: &Draft, schema: &Schema) -> String {
    format!("{:#}", Value::Object(values(draft, schema)))
}

/// The same as values.
pub fn values(draft: &Draft, schema: &Schema) -> Map<String, Value> {
    let mut input = Map::new();
    for (parameter, required) in schema.parameters() {
        let Some(entry) = draft.get(&parameter.name) else {
            continue;
        };
        let value = match (check(parameter, required, Some(entry)), entry) {
            (Ok(value), _) => value,
            (Err(_), Entry::Value(value)) => Some(value.clone()),
            (Err(_), Entry::Text(text)) => Some(Value::String(text.clone())),
        };
        if let Some(value) = value {
            input.insert(parameter.name.clone(), value);
        }
    }
    for (name, entry) in draft.iter() {
        if schema.parameter(name).is_none() {
            let value = match entry {
                Entry::Value(value) => value.clone(),
                Entry::Text(text) => Value::String(text.clone()),
            };
            input.insert(name.to_owned(), value);
        }
    }
    input
}

/// The draft that a text gives; an empty text gives one in which nothing was touched.
///
/// # Errors
///
/// A sentence for a person, if the text is no JSON object.
pub fn read(text: &str) -> Result<Draft, String> {
    if text.trim().is_empty() {
        return Ok(Draft::default());
    }
    match json::parse(text.as_bytes()) {
        Ok(Value::Object(values)) => Ok(Draft::from_values(&values)),
        Ok(_) => Err("The input is an object: names and values between { and }.".to_owned()),
        Err(error) => Err(format!("This is not JSON yet: {error}.")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn schema() -> Schema {
        serde_json::from_value(json!({
            "category": "image", "subcategory": "a", "parameters": {
                "required": [{"name": "prompt", "type": "string"}],
                "optional": [
                    {"name": "steps", "type": "integer", "minimum": 1, "maximum": 50},
                    {"name": "seed", "type": "integer", "maximum": u64::MAX}
                ]
            }
        }))
        .unwrap()
    }

    fn draft(entries: &[(&str, Entry)]) -> Draft {
        let mut draft = Draft::default();
        for (name, entry) in entries {
            draft.set(*name, entry.clone());
        }
        draft
    }

    #[test]
    fn what_was_typed_has_the_types_of_the_schema_and_its_order() {
        let draft = draft(&[
            ("seed", Entry::Text(u64::MAX.to_string())),
            ("prompt", Entry::Text("12".into())),
            ("steps", Entry::Text(" 7 ".into())),
        ]);
        assert_eq!(
            write(&draft, &schema()),
            "{\n  \"prompt\": \"12\",\n  \"steps\": 7,\n  \"seed\": 18446744073709551615\n}"
        );
    }

    #[test]
    fn nothing_that_was_typed_is_lost_on_the_way() {
        let before = draft(&[
            ("steps", Entry::Text("many".into())),
            ("colour", Entry::Text("red".into())),
        ]);
        let after = read(&write(&before, &schema())).unwrap();
        assert_eq!(after.get("steps"), Some(&Entry::Value("many".into())));
        assert_eq!(after.get("colour"), Some(&Entry::Value("red".into())));
        // Written once more it is the same.
        assert_eq!(write(&after, &schema()), write(&before, &schema()));
    }

    #[test]
    fn what_is_no_object_is_told() {
        assert_eq!(read(" "), Ok(Draft::default()));
        assert_eq!(read("{}"), Ok(Draft::default()));
        assert!(read("[1]").unwrap_err().contains("object"));
        assert!(read("{\"a\": }").unwrap_err().contains("line 1"));
    }
}

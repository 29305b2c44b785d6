//! What an input says of its outputs before they are there: their shape, and how many they are.

use atelier_contract::{Draft, Entry, Schema};
use serde_json::{Map, Value};

/// The shape of what an input gives, as style sheets write it, `3 / 2`, where the input or a
/// default says it: what comes can then be given its place before it is there.
pub fn ratio(values: &Map<String, Value>, schema: Option<&Schema>) -> Option<String> {
    let default = |name: &str| {
        let (parameter, _) = schema?.parameter(name)?;
        parameter.default.as_ref()
    };
    let value = |name: &str| values.get(name).or_else(|| default(name));
    shape(value("aspect_ratio").or_else(|| value("size"))?.as_str()?)
}

/// The names of the parameter that says how many outputs one call gives.
const COUNTS: [&str; 7] = [
    "num_outputs",
    "num_images",
    "num_images_per_prompt",
    "num_videos",
    "number_of_images",
    "batch_size",
    "n",
];

/// No place is kept for more.
const MAX_EXPECTED: u64 = 16;

/// How many outputs an input asks for, from 1 to 16: each can then be given its place before it is there.
pub fn expected_count(values: &Map<String, Value>, schema: Option<&Schema>) -> usize {
    let asked = asked_count(schema, |name| values.get(name).cloned());
    asked.clamp(1, MAX_EXPECTED) as usize
}

/// How many outputs the values of a form or a row ask for, at least 1.
pub fn count_of_draft(draft: &Draft, schema: &Schema) -> usize {
    let asked = asked_count(Some(schema), |name| match draft.get(name)? {
        Entry::Value(value) => Some(value.clone()),
        Entry::Text(text) => text.trim().parse::<u64>().ok().map(Value::from),
    });
    usize::try_from(asked.max(1)).unwrap_or(usize::MAX)
}

fn asked_count(schema: Option<&Schema>, given: impl Fn(&str) -> Option<Value>) -> u64 {
    let asked = COUNTS.iter().find_map(|name| {
        let default = || schema?.parameter(name)?.0.default.clone();
        given(name).or_else(default)?.as_u64()
    });
    asked.unwrap_or(1)
}

/// The shape that a value such as `16:9` or `1024x768` names, as style sheets write it.
pub fn shape(value: &str) -> Option<String> {
    let (width, height) = value.split_once([':', 'x', '*', '/'])?;
    let side = |text: &str| text.trim().parse::<u32>().ok().filter(|side| *side > 0);
    Some(format!("{} / {}", side(width)?, side(height)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_that_inputs_ask_for() {
        let ratio = |name: &str, value: serde_json::Value| {
            ratio(
                serde_json::json!({ name: value }).as_object().unwrap(),
                None,
            )
        };
        assert_eq!(ratio("aspect_ratio", "16:9".into()).unwrap(), "16 / 9");
        assert_eq!(ratio("size", "1024x768".into()).unwrap(), "1024 / 768");
        for value in ["auto", "1:0", "1:x", "-1:2", ""] {
            assert_eq!(ratio("aspect_ratio", value.into()), None);
        }
        assert_eq!(ratio("size", 3.into()), None);
        let schema: Schema = serde_json::from_value(serde_json::json!({
            "category": "image", "subcategory": "a", "parameters": {"optional": [
                {"name": "aspect_ratio", "type": "enum", "allowedValues": ["1:1"], "default": "1:1"}
            ]}
        }))
        .unwrap();
        assert_eq!(super::ratio(&Map::new(), Some(&schema)).unwrap(), "1 / 1");
    }

    #[test]
    fn how_many_outputs_an_input_asks_for() {
        let schema: Schema = serde_json::from_value(serde_json::json!({
            "category": "image", "subcategory": "a", "parameters": {"optional": [
                {"name": "num_images", "type": "integer", "default": 2}
            ]}
        }))
        .unwrap();
        let count =
            |values: serde_json::Value, schema| expected_count(values.as_object().unwrap(), schema);
        use serde_json::json;
        assert_eq!(count(json!({"num_outputs": 4}), None), 4);
        assert_eq!(count(json!({}), Some(&schema)), 2);
        assert_eq!(count(json!({"num_images": 3}), Some(&schema)), 3);
        assert_eq!(count(json!({"n": 1_000_000}), None), 16);
        for value in [json!(0), json!("4"), json!(-1), json!(1.5), json!(null)] {
            assert_eq!(count(json!({"n": value.clone()}), None), 1, "{value}");
        }
        let typed = |text: &str| {
            let mut draft = Draft::default();
            draft.set("num_images", Entry::Text(text.into()));
            count_of_draft(&draft, &schema)
        };
        let counts = ["", " 3 ", "40", "0"].map(typed);
        assert_eq!(counts, [2, 3, 40, 1], "what is paid is not cut short");
        assert_eq!(count_of_draft(&Draft::default(), &schema), 2);
    }
}

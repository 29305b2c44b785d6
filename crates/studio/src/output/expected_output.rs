//! Predicts the aspect ratio and number of outputs from an input.

use atelier_contract::{Draft, Entry, Schema};
use serde_json::{Map, Value};

/// Returns the aspect ratio of the expected outputs in CSS syntax (`3 / 2`), so that the layout can reserve space.
/// `None` if neither the input nor a default specifies it.
pub fn ratio(values: &Map<String, Value>, schema: Option<&Schema>) -> Option<String> {
    let default = |name: &str| {
        let (parameter, _) = schema?.parameter(name)?;
        parameter.default.as_ref()
    };
    let value = |name: &str| values.get(name).or_else(|| default(name));
    shape(value("aspect_ratio").or_else(|| value("size"))?.as_str()?)
}

/// The usual names of parameters for the number of outputs.
const COUNT_NAMES: [&str; 7] = [
    "num_outputs",
    "num_images",
    "num_images_per_prompt",
    "num_videos",
    "number_of_images",
    "batch_size",
    "n",
];

/// The maximum number of outputs for which space is reserved.
const MAX_EXPECTED: u64 = 16;

/// Returns the number of outputs that an input requests, from 1 to 16, so that the layout can reserve space.
pub fn expected_count(values: &Map<String, Value>, schema: Option<&Schema>) -> usize {
    let requested = requested_count(schema, |name| values.get(name).cloned());
    requested.clamp(1, MAX_EXPECTED) as usize
}

/// Returns the number of outputs that the values of a form or a row request, at least 1.
pub fn count_of_draft(draft: &Draft, schema: &Schema) -> usize {
    let requested = requested_count(Some(schema), |name| match draft.get(name)? {
        Entry::Value(value) => Some(value.clone()),
        Entry::Text(text) => text.trim().parse::<u64>().ok().map(Value::from),
    });
    usize::try_from(requested.max(1)).unwrap_or(usize::MAX)
}

fn requested_count(schema: Option<&Schema>, given: impl Fn(&str) -> Option<Value>) -> u64 {
    let requested = COUNT_NAMES.iter().find_map(|name| {
        let default = || schema?.parameter(name)?.0.default.clone();
        given(name).or_else(default)?.as_u64()
    });
    requested.unwrap_or(1)
}

/// Converts a ratio or size such as `16:9` or `1024x768` to CSS syntax.
pub fn shape(value: &str) -> Option<String> {
    let (width, height) = value.split_once([':', 'x', '*', '/'])?;
    let side = |text: &str| text.trim().parse::<u32>().ok().filter(|side| *side > 0);
    Some(format!("{} / {}", side(width)?, side(height)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_ratios_and_sizes_of_inputs() {
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
    fn counts_the_outputs_that_an_input_requests() {
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
        assert_eq!(counts, [2, 3, 40, 1], "the number to charge is not limited");
        assert_eq!(count_of_draft(&Draft::default(), &schema), 2);
    }
}

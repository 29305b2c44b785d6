//! Decides which parameters of a long form are visible, and which are folded.

use atelier_contract::{Parameter, Schema};

/// A form with at most this many parameters is not folded.
const MAX_UNFOLDED: usize = 9;

/// The minimum number of parameters to fold.
const LEAST_FOLDED: usize = 3;

/// Parameters that users often set with any model.
const COMMON: [&str; 9] = [
    "aspect_ratio",
    "duration",
    "height",
    "num_outputs",
    "quality",
    "resolution",
    "seed",
    "style",
    "width",
];

/// Returns the indexes of the folded parameters, in order; empty for a short form. If the form is a bar at the bottom
/// of the screen, all parameters are folded except the prompt (the first long text) and those that require a value.
pub fn folded(schema: &Schema, is_bar: bool) -> Vec<usize> {
    let parameters: Vec<(&Parameter, bool)> = schema.parameters().collect();
    if !is_bar && parameters.len() <= MAX_UNFOLDED {
        return Vec::new();
    }
    let prompt = parameters
        .iter()
        .position(|(parameter, _)| parameter.is_long_text());
    let is_first = |(at, (parameter, required)): &(usize, &(&Parameter, bool))| {
        if is_bar {
            return prompt == Some(*at) || (*required && parameter.default.is_none());
        }
        *required
            || parameter.is_long_text()
            || parameter.media().is_some()
            || parameter.media_list().is_some()
            || COMMON.contains(&parameter.name.as_str())
    };
    let folded: Vec<usize> = (parameters.iter().enumerate())
        .filter(|parameter| !is_first(parameter))
        .map(|(at, _)| at)
        .collect();
    if folded.len() < LEAST_FOLDED {
        return Vec::new();
    }
    folded
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn schema(optional: &[&str]) -> Schema {
        let parameter = |name: &&str| json!({"name": name, "type": "integer"});
        let optional: Vec<Value> = optional.iter().map(parameter).collect();
        serde_json::from_value(json!({
            "category": "image", "subcategory": "a",
            "parameters": {
                "required": [
                    {"name": "prompt", "type": "string"}, {"name": "kernel", "type": "integer"}
                ],
                "optional": optional
            }
        }))
        .unwrap()
    }

    #[test]
    fn a_short_form_is_unfolded_and_a_long_one_starts_with_common_parameters() {
        let names = ["a", "b", "seed", "c", "d", "style", "e", "f"];
        assert!(folded(&schema(&names[..7]), false).is_empty());
        assert_eq!(folded(&schema(&names), false), [2, 3, 5, 6, 8, 9]);
        let common = [
            "seed", "style", "width", "height", "quality", "duration", "a", "b",
        ];
        assert!(folded(&schema(&common), false).is_empty());
    }

    #[test]
    fn on_a_phone_the_prompt_and_required_parameters_are_visible() {
        assert_eq!(folded(&schema(&["a", "seed", "width"]), true), [2, 3, 4]);
        assert!(folded(&schema(&["a", "seed"]), true).is_empty());
    }
}

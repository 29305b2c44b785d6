//! What tells the items of a batch apart.

use std::collections::HashSet;

use atelier_contract::Input;

use crate::control;

/// Values longer than this are counted instead of shown: prompts, addresses.
const SHORT: usize = 16;
/// As many values are shown side by side.
const FEW: usize = 4;

/// A parameter that is not the same in all items.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    pub parameter: String,
    /// Each value once, in the order in which they come.
    pub values: Vec<String>,
}

impl Difference {
    /// `mist: 0, 0.5, 1`, or, where that would be long, `prompt: 12 values`
    pub fn user_message(&self) -> String {
        let is_short = |value: &String| !value.is_empty() && value.chars().count() <= SHORT;
        if self.values.len() <= FEW && self.values.iter().all(is_short) {
            format!("{}: {}", self.parameter, self.values.join(", "))
        } else {
            format!("{}: {} values", self.parameter, self.values.len())
        }
    }
}

/// The parameters in which inputs differ, in the order in which they are sent. A value that is left out is a
/// value, too.
pub fn differences<'a>(inputs: impl IntoIterator<Item = &'a Input>) -> Vec<Difference> {
    let inputs: Vec<&Input> = inputs.into_iter().collect();
    let mut names: Vec<&String> = Vec::new();
    for name in inputs.iter().flat_map(|input| input.values().keys()) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let difference = |name: &String| {
        let mut known = HashSet::new();
        let mut values: Vec<String> = Vec::new();
        for input in &inputs {
            let value = input.values().get(name);
            let value = value.map_or_else(String::new, control::text);
            if known.insert(value.clone()) {
                values.push(value);
            }
        }
        (values.len() > 1).then(|| Difference {
            parameter: name.clone(),
            values,
        })
    };
    names.into_iter().filter_map(difference).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn said(values: &[Value]) -> Vec<String> {
        let input = |values: &Value| {
            let model = json!({"category": "image", "subcategory": "a"});
            serde_json::from_value(json!({"model": model, "values": values})).unwrap()
        };
        let inputs: Vec<Input> = values.iter().map(input).collect();
        let differences = differences(&inputs);
        differences.iter().map(Difference::user_message).collect()
    }

    #[test]
    fn only_what_differs_is_said_and_shortly() {
        let item = |mist: Value, prompt: &str| json!({"prompt": prompt, "seed": 7, "mist": mist});
        assert_eq!(
            said(&[
                item(json!(0), "sea"),
                item(json!(0.5), "sea"),
                item(json!(0), "sea")
            ]),
            ["mist: 0, 0.5"]
        );
        assert_eq!(
            said(&[
                item(json!(1), "an alpine lake, teal"),
                item(json!(1), "sea")
            ]),
            ["prompt: 2 values"]
        );
        let many: Vec<Value> = (0..9).map(|n| item(json!(n), "sea")).collect();
        assert_eq!(said(&many), ["mist: 9 values"]);
        assert_eq!(said(&[json!({"a": 1}), json!({})]), ["a: 2 values"]);
        assert!(said(&[json!({"a": 1}), json!({"a": 1})]).is_empty());
        assert!(said(&[]).is_empty());
    }
}

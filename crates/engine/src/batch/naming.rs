//! What a batch is called until a person calls it something else.

use std::collections::HashSet;

use atelier_contract::Input;
use serde_json::Value;

use super::Batch;
use super::differences::{Difference, chosen_differences, differences};
use crate::Task;
use crate::excerpt::excerpt;
use crate::plural::counted;
use crate::seed;

const LONGEST: usize = 60;
/// More axes are counted.
const MOST_AXES: usize = 3;

impl Batch {
    /// By its first prompt, else its model, and what there is beside: `a rose window in red and 3 others`, or, of a
    /// sweep, `a lake at dawn × time_of_day × water`.
    pub fn first_name(inputs: &[&Input], model_name: &str) -> String {
        let Some(first) = inputs.first() else {
            return model_name.to_owned();
        };
        let mut name = match first.title() {
            "" => model_name.to_owned(),
            title => excerpt(title, LONGEST),
        };
        let titles: HashSet<&str> = inputs.iter().map(|input| input.title()).collect();
        let others = titles.len() - 1;
        if others > 0 {
            name += &format!(" and {}", counted(others, "other"));
        }
        let found = differences(inputs.iter().copied());
        let axes = found.iter().map(|difference| &*difference.parameter);
        // Each item has a seed of its own unless a person holds it.
        let axes = axes.filter(|axis| *axis != seed::NAME && !is_title(first, axis));
        let axes: Vec<&str> = axes.collect();
        match axes.len() {
            0 => name,
            1..=MOST_AXES => format!("{name} × {}", axes.join(" × ")),
            count => format!("{name} × {}", counted(count, "parameter")),
        }
    }
}

/// What tells its tasks apart beside what its name says: prompts that are counted there are not listed once more.
pub fn said_beside(name: &str, tasks: &[&Task]) -> Vec<Difference> {
    let mut found = chosen_differences(tasks);
    if let Some(first) = tasks.first()
        && counts_others(name)
    {
        found.retain(|difference| !is_title(&first.input, &difference.parameter));
    }
    found
}

/// It is called by this parameter.
fn is_title(input: &Input, parameter: &str) -> bool {
    let text = input.values().get(parameter).and_then(Value::as_str);
    text.is_some_and(|text| !text.is_empty() && text.trim() == input.title())
}

/// Not a name of before, nor one that a person gave.
fn counts_others(name: &str) -> bool {
    let mut words = name.split(" and ").skip(1);
    words.any(|words| {
        let mut words = words.split(' ');
        let count = words.next().map(str::parse::<usize>);
        matches!(count, Some(Ok(_))) && matches!(words.next(), Some("other" | "others"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn named(values: &[Value]) -> String {
        let input = |values: &Value| {
            let model = json!({"category": "image", "subcategory": "a"});
            serde_json::from_value(json!({"model": model, "values": values})).unwrap()
        };
        let inputs: Vec<Input> = values.iter().map(input).collect();
        Batch::first_name(&inputs.iter().collect::<Vec<_>>(), "Strata")
    }

    #[test]
    fn one_prompt_is_cut_at_a_word() {
        let long = "An alpine lake at dawn, teal and rose, misty pines at night, two moons";
        assert_eq!(
            named(&[json!({"prompt": long})]),
            "An alpine lake at dawn, teal and rose, misty pines at…"
        );
        let lines = json!({"prompt": "over\ntwo lines"});
        assert_eq!(named(&[lines]), "over two lines");
        assert_eq!(named(&[json!({"seed": 1})]), "Strata");
        assert_eq!(named(&[]), "Strata");
    }

    /// Guards against a batch that is called as one of its tasks is.
    #[test]
    fn others_are_counted() {
        let prompt = |text: &str, seed: u64| json!({"prompt": text, "seed": seed});
        assert_eq!(
            named(&[prompt("red", 1), prompt("blue", 2), prompt("red", 3)]),
            "red and 1 other"
        );
        assert_eq!(
            named(&[prompt("a", 1), prompt("b", 1), prompt("c", 1)]),
            "a and 2 others"
        );
    }

    #[test]
    fn a_sweep_is_called_by_its_axes() {
        let lake = |time: &str, water: &str| json!({"prompt": "a lake", "seed": 1, "time": time, "water": water});
        assert_eq!(
            named(&[
                lake("dawn", "still"),
                lake("noon", "still"),
                lake("dawn", "none")
            ]),
            "a lake × time × water"
        );
        let many = |n: u64| json!({"prompt": "a", "b": n, "c": n, "d": n, "e": n});
        assert_eq!(named(&[many(1), many(2)]), "a × 4 parameters");
        assert_eq!(
            named(&[json!({"mist": 0}), json!({"mist": 1})]),
            "Strata × mist"
        );
        let pane = |prompt: &str, panes: u64| json!({"prompt": prompt, "panes": panes});
        assert_eq!(
            named(&[pane("a", 1), pane("b", 2)]),
            "a and 1 other × panes"
        );
    }

    #[test]
    fn what_a_name_counts_is_known() {
        assert!(counts_others("red and 1 other"));
        assert!(counts_others("red and blue and 2 others × panes"));
        assert!(!counts_others("red and blue"));
        assert!(!counts_others("salt and 3 peppers"));
    }
}

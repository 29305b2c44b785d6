//! Makes the initial name of a batch, which the user can change.

use std::collections::HashSet;

use atelier_contract::Input;
use atelier_engine::Task;
use serde_json::Value;

use super::Batch;
use super::differences::{Difference, chosen_differences, differences, slowest_first, value};
use crate::form::seed;
use crate::text::excerpt::excerpt;
use crate::text::plural::counted;

const LONGEST: usize = 60;
/// The maximum number of axes to list. If there are more, only their number is shown.
const MAX_AXES: usize = 3;

impl Batch {
    /// Returns the initial name: the first prompt (or the model's name, if there is no prompt) and the differences.
    /// Examples: `a rose window in red and 3 others`; for a sweep, `a lake at dawn × time_of_day × water`. Rows that
    /// differ in their prompts and in other parameters are a sweep only if all combinations may exist.
    pub fn first_name(inputs: &[&Input], model_name: &str) -> String {
        let Some(first) = inputs.first() else {
            return model_name.to_owned();
        };
        let mut name = subject(first, model_name);
        let titles: HashSet<&str> = inputs.iter().map(|input| input.title()).collect();
        let (others, is_prompt) = (titles.len() - 1, is_prompt(first));
        if is_prompt && others > 0 {
            name += &format!(" and {}", counted(others, "other"));
        }
        let mut found = differences(inputs.iter().copied());
        slowest_first(&mut found, inputs);
        let axes = found.iter().map(|difference| &*difference.parameter);
        // Seeds are ignored, because each item has its own unless the user fixes it.
        let axes = axes.filter(|axis| *axis != seed::NAME && !(is_prompt && is_title(first, axis)));
        let axes: Vec<&str> = axes.collect();
        if is_prompt && others > 0 && !is_every_combination(inputs, &axes, titles.len()) {
            return name;
        }
        match axes.len() {
            0 => name,
            1..=MAX_AXES => format!("{name} × {}", axes.join(" × ")),
            count => format!("{name} × {}", counted(count, "parameter")),
        }
    }

    /// Recomputes a name that counts other prompts, after some items were not sent. `left`: the inputs of the remaining
    /// items.
    pub fn update_name(&mut self, left: &[&Input]) {
        if counts_others(&self.name) && !left.is_empty() {
            self.name = Self::first_name(left, &self.model_name);
        }
    }

    /// Returns a name such as `4 variations of a lake at dawn`.
    pub fn name_of_variations(input: &Input, model_name: &str, count: usize) -> String {
        let variations = counted(count, "variation");
        format!("{variations} of {}", subject(input, model_name))
    }
}

/// Returns a label with the number of a batch's tasks that a search has found: `12 of 24 tasks`, or `24 tasks` for all.
pub fn found_label(found: usize, size: usize) -> String {
    match found < size {
        true => format!("{found} of {}", counted(size, "task")),
        false => counted(found, "task"),
    }
}

fn subject(input: &Input, model_name: &str) -> String {
    match input.title() {
        title if is_prompt(input) => excerpt(title, LONGEST),
        _ => model_name.to_owned(),
    }
}

/// Whether there are enough inputs for each prompt with every combination of these parameters' values.
fn is_every_combination(inputs: &[&Input], axes: &[&str], prompts: usize) -> bool {
    let values = |axis: &&str| {
        let values = inputs.iter().map(|input| value(input, axis));
        values.collect::<HashSet<_>>().len()
    };
    let count = |count: usize, axis| count.saturating_mul(values(axis));
    axes.iter().fold(prompts, count) <= inputs.len()
}

/// Whether the input's title is a prompt, and not the value of another parameter: either the parameter's name says so,
/// or the title has several words.
fn is_prompt(input: &Input) -> bool {
    let is_named = |name: &str| name.contains("prompt") || name.contains("text");
    // Not all scripts have spaces between words.
    let is_of_words = |c: char| c.is_whitespace() || !c.is_ascii();
    input.title_name().is_some_and(is_named) || input.title().contains(is_of_words)
}

/// Returns the differences among the tasks, without those that the name already mentions, such as prompts that it
/// counts.
pub fn unnamed_differences(name: &str, tasks: &[&Task]) -> Vec<Difference> {
    let mut found = chosen_differences(tasks);
    slowest_first(
        &mut found,
        &tasks.iter().map(|it| &it.input).collect::<Vec<_>>(),
    );
    if let Some(first) = tasks.first()
        && counts_others(name)
    {
        found.retain(|difference| !is_title(&first.input, &difference.parameter));
    }
    found
}

/// Whether [`unnamed_differences`] finds a difference between these two tasks of a batch.
pub fn has_unnamed_differences(name: &str, first: &Task, other: &Task) -> bool {
    let is_counted = counts_others(name);
    let has_chosen = first.seed_chosen || other.seed_chosen;
    let (first, other) = (&first.input, &other.input);
    let names = first.values().keys().chain(other.values().keys());
    let mut differing = names.filter(|name| {
        first.values().get(*name) != other.values().get(*name)
            && value(first, name) != value(other, name)
    });
    differing.any(|parameter| {
        (has_chosen || parameter != seed::NAME) && !(is_counted && is_title(first, parameter))
    })
}

/// Whether this parameter gives the input its title.
fn is_title(input: &Input, parameter: &str) -> bool {
    let text = input.values().get(parameter).and_then(Value::as_str);
    text.is_some_and(|text| !text.is_empty() && text.trim() == input.title())
}

/// Whether the name counts other prompts. False for most names given by users.
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

    fn input(values: &Value) -> Input {
        let model = json!({"category": "image", "subcategory": "a"});
        serde_json::from_value(json!({"model": model, "values": values})).unwrap()
    }

    fn named(values: &[Value]) -> String {
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

    /// Guards against a batch that has the same name as its first task.
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
    fn a_sweep_is_named_after_its_axes() {
        let lake = |time: &str, water: &str| json!({"prompt": "a lake", "seed": 1, "time": time, "water": water});
        assert_eq!(
            named(&[
                lake("dawn", "still"),
                lake("dawn", "none"),
                lake("noon", "still")
            ]),
            "a lake × time × water"
        );
        // The axes are in the order of the sweep.
        assert_eq!(
            named(&[
                lake("dawn", "still"),
                lake("noon", "still"),
                lake("dawn", "none")
            ]),
            "a lake × water × time"
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
            "a and 1 other",
            "these may be rows of a table"
        );
    }

    /// Guards against a name that lists every column of a table as an axis.
    #[test]
    fn rows_of_a_table_are_not_a_sweep() {
        let row = |n: u32| json!({"prompt": format!("a view {n}"), "layers": n % 4, "mist": n});
        let rows: Vec<Value> = (1..=5).map(row).collect();
        assert_eq!(named(&rows), "a view 1 and 4 others");
        let of = |prompt: &str, layers: u32| json!({"prompt": prompt, "layers": layers});
        let all = [of("a", 1), of("a", 2), of("b", 1), of("b", 2)];
        assert_eq!(named(&all), "a and 1 other × layers");
        assert_eq!(named(&all[..3]), "a and 1 other");
    }

    /// Guards against a name that starts with the value of a setting.
    #[test]
    fn a_batch_without_prompts_is_named_after_its_model() {
        let block = |shape: &str, grain: u64| json!({"shape": shape, "grain": grain});
        let blocks = [block("tall", 4), block("tall", 8), block("wide", 4)];
        assert_eq!(named(&blocks), "Strata × shape × grain");
        assert_eq!(named(&blocks[..2]), "Strata × grain");
        let words = |words: &str| json!({"caption": words});
        assert_eq!(
            named(&[words("a lake"), words("sea")]),
            "a lake and 1 other"
        );
    }

    #[test]
    fn variations_are_counted_and_named_after_their_prompt() {
        let name = |values: Value| Batch::name_of_variations(&input(&values), "Strata", 4);
        assert_eq!(
            name(json!({"prompt": "a lake", "seed": 1})),
            "4 variations of a lake"
        );
        assert_eq!(name(json!({"seed": 1})), "4 variations of Strata");
    }

    /// The list reserves a line for the differences only if there are some.
    #[test]
    fn differences_besides_the_name_are_detected() {
        let task = |values: Value, seed_chosen: bool| {
            let mut task = crate::batch::tests::task("a", 0, 0, json!({"state": "queued"}));
            (task.input, task.seed_chosen) = (input(&values), seed_chosen);
            task
        };
        let sea = |mist: Value, seed: u64| json!({"prompt": "sea", "mist": mist, "seed": seed});
        let first = task(sea(json!(1), 1), false);
        for (other, name, is_expected) in [
            (task(sea(json!(1), 1), false), "sea", false),
            (task(sea(json!(1), 2), false), "sea", false),
            (task(sea(json!(1), 2), true), "sea", true),
            (task(sea(json!("1"), 2), false), "sea", false),
            (task(sea(json!(2), 2), false), "sea × mist", true),
            (
                task(json!({"prompt": "sea", "seed": 1}), false),
                "sea",
                true,
            ),
            (
                task(json!({"prompt": "moor", "mist": 1}), false),
                "sea and 1 other",
                false,
            ),
            (
                task(json!({"prompt": "moor", "mist": 1}), false),
                "my name",
                true,
            ),
        ] {
            assert_eq!(
                has_unnamed_differences(name, &first, &other),
                is_expected,
                "{name}"
            );
            let found = unnamed_differences(name, &[&first, &other]);
            assert_eq!(!found.is_empty(), is_expected, "{name}: {found:?}");
        }
    }

    /// Guards against a batch of one item whose name counts items that another tab has sent.
    #[test]
    fn a_name_that_counts_missing_items_is_updated() {
        let mut batch = crate::batch::tests::batch(3);
        let left = [input(&json!({"prompt": "blue"}))];
        let left: Vec<&Input> = left.iter().collect();
        batch.name = "red and 2 others".into();
        assert!(batch.leave_out([0, 2]));
        batch.update_name(&left);
        assert_eq!(batch.name, "blue");
        for name in ["my name", "red and 1 other"] {
            batch.name = name.into();
            batch.update_name(&[]);
            assert_eq!(batch.name, name);
        }
        batch.name = "my name".into();
        batch.update_name(&left);
        assert_eq!(batch.name, "my name");
    }

    #[test]
    fn the_label_counts_the_found_tasks() {
        assert_eq!(found_label(12, 24), "12 of 24 tasks");
        assert_eq!(found_label(24, 24), "24 tasks");
        assert_eq!(found_label(1, 24), "1 of 24 tasks");
        assert_eq!(found_label(5, 4), "5 tasks");
    }

    #[test]
    fn names_that_count_others_are_recognized() {
        assert!(counts_others("red and 1 other"));
        assert!(counts_others("red and blue and 2 others × panes"));
        assert!(!counts_others("red and blue"));
        assert!(!counts_others("salt and 3 peppers"));
    }
}

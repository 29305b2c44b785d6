//! Names a batch until a person gives it another name.

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
/// More axes are counted.
const MAX_AXES: usize = 3;

impl Batch {
    /// Names a batch by its first prompt, or by its model if it has none, and by the rest: `a rose window in red and
    /// 3 others`, or, for a sweep, `a lake at dawn × time_of_day × water`. Rows of a table that differ in their prompts and
    /// in more are no sweep.
    pub fn first_name(inputs: &[&Input], model_name: &str) -> String {
        let Some(first) = inputs.first() else {
            return model_name.to_owned();
        };
        let mut name = called(first, model_name);
        let titles: HashSet<&str> = inputs.iter().map(|input| input.title()).collect();
        let (others, is_prompt) = (titles.len() - 1, is_prompt(first));
        if is_prompt && others > 0 {
            name += &format!(" and {}", counted(others, "other"));
        }
        let mut found = differences(inputs.iter().copied());
        slowest_first(&mut found, inputs);
        let axes = found.iter().map(|difference| &*difference.parameter);
        // Each item has a seed of its own unless a person holds it.
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

    /// After what is left of it, where its name counts what was not sent with it after all.
    pub fn name_anew(&mut self, left: &[&Input]) {
        if counts_others(&self.name) && !left.is_empty() {
            self.name = Self::first_name(left, &self.model_name);
        }
    }

    /// `4 variations of a lake at dawn`
    pub fn name_of_variations(input: &Input, model_name: &str, count: usize) -> String {
        let variations = counted(count, "variation");
        format!("{variations} of {}", called(input, model_name))
    }
}

/// How many of a batch's tasks were found: `12 of 24 tasks`, or `24 tasks` where that is all.
pub fn found_label(found: usize, size: usize) -> String {
    match found < size {
        true => format!("{found} of {}", counted(size, "task")),
        false => counted(found, "task"),
    }
}

fn called(input: &Input, model_name: &str) -> String {
    match input.title() {
        title if is_prompt(input) => excerpt(title, LONGEST),
        _ => model_name.to_owned(),
    }
}

/// Whether so many prompts can stand with every combination of these parameters' values. A seed may differ in addition
/// to them.
fn is_every_combination(inputs: &[&Input], axes: &[&str], prompts: usize) -> bool {
    let values = |axis: &&str| {
        let values = inputs.iter().map(|input| value(input, axis));
        values.collect::<HashSet<_>>().len()
    };
    let count = |count: usize, axis| count.saturating_mul(values(axis));
    axes.iter().fold(prompts, count) <= inputs.len()
}

/// Its title says what it is of. A model without a prompt has settings alone, of which the first would be taken for one:
/// they are words of its own.
fn is_prompt(input: &Input) -> bool {
    let is_named = |name: &str| name.contains("prompt") || name.contains("text");
    // Not all scripts have spaces between words.
    let is_of_words = |c: char| c.is_whitespace() || !c.is_ascii();
    input.title_name().is_some_and(is_named) || input.title().contains(is_of_words)
}

/// Gives the inputs that differ among the tasks in addition to those that the name mentions: prompts that are counted
/// there are not listed once more.
pub fn said_beside(name: &str, tasks: &[&Task]) -> Vec<Difference> {
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

/// Whether [`said_beside`] has anything to tell these two of a batch apart.
pub fn is_said_beside(name: &str, first: &Task, other: &Task) -> bool {
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
                lake("dawn", "none"),
                lake("noon", "still")
            ]),
            "a lake × time × water"
        );
        // In the order in which a person gave them.
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
            "which may as well be rows of a table"
        );
    }

    /// Guards against a table of 27 rows that is named as a sweep of 27 values.
    #[test]
    fn rows_of_a_table_are_no_sweep() {
        let row = |n: u32| json!({"prompt": format!("a view {n}"), "layers": n % 4, "mist": n});
        let rows: Vec<Value> = (1..=5).map(row).collect();
        assert_eq!(named(&rows), "a view 1 and 4 others");
        let of = |prompt: &str, layers: u32| json!({"prompt": prompt, "layers": layers});
        let all = [of("a", 1), of("a", 2), of("b", 1), of("b", 2)];
        assert_eq!(named(&all), "a and 1 other × layers");
        assert_eq!(named(&all[..3]), "a and 1 other");
    }

    /// Guards against a setting that stands in a name as if it were a prompt.
    #[test]
    fn a_batch_without_prompts_is_called_by_its_model() {
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
    fn variations_are_counted_and_called_by_what_they_are_of() {
        let name = |values: Value| Batch::name_of_variations(&input(&values), "Strata", 4);
        assert_eq!(
            name(json!({"prompt": "a lake", "seed": 1})),
            "4 variations of a lake"
        );
        assert_eq!(name(json!({"seed": 1})), "4 variations of Strata");
    }

    /// Guards against a row that is as high as if something were said in it, or cut off.
    #[test]
    fn whether_anything_is_said_beside_a_name_is_known() {
        let task = |values: Value, seed_chosen: bool| {
            let mut task = crate::batch::tests::task("a", 0, 0, json!({"state": "queued"}));
            (task.input, task.seed_chosen) = (input(&values), seed_chosen);
            task
        };
        let sea = |mist: Value, seed: u64| json!({"prompt": "sea", "mist": mist, "seed": seed});
        let first = task(sea(json!(1), 1), false);
        for (other, name, is_said) in [
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
            assert_eq!(is_said_beside(name, &first, &other), is_said, "{name}");
            let said = said_beside(name, &[&first, &other]);
            assert_eq!(!said.is_empty(), is_said, "{name}: {said:?}");
        }
    }

    /// Guards against a batch of one that is called after the twelve that were sent elsewhere.
    #[test]
    fn a_name_that_counts_what_is_not_there_is_made_anew() {
        let mut batch = crate::batch::tests::batch(3);
        let left = [input(&json!({"prompt": "blue"}))];
        let left: Vec<&Input> = left.iter().collect();
        batch.name = "red and 2 others".into();
        assert!(batch.leave_out([0, 2]));
        batch.name_anew(&left);
        assert_eq!(batch.name, "blue");
        for name in ["my name", "red and 1 other"] {
            batch.name = name.into();
            batch.name_anew(&[]);
            assert_eq!(batch.name, name);
        }
        batch.name = "my name".into();
        batch.name_anew(&left);
        assert_eq!(batch.name, "my name");
    }

    #[test]
    fn how_many_of_a_batch_were_found_is_said() {
        assert_eq!(found_label(12, 24), "12 of 24 tasks");
        assert_eq!(found_label(24, 24), "24 tasks");
        assert_eq!(found_label(1, 24), "1 of 24 tasks");
        assert_eq!(found_label(5, 4), "5 tasks");
    }

    #[test]
    fn what_a_name_counts_is_known() {
        assert!(counts_others("red and 1 other"));
        assert!(counts_others("red and blue and 2 others × panes"));
        assert!(!counts_others("red and blue"));
        assert!(!counts_others("salt and 3 peppers"));
    }
}

//! What tells the items of a batch apart.

use std::collections::{HashMap, HashSet};

use atelier_contract::Input;

use crate::excerpt::excerpt;
use crate::{BatchKey, Task, TaskKey, control, seed};

/// As many values are shown side by side; of more, numbers have their bounds and texts their beginning.
const FEW: usize = 3;
const FIRST: usize = 2;
/// Characters that are shown of a value: prompts can be books.
const LONGEST: usize = 28;

/// A parameter that is not the same in all items.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    pub parameter: String,
    /// Each value once, in the order in which they come.
    pub values: Vec<String>,
}

impl Difference {
    /// `mist: 0, 0.5, 1`; where they are more, `mist: 0 to 1, 5 values` or `prompt: a lake, a dune, +12`
    pub fn user_message(&self) -> String {
        let (parameter, count) = (&self.parameter, self.values.len());
        if count > FEW
            && let Some((least, most)) = self.bounds()
        {
            return format!("{parameter}: {least} to {most}, {count} values");
        }
        let shown = if count > FEW { FIRST } else { count };
        let mut parts: Vec<String> = self.values[..shown].iter().map(|it| said(it)).collect();
        if count > shown {
            parts.push(format!("+{}", count - shown));
        }
        // Values that have commas themselves would seem to be more.
        let between = if parts.iter().any(|it| it.contains(", ")) {
            " · "
        } else {
            ", "
        };
        format!("{parameter}: {}", parts.join(between))
    }

    /// The least and the most, where all are numbers.
    fn bounds(&self) -> Option<(&str, &str)> {
        let number = |text: &String| text.parse().ok().filter(|it: &f64| it.is_finite());
        let numbers = self.values.iter().map(|text| Some((number(text)?, text)));
        let numbers: Vec<(f64, &String)> = numbers.collect::<Option<_>>()?;
        let size = |a: &&(f64, &String), b: &&(f64, &String)| a.0.total_cmp(&b.0);
        let (least, most) = (numbers.iter().min_by(size)?, numbers.iter().max_by(size)?);
        Some((least.1, most.1))
    }
}

/// The same, with its parameter where it would say nothing alone.
fn said_alone(parameter: &str, value: &str) -> String {
    match value {
        "" | "true" | "false" => format!("{parameter}: {}", said(value)),
        number if number.parse::<f64>().is_ok() => format!("{parameter} {number}"),
        value => said(value),
    }
}

/// A value as a person is told of it.
fn said(value: &str) -> String {
    match value {
        "" => "not set".to_owned(),
        value => excerpt(value, LONGEST),
    }
}

/// What tells the tasks of a batch apart for a person: without the seed where each has drawn its own, which is
/// not what anybody compares.
pub fn chosen_differences(tasks: &[&Task]) -> Vec<Difference> {
    let mut found = differences(tasks.iter().map(|task| &task.input));
    if tasks.iter().all(|task| !task.seed_chosen) {
        found.retain(|difference| difference.parameter != seed::NAME);
    }
    found
}

/// What each item of a batch is called among the others: by its prompt, or, where all have the same, by the
/// values that tell it apart. Empty for one that is not there any more.
pub fn item_names<'a>(items: impl IntoIterator<Item = Option<&'a Task>>) -> Vec<String> {
    let items: Vec<Option<&Task>> = items.into_iter().collect();
    let known = || items.iter().flatten();
    let by_prompt = || {
        let title = |item: &Option<&Task>| item.map_or(String::new(), |it| it.input.title().into());
        items.iter().map(title).collect()
    };
    let first = known().next().map(|task| task.input.title());
    if known().any(|task| Some(task.input.title()) != first) {
        return by_prompt();
    }
    let mut names: Vec<String> = differences(known().map(|task| &task.input))
        .into_iter()
        .map(|difference| difference.parameter)
        .collect();
    // Twenty digits tell a person nothing.
    names.retain(|name| name != seed::NAME);
    if names.is_empty() {
        return by_prompt();
    }
    let values = |task: &Task| {
        let value = |name: &String| {
            task.input
                .values()
                .get(name)
                .map_or_else(String::new, control::text)
        };
        let values = names.iter().map(|name| said_alone(name, &value(name)));
        values.collect::<Vec<_>>().join(" · ")
    };
    items
        .iter()
        .map(|item| item.map_or(String::new(), values))
        .collect()
}

/// What tells tasks apart that share their prompt with others of their batch: the values that differ, or
/// their number where none does. All other tasks are known by their prompts.
pub fn names_among_siblings<'a>(
    tasks: impl IntoIterator<Item = &'a Task>,
) -> HashMap<TaskKey, String> {
    let mut siblings: HashMap<(&BatchKey, &str), Vec<&Task>> = HashMap::new();
    for task in tasks {
        if let Some(place) = &task.batch {
            let prompt = (&place.batch, task.input.title());
            siblings.entry(prompt).or_default().push(task);
        }
    }
    let several = siblings.values().filter(|tasks| tasks.len() > 1);
    several.flat_map(|tasks| sibling_names(tasks)).collect()
}

fn sibling_names(tasks: &[&Task]) -> Vec<(TaskKey, String)> {
    let names = item_names(tasks.iter().copied().map(Some));
    let mut counts: HashMap<&str, usize> = HashMap::new();
    for name in &names {
        *counts.entry(name).or_default() += 1;
    }
    let called = |(task, name): (&&Task, &String)| {
        let number = task.batch.as_ref().map_or(0, |place| place.index + 1);
        let name = match name.as_str() {
            name if counts[name] == 1 => name.to_owned(),
            name if name == task.input.title() => format!("Item {number}"),
            name => format!("{name} · Item {number}"),
        };
        (task.key.clone(), name)
    };
    tasks.iter().zip(&names).map(called).collect()
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
    use crate::BatchPlace;
    use serde_json::{Value, json};

    fn shown(values: &[Value]) -> Vec<String> {
        let input = |values: &Value| {
            let model = json!({"category": "image", "subcategory": "a"});
            serde_json::from_value(json!({"model": model, "values": values})).unwrap()
        };
        let inputs: Vec<Input> = values.iter().map(input).collect();
        let differences = differences(&inputs);
        differences.iter().map(Difference::user_message).collect()
    }

    /// Guards against a sweep all of whose items are called by the prompt that they share.
    #[test]
    fn items_are_called_by_what_tells_them_apart() {
        let task = |values: Value| {
            let model = json!({"category": "image", "subcategory": "a"});
            let input: Input =
                serde_json::from_value(json!({"model": model, "values": values})).unwrap();
            Task {
                input,
                ..crate::engine::tests::task("k", 0)
            }
        };
        let called = |values: &[Value]| {
            let tasks: Vec<Task> = values.iter().cloned().map(task).collect();
            item_names(tasks.iter().map(Some).chain([None]))
        };
        assert_eq!(
            called(&[
                json!({"prompt": "sea", "seed": 1, "mist": 0, "time": "dawn"}),
                json!({"prompt": "sea", "seed": 2, "mist": 0.5, "time": "day"})
            ]),
            ["mist 0 · dawn", "mist 0.5 · day", ""]
        );
        // Guards against "1:1 · true", where nobody knows what is true.
        assert_eq!(
            called(&[
                json!({"prompt": "sea", "aspect_ratio": "1:1", "loop": true}),
                json!({"prompt": "sea", "aspect_ratio": "3:2"})
            ]),
            ["1:1 · loop: true", "3:2 · loop: not set", ""]
        );
        let prompts = [
            json!({"prompt": "sea", "mist": 0}),
            json!({"prompt": "moor", "mist": 1}),
        ];
        assert_eq!(called(&prompts), ["sea", "moor", ""]);
        let seeds = [
            json!({"prompt": "sea", "seed": 1}),
            json!({"prompt": "sea", "seed": 2}),
        ];
        assert_eq!(called(&seeds), ["sea", "sea", ""]);
        assert_eq!(called(&[json!({"prompt": "sea"})]), ["sea", ""]);
    }

    /// Guards against a list of the tasks of a sweep in which all are called the same.
    #[test]
    fn tasks_that_share_a_prompt_are_called_by_what_tells_them_apart() {
        let called = |values: &[(&str, Value)]| {
            let task = |(index, (batch, values)): (usize, &(&str, Value))| {
                let model = json!({"category": "image", "subcategory": "a"});
                let mut task = crate::engine::tests::task(&format!("t{index}"), 0);
                task.input =
                    serde_json::from_value(json!({"model": model, "values": values})).unwrap();
                task.batch = Some(BatchPlace {
                    batch: BatchKey((*batch).into()),
                    index,
                });
                task
            };
            let tasks: Vec<Task> = values.iter().enumerate().map(task).collect();
            let names = names_among_siblings(&tasks);
            let name = |task: &Task| names.get(&task.key).cloned().unwrap_or_default();
            tasks.iter().map(name).collect::<Vec<_>>()
        };
        let sea = |mist: u32, seed: u32| json!({"prompt": "sea", "seed": seed, "mist": mist});
        let sweep = [("a", sea(0, 1)), ("a", sea(5, 1))];
        assert_eq!(called(&sweep), ["mist 0", "mist 5"]);
        // Each twice, with other seeds.
        let copies = [("a", sea(0, 1)), ("a", sea(0, 2)), ("a", sea(5, 1))];
        assert_eq!(
            called(&copies),
            ["mist 0 · Item 1", "mist 0 · Item 2", "mist 5"]
        );
        let seeds = [("a", sea(0, 1)), ("a", sea(0, 2))];
        assert_eq!(called(&seeds), ["Item 1", "Item 2"]);
        // Of another batch, and one that is known by its prompt.
        let others = [("a", sea(0, 1)), ("b", sea(5, 1))];
        assert_eq!(called(&others), ["", ""]);
        let lines = [
            ("a", json!({"prompt": "sea"})),
            ("a", json!({"prompt": "moor"})),
        ];
        assert_eq!(called(&lines), ["", ""]);
        // An axis of prompts and another one.
        let moor = |mist: u32| json!({"prompt": "moor", "seed": 1, "mist": mist});
        let axes = [
            ("a", sea(0, 1)),
            ("a", moor(0)),
            ("a", sea(5, 1)),
            ("a", moor(5)),
        ];
        assert_eq!(called(&axes), ["mist 0", "mist 0", "mist 5", "mist 5"]);
    }

    #[test]
    fn only_what_differs_is_said_and_shortly() {
        let item = |mist: Value, prompt: &str| json!({"prompt": prompt, "seed": 7, "mist": mist});
        assert_eq!(
            shown(&[
                item(json!(0), "sea"),
                item(json!(0.5), "sea"),
                item(json!(0), "sea")
            ]),
            ["mist: 0, 0.5"]
        );
        assert_eq!(
            shown(&[
                item(json!(1), "an alpine lake at dawn, teal and rose"),
                item(json!(1), "sea")
            ]),
            ["prompt: an alpine lake at dawn…, sea"]
        );
        let many: Vec<Value> = [3, 10, 0, 7, 9].map(|n| item(json!(n), "sea")).into();
        assert_eq!(shown(&many), ["mist: 0 to 10, 5 values"]);
        let texts: Vec<Value> = ('a'..='n')
            .map(|c| item(json!(0), &c.to_string()))
            .collect();
        assert_eq!(shown(&texts), ["prompt: a, b, +12"]);
        assert_eq!(
            shown(&[item(json!(0), "a dune, red"), item(json!(0), "moor")]),
            ["prompt: a dune, red · moor"]
        );
        assert_eq!(shown(&[json!({"a": 1}), json!({})]), ["a: 1, not set"]);
        assert!(shown(&[json!({"a": 1}), json!({"a": 1})]).is_empty());
        assert!(shown(&[]).is_empty());
    }
    #[test]
    fn a_seed_that_each_has_drawn_is_not_told() {
        let tasks = |chosen: bool| {
            [1, 2].map(|seed| {
                let mut task = crate::batch::tests::task("sea", 0, 0, json!({"state": "queued"}));
                task.seed_chosen = chosen;
                let model = json!({"category": "image", "subcategory": "a"});
                let input = json!({"model": model, "values": {"mist": seed, "seed": seed}});
                task.input = serde_json::from_value(input).unwrap();
                task
            })
        };
        let said = |chosen: bool| {
            let found = chosen_differences(&tasks(chosen).each_ref());
            found
                .iter()
                .map(Difference::user_message)
                .collect::<Vec<_>>()
        };
        assert_eq!(said(false), ["mist: 1, 2"]);
        assert_eq!(said(true), ["mist: 1, 2", "seed: 1, 2"]);
    }
}

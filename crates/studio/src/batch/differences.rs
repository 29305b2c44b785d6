//! Finds the inputs that differ among the items of a batch.

use std::collections::{HashMap, HashSet};

use atelier_contract::Input;
use atelier_engine::{BatchKey, Task, TaskKey};

use crate::form::{control, seed};
use crate::text::diff::distinguishing_parts;
use crate::text::excerpt::excerpt;

/// The maximum number of values to list. If there are more, numbers are shown as a range, and only the first [`FIRST`]
/// texts are shown.
const FEW: usize = 3;
/// The number of texts to show if there are more than [`FEW`].
const FIRST: usize = 2;
/// The maximum length of a displayed value, because prompts can be very long.
const LONGEST: usize = 28;

/// A parameter that differs among the items.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    pub parameter: String,
    /// The distinct values, in order.
    pub values: Vec<String>,
}

impl Difference {
    /// Returns the parameter with its values, such as `mist: 0, 0.5, 1`. Many values are shortened, as in `prompt: a
    /// lake, a dune, +12` or `mist: 0 to 1, 5 values`.
    pub fn user_message(&self) -> String {
        let (parameter, count) = (&self.parameter, self.values.len());
        if count > FEW
            && let Some((least, most)) = self.bounds()
        {
            return format!("{parameter}: {least} to {most}, {count} values");
        }
        let shown = if count > FEW { FIRST } else { count };
        let values = distinguishing_parts(&self.values);
        let mut parts: Vec<String> = values[..shown].iter().map(|it| short_value(it)).collect();
        if count > shown {
            parts.push(format!("+{}", count - shown));
        }
        // Values that contain commas are separated by dots.
        let between = if parts.iter().any(|it| it.contains(", ")) {
            " · "
        } else {
            ", "
        };
        format!("{parameter}: {}", parts.join(between))
    }

    /// Returns the minimum and maximum, if all values are numbers.
    fn bounds(&self) -> Option<(&str, &str)> {
        let number = |text: &String| text.parse().ok().filter(|it: &f64| it.is_finite());
        let numbers = self.values.iter().map(|text| Some((number(text)?, text)));
        let numbers: Vec<(f64, &String)> = numbers.collect::<Option<_>>()?;
        let size = |a: &&(f64, &String), b: &&(f64, &String)| a.0.total_cmp(&b.0);
        let (least, most) = (numbers.iter().min_by(size)?, numbers.iter().max_by(size)?);
        Some((least.1, most.1))
    }
}

/// Formats a value, with its parameter if it is meaningless alone.
pub fn labelled_value(parameter: &str, value: &str) -> String {
    match value {
        "" | "true" | "false" => format!("{parameter}: {}", short_value(value)),
        number if number.parse::<f64>().is_ok() => format!("{parameter} {number}"),
        value => short_value(value),
    }
}

/// Formats a value for a line with several values.
pub(super) fn short_value(value: &str) -> String {
    excerpt(shown(value), LONGEST)
}

/// Returns the value, or `not set` if it is empty.
pub fn shown(value: &str) -> &str {
    match value {
        "" => "not set",
        value => value,
    }
}

/// Returns the value of a parameter as text; empty if it has no value.
pub(super) fn value(input: &Input, parameter: &str) -> String {
    let value = input.values().get(parameter);
    value.map_or_else(String::new, control::text)
}

/// Returns the differences among the tasks of a batch, without seeds that were drawn for each task.
pub fn chosen_differences(tasks: &[&Task]) -> Vec<Difference> {
    let mut found = differences(tasks.iter().map(|task| &task.input));
    if tasks.iter().all(|task| !task.seed_chosen) {
        found.retain(|difference| difference.parameter != seed::NAME);
    }
    found
}

/// Sorts differences by how often their parameter changes between consecutive inputs, the least often first. This is
/// the order of the axes of a sweep.
pub fn slowest_first(found: &mut [Difference], inputs: &[&Input]) {
    found.sort_by_cached_key(|difference| {
        let values = inputs.iter().map(|it| value(it, &difference.parameter));
        let values: Vec<String> = values.collect();
        values.windows(2).filter(|pair| pair[0] != pair[1]).count()
    });
}

/// Returns a name for each item of a batch: its prompt, if all prompts differ. Otherwise, the values that differ (for
/// variations, their seeds), followed by the prompt unless all items share it. Removed items have an empty name.
pub fn item_names<'a>(items: impl IntoIterator<Item = Option<&'a Task>>) -> Vec<String> {
    let items: Vec<Option<&Task>> = items.into_iter().collect();
    names(&items, &titles(&items), true)
}

/// Like [`item_names`], but with only the distinguishing parts of prompts, for limited space.
pub fn item_captions<'a>(items: impl IntoIterator<Item = Option<&'a Task>>) -> Vec<String> {
    let items: Vec<Option<&Task>> = items.into_iter().collect();
    names(&items, &distinguishing_parts(&titles(&items)), true)
}

fn titles(items: &[Option<&Task>]) -> Vec<String> {
    let title = |item: &Option<&Task>| item.map_or(String::new(), |it| it.input.title().into());
    items.iter().map(title).collect()
}

fn differ_in_seed(tasks: &[&Task]) -> bool {
    let found = differences(tasks.iter().map(|task| &task.input));
    found.iter().any(|it| it.parameter == seed::NAME)
}

/// Returns the names of the items. `titles`: the texts for their prompts. `use_seeds`: whether to use drawn seeds if
/// the items have no other difference.
fn names(items: &[Option<&Task>], titles: &[String], use_seeds: bool) -> Vec<String> {
    let tasks: Vec<&Task> = items.iter().flatten().copied().collect();
    let prompts: HashSet<&str> = tasks.iter().map(|task| task.input.title()).collect();
    if tasks.len() > 1 && prompts.len() == tasks.len() {
        return titles.to_vec();
    }
    let mut names: Vec<String> = chosen_differences(&tasks)
        .into_iter()
        .map(|difference| difference.parameter)
        .collect();
    let is_title = |name: &str| {
        let mut titles = tasks.iter().map(|task| task.input.title_name());
        titles.all(|title| title == Some(name))
    };
    names.retain(|name| !is_title(name));
    // Seeds are last, because they mean little to the user.
    names.sort_by_key(|name| name == seed::NAME);
    // Variations differ only in their seeds.
    if names.is_empty() && use_seeds && prompts.len() == 1 && differ_in_seed(&tasks) {
        names.push(seed::NAME.to_owned());
    }
    if names.is_empty() {
        return titles.to_vec();
    }
    let values = |task: &Task, title: &String| {
        let value = |name: &String| labelled_value(name, &value(&task.input, name));
        let values = names.iter().map(value);
        // The prompt is last, because it is the longest text and its end is truncated.
        let prompt = (prompts.len() > 1).then(|| title.clone());
        values.chain(prompt).collect::<Vec<_>>().join(" · ")
    };
    items
        .iter()
        .zip(titles)
        .map(|(item, title)| item.map_or(String::new(), |task| values(task, title)))
        .collect()
}

/// Returns names for tasks whose prompts don't distinguish them within their batch. Tasks with the same prompt are
/// named by the values that differ, or else by their numbers. Tasks whose prompts have the same beginning are named by
/// the parts that differ. Other tasks have no entry.
pub fn distinguishing_names<'a>(
    tasks: impl IntoIterator<Item = &'a Task>,
) -> HashMap<TaskKey, String> {
    let mut batches: HashMap<&BatchKey, Vec<&Task>> = HashMap::new();
    for task in tasks {
        if let Some(place) = &task.batch {
            batches.entry(&place.batch).or_default().push(task);
        }
    }
    batches.values().flat_map(|tasks| names_in(tasks)).collect()
}

/// Returns the names for the tasks of one batch.
fn names_in(tasks: &[&Task]) -> HashMap<TaskKey, String> {
    let mut siblings: HashMap<&str, Vec<&Task>> = HashMap::new();
    for task in tasks {
        siblings.entry(task.input.title()).or_default().push(task);
    }
    let several = siblings.values().filter(|tasks| tasks.len() > 1);
    let mut names: HashMap<TaskKey, String> =
        several.flat_map(|tasks| sibling_names(tasks)).collect();
    let titles: Vec<String> = tasks.iter().map(|it| it.input.title().to_owned()).collect();
    for (task, part) in tasks.iter().zip(distinguishing_parts(&titles)) {
        if part == task.input.title() {
            continue;
        }
        // The distinguishing values are first, because the part of the prompt is long.
        let name = match names.remove(&task.key) {
            Some(name) => format!("{name} · {part}"),
            None => part,
        };
        names.insert(task.key.clone(), name);
    }
    names
}

fn sibling_names(tasks: &[&Task]) -> Vec<(TaskKey, String)> {
    let items: Vec<Option<&Task>> = tasks.iter().copied().map(Some).collect();
    let names = names(&items, &titles(&items), false);
    let mut counts: HashMap<&str, usize> = HashMap::new();
    for name in &names {
        *counts.entry(name).or_default() += 1;
    }
    let named = |(task, name): (&&Task, &String)| {
        let number = task.batch.as_ref().map_or(0, |place| place.index + 1);
        let name = match name.as_str() {
            name if counts[name] == 1 => name.to_owned(),
            name if name == task.input.title() => format!("Item {number}"),
            name => format!("{name} · Item {number}"),
        };
        (task.key.clone(), name)
    };
    tasks.iter().zip(&names).map(named).collect()
}

/// Returns the parameters in which the inputs differ, in the order in which they are sent. A missing value counts as a
/// value.
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
            let value = value(input, name);
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
mod tests;

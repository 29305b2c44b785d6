//! Finds the inputs that differ among the items of a batch.

use std::collections::{HashMap, HashSet};

use atelier_contract::Input;
use atelier_engine::{BatchKey, Task, TaskKey};

use crate::form::{control, seed};
use crate::text::diff::told_apart;
use crate::text::excerpt::excerpt;

/// Up to so many values are shown side by side. If there are more, numbers are shown by their bounds and texts by
/// their beginning.
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
        let told = told_apart(&self.values);
        let mut parts: Vec<String> = told[..shown].iter().map(|it| said(it)).collect();
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
pub fn said_alone(parameter: &str, value: &str) -> String {
    match value {
        "" | "true" | "false" => format!("{parameter}: {}", said(value)),
        number if number.parse::<f64>().is_ok() => format!("{parameter} {number}"),
        value => said(value),
    }
}

/// A value as it is shown, in as few letters as a line of several has room for.
pub(super) fn said(value: &str) -> String {
    excerpt(shown(value), LONGEST)
}

/// A value as it is shown.
pub fn shown(value: &str) -> &str {
    match value {
        "" => "not set",
        value => value,
    }
}

/// What an input says of a parameter, as text; empty where it says nothing.
pub(super) fn value(input: &Input, parameter: &str) -> String {
    let value = input.values().get(parameter);
    value.map_or_else(String::new, control::text)
}

/// Gives the inputs that differ among the tasks of a batch for a person. It leaves out the seed if each task has
/// drawn its own, because these are not compared.
pub fn chosen_differences(tasks: &[&Task]) -> Vec<Difference> {
    let mut found = differences(tasks.iter().map(|task| &task.input));
    if tasks.iter().all(|task| !task.seed_chosen) {
        found.retain(|difference| difference.parameter != seed::NAME);
    }
    found
}

/// Puts first what changes least often from one of these inputs to the next: the axes of a sweep, in the order in which a
/// person gave them.
pub fn slowest_first(found: &mut [Difference], inputs: &[&Input]) {
    found.sort_by_cached_key(|difference| {
        let values = inputs.iter().map(|it| value(it, &difference.parameter));
        let values: Vec<String> = values.collect();
        values.windows(2).filter(|pair| pair[0] != pair[1]).count()
    });
}

/// A name for each item of a batch that tells it from the others: its prompt, if no two items have the same; else
/// the values in which it differs (of variations their seeds), followed by its prompt where not all have that. An item
/// that is no longer there has an empty name.
pub fn item_names<'a>(items: impl IntoIterator<Item = Option<&'a Task>>) -> Vec<String> {
    let items: Vec<Option<&Task>> = items.into_iter().collect();
    names(&items, &titles(&items), true)
}

/// The same where there is little room: of the prompts what tells them apart.
pub fn item_captions<'a>(items: impl IntoIterator<Item = Option<&'a Task>>) -> Vec<String> {
    let items: Vec<Option<&Task>> = items.into_iter().collect();
    names(&items, &told_apart(&titles(&items)), true)
}

fn titles(items: &[Option<&Task>]) -> Vec<String> {
    let title = |item: &Option<&Task>| item.map_or(String::new(), |it| it.input.title().into());
    items.iter().map(title).collect()
}

fn differ_in_seed(tasks: &[&Task]) -> bool {
    let found = differences(tasks.iter().map(|task| &task.input));
    found.iter().any(|it| it.parameter == seed::NAME)
}

/// `titles`: what stands for each item's prompt. `tells_by_seed`: a seed that each has drawn tells them apart where
/// nothing else does.
fn names(items: &[Option<&Task>], titles: &[String], tells_by_seed: bool) -> Vec<String> {
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
    // Its digits say nothing: what was varied in addition to it comes first.
    names.sort_by_key(|name| name == seed::NAME);
    // Variations differ in nothing else.
    if names.is_empty() && tells_by_seed && prompts.len() == 1 && differ_in_seed(&tasks) {
        names.push(seed::NAME.to_owned());
    }
    if names.is_empty() {
        return titles.to_vec();
    }
    let values = |task: &Task, title: &String| {
        let value = |name: &String| said_alone(name, &value(&task.input, name));
        let values = names.iter().map(value);
        // Last: it is the longest, and what is cut off.
        let prompt = (prompts.len() > 1).then(|| title.clone());
        values.chain(prompt).collect::<Vec<_>>().join(" · ")
    };
    items
        .iter()
        .zip(titles)
        .map(|(item, title)| item.map_or(String::new(), |task| values(task, title)))
        .collect()
}

/// Names the tasks that share their prompt with others of their batch, by the values that differ, or by their number
/// if none does, and those whose prompt begins as that of another does, by where it differs. All other tasks are known
/// by their prompts.
pub fn names_among_siblings<'a>(
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

/// The same within one batch.
fn names_in(tasks: &[&Task]) -> HashMap<TaskKey, String> {
    let mut siblings: HashMap<&str, Vec<&Task>> = HashMap::new();
    for task in tasks {
        siblings.entry(task.input.title()).or_default().push(task);
    }
    let several = siblings.values().filter(|tasks| tasks.len() > 1);
    let mut names: HashMap<TaskKey, String> =
        several.flat_map(|tasks| sibling_names(tasks)).collect();
    let titles: Vec<String> = tasks.iter().map(|it| it.input.title().to_owned()).collect();
    for (task, told) in tasks.iter().zip(told_apart(&titles)) {
        if told == task.input.title() {
            continue;
        }
        // First what tells few apart: the rest of a prompt is long.
        let name = match names.remove(&task.key) {
            Some(name) => format!("{name} · {told}"),
            None => told,
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

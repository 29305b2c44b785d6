//! An old input against today's schema: run again, with what has changed since said.

use atelier_contract::{Draft, Entry, Input, ModelId, Parameter, RESERVED_NAMES, Schema, check};
use atelier_engine::Task;
use serde_json::{Map, Value};

use crate::form::parameter_name::meant;
use crate::form::seed;
use crate::text::plural::{counted, listed};

/// A form filled from an earlier input.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Rerun {
    /// Every value that today's schema still has a place for, valid or not.
    pub draft: Draft,
    /// What a person must know before sending it; those to repair in the form's order, then what
    /// was left out.
    pub differences: Vec<InputChange>,
    /// The seed was drawn here for that one result, and is not in the form: it would be the same
    /// composition once more, whatever else is changed.
    pub draws_seed: bool,
}

/// One parameter of an old input that the model does not take as it was.
#[derive(Debug, Clone, PartialEq)]
pub struct InputChange {
    pub parameter: String,
    pub change: Change,
    /// The old value; none where there was none.
    pub value: Option<Value>,
    /// The parameter that a name which the model does not know is nearly the name of.
    pub meant: Option<String>,
    /// A whole sentence.
    pub message: String,
}

/// The kind of a parameter's change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// The model no longer knows the parameter: the value is in no form any more.
    Dropped,
    /// The value is not allowed any more. It stays in the form, so that nothing is lost.
    Invalid,
    /// The model now demands a value that the old input has not.
    NewlyRequired,
}

/// Says how many variations a press sends, next to the button: so many of each of `tasks`, which have `outputs`
/// together.
pub fn variations_label(count: usize, tasks: usize, outputs: usize) -> String {
    match (tasks, outputs) {
        (1, 1) => format!("× {count}"),
        (1, _) => format!("× {count} = {}", count * outputs),
        (tasks, outputs) if tasks == outputs => {
            format!("× {count} = {}", counted(count * tasks, "task"))
        }
        (tasks, outputs) => format!(
            "× {count} = {}, {}",
            counted(count * tasks, "task"),
            counted(count * outputs, "output")
        ),
    }
}

/// Fills a form with the values of an earlier input.
pub fn rerun(values: &Map<String, Value>, schema: &Schema) -> Rerun {
    let mut rerun = Rerun::default();
    for (parameter, required) in schema.parameters() {
        match values.get(&parameter.name) {
            Some(value) => rerun.take(parameter, required, value),
            None => rerun.miss(parameter, required),
        }
    }
    for (name, value) in values {
        if schema.is_secret(name) {
            rerun.differences.push(InputChange {
                parameter: name.clone(),
                change: Change::NewlyRequired,
                value: None,
                meant: None,
                message: format!("{name} is secret, and was left out: enter it."),
            });
        } else if !RESERVED_NAMES.contains(&name.as_str()) && schema.parameter(name).is_none() {
            let is_free = |other: &str| !values.contains_key(other);
            rerun.differences.push(InputChange {
                parameter: name.clone(),
                change: Change::Dropped,
                meant: meant(name, schema, is_free).map(str::to_owned),
                message: format!(
                    "This model has no {name}; {} was left out.",
                    shortened(value)
                ),
                value: Some(value.clone()),
            });
        }
    }
    rerun
}

/// Fills a form with the values of a link, which a person may have written: names that the model does not know stay, to be
/// mended there.
pub fn of_link(values: &Map<String, Value>, schema: &Schema) -> Rerun {
    let mut rerun = rerun(values, schema);
    let differences = std::mem::take(&mut rerun.differences);
    for difference in differences {
        match (difference.change, difference.value) {
            (Change::Dropped, Some(value)) => {
                rerun.draft.set(difference.parameter, Entry::Value(value));
            }
            (_, value) => rerun.differences.push(InputChange {
                value,
                ..difference
            }),
        }
    }
    rerun
}

/// A task's input as it can be typed again, value by value.
pub fn draft(task: &Task, schema: &Schema) -> Draft {
    let mut draft = Draft::from_values(task.input.values());
    if !task.seed_chosen {
        seed::release(&mut draft, schema);
    }
    draft
}

/// A task's input as today's schema takes it, to be made once more with another seed, no matter who has chosen
/// that.
pub fn variation(task: &Task, schema: &Schema) -> Draft {
    let mut draft = rerun(task.input.values(), schema).draft;
    seed::release(&mut draft, schema);
    draft
}

/// Tasks by their models, in the order in which those come.
pub fn by_model(tasks: Vec<Task>) -> Vec<(ModelId, Vec<Task>)> {
    let mut models: Vec<(ModelId, Vec<Task>)> = Vec::new();
    for task in tasks {
        match models.iter_mut().find(|(model, _)| *model == task.model) {
            Some((_, of_model)) => of_model.push(task),
            None => models.push((task.model.clone(), vec![task])),
        }
    }
    models
}

/// Fills a form with a task's input, to be changed and sent.
pub fn edit(task: &Task, schema: &Schema) -> Rerun {
    let mut rerun = rerun(task.input.values(), schema);
    rerun.draws_seed = !task.seed_chosen && seed::release(&mut rerun.draft, schema);
    rerun
}

/// The inputs that run an earlier one again: each has a seed drawn from one of `random`, where the model
/// has any. What the model no longer takes as it was is for a person to see first.
///
/// # Errors
///
/// What has changed, where anything has: see [`rerun`].
pub fn again(
    values: &Map<String, Value>,
    schema: &Schema,
    random: &[u64],
) -> Result<Vec<Input>, Vec<InputChange>> {
    let Rerun {
        draft, differences, ..
    } = rerun(values, schema);
    if !differences.is_empty() {
        return Err(differences);
    }
    let drafts = random
        .iter()
        .map(|bits| seed::renewed(&draft, schema, *bits));
    let inputs = drafts.map(|draft| schema.validate(&draft, false));
    // Without differences the form can be sent.
    Ok(inputs.filter_map(Result::ok).collect())
}

/// Says in a sentence what filling a form has changed in it.
pub fn changes(before: &Draft, after: &Draft) -> String {
    if after.is_empty() {
        return "Cleared.".to_owned();
    }
    match changed(before, after).as_slice() {
        [] => "The form has these inputs already.".to_owned(),
        names => format!("Loaded. Changed in the form: {}.", listed(names)),
    }
}

/// Whether something that was entered stands otherwise afterwards.
pub fn replaces(before: &Draft, after: &Draft) -> bool {
    let is_other = |(name, entry): (&str, &Entry)| {
        after.get(name).map(Entry::to_text) != Some(entry.to_text())
    };
    before.iter().any(is_other)
}

/// Whether a person sees the same in both.
pub fn is_same(before: &Draft, after: &Draft) -> bool {
    changed(before, after).is_empty()
}

/// The parameters that stand otherwise in one draft than in another, by name. What was typed and what was
/// sent of it are the same to a person.
fn changed(before: &Draft, after: &Draft) -> Vec<String> {
    let text = |draft: &Draft, name: &str| draft.get(name).map(Entry::to_text);
    let is_other = |name: &&str| text(before, name) != text(after, name);
    let mut names: Vec<&str> = after
        .iter()
        .map(|(name, _)| name)
        .filter(is_other)
        .collect();
    let gone = before.iter().map(|(name, _)| name);
    names.extend(gone.filter(|name| after.get(name).is_none()));
    names.into_iter().map(str::to_owned).collect()
}

impl Rerun {
    fn take(&mut self, parameter: &Parameter, required: bool, value: &Value) {
        let mut entry = Entry::Value(value.clone());
        if let Err(problem) = check(parameter, required, Some(&entry)) {
            // Only the JSON type has changed, `"2"` to `2` for one: the value itself still holds.
            let anew = Entry::Text(entry.to_text());
            match check(parameter, required, Some(&anew)) {
                Ok(Some(value)) => entry = Entry::Value(value),
                _ => self.differences.push(InputChange {
                    parameter: parameter.name.clone(),
                    change: Change::Invalid,
                    value: Some(value.clone()),
                    meant: None,
                    message: format!("{}.", problem.message.trim_end_matches('.')),
                }),
            }
        }
        self.draft.set(parameter.name.clone(), entry);
    }

    fn miss(&mut self, parameter: &Parameter, required: bool) {
        let default = parameter.default_entry();
        if required && check(parameter, true, default.as_ref()).is_err() {
            self.differences.push(InputChange {
                parameter: parameter.name.clone(),
                change: Change::NewlyRequired,
                value: None,
                meant: None,
                message: format!("{} is required now.", parameter.name),
            });
        }
    }
}

fn shortened(value: &Value) -> String {
    const MAX: usize = 60;
    let text = value.to_string();
    match text.char_indices().nth(MAX) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

#[cfg(test)]
mod tests;

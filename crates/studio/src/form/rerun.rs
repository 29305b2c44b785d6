//! Fills a form with an earlier input, and reports values that the current schema does not accept.

use atelier_contract::{Draft, Entry, Input, ModelId, Parameter, RESERVED_NAMES, Schema, check};
use atelier_engine::Task;
use serde_json::{Map, Value};

use crate::form::parameter_name::similar_parameter;
use crate::form::seed;
use crate::share::recipe::SharedInputs;
use crate::text::plural::{counted, listed};

/// A form that was filled with an earlier input.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Rerun {
    /// The values of all parameters that still exist, valid or not.
    pub draft: Draft,
    /// The changes that the user must review before sending: first values to correct, in the form's order, then values
    /// that were left out.
    pub differences: Vec<InputChange>,
    /// Whether the seed of the earlier result was drawn and left out, so that a new one is drawn. With the same seed,
    /// the new result would have the same composition even if other inputs change.
    pub draws_seed: bool,
}

/// A parameter of an earlier input that the model does not accept unchanged.
#[derive(Debug, Clone, PartialEq)]
pub struct InputChange {
    pub parameter: String,
    pub change: Change,
    /// The old value, if there was one.
    pub value: Option<Value>,
    /// A parameter that resembles an unknown name.
    pub suggestion: Option<String>,
    /// A complete sentence.
    pub message: String,
}

/// The kind of a parameter's change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// The parameter no longer exists, and the value is not in the form.
    Dropped,
    /// The value is no longer valid. It stays in the form, so that nothing is lost.
    Invalid,
    /// The parameter is now required, and has no value.
    NewlyRequired,
}

/// Returns the label for `count` variations of each of `tasks` tasks, which have `outputs` outputs in total.
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
            Some(value) => rerun.fill(parameter, required, value),
            None => rerun.require(parameter, required),
        }
    }
    for (name, value) in values {
        if schema.is_secret(name) {
            rerun.differences.push(InputChange {
                parameter: name.clone(),
                change: Change::NewlyRequired,
                value: None,
                suggestion: None,
                message: format!("{name} is secret, and was left out: enter it."),
            });
        } else if !RESERVED_NAMES.contains(&name.as_str()) && schema.parameter(name).is_none() {
            let is_free = |other: &str| !values.contains_key(other);
            rerun.differences.push(InputChange {
                parameter: name.clone(),
                change: Change::Dropped,
                suggestion: similar_parameter(name, schema, is_free).map(str::to_owned),
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

/// Fills a form with the values of a link. The user may have typed the link, so unknown names stay in the form to be
/// corrected. Files that are missing in the link are not reported as missing values.
pub fn of_link(inputs: &SharedInputs, schema: &Schema) -> Rerun {
    let mut rerun = rerun(&inputs.values, schema);
    let differences = std::mem::take(&mut rerun.differences);
    let is_reported = |it: &InputChange| {
        it.change != Change::NewlyRequired || !inputs.missing_files.contains(&it.parameter)
    };
    for difference in differences.into_iter().filter(is_reported) {
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

/// Returns a task's input as a draft to edit, without its seed if the seed was drawn.
pub fn draft(task: &Task, schema: &Schema) -> Draft {
    let mut draft = Draft::from_values(task.input.values());
    if !task.seed_chosen {
        seed::release(&mut draft, schema);
    }
    draft
}

/// Returns a task's input for the current schema without its seed, to generate it again with a new seed.
pub fn variation(task: &Task, schema: &Schema) -> Draft {
    let mut draft = rerun(task.input.values(), schema).draft;
    seed::release(&mut draft, schema);
    draft
}

/// Groups tasks by their models, in order.
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

/// Fills a form with a task's input, to change and send it.
pub fn edit(task: &Task, schema: &Schema) -> Rerun {
    let mut rerun = rerun(task.input.values(), schema);
    rerun.draws_seed = !task.seed_chosen && seed::release(&mut rerun.draft, schema);
    rerun
}

/// Returns inputs that repeat an earlier one, one for each number in `random`, from which their seeds are drawn if the
/// model has seeds.
///
/// # Errors
///
/// The changes that the user must review; see [`rerun`].
pub fn inputs_again(
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
        .map(|bits| seed::with_new_seed(&draft, schema, *bits));
    let inputs = drafts.map(|draft| schema.validate(&draft, false));
    // Without differences, the input is valid.
    Ok(inputs.filter_map(Result::ok).collect())
}

/// Returns a message with the parameters that filling a form has changed.
pub fn changes(before: &Draft, after: &Draft) -> String {
    if after.is_empty() {
        return "Cleared.".to_owned();
    }
    match changed(before, after).as_slice() {
        [] => "The form has these inputs already.".to_owned(),
        names => format!("Loaded. Changed in the form: {}.", listed(names)),
    }
}

/// Whether any entry of `before` was changed or removed.
pub fn replaces(before: &Draft, after: &Draft) -> bool {
    let is_other = |(name, entry): (&str, &Entry)| {
        after.get(name).map(Entry::to_text) != Some(entry.to_text())
    };
    before.iter().any(is_other)
}

/// Whether both look the same to the user.
pub fn looks_same(before: &Draft, after: &Draft) -> bool {
    changed(before, after).is_empty()
}

/// Returns the names of the parameters whose entries differ as texts.
fn changed(before: &Draft, after: &Draft) -> Vec<String> {
    let text = |draft: &Draft, name: &str| draft.get(name).map(Entry::to_text);
    let is_other = |name: &&str| text(before, name) != text(after, name);
    let mut names: Vec<&str> = after
        .iter()
        .map(|(name, _)| name)
        .filter(is_other)
        .collect();
    let removed = before.iter().map(|(name, _)| name);
    names.extend(removed.filter(|name| after.get(name).is_none()));
    names.into_iter().map(str::to_owned).collect()
}

impl Rerun {
    fn fill(&mut self, parameter: &Parameter, required: bool, value: &Value) {
        let mut entry = Entry::Value(value.clone());
        if let Err(problem) = check(parameter, required, Some(&entry)) {
            // A value whose JSON type has changed, for example from `"2"` to `2`, is converted and still valid.
            let retyped = Entry::Text(entry.to_text());
            match check(parameter, required, Some(&retyped)) {
                Ok(Some(value)) => entry = Entry::Value(value),
                _ => self.differences.push(InputChange {
                    parameter: parameter.name.clone(),
                    change: Change::Invalid,
                    value: Some(value.clone()),
                    suggestion: None,
                    message: format!("{}.", problem.message.trim_end_matches('.')),
                }),
            }
        }
        self.draft.set(parameter.name.clone(), entry);
    }

    fn require(&mut self, parameter: &Parameter, required: bool) {
        let default = parameter.default_entry();
        if required && check(parameter, true, default.as_ref()).is_err() {
            self.differences.push(InputChange {
                parameter: parameter.name.clone(),
                change: Change::NewlyRequired,
                value: None,
                suggestion: None,
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

//! An old input against today's schema: run again, with what has changed since said.

use atelier_contract::{Draft, Entry, Input, ModelId, Parameter, RESERVED_NAMES, Schema, check};
use serde_json::{Map, Value};

use crate::parameter_name::meant;
use crate::plural::listed;
use crate::{Task, seed};

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
        if !RESERVED_NAMES.contains(&name.as_str()) && schema.parameter(name).is_none() {
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

/// A task's input as today's schema takes it, to be made once more with another seed, whoever has chosen
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
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn schema() -> Schema {
        serde_json::from_value(json!({
            "category": "image", "subcategory": "a",
            "parameters": {
                "required": [
                    {"name": "prompt", "type": "string"},
                    {"name": "style", "type": "enum", "allowedValues": ["oil", "ink"]},
                    {"name": "format", "type": "string", "default": "png"}
                ],
                "optional": [
                    {"name": "steps", "type": "integer", "minimum": 1, "maximum": 20},
                    {"name": "seed", "type": "integer", "maximum": u64::MAX}
                ]
            }
        }))
        .unwrap()
    }

    #[test]
    fn an_input_that_still_holds_has_no_differences() {
        let values = json!({"prompt": "cat", "style": "ink", "format": "png", "seed": u64::MAX});
        let rerun = rerun(values.as_object().unwrap(), &schema());
        assert!(rerun.differences.is_empty());
        let input = schema().validate(&rerun.draft, false).unwrap();
        assert_eq!(Value::Object(input.values().clone()), values);
    }

    #[test]
    fn what_changed_is_said_and_nothing_is_lost() {
        let values = json!({"prompt": "cat", "steps": 50, "seed": "7", "lora": "x", "uid": "me"});
        let rerun = rerun(values.as_object().unwrap(), &schema());
        let said: Vec<(&str, Change, &str)> = rerun
            .differences
            .iter()
            .map(|d| (d.parameter.as_str(), d.change, d.message.as_str()))
            .collect();
        assert_eq!(
            said,
            [
                ("style", Change::NewlyRequired, "style is required now."),
                (
                    "steps",
                    Change::Invalid,
                    "steps must be between 1 and 20, not 50."
                ),
                (
                    "lora",
                    Change::Dropped,
                    "This model has no lora; \"x\" was left out."
                ),
            ]
        );
        let slip = json!({"promt": "cat", "style": "oil"});
        let found = super::rerun(slip.as_object().unwrap(), &schema()).differences;
        assert_eq!(found[1].meant.as_deref(), Some("prompt"));
        // Of a link it stays, as it does in what is typed.
        let link = of_link(slip.as_object().unwrap(), &schema());
        assert_eq!(link.draft.get("promt"), Some(&Entry::Value(json!("cat"))));
        let said: Vec<_> = link.differences.iter().map(|it| it.change).collect();
        assert_eq!(said, [Change::NewlyRequired]);
        assert_eq!(rerun.draft.get("steps"), Some(&Entry::Value(json!(50))));
        assert_eq!(rerun.draft.get("seed"), Some(&Entry::Value(json!(7))));
        assert_eq!(
            rerun.draft.get("format"),
            None,
            "its default still fills it"
        );
    }

    /// Guards against an edit that keeps the composition, or makes the same picture, without a word.
    #[test]
    fn an_edit_draws_the_seed_anew_unless_a_person_chose_it() {
        let mut typed = Draft::default();
        typed.set("prompt", Entry::Text("cat".into()));
        typed.set("style", Entry::Value(json!("ink")));
        typed.set("seed", Entry::Value(json!(5)));
        let input = schema().validate(&typed, false).unwrap();
        let mut task = Task::new(
            crate::TaskKey("k".into()),
            crate::Account::default(),
            "A".into(),
            input,
            0,
        );
        let edited = edit(&task, &schema());
        assert_eq!(edited.draft.get("seed"), None);
        assert_eq!(
            edited.draft.get("prompt"),
            Some(&Entry::Value(json!("cat")))
        );
        assert!(edited.draws_seed);
        assert_eq!(draft(&task, &schema()), edited.draft);
        task.seed_chosen = true;
        let edited = edit(&task, &schema());
        assert_eq!(edited.draft.get("seed"), Some(&Entry::Value(json!(5))));
        assert!(!edited.draws_seed);
    }

    #[test]
    fn an_input_runs_again_with_other_seeds_or_is_looked_at_first() {
        let values = json!({"prompt": "cat", "style": "ink", "format": "png", "seed": 5});
        let inputs = again(values.as_object().unwrap(), &schema(), &[0, u64::MAX]).unwrap();
        let seeds: Vec<&Value> = inputs.iter().map(|input| &input.values()["seed"]).collect();
        assert_eq!(seeds, [&json!(0), &json!(u64::MAX)]);
        assert!(inputs.iter().all(|input| input.values()["prompt"] == "cat"));
        let values = json!({"prompt": "cat", "style": "wax"});
        let refused = again(values.as_object().unwrap(), &schema(), &[0]).unwrap_err();
        assert_eq!(refused[0].parameter, "style");
    }

    #[test]
    fn what_a_loaded_input_changes_in_the_form_is_named() {
        let draft = |values: Value| Draft::from_values(values.as_object().unwrap());
        let before = draft(json!({"prompt": "cat", "steps": 3, "seed": 1}));
        let after = draft(json!({"prompt": "dog", "steps": 3, "style": "ink"}));
        assert_eq!(changed(&before, &after), ["prompt", "style", "seed"]);
        assert!(changed(&after, &after).is_empty());
        // Guards against a form that is said to have changed when it was only sent.
        let mut typed = Draft::default();
        typed.set("prompt", Entry::Text("dog".into()));
        typed.set("steps", Entry::Text("3".into()));
        typed.set("style", Entry::Text("ink".into()));
        assert!(is_same(&typed, &after));
    }

    proptest! {
        #[test]
        fn without_differences_the_form_can_be_sent(prompt in ".{0,8}", steps in -5..30i64, style in "oil|ink|wax", extra: bool) {
            let mut values = json!({"prompt": prompt, "steps": steps, "style": style});
            if extra { values["other"] = json!(1); }
            let rerun = rerun(values.as_object().unwrap(), &schema());
            let repaired = rerun.differences.iter().all(|d| d.change == Change::Dropped);
            prop_assert_eq!(repaired, schema().validate(&rerun.draft, false).is_ok());
            prop_assert_eq!(extra, rerun.differences.iter().any(|d| d.change == Change::Dropped));
        }
    }
}

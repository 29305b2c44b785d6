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

fn shared(values: &Value, missing_files: &[&str]) -> SharedInputs {
    SharedInputs {
        values: values.as_object().cloned().unwrap_or_default(),
        missing_files: missing_files.iter().map(|name| (*name).into()).collect(),
    }
}

/// The note about the link says which files are needed.
#[test]
fn a_missing_file_of_a_link_is_not_reported_as_a_missing_value() {
    let values = json!({"prompt": "cat"});
    let link = of_link(&shared(&values, &["style"]), &schema());
    assert_eq!(link.differences, []);
    let link = of_link(&shared(&values, &["prompt"]), &schema());
    assert_eq!(link.differences[0].parameter, "style");
}

#[test]
fn an_input_that_is_still_valid_has_no_differences() {
    let values = json!({"prompt": "cat", "style": "ink", "format": "png", "seed": u64::MAX});
    let rerun = rerun(values.as_object().unwrap(), &schema());
    assert!(rerun.differences.is_empty());
    let input = schema().validate(&rerun.draft, false).unwrap();
    assert_eq!(Value::Object(input.values().clone()), values);
}

/// The form is stored, so it must not get a secret from an old record or a link.
#[test]
fn a_secret_must_be_entered_again() {
    let schema: Schema = serde_json::from_value(json!({
        "category": "image", "subcategory": "a",
        "parameters": {"required": [
            {"name": "prompt", "type": "string"},
            {"name": "api_key", "type": "string", "format": "password"}
        ]}
    }))
    .unwrap();
    let schema = schema.with_secrets_apart();
    let values = json!({"prompt": "cat", "api_key": "sk-CASE"});
    let again = rerun(values.as_object().unwrap(), &schema);
    for rerun in [again, of_link(&shared(&values, &[]), &schema)] {
        assert_eq!(rerun.draft.get("api_key"), None);
        let expected = "api_key is secret, and was left out: enter it.";
        assert_eq!(rerun.differences[0].message, expected);
    }
    assert!(inputs_again(values.as_object().unwrap(), &schema, &[0]).is_err());
    let values = json!({"prompt": "cat"});
    let inputs = inputs_again(values.as_object().unwrap(), &schema, &[0]).unwrap();
    assert_eq!(
        inputs.len(),
        1,
        "the names that tasks are sent with in addition to their inputs are not reported"
    );
}

#[test]
fn changes_are_reported_and_nothing_is_lost() {
    let values = json!({"prompt": "cat", "steps": 50, "seed": "7", "lora": "x", "uid": "me"});
    let rerun = rerun(values.as_object().unwrap(), &schema());
    let changes: Vec<(&str, Change, &str)> = rerun
        .differences
        .iter()
        .map(|d| (d.parameter.as_str(), d.change, d.message.as_str()))
        .collect();
    assert_eq!(
        changes,
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
    assert_eq!(found[1].suggestion.as_deref(), Some("prompt"));
    // An unknown name from a link stays in the form.
    let link = of_link(&shared(&slip, &[]), &schema());
    assert_eq!(link.draft.get("promt"), Some(&Entry::Value(json!("cat"))));
    let changes: Vec<_> = link.differences.iter().map(|it| it.change).collect();
    assert_eq!(changes, [Change::NewlyRequired]);
    assert_eq!(rerun.draft.get("steps"), Some(&Entry::Value(json!(50))));
    assert_eq!(rerun.draft.get("seed"), Some(&Entry::Value(json!(7))));
    assert_eq!(
        rerun.draft.get("format"),
        None,
        "a parameter with a default is not reported"
    );
}

/// Guards against an edited input that generates the same image or composition.
#[test]
fn an_edit_draws_the_seed_again_unless_the_user_chose_it() {
    let mut typed = Draft::default();
    typed.set("prompt", Entry::Text("cat".into()));
    typed.set("style", Entry::Value(json!("ink")));
    typed.set("seed", Entry::Value(json!(5)));
    let input = schema().validate(&typed, false).unwrap();
    let mut task = Task::new(
        atelier_engine::TaskKey("k".into()),
        atelier_engine::Account::default(),
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
fn an_input_runs_again_with_other_seeds_or_is_reviewed_first() {
    let values = json!({"prompt": "cat", "style": "ink", "format": "png", "seed": 5});
    let inputs = inputs_again(values.as_object().unwrap(), &schema(), &[0, u64::MAX]).unwrap();
    let seeds: Vec<&Value> = inputs.iter().map(|input| &input.values()["seed"]).collect();
    assert_eq!(seeds, [&json!(0), &json!(u64::MAX)]);
    assert!(inputs.iter().all(|input| input.values()["prompt"] == "cat"));
    let values = json!({"prompt": "cat", "style": "wax"});
    let refused = inputs_again(values.as_object().unwrap(), &schema(), &[0]).unwrap_err();
    assert_eq!(refused[0].parameter, "style");
}

#[test]
fn the_changes_of_a_loaded_input_are_named() {
    let draft = |values: Value| Draft::from_values(values.as_object().unwrap());
    let before = draft(json!({"prompt": "cat", "steps": 3, "seed": 1}));
    let after = draft(json!({"prompt": "dog", "steps": 3, "style": "ink"}));
    assert_eq!(changed(&before, &after), ["prompt", "style", "seed"]);
    assert!(changed(&after, &after).is_empty());
    // A typed entry equals the value that was sent from it.
    let mut typed = Draft::default();
    typed.set("prompt", Entry::Text("dog".into()));
    typed.set("steps", Entry::Text("3".into()));
    typed.set("style", Entry::Text("ink".into()));
    assert!(looks_same(&typed, &after));
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

/// The label must show the number of tasks and outputs that are sent.
#[test]
fn variations_are_counted_in_advance() {
    assert_eq!(variations_label(4, 1, 1), "× 4");
    assert_eq!(variations_label(4, 1, 2), "× 4 = 8");
    assert_eq!(variations_label(2, 3, 3), "× 2 = 6 tasks");
    assert_eq!(variations_label(2, 2, 4), "× 2 = 4 tasks, 8 outputs");
}

//! The control for several permitted values, which are sent as a list.

use atelier_contract::{Entry, Parameter, check};
use serde_json::Value;

/// Returns for each permitted value, in the schema's order, whether the entry `shown` contains it. Values that are not
/// permitted are ignored.
pub fn chosen(parameter: &Parameter, shown: Option<&Entry>) -> Vec<bool> {
    let permitted = |entry: &Entry| match check(parameter, false, Some(entry)) {
        Ok(Some(Value::Array(list))) => Some(list),
        _ => None,
    };
    let list = shown.and_then(|shown| {
        permitted(shown).or_else(|| {
            let parts = parts(shown)?;
            Some(parts.iter().filter_map(permitted).flatten().collect())
        })
    });
    let list = list.unwrap_or_default();
    let choices = parameter.choices().iter();
    choices.map(|choice| list.contains(choice)).collect()
}

/// Splits a list, as a value or as text, into lists of one value.
fn parts(entry: &Entry) -> Option<Vec<Entry>> {
    let one = |value: &Value| Entry::Value(vec![value.clone()].into());
    match entry {
        Entry::Value(Value::Array(list)) => Some(list.iter().map(one).collect()),
        Entry::Value(_) => None,
        Entry::Text(text) if text.trim_start().starts_with('[') => {
            let list: Vec<Value> = serde_json::from_str(text).ok()?;
            Some(list.iter().map(one).collect())
        }
        Entry::Text(text) => {
            let parts = text.split(',').map(|part| part.trim().to_owned());
            Some(parts.map(Entry::Text).collect())
        }
    }
}

/// Toggles the value at `at`, and returns the list in the schema's order, without values that are not permitted. `None`
/// resets the parameter, because no value is chosen and there is no default.
pub fn toggled(parameter: &Parameter, shown: Option<&Entry>, at: usize) -> Option<Entry> {
    let mut chosen = chosen(parameter, shown);
    if let Some(is_chosen) = chosen.get_mut(at) {
        *is_chosen = !*is_chosen;
    }
    let all = parameter.choices().iter().zip(chosen);
    let list: Vec<Value> = all
        .filter(|(_, is)| *is)
        .map(|(it, _)| it.clone())
        .collect();
    let has_default = parameter.default.as_ref().is_some_and(|it| !it.is_null());
    (has_default || !list.is_empty()).then(|| Entry::Value(list.into()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::form::control::{Control, is_default};
    use serde_json::json;

    fn parameter(value: Value) -> Parameter {
        serde_json::from_value(value).unwrap()
    }

    /// The list shows its default, and is sent as a list even with a single value.
    #[test]
    fn several_values_can_be_chosen_and_deselected() {
        let objects = parameter(json!({
            "name": "objects", "type": "array", "allowedValues": ["bird", "car", "text, logo"],
            "default": ["bird", "car"]
        }));
        assert_eq!(Control::of(&objects), Control::Several);
        let default = objects.default_entry();
        assert_eq!(chosen(&objects, default.as_ref()), [true, true, false]);
        let without_car = toggled(&objects, default.as_ref(), 1);
        assert_eq!(without_car, Some(Entry::Value(json!(["bird"]))));
        let with_logo = toggled(&objects, without_car.as_ref(), 2);
        assert_eq!(with_logo, Some(Entry::Value(json!(["bird", "text, logo"]))));
        let none = toggled(&objects, without_car.as_ref(), 0);
        assert_eq!(
            none,
            Some(Entry::Value(json!([]))),
            "a cleared default stays cleared"
        );
        let back = toggled(&objects, without_car.as_ref(), 1).unwrap();
        assert!(is_default(&objects, &back));
        let tags = parameter(json!({
            "name": "tags", "type": "array", "items": {"type": "string", "enum": ["a", "b"]}
        }));
        let a = toggled(&tags, None, 0);
        assert_eq!(a, Some(Entry::Value(json!(["a"]))));
        assert_eq!(toggled(&tags, a.as_ref(), 0), None);
    }

    /// A value that is not permitted must not make the control lose all others.
    #[test]
    fn permitted_values_stay_next_to_one_that_is_not() {
        let objects = parameter(json!({
            "name": "objects", "type": "array", "allowedValues": ["bird", "car", "text, logo", 2]
        }));
        for entry in [
            Entry::Value(json!(["bird", "zebra", 2.0])),
            Entry::Text("bird, zebra,2".into()),
            Entry::Text(r#" ["bird", "zebra", 2]"#.into()),
        ] {
            let shown = chosen(&objects, Some(&entry));
            assert_eq!(shown, [true, false, false, true], "{entry:?}");
            let problem = check(&objects, false, Some(&entry)).unwrap_err();
            assert!(problem.message.contains("not “zebra”"), "{problem}");
            let with_car = toggled(&objects, Some(&entry), 1);
            let wanted = Entry::Value(json!(["bird", "car", 2]));
            assert_eq!(with_car, Some(wanted), "{entry:?}");
        }
        for entry in [
            Entry::Text("[bird".into()),
            Entry::Value(json!({"bird": true})),
        ] {
            assert!(!chosen(&objects, Some(&entry)).contains(&true), "{entry:?}");
        }
    }

    #[test]
    fn a_number_and_its_text_are_two_values() {
        let frames = parameter(json!({
            "name": "frames", "type": "array", "allowedValues": [1, 2, "1"], "default": [1]
        }));
        let default = frames.default_entry();
        assert_eq!(chosen(&frames, default.as_ref()), [true, false, false]);
        let both = toggled(&frames, default.as_ref(), 2);
        assert_eq!(both, Some(Entry::Value(json!([1, "1"]))));
    }
}

//! A choice of several permitted values, which is sent as a list.

use atelier_contract::{Entry, Parameter, check};
use serde_json::Value;

/// Of each permitted value, in the schema's order, whether it is in the list that stands in the control.
pub fn chosen(parameter: &Parameter, shown: Option<&Entry>) -> Vec<bool> {
    let list = match check(parameter, false, shown) {
        Ok(Some(Value::Array(list))) => list,
        _ => Vec::new(),
    };
    let choices = parameter.choices().iter();
    choices.map(|choice| list.contains(choice)).collect()
}

/// The list after the value at `at` was chosen or given up, in the schema's order. `None` leaves the parameter
/// untouched: nothing is chosen, and the service would choose nothing by itself.
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
    use crate::control::{Control, is_default};
    use serde_json::json;

    fn parameter(value: Value) -> Parameter {
        serde_json::from_value(value).unwrap()
    }

    /// Guards against a list that can't be chosen, whose default does not show, or that is sent as one value.
    #[test]
    fn several_values_are_chosen_and_given_up() {
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
            "what was cleared stays cleared"
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

    #[test]
    fn one_and_its_text_stay_two_values() {
        let frames = parameter(json!({
            "name": "frames", "type": "array", "allowedValues": [1, 2, "1"], "default": [1]
        }));
        let default = frames.default_entry();
        assert_eq!(chosen(&frames, default.as_ref()), [true, false, false]);
        let both = toggled(&frames, default.as_ref(), 2);
        assert_eq!(both, Some(Entry::Value(json!([1, "1"]))));
    }
}

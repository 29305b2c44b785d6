//! The state of a form field, in addition to its value.

use atelier_contract::{Entry, Parameter, check};

use crate::form::control;

/// The state of a field.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FieldState {
    /// The problem with the value, as a complete sentence.
    pub problem: Option<String>,
    /// Whether the only problem is that the service has rejected this value before.
    pub is_refused: bool,
    /// Whether the value differs from the default, so that it can be reset.
    pub is_changed: bool,
}

/// Computes the state of a field. `entry`: the user's entry, if there is one. `is_checked`: whether to validate,
/// because the user has left the field or tried to send. `refused`: the service's reason for rejecting the value.
pub fn field_state(
    parameter: &Parameter,
    required: bool,
    entry: Option<&Entry>,
    is_checked: bool,
    refused: Option<&str>,
) -> FieldState {
    let is_changed = parameter.default.is_some()
        && entry.is_some_and(|entry| !control::is_default(parameter, entry));
    let problem = is_checked.then(|| match entry {
        Some(entry) => check(parameter, required, Some(entry)),
        // Without an entry, errors of an optional parameter's default are the schema's fault and are ignored.
        None => {
            let default = parameter.default_entry().filter(|_| required);
            check(parameter, required, default.as_ref())
        }
    });
    let problem = problem.and_then(Result::err).map(|problem| problem.message);
    let is_refused = problem.is_none() && refused.is_some();
    FieldState {
        problem: problem.or_else(|| refused.map(str::to_owned)),
        is_refused,
        is_changed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn parameter(value: Value) -> Parameter {
        serde_json::from_value(value).unwrap()
    }

    fn layers() -> Parameter {
        parameter(
            json!({"name": "layers", "type": "integer", "minimum": 2, "maximum": 12, "default": 6}),
        )
    }

    #[test]
    fn a_value_is_not_validated_while_typing() {
        let entry = Entry::Text("99".into());
        let typing = field_state(&layers(), false, Some(&entry), false, None);
        assert_eq!((typing.problem, typing.is_changed), (None, true));
        let left = field_state(&layers(), false, Some(&entry), true, None);
        assert!(left.problem.is_some() && !left.is_refused);
    }

    #[test]
    fn a_schema_violation_takes_precedence_over_a_rejection() {
        let of = |text: &str| {
            let entry = Entry::Text(text.into());
            field_state(&layers(), false, Some(&entry), true, Some("Too many."))
        };
        assert_eq!(of("12").problem.as_deref(), Some("Too many."));
        assert!(of("12").is_refused && !of("99").is_refused);
        assert_ne!(of("99").problem.as_deref(), Some("Too many."));
    }

    #[test]
    fn an_untouched_field_is_invalid_only_if_it_is_required() {
        let prompt = parameter(json!({"name": "prompt", "type": "string"}));
        assert!(
            field_state(&prompt, true, None, true, None)
                .problem
                .is_some()
        );
        assert_eq!(
            field_state(&prompt, false, None, true, None),
            FieldState::default()
        );
        assert_eq!(
            field_state(&layers(), true, None, true, None),
            FieldState::default()
        );
    }
}

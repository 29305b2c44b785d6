//! What a form says of one of its fields, besides what stands in it.

use atelier_contract::{Entry, Parameter, check};

use crate::form::control;

/// What is said of a field.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Said {
    /// What is wrong with it, as a whole sentence.
    pub problem: Option<String>,
    /// All that is wrong with it is that the service has refused it before.
    pub is_refused: bool,
    /// Something else than its default stands there: there is a way back.
    pub is_changed: bool,
}

/// `entry` is what a person has put there, none while it is untouched. It is looked through once the person has left the field
/// or tried to send (`is_checked`). `refused` is what the service said of it.
pub fn said(
    parameter: &Parameter,
    required: bool,
    entry: Option<&Entry>,
    is_checked: bool,
    refused: Option<&str>,
) -> Said {
    let is_changed = parameter.default.is_some()
        && entry.is_some_and(|entry| !control::is_default(parameter, entry));
    let wrong = is_checked.then(|| match entry {
        Some(entry) => check(parameter, required, Some(entry)),
        // What the schema itself gets wrong is left out.
        None => {
            let default = parameter.default_entry().filter(|_| required);
            check(parameter, required, default.as_ref())
        }
    });
    let wrong = wrong.and_then(Result::err).map(|problem| problem.message);
    let is_refused = wrong.is_none() && refused.is_some();
    Said {
        problem: wrong.or_else(|| refused.map(str::to_owned)),
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
    fn what_is_being_typed_is_not_wrong_yet() {
        let entry = Entry::Text("99".into());
        let typing = said(&layers(), false, Some(&entry), false, None);
        assert_eq!((typing.problem, typing.is_changed), (None, true));
        let left = said(&layers(), false, Some(&entry), true, None);
        assert!(left.problem.is_some() && !left.is_refused);
    }

    #[test]
    fn what_the_service_refused_gives_way_to_what_is_wrong_by_the_schema() {
        let of = |text: &str| {
            let entry = Entry::Text(text.into());
            said(&layers(), false, Some(&entry), true, Some("Too many."))
        };
        assert_eq!(of("12").problem.as_deref(), Some("Too many."));
        assert!(of("12").is_refused && !of("99").is_refused);
        assert_ne!(of("99").problem.as_deref(), Some("Too many."));
    }

    #[test]
    fn an_untouched_field_is_wrong_only_where_it_has_to_be_filled_in() {
        let prompt = parameter(json!({"name": "prompt", "type": "string"}));
        assert!(said(&prompt, true, None, true, None).problem.is_some());
        assert_eq!(said(&prompt, false, None, true, None), Said::default());
        assert_eq!(said(&layers(), true, None, true, None), Said::default());
    }
}

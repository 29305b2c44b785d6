//! Recognizes submissions that the service rejected because of their input, and finds the parameters that its message
//! names.

mod naming;

use atelier_contract::{ApiError, Draft, Problem, Schema, check};

use atelier_engine::{Task, TaskState};
use naming::ServiceMessage;

/// The maximum number of parameters that a message reports. A message with more lists the existing parameters.
const MAX_NAMED: usize = 3;

/// Whether the service would reject the same input again, so that the user must change it first. Works without the
/// schema.
pub fn is_refused(task: &Task) -> bool {
    service_message(task).is_some_and(|message| !named_of_sent(task, &message).is_empty())
}

/// Whether a retry may succeed without changes, because the service did not name a parameter.
pub fn may_succeed_unchanged(task: &Task) -> bool {
    task.can_retry() && !is_refused(task)
}

/// Returns the parameters that the service's message names, in the form's order. They were sent and rejected, or are
/// missing. Empty if the service did not reject the input.
pub fn named_parameters<'a>(task: &Task, schema: &'a Schema) -> Vec<&'a str> {
    let Some(message) = service_message(task) else {
        return Vec::new();
    };
    let sent = named_of_sent(task, &message);
    let names = schema.parameters().map(|(it, _)| it.name.as_str());
    let is_named = |name: &&str| match task.input.values().contains_key(*name) {
        true => sent.contains(name),
        false => message.reports_missing(name),
    };
    names.filter(is_named).collect()
}

/// Returns the parameters among those sent that the message names.
fn named_of_sent<'a>(task: &'a Task, message: &ServiceMessage) -> Vec<&'a str> {
    let names = task.input.values().keys().map(String::as_str);
    let (fields, others): (Vec<&str>, Vec<&str>) = names
        .filter(|name| message.names(name))
        .partition(|name| message.has_heading(name));
    let others = others.into_iter();
    let is_list = others.len() > MAX_NAMED;
    fields
        .into_iter()
        .chain(others.filter(|_| !is_list))
        .collect()
}

/// Returns a problem with the service's message for each rejected parameter whose value in the form is unchanged.
pub fn problems(task: &Task, schema: &Schema, draft: &Draft) -> Vec<Problem> {
    let text = service_message(task).map(|it| it.text);
    let text = text.unwrap_or_default();
    let named = named_parameters(task, schema).into_iter();
    let unchanged = named.filter(|name| is_unchanged(task, schema, draft, name));
    unchanged
        .map(|name| Problem {
            parameter: name.to_owned(),
            message: format!("The service refused it: {text}"),
        })
        .collect()
}

/// Returns the service's message if it rejected the input and created no task.
fn service_message(task: &Task) -> Option<ServiceMessage<'_>> {
    let TaskState::Failed { id: None, message } = &task.state else {
        return None;
    };
    let text = ApiError::input_message(message)?;
    Some(ServiceMessage {
        text,
        sent: task.input.values(),
    })
}

fn is_unchanged(task: &Task, schema: &Schema, draft: &Draft, name: &str) -> bool {
    let sent = task.input.values().get(name);
    let Some((parameter, required)) = schema.parameter(name) else {
        return false;
    };
    match draft.get(name) {
        None => sent.is_none() || sent == parameter.default.as_ref(),
        entry => {
            let now = check(parameter, required, entry);
            now.is_ok_and(|now| now.as_ref() == sent)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use atelier_contract::Entry;
    use serde_json::{Value, json};

    fn schema() -> Schema {
        serde_json::from_value(json!({
            "category": "image", "subcategory": "a", "parameters": {
                "required": [{"name": "prompt", "type": "string"}],
                "optional": [
                    {"name": "steps", "type": "integer", "default": 20},
                    {"name": "steps_max", "type": "integer"},
                    {"name": "n", "type": "integer"},
                    {"name": "seed", "type": "integer"}
                ]
            }
        }))
        .unwrap()
    }

    fn draft(values: Value) -> Draft {
        Draft::from_values(values.as_object().unwrap())
    }

    fn refused(status: u16, body: Value, input: Value) -> Task {
        let mut task = crate::testing::task("1", 0);
        let schema = schema();
        task.input = schema.validate(&draft(input), false).unwrap();
        let error = ApiError::from_status(status, Some(&body), None);
        task.state = TaskState::Failed {
            id: None,
            message: error.user_message(),
        };
        task
    }

    fn rejected(message: &str) -> Task {
        refused(
            422,
            json!({"message": message}),
            json!({"prompt": "x", "steps": 9}),
        )
    }

    /// Some services name the field of an error outside the message text.
    #[test]
    fn a_field_of_the_reply_is_named() {
        let of = |name: &str, text: &str| json!({"loc": ["body", name], "msg": text});
        let body = json!({"detail": [of("n", "Input should be less than 50")]});
        let task = refused(422, body, json!({"prompt": "x", "n": 99}));
        assert_eq!(named_parameters(&task, &schema()), ["n"]);
        assert!(is_refused(&task));
        // There may be any number of fields.
        let all = ["prompt", "steps", "steps_max", "n", "seed"];
        let body = json!({"detail": all.map(|name| of(name, "Your input is odd"))});
        let input = json!({"prompt": "x", "steps": 9, "steps_max": 9, "n": 9, "seed": 9});
        assert_eq!(named_parameters(&refused(422, body, input), &schema()), all);
    }

    #[test]
    fn a_message_that_names_many_parameters_is_a_list() {
        let body = json!({"message": "Known are 'prompt', 'steps', steps_max and 'seed'"});
        let input = json!({"prompt": "x", "steps": 9, "steps_max": 9, "seed": 9});
        let task = refused(422, body, input);
        assert_eq!(named_parameters(&task, &schema()), Vec::<&str>::new());
        assert!(!is_refused(&task));
    }

    /// Errors about a balance or a queue must not mark the prompt.
    #[test]
    fn only_validation_errors_concern_the_input() {
        let names_steps = json!({"success": false, "message": "steps must be at most 50"});
        let known = schema();
        for (status, is_expected) in [
            (400, true),
            (413, true),
            (415, true),
            (422, true),
            (402, false),
            (409, false),
            (401, false),
            (404, false),
            (501, false),
        ] {
            let input = json!({"prompt": "x", "steps": 99});
            let task = refused(status, names_steps.clone(), input);
            assert_eq!(
                !named_parameters(&task, &known).is_empty(),
                is_expected,
                "{status}"
            );
            assert_eq!(is_refused(&task), is_expected, "{status}");
        }
        // A response with status 200 that reports a failure.
        let mut later = rejected("steps must be at most 50");
        let no = ApiError::Refused {
            status: 200,
            message: "steps must be at most 50".into(),
        };
        later.state = TaskState::Failed {
            id: None,
            message: no.user_message(),
        };
        assert!(!is_refused(&later));
        later.state = TaskState::Failed {
            id: Some(atelier_contract::TaskId("7".into())),
            message: "steps must be at most 50".into(),
        };
        assert_eq!(named_parameters(&later, &known), Vec::<&str>::new());
        assert!(!is_refused(&later));
    }

    /// A failure without a named parameter may be resolved without changing the input, for example by a payment.
    #[test]
    fn a_message_without_a_parameter_allows_a_retry() {
        for message in [
            "Insufficient balance",
            "The image queue is full, your prompt was not taken",
            "no",
            "",
        ] {
            assert!(!is_refused(&rejected(message)), "{message}");
        }
        let named = rejected("steps must be at most 5");
        assert!(is_refused(&named) && named.can_retry() && !may_succeed_unchanged(&named));
        assert!(may_succeed_unchanged(&rejected("no")));
    }

    #[test]
    fn parameters_that_were_not_sent_are_named_only_if_missing() {
        let named = |message: &str| named_parameters(&rejected(message), &schema()).join(", ");
        for (message, expected) in [
            ("seed must be at most 10", ""),
            ("steps_max is too large", ""),
            ("seed is required", "seed"),
            ("Missing parameter: 'seed'. steps_max is fine.", "seed"),
            (
                "steps must be less; steps_max: Field required",
                "steps, steps_max",
            ),
        ] {
            assert_eq!(named(message), expected, "{message}");
        }
        // The parameter is still missing in the form.
        let task = rejected("seed is required");
        let marked = |now: Value| problems(&task, &schema(), &draft(now)).len();
        assert_eq!(marked(json!({"prompt": "x"})), 1);
        assert_eq!(marked(json!({"prompt": "x", "seed": 3})), 0);
    }

    #[test]
    fn values_that_were_changed_since_are_not_marked() {
        let body = json!({"message": "steps must be at most 50."});
        let task = refused(400, body, json!({"prompt": "x", "steps": 99}));
        let marked = |now: Value| problems(&task, &schema(), &draft(now));
        let found = marked(json!({"prompt": "y", "steps": 99}));
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].parameter, "steps");
        assert_eq!(
            found[0].message,
            "The service refused it: steps must be at most 50."
        );
        assert_eq!(marked(json!({"prompt": "x", "steps": 40})), []);
        assert_eq!(marked(json!({"prompt": "x"})), []);
        let mut typed = draft(json!({"prompt": "x"}));
        typed.set("steps", Entry::Text(" 99 ".into()));
        assert_eq!(problems(&task, &schema(), &typed).len(), 1);
    }
}

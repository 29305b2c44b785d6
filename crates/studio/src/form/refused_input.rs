//! A submission that the service refused for what is wrong with its input, and the parameters that it names in saying so.

mod naming;

use atelier_contract::{ApiError, Draft, Problem, Schema, check};

use atelier_engine::{Task, TaskState};
use naming::Words;

/// A message that names more of them lists what there is.
const MAX_NAMED: usize = 3;

/// Whether the same would be refused again: to change it comes before to send it once more. That a schema has come or
/// is gone changes nothing of it.
pub fn is_refused(task: &Task) -> bool {
    words(task).is_some_and(|words| !named_of_sent(task, &words).is_empty())
}

/// Whether it may come to more if it is sent once more as it is: what is refused by name is to be changed first.
pub fn may_pass_again(task: &Task) -> bool {
    task.can_retry() && !is_refused(task)
}

/// The parameters that the service's own words name, in the form's order: of what was sent, and of what it misses.
/// None where it did not refuse the input.
pub fn named<'a>(task: &Task, schema: &'a Schema) -> Vec<&'a str> {
    let Some(words) = words(task) else {
        return Vec::new();
    };
    let sent = named_of_sent(task, &words);
    let names = schema.parameters().map(|(it, _)| it.name.as_str());
    let is_named = |name: &&str| match task.input.values().contains_key(*name) {
        true => sent.contains(name),
        false => words.miss(name),
    };
    names.filter(is_named).collect()
}

fn named_of_sent<'a>(task: &'a Task, words: &Words) -> Vec<&'a str> {
    let names = task.input.values().keys().map(String::as_str);
    let (fields, others): (Vec<&str>, Vec<&str>) = names
        .filter(|name| words.name(name))
        .partition(|name| words.list(name));
    let others = others.into_iter();
    let is_list = others.len() > MAX_NAMED;
    fields
        .into_iter()
        .chain(others.filter(|_| !is_list))
        .collect()
}

/// What stands in the form as it was refused, and what the service said of it.
pub fn problems(task: &Task, schema: &Schema, draft: &Draft) -> Vec<Problem> {
    let words = words(task).map(|it| it.text);
    let words = words.unwrap_or_default();
    let named = named(task, schema).into_iter();
    let unchanged = named.filter(|name| is_unchanged(task, schema, draft, name));
    unchanged
        .map(|name| Problem {
            parameter: name.to_owned(),
            message: format!("The service refused it: {words}"),
        })
        .collect()
}

/// What was said of the input instead of making a task of it.
fn words(task: &Task) -> Option<Words<'_>> {
    let TaskState::Failed { id: None, message } = &task.state else {
        return None;
    };
    let text = ApiError::input_message(message)?;
    Some(Words {
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

    fn said(message: &str) -> Task {
        refused(
            422,
            json!({"message": message}),
            json!({"prompt": "x", "steps": 9}),
        )
    }

    /// What is said of a field alone names it in another place than in its words.
    #[test]
    fn a_field_of_the_reply_is_named() {
        let of = |name: &str, said: &str| json!({"loc": ["body", name], "msg": said});
        let body = json!({"detail": [of("n", "Input should be less than 50")]});
        let task = refused(422, body, json!({"prompt": "x", "n": 99}));
        assert_eq!(named(&task, &schema()), ["n"]);
        assert!(is_refused(&task));
        // However many.
        let all = ["prompt", "steps", "steps_max", "n", "seed"];
        let body = json!({"detail": all.map(|name| of(name, "Your input is odd"))});
        let input = json!({"prompt": "x", "steps": 9, "steps_max": 9, "n": 9, "seed": 9});
        assert_eq!(named(&refused(422, body, input), &schema()), all);
    }

    #[test]
    fn a_message_that_names_many_lists_what_there_is() {
        let body = json!({"message": "Known are 'prompt', 'steps', steps_max and 'seed'"});
        let input = json!({"prompt": "x", "steps": 9, "steps_max": 9, "seed": 9});
        let task = refused(422, body, input);
        assert_eq!(named(&task, &schema()), Vec::<&str>::new());
        assert!(!is_refused(&task));
    }

    /// Guards against a prompt that is marked because of a balance, or of a queue.
    #[test]
    fn only_what_was_found_invalid_is_its_word_on_an_input() {
        let names_steps = json!({"success": false, "message": "steps must be at most 50"});
        let known = schema();
        for (status, is_said) in [
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
            assert_eq!(!named(&task, &known).is_empty(), is_said, "{status}");
            assert_eq!(is_refused(&task), is_said, "{status}");
        }
        // An answer of 200 that says no.
        let mut later = said("steps must be at most 50");
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
        assert_eq!(named(&later, &known), Vec::<&str>::new());
        assert!(!is_refused(&later));
    }

    /// Guards against "it would be refused again" of what a payment mends.
    #[test]
    fn what_names_no_parameter_may_be_sent_again() {
        for message in [
            "Insufficient balance",
            "The image queue is full, your prompt was not taken",
            "no",
            "",
        ] {
            assert!(!is_refused(&said(message)), "{message}");
        }
        let named = said("steps must be at most 5");
        assert!(is_refused(&named) && named.can_retry() && !may_pass_again(&named));
        assert!(may_pass_again(&said("no")));
    }

    #[test]
    fn of_what_was_not_sent_only_what_is_missed_is_named() {
        let named = |message: &str| named(&said(message), &schema()).join(", ");
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
        // It is not in the form still.
        let task = said("seed is required");
        let marked = |now: Value| problems(&task, &schema(), &draft(now)).len();
        assert_eq!(marked(json!({"prompt": "x"})), 1);
        assert_eq!(marked(json!({"prompt": "x", "seed": 3})), 0);
    }

    #[test]
    fn what_was_changed_since_is_not_marked() {
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

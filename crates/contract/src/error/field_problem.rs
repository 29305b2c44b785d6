//! The problems with single parameters in a failing response.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::prose::{bounded_to, message_in};

/// The maximum number of problems to read.
const MAX_PROBLEMS: usize = 100;
/// The maximum length of a parameter's name, in characters. Longer names are truncated.
const MAX_NAME: usize = 1_000;

/// A problem with one parameter in a 4xx response.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FieldProblem {
    pub parameter: String,
    pub message: String,
}

impl FieldProblem {
    /// Returns a message that starts with the parameter's name, for [`ApiError::user_message`].
    ///
    /// [`ApiError::user_message`]: super::ApiError::user_message
    pub(super) fn user_message(&self) -> String {
        let rest = self.message.strip_prefix(&*self.parameter);
        match rest.is_some_and(|rest| rest.starts_with([' ', ':'])) {
            true => self.message.clone(),
            false => format!("{}: {}", self.parameter, self.message),
        }
    }
}

/// Finds the problems by parameter in the shapes that services use: `fields: [{parameter, message}]`, `errors: {name:
/// message}` and `detail: [{loc: [.., name], msg}]`.
pub(super) fn field_problems(body: &Value) -> Vec<FieldProblem> {
    for key in ["fields", "errors", "detail", "details"] {
        let found: Vec<FieldProblem> = match body.get(key) {
            Some(Value::Array(entries)) => {
                let problems = entries.iter().filter_map(field_problem);
                problems.take(MAX_PROBLEMS).collect()
            }
            Some(Value::Object(map)) => map
                .iter()
                .filter_map(|(name, message)| {
                    let message = match message {
                        Value::Array(messages) => message_in(messages.first()?)?,
                        other => message_in(other)?,
                    };
                    Some(FieldProblem {
                        parameter: bounded_to(name.clone(), MAX_NAME),
                        message,
                    })
                })
                .take(MAX_PROBLEMS)
                .collect(),
            _ => Vec::new(),
        };
        if !found.is_empty() {
            return found;
        }
    }
    Vec::new()
}

fn field_problem(entry: &Value) -> Option<FieldProblem> {
    let message = ["message", "msg", "error"]
        .iter()
        .find_map(|key| message_in(entry.get(*key)?))?;
    let parameter = ["parameter", "field", "name", "path", "loc"]
        .iter()
        .find_map(|key| match entry.get(*key)? {
            Value::String(name) => Some(name.clone()),
            Value::Array(path) => path.iter().rev().find_map(Value::as_str).map(str::to_owned),
            _ => None,
        })?;
    let parameter = bounded_to(parameter, MAX_NAME);
    Some(FieldProblem { parameter, message })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// An error must not have 10 MB in a record and on the page, even if each single problem is short.
    #[test]
    fn limits_the_number_and_length_of_problems() {
        let long = "x".repeat(20_000);
        let problem = json!({"parameter": long, "message": long});
        let body = json!({"fields": vec![problem; 300]});
        let error = crate::ApiError::from_status(422, Some(&body), None);
        assert!(error.user_message().chars().count() < 11_000);
        let problems = field_problems(&body);
        assert_eq!(problems.len(), MAX_PROBLEMS);
        assert!(problems.iter().all(|it| it.parameter.len() < 1_010));
    }

    /// The name must be added if it is only part of another word of the message.
    #[test]
    fn messages_start_with_the_parameter_name() {
        for (parameter, message, expected) in [
            ("n", "Input should be less", "n: Input should be less"),
            ("prompt", "Your prompt is odd", "prompt: Your prompt is odd"),
            ("step", "steps must be odd", "step: steps must be odd"),
            ("steps", "steps must be odd", "steps must be odd"),
            ("steps", "steps can't be odd", "steps can't be odd"),
            ("steps", "steps: odd", "steps: odd"),
        ] {
            let problem = FieldProblem {
                parameter: parameter.into(),
                message: message.into(),
            };
            assert_eq!(problem.user_message(), expected);
        }
    }
}

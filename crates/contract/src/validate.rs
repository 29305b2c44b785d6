//! Input validation. The same rules apply to a form, a table row and a request body, so that all three accept the same
//! inputs.

use serde_json::{Map, Number, Value};
use thiserror::Error;

use crate::number::{as_integer, compare, equal, parse, read_typed};
use crate::{Draft, Entry, Input, Kind, Parameter, RESERVED_NAMES, Schema, json, stored_name};

/// Words that chat models and programs write for "no value". The Python files contain the same list.
pub const NULL_WORDS: [&str; 5] = ["null", "none", "undefined", "nil", "n/a"];

/// The reason why a parameter's entry can't be sent. The message names the parameter and the bound.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{message}")]
pub struct Problem {
    /// The parameter's name.
    pub parameter: String,
    /// A full sentence for the user.
    pub message: String,
}

/// Validates one entry and returns the value to send; `None` if the parameter is left out.
///
/// - An untouched or cleared parameter is left out. Exception: a cleared *text* whose schema has another default is
///   sent as `""`, so that it stays cleared.
/// - Integers are exact. Numbers are never rounded.
///
/// # Errors
///
/// The entry is required and absent, has the wrong type, is out of bounds, or is not permitted.
pub fn check(
    parameter: &Parameter,
    required: bool,
    entry: Option<&Entry>,
) -> Result<Option<Value>, Problem> {
    let problem = |what: String| Problem {
        parameter: parameter.name.clone(),
        message: format!("{} {}", parameter.name, without_secret(parameter, &what)),
    };
    let value = match entry {
        None => None,
        Some(Entry::Text(text)) if is_empty(parameter, text) => cleared(parameter),
        Some(Entry::Text(text)) => Some(read(parameter, text).map_err(problem)?),
        Some(Entry::Value(Value::Null)) if !allows_null(parameter) => None,
        Some(Entry::Value(value)) => Some(value.clone()),
    };
    let Some(value) = value else {
        return if required {
            Err(problem(missing(parameter).into()))
        } else {
            Ok(None)
        };
    };
    let is_blank = value.as_str().is_some_and(|text| text.trim().is_empty());
    if required && is_blank && !parameter.choices().contains(&value) {
        return Err(problem(missing(parameter).into()));
    }
    if parameter.default.as_ref() == Some(&value) && value.is_null() {
        return Ok(Some(value));
    }
    let value = checked_kind(parameter, value).map_err(problem)?;
    if required && parameter.kind() == Kind::MultiChoice && value == Value::Array(Vec::new()) {
        return Err(problem(missing(parameter).into()));
    }
    refuse_filler(parameter, &value).map_err(problem)?;
    within_bounds(parameter, &value).map_err(problem)?;
    Ok(Some(value))
}

impl Parameter {
    /// Returns the entry to send: the one in the draft, or else the default of a required parameter, or, with
    /// `send_defaults`, of an optional one. A default of an optional parameter that its own schema does not permit is
    /// left out, because the user has not entered it and the service has its own default.
    pub fn entry_in(&self, draft: &Draft, required: bool, send_defaults: bool) -> Option<Entry> {
        let is_sent = |default: &Entry| {
            required || (send_defaults && check(self, false, Some(default)).is_ok())
        };
        let default = || self.default_entry().filter(is_sent);
        draft.get(&self.name).cloned().or_else(default)
    }
}

impl Schema {
    /// Validates a whole draft.
    ///
    /// With `send_defaults`, untouched optional parameters are sent with their defaults, except for defaults that the
    /// schema does not permit; without it, they are left out. Entries with unknown names are problems, so that no entry
    /// is dropped silently.
    ///
    /// # Errors
    ///
    /// All problems, in the order of the form. Problems with unknown parameters are last.
    pub fn validate(&self, draft: &Draft, send_defaults: bool) -> Result<Input, Vec<Problem>> {
        let mut values = Map::new();
        let mut problems = Vec::new();
        for (parameter, required) in self.parameters() {
            let entry = parameter.entry_in(draft, required, send_defaults);
            match check(parameter, required, entry.as_ref()) {
                Ok(Some(value)) => {
                    values.insert(parameter.name.clone(), value);
                }
                Ok(None) => {}
                Err(problem) => problems.push(problem),
            }
        }
        for (name, _) in draft.iter() {
            if !RESERVED_NAMES.contains(&name) && self.parameter(name).is_none() {
                problems.push(Problem {
                    parameter: name.to_owned(),
                    message: format!("This model has no parameter {name}"),
                });
            }
        }
        if problems.is_empty() {
            Ok(Input::new(self.model.clone(), values))
        } else {
            Err(problems)
        }
    }
}

/// Removes a secret value from a problem. All messages that quote the value end with it.
fn without_secret<'a>(parameter: &Parameter, what: &'a str) -> &'a str {
    match what.split_once(", not ") {
        Some((what, _)) if parameter.is_secret() => what,
        _ => what,
    }
}

fn missing(parameter: &Parameter) -> &'static str {
    match parameter.kind() {
        Kind::Enum | Kind::MultiChoice | Kind::Boolean => "is required: choose a value",
        _ => "is required",
    }
}

fn is_empty(parameter: &Parameter, text: &str) -> bool {
    match parameter.kind() {
        Kind::Text => text.is_empty(),
        _ => text.trim().is_empty(),
    }
}

fn cleared(parameter: &Parameter) -> Option<Value> {
    let default_fills_it = parameter
        .default
        .as_ref()
        .is_some_and(|d| d.as_str().is_some_and(|text| !text.is_empty()));
    (parameter.kind() == Kind::Text && default_fills_it).then(|| Value::String(String::new()))
}

fn allows_null(parameter: &Parameter) -> bool {
    parameter.default == Some(Value::Null)
        || (parameter.kind() == Kind::Enum && parameter.choices().contains(&Value::Null))
        || parameter.kind() == Kind::Unknown
}

/// Converts typed text to the parameter's JSON type.
fn read(parameter: &Parameter, text: &str) -> Result<Value, String> {
    let trimmed = text.trim();
    match parameter.kind() {
        Kind::Text => Ok(Value::String(text.to_owned())),
        kind @ (Kind::Integer | Kind::Number) => read_typed(trimmed, kind == Kind::Integer)
            .map(Value::Number)
            .map_err(|what| format!("{what}, not “{}”", shortened(trimmed))),
        Kind::Boolean => match trimmed.to_ascii_lowercase().as_str() {
            "true" | "yes" | "on" | "1" => Ok(Value::Bool(true)),
            "false" | "no" | "off" | "0" => Ok(Value::Bool(false)),
            _ => Err(format!(
                "must be true or false, not “{}”",
                shortened(trimmed)
            )),
        },
        Kind::Enum => {
            let allowed = parameter.choices();
            allowed
                .iter()
                .find(|value| matches!(value, Value::String(s) if s == text))
                .or_else(|| {
                    allowed
                        .iter()
                        .find(|value| Entry::Value((*value).clone()).to_text() == trimmed)
                })
                .cloned()
                .or_else(|| permitted(allowed, &Value::Number(parse(trimmed)?)))
                .ok_or_else(|| not_permitted_message(allowed, trimmed))
        }
        Kind::MultiChoice if !trimmed.starts_with('[') => {
            read_several(parameter.choices(), trimmed)
        }
        Kind::MultiChoice | Kind::Array | Kind::Object | Kind::Unknown => {
            json::parse(trimmed.as_bytes()).map_err(|error| format!("must be JSON: {error}"))
        }
    }
}

/// Parses one permitted value, or several separated by commas, as a list. Refuses a text that matches two permitted
/// values.
fn read_several(allowed: &[Value], text: &str) -> Result<Value, String> {
    let read = |text: &str| {
        let is_text = |value: &&Value| Entry::Value((*value).clone()).to_text() == text;
        let mut found = allowed.iter().filter(is_text);
        let Some(value) = found.next() else {
            return Err(not_permitted_message(allowed, text));
        };
        match found.find(|other| !is_same(value, other)) {
            None => Ok(value.clone()),
            Some(other) => Err(format!(
                "must be a JSON list like [{value}] or [{other}], not “{}”, which may be two values",
                shortened(text)
            )),
        }
    };
    match read(text) {
        Ok(value) => Ok(vec![value]),
        Err(_) if text.contains(',') => text.split(',').map(|part| read(part.trim())).collect(),
        Err(error) => Err(error),
    }
    .map(Value::Array)
}

/// Checks the JSON type of a value.
fn checked_kind(parameter: &Parameter, value: Value) -> Result<Value, String> {
    let not = |what: &str| match &value {
        Value::String(text) => format!("must be {what}, not the text “{}”", shortened(text)),
        value => format!("must be {what}, not {}", shortened(&value.to_string())),
    };
    match (parameter.kind(), &value) {
        (Kind::Text, Value::String(_)) | (Kind::Array, Value::Array(_)) if has_stored_name(&value) => Err(
            "has a file of this browser that is still being read, or is gone. If it stays so, choose it again"
                .into(),
        ),
        (Kind::Text, Value::String(_))
        | (Kind::Number, Value::Number(_))
        | (Kind::Boolean, Value::Bool(_))
        | (Kind::Array, Value::Array(_))
        | (Kind::Object, Value::Object(_))
        | (Kind::Unknown, _) => Ok(value),
        (Kind::Integer, Value::Number(number)) => match as_integer(number) {
            // `2.0` is the integer 2 and is sent as such.
            Some(whole) => i64::try_from(whole)
                .map(Value::from)
                .or_else(|_| u64::try_from(whole).map(Value::from))
                .map_err(|_| not("a whole number")),
            None => Err(not("a whole number")),
        },
        (Kind::Enum, _) => checked_choice(parameter.choices(), value),
        (Kind::MultiChoice, Value::Array(_)) => {
            let Value::Array(values) = value else {
                return Ok(value);
            };
            let allowed = parameter.choices();
            let values = values.into_iter().map(|it| checked_choice(allowed, it));
            values.collect::<Result<_, _>>().map(Value::Array)
        }
        (Kind::Text, _) => Err(not("a text")),
        (Kind::Integer, _) => Err(not("a whole number")),
        (Kind::Number, _) => Err(not("a number")),
        (Kind::Boolean, _) => Err(not("true or false")),
        (Kind::Array, _) => Err(not("a JSON array")),
        (Kind::MultiChoice, _) => Err(not("a list of values")),
        (Kind::Object, _) => Err(not("a JSON object")),
    }
}

/// Whether a text, or a text in a list, is a reference to a file of this browser.
fn has_stored_name(value: &Value) -> bool {
    match value {
        Value::String(text) => stored_name(text.trim()).is_some(),
        Value::Array(items) => items.iter().any(has_stored_name),
        _ => false,
    }
}

fn checked_choice(allowed: &[Value], value: Value) -> Result<Value, String> {
    permitted(allowed, &value)
        .ok_or_else(|| not_permitted_message(allowed, &Entry::Value(value).to_text()))
}

/// Returns the permitted value that equals a value. Numbers are compared numerically: `2.0` is sent as the `2` of an
/// enumeration.
fn permitted(allowed: &[Value], value: &Value) -> Option<Value> {
    let itself = allowed.iter().find(|known| *known == value);
    let same = || allowed.iter().find(|known| is_same(known, value));
    itself.or_else(same).cloned()
}

/// Compares like JSON Schema: numbers by value, everything else by type and value. `1` equals neither `"1"` nor `true`.
fn is_same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => equal(a, b),
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| is_same(a, b))
        }
        (Value::Object(a), Value::Object(b)) => {
            let in_b = |(name, a)| b.get(name).is_some_and(|b| is_same(a, b));
            a.len() == b.len() && a.iter().all(in_b)
        }
        _ => a == b,
    }
}

/// Refuses a word for "no value" as a URL, because the task would be billed and then fail. The service's own default is
/// permitted.
fn refuse_filler(parameter: &Parameter, value: &Value) -> Result<(), String> {
    match value {
        Value::String(text)
            if parameter.takes_file()
                && parameter.default.as_ref() != Some(value)
                && is_filler(text) =>
        {
            Err(format!(
                "must be the address of a file, not “{}”: leave it out if there is none",
                shortened(text)
            ))
        }
        _ => Ok(()),
    }
}

fn is_filler(text: &str) -> bool {
    let word = text.trim();
    NULL_WORDS
        .iter()
        .any(|filler| word.eq_ignore_ascii_case(filler))
}

fn within_bounds(parameter: &Parameter, value: &Value) -> Result<(), String> {
    if let (Value::String(text), Some(most)) = (value, parameter.max_length()) {
        let count = text.chars().count() as u64;
        if count > most {
            return Err(format!("must have at most {most} characters, not {count}"));
        }
    }
    if let Value::Array(items) = value {
        return within_length(parameter, items.len() as u64);
    }
    let Value::Number(number) = value else {
        return Ok(());
    };
    let below = |bound: &&Number| compare(number, bound).is_lt();
    let above = |bound: &&Number| compare(number, bound).is_gt();
    match (&parameter.minimum, &parameter.maximum) {
        (Some(min), Some(max)) if below(&min) || above(&max) => {
            Err(format!("must be between {min} and {max}, not {number}"))
        }
        (Some(min), _) if below(&min) => Err(format!("must be at least {min}, not {number}")),
        (_, Some(max)) if above(&max) => Err(format!("must be at most {max}, not {number}")),
        _ => Ok(()),
    }
}

/// Checks the length of a list.
fn within_length(parameter: &Parameter, count: u64) -> Result<(), String> {
    let items = |bound: u64| match bound {
        1 => "1 item".to_owned(),
        _ => format!("{bound} items"),
    };
    let (min, max) = parameter.item_bounds();
    if let Some(min) = min.filter(|min| count < *min) {
        return Err(format!("must have at least {}, not {count}", items(min)));
    }
    match max.filter(|max| count > *max) {
        Some(max) => Err(format!("must have at most {}, not {count}", items(max))),
        None => Ok(()),
    }
}

/// Formats a permitted value for display: a text without quotes, or as JSON if another permitted value looks the same.
pub fn choice_text(allowed: &[Value], value: &Value) -> String {
    let text = Entry::Value(value.clone()).to_text();
    let looks_same = |other: &Value| {
        let shown = (!other.is_string()).then(|| other.to_string());
        shown.as_deref() == Some(&*text)
    };
    match value.is_string() && allowed.iter().any(looks_same) {
        true => value.to_string(),
        false => text,
    }
}

fn not_permitted_message(allowed: &[Value], given: &str) -> String {
    let shown: Vec<String> = allowed
        .iter()
        .take(8)
        .map(|value| match value {
            // Texts with commas are quoted, because commas separate the values.
            Value::String(text) if text.is_empty() || text.contains([',', '"']) => {
                value.to_string()
            }
            value => choice_text(allowed, value),
        })
        .collect();
    let more = allowed.len().saturating_sub(shown.len());
    let more = if more > 0 {
        format!(" or {more} more")
    } else {
        String::new()
    };
    format!(
        "must be one of {}{more}, not “{}”",
        shown.join(", "),
        shortened(given)
    )
}

/// Truncates a long value in a message.
fn shortened(text: &str) -> String {
    const MAX: usize = 40;
    if text.chars().count() <= MAX {
        return text.to_owned();
    }
    text.chars().take(MAX).chain(['…']).collect()
}

#[cfg(test)]
mod tests;

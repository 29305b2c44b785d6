//! Converts a form's input to JSON text and back.

use atelier_contract::{Draft, Entry, Schema, check, json};
use serde_json::{Map, Value};

use crate::form::parameter_name::similar_parameter;

const INVALID: &str = "Invalid JSON";

/// The message above the fields while the JSON that the user has typed is invalid.
pub const INVALID_TEXT_MESSAGE: &str = "The JSON is invalid, so the form shows the last valid values. Nothing is sent until you \
                                        correct or discard the JSON.";

/// A text that [`read`] rejects, while the form has other values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InvalidText {
    /// The parse error.
    pub problem: String,
    /// Whether the form was changed after the text became invalid.
    pub is_form_newer: bool,
}

impl InvalidText {
    /// Returns the message below the text: the error and, if the form was changed since, a warning that corrected JSON
    /// replaces these changes.
    pub fn message(&self) -> String {
        match self.is_form_newer {
            true => format!(
                "{} The form was changed since: once the JSON is valid, it replaces the form's values.",
                self.problem
            ),
            false => self.problem.clone(),
        }
    }
}

/// Writes the entries as an indented JSON object in the form's order. Invalid values are written unchanged. Names that
/// are not in the schema are last.
pub fn write(draft: &Draft, schema: &Schema) -> String {
    format!("{:#}", Value::Object(values(draft, schema)))
}

/// Returns the entries as JSON values.
pub fn values(draft: &Draft, schema: &Schema) -> Map<String, Value> {
    let mut input = Map::new();
    for (parameter, required) in schema.parameters() {
        let Some(entry) = draft.get(&parameter.name) else {
            continue;
        };
        let value = match (check(parameter, required, Some(entry)), entry) {
            (Ok(value), _) => value,
            (Err(_), Entry::Value(value)) => Some(value.clone()),
            (Err(_), Entry::Text(text)) => Some(Value::String(text.clone())),
        };
        if let Some(value) = value {
            input.insert(parameter.name.clone(), value);
        }
    }
    for (name, entry) in draft.iter() {
        if schema.parameter(name).is_none() {
            let value = match entry {
                Entry::Value(value) => value.clone(),
                Entry::Text(text) => Value::String(text.clone()),
            };
            input.insert(name.to_owned(), value);
        }
    }
    input
}

/// Parses a text into a draft; an empty text gives an empty draft.
///
/// # Errors
///
/// A message if the text is not a JSON object.
pub fn read(text: &str) -> Result<Draft, String> {
    let trimmed = text.trim_start_matches('\u{feff}').trim();
    if trimmed.is_empty() {
        return Ok(Draft::default());
    }
    match json::parse(text.as_bytes()) {
        Ok(Value::Object(values)) => Ok(Draft::from_values(&values)),
        Ok(_) => Err("The input is an object: names and values between { and }.".to_owned()),
        Err(_) if !trimmed.starts_with('{') => {
            Err(format!("{INVALID}: a {{ is missing at line 1."))
        }
        Err(error) if error.is_eof() => {
            let (what, line) = (missing_end(&error), error.line());
            Err(format!("{INVALID}: {what} is missing at line {line}."))
        }
        Err(error) => Err(format!("{INVALID}: {error}.")),
    }
}

/// Returns the character or part that is missing at the end of an incomplete text.
fn missing_end(error: &serde_json::Error) -> &'static str {
    let message = error.to_string();
    let is_in = |what: &str| message.starts_with(&format!("EOF while parsing {what}"));
    if is_in("an object") {
        "a }"
    } else if is_in("a list") {
        "a ]"
    } else if is_in("a string") {
        "a \""
    } else {
        "a value"
    }
}

/// A name that is not a parameter of the model, and a similar parameter, if there is one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unknown {
    pub name: String,
    pub suggestion: Option<String>,
}

/// Returns the names that are not parameters of the model. Names with a similar parameter are first.
pub fn unknown(draft: &Draft, schema: &Schema) -> Vec<Unknown> {
    let names = draft.iter().map(|(name, _)| name);
    let unknown = names.filter(|name| schema.parameter(name).is_none());
    let is_free = |name: &str| draft.get(name).is_none();
    let unknown = unknown.map(|name| Unknown {
        name: name.to_owned(),
        suggestion: similar_parameter(name, schema, is_free).map(str::to_owned),
    });
    let mut unknown: Vec<Unknown> = unknown.collect();
    unknown.sort_by_key(|it| it.suggestion.is_none());
    unknown
}

/// Renames an entry, or removes it if `to` is `None`.
pub fn renamed(draft: &Draft, name: &str, to: Option<&str>) -> Draft {
    let mut renamed = draft.clone();
    renamed.reset(name);
    if let (Some(to), Some(entry)) = (to, draft.get(name)) {
        renamed.set(to, entry.clone());
    }
    renamed
}

/// Returns messages about invalid values and unknown names, which are not sent. Missing values are not reported.
pub fn mistakes(draft: &Draft, schema: &Schema) -> Vec<String> {
    let mut mistakes = Vec::new();
    let mut unknown = Vec::new();
    for (name, entry) in draft.iter() {
        match schema.parameter(name) {
            None => unknown.push(name),
            Some((parameter, required)) => {
                let wrong = check(parameter, required, Some(entry)).err();
                mistakes.extend(wrong.map(|problem| format!("{}.", problem.message)));
            }
        }
    }
    if !unknown.is_empty() {
        mistakes.push(unknown_message(&unknown));
    }
    mistakes
}

/// Returns a message such as `Not sent, as the model has no such parameter: colour, promt.`; empty if there are no such
/// names.
pub fn unknown_message<T: AsRef<str>>(names: &[T]) -> String {
    let names: Vec<&str> = names.iter().map(AsRef::as_ref).collect();
    match names.is_empty() {
        true => String::new(),
        false => format!(
            "Not sent, as the model has no such parameter: {}.",
            names.join(", ")
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn schema() -> Schema {
        serde_json::from_value(json!({
            "category": "image", "subcategory": "a", "parameters": {
                "required": [{"name": "prompt", "type": "string"}],
                "optional": [
                    {"name": "steps", "type": "integer", "minimum": 1, "maximum": 50},
                    {"name": "seed", "type": "integer", "maximum": u64::MAX}
                ]
            }
        }))
        .unwrap()
    }

    fn draft(entries: &[(&str, Entry)]) -> Draft {
        let mut draft = Draft::default();
        for (name, entry) in entries {
            draft.set(*name, entry.clone());
        }
        draft
    }

    #[test]
    fn typed_values_have_the_types_and_order_of_the_schema() {
        let draft = draft(&[
            ("seed", Entry::Text(u64::MAX.to_string())),
            ("prompt", Entry::Text("12".into())),
            ("steps", Entry::Text(" 7 ".into())),
        ]);
        assert_eq!(
            write(&draft, &schema()),
            "{\n  \"prompt\": \"12\",\n  \"steps\": 7,\n  \"seed\": 18446744073709551615\n}"
        );
    }

    #[test]
    fn invalid_and_unknown_values_survive_a_round_trip() {
        let before = draft(&[
            ("steps", Entry::Text("many".into())),
            ("colour", Entry::Text("red".into())),
        ]);
        let after = read(&write(&before, &schema())).unwrap();
        assert_eq!(after.get("steps"), Some(&Entry::Value("many".into())));
        assert_eq!(after.get("colour"), Some(&Entry::Value("red".into())));
        // Writing it again gives the same text.
        assert_eq!(write(&after, &schema()), write(&before, &schema()));
    }

    /// Unknown names must not be dropped without a message.
    #[test]
    fn invalid_values_and_unknown_names_are_reported() {
        let of = |text: &str| mistakes(&read(text).unwrap(), &schema());
        assert!(of("").is_empty());
        assert!(of(r#"{"prompt": "a", "steps": 7}"#).is_empty());
        let found = of(r#"{"steps": 99, "foo": 1, "bar": 2}"#);
        assert!(found[0].contains("steps"), "{found:?}");
        assert!(
            found[1].ends_with("no such parameter: bar, foo.")
                || found[1].ends_with("no such parameter: foo, bar."),
            "{found:?}"
        );
        assert_eq!(found.len(), 2);
    }

    #[test]
    fn a_misspelled_name_can_be_corrected() {
        let typed = read(r#"{"promt": "a", "foo": 1, "steps": 7}"#).unwrap();
        let found = unknown(&typed, &schema());
        let names: Vec<_> = found
            .iter()
            .map(|it| (it.name.as_str(), it.suggestion.as_deref()))
            .collect();
        assert_eq!(names, [("promt", Some("prompt")), ("foo", None)]);
        let corrected = renamed(&typed, "promt", Some("prompt"));
        let corrected = renamed(&corrected, "foo", None);
        let expected = read(r#"{"prompt": "a", "steps": 7}"#).unwrap();
        assert_eq!(corrected, expected);
        assert!(unknown(&corrected, &schema()).is_empty());
    }

    /// Corrected JSON replaces later changes in the form, so the message must warn the user.
    #[test]
    fn an_invalid_text_reports_that_the_form_was_changed_since() {
        let problem = read("{").unwrap_err();
        let mut invalid = InvalidText {
            problem: problem.clone(),
            is_form_newer: false,
        };
        assert_eq!(invalid.message(), problem);
        invalid.is_form_newer = true;
        let message = invalid.message();
        assert!(message.starts_with(&problem), "{message}");
        assert!(message.contains("replaces the form's values"), "{message}");
    }

    #[test]
    fn texts_that_are_not_objects_are_explained() {
        assert_eq!(read(" "), Ok(Draft::default()));
        assert_eq!(read("{}"), Ok(Draft::default()));
        assert!(read("[1]").unwrap_err().contains("object"));
        assert!(read("{\"a\": }").unwrap_err().contains("line 1"));
        for text in ["a red fox", "prompt: a", "]", "[1"] {
            let message = read(text).unwrap_err();
            assert_eq!(message, "Invalid JSON: a { is missing at line 1.", "{text}");
        }
        for (text, lacks) in [
            ("{", "}"),
            ("{\"a\": 1", "}"),
            ("{\"a\": [1", "]"),
            ("{\"a", "\""),
            ("{\"a\":", "value"),
        ] {
            let message = read(text).unwrap_err();
            assert!(
                message.ends_with(" is missing at line 1."),
                "{text}: {message}"
            );
            assert!(message.contains(lacks), "{text}: {message}");
        }
    }
}

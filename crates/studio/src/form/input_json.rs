//! A form's input as a JSON text: what stands in the form, written, and read back.

use atelier_contract::{Draft, Entry, Schema, check, json};
use serde_json::{Map, Value};

use crate::form::parameter_name::meant;

const INVALID: &str = "Invalid JSON";

/// Says above the form's fields that they are not what the person has written.
pub const HIDDEN_UNREAD: &str = "The JSON could not be read, so the form shows the last values that could. Nothing is \
                                 sent until you repair the JSON or discard it.";

/// A text that [`read`] refuses, next to a form that holds values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unread {
    /// What is wrong with it.
    pub problem: String,
    /// The form was changed while the text could not be read.
    pub is_form_newer: bool,
}

impl Unread {
    /// Says below the text what is wrong with it, and what its repair would replace.
    pub fn message(&self) -> String {
        match self.is_form_newer {
            true => format!(
                "{} The form was changed since: once this text can be read, it replaces what the form holds.",
                self.problem
            ),
            false => self.problem.clone(),
        }
    }
}

/// Writes the entries as an indented JSON object in the form's order. A value that can't be sent yet stands as it was
/// typed; names that are not in the schema come last.
pub fn write(draft: &Draft, schema: &Schema) -> String {
    format!("{:#}", Value::Object(values(draft, schema)))
}

/// The same as values.
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

/// The draft that a text gives; an empty text gives one in which nothing was touched.
///
/// # Errors
///
/// A sentence for a person, if the text is no JSON object.
pub fn read(text: &str) -> Result<Draft, String> {
    let begun = text.trim_start_matches('\u{feff}').trim();
    if begun.is_empty() {
        return Ok(Draft::default());
    }
    match json::parse(text.as_bytes()) {
        Ok(Value::Object(values)) => Ok(Draft::from_values(&values)),
        Ok(_) => Err("The input is an object: names and values between { and }.".to_owned()),
        Err(_) if !begun.starts_with('{') => Err(format!("{INVALID}: a {{ is missing at line 1.")),
        Err(error) if error.is_eof() => {
            let (what, line) = (open(&error), error.line());
            Err(format!("{INVALID}: {what} is missing at line {line}."))
        }
        Err(error) => Err(format!("{INVALID}: {error}.")),
    }
}

/// Says what a text lacks that ends too early.
fn open(error: &serde_json::Error) -> &'static str {
    let said = error.to_string();
    let is_in = |what: &str| said.starts_with(&format!("EOF while parsing {what}"));
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

/// A name that the model does not know, and the parameter that is meant, if one is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unknown {
    pub name: String,
    pub meant: Option<String>,
}

/// The names of a text that the model does not know, those that can be mended first.
pub fn unknown(draft: &Draft, schema: &Schema) -> Vec<Unknown> {
    let names = draft.iter().map(|(name, _)| name);
    let unknown = names.filter(|name| schema.parameter(name).is_none());
    let is_free = |name: &str| draft.get(name).is_none();
    let unknown = unknown.map(|name| Unknown {
        name: name.to_owned(),
        meant: meant(name, schema, is_free).map(str::to_owned),
    });
    let mut unknown: Vec<Unknown> = unknown.collect();
    unknown.sort_by_key(|it| it.meant.is_none());
    unknown
}

/// The draft in which a name is another one, with the same value; without it, where it is to be none.
pub fn renamed(draft: &Draft, name: &str, to: Option<&str>) -> Draft {
    let mut renamed = draft.clone();
    renamed.reset(name);
    if let (Some(to), Some(entry)) = (to, draft.get(name)) {
        renamed.set(to, entry.clone());
    }
    renamed
}

/// Gives the mistakes of a text, and the names that the model does not know: they are not sent. A missing value is no
/// mistake of the text.
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

/// `Not sent, as the model has no such parameter: colour, promt.`; empty where there are none.
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
    fn what_was_typed_has_the_types_of_the_schema_and_its_order() {
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
    fn nothing_that_was_typed_is_lost_on_the_way() {
        let before = draft(&[
            ("steps", Entry::Text("many".into())),
            ("colour", Entry::Text("red".into())),
        ]);
        let after = read(&write(&before, &schema())).unwrap();
        assert_eq!(after.get("steps"), Some(&Entry::Value("many".into())));
        assert_eq!(after.get("colour"), Some(&Entry::Value("red".into())));
        // Written once more it is the same.
        assert_eq!(write(&after, &schema()), write(&before, &schema()));
    }

    /// Guards against names that are dropped without a word.
    #[test]
    fn what_is_wrong_and_what_is_not_known_is_told() {
        let of = |text: &str| mistakes(&read(text).unwrap(), &schema());
        assert!(of("").is_empty());
        assert!(of(r#"{"prompt": "a", "steps": 7}"#).is_empty());
        let told = of(r#"{"steps": 99, "foo": 1, "bar": 2}"#);
        assert!(told[0].contains("steps"), "{told:?}");
        assert!(
            told[1].ends_with("no such parameter: bar, foo.")
                || told[1].ends_with("no such parameter: foo, bar."),
            "{told:?}"
        );
        assert_eq!(told.len(), 2);
    }

    #[test]
    fn a_slip_in_a_name_can_be_mended() {
        let typed = read(r#"{"promt": "a", "foo": 1, "steps": 7}"#).unwrap();
        let found = unknown(&typed, &schema());
        let said: Vec<_> = found
            .iter()
            .map(|it| (it.name.as_str(), it.meant.as_deref()))
            .collect();
        assert_eq!(said, [("promt", Some("prompt")), ("foo", None)]);
        let mended = renamed(&typed, "promt", Some("prompt"));
        let mended = renamed(&mended, "foo", None);
        let expected = read(r#"{"prompt": "a", "steps": 7}"#).unwrap();
        assert_eq!(mended, expected);
        assert!(unknown(&mended, &schema()).is_empty());
    }

    /// Guards against a text that is repaired and silently replaces what was entered in the form meanwhile.
    #[test]
    fn an_unread_text_says_that_the_form_was_changed_since() {
        let problem = read("{").unwrap_err();
        let mut unread = Unread {
            problem: problem.clone(),
            is_form_newer: false,
        };
        assert_eq!(unread.message(), problem);
        unread.is_form_newer = true;
        let message = unread.message();
        assert!(message.starts_with(&problem), "{message}");
        assert!(
            message.contains("replaces what the form holds"),
            "{message}"
        );
    }

    #[test]
    fn what_is_no_object_is_told() {
        assert_eq!(read(" "), Ok(Draft::default()));
        assert_eq!(read("{}"), Ok(Draft::default()));
        assert!(read("[1]").unwrap_err().contains("object"));
        assert!(read("{\"a\": }").unwrap_err().contains("line 1"));
        for text in ["a red fox", "prompt: a", "]", "[1"] {
            let said = read(text).unwrap_err();
            assert_eq!(said, "Invalid JSON: a { is missing at line 1.", "{text}");
        }
        for (text, lacks) in [
            ("{", "}"),
            ("{\"a\": 1", "}"),
            ("{\"a\": [1", "]"),
            ("{\"a", "\""),
            ("{\"a\":", "value"),
        ] {
            let said = read(text).unwrap_err();
            assert!(said.ends_with(" is missing at line 1."), "{text}: {said}");
            assert!(said.contains(lacks), "{text}: {said}");
        }
    }
}

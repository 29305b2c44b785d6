//! The values of a task's secret parameters. They are stored separately from the input, so that they can be deleted when
//! the task ends, and are removed from every text about the task that is stored or logged.

use std::fmt;

use atelier_contract::Schema;
use serde_json::{Map, Value};

/// The replacement of a secret in a text.
pub const HIDDEN: &str = "[secret]";

/// Single lines of a secret are also hidden if they have at least this number of bytes: a program may print one line.
const SHORTEST_LINE: usize = 8;

/// The start of a secret is also hidden if it has at least this number of characters, and the secret twice as many:
/// servers truncate values in their messages.
const SHORTEST_PREFIX: usize = 12;

/// Secret values by parameter name. `Debug` shows only the names.
#[derive(Clone, Default, PartialEq)]
pub struct Secrets(Map<String, Value>);

impl Secrets {
    /// Moves the values of the schema's secret parameters out of an input.
    pub fn take_from(input: &mut Map<String, Value>, schema: &Schema) -> Self {
        let secret = schema.parameters().map(|(parameter, _)| parameter);
        let names = secret
            .filter(|parameter| parameter.is_secret())
            .map(|parameter| &parameter.name);
        let values = names.filter_map(|name| Some((name.clone(), input.remove(name)?)));
        Self(values.collect())
    }

    /// Adds other secrets.
    #[must_use]
    pub fn merge(mut self, others: Self) -> Self {
        self.0.extend(others.0);
        self
    }

    /// Adds the values to the input.
    pub fn add_to(&self, input: &mut Map<String, Value>) {
        input.extend(self.0.clone());
    }

    /// Returns the text that is stored until the task ends; `None` without values.
    pub fn to_stored(&self) -> Option<String> {
        (!self.0.is_empty()).then(|| Value::Object(self.0.clone()).to_string())
    }

    /// Parses the result of [`Self::to_stored`].
    pub fn from_stored(text: Option<&str>) -> Self {
        match text.map(serde_json::from_str) {
            Some(Ok(Value::Object(values))) => Self(values),
            _ => Self::default(),
        }
    }

    /// Replaces each value in the text with [`HIDDEN`], also in its JSON form.
    pub fn hide_in(&self, text: &str) -> String {
        let mut forms = Vec::new();
        self.0.values().for_each(|value| collect(value, &mut forms));
        // Longest first, because replacing a part of a longer value would leave the rest of it.
        forms.sort_by_key(|form| std::cmp::Reverse(form.len()));
        let hide = |text: String, form: &String| text.replace(form, HIDDEN);
        let hidden = forms.iter().fold(text.to_owned(), hide);
        // Truncated values.
        forms
            .iter()
            .fold(hidden, |text, form| hide_prefix(&text, form))
    }

    /// Hides the secrets in all texts of an input that does not contain them as parameters: a user may have typed one into
    /// the prompt, too.
    pub fn hide_in_values(&self, input: Map<String, Value>) -> Map<String, Value> {
        if self.0.is_empty() {
            return input;
        }
        let fields = input.into_iter();
        fields
            .map(|(name, value)| (name, self.hide_in_value(value)))
            .collect()
    }

    fn hide_in_value(&self, value: Value) -> Value {
        match value {
            Value::String(text) => self.hide_in(&text).into(),
            Value::Array(items) => {
                let items = items.into_iter();
                items.map(|item| self.hide_in_value(item)).collect()
            }
            Value::Object(fields) => self.hide_in_values(fields).into(),
            other => other,
        }
    }
}

impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

/// Hides the start of a long secret in a text.
fn hide_prefix(text: &str, form: &str) -> String {
    let begin: String = form.chars().take(SHORTEST_PREFIX).collect();
    if form.chars().count() < 2 * SHORTEST_PREFIX {
        return text.to_owned();
    }
    let (mut hidden, mut rest) = (String::new(), text);
    while let Some(at) = rest.find(&begin) {
        hidden += &rest[..at];
        hidden += HIDDEN;
        let same = rest[at..]
            .chars()
            .zip(form.chars())
            .take_while(|(a, b)| a == b);
        let length: usize = same.map(|(same, _)| same.len_utf8()).sum();
        rest = &rest[at + length..];
    }
    hidden + rest
}

/// Collects the texts and numbers in a value, in the forms in which a message may contain them.
fn collect(value: &Value, forms: &mut Vec<String>) {
    match value {
        Value::String(text) => {
            let lines = text.lines().map(str::trim);
            let lines = lines.filter(|line| line.len() >= SHORTEST_LINE);
            for form in lines.chain([text.as_str(), text.trim()]) {
                let json = Value::from(form).to_string();
                forms.extend([form.to_owned(), json[1..json.len() - 1].to_owned()]);
            }
        }
        Value::Number(number) => forms.push(number.to_string()),
        Value::Array(items) => items.iter().for_each(|item| collect(item, forms)),
        Value::Object(fields) => fields.values().for_each(|field| collect(field, forms)),
        Value::Null | Value::Bool(_) => {}
    }
    forms.retain(|form| !form.is_empty());
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn secrets(value: Value) -> Secrets {
        Secrets::from_stored(Some(&value.to_string()))
    }

    /// Guards against an error message that contains a key in JSON form.
    #[test]
    fn a_value_is_hidden_in_plain_and_json_form() {
        let one = secrets(json!({"key": "a\"b\\c", "keys": ["sk-1", {"pin": 4711}], "none": null}));
        for (text, hidden) in [
            ("key a\"b\\c refused", "key [secret] refused"),
            (r#"{"key":"a\"b\\c","n":1}"#, r#"{"key":"[secret]","n":1}"#),
            ("sk-1, 4711 null", "[secret], [secret] null"),
            ("nothing", "nothing"),
        ] {
            assert_eq!(one.hide_in(text), hidden);
        }
        let lines = secrets(json!({"key": "-----BEGIN KEY-----\nMIIEvQIBADAN\n"}));
        assert_eq!(lines.hide_in("read MIIEvQIBADAN."), "read [secret].");
        assert_eq!(secrets(json!({"key": ""})).hide_in("abc"), "abc");
        let long = secrets(json!({"key": "sk-0123456789-abcdefghij-ÄÖÜ"}));
        for (text, hidden) in [
            ("refused: sk-0123456789-abcde…", "refused: [secret]…"),
            ("sk-0123456789-abcdefghij-Ä", "[secret]"),
            ("sk-01234", "sk-01234"),
        ] {
            assert_eq!(long.hide_in(text), hidden, "a truncated secret");
        }
    }

    #[test]
    fn only_secret_parameters_are_moved_and_debug_hides_their_values() {
        let schema: Schema = serde_json::from_value(json!({
            "category": "a", "subcategory": "b", "parameters": {
                "required": [{"name": "prompt", "type": "string", "description": ""}],
                "optional": [{"name": "key", "type": "string", "description": "", "format": "password"}],
            },
        }))
        .unwrap();
        let given = json!({"prompt": "a", "key": "sk-1"});
        let mut input = given.as_object().cloned().unwrap();
        let taken = Secrets::take_from(&mut input, &schema);
        assert_eq!(Value::from(input.clone()), json!({"prompt": "a"}));
        assert_eq!(format!("{taken:?}"), r#"{"key"}"#);
        let stored = taken.to_stored();
        let read = Secrets::from_stored(stored.as_deref());
        assert_eq!(read, taken);
        read.add_to(&mut input);
        assert_eq!(Value::from(input), given);
        assert_eq!(Secrets::default().to_stored(), None);
    }
}

//! `Copy as`: the form as it now stands, as a program that generates, polls and fetches.
//!
//! Token and user id come from the environment (`SERVICE_TOKEN`, `SERVICE_UID`), never from here.
//! All values are data: whatever a prompt or a schema contains, it stays inside its literal.

use atelier_contract::{Draft, Entry, ModelId, Schema, check};
use serde_json::{Map, Value};

use crate::highlight::Grammar;

/// The language or tool of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    /// A POSIX shell with curl.
    Curl,
    /// Python 3, standard library alone.
    Python,
    /// An ECMAScript module for Node.js 18 and later, or a browser's console but for the
    /// environment.
    JavaScript,
    /// The program uses `reqwest` and `serde_json`.
    Rust,
}

impl Language {
    pub const ALL: [Self; 4] = [Self::Curl, Self::Python, Self::JavaScript, Self::Rust];

    pub fn name(self) -> &'static str {
        match self {
            Self::Curl => "curl",
            Self::Python => "Python",
            Self::JavaScript => "JavaScript",
            Self::Rust => "Rust",
        }
    }

    pub fn grammar(self) -> Grammar {
        match self {
            Self::Python => Grammar::Python,
            Self::Curl | Self::JavaScript | Self::Rust => Grammar::Plain,
        }
    }
}

/// The values that a form would send as it stands; with `send_defaults` those of untouched optional
/// parameters, too. An entry that is not valid yet is given as written: the code shows the form, and
/// the service will say what it thinks of it.
pub fn values(schema: &Schema, draft: &Draft, send_defaults: bool) -> Map<String, Value> {
    let mut values = Map::new();
    for (parameter, required) in schema.parameters() {
        let entry = parameter.entry_in(draft, required || send_defaults);
        let value = match check(parameter, required, entry.as_ref()) {
            Ok(value) => value,
            Err(_) => entry.map(|entry| match entry {
                Entry::Text(text) => Value::String(text),
                Entry::Value(value) => value,
            }),
        };
        if let Some(value) = value {
            values.insert(parameter.name.clone(), value);
        }
    }
    values
}

/// The program. `service` is the service's address, with its scheme.
pub fn snippet(
    language: Language,
    service: &str,
    model: &ModelId,
    values: &Map<String, Value>,
) -> String {
    let service = service.trim().trim_end_matches('/');
    match language {
        Language::Curl => curl(service, model, values),
        Language::Python => python(service, model, values),
        Language::JavaScript => javascript(service, model, values),
        Language::Rust => rust(service, model, values),
    }
}

fn curl(service: &str, model: &ModelId, values: &Map<String, Value>) -> String {
    let fields = |values: &Map<String, Value>| {
        let entries = values.iter().map(|(name, value)| {
            let entry = format!("{}: {}", string(name), json(value));
            format!(",\n  {}", entry.replace('\'', "'\\''"))
        });
        entries.collect::<String>()
    };
    fill(
        include_str!("snippet/curl.sh"),
        [
            ("@SERVICE@", quoted(service, '\'', "'\\''")),
            ("@MODEL@", fields(&identity(model))),
            ("@VALUES@", fields(values)),
        ],
    )
}

fn python(service: &str, model: &ModelId, values: &Map<String, Value>) -> String {
    let fields = |values: &Map<String, Value>| {
        let entries = values.iter();
        entries
            .map(|(name, value)| format!("    {}: {},\n", string(name), python_literal(value)))
            .collect::<String>()
    };
    fill(
        include_str!("snippet/python.py"),
        [
            ("@SERVICE@", string(service)),
            ("    # @MODEL@\n", fields(&identity(model))),
            ("    # @VALUES@\n", fields(values)),
        ],
    )
}

fn javascript(service: &str, model: &ModelId, values: &Map<String, Value>) -> String {
    // JSON in a literal of its own: as JavaScript numbers, integers above 2^53 would be rounded.
    let fields = |values: &Map<String, Value>| {
        let entries = values.iter().map(|(name, value)| {
            let entry = format!("{}: {}", string(name), json(value)).replace('\\', "\\\\");
            format!("  {},\n", quoted(&entry, '\'', "\\'"))
        });
        entries.collect::<String>()
    };
    fill(
        include_str!("snippet/javascript.mjs"),
        [
            ("@SERVICE@", string(service)),
            ("  // @MODEL@\n", fields(&identity(model))),
            ("  // @VALUES@\n", fields(values)),
        ],
    )
}

fn rust(service: &str, model: &ModelId, values: &Map<String, Value>) -> String {
    let object = |values: &Map<String, Value>| {
        let entries: Vec<String> = values
            .iter()
            .map(|(name, value)| format!("        {}: {}", string(name), json(value)))
            .collect();
        raw(&format!("{{\n{}\n    }}", entries.join(",\n")))
    };
    fill(
        include_str!("snippet/rust.rs.txt"),
        [
            ("@SERVICE@", raw(service)),
            ("@MODEL@", object(&identity(model))),
            ("@VALUES@", object(values)),
        ],
    )
}

/// Puts the texts into their places, which the template has in this order. One pass: what is put
/// in is never searched for places.
fn fill<const N: usize>(template: &str, places: [(&str, String); N]) -> String {
    let mut filled = String::new();
    let mut rest = template;
    for (place, text) in places {
        if let Some((before, after)) = rest.split_once(place) {
            filled.push_str(before);
            filled.push_str(&text);
            rest = after;
        }
    }
    filled + rest
}

fn identity(model: &ModelId) -> Map<String, Value> {
    [
        ("category", &model.category),
        ("subcategory", &model.subcategory),
    ]
    .into_iter()
    .map(|(name, text)| (name.to_owned(), Value::String(text.clone())))
    .collect()
}

/// JSON on one line. Characters that reverse the reading direction are escaped: code must read as
/// it runs. (They occur in strings alone.)
fn json(value: &Value) -> String {
    let mut json = String::new();
    for c in value.to_string().chars() {
        match c {
            '\u{7f}'..='\u{9f}'
            | '\u{61c}'
            | '\u{200e}'
            | '\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2066}'..='\u{2069}'
            | '\u{feff}' => {
                json.push_str(&format!("\\u{:04x}", u32::from(c)));
            }
            c => json.push(c),
        }
    }
    json
}

/// A text as a JSON string, which Python and JavaScript read alike: quotes, backslashes and
/// control characters are escaped, and in ways that all of them know.
fn string(text: &str) -> String {
    json(&Value::String(text.to_owned()))
}

fn quoted(text: &str, quote: char, inside: &str) -> String {
    format!("{quote}{}{quote}", text.replace(quote, inside))
}

fn python_literal(value: &Value) -> String {
    match value {
        Value::Null => "None".into(),
        Value::Bool(true) => "True".into(),
        Value::Bool(false) => "False".into(),
        Value::Array(values) => {
            let values: Vec<String> = values.iter().map(python_literal).collect();
            format!("[{}]", values.join(", "))
        }
        Value::Object(map) => {
            let entries: Vec<String> = map
                .iter()
                .map(|(name, value)| format!("{}: {}", string(name), python_literal(value)))
                .collect();
            format!("{{{}}}", entries.join(", "))
        }
        Value::Number(_) | Value::String(_) => json(value),
    }
}

/// A raw Rust literal with as many `#` as the text demands.
fn raw(text: &str) -> String {
    let mut hashes = String::from("#");
    while text.contains(&format!("\"{hashes}")) {
        hashes.push('#');
    }
    format!("r{hashes}\"{text}\"{hashes}")
}

#[cfg(test)]
mod tests;

//! `Copy as`: converts the current form to a program that submits the task, polls it and downloads its outputs.
//!
//! Programs never contain the token, the User ID or the values of secret parameters, but read them from the environment
//! (`SERVICE_TOKEN`, `SERVICE_UID`, [`environment_name`]). All texts of prompts and schemas are escaped, so that they
//! stay inside their literals.

use atelier_contract::{Draft, Entry, ModelId, Schema, check};
use serde_json::{Map, Value};

use crate::share::highlight::Grammar;

/// The language or tool of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    /// A POSIX shell with curl.
    Curl,
    /// Python 3 with only the standard library.
    Python,
    /// An ECMAScript module for Node.js 18 and later, or for a browser's console without the environment.
    JavaScript,
    /// A program with the crates `reqwest` and `serde_json`.
    Rust,
}

impl Language {
    pub const ALL: [Self; 4] = [Self::Curl, Self::Python, Self::JavaScript, Self::Rust];

    /// Returns the name on the page.
    pub fn name(self) -> &'static str {
        match self {
            Self::Curl => "curl",
            Self::Python => "Python",
            Self::JavaScript => "JavaScript",
            Self::Rust => "Rust",
        }
    }

    /// Returns the grammar to highlight the program.
    pub fn grammar(self) -> Grammar {
        match self {
            Self::Python => Grammar::Python,
            Self::Curl | Self::JavaScript | Self::Rust => Grammar::Plain,
        }
    }
}

/// Returns the values that a form would send. With `send_defaults`, they include the defaults of optional parameters
/// without an entry. Invalid entries are included unchanged, because the program must have the same input as the form,
/// and the service validates it.
pub fn values(schema: &Schema, draft: &Draft, send_defaults: bool) -> Map<String, Value> {
    let mut values = Map::new();
    for (parameter, required) in schema.parameters() {
        let entry = parameter.entry_in(draft, required, send_defaults);
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

/// Returns the environment variable for a secret parameter: `API_KEY` for `api_key`. Names that start with `SERVICE_` are
/// reserved for the service.
pub fn environment_name(parameter: &str) -> String {
    let character = |c: char| match c.is_ascii_alphanumeric() {
        true => c.to_ascii_uppercase(),
        false => '_',
    };
    let name: String = parameter.chars().map(character).collect();
    let is_free = !name.starts_with("SERVICE_") && !name.starts_with(|c: char| c.is_ascii_digit());
    match is_free {
        true => name,
        false => format!("MODEL_{name}"),
    }
}

/// Returns the program. `service`: the service's address, with its scheme. `secrets`: the names of the parameters whose
/// values come from the environment.
pub fn snippet(
    language: Language,
    service: &str,
    model: &ModelId,
    values: &Map<String, Value>,
    secrets: &[String],
) -> String {
    let service = service.trim().trim_end_matches('/');
    let secrets: Vec<Secret> = secrets
        .iter()
        .map(|name| (&**name, environment_name(name)))
        .collect();
    let program = match language {
        Language::Curl => curl(service, model, values, &secrets),
        Language::Python => python(service, model, values, &secrets),
        Language::JavaScript => javascript(service, model, values, &secrets),
        Language::Rust => rust(service, model, values, &secrets),
    };
    // Add the variables to the comment with the requirements, which is the first match.
    secrets.iter().fold(program, |program, (_, variable)| {
        program.replacen(
            " and SERVICE_UID",
            &format!(", {variable} and SERVICE_UID"),
            1,
        )
    })
}

/// The name of a secret parameter, and its environment variable.
type Secret<'a> = (&'a str, String);

/// Concatenates `line` for each secret.
fn each(secrets: &[Secret], line: impl Fn(&str, &str) -> String) -> String {
    let lines = secrets.iter().map(|(name, variable)| line(name, variable));
    lines.collect()
}

fn curl(service: &str, model: &ModelId, values: &Map<String, Value>, secrets: &[Secret]) -> String {
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
            (
                "# @SECRETS@\n",
                each(secrets, |_, variable| {
                    format!("export {variable}=\"${{{variable}:?}}\"\n")
                }),
            ),
            ("@VALUES@", fields(values) + &each(secrets, secret)),
        ],
    )
}

fn python(
    service: &str,
    model: &ModelId,
    values: &Map<String, Value>,
    secrets: &[Secret],
) -> String {
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
            (
                "    # @VALUES@\n",
                fields(values)
                    + &each(secrets, |name, variable| {
                        format!("    {}: os.environ[\"{variable}\"],\n", string(name))
                    }),
            ),
        ],
    )
}

fn javascript(
    service: &str,
    model: &ModelId,
    values: &Map<String, Value>,
    secrets: &[Secret],
) -> String {
    // Write JSON in string literals, because JavaScript would round integers above 2^53.
    let fields = |values: &Map<String, Value>| {
        let entries = values.iter().map(|(name, value)| {
            format!(
                "  {},\n",
                literal(&format!("{}: {}", string(name), json(value)))
            )
        });
        entries.collect::<String>()
    };
    fill(
        include_str!("snippet/javascript.mjs"),
        [
            ("@SERVICE@", string(service)),
            ("  // @MODEL@\n", fields(&identity(model))),
            (
                "  // @VALUES@\n",
                fields(values)
                    + &each(secrets, |name, variable| {
                        let name = literal(&format!("{}: ", string(name)));
                        format!("  {name} + JSON.stringify(process.env.{variable}),\n")
                    }),
            ),
        ],
    )
}

fn rust(service: &str, model: &ModelId, values: &Map<String, Value>, secrets: &[Secret]) -> String {
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
            (
                "    // @SECRETS@\n",
                each(secrets, |name, variable| {
                    let name = raw(name);
                    format!("    body.insert({name}.into(), env::var(\"{variable}\")?.into());\n")
                }),
            ),
        ],
    )
}

/// Returns shell code that adds a secret parameter to JSON text, with quotes, backslashes and line breaks of its value
/// escaped.
fn secret(name: &str, variable: &str) -> String {
    let name = string(name).replace('\'', "'\\''");
    let value = format!(
        r#"$(awk 'BEGIN {{ s = ENVIRON["{variable}"]; gsub(/[\\"]/, "\\\\&", s); gsub(/\n/, "\\n", s); printf "%s", s }}')"#
    );
    format!(",\n  {name}: \"'\"{value}\"'\"")
}

/// Returns a JavaScript string literal.
fn literal(text: &str) -> String {
    quoted(&text.replace('\\', "\\\\"), '\'', "\\'")
}

/// Replaces the placeholders of a template. They must be in the order of the template. Inserted texts are not searched
/// for placeholders.
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

/// Formats JSON on one line. Invisible and bidirectional control characters in strings are escaped, so that the code
/// looks the same as it runs.
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

/// Formats a JSON string that Python and JavaScript can parse: quotes, backslashes and control characters are escaped in ways
/// that all of them support.
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

/// Returns a raw Rust string literal with as many `#` as needed.
fn raw(text: &str) -> String {
    let mut hashes = String::from("#");
    while text.contains(&format!("\"{hashes}")) {
        hashes.push('#');
    }
    format!("r{hashes}\"{text}\"{hashes}")
}

#[cfg(test)]
mod tests;

//! Resolves the files in the input of a task: outputs of this service, and addresses of other servers.

use atelier_contract::{Kind, Media, Parameter, Problem, Schema};
use serde_json::{Map, Value};

use crate::failure::Failure;
use crate::origin::Origin;
use crate::runner::Remote;
use crate::state::App;

/// The maximum number of files in an input, because each one requires a lookup.
const MAX_FILES: usize = 100;

/// Schemes that URL parsers also accept without the two slashes.
const LENIENT: [&str; 4] = ["http", "https", "ftp", "file"];

/// The role of a text in the input.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    /// Declared as plain text, even if it is an address.
    Text,
    /// Declared as a file.
    File,
    /// Undeclared. Treated as a file if it is an address.
    Unknown,
}

/// Replaces addresses of outputs by their paths, which are independent of the host name, including those in lists and
/// objects. Refuses other addresses, unless the model is remote and the models file permits them. Fetches no files.
///
/// # Errors
///
/// 422 with each address that is refused; 503 if the outputs don't respond.
pub fn resolve_files(
    app: &App,
    origin: &Origin,
    schema: &Schema,
    remote: Option<&Remote>,
    input: &mut Map<String, Value>,
) -> Result<(), Failure> {
    let mut resolver = FileResolver {
        app,
        origin,
        is_remote: remote.is_some(),
        accepts_addresses: remote.is_some_and(Remote::accepts_addresses),
        files: 0,
        problems: Vec::new(),
    };
    for (parameter, _) in schema.parameters() {
        if let Some(value) = input.get_mut(&parameter.name) {
            let role = resolver.role_of(parameter);
            resolver.resolve(parameter, &parameter.name, &parameter.extra, role, value)?;
        }
    }
    if resolver.problems.is_empty() {
        Ok(())
    } else {
        Err(Failure::invalid(resolver.problems))
    }
}

struct FileResolver<'a> {
    app: &'a App,
    origin: &'a Origin,
    /// Whether the model is remote.
    is_remote: bool,
    /// Whether http(s) addresses may be passed on to the model.
    accepts_addresses: bool,
    files: usize,
    problems: Vec<Problem>,
}

impl FileResolver<'_> {
    fn role_of(&self, parameter: &Parameter) -> Role {
        let has_media_name = parameter.media().is_some();
        if !self.is_remote {
            // Built-in models only accept images.
            return match parameter.media() {
                Some(Media::Image) => Role::File,
                _ => Role::Text,
            };
        }
        match parameter.kind() {
            _ if is_uri(&parameter.extra) => Role::File,
            // A declared format takes precedence over a name.
            Kind::Text | Kind::Enum | Kind::MultiChoice if !has_media_name => Role::Text,
            _ => Role::Unknown,
        }
    }

    /// Resolves the files in a value. `name` is the path of the value in messages, e.g. `images[0]`; `rules` is its JSON
    /// schema.
    fn resolve(
        &mut self,
        parameter: &Parameter,
        name: &str,
        rules: &Map<String, Value>,
        role: Role,
        value: &mut Value,
    ) -> Result<(), Failure> {
        match value {
            Value::String(text) if role != Role::Text => {
                if let Some(path) = self.resolve_text(parameter, name, role, text)? {
                    *value = path.into();
                }
            }
            Value::Array(items) => {
                let none = Map::new();
                let rules = rules.get("items").and_then(Value::as_object);
                let role = role_of_items(parameter, rules);
                for (n, item) in items.iter_mut().enumerate() {
                    let name = format!("{name}[{n}]");
                    self.resolve(parameter, &name, rules.unwrap_or(&none), role, item)?;
                }
            }
            Value::Object(fields) => {
                for (key, field) in fields.iter_mut() {
                    let name = format!("{name}.{key}");
                    self.resolve(parameter, &name, &Map::new(), Role::Unknown, field)?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Returns the path of an output of this service; `None` if the text is unchanged.
    fn resolve_text(
        &mut self,
        parameter: &Parameter,
        name: &str,
        role: Role,
        text: &str,
    ) -> Result<Option<String>, Failure> {
        let text = text.trim();
        if let Some(path) = self.origin.path_of(text)
            && (self.is_remote || has_image_extension(path))
        {
            self.files += 1;
            if self.files > MAX_FILES {
                let message = format!("{name} is one file too many: a task takes {MAX_FILES}");
                return Err(Failure::invalid_field(&parameter.name, message));
            }
            if is_output(self.app, path)? {
                return Ok(Some(path.to_owned()));
            }
        }
        let scheme = scheme_of(text);
        if !self.is_accepted(role, scheme.as_deref()) {
            self.problems.push(Problem {
                parameter: parameter.name.clone(),
                message: format!("{name} {}", self.describe_accepted(scheme.as_deref())),
            });
        }
        Ok(None)
    }

    /// Describes the accepted values, for a refused text with this scheme.
    fn describe_accepted(&self, scheme: Option<&str>) -> String {
        match scheme {
            _ if !self.is_remote => {
                "must be the address of an image that this service made or that was uploaded to it; nothing is \
                 fetched from elsewhere"
                    .into()
            }
            Some("http" | "https") => "must be the address of a file that this service made or that was uploaded to it, \
                 or a data: URI; other addresses are passed on if the models file says addresses = true"
                .into(),
            _ if !self.accepts_addresses => {
                "must be the address of a file that this service made or that was uploaded to it, or a data: URI; \
                 nothing is fetched from elsewhere"
                    .into()
            }
            Some(scheme) if !scheme.is_empty() => format!(
                "is an address with {scheme}:, which is not passed on; give an http(s) address, a data: URI, or the \
                 address of a file that this service made or that was uploaded to it"
            ),
            _ => "must be an http(s) address, a data: URI, or the address of a file that this service made or that \
                  was uploaded to it"
                .into(),
        }
    }

    /// Returns whether a text with this scheme is accepted if it is not an output of this service.
    fn is_accepted(&self, role: Role, scheme: Option<&str>) -> bool {
        if !self.is_remote {
            return false;
        }
        match scheme {
            Some("data") => true,
            Some("http" | "https") => self.accepts_addresses,
            Some(_) => false,
            None => role == Role::Unknown,
        }
    }
}

/// Returns the role of the texts in a list with these rules.
fn role_of_items(parameter: &Parameter, rules: Option<&Map<String, Value>>) -> Role {
    let named = Parameter {
        type_name: "string".into(),
        ..parameter.clone()
    };
    match rules {
        Some(rules) if is_uri(rules) => Role::File,
        Some(rules) if rules.get("type") == Some(&"string".into()) && named.media().is_none() => {
            Role::Text
        }
        _ => Role::Unknown,
    }
}

fn is_uri(rules: &Map<String, Value>) -> bool {
    rules.get("format").and_then(Value::as_str) == Some("uri")
}

/// Returns the scheme of an address in lower case. Parses as leniently as the most lenient URL parser, which drops
/// control characters. `//host` has an empty scheme, because it uses that of the page.
fn scheme_of(text: &str) -> Option<String> {
    let text: String = text.chars().filter(|c| !c.is_control()).collect();
    let text = text.trim_start();
    // No URL parser accepts a space before the host, so such a text is prose or a comment.
    let is_prose = |rest: &str| rest.starts_with(char::is_whitespace);
    if text.starts_with("//") || text.starts_with(r"\\") {
        return (!is_prose(&text[2..])).then(String::new);
    }
    let (scheme, rest) = text.split_once(':')?;
    if is_prose(rest) {
        return None;
    }
    let scheme = scheme.to_ascii_lowercase();
    let plain = |b: u8| b.is_ascii_alphanumeric() || b"+-.".contains(&b);
    let is_scheme =
        scheme.starts_with(|c: char| c.is_ascii_lowercase()) && scheme.bytes().all(plain);
    let is_address =
        rest.starts_with("//") || LENIENT.contains(&scheme.as_str()) || scheme == "data";
    (is_scheme && is_address).then_some(scheme)
}

/// Whether built-in models can read a file with this extension.
fn has_image_extension(path: &str) -> bool {
    let extension = path.rsplit_once('.').map_or("", |(_, extension)| extension);
    ["png", "jpg", "webp", "gif"].contains(&extension)
}

fn is_output(app: &App, path: &str) -> Result<bool, Failure> {
    // A preview may not have been rendered yet.
    if let Err(error) = app.samples.prepare(path) {
        tracing::error!("{path}: {error}");
    }
    app.outputs.has(path).map_err(Failure::outputs_unavailable)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Guards against spellings of an address that URL parsers accept, but that the service treats as plain text.
    #[test]
    fn addresses_are_found_in_every_spelling() {
        for (text, scheme) in [
            ("http://a.example/", Some("http")),
            ("HTTPS://a.example/", Some("https")),
            ("ht\ntp://a.example/", Some("http")),
            ("\u{1}http:a.example", Some("http")),
            ("http:\\\\a.example", Some("http")),
            ("file:/etc/passwd", Some("file")),
            ("gopher://a.example", Some("gopher")),
            ("//a.example/x", Some("")),
            ("\\\\host\\share", Some("")),
            ("data:,a", Some("data")),
            ("a lake: calm", None),
            ("note: see http://a.example", None),
            ("File: report", None),
            ("// main.rs fn main", None),
            ("/outputs/a/0.png", None),
            ("", None),
        ] {
            assert_eq!(scheme_of(text).as_deref(), scheme, "{text:?}");
        }
    }
}

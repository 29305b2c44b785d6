//! Whether what a service says of an input names a parameter. Where that is in doubt it does not.

use std::borrow::Cow;

use serde_json::{Map, Value};

/// Shorter names are words of any language: they are meant where they are quoted or begin what is said.
const MIN_UNQUOTED: usize = 3;

/// That many characters next to the name, the same as in what was sent, are a quotation of that.
const MIN_QUOTATION: usize = 6;

/// What was said of an input, and the input.
pub struct Words<'a> {
    pub text: &'a str,
    pub sent: &'a Map<String, Value>,
}

impl Words<'_> {
    /// Whether they name the parameter.
    pub fn name(&self, name: &str) -> bool {
        self.places(name).next().is_some()
    }

    /// Whether they have it as a heading: so begins what a reply says of a single parameter.
    pub fn list(&self, name: &str) -> bool {
        let is_heading = |at: usize| {
            let before = &self.text[..at];
            let begins = before.is_empty() || before.ends_with("; ");
            begins && self.text[at + name.len()..].starts_with(": ")
        };
        self.places(name).any(is_heading)
    }

    /// Whether they say that the parameter is missing.
    pub fn miss(&self, name: &str) -> bool {
        self.places(name).any(|at| {
            let start = self.text[..at].rfind(is_stop).map_or(0, |stop| stop + 1);
            let end = self.text[at..].find(is_stop).map(|stop| at + stop);
            let clause = &self.text[start..end.unwrap_or(self.text.len())];
            let mut words = clause.split(|c: char| !c.is_alphanumeric());
            words.any(|it| ["required", "missing"].contains(&it.to_lowercase().as_str()))
        })
    }

    /// Where the parameter is meant by its name.
    fn places<'a>(&'a self, name: &'a str) -> impl Iterator<Item = usize> + 'a {
        let found = self.text.match_indices(name).map(|(at, _)| at);
        found.filter(|at| self.is_meant(*at, name) && !self.is_quotation(*at, name))
    }

    fn is_meant(&self, at: usize, name: &str) -> bool {
        let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '/');
        let (before, after) = self.around(at, name);
        if before.ends_with(is_part) || after.starts_with(is_part) {
            return false;
        }
        if is_quoted(before, after) {
            return !is_key(before, after);
        }
        if begins_sentence(before) && is_about(&self.text[at..], name) {
            return true;
        }
        let is_plain = !name.contains(|c: char| c == '_' || c.is_ascii_digit());
        name.chars().count() >= MIN_UNQUOTED && (!is_plain || is_heading(before, after))
    }

    /// Whether what stands there is a value that was sent.
    fn is_quotation(&self, at: usize, name: &str) -> bool {
        let (before, after) = self.around(at, name);
        self.sent.values().any(|value| {
            let sent = match value {
                Value::String(text) => Cow::Borrowed(text.trim()),
                Value::Array(_) | Value::Object(_) => Cow::Owned(value.to_string()),
                _ => return false,
            };
            sent.match_indices(name).any(|(there, _)| {
                let (left, right) = (&sent[..there], &sent[there + name.len()..]);
                let same = same(before.chars().rev(), left.chars().rev())
                    + same(after.chars(), right.chars());
                let is_all = same == left.chars().count() + right.chars().count();
                same >= MIN_QUOTATION || (is_all && (same > 0 || is_quoted(before, after)))
            })
        })
    }

    fn around(&self, at: usize, name: &str) -> (&str, &str) {
        (&self.text[..at], &self.text[at + name.len()..])
    }
}

fn is_stop(c: char) -> bool {
    matches!(c, '.' | '!' | '?' | ';' | '\n')
}

fn is_quote(c: char) -> bool {
    matches!(c, '"' | '\'' | '`' | '“' | '”' | '‘' | '’' | '«' | '»')
}

fn is_quoted(before: &str, after: &str) -> bool {
    before.ends_with(is_quote) && after.starts_with(is_quote)
}

/// The input itself is quoted as JSON, and has it as a key.
fn is_key(before: &str, after: &str) -> bool {
    let before = before.trim_end_matches(is_quote).trim_end();
    let after = after.trim_start_matches(is_quote).trim_start();
    before.ends_with(['{', ',']) && after.starts_with(':')
}

fn begins_sentence(before: &str) -> bool {
    let said = before.trim_end();
    let space = &before[said.len()..];
    let is_end = |c: char| is_stop(c) || c == ':';
    said.is_empty() || space.contains('\n') || (!space.is_empty() && said.ends_with(is_end))
}

fn is_heading(before: &str, after: &str) -> bool {
    let is_apart = |c: char| c.is_whitespace() || matches!(c, '(' | '[' | '.');
    let begins = before.is_empty() || before.ends_with(is_apart);
    let is_named = match after.trim_start().strip_prefix(':') {
        Some(rest) => rest.is_empty() || rest.starts_with(char::is_whitespace),
        None => after.trim_start().starts_with('='),
    };
    begins && is_named
}

/// How many characters both begin with alike.
fn same(one: impl Iterator<Item = char>, other: impl Iterator<Item = char>) -> usize {
    one.zip(other).take_while(|(a, b)| a == b).count()
}

/// What follows a name that begins a sentence about it.
const SAID_OF_A_NAME: [&str; 9] = [
    "must", "should", "is", "has", "cannot", "can't", "required", "invalid", "exceeds",
];

/// Whether a sentence begins with the name, and goes on to say something of it.
fn is_about(sentence: &str, parameter: &str) -> bool {
    let Some(rest) = sentence.strip_prefix(parameter) else {
        return false;
    };
    let is_said = |said: &&str| {
        let rest = rest.strip_prefix(' ').and_then(|it| it.strip_prefix(*said));
        rest.is_some_and(|it| !it.starts_with(char::is_alphanumeric))
    };
    rest.starts_with(": ") || SAID_OF_A_NAME.iter().any(is_said)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const NAMES: [&str; 9] = [
        "prompt",
        "image",
        "model",
        "steps",
        "steps_max",
        "image2",
        "a",
        "n",
        "mode",
    ];

    fn named(text: &str, sent: &Value) -> String {
        let sent = sent.as_object().unwrap();
        let words = Words { text, sent };
        let named: Vec<&str> = NAMES.into_iter().filter(|name| words.name(name)).collect();
        named.join(", ")
    }

    #[test]
    fn a_parameter_is_named_where_it_is_meant() {
        for (text, expected) in [
            ("steps must be at most 50", "steps"),
            ("Too much. steps should be 50", "steps"),
            ("Validation error: steps can't be 99", "steps"),
            ("Odd input\nsteps exceeds 50", "steps"),
            ("body.steps: Input should be less than 50", "steps"),
            ("Odd steps (steps = 99)", "steps"),
            ("'steps' is too large", "steps"),
            (
                "One of \"prompt\", `image` and “steps”",
                "prompt, image, steps",
            ),
            ("Odd is steps_max, and image2.", "steps_max, image2"),
            ("n: Input should be less; a: too", "a, n"),
            ("`a` is wrong", "a"),
            // Guards against a field that is marked by chance.
            ("Not enough credits for this model", ""),
            ("The image queue is full, your prompt was not taken", ""),
            ("Known are prompt, steps and image", ""),
            ("The steps must be fewer", ""),
            ("steps issue", ""),
            ("Steps must be fewer", ""),
            ("footsteps, steps_max_2, steps-max and my_steps", ""),
            ("See https://image:8080/image2.png", ""),
            ("a value is wrong, in n", ""),
            ("", ""),
        ] {
            assert_eq!(named(text, &json!({})), expected, "{text}");
        }
    }

    #[test]
    fn what_is_quoted_back_names_nothing() {
        let prompt = "a sign: 'image' and steps: 30, over steps_max, in the mode of old";
        let sent = json!({
            "prompt": prompt, "mode": "image", "steps": 99, "more": {"steps_max": ["n"]}
        });
        for (text, expected) in [
            (format!("Not allowed: {prompt}"), ""),
            (format!("Not allowed: {}…", &prompt[..40]), ""),
            (format!("'prompt' is not allowed: {prompt}"), "prompt"),
            (format!("steps must be fewer: {prompt}"), "steps"),
            ("Not one of these: 'image'".into(), ""),
            ("Odd: {\"steps_max\":[\"n\"]}".into(), ""),
            (
                format!("Odd: {{\"prompt\": \"{prompt}\", \"steps\": 99}}"),
                "",
            ),
        ] {
            assert_eq!(named(&text, &sent), expected, "{text}");
        }
        // A value that is called as a parameter is.
        let sent = json!({"mode": "n"});
        assert_eq!(named("n: Input should be less", &sent), "n");
    }
}

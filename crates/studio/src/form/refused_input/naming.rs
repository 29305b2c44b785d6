//! Decides whether a service's message about an input names a parameter. Unclear cases count as not named.

use std::borrow::Cow;

use serde_json::{Map, Value};

/// The minimum length of a name that counts without quotes inside a sentence. Shorter ones may be ordinary words.
const MIN_UNQUOTED: usize = 3;

/// The minimum number of characters around the name that must equal those of a sent value to count as a quotation of
/// it.
const MIN_QUOTATION: usize = 6;

/// A message about an input, and the input.
pub struct ServiceMessage<'a> {
    pub text: &'a str,
    pub sent: &'a Map<String, Value>,
}

impl ServiceMessage<'_> {
    /// Whether the message names the parameter.
    pub fn names(&self, name: &str) -> bool {
        self.positions(name).next().is_some()
    }

    /// Whether the name is a heading in the message (`name: text`), as in replies about single parameters.
    pub fn has_heading(&self, name: &str) -> bool {
        let is_heading = |at: usize| {
            let before = &self.text[..at];
            let begins = before.is_empty() || before.ends_with("; ");
            begins && self.text[at + name.len()..].starts_with(": ")
        };
        self.positions(name).any(is_heading)
    }

    /// Whether the message reports the parameter as missing.
    pub fn reports_missing(&self, name: &str) -> bool {
        self.positions(name).any(|at| {
            let start = self.text[..at].rfind(is_stop).map_or(0, |stop| stop + 1);
            let end = self.text[at..].find(is_stop).map(|stop| at + stop);
            let clause = &self.text[start..end.unwrap_or(self.text.len())];
            let mut words = clause.split(|c: char| !c.is_alphanumeric());
            words.any(|it| ["required", "missing"].contains(&it.to_lowercase().as_str()))
        })
    }

    /// Returns the positions where the message names the parameter.
    fn positions<'a>(&'a self, name: &'a str) -> impl Iterator<Item = usize> + 'a {
        let found = self.text.match_indices(name).map(|(at, _)| at);
        found.filter(|at| self.is_name(*at, name) && !self.is_quotation(*at, name))
    }

    fn is_name(&self, at: usize, name: &str) -> bool {
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

    /// Whether the text at this position quotes a value that was sent.
    fn is_quotation(&self, at: usize, name: &str) -> bool {
        let (before, after) = self.around(at, name);
        self.sent.values().any(|value| {
            let sent = match value {
                Value::String(text) => Cow::Borrowed(text.trim()),
                Value::Array(_) | Value::Object(_) => Cow::Owned(value.to_string()),
                _ => return false,
            };
            sent.match_indices(name).any(|(found, _)| {
                let (left, right) = (&sent[..found], &sent[found + name.len()..]);
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

/// Whether the name is a key in a JSON quotation of the input.
fn is_key(before: &str, after: &str) -> bool {
    let before = before.trim_end_matches(is_quote).trim_end();
    let after = after.trim_start_matches(is_quote).trim_start();
    before.ends_with(['{', ',']) && after.starts_with(':')
}

fn begins_sentence(before: &str) -> bool {
    let text = before.trim_end();
    let space = &before[text.len()..];
    let is_end = |c: char| is_stop(c) || c == ':';
    text.is_empty() || space.contains('\n') || (!space.is_empty() && text.ends_with(is_end))
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

/// Returns the length of the common prefix.
fn same(one: impl Iterator<Item = char>, other: impl Iterator<Item = char>) -> usize {
    one.zip(other).take_while(|(a, b)| a == b).count()
}

/// The words after a name at the start of a sentence about it.
const WORDS_AFTER_A_NAME: [&str; 9] = [
    "must", "should", "is", "has", "cannot", "can't", "required", "invalid", "exceeds",
];

/// Whether the sentence starts with the name, followed by a colon or by one of [`WORDS_AFTER_A_NAME`].
fn is_about(sentence: &str, parameter: &str) -> bool {
    let Some(rest) = sentence.strip_prefix(parameter) else {
        return false;
    };
    let is_continued = |word: &&str| {
        let rest = rest.strip_prefix(' ').and_then(|it| it.strip_prefix(*word));
        rest.is_some_and(|it| !it.starts_with(char::is_alphanumeric))
    };
    rest.starts_with(": ") || WORDS_AFTER_A_NAME.iter().any(is_continued)
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
        let message = ServiceMessage { text, sent };
        let named: Vec<&str> = NAMES
            .into_iter()
            .filter(|name| message.names(name))
            .collect();
        named.join(", ")
    }

    #[test]
    fn a_parameter_is_named_if_the_message_is_about_it() {
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
            // Messages that contain the name as an ordinary word.
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
    fn a_name_in_a_quoted_input_does_not_count() {
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
        // The value equals the name of another parameter.
        let sent = json!({"mode": "n"});
        assert_eq!(named("n: Input should be less", &sent), "n");
    }
}

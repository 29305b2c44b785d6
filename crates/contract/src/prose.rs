//! Texts that are shown and never sent back: descriptions, names of models, error messages.

use serde_json::Value;

/// The longest prose that is shown, in characters: far more than a person reads. Firefox lays out a text of 10
/// MB for minutes, and nothing can be pressed meanwhile.
pub const MAX_PROSE: usize = 10_000;

/// The text, or its beginning if it is longer than [`MAX_PROSE`].
pub fn bounded(text: String) -> String {
    bounded_to(text, MAX_PROSE)
}

/// The text, or its beginning if it has more than so many characters.
pub fn bounded_to(mut text: String, most: usize) -> String {
    if let Some((end, _)) = text.char_indices().nth(most) {
        text.truncate(end);
        text.push('…');
    }
    text
}

/// The message inside an error of any shape; `None` for null and empty ones.
pub(crate) fn message_in(error: &Value) -> Option<String> {
    let text = match error {
        Value::Null | Value::Bool(_) => return None,
        Value::String(text) => text.trim().to_owned(),
        Value::Array(errors) => return errors.iter().find_map(message_in),
        Value::Object(map) => ["message", "error", "detail", "reason", "msg"]
            .iter()
            .find_map(|key| message_in(map.get(*key)?))
            .unwrap_or_else(|| error.to_string()),
        other => other.to_string(),
    };
    (!text.is_empty()).then(|| bounded(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_ends_between_two_characters() {
        let most = "é".repeat(MAX_PROSE);
        assert_eq!(bounded(most.clone()), most);
        assert_eq!(bounded(format!("{most}éé")), format!("{most}…"));
    }
}

//! Limits the length of texts that are shown but not sent back: descriptions, model names, error messages.

use serde_json::Value;

/// The maximum length of such a text, in characters. Firefox is blocked for minutes while it lays out a text of 10 MB.
pub const MAX_PROSE: usize = 10_000;

/// Truncates a text to [`MAX_PROSE`] characters.
pub fn bounded(text: String) -> String {
    bounded_to(text, MAX_PROSE)
}

/// Truncates a text to `most` characters.
pub fn bounded_to(mut text: String, most: usize) -> String {
    if let Some((end, _)) = text.char_indices().nth(most) {
        text.truncate(end);
        text.push('…');
    }
    text
}

/// Returns the message in an error of any shape; `None` if there is none.
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
    fn truncates_between_characters() {
        let most = "é".repeat(MAX_PROSE);
        assert_eq!(bounded(most.clone()), most);
        assert_eq!(bounded(format!("{most}éé")), format!("{most}…"));
    }
}

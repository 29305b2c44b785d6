//! The text labels of enumeration values.

use serde_json::Value;

use crate::json;

/// Returns a unique text for each value. Gemini refuses all tools of a request if an enumeration contains anything but
/// non-empty texts.
///
/// The label of a text is the text. The labels of all other values are their JSON.
pub fn labels(values: &[Value]) -> Vec<(String, Value)> {
    let mut labels: Vec<(String, Value)> = Vec::new();
    for value in values {
        if labels.iter().all(|(_, known)| known != value) {
            let text = value.as_str().unwrap_or_default().to_owned();
            labels.push((text, value.clone()));
        }
    }
    // All texts have their labels now, so that no other value gets the same label.
    for at in 0..labels.len() {
        if labels[at].0.is_empty() {
            labels[at].0 = free_label(&labels, &json::to_text(&labels[at].1));
        }
    }
    labels
}

/// Returns the text, with a number if another value already has it.
fn free_label(labels: &[(String, Value)], text: &str) -> String {
    let mut label = text.to_owned();
    let mut number = 2;
    while labels.iter().any(|(known, _)| *known == label) {
        label = format!("{text} ({number})");
        number += 1;
    }
    label
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// Gemini refuses empty labels.
    #[test]
    fn labels_are_unique_and_not_empty() {
        let values = [json!(1), json!("1"), json!(""), json!(1), json!(1.0)];
        let others = [json!(null), json!(true), json!("true"), json!([1])];
        let all = [values.as_slice(), &others].concat();
        let made = labels(&all);
        let texts: Vec<&str> = made.iter().map(|(label, _)| label.as_str()).collect();
        let expected = [
            "1 (2)", "1", "\"\"", "1.0", "null", "true (2)", "true", "[1]",
        ];
        assert_eq!(texts, expected);
    }
}

//! The texts that stand for the values of an enumeration.

use serde_json::Value;

use crate::json;

/// A text for each value. Gemini refuses all tools of a request if one enumeration has anything but
/// non-empty texts.
///
/// A text stands for itself, every other value is written as JSON. No two labels are the same.
pub fn labels(values: &[Value]) -> Vec<(String, Value)> {
    let mut labels: Vec<(String, Value)> = Vec::new();
    for value in values {
        if labels.iter().all(|(_, known)| known != value) {
            let text = value.as_str().unwrap_or_default().to_owned();
            labels.push((text, value.clone()));
        }
    }
    // Texts have theirs by now, so that no other value takes the label of a text.
    for at in 0..labels.len() {
        if labels[at].0.is_empty() {
            labels[at].0 = free_label(&labels, &json::to_text(&labels[at].1));
        }
    }
    labels
}

/// The text itself, or with a number where another value has it.
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

    /// Guards against two values of one label, and against a label that Gemini refuses.
    #[test]
    fn every_value_has_a_label_of_its_own_that_is_not_empty() {
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

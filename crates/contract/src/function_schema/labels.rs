//! The texts that stand for the values of an enumeration.

use serde_json::Value;

/// A text for each value. Gemini refuses all tools of a request if one enumeration has anything but
/// non-empty texts.
///
/// A text stands for itself, every other value is written as JSON. No two labels are the same.
pub fn labels(values: &[Value]) -> Vec<(String, Value)> {
    let plain = |value: &Value| value.as_str().filter(|text| !text.is_empty()).is_some();
    // Texts first, so that no other value takes the label of a text.
    let mut labels: Vec<(String, Value)> = Vec::new();
    for value in values.iter().filter(|value| plain(value)) {
        add(&mut labels, value);
    }
    for value in values.iter().filter(|value| !plain(value)) {
        add(&mut labels, value);
    }
    let position = |value: &Value| values.iter().position(|known| known == value);
    labels.sort_by_key(|(_, value)| position(value));
    labels
}

fn add(labels: &mut Vec<(String, Value)>, value: &Value) {
    if labels.iter().any(|(_, known)| known == value) {
        return;
    }
    let text = value.as_str().filter(|text| !text.is_empty());
    let base = text.map_or_else(|| value.to_string(), str::to_owned);
    let is_free = |label: &String| labels.iter().all(|(known, _)| known != label);
    let numbered = (2u32..).map(|n| format!("{base} ({n})"));
    let label = std::iter::once(base.clone()).chain(numbered).find(is_free);
    labels.push((label.unwrap_or(base), value.clone()));
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

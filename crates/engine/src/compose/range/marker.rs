//! Values of an axis that are none: the parameter is left out, or its text is cleared.

use atelier_contract::{Entry, Kind, Parameter};
use serde_json::Value;

/// Stands in the place of a value for none.
pub const LEFT_OUT: &str = "(left out)";

/// Stands in the place of a text for one without characters.
pub const EMPTY: &str = "(empty)";

/// The markers that a parameter may have among its values, each with its name in words. A text that is empty by
/// itself is left out where it is cleared: that is one value, not two.
pub fn markers(parameter: &Parameter, required: bool) -> Vec<(&'static str, &'static str)> {
    let is_text = parameter.kind() == Kind::Text;
    let default = parameter.default.as_ref().and_then(Value::as_str);
    let has_text = default.is_some_and(|default| !default.is_empty());
    match (required, is_text) {
        (true, _) => Vec::new(),
        (false, true) if !has_text => vec![(EMPTY, "Empty")],
        (false, true) => vec![(EMPTY, "Empty"), (LEFT_OUT, "Left out")],
        (false, false) => vec![(LEFT_OUT, "Left out")],
    }
}

/// Whether this text is a marker in the values of the parameter, and none of its permitted values.
pub(super) fn is_one(parameter: &Parameter, marker: &str) -> bool {
    let is_meant = marker == LEFT_OUT || parameter.kind() == Kind::Text;
    is_meant && !parameter.choices().iter().any(|it| it == marker)
}

/// A value as it is written, and as it is shown.
pub fn label(value: &Option<Entry>) -> String {
    match value {
        None => LEFT_OUT.to_owned(),
        Some(entry) => match entry.to_text() {
            text if text.is_empty() => EMPTY.to_owned(),
            text => text,
        },
    }
}

/// Whether one of the values, as people write them, is this marker.
pub fn has_marker(kind: Kind, values: &str, marker: &str) -> bool {
    parts(kind, values).is_some_and(|parts| parts.iter().any(|part| part == marker))
}

/// The values, as people write them, with this marker at their end, or without it. What can't be read stays as it is.
pub fn toggled_marker(kind: Kind, values: &str, marker: &str) -> String {
    let Some(mut parts) = parts(kind, values) else {
        return values.to_owned();
    };
    let before = parts.len();
    parts.retain(|part| part != marker);
    if parts.len() == before {
        parts.push(marker.to_owned());
    }
    match kind {
        Kind::Enum | Kind::Boolean => super::quoted(&parts),
        // The semicolon says what a comma is.
        Kind::Integer | Kind::Number if values.contains(';') => match parts.as_slice() {
            [only] => format!("{only};"),
            several => several.join("; "),
        },
        Kind::Integer | Kind::Number => parts.join(", "),
        _ => parts.join("\n"),
    }
}

fn parts(kind: Kind, values: &str) -> Option<Vec<String>> {
    let is_number = matches!(kind, Kind::Integer | Kind::Number);
    let separators: &[char] = match kind {
        Kind::Integer | Kind::Number if values.contains(';') => &[';', '\n'],
        _ => &['\n'],
    };
    if matches!(kind, Kind::Enum | Kind::Boolean) || is_number && separators.len() == 1 {
        return super::split(values).ok();
    }
    let parts = values.split(separators).map(str::trim);
    Some(
        parts
            .filter(|part| !part.is_empty())
            .map(str::to_owned)
            .collect(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compose::range::{values, written};
    use serde_json::json;

    fn parameter(value: Value) -> Parameter {
        serde_json::from_value(value).unwrap()
    }

    /// Guards against a sweep that can't compare a value with none.
    #[test]
    fn an_empty_text_and_no_value_are_values() {
        let negative =
            parameter(json!({"name": "negative", "type": "string", "default": "blurry"}));
        let names: Vec<&str> = markers(&negative, false)
            .iter()
            .map(|(it, _)| *it)
            .collect();
        assert_eq!(names, [EMPTY, LEFT_OUT]);
        let read = values(&negative, false, "ugly\n(empty)\n\n(left out)").unwrap();
        let expected = [
            Some(Entry::Value(json!("ugly"))),
            Some(Entry::Value(json!(""))),
            None,
        ];
        assert_eq!(read, expected);
        assert_eq!(
            written(&negative, false, &read).as_deref(),
            Some("ugly\n(empty)\n(left out)")
        );
        let plain = parameter(json!({"name": "negative", "type": "string"}));
        assert_eq!(markers(&plain, false), [(EMPTY, "Empty")]);
        assert!(values(&plain, true, "(empty)").is_err());
        assert!(values(&plain, true, "(left out)").is_err());
    }

    #[test]
    fn every_kind_can_be_left_out() {
        for (kind, written, count) in [
            ("integer", "1, 2, .., 4, (left out)", 5),
            ("number", "0,5; (left out)", 2),
            ("boolean", "\"true\", \"(left out)\"", 2),
            ("array", "[1]\n(left out)\n[2]", 3),
            ("object", "(left out)", 1),
        ] {
            let parameter = parameter(json!({"name": "n", "type": kind}));
            let read = values(&parameter, false, written).unwrap();
            assert_eq!(read.len(), count, "{written}");
            assert_eq!(
                read.iter().filter(|it| it.is_none()).count(),
                1,
                "{written}"
            );
            assert!(has_marker(parameter.kind(), written, LEFT_OUT));
            let without = toggled_marker(parameter.kind(), written, LEFT_OUT);
            assert_eq!(
                values(&parameter, false, &without).unwrap().len(),
                count - 1
            );
            let again = toggled_marker(parameter.kind(), &without, LEFT_OUT);
            assert_eq!(
                values(&parameter, false, &again).unwrap().len(),
                count,
                "{again}"
            );
        }
        let word = parameter(json!({"name": "n", "type": "enum", "allowedValues": ["(left out)"]}));
        let read = values(&word, false, "(left out)").unwrap();
        assert_eq!(read, [Some(Entry::Value(json!("(left out)")))]);
    }
}

//! Markers that replace a value of an axis: the parameter is left out, or its text is cleared.

use std::collections::HashSet;
use std::ops::Range;

use atelier_contract::{Entry, Kind, Parameter};
use serde_json::Value;

use crate::compose::prompts;
use crate::text::decimal::Decimal;

/// The marker for a left-out parameter.
pub const LEFT_OUT: &str = "(left out)";

/// The marker for an empty text.
pub const EMPTY: &str = "(empty)";

/// The characters that end a line of JSON.
pub(super) const LINE_ENDS: [char; 2] = ['\n', '\r'];

/// Returns the markers that a parameter may have among its values, each with its label. A text without a default has
/// only [`EMPTY`], because clearing it and leaving it out have the same effect.
pub fn markers(parameter: &Parameter, required: bool) -> Vec<(&'static str, &'static str)> {
    let is_text = parameter.kind() == Kind::Text;
    let default = parameter.default.as_ref().and_then(Value::as_str);
    let has_text = default.is_some_and(|default| !default.is_empty());
    let mut markers = match (required, is_text) {
        (true, _) => Vec::new(),
        (false, true) if !has_text => vec![(EMPTY, "Empty")],
        (false, true) => vec![(EMPTY, "Empty"), (LEFT_OUT, "Left out")],
        (false, false) => vec![(LEFT_OUT, "Left out")],
    };
    markers.retain(|(marker, _)| is_marker_of(parameter, marker));
    markers
}

/// Whether this text is a marker for the parameter, instead of a permitted value.
pub(super) fn is_marker_of(parameter: &Parameter, marker: &str) -> bool {
    let is_possible = marker == LEFT_OUT || parameter.kind() == Kind::Text;
    is_possible && !parameter.choices().iter().any(|it| it == marker)
}

/// Formats a value as the user types it and sees it.
pub fn label(value: &Option<Entry>) -> String {
    match value {
        None => LEFT_OUT.to_owned(),
        Some(entry) => match entry.to_text() {
            text if text.is_empty() => EMPTY.to_owned(),
            text => text,
        },
    }
}

/// Formats the values of an axis. A text that looks like a value of another type is quoted.
pub fn labels(values: &[Option<Entry>]) -> Vec<String> {
    let other_values = values.iter().filter_map(|value| match value {
        Some(Entry::Value(value)) if !value.is_string() => Some(value.to_string()),
        _ => None,
    });
    let other_values: HashSet<String> = other_values.collect();
    let label = |value: &Option<Entry>| match value {
        Some(Entry::Value(json @ Value::String(text))) if other_values.contains(text) => {
            json.to_string()
        }
        value => label(value),
    };
    values.iter().map(label).collect()
}

/// Returns a key that is equal for values that are sent as the same JSON value.
pub fn sent_key(value: &Option<Entry>) -> Option<String> {
    value.as_ref().map(|entry| match entry {
        Entry::Value(Value::Number(number)) => {
            let text = number.to_string();
            Decimal::parse(&text).map_or(text, |number| number.to_text())
        }
        Entry::Value(value) => value.to_string(),
        Entry::Text(text) => Value::from(text.as_str()).to_string(),
    })
}

/// Whether the typed values include this marker.
pub fn has_marker(kind: Kind, values: &str, marker: &str) -> bool {
    place(kind, values, marker).is_some()
}

/// Adds a marker at the end of the typed values, or removes it. The other values are unchanged, even if they can't be
/// parsed. Removing a marker that was added restores the text exactly.
pub fn toggled_marker(kind: Kind, values: &str, marker: &str) -> String {
    if !has_marker(kind, values, marker) {
        return with_marker(kind, values, marker);
    }
    let mut text = values.to_owned();
    while let Some(place) = place(kind, &text, marker) {
        text = without(&text, place, separators(kind, &text));
    }
    let read = |text: &str| {
        let mut read = super::numbers::split(text, kind == Kind::Integer).ok()?;
        read.retain(|value| value != marker);
        Some(read)
    };
    // Removing the marker from `1,(left out),2` would give `1,2`, which may be one number.
    match read(values) {
        Some(numbers) if is_number(kind) && read(&text) != Some(numbers.clone()) => plain(&numbers),
        _ => text,
    }
}

fn with_marker(kind: Kind, values: &str, marker: &str) -> String {
    let (ends, has_semicolon) = (separators(kind, values), values.contains(';'));
    let is_list = match kind {
        Kind::Integer | Kind::Number if has_semicolon => true,
        Kind::Integer | Kind::Number | Kind::Enum | Kind::Boolean => super::pieces(values).is_ok(),
        _ => false,
    };
    let ends_in_value =
        values.ends_with(|last: char| !last.is_whitespace() && !ends.contains(&last));
    let separator = match values {
        "" => "",
        _ if !is_list || !ends_in_value || values.contains('\n') => "\n",
        _ if is_number(kind) && has_semicolon => "; ",
        _ => ", ",
    };
    let marker = match is_list && !is_number(kind) {
        true => super::quoted(&[marker.to_owned()]),
        false => marker.to_owned(),
    };
    format!("{values}{separator}{marker}")
}

/// Returns the range of the marker. In a list that can't be parsed, only a whole line counts as a marker.
fn place(kind: Kind, values: &str, marker: &str) -> Option<Range<usize>> {
    let is_list = match kind {
        Kind::Integer | Kind::Number => !values.contains(';'),
        kind => matches!(kind, Kind::Enum | Kind::Boolean),
    };
    match super::pieces(values) {
        Ok(pieces) if is_list => {
            let mut pieces = pieces.into_iter();
            pieces
                .find(|(_, value)| value == marker)
                .map(|(place, _)| place)
        }
        Err(_) if is_list => parts(values, &LINE_ENDS).find(|part| values[part.clone()] == *marker),
        _ => parts(values, separators(kind, values)).find(|part| values[part.clone()] == *marker),
    }
}

/// Returns the separators of the values of a text.
fn separators(kind: Kind, values: &str) -> &'static [char] {
    match kind {
        Kind::Integer | Kind::Number if values.contains(';') => &[';', '\n', '\r'],
        Kind::Integer | Kind::Number | Kind::Enum | Kind::Boolean => &[',', '\n', '\r'],
        Kind::Text | Kind::MultiChoice => &prompts::BREAKS,
        _ => &LINE_ENDS,
    }
}

/// Returns the ranges of the trimmed parts of a text.
pub(super) fn parts<'a>(
    text: &'a str,
    separators: &'static [char],
) -> impl Iterator<Item = Range<usize>> + 'a {
    let mut after = 0;
    text.split(separators).map(move |part| {
        let trimmed = prompts::trimmed(part);
        let start = after + part.find(trimmed).unwrap_or_default();
        let place = start..start + trimmed.len();
        let separator = text[after + part.len()..].chars().next();
        after += part.len() + separator.map_or(0, char::len_utf8);
        place
    })
}

/// Removes the value at this range, and one separator.
fn without(text: &str, place: Range<usize>, separators: &[char]) -> String {
    const SPACES: [char; 2] = [' ', '\t'];
    let before = &text[..place.start];
    let after = text[place.end..].trim_start_matches(SPACES);
    if !after.is_empty() {
        let after = after.strip_prefix(separators).unwrap_or(after);
        return before.to_owned() + after.trim_start_matches(SPACES);
    }
    // Remove the separator that was added with the marker, or else one that the user typed.
    let added = ["\n", ", ", "; "];
    let before = match added.iter().find_map(|it| before.strip_suffix(it)) {
        Some(before) => before,
        None => {
            let before = before.trim_end_matches(SPACES);
            before.strip_suffix(separators).unwrap_or(before)
        }
    };
    before.to_owned()
}

/// Formats numbers as a list that parses to the same numbers.
fn plain(numbers: &[String]) -> String {
    let is_plain = |number: &String| !number.contains([',', '"', '\n', '\r']);
    match numbers.iter().all(is_plain) {
        true => numbers.join(", "),
        false => super::quoted(numbers),
    }
}

fn is_number(kind: Kind) -> bool {
    matches!(kind, Kind::Integer | Kind::Number)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compose::range::{values, written};
    use proptest::prelude::*;
    use serde_json::json;

    fn parameter(value: Value) -> Parameter {
        serde_json::from_value(value).unwrap()
    }

    /// A sweep can compare a value with a left-out or empty one.
    #[test]
    fn an_empty_text_and_no_value_count_as_values() {
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

    /// Guards against rewriting a text when *Left out* is ticked: the rejected value `0,25` became 0 and 25, which were
    /// sent and charged.
    #[test]
    fn a_marker_leaves_the_other_values_unchanged() {
        for (kind, text, with) in [
            ("number", "0,25\n1,75", "0,25\n1,75\n(left out)"),
            ("number", "2,5", "2,5, (left out)"),
            ("number", "0,5; 1", "0,5; 1; (left out)"),
            ("number", "0,5;", "0,5;\n(left out)"),
            ("number", "\"0,5", "\"0,5\n(left out)"),
            ("number", "", "(left out)"),
            ("integer", "1,234", "1,234, (left out)"),
            ("integer", "1, 2, .., 4", "1, 2, .., 4, (left out)"),
            ("boolean", "true", "true, \"(left out)\""),
            ("array", "[1,\n2]", "[1,\n2]\n(left out)"),
        ] {
            let parameter = parameter(json!({"name": "n", "type": kind}));
            let kind = parameter.kind();
            assert_eq!(toggled_marker(kind, text, LEFT_OUT), with);
            assert!(has_marker(kind, with, LEFT_OUT), "{with}");
            assert_eq!(toggled_marker(kind, with, LEFT_OUT), text);
            let (before, after) = (
                values(&parameter, false, text),
                values(&parameter, false, with),
            );
            assert_eq!(before.is_err(), after.is_err(), "{with}");
        }
    }

    /// Removing a marker must neither join the values around it nor split one of them.
    #[test]
    fn removing_a_typed_marker_keeps_the_other_values() {
        for (kind, text, without) in [
            ("number", "1,(left out),5", "1, 5"),
            ("number", "2,5; (left out)", "2.5"),
            ("number", "2,5;(left out); 3", "2,5;3"),
            ("number", "1,2,(left out)", "1, 2"),
            ("number", "(left out)\n1", "1"),
            ("number", "1, (left out), 2, (left out)", "1, 2"),
            ("number", "1 , \"(left out)\" , 2", "1 , 2"),
            ("boolean", "\"(left out)\", true", "true"),
            ("object", "{}\n (left out) \n{}", "{}\n {}"),
        ] {
            let parameter = parameter(json!({"name": "n", "type": kind}));
            let kind = parameter.kind();
            assert_eq!(toggled_marker(kind, text, LEFT_OUT), without);
            let mut read = values(&parameter, false, text).unwrap();
            read.retain(Option::is_some);
            assert_eq!(values(&parameter, false, without), Ok(read));
        }
    }

    /// Ticking a marker must not add a permitted value with the same text.
    #[test]
    fn permitted_values_are_not_markers() {
        let word = parameter(json!({"name": "n", "type": "enum", "allowedValues": ["(left out)"]}));
        assert_eq!(markers(&word, false), []);
        let list = parameter(json!({"name": "n", "type": "array"}));
        let read = values(&list, false, r#"["(left out)"]"#).unwrap();
        assert_eq!(read, [Some(Entry::Value(json!(["(left out)"])))]);
        assert!(values(&list, false, "[1] (left out)").is_err());
    }

    proptest! {
        /// Ticking a marker must neither change the values nor make rejected ones valid.
        #[test]
        fn toggling_twice_restores_the_text(
            of in 0..8usize,
            text in "([-0-9.,; \n\r\"…ax]|, |\\[1\\]|true|\\(left out\\)){0,12}",
        ) {
            let kinds = ["string", "number", "integer", "boolean", "enum", "array", "object", "several"];
            let parameter = parameter(match kinds[of] {
                "enum" => json!({"name": "n", "type": "enum", "allowedValues": ["a", "x", "1"]}),
                "several" => json!({"name": "n", "type": "array", "allowedValues": ["a", "x", 1]}),
                kind => json!({"name": "n", "type": kind}),
            });
            let kind = parameter.kind();
            let read = |text: &str| {
                let read = values(&parameter, false, text).ok()?;
                Some(read.into_iter().flatten().collect::<Vec<_>>())
            };
            let toggled = toggled_marker(kind, &text, LEFT_OUT);
            prop_assert_ne!(has_marker(kind, &text, LEFT_OUT), has_marker(kind, &toggled, LEFT_OUT));
            match has_marker(kind, &text, LEFT_OUT) {
                false => {
                    prop_assert_eq!(toggled_marker(kind, &toggled, LEFT_OUT), &*text);
                    prop_assert_eq!(read(&toggled), read(&text), "{}", toggled);
                }
                true => if let Some(before) = read(&text) {
                    prop_assert_eq!(read(&toggled), Some(before), "{}", toggled);
                }
            }
        }
    }
}

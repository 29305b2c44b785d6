//! Writes JSON values as Python literals. All values from a schema pass through this module.

use std::fmt::Write;

use serde_json::Value;

/// The maximum length of a list or object on one line.
const LINE: usize = 88;

/// Writes the value on one line.
pub fn inline(value: &Value) -> String {
    match value {
        Value::Null => "None".to_owned(),
        Value::Bool(true) => "True".to_owned(),
        Value::Bool(false) => "False".to_owned(),
        // Python writes numbers as JSON does.
        Value::Number(number) => number.to_string(),
        Value::String(text) => string(text),
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(inline).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Object(map) => {
            let entries: Vec<String> = map
                .iter()
                .map(|(key, value)| format!("{}: {}", string(key), inline(value)))
                .collect();
            format!("{{{}}}", entries.join(", "))
        }
    }
}

/// Writes the value on several lines if it is long; `indent` is that of its first line.
pub fn block(value: &Value, indent: usize) -> String {
    let line = inline(value);
    if indent + line.chars().count() <= LINE {
        return line;
    }
    let inner = " ".repeat(indent + 4);
    let end = " ".repeat(indent);
    match value {
        Value::Array(items) => {
            let items: String = items
                .iter()
                .map(|item| format!("{inner}{},\n", block(item, indent + 4)))
                .collect();
            format!("[\n{items}{end}]")
        }
        Value::Object(map) => {
            let entries: String = map
                .iter()
                .map(|(key, value)| {
                    format!("{inner}{}: {},\n", string(key), block(value, indent + 4))
                })
                .collect();
            format!("{{\n{entries}{end}}}")
        }
        _ => line,
    }
}

/// Writes a string on one line, in double quotes. Letters and digits of all scripts are not escaped. Other characters
/// outside ASCII are escaped, so that the file has no invisible or bidirectional control characters.
fn string(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            ' '..='~' => out.push(c),
            c if !c.is_ascii() && c.is_alphanumeric() => out.push(c),
            // Writing to a string can't fail.
            c if u32::from(c) <= 0xFF => {
                let _ = write!(out, "\\x{:02x}", u32::from(c));
            }
            c if u32::from(c) <= 0xFFFF => {
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            c => {
                let _ = write!(out, "\\U{:08x}", u32::from(c));
            }
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn values_are_written_as_python_literals() {
        for (text, literal) in [
            ("a", r#""a""#),
            ("\"\"\"); import os #", r#""\"\"\"); import os #""#),
            ("a\nb\u{0}", r#""a\nb\x00""#),
            ("\\N{DASH}", r#""\\N{DASH}""#),
            ("é 画 \u{202e} \u{1f600}", r#""é 画 \u202e \U0001f600""#),
        ] {
            assert_eq!(inline(&json!(text)), literal);
        }
        assert_eq!(
            inline(&json!({"a": [null, true, u64::MAX, -1.5]})),
            r#"{"a": [None, True, 18446744073709551615, -1.5]}"#
        );
    }
}

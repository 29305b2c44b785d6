use super::scan::{Kind, is_name, is_name_start, number, quoted, run};

/// Returns the kind and length of the token that starts with `c`.
pub(super) fn next(rest: &str, c: char, _: bool) -> (Kind, usize) {
    match c {
        '"' => {
            let length = quoted(rest, b'"');
            let after = rest[length..].trim_start_matches([' ', '\t', '\n', '\r']);
            let kind = if after.starts_with(':') {
                Kind::Definition
            } else {
                Kind::Text
            };
            (kind, length)
        }
        '-' | '0'..='9' => (Kind::Number, 1 + number(&rest[1..])),
        c if is_name_start(c) => {
            let length = run(rest, is_name);
            let kind = match &rest[..length] {
                "true" | "false" | "null" => Kind::Keyword,
                _ => Kind::Plain,
            };
            (kind, length)
        }
        c => (Kind::Plain, c.len_utf8()),
    }
}

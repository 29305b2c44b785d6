//! JavaScript, Rust and JSON: the kind and length of the token that begins with `c`.

use super::{Kind, is_name, is_name_start, number, quoted, run, to_line_end};

pub(super) fn json(rest: &str, c: char, _: bool) -> (Kind, usize) {
    match c {
        '"' => {
            let length = quoted(rest, b'"', false);
            let after = rest[length..].trim_start_matches([' ', '\t', '\n', '\r']);
            let kind = if after.starts_with(':') {
                Kind::Definition
            } else {
                Kind::Text
            };
            (kind, length)
        }
        '-' | '0'..='9' => (Kind::Number, 1 + number(&rest[1..])),
        c => word(rest, c, |word| matches!(word, "true" | "false" | "null")),
    }
}

pub(super) fn javascript(rest: &str, c: char, _: bool) -> (Kind, usize) {
    match c {
        '"' | '\'' => (Kind::Text, quoted(rest, c as u8, false)),
        '`' => (Kind::Text, quoted(rest, b'`', true)),
        c => code(rest, c, |word| {
            matches!(
                word,
                "async"
                    | "await"
                    | "break"
                    | "class"
                    | "const"
                    | "else"
                    | "false"
                    | "for"
                    | "function"
                    | "if"
                    | "import"
                    | "let"
                    | "new"
                    | "null"
                    | "return"
                    | "throw"
                    | "true"
                    | "while"
            )
        }),
    }
}

pub(super) fn rust(rest: &str, c: char, _: bool) -> (Kind, usize) {
    if let Some(length) = raw(rest) {
        return (Kind::Text, length);
    }
    match c {
        '"' => (Kind::Text, quoted(rest, b'"', true)),
        c => code(rest, c, |word| {
            matches!(
                word,
                "as" | "async"
                    | "await"
                    | "break"
                    | "const"
                    | "dyn"
                    | "else"
                    | "enum"
                    | "false"
                    | "fn"
                    | "for"
                    | "if"
                    | "impl"
                    | "in"
                    | "let"
                    | "loop"
                    | "match"
                    | "mut"
                    | "return"
                    | "struct"
                    | "true"
                    | "use"
                    | "while"
            )
        }),
    }
}

/// The length of a raw text, `r"…"` or with any number of `#`.
fn raw(rest: &str) -> Option<usize> {
    let after = rest.strip_prefix('r')?;
    let hashes = run(after, |c| c == '#');
    let inside = after[hashes..].strip_prefix('"')?;
    let end = format!("\"{}", "#".repeat(hashes));
    let start = hashes + 2;
    Some(
        inside
            .find(&end)
            .map_or(rest.len(), |at| start + at + end.len()),
    )
}

fn code(rest: &str, c: char, is_keyword: fn(&str) -> bool) -> (Kind, usize) {
    match c {
        '/' if rest.starts_with("//") => (Kind::Comment, run(rest, to_line_end)),
        '0'..='9' => (Kind::Number, number(rest)),
        c => word(rest, c, is_keyword),
    }
}

fn word(rest: &str, c: char, is_keyword: fn(&str) -> bool) -> (Kind, usize) {
    if !is_name_start(c) {
        return (Kind::Plain, c.len_utf8());
    }
    let length = run(rest, is_name);
    let kind = if is_keyword(&rest[..length]) {
        Kind::Keyword
    } else {
        Kind::Plain
    };
    (kind, length)
}

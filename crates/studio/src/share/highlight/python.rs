use super::scan::{Kind, is_name, is_name_start, number, run, to_line_end};

/// Returns the kind and length of the token that starts with `c`.
pub(super) fn next(rest: &str, c: char, line_start: bool) -> (Kind, usize) {
    match c {
        '#' => (Kind::Comment, run(rest, to_line_end)),
        '"' | '\'' => (Kind::Text, string(rest, 0)),
        '@' if line_start => {
            let length = 1 + rest[1..]
                .find(|c: char| !is_name(c) && c != '.')
                .unwrap_or(rest.len() - 1);
            (Kind::Decorator, length)
        }
        '0'..='9' => (Kind::Number, number(rest)),
        c if is_name_start(c) => {
            let length = run(rest, is_name);
            let word = &rest[..length];
            if is_prefix(word) && rest[length..].starts_with(['"', '\'']) {
                return (Kind::Text, string(rest, length));
            }
            let kind = if is_keyword(word) {
                Kind::Keyword
            } else {
                Kind::Plain
            };
            (kind, length)
        }
        c => (Kind::Plain, c.len_utf8()),
    }
}

/// Returns the length of a string literal whose prefix has `prefix` bytes. An unclosed literal ends at the end of its
/// line or, with triple quotes, at the end of the text.
fn string(rest: &str, prefix: usize) -> usize {
    let body = &rest[prefix..];
    let quote = if body.starts_with('"') { b'"' } else { b'\'' };
    let bytes = body.as_bytes();
    let triple = bytes.len() >= 3 && bytes[1] == quote && bytes[2] == quote;
    let mut at = if triple { 3 } else { 1 };
    while at < bytes.len() {
        match bytes[at] {
            // Quotes, backslashes and line ends are never part of a longer UTF-8 character. A quote after a backslash does not end a
            // raw string either.
            b'\\' if at + 1 < bytes.len() && bytes[at + 1].is_ascii() => at += 1,
            b'\n' | b'\r' if !triple => return prefix + at,
            b if b == quote && !triple => return prefix + at + 1,
            b if b == quote && bytes[at..].starts_with(&[quote; 3]) => return prefix + at + 3,
            _ => {}
        }
        at += 1;
    }
    rest.len()
}

fn is_prefix(word: &str) -> bool {
    word.len() <= 2 && word.bytes().all(|b| b"rRbBuUfFtT".contains(&b))
}

fn is_keyword(word: &str) -> bool {
    matches!(
        word,
        "False"
            | "None"
            | "True"
            | "and"
            | "as"
            | "assert"
            | "async"
            | "await"
            | "break"
            | "class"
            | "continue"
            | "def"
            | "del"
            | "elif"
            | "else"
            | "except"
            | "finally"
            | "for"
            | "from"
            | "global"
            | "if"
            | "import"
            | "in"
            | "is"
            | "lambda"
            | "nonlocal"
            | "not"
            | "or"
            | "pass"
            | "raise"
            | "return"
            | "try"
            | "while"
            | "with"
            | "yield"
    )
}

use super::{Kind, is_name, is_name_start, quoted, run, to_line_end};

/// The kind and length of the token that begins with `c`.
pub(super) fn next(rest: &str, c: char, line_start: bool) -> (Kind, usize) {
    match c {
        '#' if line_start => (Kind::Comment, run(rest, to_line_end)),
        '"' => (Kind::Text, quoted(rest, b'"', true)),
        // Nothing is escaped in it.
        '\'' => (
            Kind::Text,
            rest[1..].find('\'').map_or(rest.len(), |at| at + 2),
        ),
        '\\' => (
            Kind::Plain,
            1 + rest[1..].chars().next().map_or(0, char::len_utf8),
        ),
        '$' if rest[1..].starts_with(is_name) => (Kind::Decorator, 1 + run(&rest[1..], is_name)),
        c if is_name_start(c) => {
            let length = run(rest, |c| is_name(c) || c == '-' || c == '/');
            let kind = match &rest[..length] {
                "if" | "then" | "else" | "elif" | "fi" | "for" | "while" | "until" | "do"
                | "done" | "case" | "esac" | "in" | "set" | "exit" | "break" => Kind::Keyword,
                _ => Kind::Plain,
            };
            (kind, length)
        }
        // Options, so that no word of theirs counts.
        '-' | '/' => (
            Kind::Plain,
            run(rest, |c| is_name(c) || c == '-' || c == '/'),
        ),
        c => (Kind::Plain, c.len_utf8()),
    }
}

//! Colours for previews of Python: enough grammar to tell words, texts and comments apart.

/// A piece of the text, all of one kind. Put together, the pieces are the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span<'a> {
    pub kind: Kind,
    pub text: &'a str,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Plain,
    Keyword,
    Text,
    Comment,
    Number,
    /// The name that a `def` or `class` defines.
    Definition,
    Decorator,
}

impl Kind {
    /// For a class of the style sheet; empty for plain text.
    pub fn name(self) -> &'static str {
        match self {
            Self::Plain => "",
            Self::Keyword => "keyword",
            Self::Text => "text",
            Self::Comment => "comment",
            Self::Number => "number",
            Self::Definition => "definition",
            Self::Decorator => "decorator",
        }
    }
}

/// Splits Python source into spans. Total over any text, and linear in its length.
pub fn python(source: &str) -> Vec<Span<'_>> {
    let mut spans: Vec<Span> = Vec::new();
    let mut plain = 0;
    let mut at = 0;
    let mut defines = false;
    let mut line_start = true;
    while let Some(c) = source[at..].chars().next() {
        let rest = &source[at..];
        let (kind, length) = next(rest, c, line_start);
        let text = &rest[..length];
        let kind = match kind {
            Kind::Plain if defines && is_name_start(c) => Kind::Definition,
            kind => kind,
        };
        match kind {
            Kind::Keyword => defines = matches!(text, "def" | "class"),
            _ if text.chars().all(char::is_whitespace) => {}
            _ => defines = false,
        }
        line_start = match c {
            '\n' | '\r' => true,
            ' ' | '\t' => line_start,
            _ => false,
        };
        if kind != Kind::Plain {
            if plain < at {
                spans.push(Span {
                    kind: Kind::Plain,
                    text: &source[plain..at],
                });
            }
            spans.push(Span { kind, text });
            plain = at + length;
        }
        at += length;
    }
    if plain < at {
        spans.push(Span {
            kind: Kind::Plain,
            text: &source[plain..],
        });
    }
    spans
}

/// The kind and length of the token that begins with `c`.
fn next(rest: &str, c: char, line_start: bool) -> (Kind, usize) {
    let while_ = |matches: fn(char) -> bool| rest.find(|c| !matches(c)).unwrap_or(rest.len());
    match c {
        '#' => (Kind::Comment, while_(|c| c != '\n' && c != '\r')),
        '"' | '\'' => (Kind::Text, string(rest, 0)),
        '@' if line_start => {
            let length = 1 + rest[1..]
                .find(|c: char| !is_name(c) && c != '.')
                .unwrap_or(rest.len() - 1);
            (Kind::Decorator, length)
        }
        '0'..='9' => (Kind::Number, number(rest)),
        c if is_name_start(c) => {
            let length = while_(is_name);
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

/// The length of a string literal whose prefix has `prefix` bytes. An unclosed one ends with its
/// line, or, in triple quotes, with the text.
fn string(rest: &str, prefix: usize) -> usize {
    let body = &rest[prefix..];
    let quote = if body.starts_with('"') { b'"' } else { b'\'' };
    let bytes = body.as_bytes();
    let triple = bytes.len() >= 3 && bytes[1] == quote && bytes[2] == quote;
    let mut at = if triple { 3 } else { 1 };
    while at < bytes.len() {
        match bytes[at] {
            // Quotes, backslashes and line ends are never part of a longer UTF-8 character. In a
            // raw string too, a quote after a backslash does not end it.
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

fn number(rest: &str) -> usize {
    let mut previous = '0';
    let end = rest.find(|c: char| {
        let exponent_sign =
            matches!(c, '+' | '-') && matches!(previous, 'e' | 'E') && !rest.starts_with("0x");
        let goes_on = c.is_ascii_alphanumeric() || matches!(c, '.' | '_') || exponent_sign;
        previous = c;
        !goes_on
    });
    end.unwrap_or(rest.len())
}

fn is_name_start(c: char) -> bool {
    c == '_' || c.is_alphabetic()
}

fn is_name(c: char) -> bool {
    c == '_' || c.is_alphanumeric()
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn seen(source: &str) -> Vec<(Kind, &str)> {
        let spans = python(source).into_iter();
        spans
            .filter(|span| span.kind != Kind::Plain)
            .map(|span| (span.kind, span.text))
            .collect()
    }

    #[test]
    fn a_function() {
        use Kind::*;
        let source =
            "@app.route('/x')\nasync def run(x=1.5e-3):  # go\n    return f\"a\\\"b\" + définir\n";
        assert_eq!(
            seen(source),
            [
                (Decorator, "@app.route"),
                (Text, "'/x'"),
                (Keyword, "async"),
                (Keyword, "def"),
                (Definition, "run"),
                (Number, "1.5e-3"),
                (Comment, "# go"),
                (Keyword, "return"),
                (Text, "f\"a\\\"b\""),
            ]
        );
    }

    #[test]
    fn texts_end_where_they_should() {
        use Kind::*;
        assert_eq!(
            seen("'''a 'b' \n\\''' c''' 'open\nx = 0x1F @ y; br'\\'"),
            [
                (Text, "'''a 'b' \n\\''' c'''"),
                (Text, "'open"),
                (Number, "0x1F"),
                (Text, "br'\\'"),
            ]
        );
        assert_eq!(
            seen("\"\"\"never closed\n"),
            [(Text, "\"\"\"never closed\n")]
        );
        assert_eq!(seen("class\tΑθήνα: pass")[1], (Definition, "Αθήνα"));
        assert_eq!(seen("'' \"\""), [(Text, "''"), (Text, "\"\"")]);
    }

    proptest! {
        #[test]
        fn the_spans_are_the_text(source in ".{0,80}|[a-f'\"\\\\#@\n\r 0-9.é]{0,80}") {
            let spans = python(&source);
            prop_assert_eq!(spans.iter().map(|span| span.text).collect::<String>(), source.as_str());
            prop_assert!(spans.iter().all(|span| !span.text.is_empty()));
            let doubled = spans.windows(2).any(|pair| pair.iter().all(|span| span.kind == Kind::Plain));
            prop_assert!(!doubled);
        }
    }

    #[test]
    fn long_texts_take_time_in_proportion() {
        for piece in ["'", "\"\"\"", "a", "@", "1", "# ", "\\", "é\n"] {
            let source = piece.repeat(300_000);
            assert_eq!(
                python(&source)
                    .iter()
                    .map(|span| span.text.len())
                    .sum::<usize>(),
                source.len()
            );
        }
    }
}

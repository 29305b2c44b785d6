//! Colours for code: enough grammar to tell words, texts and comments apart.

mod c_like;
mod python;
mod shell;

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
    /// A decorator of Python's, a variable of the shell's.
    Decorator,
}

impl Kind {
    /// A class of the style sheet; empty for plain text.
    pub fn class(self) -> &'static str {
        match self {
            Self::Plain => "",
            Self::Keyword => "code-keyword",
            Self::Text => "code-text",
            Self::Comment => "code-comment",
            Self::Number => "code-number",
            Self::Definition => "code-definition",
            Self::Decorator => "code-decorator",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Grammar {
    Python,
    /// Names of members count as definitions.
    Json,
    /// A POSIX shell.
    Shell,
    JavaScript,
    Rust,
}

/// Splits source into spans. Total over any text, and linear in its length.
pub fn spans(grammar: Grammar, source: &str) -> Vec<Span<'_>> {
    let next = match grammar {
        Grammar::Python => python::next,
        Grammar::Json => c_like::json,
        Grammar::Shell => shell::next,
        Grammar::JavaScript => c_like::javascript,
        Grammar::Rust => c_like::rust,
    };
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
            Kind::Keyword => {
                defines = matches!(text, "def" | "class" | "fn" | "struct" | "function");
            }
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

/// The spans in blocks of so many lines: long code is shown block by block. A span over several
/// blocks is cut.
pub fn blocks<'a>(spans: &[Span<'a>], lines: usize) -> Vec<Vec<Span<'a>>> {
    let mut blocks = Vec::new();
    let (mut block, mut ended) = (Vec::new(), 0);
    for Span { kind, text } in spans {
        let mut start = 0;
        for (at, _) in text.match_indices('\n') {
            ended += 1;
            if ended == lines {
                let text = &text[start..=at];
                block.push(Span { kind: *kind, text });
                blocks.push(std::mem::take(&mut block));
                (start, ended) = (at + 1, 0);
            }
        }
        if start < text.len() {
            let text = &text[start..];
            block.push(Span { kind: *kind, text });
        }
    }
    if !block.is_empty() {
        blocks.push(block);
    }
    blocks
}

/// The length of what is at the start, as long as characters match.
fn run(rest: &str, matches: fn(char) -> bool) -> usize {
    rest.find(|c| !matches(c)).unwrap_or(rest.len())
}

fn to_line_end(c: char) -> bool {
    c != '\n' && c != '\r'
}

fn is_name_start(c: char) -> bool {
    c == '_' || c.is_alphabetic()
}

fn is_name(c: char) -> bool {
    c == '_' || c.is_alphanumeric()
}

/// The length of a number.
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

/// The length of a text up to its closing quote, escapes passed over. An unclosed one ends with its
/// line, or, where it may have several lines, with the source.
fn quoted(rest: &str, quote: u8, lines: bool) -> usize {
    let bytes = rest.as_bytes();
    let mut at = 1;
    while at < bytes.len() {
        match bytes[at] {
            // Quotes, backslashes and line ends are never part of a longer UTF-8 character.
            b'\\' if at + 1 < bytes.len() && bytes[at + 1].is_ascii() => at += 1,
            b'\n' | b'\r' if !lines => return at,
            b if b == quote => return at + 1,
            _ => {}
        }
        at += 1;
    }
    rest.len()
}

#[cfg(test)]
mod tests;

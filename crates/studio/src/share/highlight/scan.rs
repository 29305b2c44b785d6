//! Common parts of the grammars: the kinds of tokens, and functions for their lengths.

/// The kind of a token.
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
    /// Returns the CSS class; empty for plain text.
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

/// Returns the length of the prefix whose characters match.
pub(super) fn run(rest: &str, matches: fn(char) -> bool) -> usize {
    rest.find(|c| !matches(c)).unwrap_or(rest.len())
}

pub(super) fn to_line_end(c: char) -> bool {
    c != '\n' && c != '\r'
}

pub(super) fn is_name_start(c: char) -> bool {
    c == '_' || c.is_alphabetic()
}

pub(super) fn is_name(c: char) -> bool {
    c == '_' || c.is_alphanumeric()
}

/// Returns the length of a number.
pub(super) fn number(rest: &str) -> usize {
    let mut previous = '0';
    let end = rest.find(|c: char| {
        let exponent_sign =
            matches!(c, '+' | '-') && matches!(previous, 'e' | 'E') && !rest.starts_with("0x");
        let is_part = c.is_ascii_alphanumeric() || matches!(c, '.' | '_') || exponent_sign;
        previous = c;
        !is_part
    });
    end.unwrap_or(rest.len())
}

/// Returns the length of a string including its closing quote, skipping escapes. An unclosed string ends at the end of
/// its line.
pub(super) fn quoted(rest: &str, quote: u8) -> usize {
    let bytes = rest.as_bytes();
    let mut at = 1;
    while at < bytes.len() {
        match bytes[at] {
            // Quotes, backslashes and line ends are never part of a longer UTF-8 character.
            b'\\' if at + 1 < bytes.len() && bytes[at + 1].is_ascii() => at += 1,
            b'\n' | b'\r' => return at,
            b if b == quote => return at + 1,
            _ => {}
        }
        at += 1;
    }
    rest.len()
}

//! Syntax highlighting: splits code into keywords, strings, comments and other tokens.

mod json;
mod python;
mod scan;

pub use scan::Kind;
use scan::is_name_start;

/// A part of the text with its kind. The concatenation of all spans is the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span<'a> {
    pub kind: Kind,
    pub text: &'a str,
}

/// The grammar of the code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Grammar {
    Python,
    /// Keys of objects count as definitions.
    Json,
    /// Any other language: plain text.
    Plain,
}

/// Splits source code into spans. Works for any text, in linear time.
pub fn spans(grammar: Grammar, source: &str) -> Vec<Span<'_>> {
    let next = match grammar {
        Grammar::Python => python::next,
        Grammar::Json => json::next,
        Grammar::Plain => |rest: &str, _: char, _: bool| (Kind::Plain, rest.len()),
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

/// Splits the spans into blocks of `lines` lines, because long code is rendered in blocks. A span over several blocks
/// is split.
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

#[cfg(test)]
mod tests;

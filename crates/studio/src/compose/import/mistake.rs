//! Explains invalid JSON to users who wrote it with another program.

use serde_json::Error;

/// Non-JSON words that other programs write, with their JSON equivalents.
const WORDS: [(&str, &str); 9] = [
    ("NaN", "null"),
    ("nan", "null"),
    ("Infinity", "null"),
    ("-Infinity", "null"),
    ("inf", "null"),
    ("-inf", "null"),
    ("None", "null"),
    ("True", "true"),
    ("False", "false"),
];

/// Returns the parser's message, or names the non-JSON word at its position. `text` is the parsed text.
pub fn found(text: &str, error: &Error) -> String {
    let Some((word, instead, column)) = word_at(text, error) else {
        return error.to_string();
    };
    let line = error.line();
    format!("“{word}” in line {line}, column {column}, is not valid JSON; write {instead}")
}

fn word_at<'a>(text: &'a str, error: &Error) -> Option<(&'a str, &'static str, usize)> {
    let line = text.split('\n').nth(error.line().checked_sub(1)?)?;
    let is_of_word = |byte: u8| byte.is_ascii_alphabetic() || byte == b'-';
    let bytes = line.as_bytes();
    // The parser stops at the word, or a few letters into it.
    let at = error.column().min(bytes.len()).checked_sub(1)?;
    let start = bytes[..at].iter().rposition(|byte| !is_of_word(*byte));
    let start = start.map_or(0, |before| before + 1);
    let length = bytes[start..].iter().take_while(|byte| is_of_word(**byte));
    let word = line.get(start..start + length.count())?;
    let (_, instead) = WORDS.into_iter().find(|(known, _)| *known == word)?;
    let column = 1 + line.get(..start)?.chars().count();
    Some((word, instead, column))
}

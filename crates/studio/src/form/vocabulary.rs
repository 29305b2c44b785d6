//! Finds and completes words of a model's vocabulary in a text. The vocabulary is the list of words that a model
//! understands, in the field `vocabulary` of a parameter. Most services don't have this field.

use std::ops::Range;

use atelier_contract::Parameter;
use serde_json::Value;

/// The minimum number of typed letters for which words are offered.
const MIN_TYPED: usize = 2;

/// The maximum length in bytes of a text to search. Each key press searches the text.
const MAX_TEXT: usize = 20_000;

/// The maximum number of offered words.
const MAX_OFFERED: usize = 5;

/// The words of a prompt that a model understands.
#[derive(Debug, Clone, PartialEq)]
pub struct Vocabulary {
    /// The words in lower case, the longest first; some consist of several words.
    words: Vec<String>,
}

/// Words that can complete the text before the caret.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Completions {
    /// The range of the text that the chosen word replaces, in bytes.
    pub typed: Range<usize>,
    pub words: Vec<String>,
}

impl Vocabulary {
    /// Reads the vocabulary of a parameter: a list of strings, or of objects with a `word`. `None` if the parameter has
    /// none.
    pub fn of(parameter: &Parameter) -> Option<Self> {
        let listed = parameter.extra.get("vocabulary")?.as_array()?;
        let word = |value: &Value| {
            let word = value.as_str().or_else(|| value["word"].as_str())?;
            Some(word.trim().to_lowercase()).filter(|word| !word.is_empty())
        };
        let mut words: Vec<String> = listed.iter().filter_map(word).collect();
        words.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        words.dedup();
        (!words.is_empty()).then_some(Self { words })
    }

    /// Returns the ranges of known words in a text, in bytes and in order. Only whole words match, and longer ones are
    /// preferred: in `sky blue`, `blue` is not found. Negated words, as in `no stars`, are skipped. Empty for a text of
    /// more than [`MAX_TEXT`] bytes.
    pub fn find(&self, text: &str) -> Vec<Range<usize>> {
        let mut found = Vec::new();
        if text.len() > MAX_TEXT {
            return found;
        }
        let mut at = 0;
        while at < text.len() {
            match self.word_at(text, at) {
                Some(end) => {
                    if !is_negated(&text[..at]) {
                        found.push(at..end);
                    }
                    at = end;
                }
                None => at = next_start(text, at),
            }
        }
        found
    }

    /// Whether a text contains none of the words. False for short texts, because the user may still be typing a word,
    /// and for texts that are too long to search.
    pub fn has_no_known_word(&self, text: &str) -> bool {
        const ENOUGH: usize = 3;
        let words = text.split(|c: char| !c.is_alphanumeric());
        let begun = words.filter(|word| !word.is_empty()).take(ENOUGH).count();
        let is_long_enough = begun == ENOUGH || text.trim().chars().count() >= 4 * ENOUGH;
        is_long_enough && text.len() <= MAX_TEXT && self.find(text).is_empty()
    }

    /// Returns the end of the known word that starts at `at`, which must be the start of a word of the text.
    fn word_at(&self, text: &str, at: usize) -> Option<usize> {
        let rest = &text[at..];
        let begins = rest.starts_with(char::is_alphanumeric);
        // The first match is the longest.
        let mut ends = self.words.iter().filter(|_| begins).filter_map(|word| {
            let end = word.len();
            let same = rest.get(..end)?.eq_ignore_ascii_case(word);
            let whole = !rest[end..].starts_with(char::is_alphanumeric);
            (same && whole).then_some(at + end)
        });
        ends.next()
    }

    /// Returns the words that complete the text between the start of a word and the caret. `caret`: in UTF-16, as in browsers.
    pub fn complete(&self, text: &str, caret: usize) -> Completions {
        if text.len() > MAX_TEXT {
            return Completions::default();
        }
        let caret = byte_of(text, caret);
        let start = text[..caret]
            .rfind(|c: char| !c.is_alphanumeric())
            .map_or(0, |at| {
                at + text[at..].chars().next().map_or(0, char::len_utf8)
            });
        let typed = text[start..caret].to_lowercase();
        let is_amid = text[caret..].starts_with(char::is_alphanumeric);
        if typed.chars().count() < MIN_TYPED || is_amid || self.words.contains(&typed) {
            return Completions::default();
        }
        let begins = |word: &&String| word.starts_with(&typed);
        let mut words: Vec<String> = self.words.iter().filter(begins).cloned().collect();
        words.sort();
        words.truncate(MAX_OFFERED);
        Completions {
            typed: start..caret,
            words,
        }
    }
}

impl Completions {
    /// Replaces the typed part with the word. Returns the text and the new caret position in UTF-16, or `None` if the text
    /// has changed meanwhile.
    pub fn apply(&self, text: &str, word: &str) -> Option<(String, usize)> {
        let typed = text.get(self.typed.clone())?;
        if !word.starts_with(&typed.to_lowercase()) {
            return None;
        }
        let (before, after) = (&text[..self.typed.start], &text[self.typed.end..]);
        let caret = before.encode_utf16().count() + word.encode_utf16().count();
        Some((format!("{before}{word}{after}"), caret))
    }
}

/// Whether the text before a word negates it.
fn is_negated(before: &str) -> bool {
    let words = before.rsplit(|c: char| !c.is_alphanumeric());
    let words = words.filter(|word| !word.is_empty());
    let mut words = words.map(str::to_ascii_lowercase);
    let is_article = |word: &String| ["a", "an", "any", "the"].contains(&word.as_str());
    let word = words.find(|word| !is_article(word));
    word.is_some_and(|word| ["no", "not", "without"].contains(&word.as_str()))
}

/// Returns the start of the next word.
fn next_start(text: &str, at: usize) -> usize {
    let mut was_word = true;
    for (offset, c) in text[at..].char_indices() {
        let is_word = c.is_alphanumeric();
        if is_word && !was_word {
            return at + offset;
        }
        was_word = is_word;
    }
    text.len()
}

fn byte_of(text: &str, utf16: usize) -> usize {
    let mut passed = 0;
    for (at, c) in text.char_indices() {
        if passed >= utf16 {
            return at;
        }
        passed += c.len_utf16();
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn vocabulary() -> Vocabulary {
        let parameter = serde_json::from_value(json!({
            "name": "prompt", "type": "string",
            "vocabulary": [
                {"word": "blue", "kind": "colour"}, "Sky Blue", "rose", "rosette", "teal", {"kind": 1}, 3
            ]
        }));
        Vocabulary::of(&parameter.unwrap()).unwrap()
    }

    fn found(text: &str) -> Vec<&str> {
        let ranges = vocabulary().find(text);
        ranges.into_iter().map(|range| &text[range]).collect()
    }

    #[test]
    fn whole_words_the_longest_first() {
        assert_eq!(found("Rose and teal"), ["Rose", "teal"]);
        assert_eq!(found("a sky blue rosette"), ["sky blue", "rosette"]);
        assert!(found("primrose, bluebell, tealight").is_empty());
        assert_eq!(found("日本 rose🌹teal"), ["rose", "teal"]);
    }

    /// The page must report a prompt without a known word, because the result is then random and the user may blame the
    /// model.
    #[test]
    fn a_prompt_without_known_words_is_distinguished_from_an_unfinished_one() {
        let none = |text: &str| vocabulary().has_no_known_word(text);
        for text in [
            "بحيرة جبلية عند الفجر",
            "a quiet night",
            "山の湖に夜が明けるところです",
        ] {
            assert!(none(text), "{text}");
        }
        for text in ["", "  ", "a", "a mou", "a quiet rose", "teal"] {
            assert!(!none(text), "{text}");
        }
        assert!(!none(&"word ".repeat(MAX_TEXT)));
    }

    /// Negated words must not be marked as understood.
    #[test]
    fn negated_words_are_not_marked() {
        assert_eq!(found("no rose, Without any teal, not the rosette"), [""; 0]);
        assert_eq!(found("not (rose)"), [""; 0]);
        assert_eq!(found("nothing teal"), ["teal"]);
    }

    /// Guards against a long text that blocks the page at each key press.
    #[test]
    fn a_very_long_text_is_not_searched() {
        assert!(found(&"rose ".repeat(MAX_TEXT)).is_empty());
    }

    #[test]
    fn offers_words_that_complete_the_text() {
        let completions = vocabulary().complete("a 🌹 ro", 7);
        assert_eq!(completions.words, ["rose", "rosette"]);
        let (text, caret) = completions.apply("a 🌹 ro", "rosette").unwrap();
        assert_eq!(text, "a 🌹 rosette");
        assert_eq!(caret, 12);
        // Another prompt was recalled meanwhile.
        for other in ["", "something else", "日本語 ro"] {
            assert_eq!(completions.apply(other, "rosette"), None);
        }
        for (text, caret) in [("r", 1), ("rose", 4), ("xy", 2), ("rob", 2), ("", 0)] {
            assert!(
                vocabulary().complete(text, caret).words.is_empty(),
                "{text} {caret}"
            );
        }
    }

    #[test]
    fn parameters_without_a_vocabulary_have_none() {
        for parameter in [
            json!({"name": "prompt"}),
            json!({"name": "prompt", "vocabulary": "rose"}),
            json!({"name": "prompt", "vocabulary": [1, {}, " "]}),
        ] {
            let parameter = serde_json::from_value(parameter).unwrap();
            assert_eq!(Vocabulary::of(&parameter), None);
        }
    }

    proptest! {
        #[test]
        fn any_text_is_handled(text in "(rose|ro|teal|sky |blue|é|İ|🌹|[ -~]){0,12}", caret in 0usize..40) {
            let vocabulary = vocabulary();
            let mut end = 0;
            for range in vocabulary.find(&text) {
                prop_assert!(range.start >= end && text.get(range.clone()).is_some());
                end = range.end;
            }
            let completions = vocabulary.complete(&text, caret);
            for word in &completions.words {
                let (put, _) = completions.apply(&text, word).unwrap();
                prop_assert!(put.contains(word.as_str()));
            }
        }
    }
}

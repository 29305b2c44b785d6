//! The words that a model says it understands (an additional field of a parameter, `vocabulary`, which
//! most services do not have): which of them stand in a text, and which may be meant.

use std::ops::Range;

use atelier_contract::Parameter;
use serde_json::Value;

/// Letters that have to be there before words are offered.
const MIN_TYPED: usize = 2;

/// Longer texts, in bytes, are not looked through: that would have to be done at each key.
const MAX_TEXT: usize = 20_000;

/// Words that are offered at most.
const MAX_OFFERED: usize = 5;

/// The words of a prompt that a model understands.
#[derive(Debug, Clone, PartialEq)]
pub struct Vocabulary {
    /// The words in lower case, the longest first; some consist of several words.
    words: Vec<String>,
}

/// Words that may be meant by what stands before the caret.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Offer {
    /// The range of the text that the chosen word replaces, in bytes.
    pub typed: Range<usize>,
    pub words: Vec<String>,
}

impl Vocabulary {
    /// The words of a parameter: a list of texts, or of objects with a `word`. None where nothing is
    /// said of them.
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

    /// Where its words stand in a text, in bytes and in order. Whole words only, the longest first: in
    /// `sky blue` it is not `blue`. Not those that are denied, as in `no stars`. None in a text of more than 20,000 bytes.
    pub fn find(&self, text: &str) -> Vec<Range<usize>> {
        let mut found = Vec::new();
        if text.len() > MAX_TEXT {
            return found;
        }
        let mut at = 0;
        while at < text.len() {
            match self.word_at(text, at) {
                Some(end) => {
                    if !is_denied(&text[..at]) {
                        found.push(at..end);
                    }
                    at = end;
                }
                None => at = next_start(text, at),
            }
        }
        found
    }

    /// Whether a text that has begun to say something has none of its words. What is still being typed may
    /// become one, and a very long text is not looked at.
    pub fn knows_none(&self, text: &str) -> bool {
        const ENOUGH: usize = 3;
        let words = text.split(|c: char| !c.is_alphanumeric());
        let begun = words.filter(|word| !word.is_empty()).take(ENOUGH).count();
        let says_something = begun == ENOUGH || text.trim().chars().count() >= 4 * ENOUGH;
        says_something && text.len() <= MAX_TEXT && self.find(text).is_empty()
    }

    /// The end of the word that begins at this place, which is the start of a word of the text.
    fn word_at(&self, text: &str, at: usize) -> Option<usize> {
        let rest = &text[at..];
        let begins = rest.starts_with(char::is_alphanumeric);
        // The first is the longest.
        let mut ends = self.words.iter().filter(|_| begins).filter_map(|word| {
            let end = word.len();
            let same = rest.get(..end)?.eq_ignore_ascii_case(word);
            let whole = !rest[end..].starts_with(char::is_alphanumeric);
            (same && whole).then_some(at + end)
        });
        ends.next()
    }

    /// The words that begin with what stands between the start of a word and the caret, which is
    /// counted in UTF-16 as browsers do.
    pub fn offer(&self, text: &str, caret: usize) -> Offer {
        if text.len() > MAX_TEXT {
            return Offer::default();
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
            return Offer::default();
        }
        let begins = |word: &&String| word.starts_with(&typed);
        let mut words: Vec<String> = self.words.iter().filter(begins).cloned().collect();
        words.sort();
        words.truncate(MAX_OFFERED);
        Offer {
            typed: start..caret,
            words,
        }
    }
}

impl Offer {
    /// The text with the word in its place, and where the caret is then, in UTF-16. `None` where another
    /// text stands there by now.
    pub fn put(&self, text: &str, word: &str) -> Option<(String, usize)> {
        let typed = text.get(self.typed.clone())?;
        if !word.starts_with(&typed.to_lowercase()) {
            return None;
        }
        let (before, after) = (&text[..self.typed.start], &text[self.typed.end..]);
        let caret = before.encode_utf16().count() + word.encode_utf16().count();
        Some((format!("{before}{word}{after}"), caret))
    }
}

/// Whether what stands before a word says that it is not meant.
fn is_denied(before: &str) -> bool {
    let words = before.rsplit(|c: char| !c.is_alphanumeric());
    let words = words.filter(|word| !word.is_empty());
    let mut words = words.map(str::to_ascii_lowercase);
    let is_article = |word: &String| ["a", "an", "any", "the"].contains(&word.as_str());
    let word = words.find(|word| !is_article(word));
    word.is_some_and(|word| ["no", "not", "without"].contains(&word.as_str()))
}

/// The start of the next word after the one at this place.
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

    /// Guards against a result of chance that looks like a bad model.
    #[test]
    fn a_prompt_without_a_known_word_is_told_from_one_that_is_begun() {
        let none = |text: &str| vocabulary().knows_none(text);
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

    /// Guards against a word that is outlined as if it steered, where the model is told that it is not meant.
    #[test]
    fn what_is_denied_is_not_marked() {
        assert_eq!(found("no rose, Without any teal, not the rosette"), [""; 0]);
        assert_eq!(found("not (rose)"), [""; 0]);
        assert_eq!(found("nothing teal"), ["teal"]);
    }

    /// Guards against a pasted book that stops the page at each key.
    #[test]
    fn a_very_long_text_is_left_alone() {
        assert!(found(&"rose ".repeat(MAX_TEXT)).is_empty());
    }

    #[test]
    fn words_that_may_be_meant() {
        let offer = vocabulary().offer("a 🌹 ro", 7);
        assert_eq!(offer.words, ["rose", "rosette"]);
        let (text, caret) = offer.put("a 🌹 ro", "rosette").unwrap();
        assert_eq!(text, "a 🌹 rosette");
        assert_eq!(caret, 12);
        // Another prompt was called back meanwhile.
        for other in ["", "something else", "日本語 ro"] {
            assert_eq!(offer.put(other, "rosette"), None);
        }
        for (text, caret) in [("r", 1), ("rose", 4), ("xy", 2), ("rob", 2), ("", 0)] {
            assert!(
                vocabulary().offer(text, caret).words.is_empty(),
                "{text} {caret}"
            );
        }
    }

    #[test]
    fn services_that_say_nothing_of_words_have_none() {
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
        fn any_text_is_survived(text in "(rose|ro|teal|sky |blue|é|İ|🌹|[ -~]){0,12}", caret in 0usize..40) {
            let vocabulary = vocabulary();
            let mut end = 0;
            for range in vocabulary.find(&text) {
                prop_assert!(range.start >= end && text.get(range.clone()).is_some());
                end = range.end;
            }
            let offer = vocabulary.offer(&text, caret);
            for word in &offer.words {
                let (put, _) = offer.put(&text, word).unwrap();
                prop_assert!(put.contains(word.as_str()));
            }
        }
    }
}

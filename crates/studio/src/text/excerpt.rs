//! The beginning of a text that is too long for its place.

use crate::compose::prompts::line;

/// The text as one line of at most so many characters: cut behind a word, where one ends in its second half, and
/// marked where it is cut.
pub fn excerpt(text: &str, most: usize) -> String {
    let text = line(text);
    if text.chars().count() <= most {
        return text;
    }
    // The next character is looked at, too: it says whether a word has ended.
    let start: String = text.chars().take(most).collect();
    let kept = start
        .chars()
        .take(most.saturating_sub(1))
        .collect::<String>();
    let end = start.rfind(char::is_whitespace);
    let cut = end
        .filter(|end| *end * 2 > start.len())
        .unwrap_or(kept.len());
    let is_loose = |c: char| c.is_whitespace() || ",;:.-–—(".contains(c);
    format!(
        "{}…",
        kept[..cut.min(kept.len())].trim_end_matches(is_loose)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_long_text_is_cut_behind_a_word_and_says_so() {
        for (text, most, cut) in [
            ("a lake", 6, "a lake"),
            (" a lake\n at dawn ", 20, "a lake  at dawn"),
            ("an alpine lake at dawn", 16, "an alpine lake…"),
            ("an alpine lake at dawn", 15, "an alpine lake…"),
            ("an alpine lake at dawn", 14, "an alpine…"),
            ("an alpine lake, at dawn", 17, "an alpine lake…"),
            ("incomprehensibilities", 9, "incompre…"),
            ("a incomprehensibilities", 9, "a incomp…"),
            ("アルプスの湖、夜明け", 6, "アルプスの…"),
            ("", 3, ""),
        ] {
            assert_eq!(excerpt(text, most), cut, "{text} in {most}");
        }
    }

    proptest! {
        #[test]
        fn it_is_a_beginning_and_never_longer(text in "[a-zé ,…]{0,40}", most in 1..30usize) {
            let cut = excerpt(&text, most);
            prop_assert!(cut.chars().count() <= most.max(1));
            let text = line(&text);
            let beginning = if text.chars().count() <= most { cut.as_str() } else { cut.strip_suffix('…').unwrap() };
            prop_assert!(text.starts_with(beginning));
        }
    }
}

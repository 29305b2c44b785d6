//! Shortens texts that are too long for their space.

use crate::compose::prompts::line;

/// Returns the text on one line of at most `most` characters. Longer text is cut at a word boundary if there is one in
/// the second half of the line, and ends with an ellipsis.
pub fn excerpt(text: &str, most: usize) -> String {
    let text = line(text);
    if text.chars().count() <= most {
        return text;
    }
    // Include the next character, which shows whether a word ends before it.
    let start: String = text.chars().take(most).collect();
    let prefix = start
        .chars()
        .take(most.saturating_sub(1))
        .collect::<String>();
    let end = start.rfind(char::is_whitespace);
    let cut = end
        .filter(|end| *end * 2 > start.len())
        .unwrap_or(prefix.len());
    let is_loose = |c: char| c.is_whitespace() || ",;:.-–—(".contains(c);
    format!(
        "{}…",
        prefix[..cut.min(prefix.len())].trim_end_matches(is_loose)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_long_text_is_cut_at_a_word_and_ends_with_an_ellipsis() {
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
        fn an_excerpt_is_a_prefix_and_not_too_long(text in "[a-zé ,…]{0,40}", most in 1..30usize) {
            let cut = excerpt(&text, most);
            prop_assert!(cut.chars().count() <= most.max(1));
            let text = line(&text);
            let beginning = if text.chars().count() <= most { cut.as_str() } else { cut.strip_suffix('…').unwrap() };
            prop_assert!(text.starts_with(beginning));
        }
    }
}

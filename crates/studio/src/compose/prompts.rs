//! Parses one prompt per line.

/// The characters that end a line on some system.
pub const BREAKS: [char; 4] = ['\n', '\r', '\u{2028}', '\u{2029}'];

/// Returns the prompts of a text: its lines, trimmed, without empty ones.
pub fn prompts(text: &str) -> impl Iterator<Item = &str> {
    text.split(BREAKS)
        .map(trimmed)
        .filter(|line| !line.is_empty())
}

/// Joins the lines of a prompt into one, trimmed like [`prompts`] does.
pub fn line(prompt: &str) -> String {
    trimmed(&prompt.replace(BREAKS, " ")).to_owned()
}

/// Trims whitespace and byte order marks.
pub fn trimmed(line: &str) -> &str {
    line.trim_matches(|c: char| c.is_whitespace() || c == '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn lines_are_trimmed_and_empty_ones_skipped() {
        let text = "\u{feff}a cat, sitting\r\n\r\n  a dog\t\n\n";
        let prompts: Vec<&str> = prompts(text).collect();
        assert_eq!(prompts, ["a cat, sitting", "a dog"]);
    }

    proptest! {
        #[test]
        fn joined_prompts_are_split_again(lines in prop::collection::vec("[a-zA-Z0-9,;'\" é]{0,20}x", 0..20), end in "\n|\r\n|\n\n") {
            let lines: Vec<&str> = lines.iter().map(|line| line.trim()).collect();
            let text = lines.join(&end);
            prop_assert!(prompts(&text).eq(lines.iter().copied()));
        }
    }
}

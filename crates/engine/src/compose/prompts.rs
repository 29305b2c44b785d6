//! One prompt per line.

use atelier_contract::{Draft, Entry};

/// The prompts of a text: its lines, trimmed, without the empty ones.
pub fn prompts(text: &str) -> impl Iterator<Item = &str> {
    text.split(['\n', '\r', '\u{2028}', '\u{2029}'])
        .map(|line| line.trim_matches(|c: char| c.is_whitespace() || c == '\u{feff}'))
        .filter(|line| !line.is_empty())
}

/// A row per prompt: the form's other entries, with the prompt in its parameter.
pub fn rows(base: &Draft, parameter: &str, text: &str) -> Vec<Draft> {
    prompts(text)
        .map(|prompt| {
            let mut row = base.clone();
            row.set(parameter, Entry::Text(prompt.to_owned()));
            row
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn lines_are_trimmed_and_empty_ones_passed_over() {
        let text = "\u{feff}a cat, sitting\r\n\r\n  a dog\t\n\n";
        let mut base = Draft::default();
        base.set("seed", Entry::Text("7".into()));
        let rows = rows(&base, "prompt", text);
        let prompts: Vec<String> = rows
            .iter()
            .map(|row| row.get("prompt").unwrap().to_text())
            .collect();
        assert_eq!(prompts, ["a cat, sitting", "a dog"]);
        assert!(rows.iter().all(|row| row.get("seed").is_some()));
    }

    proptest! {
        #[test]
        fn joined_prompts_come_apart_again(lines in prop::collection::vec("[a-zA-Z0-9,;'\" é]{0,20}x", 0..20), end in "\n|\r\n|\n\n") {
            let lines: Vec<&str> = lines.iter().map(|line| line.trim()).collect();
            let text = lines.join(&end);
            prop_assert!(prompts(&text).eq(lines.iter().copied()));
        }
    }
}

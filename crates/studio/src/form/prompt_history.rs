//! Recalls earlier prompts of a model one by one, like a shell's history.

/// The position in the history of prompts.
#[derive(Debug, Default, PartialEq)]
pub struct PromptHistory {
    /// The text in the field before the first step back.
    typed: String,
    /// The number of steps back; 0 is the typed text.
    steps: usize,
    /// The prompt that was recalled last.
    recalled: String,
}

impl PromptHistory {
    /// Returns the prompt before the `shown` one; `None` if there is no older one. `prompts`: newest first.
    pub fn older(&mut self, prompts: &[String], shown: &str) -> Option<String> {
        if self.steps == 0 || shown != self.recalled {
            // The user has changed the recalled prompt, so it counts as typed.
            self.typed = shown.to_owned();
            self.steps = 0;
        }
        let rest = prompts.iter().enumerate().skip(self.steps);
        let (at, prompt) = rest
            .into_iter()
            .find(|(_, prompt)| prompt.as_str() != shown)?;
        self.steps = at + 1;
        self.recalled.clone_from(prompt);
        Some(prompt.clone())
    }

    /// Returns the prompt after the `shown` one, or the typed text after the newest prompt; `None` if the typed text is
    /// shown.
    pub fn newer(&mut self, prompts: &[String], shown: &str) -> Option<String> {
        if self.steps == 0 || shown != self.recalled {
            return None;
        }
        let newer = prompts.iter().take(self.steps - 1).enumerate().rev();
        match newer
            .into_iter()
            .find(|(_, prompt)| prompt.as_str() != shown)
        {
            Some((at, prompt)) => {
                self.steps = at + 1;
                self.recalled.clone_from(prompt);
                Some(prompt.clone())
            }
            None => {
                self.steps = 0;
                Some(std::mem::take(&mut self.typed))
            }
        }
    }
}

/// Returns up to `max` distinct prompts, in order, without empty ones.
pub fn distinct<'a>(prompts: impl IntoIterator<Item = &'a str>, max: usize) -> Vec<String> {
    let mut distinct: Vec<String> = Vec::new();
    for prompt in prompts {
        if distinct.len() == max {
            break;
        }
        if !prompt.trim().is_empty() && !distinct.iter().any(|known| known == prompt) {
            distinct.push(prompt.to_owned());
        }
    }
    distinct
}

/// Returns the prompts to offer: first the `typed` text, which an earlier prompt has replaced in the field, then the
/// earlier prompts.
pub fn listed(earlier: &[String], typed: &str, max: usize) -> Vec<String> {
    let earlier = earlier.iter().map(String::as_str);
    distinct(std::iter::once(typed).chain(earlier), max)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prompts() -> Vec<String> {
        ["third", "second", "first"].map(str::to_owned).to_vec()
    }

    #[test]
    fn steps_back_to_the_oldest_and_forward_to_the_typed_text() {
        let mut history = PromptHistory::default();
        let mut shown = "half a thou".to_owned();
        for older in ["third", "second", "first"] {
            shown = history.older(&prompts(), &shown).unwrap();
            assert_eq!(shown, older);
        }
        assert_eq!(history.older(&prompts(), &shown), None);
        for newer in ["second", "third", "half a thou"] {
            shown = history.newer(&prompts(), &shown).unwrap();
            assert_eq!(shown, newer);
        }
        assert_eq!(history.newer(&prompts(), &shown), None);
    }

    /// Guards against a key press without effect if the field still contains the last prompt.
    #[test]
    fn the_shown_prompt_is_skipped() {
        let mut history = PromptHistory::default();
        assert_eq!(
            history.older(&prompts(), "third").as_deref(),
            Some("second")
        );
        assert_eq!(
            history.newer(&prompts(), "second").as_deref(),
            Some("third")
        );
    }

    #[test]
    fn a_recalled_prompt_that_is_edited_counts_as_typed() {
        let mut history = PromptHistory::default();
        history.older(&prompts(), "");
        let shown = history.older(&prompts(), "third, at night").unwrap();
        assert_eq!(shown, "third");
        let shown = history.newer(&prompts(), &shown);
        assert_eq!(shown.as_deref(), Some("third, at night"));
    }

    /// Guards against losing a text when an earlier one replaces it.
    #[test]
    fn the_typed_text_is_listed_first() {
        let typed = "half a thou";
        assert_eq!(listed(&prompts(), typed, 3), [typed, "third", "second"]);
        assert_eq!(listed(&prompts(), "", 9), prompts());
        assert_eq!(listed(&prompts(), "third", 9), prompts());
    }

    #[test]
    fn each_prompt_once() {
        assert_eq!(distinct(["a", "b", "a", " ", "c"], 2), ["a", "b"]);
        assert_eq!(distinct(["a", "b", "a", " ", "c"], 9), ["a", "b", "c"]);
    }
}

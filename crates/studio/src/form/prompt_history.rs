//! Earlier prompts of a model, called back one by one as a shell calls back its commands.

/// The place of a person among the earlier prompts.
#[derive(Debug, Default, PartialEq)]
pub struct PromptHistory {
    /// The text that stood in the field before the first step back.
    typed: String,
    /// How many steps back; 0 is what was typed.
    steps: usize,
    recalled: String,
}

impl PromptHistory {
    /// The prompt before the one that stands in the field, of `prompts`, newest first. `None` at the
    /// oldest one.
    pub fn older(&mut self, prompts: &[String], shown: &str) -> Option<String> {
        if self.steps == 0 || shown != self.recalled {
            // A text that was changed since is something new.
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

    /// The prompt after the one that stands in the field; at last what was typed. `None` where that
    /// stands there.
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

/// Each prompt once, in the order in which it comes first, at most `max` of them; empty ones are
/// none.
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

/// Gives the earlier prompts that are offered. Before them comes the text that stood in the field until the first of
/// them took its place.
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
    fn back_to_the_oldest_and_forward_to_what_was_typed() {
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

    /// Guards against the first press that changes nothing, since the last prompt still stands there.
    #[test]
    fn what_stands_there_already_is_passed_over() {
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
    fn what_was_changed_after_a_step_is_what_was_typed() {
        let mut history = PromptHistory::default();
        history.older(&prompts(), "");
        let shown = history.older(&prompts(), "third, at night").unwrap();
        assert_eq!(shown, "third");
        let shown = history.newer(&prompts(), &shown);
        assert_eq!(shown.as_deref(), Some("third, at night"));
    }

    /// Guards against a text that is gone once an earlier one was looked at in its place.
    #[test]
    fn what_was_typed_is_listed_first() {
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

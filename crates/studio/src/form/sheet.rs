//! Where the form is a bar, it opens as a sheet over the page. An open sheet is one step in the history of the tab, so that
//! Back closes it and leads no further.

/// How far the sheet is open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sheet {
    /// The focus in the form keeps it open.
    Form,
    /// The fields are unfolded that are folded away at first.
    More,
}

impl Sheet {
    /// The word in the address.
    pub fn word(self) -> &'static str {
        match self {
            Self::Form => "form",
            Self::More => "more",
        }
    }
}

/// A change of the address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Adds a step to the history.
    Push(Sheet),
    /// Changes the word of the step that is there.
    Replace(Sheet),
    /// Goes back by one step.
    Pop,
}

/// Returns how the address has to change, which has `word`. `open`: how far the sheet is open, if it is. `is_covered`: a
/// dialog lies over the form, has taken the focus from it, and gives it back.
pub fn step(open: Option<Sheet>, word: Option<&str>, is_covered: bool) -> Option<Step> {
    match (open, word) {
        (Some(open), None) => Some(Step::Push(open)),
        (Some(open), Some(word)) => (open.word() != word).then_some(Step::Replace(open)),
        (None, Some(_)) => (!is_covered).then_some(Step::Pop),
        (None, None) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Guards against a sheet that Back does not close, and against a step of a sheet that is closed.
    #[test]
    fn an_open_sheet_is_one_step() {
        assert_eq!(step(None, None, false), None);
        for (open, other) in [(Sheet::Form, Sheet::More), (Sheet::More, Sheet::Form)] {
            let word = Some(open.word());
            assert_eq!(step(Some(open), None, false), Some(Step::Push(open)));
            assert_eq!(step(Some(open), word, false), None);
            // It stays one step where more is unfolded in it, or folded.
            assert_eq!(step(Some(other), word, false), Some(Step::Replace(other)));
            assert_eq!(step(None, word, false), Some(Step::Pop));
        }
    }

    /// Guards against a sheet that is closed beneath the dialog that was opened from it.
    #[test]
    fn a_sheet_stays_a_step_while_a_dialog_covers_it() {
        assert_eq!(step(None, Some("form"), true), None);
        assert_eq!(step(None, Some("more"), true), None);
    }
}

//! Synchronizes the tab's history with a form that is a bar at the bottom of the screen and opens as a sheet over the
//! page. An open sheet is one entry in the history, so that Back closes it without leaving the page.

/// The state of an open sheet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sheet {
    /// Open because the form has the focus.
    Form,
    /// Open with its folded fields.
    More,
}

impl Sheet {
    /// Returns the word for this state in the URL.
    pub fn word(self) -> &'static str {
        match self {
            Self::Form => "form",
            Self::More => "more",
        }
    }
}

/// A change of the URL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Adds an entry to the history.
    Push(Sheet),
    /// Replaces the word of the current entry.
    Replace(Sheet),
    /// Goes back by one entry.
    Pop,
}

/// Returns the change to a URL with this `word`; `None` if none is needed. `open`: the state of the sheet; `None` if it
/// is closed. `is_covered`: whether a dialog covers the form and has taken its focus. The focus returns to the form
/// when the dialog closes.
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

    /// Back closes an open sheet, and a closed sheet has no history entry.
    #[test]
    fn an_open_sheet_has_one_history_entry() {
        assert_eq!(step(None, None, false), None);
        for (open, other) in [(Sheet::Form, Sheet::More), (Sheet::More, Sheet::Form)] {
            let word = Some(open.word());
            assert_eq!(step(Some(open), None, false), Some(Step::Push(open)));
            assert_eq!(step(Some(open), word, false), None);
            // Folding and unfolding fields replaces the entry.
            assert_eq!(step(Some(other), word, false), Some(Step::Replace(other)));
            assert_eq!(step(None, word, false), Some(Step::Pop));
        }
    }

    /// Guards against closing a sheet beneath the dialog that was opened from it.
    #[test]
    fn a_sheet_keeps_its_entry_while_a_dialog_covers_it() {
        assert_eq!(step(None, Some("form"), true), None);
        assert_eq!(step(None, Some("more"), true), None);
    }
}

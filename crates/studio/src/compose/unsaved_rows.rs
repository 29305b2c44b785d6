//! Saves rows that were typed right before a page was closed. A database write that starts then may never finish (Safari
//! aborts it), so the rows go to synchronous storage, and the next visit stores them.

use atelier_engine::Millis;
use serde::{Deserialize, Serialize};

use super::revision::{PendingRevision, StoredRevision};

/// The rows of a closed page, with the revision that they are based on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnsavedRows {
    base: u64,
    edited: Millis,
    writer: String,
    /// JSON of a table.
    pub table: String,
}

impl UnsavedRows {
    pub fn new(pending: PendingRevision, table: String) -> Self {
        Self {
            base: pending.base,
            edited: pending.edited,
            writer: pending.writer,
            table,
        }
    }

    /// Returns the stored form.
    pub fn to_text(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Parses the stored form; `None` if it is invalid.
    pub fn read(text: &str) -> Option<Self> {
        serde_json::from_str(text).ok()
    }

    /// Returns the time of the last change, in ms since 1970-01-01 UTC.
    pub fn edited(&self) -> Millis {
        self.edited
    }

    /// Returns the revision that the rows are based on; `None` if the stored table already contains them.
    pub fn base_revision(&self, stored: Option<&StoredRevision>) -> Option<u64> {
        match stored {
            Some(stored) if stored.writer == self.writer => {
                (stored.edited < self.edited).then_some(stored.revision)
            }
            _ => Some(self.base),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unsaved() -> UnsavedRows {
        let pending = PendingRevision {
            base: 3,
            edited: 10,
            writer: "me".into(),
        };
        UnsavedRows::new(pending, r#"{"rows":[]}"#.into())
    }

    fn stored(revision: u64, edited: Millis, writer: &str) -> StoredRevision {
        StoredRevision {
            revision,
            edited,
            writer: writer.into(),
        }
    }

    #[test]
    fn survives_a_round_trip() {
        assert_eq!(UnsavedRows::read(&unsaved().to_text()), Some(unsaved()));
        assert_eq!(UnsavedRows::read("[]"), None);
    }

    /// An earlier version of the page may have written it.
    #[test]
    fn the_stored_form_is_stable() {
        let text = r#"{"base":3,"edited":10,"writer":"me","table":"{\"rows\":[]}"}"#;
        assert_eq!(UnsavedRows::read(text), Some(unsaved()));
        assert_eq!(unsaved().to_text(), text);
        let later = text.replacen('{', r#"{"later":1,"#, 1);
        assert_eq!(UnsavedRows::read(&later), Some(unsaved()));
        for odd in [
            "",
            "{",
            "null",
            "{}",
            r#"{"base":3,"edited":10,"writer":"me","table":{"rows":[]}}"#,
        ] {
            assert_eq!(UnsavedRows::read(odd), None, "{odd}");
        }
    }

    #[test]
    fn rows_that_were_stored_are_not_stored_again() {
        assert_eq!(unsaved().base_revision(Some(&stored(4, 10, "me"))), None);
    }

    #[test]
    fn the_base_is_the_last_revision_of_the_same_tab() {
        assert_eq!(unsaved().base_revision(Some(&stored(4, 9, "me"))), Some(4));
        // Conflicts with versions of other tabs are resolved by their revisions.
        assert_eq!(
            unsaved().base_revision(Some(&stored(4, 9, "other"))),
            Some(3)
        );
        assert_eq!(unsaved().base_revision(None), Some(3));
    }
}

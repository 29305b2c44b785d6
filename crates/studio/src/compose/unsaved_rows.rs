//! Keeps the rows that were typed right before a page was closed. A write to the database that begins then may never
//! be done (Safari gives it up), so that they are left where writing takes no time, and the next visit stores them.

use atelier_engine::Millis;
use serde::{Deserialize, Serialize};

use super::revision::{Stored, Wanted};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftBehind {
    base: u64,
    edited: Millis,
    writer: String,
    /// JSON of a table.
    pub table: String,
}

impl LeftBehind {
    pub fn new(wanted: Wanted, table: String) -> Self {
        Self {
            base: wanted.base,
            edited: wanted.edited,
            writer: wanted.writer,
            table,
        }
    }

    pub fn to_text(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    pub fn read(text: &str) -> Option<Self> {
        serde_json::from_str(text).ok()
    }

    /// Gives the time of the last change, in milliseconds since 1970.
    pub fn edited(&self) -> Millis {
        self.edited
    }

    /// The revision that it follows; none if it was stored after all.
    pub fn base_beside(&self, stored: Option<&Stored>) -> Option<u64> {
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

    fn left() -> LeftBehind {
        let wanted = Wanted {
            base: 3,
            edited: 10,
            writer: "me".into(),
        };
        LeftBehind::new(wanted, r#"{"rows":[]}"#.into())
    }

    fn stored(revision: u64, edited: Millis, writer: &str) -> Stored {
        Stored {
            revision,
            edited,
            writer: writer.into(),
        }
    }

    #[test]
    fn there_and_back() {
        assert_eq!(LeftBehind::read(&left().to_text()), Some(left()));
        assert_eq!(LeftBehind::read("[]"), None);
    }

    /// A page of an earlier version may have left it.
    #[test]
    fn it_is_read_and_written_as_it_always_was() {
        let text = r#"{"base":3,"edited":10,"writer":"me","table":"{\"rows\":[]}"}"#;
        assert_eq!(LeftBehind::read(text), Some(left()));
        assert_eq!(left().to_text(), text);
        let later = text.replacen('{', r#"{"later":1,"#, 1);
        assert_eq!(LeftBehind::read(&later), Some(left()));
        for odd in [
            "",
            "{",
            "null",
            "{}",
            r#"{"base":3,"edited":10,"writer":"me","table":{"rows":[]}}"#,
        ] {
            assert_eq!(LeftBehind::read(odd), None, "{odd}");
        }
    }

    #[test]
    fn what_was_stored_after_all_is_not_stored_once_more() {
        assert_eq!(left().base_beside(Some(&stored(4, 10, "me"))), None);
    }

    #[test]
    fn it_follows_what_its_own_tab_has_stored_last() {
        assert_eq!(left().base_beside(Some(&stored(4, 9, "me"))), Some(4));
        // Another tab's is settled by the revisions.
        assert_eq!(left().base_beside(Some(&stored(4, 9, "other"))), Some(3));
        assert_eq!(left().base_beside(None), Some(3));
    }
}

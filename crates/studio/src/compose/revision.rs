//! Resolves conflicts between tabs that edit the same table. Each stored version has a revision number, and each tab
//! records the revision that its table is based on.

use atelier_engine::Millis;

/// A stored version, without its rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredRevision {
    /// The number of the version. It is higher than all earlier ones.
    pub revision: u64,
    /// When the user last changed it, in ms since 1970-01-01 UTC.
    pub edited: Millis,
    /// The tab that wrote it.
    pub writer: String,
}

/// A version that a tab is about to store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PendingRevision {
    /// The revision that it is based on.
    pub base: u64,
    /// When the user last changed it, in ms since 1970-01-01 UTC.
    pub edited: Millis,
    pub writer: String,
}

/// The decision about a version that a tab is about to store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WriteDecision {
    /// Store it as this revision.
    Store { revision: u64 },
    /// Store it as this revision. It replaces a revision that the writing tab has not seen.
    Replace { revision: u64 },
    /// Don't store it: another tab changed the table later.
    Reject,
}

impl PendingRevision {
    /// Compares this version with the stored one. The later edit wins.
    pub fn resolve(&self, stored: Option<&StoredRevision>) -> WriteDecision {
        let Some(stored) = stored else {
            return WriteDecision::Store {
                revision: self.base + 1,
            };
        };
        let revision = self.base.max(stored.revision) + 1;
        // The stored version may be the tab's own if it was not notified that it was stored.
        if stored.revision == self.base || stored.writer == self.writer {
            WriteDecision::Store { revision }
        } else if self.edited >= stored.edited {
            WriteDecision::Replace { revision }
        } else {
            WriteDecision::Reject
        }
    }
}

/// The message by which a tab notifies the others that it has stored a version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableStored {
    /// The revision of the stored version.
    pub revision: u64,
    /// The revision that it is based on. It replaces later revisions, which its tab has not seen.
    pub base: u64,
    /// The model of the table.
    pub model: String,
}

impl TableStored {
    /// Formats the message: `{revision} {base} {model}`.
    pub fn to_text(&self) -> String {
        format!("{} {} {}", self.revision, self.base, self.model)
    }

    /// Parses a message; `None` if it is invalid.
    pub fn read(text: &str) -> Option<Self> {
        let mut parts = text.splitn(3, ' ');
        Some(Self {
            revision: parts.next()?.parse().ok()?,
            base: parts.next()?.parse().ok()?,
            model: parts.next()?.to_owned(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stored(revision: u64, edited: Millis) -> StoredRevision {
        StoredRevision {
            revision,
            edited,
            writer: "other".into(),
        }
    }

    fn pending(base: u64, edited: Millis) -> PendingRevision {
        PendingRevision {
            base,
            edited,
            writer: "me".into(),
        }
    }

    #[test]
    fn a_version_based_on_the_stored_one_is_stored() {
        assert_eq!(
            pending(0, 5).resolve(None),
            WriteDecision::Store { revision: 1 }
        );
        // The time doesn't matter, so a clock that was set back is harmless.
        let decision = pending(3, 5).resolve(Some(&stored(3, 9)));
        assert_eq!(decision, WriteDecision::Store { revision: 4 });
    }

    #[test]
    fn of_two_conflicting_versions_the_later_edit_wins() {
        let decision = pending(3, 10).resolve(Some(&stored(5, 9)));
        assert_eq!(decision, WriteDecision::Replace { revision: 6 });
        let decision = pending(3, 8).resolve(Some(&stored(5, 9)));
        assert_eq!(decision, WriteDecision::Reject);
        // Site data were cleared, so revisions restarted at 0.
        let decision = pending(7, 10).resolve(Some(&stored(1, 9)));
        assert_eq!(decision, WriteDecision::Replace { revision: 8 });
    }

    #[test]
    fn a_tab_does_not_conflict_with_itself() {
        let mine = StoredRevision {
            writer: "me".into(),
            ..stored(4, 9)
        };
        let decision = pending(3, 8).resolve(Some(&mine));
        assert_eq!(decision, WriteDecision::Store { revision: 5 });
    }

    #[test]
    fn messages_survive_a_round_trip() {
        let stored = TableStored {
            revision: 12,
            base: 9,
            model: "image/a model of spaces".into(),
        };
        // Tabs of other versions use this format.
        let text = "12 9 image/a model of spaces";
        assert_eq!(stored.to_text(), text);
        assert_eq!(TableStored::read(text), Some(stored));
        for odd in ["hello", "", "12 9", "12 nine image/a", "-1 9 image/a", "{}"] {
            assert_eq!(TableStored::read(odd), None, "{odd}");
        }
    }
}

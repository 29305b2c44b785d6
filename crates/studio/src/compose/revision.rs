//! One table in several tabs. Each version that is stored has a number; a tab knows from which
//! number its own has come.

use atelier_engine::Millis;

/// A version that is stored, without its rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stored {
    /// The number of the version: each has a higher one than those before.
    pub revision: u64,
    /// When a person last changed it, in ms since 1970.
    pub edited: Millis,
    /// The tab that wrote it.
    pub writer: String,
}

/// A version that a tab wants to store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wanted {
    /// The revision that it was made of.
    pub base: u64,
    /// When a person last changed it, in ms since 1970.
    pub edited: Millis,
    pub writer: String,
}

/// The decision about a version that a tab wants to store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It is stored, as this revision.
    Store { revision: u64 },
    /// The same; but it takes the place of one that its tab has not seen.
    Replace { revision: u64 },
    /// Another tab's is later, and stays.
    Reject,
}

impl Wanted {
    /// Decides about this version against the one that is stored by now: the later edit stays.
    pub fn resolve(&self, stored: Option<&Stored>) -> Verdict {
        let Some(stored) = stored else {
            return Verdict::Store {
                revision: self.base + 1,
            };
        };
        let revision = self.base.max(stored.revision) + 1;
        // One of its own may have been stored though it was never told so.
        if stored.revision == self.base || stored.writer == self.writer {
            Verdict::Store { revision }
        } else if self.edited >= stored.edited {
            Verdict::Replace { revision }
        } else {
            Verdict::Reject
        }
    }
}

/// The message by which a tab tells the others that it has stored a version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableStored {
    /// The number that the version has now.
    pub revision: u64,
    /// The revision that it was made of. A later one was not seen by its tab, and is replaced.
    pub base: u64,
    /// The model that the table is for.
    pub model: String,
}

impl TableStored {
    pub fn to_text(&self) -> String {
        format!("{} {} {}", self.revision, self.base, self.model)
    }

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

    fn stored(revision: u64, edited: Millis) -> Stored {
        Stored {
            revision,
            edited,
            writer: "other".into(),
        }
    }

    fn wanted(base: u64, edited: Millis) -> Wanted {
        Wanted {
            base,
            edited,
            writer: "me".into(),
        }
    }

    #[test]
    fn a_version_made_of_the_stored_one_follows_it() {
        assert_eq!(wanted(0, 5).resolve(None), Verdict::Store { revision: 1 });
        // Even if the clock was set back in between.
        let verdict = wanted(3, 5).resolve(Some(&stored(3, 9)));
        assert_eq!(verdict, Verdict::Store { revision: 4 });
    }

    #[test]
    fn of_two_that_did_not_see_each_other_the_later_edit_stays() {
        let verdict = wanted(3, 10).resolve(Some(&stored(5, 9)));
        assert_eq!(verdict, Verdict::Replace { revision: 6 });
        let verdict = wanted(3, 8).resolve(Some(&stored(5, 9)));
        assert_eq!(verdict, Verdict::Reject);
        // Site data were cleared, and counting began anew.
        let verdict = wanted(7, 10).resolve(Some(&stored(1, 9)));
        assert_eq!(verdict, Verdict::Replace { revision: 8 });
    }

    #[test]
    fn a_tab_does_not_quarrel_with_itself() {
        let mine = Stored {
            writer: "me".into(),
            ..stored(4, 9)
        };
        let verdict = wanted(3, 8).resolve(Some(&mine));
        assert_eq!(verdict, Verdict::Store { revision: 5 });
    }

    #[test]
    fn news_there_and_back() {
        let stored = TableStored {
            revision: 12,
            base: 9,
            model: "image/a model of spaces".into(),
        };
        // Tabs of other versions say and hear it in these words.
        let text = "12 9 image/a model of spaces";
        assert_eq!(stored.to_text(), text);
        assert_eq!(TableStored::read(text), Some(stored));
        for odd in ["hello", "", "12 9", "12 nine image/a", "-1 9 image/a", "{}"] {
            assert_eq!(TableStored::read(odd), None, "{odd}");
        }
    }
}

//! How far the table of one tab and the table that is stored are the same. It knows no rows: of the changes it counts
//! how many there were, and how many of them are stored.

use atelier_engine::Millis;

use super::revision::{Stored, TableStored, Wanted};

/// A change does not wait longer than this to be written, though others may follow.
const MAX_WAIT_MS: Millis = 1_000;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SyncState {
    /// The revision that the table was made of; 0 if there was none.
    base: u64,
    /// That revision was written by this tab.
    is_own: bool,
    /// How often the table was changed in this tab.
    changes: u64,
    /// How many of these changes are stored.
    stored: u64,
    /// When a person last changed it; 0 if it was never changed.
    edited: Millis,
    /// When the first change was made that is not being written yet.
    waits_since: Option<Millis>,
}

/// What this tab has to do when another one has stored the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Heard {
    /// It has that version already, or has a change that is not stored. Writing will settle that.
    Nothing,
    /// The other tab has seen what this one has stored: the new version is shown.
    Newer,
    /// The other tab has not seen it: the new version is shown, and what this tab has stored is put aside.
    Unseen,
}

impl SyncState {
    /// The revision that the table was made of; 0 if there was none.
    pub fn base(self) -> u64 {
        self.base
    }

    /// How often the table was changed in this tab.
    pub fn changes(self) -> u64 {
        self.changes
    }

    /// How many of the changes are stored.
    pub fn stored(self) -> u64 {
        self.stored
    }

    /// When a person last changed the table; 0 if it was never changed.
    pub fn edited(self) -> Millis {
        self.edited
    }

    pub fn is_unstored(self) -> bool {
        self.changes != self.stored
    }

    /// A person has changed the table. Gives whether writing that may wait for the next change.
    pub fn change(&mut self, now: Millis) -> bool {
        self.changes += 1;
        self.edited = now;
        let since = *self.waits_since.get_or_insert(now);
        now.saturating_sub(since) < MAX_WAIT_MS
    }

    /// All changes so far are being written from now on.
    pub fn begin_writing(&mut self) {
        self.waits_since = None;
    }

    /// The first so many changes are stored as this revision.
    pub fn mark_stored(&mut self, changes: u64, revision: u64) {
        self.stored = changes;
        self.base = revision;
        self.is_own = true;
    }

    /// All changes have given way to a later version of another tab.
    pub fn give_way(&mut self) {
        self.stored = self.changes;
    }

    /// The table that is stored is shown by this tab, whose name is `me`.
    pub fn show(&mut self, stored: &Stored, me: &str) {
        self.base = stored.revision;
        self.edited = stored.edited;
        self.is_own = stored.writer == me;
    }

    /// The table is the one that a closed page has left behind. It is yet to be stored.
    pub fn resume(&mut self, base: u64, edited: Millis) {
        self.base = base;
        self.edited = edited;
        self.changes += 1;
    }

    /// What is stored may be gone. Gives whether there is something to store anew; it stays as old as it was, because
    /// no person has changed it.
    pub fn lose(&mut self, is_empty: bool) -> bool {
        if self.base == 0 && !self.is_unstored() {
            return false;
        }
        match is_empty {
            true => self.base = 0,
            false => self.changes += 1,
        }
        true
    }

    /// Another tab has stored the table.
    pub fn hear(self, other: &TableStored) -> Heard {
        if other.revision <= self.base || self.is_unstored() {
            Heard::Nothing
        } else if other.base >= self.base || !self.is_own {
            Heard::Newer
        } else {
            Heard::Unseen
        }
    }

    /// The version that the tab of this name wants to store.
    pub fn wanted(self, me: String) -> Wanted {
        Wanted {
            base: self.base,
            edited: self.edited,
            writer: me,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stored(revision: u64, writer: &str) -> Stored {
        Stored {
            revision,
            edited: 10,
            writer: writer.into(),
        }
    }

    fn told(revision: u64, base: u64) -> TableStored {
        TableStored {
            revision,
            base,
            model: "image/a".into(),
        }
    }

    #[test]
    fn changes_wait_for_the_next_one_but_not_for_long() {
        let mut state = SyncState::default();
        assert!(state.change(5_000) && state.change(5_999));
        assert!(!state.change(6_000));
        state.begin_writing();
        assert!(state.change(7_500));
        assert_eq!(state.edited(), 7_500);
    }

    #[test]
    fn what_was_changed_while_it_was_written_is_not_stored() {
        let mut state = SyncState::default();
        state.change(1);
        let changes = state.changes();
        state.change(2);
        state.mark_stored(changes, 7);
        assert!(state.is_unstored());
        assert_eq!(state.base(), 7);
        state.mark_stored(state.changes(), 8);
        assert!(!state.is_unstored());
        state.change(3);
        state.give_way();
        assert!(!state.is_unstored());
    }

    #[test]
    fn what_another_tab_has_stored_is_shown_and_what_it_has_not_seen_is_put_aside() {
        let mut state = SyncState::default();
        state.show(&stored(4, "me"), "me");
        assert_eq!(state.hear(&told(4, 3)), Heard::Nothing);
        assert_eq!(state.hear(&told(5, 4)), Heard::Newer);
        assert_eq!(state.hear(&told(5, 3)), Heard::Unseen);
        state.show(&stored(4, "other"), "me");
        assert_eq!(state.hear(&told(5, 3)), Heard::Newer);
        state.change(11);
        assert_eq!(state.hear(&told(5, 4)), Heard::Nothing);
    }

    #[test]
    fn what_is_shown_is_stored_anew_when_it_may_be_gone() {
        let mut state = SyncState::default();
        assert!(!state.lose(true) && !state.lose(false));
        state.show(&stored(4, "me"), "me");
        assert!(state.lose(false));
        assert!(state.is_unstored());
        assert_eq!((state.base(), state.edited()), (4, 10));
        // An empty table needs no storing; revisions count from the beginning.
        let mut state = SyncState::default();
        state.show(&stored(4, "me"), "me");
        assert!(state.lose(true));
        assert!(!state.is_unstored());
        assert_eq!(state.base(), 0);
    }

    #[test]
    fn what_a_closed_page_has_left_behind_is_yet_to_be_stored() {
        let mut state = SyncState::default();
        state.resume(3, 10);
        assert!(state.is_unstored());
        let wanted = Wanted {
            base: 3,
            edited: 10,
            writer: "me".into(),
        };
        assert_eq!(state.wanted("me".into()), wanted);
    }
}

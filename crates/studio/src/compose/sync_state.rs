//! Tracks whether the table of a tab equals the stored one, by counting the changes that were made and those that are
//! stored.

use atelier_engine::Millis;

use super::revision::{PendingRevision, StoredRevision, TableStored};

/// The maximum delay before a change is written, even if more changes follow.
const MAX_WAIT_MS: Millis = 1_000;

/// The state of a table in one tab, relative to the stored one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SyncState {
    /// The revision that the table is based on; 0 if there is none.
    base: u64,
    /// Whether this tab wrote that revision.
    is_own: bool,
    /// How many changes were made in this tab.
    changes: u64,
    /// How many of these changes are stored.
    stored: u64,
    /// When the user last changed it; 0 if it was never changed.
    edited: Millis,
    /// The time of the first change that is not being written yet.
    waiting_since: Option<Millis>,
}

/// The action of this tab after another tab has stored the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RemoteUpdate {
    /// Do nothing: this tab has that version already, or it has unstored changes. Their conflict is resolved when they
    /// are written.
    Ignore,
    /// Show the new version. It includes all stored changes of this tab.
    Show,
    /// Show the new version and put this tab's rows aside, because the other tab has replaced them without having seen
    /// them.
    Conflict,
}

impl SyncState {
    /// Returns the revision that the table is based on; 0 if there is none.
    pub fn base(self) -> u64 {
        self.base
    }

    /// Returns how many changes were made in this tab.
    pub fn changes(self) -> u64 {
        self.changes
    }

    /// Returns how many of the changes are stored.
    pub fn stored(self) -> u64 {
        self.stored
    }

    /// Returns when the user last changed the table; 0 if it was never changed.
    pub fn edited(self) -> Millis {
        self.edited
    }

    /// Whether some changes are not stored.
    pub fn is_unstored(self) -> bool {
        self.changes != self.stored
    }

    /// Records a change by the user. Returns whether writing may wait for the next one.
    pub fn change(&mut self, now: Millis) -> bool {
        self.changes += 1;
        self.edited = now;
        let since = *self.waiting_since.get_or_insert(now);
        now.saturating_sub(since) < MAX_WAIT_MS
    }

    /// Starts writing all changes so far.
    pub fn begin_writing(&mut self) {
        self.waiting_since = None;
    }

    /// Records that the first `changes` are stored as this revision.
    pub fn mark_stored(&mut self, changes: u64, revision: u64) {
        self.stored = changes;
        self.base = revision;
        self.is_own = true;
    }

    /// Drops all changes, because a later version of another tab replaces them.
    pub fn discard_changes(&mut self) {
        self.stored = self.changes;
    }

    /// Records that this tab, whose name is `me`, shows the stored table.
    pub fn show(&mut self, stored: &StoredRevision, me: &str) {
        self.base = stored.revision;
        self.edited = stored.edited;
        self.is_own = stored.writer == me;
    }

    /// Records that the table was restored from a closed page and is not stored yet.
    pub fn resume(&mut self, base: u64, edited: Millis) {
        self.base = base;
        self.edited = edited;
        self.changes += 1;
    }

    /// Records that the stored table may be lost. Returns whether the caller must store the table again. The time of
    /// the last edit is unchanged, because the user has not changed anything.
    pub fn mark_lost(&mut self, is_empty: bool) -> bool {
        if self.base == 0 && !self.is_unstored() {
            return false;
        }
        match is_empty {
            true => self.base = 0,
            false => self.changes += 1,
        }
        true
    }

    /// Decides what to do after another tab has stored the table.
    pub fn remote_update(self, other: &TableStored) -> RemoteUpdate {
        if other.revision <= self.base || self.is_unstored() {
            RemoteUpdate::Ignore
        } else if other.base >= self.base || !self.is_own {
            RemoteUpdate::Show
        } else {
            RemoteUpdate::Conflict
        }
    }

    /// Returns the version to store, with the name of this tab.
    pub fn pending(self, me: String) -> PendingRevision {
        PendingRevision {
            base: self.base,
            edited: self.edited,
            writer: me,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stored(revision: u64, writer: &str) -> StoredRevision {
        StoredRevision {
            revision,
            edited: 10,
            writer: writer.into(),
        }
    }

    fn message(revision: u64, base: u64) -> TableStored {
        TableStored {
            revision,
            base,
            model: "image/a".into(),
        }
    }

    #[test]
    fn changes_wait_for_the_next_one_up_to_a_limit() {
        let mut state = SyncState::default();
        assert!(state.change(5_000) && state.change(5_999));
        assert!(!state.change(6_000));
        state.begin_writing();
        assert!(state.change(7_500));
        assert_eq!(state.edited(), 7_500);
    }

    #[test]
    fn changes_made_while_writing_are_not_stored() {
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
        state.discard_changes();
        assert!(!state.is_unstored());
    }

    #[test]
    fn a_remote_version_is_shown_and_a_replaced_one_is_put_aside() {
        let mut state = SyncState::default();
        state.show(&stored(4, "me"), "me");
        assert_eq!(state.remote_update(&message(4, 3)), RemoteUpdate::Ignore);
        assert_eq!(state.remote_update(&message(5, 4)), RemoteUpdate::Show);
        assert_eq!(state.remote_update(&message(5, 3)), RemoteUpdate::Conflict);
        state.show(&stored(4, "other"), "me");
        assert_eq!(state.remote_update(&message(5, 3)), RemoteUpdate::Show);
        state.change(11);
        assert_eq!(state.remote_update(&message(5, 4)), RemoteUpdate::Ignore);
    }

    #[test]
    fn a_lost_table_is_stored_again() {
        let mut state = SyncState::default();
        assert!(!state.mark_lost(true) && !state.mark_lost(false));
        state.show(&stored(4, "me"), "me");
        assert!(state.mark_lost(false));
        assert!(state.is_unstored());
        assert_eq!((state.base(), state.edited()), (4, 10));
        // An empty table is not stored; revisions restart at 0.
        let mut state = SyncState::default();
        state.show(&stored(4, "me"), "me");
        assert!(state.mark_lost(true));
        assert!(!state.is_unstored());
        assert_eq!(state.base(), 0);
    }

    #[test]
    fn a_table_of_a_closed_page_is_not_stored_yet() {
        let mut state = SyncState::default();
        state.resume(3, 10);
        assert!(state.is_unstored());
        let pending = PendingRevision {
            base: 3,
            edited: 10,
            writer: "me".into(),
        };
        assert_eq!(state.pending("me".into()), pending);
    }
}

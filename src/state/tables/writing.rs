//! A table is written: soon after a change, in slices, and again until it is stored.

use std::cell::{Cell, RefCell};

use atelier_studio::compose::revision::{PendingRevision, TableStored};
use atelier_studio::compose::sync_state::SyncState;
use atelier_studio::compose::table::Writer;
use atelier_studio::compose::table::conflict::ConflictReason;
use gloo_timers::callback::Timeout;
use gloo_timers::future::TimeoutFuture;
use leptos::prelude::*;

use super::KeptTable;
use super::sharing::{self, Shared, me};
use super::waiters::Waiters;
use crate::browser::clock;
use crate::browser::storage::StorageError;
use crate::browser::storage::tables::{self, Exchanged};
use crate::reactive::boxed::{after, spawn};
use crate::reactive::until::until;

/// A change is written once nothing was changed for this long.
const REST_MS: u32 = 250;

/// After this time, Atelier tries again to read or write what storage has refused.
const AGAIN_MS: u32 = 3_000;

/// Rows that are written as text in one go: about a millisecond.
const MAX_CHUNK_ROWS: usize = 200;

/// How far a table is stored, and what is under way.
#[derive(Default)]
pub(super) struct Writing {
    sync: Cell<SyncState>,
    waiters: Waiters,
    /// Writes once nothing is changed any more.
    rest: RefCell<Option<Timeout>>,
    /// Tries again what the browser has refused.
    retry: RefCell<Option<Timeout>>,
    /// A writing is under way.
    is_busy: Cell<bool>,
    /// Why the rows are not being kept.
    refusal: ArcRwSignal<Option<&'static str>>,
}

impl Writing {
    pub(super) fn sync(&self) -> SyncState {
        self.sync.get()
    }

    pub(super) fn update<T>(&self, change: impl FnOnce(&mut SyncState) -> T) -> T {
        let mut sync = self.sync.get();
        let done = change(&mut sync);
        self.sync.set(sync);
        done
    }

    pub(super) fn pending(&self) -> PendingRevision {
        self.sync().pending(me())
    }

    pub(super) fn serve_waiters(&self) {
        self.waiters.serve(self.sync().stored());
    }

    /// The browser keeps rows after all.
    pub(super) fn forget_refusal(&self) {
        self.refusal.set(None);
    }
}

impl KeptTable {
    /// Why the rows are not being kept; the signal is not tracked.
    pub fn refusal(&self) -> ArcRwSignal<Option<&'static str>> {
        self.writing.refusal.clone()
    }

    /// Waits until the browser refuses to keep the rows; at once where it does already.
    pub(super) async fn refused(&self) {
        let refusal = self.refusal();
        until(move || refusal.read().map(|_| ())).await;
    }

    /// Counts a change and has it written. Call it after each change that a person has made.
    pub fn mark_changed(&'static self) {
        let writing = &self.writing;
        let may_wait = writing.update(|sync| sync.change(clock::now()));
        if may_wait || writing.rest.borrow().is_none() {
            let rest = after(REST_MS, move || self.write_soon());
            writing.rest.replace(Some(rest));
        }
    }

    /// Writes what is not stored yet, without waiting for more.
    pub fn write_soon(&'static self) {
        self.writing.rest.take();
        if self.writing.sync().is_unstored() {
            spawn(self.write());
        }
    }

    /// Writes what is not stored yet, and acts once all that is there now is stored, however often
    /// that has to be tried and whatever is typed meanwhile.
    pub fn once_stored(&'static self, act: impl FnOnce() + 'static) {
        let sync = self.writing.sync();
        self.writing.waiters.add(sync.changes(), act);
        if sync.is_unstored() {
            self.write_soon();
        } else {
            self.writing.serve_waiters();
        }
    }

    async fn write(&'static self) {
        let writing = &self.writing;
        if writing.is_busy.replace(true) {
            return;
        }
        writing.update(SyncState::begin_writing);
        let begun = writing.sync();
        let mut writer = Writer::new(self.table.get_untracked());
        while writer.write(MAX_CHUNK_ROWS) {
            // A person who types comes first.
            TimeoutFuture::new(0).await;
        }
        let pending = PendingRevision {
            edited: begun.edited(),
            ..writing.pending()
        };
        let base = pending.base;
        let coming = Some((pending, writer.finish()));
        let result = tables::exchange(&self.model, coming).await;
        writing.is_busy.set(false);
        match result {
            Ok(found) => self.note_written(found, begun.changes(), base),
            Err(refusal) => return self.report_refusal(refusal),
        }
        if writing.sync().is_unstored() && writing.rest.borrow().is_none() {
            self.write_soon();
        }
    }

    /// Takes note of what became of so many changes that were to be written after the revision `base`.
    fn note_written(&self, found: Exchanged, changes: u64, base: u64) {
        match found {
            Exchanged {
                revision: Some(revision),
                there: replaced,
            } => {
                self.mark_stored(changes, revision);
                self.left_behind.forget();
                self.writing.serve_waiters();
                self.tell(revision, base);
                let replaced =
                    replaced.and_then(|record| self.parse(&record.text, record.stored.edited));
                if let Some(table) = replaced {
                    self.put_aside(table, ConflictReason::Replacing);
                }
            }
            Exchanged {
                there: Some(later), ..
            } if changes == self.writing.sync().changes() => {
                let mine = self.table.get_untracked();
                self.writing.forget_refusal();
                self.writing.update(SyncState::discard_changes);
                self.left_behind.forget();
                // The changes that gave way are not stored.
                self.writing.waiters.dismiss();
                self.show(&later);
                self.put_aside(mine, ConflictReason::Replaced);
            }
            // It was changed meanwhile, so this tab's version is the later one now.
            _ => {}
        }
    }

    /// The page is being closed, or put away; whether it is stored is known to the next visit.
    pub(super) fn write_at_once(&self) {
        let sync = self.writing.sync();
        if !sync.is_unstored() {
            return;
        }
        let text = Writer::new(self.table.get_untracked()).finish();
        self.leave_behind(&text);
        let written = tables::write_at_once(&self.model, &self.writing.pending(), &text);
        if let Some(revision) = written {
            self.tell(revision, sync.base());
            self.mark_stored(sync.changes(), revision);
        }
    }

    fn tell(&self, revision: u64, base: u64) {
        let stored = TableStored {
            revision,
            base,
            model: self.model.clone(),
        };
        sharing::tell(&stored);
    }

    fn mark_stored(&self, changes: u64, revision: u64) {
        self.writing
            .update(|sync| sync.mark_stored(changes, revision));
        self.writing.forget_refusal();
        self.earlier.forget();
    }

    pub(super) fn report_refusal(&'static self, refusal: StorageError) {
        let writing = &self.writing;
        if writing.refusal.get_untracked() != Some(refusal.reason()) {
            writing.refusal.set(Some(refusal.reason()));
        }
        let retry = after(AGAIN_MS, move || {
            self.writing.retry.take();
            if self.writing.sync().is_unstored() {
                self.write_soon();
            } else {
                self.catch_up();
            }
        });
        writing.retry.replace(Some(retry));
    }
}

//! Writes a table to the database: soon after a change, in chunks, and again until it is stored.

use std::cell::{Cell, RefCell};

use atelier_studio::compose::revision::{PendingRevision, TableStored};
use atelier_studio::compose::sync_state::SyncState;
use atelier_studio::compose::table::Writer;
use atelier_studio::compose::table::conflict::ConflictReason;
use gloo_timers::callback::Timeout;
use gloo_timers::future::TimeoutFuture;
use leptos::prelude::*;

use super::ModelTable;
use super::sharing::{self, Shared, me};
use super::waiters::Waiters;
use crate::browser::clock;
use crate::browser::storage::StorageError;
use crate::browser::storage::tables::{self, Exchanged};
use crate::reactive::boxed::{after, spawn};
use crate::reactive::until::until;

/// A table is written when it has not changed for this long, in milliseconds.
const DEBOUNCE_MS: u32 = 250;

/// The delay before storage is tried again after a failure, in milliseconds.
const RETRY_MS: u32 = 3_000;

/// The number of rows that are serialized at a time, which takes about a millisecond.
const MAX_CHUNK_ROWS: usize = 200;

/// The progress of storing a table.
#[derive(Default)]
pub(super) struct Writing {
    sync: Cell<SyncState>,
    waiters: Waiters,
    /// The timer that writes after a change.
    debounce: RefCell<Option<Timeout>>,
    /// The timer that tries storage again after a failure.
    retry: RefCell<Option<Timeout>>,
    /// Whether a write is in progress.
    is_busy: Cell<bool>,
    /// Why the rows can't be stored.
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

    /// Records that storage works.
    pub(super) fn forget_refusal(&self) {
        self.refusal.set(None);
    }
}

impl ModelTable {
    /// Returns a signal of the reason why the rows can't be stored.
    pub fn refusal(&self) -> ArcRwSignal<Option<&'static str>> {
        self.writing.refusal.clone()
    }

    /// Waits until the browser refuses to store the rows. Returns immediately if it already does.
    pub(super) async fn refused(&self) {
        let refusal = self.refusal();
        until(move || refusal.read().map(|_| ())).await;
    }

    /// Records a change, and schedules a write. Must be called after each change that must be stored.
    pub fn mark_changed(&'static self) {
        let writing = &self.writing;
        let may_wait = writing.update(|sync| sync.change(clock::now()));
        if may_wait || writing.debounce.borrow().is_none() {
            let debounce = after(DEBOUNCE_MS, move || self.write_soon());
            writing.debounce.replace(Some(debounce));
        }
    }

    /// Writes unstored changes without waiting for more.
    pub fn write_soon(&'static self) {
        self.writing.debounce.take();
        if self.writing.sync().is_unstored() {
            spawn(self.write());
        }
    }

    /// Writes unstored changes, and calls `act` when they are stored, after any number of attempts.
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
        let started = writing.sync();
        let mut writer = Writer::new(self.table.get_untracked());
        while writer.write(MAX_CHUNK_ROWS) {
            // Lets the browser handle input first.
            TimeoutFuture::new(0).await;
        }
        let pending = PendingRevision {
            edited: started.edited(),
            ..writing.pending()
        };
        let base = pending.base;
        let record = Some((pending, writer.finish()));
        let result = tables::exchange(&self.model, record).await;
        writing.is_busy.set(false);
        match result {
            Ok(found) => self.handle_written(found, started.changes(), base),
            Err(refusal) => return self.report_refusal(refusal),
        }
        if writing.sync().is_unstored() && writing.debounce.borrow().is_none() {
            self.write_soon();
        }
    }

    /// Handles the result of writing the first `changes` changes on top of the revision `base`.
    fn handle_written(&self, found: Exchanged, changes: u64, base: u64) {
        match found {
            Exchanged {
                revision: Some(revision),
                there: replaced,
            } => {
                self.mark_stored(changes, revision);
                self.unsaved.forget();
                self.writing.serve_waiters();
                self.notify(revision, base);
                let replaced =
                    replaced.and_then(|record| self.parse(&record.text, record.stored.edited));
                if let Some(table) = replaced {
                    self.set_aside(table, ConflictReason::Replacing);
                }
            }
            Exchanged {
                there: Some(later), ..
            } if changes == self.writing.sync().changes() => {
                let mine = self.table.get_untracked();
                self.writing.forget_refusal();
                self.writing.update(SyncState::discard_changes);
                self.unsaved.forget();
                // The changes of this tab are not stored.
                self.writing.waiters.dismiss();
                self.show(&later);
                self.set_aside(mine, ConflictReason::Replaced);
            }
            // The table was changed in the meantime, so this tab's version is the latest again.
            _ => {}
        }
    }

    /// Writes while the page is being closed. Only the next visit can see whether that succeeded.
    pub(super) fn write_at_once(&self) {
        let sync = self.writing.sync();
        if !sync.is_unstored() {
            return;
        }
        let text = Writer::new(self.table.get_untracked()).finish();
        self.save_locally(&text);
        let written = tables::write_at_once(&self.model, &self.writing.pending(), &text);
        if let Some(revision) = written {
            self.notify(revision, sync.base());
            self.mark_stored(sync.changes(), revision);
        }
    }

    fn notify(&self, revision: u64, base: u64) {
        let stored = TableStored {
            revision,
            base,
            model: self.model.clone(),
        };
        sharing::notify(&stored);
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
        let retry = after(RETRY_MS, move || {
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

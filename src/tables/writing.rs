//! A table is written: soon after a change, in slices, and again until it is stored.

use atelier_engine::compose::revision::{TableStored, Wanted};
use atelier_engine::compose::table::Writer;
use gloo_timers::future::TimeoutFuture;
use leptos::prelude::*;

use super::conflict::Why;
use super::sharing::{self, Shared, me};
use super::{KeptTable, Waiter};
use crate::boxed::{after, spawn};
use crate::browser::storage::StorageError;
use crate::browser::tables::{self, Exchanged};

/// What could not be written or read is tried again after this.
const AGAIN_MS: u32 = 3_000;

/// Rows that are written as text in one go: about a millisecond.
const MAX_CHUNK_ROWS: usize = 200;

impl KeptTable {
    /// Writes what is not stored yet, without waiting for more.
    pub fn write_soon(&'static self) {
        self.waiting.take();
        if self.is_unstored() {
            spawn(self.write());
        }
    }

    /// Writes what is not stored yet, and acts once all that is there now is stored, however often
    /// that has to be tried and whatever is typed meanwhile.
    pub fn once_stored(&'static self, act: impl FnOnce() + 'static) {
        let waiter: Waiter = (self.changes.get(), Box::new(act));
        self.waiters.borrow_mut().push(waiter);
        if self.is_unstored() {
            self.write_soon();
        } else {
            self.serve_waiters();
        }
    }

    pub(super) fn serve_waiters(&self) {
        let stored = self.stored.get();
        let due = |waiter: &mut Waiter| waiter.0 <= stored;
        let due: Vec<_> = self.waiters.borrow_mut().extract_if(.., due).collect();
        for (_, act) in due {
            act();
        }
    }

    pub(super) fn wanted(&self) -> Wanted {
        Wanted {
            base: self.base.get(),
            edited: self.edited.get(),
            writer: me(),
        }
    }

    async fn write(&'static self) {
        if self.is_busy.replace(true) {
            return;
        }
        self.waits_since.set(None);
        let changes = self.changes.get();
        let edited = self.edited.get();
        let mut writer = Writer::new(self.table.get_untracked());
        while writer.write(MAX_CHUNK_ROWS) {
            // Whoever types comes first.
            TimeoutFuture::new(0).await;
        }
        let wanted = Wanted {
            edited,
            ..self.wanted()
        };
        let base = wanted.base;
        let coming = Some((wanted, writer.finish()));
        let result = tables::exchange(&self.model, coming).await;
        self.is_busy.set(false);
        match result {
            Ok(Exchanged {
                revision: Some(revision),
                there: replaced,
            }) => {
                self.mark_stored(changes, revision);
                self.forget_left_behind();
                self.serve_waiters();
                self.tell(revision, base);
                let replaced = replaced.and_then(|record| self.parse(&record.text));
                if let Some(table) = replaced {
                    self.put_aside(table, Why::Replacing);
                }
            }
            Ok(Exchanged {
                there: Some(later), ..
            }) if changes == self.changes.get() => {
                let mine = self.table.get_untracked();
                self.refusal.set(None);
                self.stored.set(changes);
                self.forget_left_behind();
                // What gave way is not stored.
                self.waiters.take();
                self.show(&later);
                self.put_aside(mine, Why::Replaced);
            }
            // It was changed meanwhile, and so is the later one now.
            Ok(_) => {}
            Err(refusal) => {
                self.report_refusal(refusal);
                return;
            }
        }
        if self.is_unstored() && self.waiting.borrow().is_none() {
            self.write_soon();
        }
    }

    /// The page is being closed, or put away; whether it is stored is known to the next visit.
    pub(super) fn write_at_once(&self) {
        if !self.is_unstored() {
            return;
        }
        let text = Writer::new(self.table.get_untracked()).finish();
        self.leave_behind(&text);
        let written = tables::write_at_once(&self.model, &self.wanted(), &text);
        if let Some(revision) = written {
            self.tell(revision, self.base.get());
            self.mark_stored(self.changes.get(), revision);
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
        self.stored.set(changes);
        self.base.set(revision);
        self.is_own.set(true);
        self.refusal.set(None);
        self.forget_earlier();
    }

    pub(super) fn report_refusal(&'static self, refusal: StorageError) {
        if self.refusal.get_untracked() != Some(refusal.reason()) {
            self.refusal.set(Some(refusal.reason()));
        }
        let again = after(AGAIN_MS, move || {
            self.again.take();
            if self.is_unstored() {
                self.write_soon();
            } else {
                self.catch_up();
            }
        });
        self.again.replace(Some(again));
    }
}

//! The tables in which batches are composed: one a model. They live as long as the page, are kept
//! over its reloads, and are the same in all tabs.

mod earlier;
mod left_behind;
mod local_text;
mod noted;
mod put_aside;
mod sending;
mod sharing;
mod waiters;
mod writing;

use std::cell::RefCell;
use std::sync::Arc;

use atelier_contract::{ModelId, Schema, json};
use atelier_engine::{BatchKey, Millis};
use atelier_studio::compose::revision::TableStored;
use atelier_studio::compose::sweep::WrittenSweep;
use atelier_studio::compose::sync_state::RemoteUpdate;
use atelier_studio::compose::table::conflict::ConflictReason;
use atelier_studio::compose::table::{Table, Writer};
use futures::channel::oneshot;
use futures::future::{Either, FutureExt, select};
use gloo_timers::future::TimeoutFuture;
use leptos::prelude::*;

use crate::browser::random;
use crate::browser::storage::tables::{self, Exchanged, TableRecord};
use crate::reactive::boxed::spawn;
use local_text::LocalText;
pub use noted::note_what_was_left;
use put_aside::PutAside;
pub use sending::Sending;
use sharing::{Shared, me};
use writing::Writing;

/// How long what is typed here may take to be stored before others are heard.
const MAX_CATCH_UP_MS: u32 = 3_000;

thread_local! {
    static KNOWN: RefCell<Vec<&'static KeptTable>> = const { RefCell::new(Vec::new()) };
}

/// The table of one model.
pub struct KeptTable {
    model: String,
    schema: RefCell<Arc<Schema>>,
    table: ArcRwSignal<Table>,
    is_read: ArcRwSignal<bool>,
    writing: Writing,
    put_aside: PutAside,
    /// The text that an earlier version of Atelier has left.
    earlier: LocalText,
    /// The table that was left behind when a page was closed.
    left_behind: LocalText,
    /// A sweep that is on its way to the page on which it is edited again.
    begun: RefCell<Option<WrittenSweep>>,
}

impl KeptTable {
    /// The table of a model; its rows come once [`KeptTable::is_read`].
    pub fn of(model: &ModelId, schema: &Arc<Schema>) -> &'static Self {
        let model = model.to_string();
        let found =
            KNOWN.with_borrow(|known| known.iter().copied().find(|kept| kept.model == model));
        if let Some(kept) = found {
            if !Arc::ptr_eq(&kept.schema.borrow(), schema) {
                kept.schema.replace(schema.clone());
                kept.check();
            }
            return kept;
        }
        let kept: &'static Self = Box::leak(Box::new(Self {
            schema: RefCell::new(schema.clone()),
            table: ArcRwSignal::new(Table::default()),
            is_read: ArcRwSignal::new(false),
            writing: Writing::default(),
            put_aside: PutAside::default(),
            earlier: earlier::text_of(&model),
            left_behind: left_behind::text_of(&model),
            begun: RefCell::new(None),
            model,
        }));
        kept.follow_earlier();
        KNOWN.with_borrow_mut(|known| known.push(kept));
        sharing::add(kept);
        spawn(kept.read_first());
        kept
    }

    pub fn table(&self) -> ArcRwSignal<Table> {
        self.table.clone()
    }

    /// Whether the rows of earlier visits have been read, or can't be; the signal is not tracked.
    pub fn is_read(&self) -> ArcRwSignal<bool> {
        self.is_read.clone()
    }

    /// The page that is gone to begins with this sweep.
    pub fn begin_with(&self, sweep: Option<WrittenSweep>) {
        self.begun.replace(sweep);
    }

    pub fn take_begun(&self) -> Option<WrittenSweep> {
        self.begun.take()
    }

    /// The key of the batch that these rows become, so many of them. Another tab that shows the same table, and has
    /// not heard yet that they are sent, gives them the same one.
    pub fn batch_key(&self, rows: usize) -> BatchKey {
        match self.writing.sync().edited() {
            0 => BatchKey(random::key()),
            edited => BatchKey::of_table(&self.model, edited, rows),
        }
    }

    /// Changes the table, and keeps that.
    pub fn edit<T>(&'static self, change: impl FnOnce(&mut Table) -> T) -> T {
        let mut table = self.table.write();
        let done = change(&mut table);
        table.draw_nonces(&mut random::bits);
        drop(table);
        self.mark_changed();
        done
    }

    /// Shows what other tabs have stored, as far as this one has nothing that is not.
    pub async fn caught_up(&'static self) {
        // It is not stored where another tab's is later, which is shown then, or where the browser refuses it.
        let wait = TimeoutFuture::new(MAX_CATCH_UP_MS);
        let settled = select(self.stored(), self.refused().boxed_local());
        if let Either::Left((Either::Right(_), _)) = select(settled, wait).await {
            // Storage may take seconds to refuse once more.
            spawn(async move {
                self.follow().await;
            });
        } else {
            self.follow().await;
        }
    }

    /// Waits until the table as it is now outlives this page: until it is stored or, where the browser refuses that, left
    /// behind. Gives whether it does. `is_in_memory`: the browser keeps nothing at all, so that there is nothing to
    /// wait for.
    pub async fn kept(&'static self, is_in_memory: bool) -> bool {
        match select(self.stored(), self.refused().boxed_local()).await {
            Either::Left((stored, _)) => stored.is_ok(),
            Either::Right((_, stored)) => {
                let text = Writer::new(self.table.get_untracked()).finish();
                self.leave_behind(&text) || is_in_memory || stored.await.is_ok()
            }
        }
    }

    /// Writes the table; ends once it is stored as it is now, or gives way to another tab's.
    fn stored(&'static self) -> oneshot::Receiver<()> {
        let (stored, is_stored) = oneshot::channel();
        self.once_stored(move || {
            // The receiver may be gone.
            let _ = stored.send(());
        });
        is_stored
    }

    /// Checks the rows against another schema.
    fn check(&self) {
        let value = self.table.read_untracked().to_value();
        if let Some(table) = Table::from_value(value, &self.schema.borrow()) {
            self.table.set(table);
        }
    }

    /// Rows that a version has stored which knows of no nonces get theirs here, by the time (or another number) that
    /// all tabs know of that record alike.
    fn parse(&self, text: &str, edited: Millis) -> Option<Table> {
        let mut table = Table::from_value(json::read(text)?, &self.schema.borrow())?;
        table.derive_nonces(&self.model, edited);
        Some(table)
    }

    async fn read_first(&'static self) {
        let there = match tables::exchange(&self.model, None).await {
            Ok(found) => found.there,
            Err(refusal) => {
                self.report_refusal(refusal);
                None
            }
        };
        if let Some(record) = &there {
            self.show(record);
        }
        self.take_up_left_behind(there.as_ref().map(|record| &record.stored));
        self.take_over();
        self.is_read.set(true);
    }

    /// Shows what is stored.
    fn show(&self, record: &TableRecord) {
        self.writing.update(|sync| sync.show(&record.stored, &me()));
        self.settle_left_behind(&record.stored);
        if let Some(table) = self.parse(&record.text, record.stored.edited) {
            self.table.set(table);
        }
    }

    /// Shows what is stored if it is newer. Whether it was.
    async fn follow(&'static self) -> bool {
        let base = self.writing.sync().base();
        let result = tables::exchange(&self.model, None).await;
        let sync = self.writing.sync();
        if sync.is_unstored() || sync.base() != base {
            return false;
        }
        match result {
            Ok(Exchanged { there, .. }) => {
                self.writing.forget_refusal();
                let revision = there.as_ref().map_or(0, |record| record.stored.revision);
                if revision < base {
                    // The storage was cleared: revisions count from the beginning.
                    self.may_be_gone();
                    return false;
                }
                self.writing.serve_waiters();
                let newer = there.filter(|_| revision > base);
                if let Some(record) = &newer {
                    self.show(record);
                }
                newer.is_some()
            }
            Err(refusal) => {
                self.report_refusal(refusal);
                false
            }
        }
    }
}

impl Shared for KeptTable {
    fn catch_up(&'static self) {
        if self.is_read.get_untracked() && !self.writing.sync().is_unstored() {
            spawn(async move {
                self.follow().await;
            });
        }
    }

    fn write_soon(&'static self) {
        Self::write_soon(self);
    }

    fn write_at_once(&'static self) {
        Self::write_at_once(self);
    }

    fn may_be_gone(&'static self) {
        let is_empty = self.table.read_untracked().is_empty();
        if self.writing.update(|sync| sync.mark_lost(is_empty)) {
            self.write_soon();
        }
    }

    fn on_message(&'static self, stored: &TableStored) {
        if stored.model != self.model {
            return;
        }
        let is_unseen = match self.writing.sync().remote_update(stored) {
            RemoteUpdate::Ignore => return,
            RemoteUpdate::Show => false,
            RemoteUpdate::Conflict => true,
        };
        spawn(async move {
            let before = is_unseen.then(|| self.table.get_untracked());
            if self.follow().await
                && let Some(table) = before
            {
                self.put_aside(table, ConflictReason::Replaced);
            }
        });
    }
}

//! The tables in which batches are composed: one a model. They live as long as the page, are kept
//! over its reloads, and are the same in all tabs.

mod conflict;
mod left_behind;
mod noted;
mod sending;
mod sharing;
mod writing;

use std::cell::{Cell, RefCell};
use std::sync::Arc;

use atelier_contract::{ModelId, Schema, json};
use atelier_engine::compose::revision::TableStored;
use atelier_engine::compose::table::Table;
use atelier_engine::{BatchKey, Millis};
use futures::channel::oneshot;
use futures::future::{FutureExt, select};
use gloo_timers::callback::Timeout;
use gloo_timers::future::TimeoutFuture;
use leptos::prelude::*;

use crate::boxed::{after, spawn};
use crate::browser::local::LocalStore;
use crate::browser::tables::{self, Exchanged, TableRecord};
use crate::browser::{clock, random};
use conflict::{Conflict, Why};
pub use noted::note_what_was_left;
pub use sending::Sending;
use sharing::{Shared, me};

/// A change is written once nothing was changed for this long …
const REST_MS: u32 = 250;
/// … but does not wait longer than this.
const MAX_WAIT_MS: Millis = 1_000;

/// How long what is typed here may take to be stored before others are heard.
const MAX_CATCH_UP_MS: u32 = 3_000;

thread_local! {
    static KNOWN: RefCell<Vec<&'static KeptTable>> = const { RefCell::new(Vec::new()) };
}

/// After how many changes, and what then.
type Waiter = (u64, Box<dyn FnOnce()>);

/// The table of one model.
pub struct KeptTable {
    model: String,
    schema: RefCell<Arc<Schema>>,
    table: ArcRwSignal<Table>,
    is_read: ArcRwSignal<bool>,
    refusal: ArcRwSignal<Option<&'static str>>,
    conflict: RefCell<Option<Conflict>>,
    conflict_message: ArcRwSignal<Option<String>>,
    /// The revision that the table was made of, and whether that was written here.
    base: Cell<u64>,
    is_own: Cell<bool>,
    /// How often a person has changed it here, and how many of these changes are stored.
    changes: Cell<u64>,
    stored: Cell<u64>,
    /// What is to be done once so many are stored.
    waiters: RefCell<Vec<Waiter>>,
    /// When it was changed last, and when first since the last writing.
    edited: Cell<Millis>,
    waits_since: Cell<Option<Millis>>,
    waiting: RefCell<Option<Timeout>>,
    again: RefCell<Option<Timeout>>,
    is_busy: Cell<bool>,
    /// What an Atelier of before has left in `localStorage`, until it is stored here.
    taken_over: RefCell<Option<String>>,
    /// What was left behind when a page was closed, until it is stored.
    left_behind: RefCell<Option<String>>,
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
            model,
            schema: RefCell::new(schema.clone()),
            table: ArcRwSignal::new(Table::default()),
            is_read: ArcRwSignal::new(false),
            refusal: ArcRwSignal::new(None),
            conflict: RefCell::new(None),
            conflict_message: ArcRwSignal::new(None),
            base: Cell::new(0),
            is_own: Cell::new(false),
            changes: Cell::new(0),
            stored: Cell::new(0),
            waiters: RefCell::default(),
            edited: Cell::new(0),
            waits_since: Cell::new(None),
            waiting: RefCell::new(None),
            again: RefCell::new(None),
            is_busy: Cell::new(false),
            taken_over: RefCell::new(None),
            left_behind: RefCell::new(None),
        }));
        KNOWN.with_borrow_mut(|known| known.push(kept));
        sharing::add(kept);
        spawn(kept.read_first());
        kept
    }

    pub fn table(&self) -> ArcRwSignal<Table> {
        self.table.clone()
    }

    /// What earlier visits left has been read, or can't be; the signal is not tracked.
    pub fn is_read(&self) -> ArcRwSignal<bool> {
        self.is_read.clone()
    }

    /// Why the rows are not being kept; the signal is not tracked.
    pub fn refusal(&self) -> ArcRwSignal<Option<&'static str>> {
        self.refusal.clone()
    }

    /// What is said of the rows that were put aside; the signal is not tracked.
    pub fn conflict_message(&self) -> ArcRwSignal<Option<String>> {
        self.conflict_message.clone()
    }

    /// To be called after each change that a person has made.
    pub fn mark_changed(&'static self) {
        let now = clock::now();
        self.changes.set(self.changes.get() + 1);
        self.edited.set(now);
        let since = self.waits_since.get().unwrap_or(now);
        self.waits_since.set(Some(since));
        if now.saturating_sub(since) < MAX_WAIT_MS || self.waiting.borrow().is_none() {
            let wait = after(REST_MS, move || self.write_soon());
            self.waiting.replace(Some(wait));
        }
    }

    /// The key of the batch that these rows become, so many of them. Another tab that shows the same table, and has
    /// not heard yet that they are sent, gives them the same one.
    pub fn batch_key(&self, rows: usize) -> BatchKey {
        match self.edited.get() {
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
        let (stored, is_stored) = oneshot::channel();
        self.once_stored(move || {
            // It may have taken too long.
            let _ = stored.send(());
        });
        // It is not where another tab's is later, which is shown then, or where nothing can be stored.
        let wait = TimeoutFuture::new(MAX_CATCH_UP_MS);
        select(is_stored.boxed_local(), wait).await;
        self.follow().await;
    }

    /// Shows the rows that were put aside; those that are shown are put aside instead.
    pub fn swap(&'static self) {
        let Some(conflict) = self.conflict.take() else {
            return;
        };
        let table = self.table.get_untracked();
        self.table.set(conflict.table);
        self.set_conflict((!table.is_empty()).then_some(Conflict {
            table,
            why: Why::Chosen,
        }));
        self.mark_changed();
        self.settle_earlier(conflict.why);
    }

    /// Forgets the rows that were put aside.
    pub fn let_go(&self) {
        if let Some(conflict) = self.conflict.take() {
            self.set_conflict(None);
            self.settle_earlier(conflict.why);
        }
    }

    fn settle_earlier(&self, why: Why) {
        if why == Why::Earlier {
            let left = LocalStore::Browser.read(&self.earlier_place());
            self.taken_over.replace(left);
            if !self.is_unstored() {
                self.forget_earlier();
            }
        }
    }

    fn is_unstored(&self) -> bool {
        self.changes.get() != self.stored.get()
    }

    /// Checks the rows against another schema.
    fn check(&self) {
        let value = self.table.read_untracked().to_value();
        if let Some(table) = Table::from_value(value, &self.schema.borrow()) {
            self.table.set(table);
        }
    }

    fn parse(&self, text: &str) -> Option<Table> {
        Table::from_value(json::read(text)?, &self.schema.borrow())
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

    /// Where Atelier kept the table before it had a place of its own.
    fn earlier_place(&self) -> String {
        format!("atelier.table.{}", self.model)
    }

    /// What an Atelier of before has left becomes the table, or is put aside if there is one.
    fn take_over(&'static self) {
        let Some(text) = LocalStore::Browser.read(&self.earlier_place()) else {
            return;
        };
        let Some(earlier) = self.parse(&text) else {
            return;
        };
        self.taken_over.replace(Some(text));
        if earlier.looks_like(&self.table.read_untracked()) {
            self.forget_earlier();
        } else if self.table.read_untracked().is_empty() {
            self.table.set(earlier);
            self.mark_changed();
            self.write_soon();
        } else {
            self.taken_over.take();
            self.set_conflict(Some(Conflict {
                table: earlier,
                why: Why::Earlier,
            }));
        }
    }

    /// It is stored here, or a person does not want it.
    fn forget_earlier(&self) {
        let place = self.earlier_place();
        // A tab with an Atelier of before may have written since.
        let taken = self.taken_over.take();
        if taken.is_some() && LocalStore::Browser.read(&place) == taken {
            LocalStore::Browser.remove(&place);
        }
    }

    /// Shows what is stored.
    fn show(&self, record: &TableRecord) {
        self.base.set(record.stored.revision);
        self.edited.set(record.stored.edited);
        self.is_own.set(record.stored.writer == me());
        self.settle_left_behind(&record.stored);
        if let Some(mut table) = self.parse(&record.text) {
            table.derive_nonces(&self.model, record.stored.edited);
            self.table.set(table);
        }
    }

    /// Shows what is stored if it is newer. Whether it was.
    async fn follow(&'static self) -> bool {
        let base = self.base.get();
        let result = tables::exchange(&self.model, None).await;
        if self.is_unstored() || self.base.get() != base {
            return false;
        }
        match result {
            Ok(Exchanged { there, .. }) => {
                self.refusal.set(None);
                let revision = there.as_ref().map_or(0, |record| record.stored.revision);
                if revision < base {
                    // Counting has begun anew.
                    self.may_be_gone();
                    return false;
                }
                self.serve_waiters();
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

    fn set_conflict(&self, conflict: Option<Conflict>) {
        self.conflict_message
            .set(conflict.as_ref().map(Conflict::user_message));
        self.conflict.replace(conflict);
    }

    fn put_aside(&self, table: Table, why: Why) {
        if !table.is_empty() && !table.looks_like(&self.table.read_untracked()) {
            self.set_conflict(Some(Conflict { table, why }));
        }
    }
}

impl Shared for KeptTable {
    fn catch_up(&'static self) {
        if self.is_read.get_untracked() && !self.is_unstored() {
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
        // What is shown is stored anew.
        if self.base.get() == 0 && !self.is_unstored() {
            return;
        }
        if self.table.read_untracked().is_empty() {
            self.base.set(0);
        } else {
            // By nobody: it is as old as it was.
            self.changes.set(self.changes.get() + 1);
        }
        self.write_soon();
    }

    fn on_message(&'static self, stored: &TableStored) {
        let (base, is_own) = (self.base.get(), self.is_own.get());
        if stored.model != self.model || stored.revision <= base || self.is_unstored() {
            // What is not stored yet is settled when it is written.
            return;
        }
        let was_seen = stored.base >= base || !is_own;
        spawn(async move {
            let before = (!was_seen).then(|| self.table.get_untracked());
            if self.follow().await
                && let Some(table) = before
            {
                self.put_aside(table, Why::Replaced);
            }
        });
    }
}

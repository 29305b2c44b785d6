//! The tables in which batches are composed, one per model. They are stored, and shared by all tabs.

mod conflict;
mod earlier;
pub mod files;
mod local_text;
mod noted;
mod sending;
mod sharing;
mod unsaved;
mod waiters;
mod writing;

use std::cell::{Cell, RefCell};
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
use conflict::SetAside;
use local_text::LocalText;
pub use noted::note_interrupted;
pub use sending::Sending;
use sharing::{Shared, me};
use writing::Writing;

/// How long to wait for this tab's changes to be stored before the changes of other tabs are read, in milliseconds.
const MAX_CATCH_UP_MS: u32 = 3_000;

thread_local! {
    static TABLES: RefCell<Vec<&'static ModelTable>> = const { RefCell::new(Vec::new()) };
}

/// The table of one model, stored and shared by all tabs.
pub struct ModelTable {
    model: String,
    schema: RefCell<Arc<Schema>>,
    table: ArcRwSignal<Table>,
    is_read: ArcRwSignal<bool>,
    writing: Writing,
    set_aside: SetAside,
    /// The table that an earlier version of Atelier stored.
    earlier: LocalText,
    /// The table at the time when a page was closed, if it may be missing in the database.
    unsaved: LocalText,
    /// The sweep with which the next page of this table begins.
    next_sweep: RefCell<Option<WrittenSweep>>,
    follows_files: Cell<bool>,
}

impl ModelTable {
    /// Returns the table of a model. It is empty until [`ModelTable::is_read`].
    pub fn of(model: &ModelId, schema: &Arc<Schema>) -> &'static Self {
        let model = model.to_string();
        let found =
            TABLES.with_borrow(|known| known.iter().copied().find(|table| table.model == model));
        if let Some(table) = found {
            if !Arc::ptr_eq(&table.schema.borrow(), schema) {
                table.schema.replace(schema.clone());
                table.validate();
            }
            return table;
        }
        let table: &'static Self = Box::leak(Box::new(Self {
            schema: RefCell::new(schema.clone()),
            table: ArcRwSignal::new(Table::default()),
            is_read: ArcRwSignal::new(false),
            writing: Writing::default(),
            set_aside: SetAside::default(),
            earlier: earlier::text_of(&model),
            unsaved: unsaved::text_of(&model),
            next_sweep: RefCell::new(None),
            follows_files: Cell::new(false),
            model,
        }));
        table.watch_earlier();
        TABLES.with_borrow_mut(|known| known.push(table));
        sharing::add(table);
        spawn(table.read_first());
        table
    }

    pub fn table(&self) -> ArcRwSignal<Table> {
        self.table.clone()
    }

    /// Returns a signal of whether the rows of earlier visits have been read, or can't be.
    pub fn is_read(&self) -> ArcRwSignal<bool> {
        self.is_read.clone()
    }

    /// Sets the sweep with which the next page of this table begins.
    pub fn set_next_sweep(&self, sweep: Option<WrittenSweep>) {
        self.next_sweep.replace(sweep);
    }

    /// Takes the sweep with which this page begins.
    pub fn take_next_sweep(&self) -> Option<WrittenSweep> {
        self.next_sweep.take()
    }

    /// Returns the key for a batch of this number of rows. Another tab with the same table returns the same key until it is
    /// notified that the rows were sent.
    pub fn batch_key(&self, rows: usize) -> BatchKey {
        match self.writing.sync().edited() {
            0 => BatchKey(random::key()),
            edited => BatchKey::of_table(&self.model, edited, rows),
        }
    }

    /// Changes the table, and stores the change.
    pub fn edit<T>(&'static self, change: impl FnOnce(&mut Table) -> T) -> T {
        let mut table = self.table.write();
        let done = change(&mut table);
        table.draw_nonces(&mut random::bits);
        drop(table);
        self.mark_changed();
        done
    }

    /// Shows the table that other tabs have stored, unless this tab has unstored changes.
    pub async fn show_latest(&'static self) {
        // The wait also ends if another tab has stored a later version, if storage fails, or after a timeout.
        let wait = TimeoutFuture::new(MAX_CATCH_UP_MS);
        let settled = select(self.stored(), self.refused().boxed_local());
        if let Either::Left((Either::Right(_), _)) = select(settled, wait).await {
            // Storage has failed. It may take seconds to fail again, so the caller does not wait for that.
            spawn(async move {
                self.show_newer().await;
            });
        } else {
            self.show_newer().await;
        }
    }

    /// Waits until the current table is stored in the database or, if that fails, in `localStorage`. Returns whether it is
    /// stored. `is_in_memory`: the browser refuses to store anything, so there is nothing to wait for; returns `true`.
    pub async fn secured(&'static self, is_in_memory: bool) -> bool {
        match select(self.stored(), self.refused().boxed_local()).await {
            Either::Left((stored, _)) => stored.is_ok(),
            Either::Right((_, stored)) => {
                let text = Writer::new(self.table.get_untracked()).finish();
                self.save_locally(&text) || is_in_memory || stored.await.is_ok()
            }
        }
    }

    /// Writes the table. The receiver is notified when the current table is stored, and cancelled when it is replaced by a
    /// later version of another tab.
    fn stored(&'static self) -> oneshot::Receiver<()> {
        let (stored, is_stored) = oneshot::channel();
        self.once_stored(move || {
            // Fails if the caller has stopped waiting.
            let _ = stored.send(());
        });
        is_stored
    }

    /// Validates the rows against a new schema.
    fn validate(&self) {
        let value = self.table.read_untracked().to_value();
        if let Some(table) = Table::from_value(value, &self.schema.borrow()) {
            self.table.set(table);
        }
    }

    /// Parses a stored table. Rows that an earlier version stored without nonces get nonces that are derived from `edited`, so
    /// that all tabs derive the same ones.
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
        self.restore_unsaved(there.as_ref().map(|record| &record.stored));
        self.import_earlier();
        self.is_read.set(true);
    }

    /// Shows a stored table.
    fn show(&self, record: &TableRecord) {
        self.writing.update(|sync| sync.show(&record.stored, &me()));
        self.forget_if_stored(&record.stored);
        if let Some(table) = self.parse(&record.text, record.stored.edited) {
            self.table.set(table);
        }
    }

    /// Shows the stored table if it is newer. Returns whether it was.
    async fn show_newer(&'static self) -> bool {
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
                    // Storage was cleared, so the numbering of revisions has restarted.
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

impl Shared for ModelTable {
    fn catch_up(&'static self) {
        if self.is_read.get_untracked() && !self.writing.sync().is_unstored() {
            spawn(async move {
                self.show_newer().await;
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
            if self.show_newer().await
                && let Some(table) = before
            {
                self.set_aside(table, ConflictReason::Replaced);
            }
        });
    }
}

//! Submits rows as tasks. The table and the tasks are stored separately, so a page that is closed in between may have
//! stored only one of them. Therefore the table is stored first, with the rows marked as sent and the batch listed as in
//! progress. Once the tasks are stored, the batch is removed from that list. If a later
//! page finds a batch in the list whose page is closed, it compares the batch with the stored tasks: rows without a task become
//! unsent again.
//!
//! A single transaction over both would not replace this: marks of earlier versions must be settled anyway, rows must not be
//! lost if the browser refuses to store tasks, and the table would have to be in the database of the records, where a page of
//! an older release can block it.

use std::cell::RefCell;
use std::pin::pin;

use atelier_engine::{BatchKey, TaskKey};
use atelier_studio::compose::table::Writer;
use atelier_studio::text::plural::{agreeing, counted};
use futures::future::{LocalBoxFuture, select};
use gloo_timers::future::TimeoutFuture;
use leptos::prelude::*;

use super::{ModelTable, noted};
use crate::browser::tabs::locks::{self, Lock};
use crate::reactive::boxed::{effect, memo, spawn};
use crate::reactive::until::until;
use crate::runner::Runner;
use crate::state::batches::Batches;
use crate::state::contexts::Contexts;

/// How long to wait before a batch is settled without Web Locks, in milliseconds. Without locks, a tab can't detect whether the
/// page that sent the batch is closed. After this time, the tasks of that page are stored or refused.
const STORED_OR_REFUSED_AFTER_MS: u32 = 10_000;

/// The delay before storage is tried again, in milliseconds.
const RETRY_MS: u32 = 3_000;

thread_local! {
    /// The batches that this page submits or settles.
    static HANDLED: RefCell<Vec<BatchKey>> = const { RefCell::new(Vec::new()) };
}

/// A batch that is being submitted from the table.
pub struct Sending {
    table: &'static ModelTable,
    batch: BatchKey,
    /// Held as long as this page handles the batch.
    lock: LocalBoxFuture<'static, Lock>,
}

impl Sending {
    /// Begins the submission. Must be called before rows are marked as sent.
    pub fn begin(table: &'static ModelTable, batch: BatchKey) -> Self {
        HANDLED.with_borrow_mut(|handled| handled.push(batch.clone()));
        let lock = request_lock(&batch);
        Self { table, batch, lock }
    }

    /// Saves the marks of the rows, so that they are not lost if the page is closed. Must be called before any task is
    /// created.
    pub fn secure(&self) {
        noted::begin(&self.batch);
        let text = Writer::new(self.table.table.get_untracked()).finish();
        // Only `localStorage` is written synchronously.
        self.table.save_locally(&text);
        self.table.write_soon();
    }

    /// Ends the submission. Must be called once the tasks are submitted.
    pub fn end(self, runner: Runner) {
        let Self { table, batch, lock } = self;
        spawn(async move {
            let lock = lock.await;
            until(move || runner.is_open().then_some(())).await;
            let is_written = loop {
                let is_written = runner.written().await.is_ok();
                if is_written || !runner.needs_storage_consent() {
                    break is_written;
                }
                // The tasks can't be stored. They are sent as soon as the user agrees to that.
                let accepted = until(move || {
                    let _ = runner.block_reason();
                    (!runner.needs_storage_consent()).then_some(())
                });
                select(pin!(accepted), TimeoutFuture::new(RETRY_MS)).await;
            };
            table.edit(|rows| rows.mark_stored(&batch));
            if !is_written {
                // The tasks are sent although they are not stored, so later pages must treat the rows as sent, too.
                table.save_locally(&Writer::new(table.table.get_untracked()).finish());
            }
            table.once_stored(move || {
                noted::end(&batch);
                drop(lock);
            });
        });
    }
}

/// Requests the lock of the page that handles a batch. The request joins the queue before this function returns.
fn request_lock(batch: &BatchKey) -> LocalBoxFuture<'static, Lock> {
    locks::hold(&format!("atelier.sending.{}", batch.0))
}

impl ModelTable {
    /// Settles the interrupted submissions of closed pages, as long as the current owner lives.
    pub fn settle_interrupted(&'static self, all: Contexts) {
        spawn(self.forget_stored());
        let table = self.table();
        let sending = memo(move || table.with(|table| table.sending().to_vec()));
        effect(move || {
            if !all.runner.is_open() {
                return;
            }
            for batch in sending.get() {
                let is_new = HANDLED.with_borrow_mut(|handled| {
                    let is_new = !handled.contains(&batch);
                    if is_new {
                        handled.push(batch.clone());
                    }
                    is_new
                });
                if is_new {
                    spawn(self.settle(batch, all));
                }
            }
        });
    }

    /// Forgets the batches whose page was closed after everything was stored.
    async fn forget_stored(&'static self) {
        if noted::batches().is_empty() {
            return;
        }
        self.show_latest().await;
        let is_done = |batch: &BatchKey| {
            let is_handled = HANDLED.with_borrow(|handled| handled.contains(batch));
            !is_handled && self.table.read_untracked().is_stored(batch)
        };
        for batch in noted::batches().iter().filter(|batch| is_done(batch)) {
            noted::end(batch);
        }
    }

    /// Compares an interrupted submission with the stored tasks. Rows without a task become unsent again.
    async fn settle(&'static self, batch: BatchKey, all: Contexts) {
        let lock = request_lock(&batch).await;
        TimeoutFuture::new(match lock.is_real() {
            true => noted::SETTLED_AFTER_MS,
            false => STORED_OR_REFUSED_AFTER_MS,
        })
        .await;
        let stored = loop {
            self.show_latest().await;
            if !self.table.read_untracked().sending().contains(&batch) {
                return;
            }
            match all.runner.stored_items(&batch).await {
                Ok(stored) => break &stored | &noted::items(&batch),
                // The tasks can't be read yet.
                Err(_) => TimeoutFuture::new(RETRY_MS).await,
            }
        };
        let known = |key: &TaskKey| all.runner.place_of(key);
        let count = self
            .edit(|table| table.settle(&batch, &stored, &known))
            .len();
        match stored.is_empty() {
            true => Batches::new(all).remove(&batch),
            false => Batches::new(all).keep_only(&batch, &stored),
        }
        if count > 0 {
            all.notices.say(format!(
                "The page was closed before {} could be sent. {} in the table again.",
                counted(count, "row"),
                agreeing(count, "It is", "They are"),
            ));
        }
        self.once_stored(move || {
            noted::end(&batch);
            drop(lock);
        });
    }
}

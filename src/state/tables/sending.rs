//! Rows become tasks. The table and the tasks are stored apart, so that a page that is left meanwhile may have
//! stored one and not the other. What is stored first is a table in which the rows count as sent and their
//! batch is named as one that is under way; once the tasks are stored, it is named no longer. A page that finds it
//! named, and its page gone, looks which tasks there are: all other rows are yet to be sent.

use std::cell::RefCell;
use std::pin::pin;

use atelier_engine::{BatchKey, TaskKey};
use atelier_studio::compose::table::Writer;
use atelier_studio::text::plural::{agreeing, counted};
use futures::future::{LocalBoxFuture, select};
use gloo_timers::future::TimeoutFuture;
use leptos::prelude::*;

use super::{KeptTable, noted};
use crate::browser::tabs::locks::{self, Lock};
use crate::reactive::boxed::{effect, memo, spawn};
use crate::reactive::until::until;
use crate::runner::Runner;
use crate::state::batches::Batches;
use crate::state::contexts::Contexts;

/// If it can't be known whether the page is gone, its tasks are stored or refused after this time.
const SURELY_STORED_AFTER_MS: u32 = 10_000;

/// How long until what was refused is asked for again.
const AGAIN_MS: u32 = 3_000;

thread_local! {
    /// The batches that this page sends or settles.
    static SEEN_TO: RefCell<Vec<BatchKey>> = const { RefCell::new(Vec::new()) };
}

/// A batch on its way from the table to the tasks.
pub struct Sending {
    kept: &'static KeptTable,
    batch: BatchKey,
    /// Held for as long as this page sees to it.
    lock: LocalBoxFuture<'static, Lock>,
}

impl Sending {
    /// Begins sending. Call it before rows are marked as sent.
    pub fn begin(kept: &'static KeptTable, batch: BatchKey) -> Self {
        SEEN_TO.with_borrow_mut(|seen_to| seen_to.push(batch.clone()));
        let lock = hold(&batch);
        Self { kept, batch, lock }
    }

    /// Has the marks outlive this page from now on. To be called before there is any task.
    pub fn secure(&self) {
        noted::begin(&self.batch);
        let text = Writer::new(self.kept.table.get_untracked()).finish();
        // This storage alone writes at once.
        self.kept.leave_behind(&text);
        self.kept.write_soon();
    }

    /// Ends sending. Call it once the tasks are submitted.
    pub fn end(self, runner: Runner) {
        let Self { kept, batch, lock } = self;
        spawn(async move {
            let lock = lock.await;
            until(move || runner.is_open().then_some(())).await;
            let is_written = loop {
                let is_written = runner.written().await.is_ok();
                if is_written || !runner.needs_storage_consent() {
                    break is_written;
                }
                // The tasks are sent as soon as a person wants that all the same.
                let wanted = until(move || {
                    let _ = runner.block_reason();
                    (!runner.needs_storage_consent()).then_some(())
                });
                select(pin!(wanted), TimeoutFuture::new(AGAIN_MS)).await;
            };
            kept.edit(|table| table.mark_stored(&batch));
            if !is_written {
                // If a person wants the tasks to be sent without being stored, the rows count as sent, also for
                // a page that finds what this one has left.
                kept.leave_behind(&Writer::new(kept.table.get_untracked()).finish());
            }
            kept.once_stored(move || {
                noted::end(&batch);
                drop(lock);
            });
        });
    }
}

fn hold(batch: &BatchKey) -> LocalBoxFuture<'static, Lock> {
    locks::hold(&format!("atelier.sending.{}", batch.0))
}

impl KeptTable {
    /// Settles what pages that are gone were sending, for as long as the owner lives in which it is called.
    pub fn settle_what_was_left(&'static self, all: Contexts) {
        spawn(self.end_what_was_stored());
        let table = self.table();
        let sending = memo(move || table.with(|table| table.sending().to_vec()));
        effect(move || {
            if !all.runner.is_open() {
                return;
            }
            for batch in sending.get() {
                let is_new = SEEN_TO.with_borrow_mut(|seen_to| {
                    let is_new = !seen_to.contains(&batch);
                    if is_new {
                        seen_to.push(batch.clone());
                    }
                    is_new
                });
                if is_new {
                    spawn(self.settle(batch, all));
                }
            }
        });
    }

    /// Ends the batches whose page was left when all was stored, and before it had said so.
    async fn end_what_was_stored(&'static self) {
        if noted::batches().is_empty() {
            return;
        }
        self.caught_up().await;
        let is_done = |batch: &BatchKey| {
            let is_seen_to = SEEN_TO.with_borrow(|seen_to| seen_to.contains(batch));
            !is_seen_to && self.table.read_untracked().is_stored(batch)
        };
        for batch in noted::batches().iter().filter(|batch| is_done(batch)) {
            noted::end(batch);
        }
    }

    async fn settle(&'static self, batch: BatchKey, all: Contexts) {
        let lock = hold(&batch).await;
        TimeoutFuture::new(match lock.is_real() {
            true => noted::SETTLED_AFTER_MS,
            false => SURELY_STORED_AFTER_MS,
        })
        .await;
        let stored = loop {
            self.caught_up().await;
            if !self.table.read_untracked().sending().contains(&batch) {
                return;
            }
            match all.runner.items_kept(&batch).await {
                Ok(stored) => break &stored | &noted::items(&batch),
                // Nothing is known yet, so nothing is done.
                Err(_) => TimeoutFuture::new(AGAIN_MS).await,
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
                "The page was left before {} could be sent. {} in the table again.",
                counted(count, "row"),
                agreeing(count, "It stands", "They stand"),
            ));
        }
        self.once_stored(move || {
            noted::end(&batch);
            drop(lock);
        });
    }
}

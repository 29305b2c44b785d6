//! Pauses sending while a question about a batch is open: otherwise more items may be sent than the question says.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use atelier_engine::{BatchAction, BatchKey};
use atelier_studio::batch::summary::BatchSummary;
use leptos::prelude::*;

use crate::reactive::boxed::spawn;
use crate::runner::Runner;
use crate::state::contexts::contexts;

#[derive(Clone, Copy)]
pub struct QuestionPause {
    batch: StoredValue<BatchKey>,
    summary: Memo<BatchSummary>,
    runner: Runner,
    /// Whether the question has paused the batch. If the page is closed while the question is open, the batch stays paused.
    has_paused: StoredValue<Arc<AtomicBool>>,
}

impl QuestionPause {
    /// The batch is resumed as well when the current owner is disposed while the question is open.
    pub fn new(batch: BatchKey, summary: Memo<BatchSummary>) -> Self {
        let runner = contexts().runner;
        let has_paused = Arc::new(AtomicBool::new(false));
        // A dialog that is removed while it is open fires no `close` event. Stored values may be disposed by then.
        on_cleanup({
            let (batch, has_paused) = (batch.clone(), has_paused.clone());
            move || {
                if has_paused.swap(false, Ordering::Relaxed) {
                    // Later, because signals must not be set while their owner is disposed.
                    spawn(async move { runner.act_on_batch(&batch, BatchAction::Resume) });
                }
            }
        });
        Self {
            batch: StoredValue::new(batch),
            summary,
            runner,
            has_paused: StoredValue::new(has_paused),
        }
    }

    /// Sets whether the question has paused the batch. Returns whether it had.
    fn set_paused(self, is_paused: bool) -> bool {
        self.has_paused
            .with_value(|it| it.swap(is_paused, Ordering::Relaxed))
    }

    fn act(self, action: BatchAction) {
        self.batch
            .with_value(|batch| self.runner.act_on_batch(batch, action));
    }

    /// Pauses the batch before the question opens, unless the user has paused it.
    pub fn begin(self) {
        let summary = self.summary.read_untracked();
        let pauses = summary.unsent > 0 && !summary.is_paused;
        drop(summary);
        self.set_paused(pauses);
        if pauses {
            self.act(BatchAction::Pause);
        }
    }

    /// Leaves the batch to the confirmed action.
    pub fn confirm(self) {
        self.set_paused(false);
    }

    /// Resumes the batch if the question has paused it.
    pub fn end(self) {
        if self.set_paused(false) {
            self.act(BatchAction::Resume);
        }
    }
}

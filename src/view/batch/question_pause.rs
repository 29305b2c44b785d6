//! Pauses sending while a question about a batch is open: otherwise more items may be sent than the question says.

use atelier_engine::{BatchAction, BatchKey};
use atelier_studio::batch::summary::BatchSummary;
use leptos::prelude::*;

use crate::runner::Runner;
use crate::state::contexts::contexts;

#[derive(Clone, Copy)]
pub struct QuestionPause {
    batch: StoredValue<BatchKey>,
    summary: Memo<BatchSummary>,
    runner: Runner,
    /// Whether the question has paused the batch. If the page is closed while the question is open, the batch stays paused.
    has_paused: StoredValue<bool>,
}

impl QuestionPause {
    pub fn new(batch: BatchKey, summary: Memo<BatchSummary>) -> Self {
        Self {
            batch: StoredValue::new(batch),
            summary,
            runner: contexts().runner,
            has_paused: StoredValue::new(false),
        }
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
        self.has_paused.set_value(pauses);
        if pauses {
            self.act(BatchAction::Pause);
        }
    }

    /// Resumes the batch if the question has paused it.
    pub fn end(self) {
        if self.has_paused.get_value() {
            self.has_paused.set_value(false);
            self.act(BatchAction::Resume);
        }
    }
}

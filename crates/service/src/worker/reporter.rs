//! Passes the reports of a running model on to clients.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::queue::Queue;
use crate::report::Report;
use crate::store::Store;

/// The minimum pause between two reports in the store that change only the fraction.
const PAUSE: Duration = Duration::from_millis(500);

/// The smallest change of the fraction that is reported.
const STEP: f64 = 0.01;

/// The reports about one attempt at a task.
pub struct Reporter<'a> {
    id: &'a str,
    store: &'a dyn Store,
    queue: &'a Queue,
    sent: Mutex<Sent>,
}

struct Sent {
    report: Report,
    /// When the store received a report.
    stored: Instant,
}

impl<'a> Reporter<'a> {
    pub fn new(id: &'a str, store: &'a dyn Store, queue: &'a Queue) -> Self {
        let sent = Sent {
            report: Report::default(),
            stored: Instant::now(),
        };
        Self {
            id,
            store,
            queue,
            sent: Mutex::new(sent),
        }
    }

    pub fn report(&self, newer: Report) {
        let mut sent = self.sent.lock().unwrap_or_else(PoisonError::into_inner);
        let before = sent.report.clone();
        sent.report.update(newer);
        let has_other_message = sent.report.message != before.message;
        let is_near = match (before.fraction, sent.report.fraction) {
            (Some(before), Some(fraction)) => (fraction - before).abs() < STEP,
            (before, fraction) => before == fraction,
        };
        if !has_other_message && is_near {
            // Small steps add up.
            sent.report = before;
            return;
        }
        let report = sent.report.clone();
        let now = Instant::now();
        if has_other_message || now.duration_since(sent.stored) >= PAUSE {
            sent.stored = now;
            self.store.set_report(self.id, &report);
        }
        let mut turns = self.queue.lock();
        turns.reports.insert(self.id.to_owned(), report);
    }
}

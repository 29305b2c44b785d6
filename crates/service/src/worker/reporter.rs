//! Passes what running models report on to clients: from memory, and for other processes through the store.

use std::sync::Arc;
use std::time::Duration;

use super::queue::Queue;
use crate::report::{Preview, Report};
use crate::store::Store;

/// The interval at which reports are stored: at most one per task.
const INTERVAL: Duration = Duration::from_secs(1);

/// What the model has reported about a running task.
#[derive(Default)]
pub struct Reported {
    pub report: Report,
    pub preview: Option<Arc<Preview>>,
    is_report_unsaved: bool,
    is_preview_unsaved: bool,
}

impl Queue {
    /// Updates the report about a running task. Does not wait for the store.
    pub fn report(&self, id: &str, newer: Report) {
        let mut turns = self.lock();
        let reported = turns.reported.entry(id.to_owned()).or_default();
        reported.is_report_unsaved |= reported.report.update(newer);
    }

    /// Replaces the preview of a running task. Does not wait for the store.
    pub fn report_preview(&self, id: &str, preview: Preview) {
        let name = preview.name.clone();
        let mut turns = self.lock();
        let reported = turns.reported.entry(id.to_owned()).or_default();
        let newer = Report {
            preview: Some(name),
            ..Report::default()
        };
        if reported.report.update(newer) {
            reported.preview = Some(Arc::new(preview));
            reported.is_report_unsaved = true;
            reported.is_preview_unsaved = true;
        }
    }

    /// Stores the newest reports periodically, for other processes and for streams of events, until the service stops.
    pub fn save_reports(&self, store: &dyn Store) {
        while !self.stop.is_set_within(INTERVAL) {
            for (id, report, preview) in self.unsaved_reports() {
                if self.stop.is_set() {
                    return;
                }
                if let Err(error) = store.set_report(&id, &report, preview.as_deref()) {
                    tracing::warn!("task {id:.8}…: can't store the progress: {error}");
                    self.mark_unsaved(&id, preview.is_some());
                }
            }
        }
    }

    /// Returns the reports that have changed since the last call.
    fn unsaved_reports(&self) -> Vec<(String, Report, Option<Arc<Preview>>)> {
        let mut turns = self.lock();
        let unsaved = turns.reported.iter_mut().filter_map(|(id, reported)| {
            let has_preview = std::mem::take(&mut reported.is_preview_unsaved);
            let preview = reported.preview.clone().filter(|_| has_preview);
            std::mem::take(&mut reported.is_report_unsaved)
                .then(|| (id.clone(), reported.report.clone(), preview))
        });
        unsaved.collect()
    }

    /// Has the report stored later, unless the task has ended.
    fn mark_unsaved(&self, id: &str, has_preview: bool) {
        if let Some(reported) = self.lock().reported.get_mut(id) {
            reported.is_report_unsaved = true;
            reported.is_preview_unsaved |= has_preview;
        }
    }
}

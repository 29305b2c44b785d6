//! Removes expired uploads and webhooks, and, with `--keep-days` and `--keep-bytes`, old tasks and their outputs: a few at a time, so
//! that no request waits for it.

use std::io;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use thiserror::Error;

use crate::metrics::{Metrics, WebhookState};
use crate::model::Stop;
use crate::outputs::Outputs;
use crate::store::{EndPosition, Ended, Store, StoreError, now_ms};
use crate::uploads;
use crate::webhooks::retry::MAX_AGE;

/// The number of tasks that are removed at a time.
const STEP: usize = 20;

/// The pause between two steps, which leaves the disk to other work.
const STEP_PAUSE: Duration = Duration::from_millis(20);

/// The interval between two clean-ups.
const INTERVAL: Duration = Duration::from_secs(5);

/// The interval between two removals of expired webhooks.
const WEBHOOKS_INTERVAL: Duration = Duration::from_secs(60 * 60);

const DAY_MS: i64 = 24 * 60 * 60 * 1000;

/// The limits for ended tasks; `None` means no limit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Keep {
    /// Keeps tasks that ended within this number of days, at least 1.
    pub days: Option<u32>,
    /// Keeps the newest tasks up to this total size, and all tasks that ended within a day.
    pub bytes: Option<u64>,
    /// Whether to measure the sizes of tasks that earlier versions stored without a size. The limit on an account's
    /// disk usage needs the sizes.
    pub measure: bool,
}

/// Removes old tasks.
pub struct Cleanup {
    pub keep: Keep,
    pub store: Arc<dyn Store>,
    pub outputs: Arc<Outputs>,
    pub metrics: Arc<Metrics>,
}

#[derive(Debug, Error)]
enum CleanupError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("outputs can't be removed: {0}")]
    Files(#[from] io::Error),
}

impl Cleanup {
    /// Starts a thread that cleans up until `stop` is set.
    pub fn begin(self, stop: Stop) -> JoinHandle<()> {
        std::thread::spawn(move || {
            let mut webhooks_at = Instant::now();
            while !stop.is_set() {
                if Instant::now() >= webhooks_at {
                    webhooks_at += WEBHOOKS_INTERVAL;
                    self.expire_webhooks();
                }
                if let Err(error) = self.clean_up(&stop) {
                    tracing::error!("clean-up: {error}");
                }
                if stop.is_set_within(INTERVAL) {
                    return;
                }
            }
        })
    }

    /// Removes expired uploads, and all tasks that exceed the limits.
    fn clean_up(&self, stop: &Stop) -> Result<(), CleanupError> {
        let uploads_removed = self.remove_uploads(stop);
        // A problem with uploads does not prevent the removal of tasks, which may free disk space.
        if self.keep != Keep::default() {
            self.remove_tasks(stop)?;
        }
        uploads_removed
    }

    /// Removes the events that are no longer attempted, also those that were never attempted because webhooks were turned
    /// off.
    fn expire_webhooks(&self) {
        let age = i64::try_from(MAX_AGE.as_millis()).unwrap_or(i64::MAX);
        let oldest = now_ms().saturating_sub(age);
        match self.store.expire_webhooks(oldest) {
            Ok(0) => {}
            Ok(count) => {
                self.metrics.count_webhooks(WebhookState::abandoned, count);
                tracing::warn!("clean-up: {count} webhooks given up a day after their events");
            }
            Err(error) => tracing::error!("clean-up: webhooks: {error}"),
        }
    }

    fn remove_tasks(&self, stop: &Stop) -> Result<(), CleanupError> {
        self.measure(stop)?;
        let mut removed = 0;
        if let Some(days) = self.keep.days {
            let before = now_ms().saturating_sub(i64::from(days).saturating_mul(DAY_MS));
            removed += self.remove_oldest(before, stop, |_| Ok(usize::MAX))?;
        }
        if let Some(most) = self.keep.bytes {
            // A client may still fetch a recent task, or submit it again with the same key.
            let before = now_ms().saturating_sub(DAY_MS);
            removed += self.remove_oldest(before, stop, |found| {
                let mut left = self.store.bytes()?;
                let too_many = found.iter().take_while(|task| {
                    let is_too_much = left > most;
                    left = left.saturating_sub(task.bytes);
                    is_too_much
                });
                Ok(too_many.count())
            })?;
        }
        if removed > 0 {
            tracing::info!("clean-up: {removed} tasks removed");
        }
        Ok(())
    }

    /// Removes expired uploads that no task uses, and incomplete ones of killed processes.
    fn remove_uploads(&self, stop: &Stop) -> Result<(), CleanupError> {
        uploads::remove_incomplete(&self.outputs.incoming()?)?;
        loop {
            let (mut removed, mut failed) = (0, None);
            for id in self.store.expired_uploads(STEP)? {
                match self.remove_upload(&id) {
                    Ok(is_removed) => removed += usize::from(is_removed),
                    Err(error) => failed = Some(error),
                }
            }
            if removed > 0 {
                tracing::info!("clean-up: {removed} uploads removed");
            }
            match failed {
                Some(error) => return Err(error),
                None if removed < STEP || stop.is_set_within(STEP_PAUSE) => return Ok(()),
                None => {}
            }
        }
    }

    /// Removes an upload, unless it is used. Returns whether it was removed.
    fn remove_upload(&self, id: &str) -> Result<bool, CleanupError> {
        let Some(_removal) = self.outputs.pins.begin_removal(id) else {
            return Ok(false);
        };
        if !self.store.claim_upload(id)? {
            return Ok(false);
        }
        // Removes the file before the row: if the service is killed in between, the next clean-up finds the upload
        // again.
        self.outputs.remove_unpinned(id)?;
        self.store.remove_upload(id)?;
        Ok(true)
    }

    /// Stores the sizes of tasks that earlier versions stored without.
    fn measure(&self, stop: &Stop) -> Result<(), CleanupError> {
        if self.keep.bytes.is_none() && !self.keep.measure {
            return Ok(());
        }
        loop {
            let tasks = self.store.tasks_without_size(STEP)?;
            let measure = |id: String| {
                let bytes = self.outputs.bytes_of(&id);
                (id, bytes)
            };
            let measured: Vec<(String, u64)> = tasks.into_iter().map(measure).collect();
            self.store.set_sizes(&measured)?;
            if measured.len() < STEP || stop.is_set_within(STEP_PAUSE) {
                return Ok(());
            }
        }
    }

    /// Steps through the tasks that ended before `before_ms`, and removes from each step the number of tasks that
    /// `too_many` returns.
    fn remove_oldest(
        &self,
        before_ms: i64,
        stop: &Stop,
        too_many: impl Fn(&[Ended]) -> Result<usize, CleanupError>,
    ) -> Result<usize, CleanupError> {
        let (mut after, mut removed) = (EndPosition::default(), 0);
        loop {
            let mut found = self.store.ended_after(after, before_ms, STEP)?;
            let is_last = found.len() < STEP;
            let count = too_many(&found)?.min(found.len());
            let is_enough = count < found.len();
            found.truncate(count);
            let Some(last) = found.last() else {
                return Ok(removed);
            };
            after = last.position;
            removed += self.remove(found)?;
            if is_last || is_enough || stop.is_set_within(STEP_PAUSE) {
                return Ok(removed);
            }
        }
    }

    /// Removes the files before the rows: if the service is killed in between, the next clean-up finds the tasks again.
    fn remove(&self, mut tasks: Vec<Ended>) -> Result<usize, CleanupError> {
        let mut failed = None;
        tasks.retain(|task| match self.outputs.remove(&task.id) {
            Ok(removed) => removed,
            Err(error) => {
                failed = Some(error);
                false
            }
        });
        self.store.remove(&tasks)?;
        self.metrics.count_removed(tasks.len());
        match failed {
            Some(error) => Err(error.into()),
            None => Ok(tasks.len()),
        }
    }
}

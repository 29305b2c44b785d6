//! `--keep-days` and `--keep-bytes`: takes old tasks away, and their outputs, a few at a time so that
//! no request waits for it.

use std::io;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use thiserror::Error;

use crate::metrics::Metrics;
use crate::model::Stop;
use crate::outputs::Outputs;
use crate::store::{EndPosition, Ended, Store, StoreError, now_ms};

/// How many tasks are taken away at once.
const STEP: usize = 20;

/// Between two steps, others have the disk.
const BETWEEN: Duration = Duration::from_millis(20);

/// How often it is looked whether there is something to do.
const LOOK_AGAIN: Duration = Duration::from_secs(5);

const DAY_MS: i64 = 24 * 60 * 60 * 1000;

/// The tasks that are kept; without a number, everything is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Keep {
    /// Tasks that ended within so many days; at least 1.
    pub days: Option<u32>,
    /// The newest tasks that have so many bytes together are kept, and all that ended within a day.
    pub bytes: Option<u64>,
    /// A caller wants to know what tasks take.
    pub measured: bool,
}

/// Takes tasks away.
pub struct Cleanup {
    pub keep: Keep,
    pub store: Arc<dyn Store>,
    pub outputs: Arc<Outputs>,
    pub metrics: Arc<Metrics>,
}

#[derive(Debug, Error)]
enum Obstacle {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("outputs can't be removed: {0}")]
    Files(#[from] io::Error),
}

impl Cleanup {
    /// Goes on until `stop`, on a thread of its own; `None` if there is nothing to do, ever.
    pub fn begin(self, stop: Stop) -> Option<JoinHandle<()>> {
        (self.keep != Keep::default()).then(|| {
            std::thread::spawn(move || {
                while !stop.is_set() {
                    if let Err(obstacle) = self.round(&stop) {
                        tracing::error!("clean-up: {obstacle}");
                    }
                    if stop.is_set_within(LOOK_AGAIN) {
                        return;
                    }
                }
            })
        })
    }

    /// Takes away all that is to go at this time.
    fn round(&self, stop: &Stop) -> Result<(), Obstacle> {
        self.measure(stop)?;
        let mut removed = 0;
        if let Some(days) = self.keep.days {
            let before = now_ms().saturating_sub(i64::from(days).saturating_mul(DAY_MS));
            removed += self.remove_oldest(before, stop, |_| Ok(usize::MAX))?;
        }
        if let Some(most) = self.keep.bytes {
            // A client fetches a task that has just ended, and may still send it again with its key.
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

    /// Measures the tasks of an earlier version, which have not been measured yet.
    fn measure(&self, stop: &Stop) -> Result<(), Obstacle> {
        if self.keep.bytes.is_none() && !self.keep.measured {
            return Ok(());
        }
        loop {
            let tasks = self.store.unmeasured(STEP)?;
            let measure = |id: String| {
                let bytes = self.outputs.bytes_of(&id);
                (id, bytes)
            };
            let measured: Vec<(String, u64)> = tasks.into_iter().map(measure).collect();
            self.store.measured(&measured)?;
            if measured.len() < STEP || stop.is_set_within(BETWEEN) {
                return Ok(());
            }
        }
    }

    /// Steps through those that ended before that time, and takes as many away as `too_many` says of
    /// each step.
    fn remove_oldest(
        &self,
        before_ms: i64,
        stop: &Stop,
        too_many: impl Fn(&[Ended]) -> Result<usize, Obstacle>,
    ) -> Result<usize, Obstacle> {
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
            if is_last || is_enough || stop.is_set_within(BETWEEN) {
                return Ok(removed);
            }
        }
    }

    /// First the files: a service that is killed in between finds the task again.
    fn remove(&self, mut tasks: Vec<Ended>) -> Result<usize, Obstacle> {
        let mut failed = None;
        tasks.retain(|task| match self.outputs.remove(&task.id) {
            Ok(removed) => removed,
            Err(error) => {
                failed = Some(error);
                false
            }
        });
        self.store.remove(&tasks)?;
        self.metrics.removed(tasks.len());
        match failed {
            Some(error) => Err(error.into()),
            None => Ok(tasks.len()),
        }
    }
}

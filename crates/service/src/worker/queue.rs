//! The waiting and the running tasks of this process.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use atelier_contract::ModelId;
use tokio::sync::oneshot;

use super::AccountLimits;
use super::reporter::Reported;
use super::retryable_error::RetryableError;
use super::shared_queue::SharedQueue;
use crate::model::{RunStop, Stop};
use crate::outputs::pins::Pin;
use crate::runner::Remote;
use crate::turns::{Backlog, Lane, Tally, Turn};

pub struct Queue {
    turns: Mutex<Turns>,
    pub changed: Condvar,
    pub stop: Stop,
    /// Whether no further tasks are started.
    pub draining: AtomicBool,
    pub limits: AccountLimits,
    /// The lanes of the remote models; all others use [`DEFAULT_LANE`].
    lanes: HashMap<ModelId, usize>,
    /// The queue that accepted tasks are added to, instead of a lane of this process.
    pub shared: Option<Box<dyn SharedQueue>>,
}

/// The lane of the built-in models.
const DEFAULT_LANE: usize = 0;

#[derive(Default)]
pub struct Turns {
    lanes: Vec<Lane>,
    pub running_by_owner: Tally,
    /// Counts tasks that have a reservation or are accepted, and have not started.
    pub waiting_by_owner: Tally,
    /// Tasks in a lane that have not started.
    pub waiting_by_model: Backlog,
    pub running_by_model: Backlog,
    /// The pins on input files, by task.
    pub pins: HashMap<String, Pin>,
    /// What the models have reported about running tasks, by task.
    pub reported: HashMap<String, Reported>,
    /// The stop flags of running tasks, by task.
    pub stops: HashMap<String, RunStop>,
    /// Notified when a turn has ended, by task.
    pub end_notifiers: HashMap<String, Vec<oneshot::Sender<()>>>,
}

impl Queue {
    /// Creates a queue with a lane for the built-in models, and one for each of these remote models.
    pub fn new(
        remotes: &[Arc<Remote>],
        limits: AccountLimits,
        shared: Option<Box<dyn SharedQueue>>,
    ) -> Self {
        let lanes = remotes.iter().enumerate();
        Self {
            turns: Mutex::new(Turns {
                lanes: (0..=remotes.len()).map(|_| Lane::default()).collect(),
                ..Turns::default()
            }),
            changed: Condvar::new(),
            stop: Stop::default(),
            draining: AtomicBool::new(false),
            limits,
            lanes: lanes
                .map(|(n, remote)| (remote.id().clone(), n + 1))
                .collect(),
            shared,
        }
    }

    pub fn lock(&self) -> MutexGuard<'_, Turns> {
        self.turns.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn lane(&self, model: &ModelId) -> usize {
        self.lanes.get(model).copied().unwrap_or(DEFAULT_LANE)
    }

    /// Returns the number of tasks of one owner that may run concurrently. With a shared queue, the database
    /// enforces that limit.
    fn max_running(&self) -> Option<usize> {
        match self.shared {
            Some(_) => None,
            None => self.limits.running,
        }
    }

    /// Sets the stop flag, and those of all running tasks.
    pub fn stop_all(&self) {
        self.stop.set();
        // A thread that starts a task checks the flag under the same lock.
        self.lock().stops.values().for_each(RunStop::set);
        self.changed.notify_all();
    }

    /// Returns the stop flag of a running task.
    pub fn stop_of(&self, id: &str) -> RunStop {
        self.lock().stops.get(id).cloned().unwrap_or_default()
    }

    /// Stops the run of a canceled task, or removes its waiting turn and returns it.
    pub fn cancel(&self, id: &str) -> Option<Turn> {
        let mut turns = self.lock();
        if let Some(stop) = turns.stops.get(id) {
            stop.cancel();
            return None;
        }
        let turn = turns.lanes.iter_mut().find_map(|lane| lane.remove(id))?;
        turns.waiting_by_owner.take(&turn.owner);
        turns.waiting_by_model.take(&turn);
        turns.end(id);
        drop(turns);
        // Another task of the owner may be waiting for its place.
        self.changed.notify_all();
        Some(turn)
    }

    pub fn wake_all(&self) {
        // Locks, so that no thread misses the notification between its check and its wait.
        let _turns = self.lock();
        self.changed.notify_all();
    }

    /// Waits for the next task of a lane. Returns `None` when the pool is draining or stopping.
    pub fn next_turn(&self, lane: usize) -> Option<Turn> {
        let mut turns = self.lock();
        loop {
            if self.stop.is_set() || self.draining.load(Ordering::Relaxed) {
                return None;
            }
            let next_due = turns.lanes[lane].requeue_due(Instant::now());
            if let Some(turn) = turns.begin(lane, self.max_running()) {
                return Some(turn);
            }
            turns = match next_due {
                Some(wait) => {
                    let waited = self.changed.wait_timeout(turns, wait);
                    waited.unwrap_or_else(PoisonError::into_inner).0
                }
                None => {
                    let waited = self.changed.wait(turns);
                    waited.unwrap_or_else(PoisonError::into_inner)
                }
            };
        }
    }

    /// Ends a task's turn: the task has ended, or is retried later. Returns the turn if the task was canceled instead of
    /// being retried.
    pub fn finish_turn(
        &self,
        lane: usize,
        mut turn: Turn,
        worked: Result<(), RetryableError>,
    ) -> Option<Turn> {
        let mut turns = self.lock();
        turns.reported.remove(&turn.id);
        let stop = turns.stops.remove(&turn.id);
        let is_canceled = worked.is_err() && stop.is_some_and(|stop| stop.is_canceled());
        turns.running_by_owner.take(&turn.owner);
        turns.running_by_model.take(&turn);
        // A stopped task is resumed at the next start.
        if is_canceled || worked.is_ok() && !self.stop.is_set() {
            turns.end(&turn.id);
        }
        if let Err(error) = worked
            && !is_canceled
        {
            let wait = turn.wait();
            tracing::error!("task {}: {error}; trying again in {wait:?}", turn.id);
            turn.count_failure(match error {
                RetryableError::Model(error) => Some(error),
                RetryableError::Store(_)
                | RetryableError::Write(_)
                | RetryableError::Blocked(_) => None,
            });
            turns.waiting_by_owner.add(&turn.owner);
            turns.waiting_by_model.add(&turn);
            turns.lanes[lane].postpone(Instant::now() + wait, turn.clone());
        }
        // Wakes all threads: one has to wait until the retry is due, and others may run another task of the owner now.
        self.changed.notify_all();
        is_canceled.then_some(turn)
    }
}

impl Turns {
    pub fn push(&mut self, lane: usize, turn: Turn) {
        self.waiting_by_model.add(&turn);
        self.lanes[lane].push(turn);
    }

    fn begin(&mut self, lane: usize, max_running: Option<usize>) -> Option<Turn> {
        let max_running = max_running.unwrap_or(usize::MAX);
        let running = &self.running_by_owner;
        let mut turn = self.lanes[lane].pop(|owner| running.of(owner) < max_running)?;
        turn.first_attempt.get_or_insert_with(Instant::now);
        self.waiting_by_owner.take(&turn.owner);
        self.running_by_owner.add(&turn.owner);
        self.waiting_by_model.take(&turn);
        self.running_by_model.add(&turn);
        self.stops.insert(turn.id.clone(), RunStop::default());
        Some(turn)
    }

    /// Removes the pins of a task that has ended, and notifies the shared queue.
    fn end(&mut self, id: &str) {
        self.pins.remove(id);
        for notifier in self.end_notifiers.remove(id).unwrap_or_default() {
            // The receiver was dropped if the worker lost its database connection.
            let _ = notifier.send(());
        }
    }
}

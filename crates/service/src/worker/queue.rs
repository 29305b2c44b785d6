//! The tasks that wait for the threads of this process, and those that these work on.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use atelier_contract::ModelId;
use tokio::sync::oneshot;

use super::Bounds;
use super::obstacle::Obstacle;
use super::shared_queue::SharedQueue;
use crate::model::Stop;
use crate::outputs::holds::Hold;
use crate::runner::Remote;
use crate::turns::{Backlog, Lane, Tally, Turn};

pub struct Queue {
    turns: Mutex<Turns>,
    pub changed: Condvar,
    pub stop: Stop,
    /// Nothing is begun any more.
    pub draining: AtomicBool,
    pub bounds: Bounds,
    /// The lanes of the models that run elsewhere; [`HERE`] is that of all others.
    lanes: HashMap<ModelId, usize>,
    /// The queue that tasks go to instead of to a lane of this process.
    pub shared: Option<Box<dyn SharedQueue>>,
}

/// The lane of what is made here.
const HERE: usize = 0;

#[derive(Default)]
pub struct Turns {
    lanes: Vec<Lane>,
    pub running: Tally,
    /// Taken in, or about to be, and not yet begun.
    pub waiting: Tally,
    /// The same by model, as soon as they are in a lane.
    pub queued: Backlog,
    pub begun: Backlog,
    /// The files that tasks are made from.
    pub holds: HashMap<String, Hold>,
    /// The last words of the models at work.
    pub words: HashMap<String, String>,
    /// The calls that wait for a task to end.
    pub tellers: HashMap<String, Vec<oneshot::Sender<()>>>,
}

impl Queue {
    /// Makes a queue with a lane for the models that are drawn here, and one for each of these.
    pub fn new(
        remotes: &[Arc<Remote>],
        bounds: Bounds,
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
            bounds,
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
        self.lanes.get(model).copied().unwrap_or(HERE)
    }

    /// Gives how many tasks of one owner may run at once. The tasks of all processes are counted by their database.
    fn most_running(&self) -> Option<usize> {
        match self.shared {
            Some(_) => None,
            None => self.bounds.running,
        }
    }

    pub fn wake_all(&self) {
        // Set under the lock, so that no thread misses it between its check and its wait.
        let _turns = self.lock();
        self.changed.notify_all();
    }

    /// The next task of a lane; waits for one. `None` when none is to be begun any more.
    pub fn next(&self, lane: usize) -> Option<Turn> {
        let mut turns = self.lock();
        loop {
            if self.stop.is_set() || self.draining.load(Ordering::Relaxed) {
                return None;
            }
            let next_due = turns.lanes[lane].take_up(Instant::now());
            if let Some(turn) = turns.begin(lane, self.most_running()) {
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

    /// A task's turn is over: it has ended, or comes again later.
    pub fn done(&self, lane: usize, mut turn: Turn, worked: Result<(), Obstacle>) {
        let mut turns = self.lock();
        turns.words.remove(&turn.id);
        turns.running.take(&turn.owner);
        turns.begun.take(&turn);
        // A task that was stopped goes on at the next start.
        if worked.is_ok() && !self.stop.is_set() {
            turns.holds.remove(&turn.id);
            for teller in turns.tellers.remove(&turn.id).unwrap_or_default() {
                // The receiver is gone if the worker has lost the database meanwhile.
                let _ = teller.send(());
            }
        }
        if let Err(obstacle) = worked {
            let wait = turn.wait();
            tracing::error!("task {}: {obstacle}; trying again in {wait:?}", turn.id);
            turn.count_failure(match obstacle {
                Obstacle::Model(error) => Some(error),
                Obstacle::Store(_) | Obstacle::Write(_) | Obstacle::Blocked(_) => None,
            });
            turns.waiting.add(&turn.owner);
            turns.queued.add(&turn);
            turns.lanes[lane].postpone(Instant::now() + wait, turn);
        }
        // A thread has to wait for its time, and its owner may have another turn meanwhile.
        self.changed.notify_all();
    }
}

impl Turns {
    pub fn push(&mut self, lane: usize, turn: Turn) {
        self.queued.add(&turn);
        self.lanes[lane].push(turn);
    }

    fn begin(&mut self, lane: usize, most: Option<usize>) -> Option<Turn> {
        let most = most.unwrap_or(usize::MAX);
        let running = &self.running;
        let mut turn = self.lanes[lane].pop(|owner| running.of(owner) < most)?;
        turn.first_attempt.get_or_insert_with(Instant::now);
        self.waiting.take(&turn.owner);
        self.running.add(&turn.owner);
        self.queued.take(&turn);
        self.begun.add(&turn);
        Some(turn)
    }
}

//! The bounded pool that works off the tasks.

use std::collections::HashSet;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use atelier_contract::ModelId;

use crate::metrics::{Load, Metrics};
use crate::model::Stop;
use crate::models::Models;
use crate::outputs::Outputs;
use crate::runner::Remote;
use crate::store::{Store, StoreError};
use crate::turns::Turn;
use queue::Queue;
use work::work;

mod obstacle;
mod place;
mod queue;
mod shared;
mod shared_queue;
mod unfinished;
mod work;

pub use place::Place;
pub use shared_queue::{HERE, SharedQueue, Take};

/// The things that a worker needs to turn a task into files.
#[derive(Clone)]
pub struct WorkerContext {
    pub store: Arc<dyn Store>,
    pub models: Arc<Models>,
    pub outputs: Arc<Outputs>,
    pub metrics: Arc<Metrics>,
    /// Multiplies the time that models take, 0 to 100.
    pub speed: f64,
    /// Multiplies the sides of the pictures and films that the built-in models draw, above 0 to 1.
    pub draw_scale: f64,
}

/// The limits of one owner; without a number, there is none.
#[derive(Debug, Clone, Copy, Default)]
pub struct Bounds {
    /// How many of its tasks may be worked on at once.
    pub running: Option<usize>,
    /// How many of its tasks may wait.
    pub waiting: Option<usize>,
}

/// Threads that take tasks from their lane: one lane for the models that are made here, and one for
/// each that runs elsewhere, so that none of these waits for another, nor makes it wait.
pub struct Pool {
    queue: Arc<Queue>,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

impl Pool {
    /// Starts `size` threads, and those of the models that run elsewhere, on the tasks that an
    /// earlier process left unfinished, or on those of the queue that processes share.
    ///
    /// # Errors
    ///
    /// The store's unfinished tasks can't be read.
    pub fn start(
        context: WorkerContext,
        size: usize,
        remotes: &[Arc<Remote>],
        bounds: Bounds,
        shared: Option<Box<dyn SharedQueue>>,
    ) -> Result<Self, StoreError> {
        let unfinished = context.store.unfinished()?;
        if !unfinished.is_empty() {
            tracing::info!("taking up {} unfinished tasks", unfinished.len());
        }
        let sizes: Vec<usize> = std::iter::once(size)
            .chain(remotes.iter().map(|remote| remote.at_once()))
            .collect();
        let queue = Arc::new(Queue::new(remotes, bounds, shared));
        for task in unfinished {
            let mut turns = queue.lock();
            turns.waiting.add(&task.uid);
            let hold = context.outputs.holds.hold(&task.input);
            turns.holds.insert(task.id.clone(), hold);
            let turn = Turn::first(task.id, task.uid, task.model, task.created);
            turns.push(queue.lane(&turn.model), turn);
        }
        let workers = sizes
            .iter()
            .enumerate()
            .flat_map(|(lane, size)| std::iter::repeat_n(lane, *size));
        let threads = workers
            .map(|lane| {
                let (queue, context) = (queue.clone(), context.clone());
                std::thread::spawn(move || {
                    while let Some(mut turn) = queue.next(lane) {
                        let worked = queue.in_turn(&mut turn, |turn| work(&context, &queue, turn));
                        queue.done(lane, turn, worked);
                    }
                })
            })
            .collect();
        let pool = Self {
            queue,
            threads: Mutex::new(threads),
        };
        pool.share(size, remotes);
        Ok(pool)
    }

    /// Gives the last words of the task's model, if it is being worked on.
    pub fn words(&self, id: &str) -> Option<String> {
        self.queue.lock().words.get(id).cloned()
    }

    /// How many tasks of each model there are that have not ended, and since when the oldest of
    /// those that wait has waited.
    pub fn load(&self) -> (Vec<Load>, Option<i64>) {
        if let Some(shared) = &self.queue.shared {
            return shared.load();
        }
        let turns = self.queue.lock();
        let models: HashSet<&ModelId> = turns.queued.models().chain(turns.begun.models()).collect();
        let load = |model: &ModelId| Load {
            model: model.clone(),
            waiting: turns.queued.of(model),
            running: turns.begun.of(model),
        };
        (
            models.into_iter().map(load).collect(),
            turns.queued.oldest(),
        )
    }

    /// How many threads have ended that should not have.
    pub fn threads_lost(&self) -> usize {
        let threads = self.threads.lock().unwrap_or_else(PoisonError::into_inner);
        threads.iter().filter(|thread| thread.is_finished()).count()
    }

    /// Lets the tasks end that are being worked on, and begins no other.
    pub fn drain(&self) {
        self.queue.draining.store(true, Ordering::Relaxed);
        self.queue.wake_all();
        self.queue.keep_what_runs();
    }

    pub fn is_draining(&self) -> bool {
        self.queue.draining.load(Ordering::Relaxed)
    }

    /// How many tasks are being worked on.
    pub fn running(&self) -> usize {
        self.queue.lock().begun.len()
    }

    /// Is set when the pool stops.
    pub fn stopping(&self) -> &Stop {
        &self.queue.stop
    }

    /// Stops the threads and waits for them. Tasks under way stay unfinished in the store: the
    /// next start takes them up, or another process at once.
    pub fn stop(&self) {
        self.queue.stop.set();
        self.queue.wake_all();
        let mut threads = self.threads.lock().unwrap_or_else(PoisonError::into_inner);
        for thread in threads.drain(..) {
            if thread.join().is_err() {
                tracing::error!("a worker thread had crashed");
            }
        }
        if let Some(shared) = &self.queue.shared {
            shared.give_back();
        }
    }
}

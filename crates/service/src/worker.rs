//! The bounded thread pool that runs tasks.

use std::collections::HashSet;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use atelier_contract::ModelId;

use crate::metrics::{Load, Metrics};
use crate::model::Stop;
use crate::models::Models;
use crate::outputs::Outputs;
use crate::recipe::Recipes;
use crate::report::{Preview, Report};
use crate::runner::Remote;
use crate::store::{Store, StoreError};
use crate::turns::Turn;
use cancel::Canceler;
use queue::Queue;
use work::work;

mod cancel;
mod queue;
mod reporter;
mod reservation;
mod retryable_error;
mod shared_queue;
mod shared_queue_worker;
mod unfinished;
mod work;

pub use reservation::Reservation;
pub use shared_queue::{DEFAULT_LANE, Dispatcher, SharedQueue};

/// The shared parts that a worker uses to run tasks.
#[derive(Clone)]
pub struct WorkerContext {
    pub store: Arc<dyn Store>,
    pub models: Arc<Models>,
    pub outputs: Arc<Outputs>,
    pub metrics: Arc<Metrics>,
    /// Multiplies the time that built-in models take, 0 to 100.
    pub speed: f64,
    /// Multiplies the sides of the pictures and films that the built-in models draw, above 0 to 1.
    pub draw_scale: f64,
    /// Writes how they were made into output files; `None` if that is off.
    pub recipes: Option<Recipes>,
}

/// The limits of one owner; `None` means no limit.
#[derive(Debug, Clone, Copy, Default)]
pub struct AccountLimits {
    /// The number of its tasks that may run concurrently.
    pub running: Option<usize>,
    /// The number of its tasks that may wait.
    pub waiting: Option<usize>,
}

/// A thread pool. Each thread takes tasks from one lane: one lane for all built-in models, and one for each
/// remote model, so that no model blocks another.
pub struct Pool {
    queue: Arc<Queue>,
    canceler: Arc<Canceler>,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

impl Pool {
    /// Starts `size` threads for built-in models, and the threads of each remote model. They continue the tasks
    /// that an earlier process left unfinished, or take tasks from the shared queue.
    ///
    /// # Errors
    ///
    /// The store's unfinished tasks can't be read.
    pub fn start(
        context: WorkerContext,
        size: usize,
        remotes: &[Arc<Remote>],
        limits: AccountLimits,
        shared: Option<Box<dyn SharedQueue>>,
    ) -> Result<Self, StoreError> {
        let unfinished = context.store.unfinished()?;
        if !unfinished.is_empty() {
            tracing::info!("resuming {} unfinished tasks", unfinished.len());
        }
        let sizes: Vec<usize> = std::iter::once(size)
            .chain(remotes.iter().map(|remote| remote.at_once()))
            .collect();
        let queue = Arc::new(Queue::new(remotes, limits, shared));
        let canceler = Arc::new(Canceler::new(context.clone(), queue.clone()));
        for task in unfinished {
            let mut turns = queue.lock();
            turns.waiting_by_owner.add(&task.uid);
            let pin = context.outputs.pins.pin(&task.input);
            turns.pins.insert(task.id.clone(), pin);
            let turn = Turn::first(task.id, task.uid, task.model, task.created);
            turns.push(queue.lane(&turn.model), turn);
        }
        let workers = sizes
            .iter()
            .enumerate()
            .flat_map(|(lane, size)| std::iter::repeat_n(lane, *size));
        let mut threads: Vec<_> = workers
            .map(|lane| {
                let (queue, context) = (queue.clone(), context.clone());
                let canceler = canceler.clone();
                std::thread::spawn(move || {
                    while let Some(mut turn) = queue.next_turn(lane) {
                        let is_stopping = |turn: &Turn| context.store.is_stopping(&turn.id);
                        let work = |turn: &Turn| work(&context, &queue, &canceler, turn);
                        let worked = queue.run_turn(&mut turn, is_stopping, work);
                        if let Some(canceled) = queue.finish_turn(lane, turn, worked) {
                            canceler.stop_later(canceled);
                        }
                    }
                })
            })
            .collect();
        let reporting = (queue.clone(), context.store.clone());
        threads.push(std::thread::spawn(move || {
            let (queue, store) = reporting;
            queue.save_reports(&*store);
        }));
        let pool = Self {
            queue,
            canceler,
            threads: Mutex::new(threads),
        };
        pool.join_shared_queue(size, remotes);
        Ok(pool)
    }

    /// Stops a task that is canceled in the store, if this process has it. Other processes notice by themselves.
    pub fn cancel(&self, id: &str) {
        self.canceler.cancel(id);
    }

    /// Returns what the model has reported about a running task.
    pub fn report(&self, id: &str) -> Option<Report> {
        let turns = self.queue.lock();
        turns.reported.get(id).map(|found| found.report.clone())
    }

    /// Returns the newest preview of a running task.
    pub fn preview(&self, id: &str) -> Option<Arc<Preview>> {
        self.queue.lock().reported.get(id)?.preview.clone()
    }

    /// Returns the number of unfinished tasks of each model, and the creation time of the oldest waiting task, in
    /// milliseconds since 1970.
    pub fn load(&self) -> (Vec<Load>, Option<i64>) {
        if let Some(shared) = &self.queue.shared {
            return shared.load();
        }
        let turns = self.queue.lock();
        let models: HashSet<&ModelId> = turns
            .waiting_by_model
            .models()
            .chain(turns.running_by_model.models())
            .collect();
        let load = |model: &ModelId| Load {
            model: model.clone(),
            waiting: turns.waiting_by_model.of(model),
            running: turns.running_by_model.of(model),
        };
        (
            models.into_iter().map(load).collect(),
            turns.waiting_by_model.oldest(),
        )
    }

    /// Returns the number of threads that ended unexpectedly.
    pub fn threads_lost(&self) -> usize {
        let threads = self.threads.lock().unwrap_or_else(PoisonError::into_inner);
        threads.iter().filter(|thread| thread.is_finished()).count()
    }

    /// Starts no further tasks. Running tasks continue.
    pub fn drain(&self) {
        self.queue.draining.store(true, Ordering::Relaxed);
        self.queue.wake_all();
        self.queue.release_waiting_jobs();
    }

    pub fn is_draining(&self) -> bool {
        self.queue.draining.load(Ordering::Relaxed)
    }

    /// Returns the number of running tasks.
    pub fn running(&self) -> usize {
        self.queue.lock().running_by_model.len()
    }

    /// Returns the flag that is set when the pool stops.
    pub fn stopping(&self) -> &Stop {
        &self.queue.stop
    }

    /// Stops the threads and waits for them. Running tasks stay unfinished in the store: the next start resumes
    /// them, or another process does so at once.
    pub fn stop(&self) {
        self.queue.stop_all();
        let mut threads = self.threads.lock().unwrap_or_else(PoisonError::into_inner);
        for thread in threads.drain(..) {
            if thread.join().is_err() {
                tracing::error!("a worker thread had crashed");
            }
        }
        if let Some(shared) = &self.queue.shared {
            shared.release_all();
        }
    }
}

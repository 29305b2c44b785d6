//! The bounded pool that works off the tasks.

use std::collections::VecDeque;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use thiserror::Error;

use crate::models::{Ended, Job, Models, Pace, Stop};
use crate::outputs::Outputs;
use crate::store::{Order, Store, StoreError};

/// A task that something stands in the way of is tried again at least this often.
const LONGEST_WAIT: Duration = Duration::from_secs(10);

/// What a worker needs to turn a task into files.
#[derive(Clone)]
pub struct WorkerContext {
    pub store: Arc<Store>,
    pub models: Arc<Models>,
    pub outputs: Arc<Outputs>,
    /// Multiplies the time that models take.
    pub speed: f64,
}

/// A task's turn, and how often it has come to nothing.
struct Turn {
    id: String,
    failures: u32,
}

/// Threads that take tasks from one queue, oldest first.
pub struct Pool {
    queue: Arc<Queue>,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

#[derive(Default)]
struct Queue {
    turns: Mutex<Turns>,
    added: Condvar,
    stop: Stop,
}

#[derive(Default)]
struct Turns {
    ready: VecDeque<Turn>,
    /// Those that something which may pass stood in the way of, with the time to try again.
    later: Vec<(Instant, Turn)>,
}

impl Pool {
    /// Starts `size` threads on the tasks that an earlier process left unfinished.
    pub fn start(context: WorkerContext, size: usize) -> Result<Self, StoreError> {
        let unfinished = context.store.unfinished()?;
        if !unfinished.is_empty() {
            tracing::info!("taking up {} unfinished tasks", unfinished.len());
        }
        let queue = Arc::new(Queue::default());
        queue.lock().ready = unfinished.into_iter().map(Turn::first).collect();
        let threads = (0..size)
            .map(|_| {
                let (queue, context) = (queue.clone(), context.clone());
                std::thread::spawn(move || {
                    while let Some(turn) = queue.next() {
                        if let Err(obstacle) = work(&context, &queue.stop, &turn) {
                            queue.again(turn, &obstacle);
                        }
                    }
                })
            })
            .collect();
        Ok(Self {
            queue,
            threads: Mutex::new(threads),
        })
    }

    /// Queues a task that is in the store.
    pub fn push(&self, id: String) {
        self.queue.lock().ready.push_back(Turn::first(id));
        self.queue.added.notify_one();
    }

    /// Stops the threads and waits for them. Tasks under way stay unfinished in the store: the
    /// next start takes them up.
    pub fn stop(&self) {
        self.queue.stop.set();
        {
            // Under the lock, so that no thread misses it between its check and its wait.
            let _turns = self.queue.lock();
            self.queue.added.notify_all();
        }
        let mut threads = self.threads.lock().unwrap_or_else(PoisonError::into_inner);
        for thread in threads.drain(..) {
            if thread.join().is_err() {
                tracing::error!("a worker thread had crashed");
            }
        }
    }
}

impl Turn {
    fn first(id: String) -> Self {
        Self { id, failures: 0 }
    }

    /// Doubles from a quarter of a second to [`LONGEST_WAIT`].
    fn wait(&self) -> Duration {
        let doubled = 250_u64.saturating_mul(1 << self.failures.min(16));
        Duration::from_millis(doubled).min(LONGEST_WAIT)
    }
}

impl Queue {
    fn lock(&self) -> MutexGuard<'_, Turns> {
        self.turns.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next task; waits for one. `None` when it is time to stop.
    fn next(&self) -> Option<Turn> {
        let mut turns = self.lock();
        loop {
            if self.stop.is_set() {
                return None;
            }
            let next_due = turns.take_up(Instant::now());
            if let Some(turn) = turns.ready.pop_front() {
                return Some(turn);
            }
            turns = match next_due {
                Some(wait) => {
                    let waited = self.added.wait_timeout(turns, wait);
                    waited.unwrap_or_else(PoisonError::into_inner).0
                }
                None => {
                    let waited = self.added.wait(turns);
                    waited.unwrap_or_else(PoisonError::into_inner)
                }
            };
        }
    }

    /// Puts a task back for later.
    fn again(&self, mut turn: Turn, obstacle: &Obstacle) {
        let wait = turn.wait();
        tracing::error!("task {}: {obstacle}; trying again in {wait:?}", turn.id);
        turn.failures = turn.failures.saturating_add(1);
        self.lock().later.push((Instant::now() + wait, turn));
        // Somebody has to wait for it.
        self.added.notify_one();
    }
}

impl Turns {
    /// Readies what is due; says how long until the next one is.
    fn take_up(&mut self, now: Instant) -> Option<Duration> {
        let due = self.later.extract_if(.., |(at, _)| *at <= now);
        self.ready.extend(due.map(|(_, turn)| turn));
        let next = self.later.iter().map(|(at, _)| *at).min()?;
        Some(next.saturating_duration_since(now))
    }
}

/// What stood in a task's way, and may pass: the task has not failed.
#[derive(Debug, Error)]
enum Obstacle {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("the output could not be written: {0}")]
    Write(#[from] io::Error),
    #[error("{0}")]
    Model(String),
}

/// Takes one task to its end, or leaves it unfinished if the service stops.
fn work(context: &WorkerContext, stop: &Stop, turn: &Turn) -> Result<(), Obstacle> {
    let WorkerContext {
        store,
        models,
        outputs,
        speed,
    } = context;
    let id = &turn.id;
    let Some(Order { model, input }) = store.order(id)? else {
        return Ok(());
    };
    let Some(model) = models.find(&model) else {
        return Ok(store.fail(id, "This model is no longer offered.")?);
    };
    store.set_processing(id)?;
    tracing::debug!("task {id} begins");
    // Who has waited already does not wait for the show once more.
    let show = if turn.failures == 0 { *speed } else { 0.0 };
    let pace = Pace::new(model.seconds(&input) * show, stop);
    let job = Job::new(&input, pace, outputs);
    let made = catch_unwind(AssertUnwindSafe(|| model.make(&job)))
        .unwrap_or_else(|_| Err(Ended::Failed("The model crashed on this input.".into())));
    match made {
        Ok(artifacts) => {
            let paths = outputs.save(id, &artifacts)?;
            Ok(store.complete(id, &paths)?)
        }
        Err(Ended::Failed(message)) => Ok(store.fail(id, &message)?),
        Err(Ended::Hindered(obstacle)) => Err(Obstacle::Model(obstacle)),
        Err(Ended::Stopped) => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hindered_task_comes_again_with_a_growing_wait() {
        let turn = |failures| Turn {
            id: "a".into(),
            failures,
        };
        assert_eq!(turn(0).wait(), Duration::from_millis(250));
        assert_eq!(turn(2).wait(), Duration::from_secs(1));
        assert_eq!(turn(u32::MAX).wait(), LONGEST_WAIT);

        let now = Instant::now();
        let at = |ms| now + Duration::from_millis(ms);
        let mut turns = Turns {
            ready: VecDeque::new(),
            later: vec![(at(500), turn(1)), (at(900), turn(2))],
        };
        assert_eq!(turns.take_up(now), Some(Duration::from_millis(500)));
        assert!(turns.ready.is_empty());
        assert_eq!(turns.take_up(at(500)), Some(Duration::from_millis(400)));
        assert_eq!(turns.ready.len(), 1);
        assert_eq!(turns.take_up(at(2000)), None);
        assert_eq!(turns.ready.len(), 2);
    }
}

//! The bounded pool that works off the tasks.

use std::collections::{HashMap, HashSet};
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
#[cfg(feature = "cluster")]
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use atelier_contract::{ModelId, StatusWord};
use thiserror::Error;
#[cfg(feature = "cluster")]
use tokio::sync::oneshot;

use crate::holds::Hold;
use crate::metrics::{Load, Metrics};
use crate::models::{Ended, Job, Models, Pace, Stop};
use crate::outputs::{Artifact, Outputs};
#[cfg(feature = "cluster")]
use crate::queue::SharedQueue;
use crate::runner::{Remote, Run};
use crate::store::{Order, Store, StoreError, now_ms};
use crate::turns::{Backlog, Lane, Tally, Turn};

#[cfg(feature = "cluster")]
mod shared;
mod unfinished;

#[cfg(feature = "cluster")]
pub use shared::Taker;
pub use unfinished::UnfinishedCount;

/// What a worker needs to turn a task into files.
#[derive(Clone)]
pub struct WorkerContext {
    pub store: Arc<Store>,
    pub models: Arc<Models>,
    pub outputs: Arc<Outputs>,
    pub metrics: Arc<Metrics>,
    /// Multiplies the time that models take.
    pub speed: f64,
}

/// What one owner may have at once; without a number, as much as there is.
#[derive(Debug, Clone, Copy, Default)]
pub struct Bounds {
    pub running: Option<usize>,
    pub waiting: Option<usize>,
}

/// Threads that take tasks from their lane: one lane for the models that are made here, and one for
/// each that runs elsewhere, so that none of these waits for another, nor makes it wait.
pub struct Pool {
    queue: Arc<Queue>,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

struct Queue {
    turns: Mutex<Turns>,
    changed: Condvar,
    stop: Stop,
    /// Nothing is begun any more.
    draining: AtomicBool,
    bounds: Bounds,
    /// Of the models that run elsewhere; [`HERE`] is that of all others.
    lanes: HashMap<ModelId, usize>,
    /// Where tasks go instead of to a lane of this process.
    #[cfg(feature = "cluster")]
    shared: OnceLock<SharedQueue>,
}

/// How long to wait for room on the disk before the next try.
const SAVE_AGAIN: Duration = Duration::from_secs(2);

/// The lane of what is made here.
const HERE: usize = 0;

#[derive(Default)]
struct Turns {
    lanes: Vec<Lane>,
    running: Tally,
    /// Taken in, or about to be, and not yet begun.
    waiting: Tally,
    /// The same by model, as soon as they are in a lane.
    queued: Backlog,
    begun: Backlog,
    /// What they are made from.
    holds: HashMap<String, Hold>,
    /// What those at work have said last.
    words: HashMap<String, String>,
    /// Who waits for a task to end.
    #[cfg(feature = "cluster")]
    tellers: HashMap<String, Vec<oneshot::Sender<()>>>,
}

impl Pool {
    /// Starts `size` threads, and those of the models that run elsewhere, on the tasks that an
    /// earlier process left unfinished.
    pub fn start(
        context: WorkerContext,
        size: usize,
        remotes: &[Arc<Remote>],
        bounds: Bounds,
    ) -> Result<Self, StoreError> {
        let unfinished = context.store.unfinished()?;
        if !unfinished.is_empty() {
            tracing::info!("taking up {} unfinished tasks", unfinished.len());
        }
        let sizes: Vec<usize> = std::iter::once(size)
            .chain(remotes.iter().map(|remote| remote.at_once()))
            .collect();
        let lanes = remotes.iter().enumerate();
        let queue = Arc::new(Queue {
            turns: Mutex::new(Turns {
                lanes: sizes.iter().map(|_| Lane::default()).collect(),
                ..Turns::default()
            }),
            changed: Condvar::new(),
            stop: Stop::default(),
            draining: AtomicBool::new(false),
            bounds,
            lanes: lanes
                .map(|(n, remote)| (remote.id().clone(), n + 1))
                .collect(),
            #[cfg(feature = "cluster")]
            shared: OnceLock::new(),
        });
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
                    while let Some(turn) = queue.next(lane) {
                        let work = || work(&context, &queue, &turn);
                        #[cfg(feature = "cluster")]
                        let work = || queue.in_turn(&turn, work);
                        let worked = work();
                        queue.done(lane, turn, worked);
                    }
                })
            })
            .collect();
        Ok(Self {
            queue,
            threads: Mutex::new(threads),
        })
    }

    /// Keeps a place for another task of this owner; `None` if as many wait as may.
    pub fn reserve(&self, owner: &str) -> Result<Option<Place>, StoreError> {
        let place = |taken| Place {
            queue: self.queue.clone(),
            owner: owner.to_owned(),
            taken,
        };
        #[cfg(feature = "cluster")]
        if let Some(shared) = self.queue.shared.get() {
            let is_full = shared.is_full(owner, self.queue.bounds.waiting)?;
            // Counted by the database, so nothing is to be given back.
            return Ok((!is_full).then(|| place(true)));
        }
        let mut turns = self.queue.lock();
        let most = self.queue.bounds.waiting.unwrap_or(usize::MAX);
        if turns.waiting.of(owner) >= most {
            return Ok(None);
        }
        turns.waiting.add(owner);
        Ok(Some(place(false)))
    }

    /// What the task's model has said last, if it is being worked on.
    pub fn words(&self, id: &str) -> Option<String> {
        self.queue.lock().words.get(id).cloned()
    }

    /// How many tasks of each model there are that have not ended, and since when the oldest of
    /// those that wait has waited.
    pub fn load(&self) -> (Vec<Load>, Option<i64>) {
        #[cfg(feature = "cluster")]
        if let Some(shared) = self.queue.shared.get() {
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
        #[cfg(feature = "cluster")]
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
        #[cfg(feature = "cluster")]
        if let Some(shared) = self.queue.shared.get() {
            shared.give_back();
        }
    }
}

/// A place among those of an owner that wait; given back unless a task takes it.
pub struct Place {
    queue: Arc<Queue>,
    owner: String,
    taken: bool,
}

impl Place {
    /// Queues a task that is in the store.
    pub fn take(mut self, id: String, model: &ModelId, hold: Hold) {
        self.taken = true;
        #[cfg(feature = "cluster")]
        if let Some(shared) = self.queue.shared.get() {
            // The database holds for all processes what the task is made from.
            return shared.push(&id, &self.owner, model, now_ms());
        }
        let lane = self.queue.lane(model);
        let turn = Turn::first(id, self.owner.clone(), model.clone(), now_ms());
        let mut turns = self.queue.lock();
        turns.holds.insert(turn.id.clone(), hold);
        turns.push(lane, turn);
        drop(turns);
        self.queue.changed.notify_all();
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if !self.taken {
            self.queue.lock().waiting.take(&self.owner);
        }
    }
}

impl Queue {
    fn lock(&self) -> MutexGuard<'_, Turns> {
        self.turns.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lane(&self, model: &ModelId) -> usize {
        self.lanes.get(model).copied().unwrap_or(HERE)
    }

    /// So many tasks of one owner run at once; those of all processes are counted by their database.
    fn most_running(&self) -> Option<usize> {
        #[cfg(feature = "cluster")]
        if self.shared.get().is_some() {
            return None;
        }
        self.bounds.running
    }

    fn wake_all(&self) {
        // Under the lock, so that no thread misses it between its check and its wait.
        let _turns = self.lock();
        self.changed.notify_all();
    }

    /// The next task of a lane; waits for one. `None` when none is to be begun any more.
    fn next(&self, lane: usize) -> Option<Turn> {
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
    fn done(&self, lane: usize, mut turn: Turn, worked: Result<(), Obstacle>) {
        let mut turns = self.lock();
        turns.words.remove(&turn.id);
        turns.running.take(&turn.owner);
        turns.begun.take(&turn);
        // What was stopped goes on at the next start.
        if worked.is_ok() && !self.stop.is_set() {
            turns.holds.remove(&turn.id);
            #[cfg(feature = "cluster")]
            for teller in turns.tellers.remove(&turn.id).unwrap_or_default() {
                // Nobody listens if the worker has lost the database meanwhile.
                let _ = teller.send(());
            }
        }
        if let Err(obstacle) = worked {
            let wait = turn.wait();
            tracing::error!("task {}: {obstacle}; trying again in {wait:?}", turn.id);
            turn.failures = turn.failures.saturating_add(1);
            turns.waiting.add(&turn.owner);
            turns.queued.add(&turn);
            turns.lanes[lane].postpone(Instant::now() + wait, turn);
        }
        // Somebody has to wait for it, and its owner may have another turn.
        self.changed.notify_all();
    }
}

impl Turns {
    fn push(&mut self, lane: usize, turn: Turn) {
        self.queued.add(&turn);
        self.lanes[lane].push(turn);
    }

    fn begin(&mut self, lane: usize, most: Option<usize>) -> Option<Turn> {
        let most = most.unwrap_or(usize::MAX);
        let running = &self.running;
        let turn = self.lanes[lane].pop(|owner| running.of(owner) < most)?;
        self.waiting.take(&turn.owner);
        self.running.add(&turn.owner);
        self.queued.take(&turn);
        self.begun.add(&turn);
        Some(turn)
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
fn work(context: &WorkerContext, queue: &Queue, turn: &Turn) -> Result<(), Obstacle> {
    let WorkerContext {
        store,
        models,
        outputs,
        metrics,
        speed,
    } = context;
    let id = &turn.id;
    let Some(Order { model, input, sent }) = store.order(id)? else {
        return Ok(());
    };
    let Some(model) = models.find(&model) else {
        store.fail(id, "This model is no longer offered.")?;
        metrics.ended(&turn.model, &StatusWord::Failed);
        return Ok(());
    };
    store.set_processing(id)?;
    tracing::debug!("task {id} begins");
    let make = || match model.remote() {
        Some(remote) => remote.run(&Run {
            id,
            input: &input,
            outputs,
            stop: &queue.stop,
            deadline: Instant::now() + remote.time_limit(),
            sent,
            store,
            say: &|words| {
                queue.lock().words.insert(id.clone(), words.to_owned());
                store.set_words(id, words);
            },
        }),
        None => {
            // Who has waited already does not wait for the show once more.
            let show = if turn.failures == 0 { *speed } else { 0.0 };
            let pace = Pace::new(model.seconds(&input) * show, &queue.stop);
            model.make(&Job::new(&input, pace, outputs))
        }
    };
    let made = catch_unwind(AssertUnwindSafe(make))
        .unwrap_or_else(|_| Err(Ended::Failed("The model crashed on this input.".into())));
    match made {
        Ok(artifacts) => {
            let paths = match model.remote() {
                // Asked for once more it might be paid for once more: what came is kept until there
                // is room for it.
                Some(_) => match save_at_last(outputs, &queue.stop, id, &artifacts) {
                    Some(paths) => paths,
                    None => return Ok(()),
                },
                None => outputs.save(id, &artifacts)?,
            };
            let bytes = artifacts.iter().map(|file| file.bytes.len() as u64).sum();
            store.complete(id, &paths, bytes)?;
            metrics.ended(&turn.model, &StatusWord::Completed);
            Ok(())
        }
        Err(Ended::Failed(message)) => {
            store.fail(id, &message)?;
            metrics.ended(&turn.model, &StatusWord::Failed);
            Ok(())
        }
        Err(Ended::Hindered(obstacle)) => Err(Obstacle::Model(obstacle)),
        Err(Ended::Stopped) => Ok(()),
    }
}

/// Tries until it works; `None` when the service stops.
fn save_at_last(
    outputs: &Outputs,
    stop: &Stop,
    id: &str,
    artifacts: &[Artifact],
) -> Option<Vec<String>> {
    loop {
        match outputs.save(id, artifacts) {
            Ok(paths) => return Some(paths),
            Err(error) => tracing::error!("task {id}: the output could not be written: {error}"),
        }
        if stop.is_set_within(SAVE_AGAIN) {
            return None;
        }
    }
}

//! Stops canceled tasks: in the queue, in this process's threads, and at their models.

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use atelier_contract::ModelId;

use super::WorkerContext;
use super::queue::Queue;
use super::retryable_error::RetryableError;
use crate::runner::Stopped;
use crate::turns::Turn;

/// How often a process checks whether another process has canceled its tasks.
const WATCH: Duration = Duration::from_millis(500);

/// How long a model is called to stop a task.
const GIVE_UP: Duration = Duration::from_secs(30);

/// The pauses between these calls for a task: the first one, and the longest.
const PAUSES: [Duration; 2] = [Duration::from_millis(500), Duration::from_secs(5)];

/// How often the thread of a model checks which of its tasks are due.
const TICK: Duration = Duration::from_millis(50);

/// The number of replies that the model does not know the task, after which the task counts as stopped. Fewer may have
/// overtaken the request that starts the task.
const MAX_UNKNOWN: u32 = 6;

/// Stops canceled tasks, which have ended in the store.
pub struct Canceler {
    context: WorkerContext,
    queue: Arc<Queue>,
    /// The tasks that their models may still run. Each model with tasks has a thread that stops them.
    stopping: Mutex<HashMap<ModelId, Vec<Stopping>>>,
}

/// A canceled task that its model may still run.
struct Stopping {
    id: String,
    since: Instant,
    /// The time of the next call to the model.
    due: Instant,
    /// The pause after that call.
    pause: Duration,
    /// The number of replies that the model does not know it.
    unknown: u32,
}

impl Stopping {
    fn new(id: String, now: Instant) -> Self {
        Self {
            id,
            since: now,
            due: now,
            pause: PAUSES[0],
            unknown: 0,
        }
    }

    /// Sets the time of the next call.
    fn postpone(&mut self, now: Instant) {
        self.due = now + self.pause;
        self.pause = (self.pause * 2).min(PAUSES[1]);
    }
}

/// Removes the tasks that are due.
fn take_due(tasks: &mut Vec<Stopping>, now: Instant) -> Vec<Stopping> {
    tasks.extract_if(.., |task| task.due <= now).collect()
}

impl Canceler {
    pub fn new(context: WorkerContext, queue: Arc<Queue>) -> Self {
        Self {
            context,
            queue,
            stopping: Mutex::default(),
        }
    }

    /// Stops the run of a canceled task, or removes its waiting turn. Does nothing if this process does not have it.
    pub fn cancel(self: &Arc<Self>, id: &str) {
        let Some(turn) = self.queue.cancel(id) else {
            return;
        };
        self.queue.release_turn(&turn);
        // An earlier attempt may still run at the model, or have saved files.
        if self.context.store.is_stopping(id).unwrap_or(true) {
            self.stop_later(turn);
        }
    }

    /// Starts to check for tasks of this process that another process has canceled.
    pub fn watch(self: &Arc<Self>) {
        let canceler = self.clone();
        std::thread::spawn(move || {
            while !canceler.queue.stop.is_set_within(WATCH) {
                let ids: Vec<String> = {
                    let turns = canceler.queue.lock();
                    turns.end_notifiers.keys().cloned().collect()
                };
                if ids.is_empty() {
                    continue;
                }
                match canceler.context.store.canceled_of(&ids) {
                    Ok(canceled) => canceled.iter().for_each(|id| canceler.cancel(id)),
                    Err(error) => tracing::warn!("can't check for canceled tasks: {error}"),
                }
            }
        });
    }

    /// Stops a task at its model and deletes its files, on another thread, if it is canceled.
    pub fn stop_later(self: &Arc<Self>, turn: Turn) {
        let Turn { id, model, .. } = turn;
        let task = Stopping::new(id, Instant::now());
        let mut stopping = self.lock();
        if let Some(tasks) = stopping.get_mut(&model) {
            if tasks.iter().all(|known| known.id != task.id) {
                tasks.push(task);
            }
            return;
        }
        stopping.insert(model.clone(), vec![task]);
        let canceler = self.clone();
        std::thread::spawn(move || canceler.stop_all_of(&model));
    }

    /// Stops the tasks of a model, until none is left or the service stops; the next start continues then.
    fn stop_all_of(&self, model: &ModelId) {
        loop {
            let mut due = {
                let mut stopping = self.lock();
                let tasks = stopping.entry(model.clone()).or_default();
                take_due(tasks, Instant::now())
            };
            due.retain_mut(|task| {
                let is_running =
                    retry_unless_panicked(&task.id.clone(), || self.try_stop(task, model));
                task.postpone(Instant::now());
                is_running
            });
            let mut stopping = self.lock();
            let left = stopping.entry(model.clone()).or_default();
            left.extend(due);
            if left.is_empty() {
                stopping.remove(model);
                return;
            }
            drop(stopping);
            if self.queue.stop.is_set_within(TICK) {
                return;
            }
        }
    }

    /// Stops a task at its model and deletes its files, if it is canceled. Returns whether to try again.
    ///
    /// # Errors
    ///
    /// The store or the outputs don't respond.
    fn try_stop(&self, task: &mut Stopping, model: &ModelId) -> Result<bool, RetryableError> {
        let WorkerContext { store, outputs, .. } = &self.context;
        let id = &task.id;
        if store.progress(id)?.is_none_or(|found| !found.canceled) {
            return Ok(false);
        }
        outputs.remove(id)?;
        if !store.is_stopping(id)? {
            return Ok(false);
        }
        let remote = self.context.models.remote(model);
        match remote.map_or(Ok(Stopped::Yes), |remote| remote.stop(id)) {
            Ok(Stopped::Yes) => {}
            Ok(Stopped::Unknown) => {
                task.unknown += 1;
                if task.unknown < MAX_UNKNOWN {
                    return Ok(true);
                }
            }
            Err(error) if task.since.elapsed() < GIVE_UP => {
                tracing::debug!("task {id:.8}… is not stopped yet: {error}");
                return Ok(true);
            }
            Err(error) => {
                tracing::warn!(
                    "task {id:.8}… is canceled, but may still run at its model: {error}"
                );
            }
        }
        store.set_stopped(id)?;
        Ok(false)
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<ModelId, Vec<Stopping>>> {
        self.stopping.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Calls `try_stop` for a task, and returns whether to call it again: also after an error, but not after a panic. The next
/// start tries again then.
fn retry_unless_panicked(
    id: &str,
    try_stop: impl FnOnce() -> Result<bool, RetryableError>,
) -> bool {
    match catch_unwind(AssertUnwindSafe(try_stop)) {
        Ok(Ok(is_running)) => is_running,
        Ok(Err(error)) => {
            tracing::error!("task {id:.8}…: {error}");
            true
        }
        Err(_) => {
            tracing::error!("task {id:.8}… is canceled, but stopping it at its model has crashed");
            false
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Guards against a canceled task that starts at its model because an earlier one, which does not stop, delays the call.
    #[test]
    fn a_new_task_does_not_wait_for_the_pause_of_another() {
        let begin = Instant::now();
        let mut tasks = vec![Stopping::new("deaf".into(), begin)];
        for _ in 0..5 {
            let mut due = take_due(&mut tasks, begin + Duration::from_secs(60));
            assert_eq!(due.len(), 1);
            due[0].postpone(begin);
            tasks = due;
        }
        tasks.push(Stopping::new("new".into(), begin));
        let due = take_due(&mut tasks, begin);
        assert_eq!(due.len(), 1);
        assert_eq!((due[0].id.as_str(), tasks[0].id.as_str()), ("new", "deaf"));
        assert_eq!(tasks[0].due, begin + PAUSES[1]);
    }

    /// Guards against a model whose canceled tasks are never stopped again because the thread that stops them has ended.
    #[test]
    fn a_panic_ends_only_the_calls_for_its_task() {
        let unavailable = || RetryableError::Model("unavailable".into());
        assert!(retry_unless_panicked("a", || Ok(true)));
        assert!(!retry_unless_panicked("a", || Ok(false)));
        assert!(retry_unless_panicked("a", || Err(unavailable())));
        assert!(!retry_unless_panicked("a", || panic!("no such field")));
    }
}

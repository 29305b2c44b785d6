//! The bounded pool that works off the tasks.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;

use crate::models::{Ended, Job, Models, Pace, Stop};
use crate::outputs::Outputs;
use crate::store::{Store, StoreError};

/// What a worker needs to turn a task into files.
#[derive(Clone)]
pub struct Workshop {
    pub store: Arc<Store>,
    pub models: Arc<Models>,
    pub outputs: Arc<Outputs>,
    /// Multiplies the time that models take.
    pub speed: f64,
}

/// Threads that take task ids from one queue, oldest first.
pub struct Pool {
    queue: Arc<Queue>,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

#[derive(Default)]
struct Queue {
    waiting: Mutex<VecDeque<String>>,
    added: Condvar,
    stop: Stop,
}

impl Pool {
    /// Starts `size` threads on the tasks that an earlier process left unfinished.
    pub fn start(workshop: Workshop, size: usize) -> Result<Self, StoreError> {
        let unfinished = workshop.store.unfinished()?;
        if !unfinished.is_empty() {
            tracing::info!("taking up {} unfinished tasks", unfinished.len());
        }
        let queue = Arc::new(Queue {
            waiting: Mutex::new(unfinished.into()),
            ..Queue::default()
        });
        let threads = (0..size)
            .map(|_| {
                let (queue, workshop) = (queue.clone(), workshop.clone());
                std::thread::spawn(move || {
                    while let Some(id) = queue.next() {
                        work(&workshop, &queue.stop, &id);
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
        let mut waiting = self
            .queue
            .waiting
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        waiting.push_back(id);
        self.queue.added.notify_one();
    }

    /// Stops the threads and waits for them. Tasks under way stay unfinished in the store: the
    /// next start takes them up.
    pub fn stop(&self) {
        self.queue.stop.set();
        {
            // Under the lock, so that no thread misses it between its check and its wait.
            let _waiting = self
                .queue
                .waiting
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
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

impl Queue {
    /// The next task; waits for one. `None` when it is time to stop.
    fn next(&self) -> Option<String> {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if self.stop.is_set() {
                return None;
            }
            if let Some(id) = waiting.pop_front() {
                return Some(id);
            }
            waiting = self
                .added
                .wait(waiting)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// Takes one task to its end, or leaves it unfinished if the service stops.
fn work(workshop: &Workshop, stop: &Stop, id: &str) {
    if let Err(error) = try_work(workshop, stop, id) {
        // The task stays unfinished, to be taken up at the next start.
        tracing::error!("task {id}: {error}");
    }
}

fn try_work(workshop: &Workshop, stop: &Stop, id: &str) -> Result<(), StoreError> {
    let Workshop {
        store,
        models,
        outputs,
        speed,
    } = workshop;
    let Some(task) = store.find(id)? else {
        return Ok(());
    };
    let Some(model) = models.find(&task.model) else {
        return store.fail(id, "This model is no longer offered.");
    };
    store.set_processing(id)?;
    let job = Job {
        input: &task.input,
        pace: Pace::new(model.seconds(&task.input) * speed, stop),
        outputs,
    };
    let made = catch_unwind(AssertUnwindSafe(|| model.make(&job)))
        .unwrap_or_else(|_| Err(Ended::Failed("The model crashed on this input.".into())));
    match made {
        Ok(artifacts) => match outputs.save(id, &artifacts) {
            Ok(paths) => store.complete(id, &paths),
            Err(error) => {
                tracing::error!("task {id}: {error}");
                store.fail(id, "The output could not be written to disk.")
            }
        },
        Err(Ended::Failed(message)) => store.fail(id, &message),
        Err(Ended::Stopped) => Ok(()),
    }
}

//! The shared queue, in PostgreSQL. apalis tracks which worker has which job by heartbeats, and moves the jobs of a
//! dead process to another. A job is one turn of a task; the task itself is in the store.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use apalis::prelude::*;
use apalis_postgres::{Config, PgTask, PostgresStorage};
use atelier_contract::ModelId;
use serde::{Deserialize, Serialize};
use tokio::task::JoinHandle;

use super::client_runtime;
use super::postgres::{DEAD_AFTER, HEARTBEAT, MAX_MISSED_HEARTBEATS, PROCESS, Postgres};
use crate::metrics::Load;
use crate::model::Stop;
use crate::store::StoreError;
use crate::turns::{Turn, UnfinishedCount};
use crate::worker::{DEFAULT_LANE, Dispatcher, SharedQueue};

/// How often to look for tasks without a job, and the minimum age of such a task. A task has no job if the process that
/// accepted it ended before it added the job.
const RECONCILE: Duration = Duration::from_secs(5);

/// The pause before a worker that lost its database connection restarts.
const RESTART_PAUSE: Duration = Duration::from_secs(1);

/// An entry of the queue: one turn of a task.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Job {
    id: String,
    owner: String,
    category: String,
    subcategory: String,
    since: i64,
}

/// Adds jobs to the queue and runs them.
#[derive(Clone)]
pub struct JobQueue {
    store: Postgres,
    /// The remote models, each with its own lane.
    remotes: Arc<[ModelId]>,
    /// The tasks that run the queue's workers.
    workers: Arc<Mutex<Vec<JoinHandle<()>>>>,
}

impl JobQueue {
    /// Opens the queue and creates its tables. Processes that start concurrently wait for each other.
    ///
    /// # Errors
    ///
    /// [`StoreError::Queue`] if the queue's tables can't be created.
    pub fn open(store: Postgres, remotes: Vec<ModelId>) -> Result<Self, StoreError> {
        let made = store.wait(PostgresStorage::setup(store.pool()));
        made.map_err(|error| StoreError::Queue(error.to_string()))?;
        Ok(Self {
            store,
            remotes: remotes.into(),
            workers: Arc::default(),
        })
    }

    fn try_push(
        &self,
        id: &str,
        owner: &str,
        model: &ModelId,
        since: i64,
    ) -> Result<(), StoreError> {
        let Some((number, unfinished)) = self.store.job_of(id)? else {
            return Ok(());
        };
        let job = Job {
            id: id.to_owned(),
            owner: owner.to_owned(),
            category: model.category.clone(),
            subcategory: model.subcategory.clone(),
            since,
        };
        // Owners with fewer unfinished tasks come first, so that no owner waits behind all tasks of another.
        let most = i64::from(i32::MAX);
        let priority = usize::try_from((most - unfinished).max(0)).unwrap_or_default();
        let task: PgTask<Job> = TaskBuilder::new(job)
            .idempotency_key(format!("{id}:{number}"))
            .priority(priority)
            .build();
        let mut storage = self.storage(&self.lane(model));
        self.store
            .wait(storage.push_task(task))
            .map_err(|error| StoreError::Queue(error.to_string()))
    }

    fn workers(&self) -> MutexGuard<'_, Vec<JoinHandle<()>>> {
        self.workers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn run_worker(
        &self,
        lane: &str,
        size: usize,
        dispatcher: Dispatcher,
    ) -> Result<(), WorkerError> {
        // Each worker has a new name, so that it does not own the leases of an earlier one.
        let random = getrandom::u64().unwrap_or_default();
        let name = format!("{lane}-{}-{random:016x}", *PROCESS);
        WorkerBuilder::new(name)
            .backend(self.storage(lane).with_pubsub())
            .data(dispatcher)
            .concurrency(size)
            .build(run_job)
            .run()
            .await
    }

    fn reconcile(&self) -> Result<(), StoreError> {
        let older_than = i64::try_from(RECONCILE.as_millis()).unwrap_or(i64::MAX);
        for task in self.store.without_job(older_than)? {
            tracing::warn!("task {:.8}… had no job", task.id);
            self.push(&task.id, &task.uid, &task.model, task.created);
        }
        self.store.delete_expired()
    }

    fn storage(&self, lane: &str) -> PostgresStorage<Job> {
        let config = Config::default()
            .queue(lane)
            // A prefetched job would wait in this process while other processes are idle.
            .batch_size(1)
            .heartbeat_interval(HEARTBEAT)
            .missed_heartbeats(MAX_MISSED_HEARTBEATS);
        PostgresStorage::new(self.store.pool()).with_config(config)
    }

    fn lane(&self, model: &ModelId) -> String {
        match self.remotes.contains(model) {
            true => model.to_string(),
            false => DEFAULT_LANE.to_owned(),
        }
    }
}

impl SharedQueue for JobQueue {
    fn unfinished_of(&self, owner: &str) -> Result<UnfinishedCount, StoreError> {
        self.store.unfinished_of(owner)
    }

    fn load(&self) -> (Vec<Load>, Option<i64>) {
        self.store.load().unwrap_or_else(|error| {
            tracing::error!("queue: {error}");
            (Vec::new(), None)
        })
    }

    fn push(&self, id: &str, owner: &str, model: &ModelId, since: i64) {
        let pushed = self.try_push(id, owner, model, since);
        if let Err(error) = pushed {
            tracing::warn!("task {id}: its job will be added later: {error}");
        }
    }

    fn start_workers(&self, lanes: Vec<(String, usize)>, dispatcher: Dispatcher, stop: &Stop) {
        let workers = lanes
            .into_iter()
            .filter(|(_, size)| *size > 0)
            .map(|(lane, size)| {
                let (queue, dispatcher, stop) = (self.clone(), dispatcher.clone(), stop.clone());
                client_runtime::spawn(async move {
                    while !stop.is_set() {
                        if let Err(error) = queue.run_worker(&lane, size, dispatcher.clone()).await
                        {
                            tracing::error!("queue {lane}: {error}; restarting the worker");
                        }
                        tokio::time::sleep(RESTART_PAUSE).await;
                    }
                })
            });
        self.workers().extend(workers);
    }

    fn start_maintenance(&self, stop: Stop) {
        let queue = self.clone();
        std::thread::spawn(move || {
            while !stop.is_set_within(RECONCILE) {
                if let Err(error) = queue.reconcile() {
                    tracing::error!("queue: {error}");
                }
            }
        });
    }

    fn release_all_except(&self, tasks: Box<dyn Fn() -> Vec<String> + Send>, stop: Stop) {
        for worker in self.workers().iter() {
            worker.abort();
        }
        let queue = self.clone();
        std::thread::spawn(move || {
            loop {
                if let Err(error) = queue.store.release_jobs_except(&tasks()) {
                    tracing::warn!("queue: {error}");
                }
                if stop.is_set_within(HEARTBEAT) {
                    break;
                }
            }
        });
    }

    fn release_all(&self) {
        let workers = std::mem::take(&mut *self.workers());
        let ended = async {
            for worker in workers {
                worker.abort();
                // The result of an aborted task is not needed.
                let _ = worker.await;
            }
        };
        self.store.wait(ended);
        if let Err(error) = self.store.release_sent() {
            tracing::warn!(
                "queue: other processes still wait for the answers to this process's requests: {error}"
            );
        }
        if let Err(error) = self.store.release_jobs_except(&[]) {
            tracing::warn!(
                "queue: other processes take over the tasks after {DEAD_AFTER:?}: {error}"
            );
        }
    }

    fn begin_turn(&self, turn: &mut Turn, most: usize) -> Result<bool, StoreError> {
        self.store.begin_turn(turn, most)
    }

    fn end_turn(&self, turn: &Turn) {
        match self.store.end_turn(&turn.id, &turn.owner) {
            Ok(Some(next)) => self.push(&next.id, &next.uid, &next.model, next.created),
            Ok(None) => {}
            // The next reconciliation adds jobs for the tasks that wait.
            Err(error) => tracing::warn!("task {}: its turn will end later: {error}", turn.id),
        }
    }
}

/// Passes a task to the threads of this process, and waits until its turn has ended.
async fn run_job(job: Job, dispatcher: Data<Dispatcher>) -> Result<(), BoxDynError> {
    let model = ModelId::new(job.category, job.subcategory);
    let turn = Turn::first(job.id, job.owner, model, job.since);
    if dispatcher.dispatch(turn).await.is_err() {
        std::future::pending::<()>().await;
    }
    Ok(())
}

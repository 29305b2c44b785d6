//! The queue of all processes, in their PostgreSQL: apalis keeps who works on what, by heartbeats, and
//! gives what a dead process had to another. A job is a turn of a task; what it does lies in the store.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use apalis::prelude::*;
use apalis_postgres::{Config, PgTask, PostgresStorage};
use atelier_contract::ModelId;
use serde::{Deserialize, Serialize};
use tokio::task::JoinHandle;

use super::client_runtime;
use super::postgres::{DEAD_AFTER, HEARTBEAT, MISSED, PROCESS, Postgres};
use crate::metrics::Load;
use crate::model::Stop;
use crate::store::StoreError;
use crate::turns::{Turn, UnfinishedCount};
use crate::worker::{HERE, SharedQueue, Take};

/// How often it is looked for tasks that have no job, and how old these are at least: the process
/// that took them in ended before it put the job there.
const RECONCILE: Duration = Duration::from_secs(5);

/// A worker that has lost the database begins anew.
const AGAIN: Duration = Duration::from_secs(1);

/// A task's turn.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Job {
    id: String,
    owner: String,
    category: String,
    subcategory: String,
    since: i64,
}

/// Puts jobs there, and takes them.
#[derive(Clone)]
pub struct JobQueue {
    store: Postgres,
    /// The models that have a lane of their own.
    remotes: Arc<[ModelId]>,
    /// They take jobs.
    workers: Arc<Mutex<Vec<JoinHandle<()>>>>,
}

impl JobQueue {
    /// Opens the queue, and makes its tables. Processes that start at the same time wait for each other.
    ///
    /// # Errors
    ///
    /// [`StoreError::Queue`] if the queue's tables can't be made.
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
        // Owners with fewer waiting tasks come first, so that no owner waits behind all tasks of
        // another.
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

    async fn work_in(&self, lane: &str, size: usize, take: Take) -> Result<(), WorkerError> {
        // Each worker has a new name: the leases of an earlier one are not its own.
        let random = getrandom::u64().unwrap_or_default();
        let name = format!("{lane}-{}-{random:016x}", *PROCESS);
        WorkerBuilder::new(name)
            .backend(self.storage(lane).with_pubsub())
            .data(take)
            .concurrency(size)
            .build(begin)
            .run()
            .await
    }

    fn reconcile(&self) -> Result<(), StoreError> {
        let older_than = i64::try_from(RECONCILE.as_millis()).unwrap_or(i64::MAX);
        for task in self.store.without_job(older_than)? {
            tracing::warn!("task {:.8}… had no job", task.id);
            self.push(&task.id, &task.uid, &task.model, task.created);
        }
        self.store.tidy()
    }

    fn storage(&self, lane: &str) -> PostgresStorage<Job> {
        let config = Config::default()
            .queue(lane)
            // A job that is fetched and can't be begun yet would wait here while other processes
            // are free.
            .batch_size(1)
            .heartbeat_interval(HEARTBEAT)
            .missed_heartbeats(MISSED);
        PostgresStorage::new(self.store.pool()).with_config(config)
    }

    fn lane(&self, model: &ModelId) -> String {
        match self.remotes.contains(model) {
            true => model.to_string(),
            false => HERE.to_owned(),
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
            tracing::warn!("task {id}: its job comes later: {error}");
        }
    }

    fn work(&self, lanes: Vec<(String, usize)>, take: Take, stop: &Stop) {
        let workers = lanes
            .into_iter()
            .filter(|(_, size)| *size > 0)
            .map(|(lane, size)| {
                let (queue, take, stop) = (self.clone(), take.clone(), stop.clone());
                client_runtime::spawn(async move {
                    while !stop.is_set() {
                        if let Err(error) = queue.work_in(&lane, size, take.clone()).await {
                            tracing::error!("queue {lane}: {error}; beginning anew");
                        }
                        tokio::time::sleep(AGAIN).await;
                    }
                })
            });
        self.workers().extend(workers);
    }

    fn look_after(&self, stop: Stop) {
        let queue = self.clone();
        std::thread::spawn(move || {
            while !stop.is_set_within(RECONCILE) {
                if let Err(error) = queue.reconcile() {
                    tracing::error!("queue: {error}");
                }
            }
        });
    }

    fn keep_but(&self, tasks: Box<dyn Fn() -> Vec<String> + Send>, stop: Stop) {
        for worker in self.workers().iter() {
            worker.abort();
        }
        let queue = self.clone();
        std::thread::spawn(move || {
            loop {
                if let Err(error) = queue.store.give_back_but(&tasks()) {
                    tracing::warn!("queue: {error}");
                }
                if stop.is_set_within(HEARTBEAT) {
                    break;
                }
            }
        });
    }

    fn give_back(&self) {
        let workers = std::mem::take(&mut *self.workers());
        let ended = async {
            for worker in workers {
                worker.abort();
                // It was told to end, so how it ended does not matter.
                let _ = worker.await;
            }
        };
        self.store.wait(ended);
        if let Err(error) = self.store.leave_sent() {
            tracing::warn!("queue: others wait for what this process has sent: {error}");
        }
        if let Err(error) = self.store.give_back_but(&[]) {
            tracing::warn!("queue: tasks are others' after {DEAD_AFTER:?}: {error}");
        }
    }

    fn begin_turn(&self, turn: &mut Turn, most: usize) -> Result<bool, StoreError> {
        self.store.begin_turn(turn, most)
    }

    fn end_turn(&self, turn: &Turn) {
        match self.store.end_turn(&turn.id, &turn.owner) {
            Ok(Some(next)) => self.push(&next.id, &next.uid, &next.model, next.created),
            Ok(None) => {}
            // Those that wait for this are found without a job.
            Err(error) => tracing::warn!("task {}: its turn ends later: {error}", turn.id),
        }
    }
}

/// Hands a task to the threads of this process, and waits until its turn has come to an end.
async fn begin(job: Job, take: Data<Take>) -> Result<(), BoxDynError> {
    let model = ModelId::new(job.category, job.subcategory);
    let turn = Turn::first(job.id, job.owner, model, job.since);
    if take.take(turn).await.is_err() {
        std::future::pending::<()>().await;
    }
    Ok(())
}

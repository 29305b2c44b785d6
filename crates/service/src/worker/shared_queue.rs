//! The interface of a queue that several processes share.

use std::sync::Arc;

use atelier_contract::ModelId;
use tokio::sync::oneshot;

use crate::metrics::Load;
use crate::model::Stop;
use crate::store::StoreError;
use crate::turns::{Turn, UnfinishedCount};

/// The lane of all built-in models. The name is stored in the database.
pub const DEFAULT_LANE: &str = "here";

/// Passes tasks from the queue to the threads of this process.
#[derive(Clone)]
pub struct Dispatcher(Arc<dyn Fn(Turn) -> oneshot::Receiver<()> + Send + Sync>);

impl Dispatcher {
    pub fn new(accept: impl Fn(Turn) -> oneshot::Receiver<()> + Send + Sync + 'static) -> Self {
        Self(Arc::new(accept))
    }

    /// Passes on a task. The receiver is notified when the task's turn has ended, and never if the service stops
    /// first.
    pub fn dispatch(&self, turn: Turn) -> oneshot::Receiver<()> {
        (self.0)(turn)
    }
}

/// A queue that all processes share. Its calls block.
pub trait SharedQueue: Send + Sync {
    /// Returns the number of this owner's unfinished tasks, at all processes.
    ///
    /// # Errors
    ///
    /// The database does not respond.
    fn unfinished_of(&self, owner: &str) -> Result<UnfinishedCount, StoreError>;

    /// Returns the number of unfinished tasks of each model, and the creation time of the oldest waiting task, in
    /// milliseconds since 1970.
    fn load(&self) -> (Vec<Load>, Option<i64>);

    /// Adds a job for a stored task. If that fails, or this process ends first, another process finds the task
    /// without a job and adds one.
    fn push(&self, id: &str, owner: &str, model: &ModelId, since: i64);

    /// Starts to take jobs from these lanes, each with its number of concurrent jobs, until `stop` is set.
    fn start_workers(&self, lanes: Vec<(String, usize)>, dispatcher: Dispatcher, stop: &Stop);

    /// Starts the periodic maintenance of the queue, until `stop` is set.
    fn start_maintenance(&self, stop: Stop);

    /// Takes no further jobs, and repeatedly releases this process's jobs except those of `tasks`, until `stop` is set.
    /// This process keeps the jobs of `tasks`, although its queue workers have ended.
    fn release_all_except(&self, tasks: Box<dyn Fn() -> Vec<String> + Send>, stop: Stop);

    /// Releases all jobs of this process, once it runs no tasks. If that fails, other processes take the jobs when
    /// this process's heartbeat times out.
    fn release_all(&self);

    /// Returns whether the task may run now: fewer than `max_running` other tasks of its owner are running. If not, the
    /// task gets another turn when one of these has ended.
    ///
    /// # Errors
    ///
    /// The database does not respond.
    fn begin_turn(&self, turn: &mut Turn, max_running: usize) -> Result<bool, StoreError>;

    /// Ends the turn, and adds the next waiting task of the owner to the queue.
    fn end_turn(&self, turn: &Turn);
}

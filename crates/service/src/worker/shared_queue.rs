//! What a queue that several processes share does for the pool of each.

use std::sync::Arc;

use atelier_contract::ModelId;
use tokio::sync::oneshot;

use crate::metrics::Load;
use crate::model::Stop;
use crate::store::StoreError;
use crate::turns::{Turn, UnfinishedCount};

/// The lane of the models that are made here.
pub const HERE: &str = "here";

/// Hands tasks that come out of the queue to the threads of this process.
#[derive(Clone)]
pub struct Take(Arc<dyn Fn(Turn) -> oneshot::Receiver<()> + Send + Sync>);

impl Take {
    pub fn by(take: impl Fn(Turn) -> oneshot::Receiver<()> + Send + Sync + 'static) -> Self {
        Self(Arc::new(take))
    }

    /// Hands over a task. What this returns is told when the task's turn has ended, and never if the service
    /// stops before.
    pub fn take(&self, turn: Turn) -> oneshot::Receiver<()> {
        (self.0)(turn)
    }
}

/// The queue of all processes. Its calls block.
pub trait SharedQueue: Send + Sync {
    /// What this owner has left at all processes.
    ///
    /// # Errors
    ///
    /// The database does not answer.
    fn unfinished_of(&self, owner: &str) -> Result<UnfinishedCount, StoreError>;

    /// What all processes have to do: the tasks of each model, and since when the oldest waits.
    fn load(&self) -> (Vec<Load>, Option<i64>);

    /// Puts the job of a task there that is in the store. Should that fail, or this process end
    /// before it, another process finds the task without a job.
    fn push(&self, id: &str, owner: &str, model: &ModelId, since: i64);

    /// Works with so many at once in each lane, until the stop.
    fn work(&self, lanes: Vec<(String, usize)>, take: Take, stop: &Stop);

    /// Does the regular work of the queue, until the stop.
    fn look_after(&self, stop: Stop);

    /// Takes no other job, and gives those back that are not of these tasks, until the stop. The others
    /// stay with this process, although its workers are no more.
    fn keep_but(&self, tasks: Box<dyn Fn() -> Vec<String> + Send>, stop: Stop);

    /// Gives back all that this process has, which works on nothing any more. Should that fail, others
    /// have it when they take this process for dead.
    fn give_back(&self);

    /// Whether the task may be worked on here now. If not, it has another turn when one of its owner has ended.
    ///
    /// # Errors
    ///
    /// The database does not answer.
    fn begin_turn(&self, turn: &mut Turn, most: usize) -> Result<bool, StoreError>;

    /// It is not any more: the next one of its owner comes into the queue.
    fn end_turn(&self, turn: &Turn);
}

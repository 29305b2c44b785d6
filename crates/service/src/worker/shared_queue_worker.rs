//! Takes tasks from the shared queue and runs them in this process's pool.

use std::sync::Arc;

use tokio::sync::oneshot;

use super::Pool;
use super::queue::Queue;
use super::retryable_error::RetryableError;
use super::shared_queue::{DEFAULT_LANE, Dispatcher};
use crate::runner::Remote;
use crate::store::StoreError;
use crate::turns::Turn;

impl Pool {
    /// Starts taking tasks from the shared queue, if there is one and the pool has threads.
    pub(super) fn join_shared_queue(&self, size: usize, remotes: &[Arc<Remote>]) {
        let Some(shared) = &self.queue.shared else {
            return;
        };
        if size > 0 {
            let default_lane = (DEFAULT_LANE.to_owned(), size);
            let remote_lanes = remotes
                .iter()
                .map(|remote| (remote.id().to_string(), remote.at_once()));
            let lanes = std::iter::once(default_lane).chain(remote_lanes).collect();
            let queue = self.queue.clone();
            let dispatcher = Dispatcher::new(move |turn| queue.accept(turn));
            shared.start_workers(lanes, dispatcher, self.stopping());
            self.canceler.watch();
        }
        shared.start_maintenance(self.stopping().clone());
    }
}

impl Queue {
    /// Queues a task from the shared queue for the threads of this process. The receiver is notified when its
    /// turn has ended.
    fn accept(&self, turn: Turn) -> oneshot::Receiver<()> {
        let (notifier, turn_ended) = oneshot::channel();
        let lane = self.lane(&turn.model);
        let mut turns = self.lock();
        let notifiers = turns.end_notifiers.entry(turn.id.clone()).or_default();
        notifiers.push(notifier);
        // A task that this process has released and received again is already in a lane.
        if notifiers.len() == 1 {
            turns.waiting_by_owner.add(&turn.owner);
            turns.push(lane, turn);
        }
        drop(turns);
        self.changed.notify_all();
        turn_ended
    }

    /// Takes no further jobs from the shared queue, and releases those that have not started.
    pub fn release_waiting_jobs(self: &Arc<Self>) {
        if let Some(shared) = &self.shared {
            let queue = self.clone();
            let running = move || queue.lock().running_by_model.ids();
            shared.release_all_except(Box::new(running), self.stop.clone());
        }
    }

    /// Ends the turn of a canceled task that has not started, so that another task of its owner gets one.
    pub fn release_turn(&self, turn: &Turn) {
        if let (Some(shared), Some(_)) = (&self.shared, self.limits.running) {
            shared.end_turn(turn);
        }
    }

    /// Runs `work` if the owner's limit of running tasks allows it. Otherwise, the task gets another turn, in any
    /// process, when another task of its owner ends; that turn continues from the attempts so far.
    ///
    /// `is_stopping`: whether the task is canceled and its model may still run it. `work` stops it at once then, because a
    /// canceled task gets no other turn.
    ///
    /// # Errors
    ///
    /// As for `work`; also [`RetryableError::Store`] if the database can't be queried.
    pub fn run_turn(
        &self,
        turn: &mut Turn,
        is_stopping: impl FnOnce(&Turn) -> Result<bool, StoreError>,
        work: impl FnOnce(&Turn) -> Result<(), RetryableError>,
    ) -> Result<(), RetryableError> {
        let (Some(shared), Some(max_running)) = (&self.shared, self.limits.running) else {
            return work(turn);
        };
        if is_stopping(turn)? {
            let worked = work(turn);
            // This process may have the turn of an earlier attempt.
            shared.end_turn(turn);
            return worked;
        }
        if !shared.begin_turn(turn, max_running)? {
            return Ok(());
        }
        let worked = work(turn);
        shared.end_turn(turn);
        worked
    }
}

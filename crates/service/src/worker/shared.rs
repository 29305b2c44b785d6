//! The part of a pool in the queue of all processes.

use std::sync::Arc;

use tokio::sync::oneshot;

use super::Pool;
use super::obstacle::Obstacle;
use super::queue::Queue;
use super::shared_queue::{HERE, Take};
use crate::runner::Remote;
use crate::turns::Turn;

impl Pool {
    /// Takes a share of the tasks in the queue of all processes, if there is one and this process is to work.
    pub(super) fn share(&self, size: usize, remotes: &[Arc<Remote>]) {
        let Some(shared) = &self.queue.shared else {
            return;
        };
        if size > 0 {
            let here = (HERE.to_owned(), size);
            let others = remotes
                .iter()
                .map(|remote| (remote.id().to_string(), remote.at_once()));
            let lanes = std::iter::once(here).chain(others).collect();
            let queue = self.queue.clone();
            let take = Take::by(move |turn| queue.begin(turn));
            shared.work(lanes, take, self.stopping());
        }
        shared.look_after(self.stopping().clone());
    }
}

impl Queue {
    /// Hands a task of the shared queue to the threads of this process.
    fn begin(&self, turn: Turn) -> oneshot::Receiver<()> {
        let (teller, told) = oneshot::channel();
        let lane = self.lane(&turn.model);
        let mut turns = self.lock();
        let tellers = turns.tellers.entry(turn.id.clone()).or_default();
        tellers.push(teller);
        // A task that was given to others, and back, is being worked on already.
        if tellers.len() == 1 {
            turns.waiting.add(&turn.owner);
            turns.push(lane, turn);
        }
        drop(turns);
        self.changed.notify_all();
        told
    }

    /// Takes nothing else from the other processes, and gives them what has not begun.
    pub fn keep_what_runs(self: &Arc<Self>) {
        if let Some(shared) = &self.shared {
            let queue = self.clone();
            let running = move || queue.lock().begun.ids();
            shared.keep_but(Box::new(running), self.stop.clone());
        }
    }

    /// Does the work of a task's turn, if its owner may have one more now; else there is another turn
    /// when one of them has ended, at whichever process, which continues from the attempts so far.
    ///
    /// # Errors
    ///
    /// As `work` fails; also [`Obstacle::Store`] if the database can't be asked for the turn.
    pub fn in_turn(
        &self,
        turn: &mut Turn,
        work: impl FnOnce(&Turn) -> Result<(), Obstacle>,
    ) -> Result<(), Obstacle> {
        let (Some(shared), Some(most)) = (&self.shared, self.bounds.running) else {
            return work(turn);
        };
        if !shared.begin_turn(turn, most)? {
            return Ok(());
        }
        let worked = work(turn);
        shared.end_turn(turn);
        worked
    }
}

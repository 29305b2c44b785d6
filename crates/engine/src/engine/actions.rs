//! Applies the actions of the user and the page.

use super::Engine;
use super::submission_pause::SubmissionPause;
use crate::reduce::Event;
use crate::{Account, Action, BatchAction, BatchKey, Millis, Phase, Task, TaskKey};

impl Engine {
    /// Carries out an action if the task's state allows it.
    pub fn act(&mut self, key: &TaskKey, action: Action, now: Millis) {
        self.advance(now);
        let is_asked_about = self.calls.is_in_flight(key);
        let Some(tracked) = self.tasks.get_mut(key) else {
            let cancels = matches!(action, Action::Cancel | Action::CancelAtService);
            if cancels && !self.deleted.contains(key) {
                self.cancelled_early.insert(key.clone());
            }
            return;
        };
        if !action.is_allowed(&tracked.task) {
            return;
        }
        match action {
            Action::Cancel if tracked.task.resubmitted => self.withdraw(key, now),
            Action::Cancel => self.apply_event(key, Event::Cancel, now),
            Action::CancelAtService => self.request_cancel(key, now),
            Action::Resubmit => {
                Self::prepare_resubmission(&mut tracked.task, now);
                tracked.stopped = false;
                self.apply_event(key, Event::Resubmit, now);
            }
            // The service may have accepted and billed a dismissed task, so it can be restored like any removed task.
            Action::Dismiss | Action::Remove => self.mark_removed(key, now),
            Action::Restore => self.restore(key, now),
            Action::Delete => self.remove_attempts(key),
            Action::StopWatching => {
                tracked.task.watching = false;
                tracked.task.poll_error = None;
                let cancel_at = tracked.next_cancel().filter(|_| !is_asked_about);
                self.save(key);
                self.timers.polls.remove(key);
                if let Some(at) = cancel_at {
                    self.set_due(key, at);
                }
            }
            Action::Watch => {
                tracked.task.watching = true;
                tracked.failures = 0;
                self.save(key);
                self.resume(key, now);
                self.credentials.allow_poll(&self.calls);
            }
            Action::FetchEarly => {
                self.fetch_early(key, now);
                self.credentials.allow_poll(&self.calls);
            }
            Action::Refetch | Action::AskAgain if is_asked_about => {}
            Action::Refetch | Action::AskAgain => {
                tracked.refetch = true;
                self.set_due(key, now);
                self.credentials.allow_poll(&self.calls);
            }
        }
    }

    /// Marks an output as a favorite, or removes the mark.
    pub fn set_favorite(&mut self, key: &TaskKey, position: usize, is_favorite: bool, now: Millis) {
        self.advance(now);
        let tracked = self.tasks.get_mut(key);
        if tracked.is_some_and(|tracked| tracked.task.set_favorite(position, is_favorite)) {
            self.save(key);
        }
    }

    /// Switches to another service or User ID. Tasks of that account continue. Tasks of other accounts wait until their
    /// account is set again. The token in use is unknown until [`Self::set_token_version`] is called.
    pub fn set_account(&mut self, account: Account, now: Millis) {
        self.advance(now);
        if self.account == account {
            return;
        }
        if self.account.address != account.address {
            self.services.expect(&account.address, now);
        } else if self.credentials.token_version().is_some() {
            self.lift_limit(now);
        }
        self.reset_stream(now);
        self.account = account;
        self.pause = SubmissionPause::default();
        self.calls.reset_unmade();
        self.credentials.change_account(&self.calls);
        self.send_queue.clear();
        self.timers.clear_calls();
        let keys: Vec<TaskKey> = self.tasks.keys().cloned().collect();
        for key in keys {
            self.resume(&key, now);
        }
        self.restart_waits(now);
    }

    /// Restarts the waiting time of queued tasks that have waited for the user, for example for credentials.
    pub(super) fn restart_waits(&mut self, now: Millis) {
        if !self.leading {
            return;
        }
        let waits = |task: &&Task| {
            let is_queued = task.state.phase() == Phase::Queued;
            is_queued && task.account == self.account && !(task.paused || task.taken_back)
        };
        let keys: Vec<TaskKey> = self
            .tasks()
            .filter(waits)
            .map(|it| it.key.clone())
            .collect();
        for key in keys {
            if let Some(tracked) = self.tasks.get_mut(&key) {
                tracked.task.requeued = Some(now);
                self.save(&key);
            }
        }
    }

    /// Sets whether the browser is online. The engine makes no calls while it is offline.
    pub fn set_online(&mut self, online: bool, now: Millis) {
        self.advance(now);
        let is_back = online && !self.online;
        self.online = online;
        if is_back {
            self.pause.lift();
            self.wake(now);
        }
    }

    /// Sets whether this tab leads. Only the leader makes calls.
    pub fn set_leading(&mut self, leading: bool, now: Millis) {
        self.advance(now);
        if leading && !self.leading {
            let keys: Vec<TaskKey> = self.tasks.keys().cloned().collect();
            for key in keys {
                self.resume(&key, now);
            }
        }
        self.leading = leading;
    }

    /// Makes all pending polls due now, as far as the rate limit allows. Called when the page becomes visible, the
    /// network is back, or the user asks.
    pub fn wake(&mut self, now: Millis) {
        self.advance(now);
        self.calls.reset_unmade();
        self.credentials.allow_poll(&self.calls);
        let is_asking = !self.timers.polls.is_empty() || self.calls.polls().next().is_some();
        self.pause.wake(is_asking);
        self.timers.set_all_calls(now);
    }

    /// Carries out an action on a whole batch.
    pub fn act_on_batch(&mut self, batch: &BatchKey, action: BatchAction, now: Millis) {
        self.advance(now);
        match action {
            BatchAction::Pause => self.pause_batch(batch),
            BatchAction::Resume => self.resume_batch(batch),
            BatchAction::Stop => self.stop_batch(batch, now),
        }
    }

    /// Pauses a batch: none of its tasks is sent until it is resumed. The pause is stored in the records of the unsent
    /// tasks, so that it survives a reload.
    pub fn pause_batch(&mut self, batch: &BatchKey) {
        self.send_queue.pause(batch);
        self.mark_paused(batch, true);
    }

    /// Resumes a paused batch.
    pub fn resume_batch(&mut self, batch: &BatchKey) {
        // After a resume, an item that is refused for its own input fails instead of pausing the batch again.
        self.forget_forbidden();
        self.send_queue.resume(batch);
        self.mark_paused(batch, false);
    }

    /// Cancels the unsent tasks of a batch. The tab in which the user has stopped the batch puts their inputs back into
    /// the table, and then deletes their records.
    pub fn stop_batch(&mut self, batch: &BatchKey, now: Millis) {
        self.advance(now);
        for key in self.unsent(batch) {
            self.take_back(&key, now);
        }
        // Calls in flight can't be cancelled, but their tasks must not be sent a second time.
        for tracked in self.tasks.values_mut() {
            let is_submitting = tracked.task.state.phase() == Phase::Submitting;
            tracked.stopped |= is_submitting && tracked.task.is_of(batch);
        }
        self.send_queue.resume(batch);
    }

    /// Cancels a queued task that was sent before without an answer. It becomes Unconfirmed, because the service may
    /// have accepted it.
    pub(super) fn withdraw(&mut self, key: &TaskKey, now: Millis) {
        if let Some(tracked) = self.tasks.get_mut(key) {
            self.send_queue.leave(&tracked.task, tracked.order);
            tracked.task.paused = false;
            self.apply_event(key, Event::Withdraw, now);
        }
    }

    pub(super) fn take_back(&mut self, key: &TaskKey, now: Millis) {
        if let Some(tracked) = self.tasks.get_mut(key) {
            if tracked.task.resubmitted {
                return self.withdraw(key, now);
            }
            self.send_queue.leave(&tracked.task, tracked.order);
            tracked.task.taken_back = true;
            // Releases that don't know `taken_back` must not send the task.
            tracked.task.paused = true;
            self.save(key);
        }
    }

    fn mark_paused(&mut self, batch: &BatchKey, paused: bool) {
        for key in self.unsent(batch) {
            if let Some(tracked) = self.tasks.get_mut(&key)
                && tracked.task.paused != paused
            {
                tracked.task.paused = paused;
                if !paused {
                    tracked.task.requeued = Some(self.last_now);
                }
                // The last refusal no longer applies once the task may be sent again.
                tracked.task.poll_error.take_if(|_| !paused);
                self.save(&key);
            }
        }
    }

    fn unsent(&self, batch: &BatchKey) -> Vec<TaskKey> {
        self.tasks()
            .filter(|task| task.state.phase() == Phase::Queued && !task.taken_back)
            .filter(|task| task.is_of(batch))
            .map(|task| task.key.clone())
            .collect()
    }
}

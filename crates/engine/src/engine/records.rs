//! Adds tasks from storage, other tabs, imported files and the user.

use std::cmp::Ordering;
use std::collections::HashMap;

use atelier_contract::ApiError;

use super::late::{acceptance_of, compare_attempts, compare_put_back};
use super::{Engine, Pending, Tracked};
use crate::reduce::Event;
use crate::{Action, Millis, Phase, RateLimit, Task, TaskKey, UNDO_MS};

impl Engine {
    /// Loads all stored tasks, at the start or when this tab becomes the leader. Tasks whose submission was in flight
    /// in a closed tab become Unconfirmed.
    ///
    /// If this tab has a later state of a task than storage, the later state wins. The last leader may have been closed
    /// before it stored that state, or storage may be full. Returns a [`super::Command::Save`] for new and changed
    /// tasks only.
    pub fn load(&mut self, mut tasks: Vec<Task>, now: Millis) {
        self.advance(now);
        self.send_queue.clear();
        self.timers.clear();
        tasks.sort_by(|a, b| by_age(a).cmp(&by_age(b)));
        let mut ours = std::mem::take(&mut self.tasks);
        // Don't pause a batch again if this tab has received that it was resumed.
        let calls = &self.calls;
        self.send_queue.retain_paused(|batch| {
            ours.values().any(|known| {
                let task = &known.task;
                let is_held =
                    task.paused && !task.taken_back && task.state.phase() == Phase::Queued;
                task.is_of(batch) && (is_held || calls.is_sending(task))
            })
        });
        let mut others = Vec::new();
        for mut task in tasks {
            let key = task.key.clone();
            // The time may be in the future if the clock was ahead. The removed task would be deleted too late.
            task.removed = task.removed.map(|removed| removed.min(now));
            // Earlier releases stored the progress.
            task.clear_progress();
            match ours.remove(&key) {
                None => {
                    self.insert(task, false);
                    self.save(&key);
                }
                Some(known) => {
                    let is_same_attempt = known.task.submitted == task.submitted;
                    if is_same_attempt && known.task.state == task.state {
                        task.adopt_progress(&known.task);
                    }
                    let (changed, last_answer) = (known.task != task, known.last_answer);
                    let further = compare_attempts(&known.task, &task)
                        .then_with(|| compare_put_back(&known.task, &task))
                        .then_with(|| progress_rank(&known.task).cmp(&progress_rank(&task)));
                    let (mut task, other) = match further {
                        Ordering::Greater => (known.task, task),
                        _ => (task, known.task),
                    };
                    // The last leader may have been closed before it stored the request.
                    task.adopt_cancel(&other);
                    others.push((key.clone(), acceptance_of(&other)));
                    self.insert(task, known.own);
                    if let Some(tracked) = self.tasks.get_mut(&key) {
                        tracked.last_answer = last_answer;
                        // A call of another attempt may still be in flight.
                        if tracked.task.state.phase() == Phase::Submitting {
                            tracked.uncertain_error = known.uncertain_error;
                        }
                    }
                    if changed || known.unsaved {
                        self.save(&key);
                    }
                }
            }
        }
        self.merge_unstored(ours);
        for (key, remote) in others {
            self.accept_remote(&key, remote, now);
        }
        let keys: Vec<TaskKey> = self.tasks.keys().cloned().collect();
        for key in &keys {
            self.restore_wait(key, now);
            self.mark_abandoned(key, now);
            self.resume(key, now);
            self.apply_early_cancel(key, now);
        }
    }

    /// Stores these tasks again, because they are missing in storage.
    pub fn store<'a>(&mut self, keys: impl IntoIterator<Item = &'a TaskKey>) {
        keys.into_iter().for_each(|key| self.save(key));
    }

    /// Handles a Submitting task without a call in this tab, because the tab that sent it is closed. The task is resent
    /// if that is safe.
    fn mark_abandoned(&mut self, key: &TaskKey, now: Millis) {
        let is_sending = |task| self.calls.is_sending(task);
        if !self.task(key).is_some_and(is_sending) {
            let error = ApiError::Network {
                detail: ApiError::PAGE_CLOSED.into(),
            };
            self.mark_uncertain(key, error, now, now);
        }
    }

    /// Restores a rate limit that an earlier leader stored.
    ///
    /// If the limit starts in the future, the clock was set back meanwhile; then at most the whole wait applies.
    pub fn wait(&mut self, limit: &RateLimit, now: Millis) {
        self.advance(now);
        let back = limit.since.map_or(0, |since| since.saturating_sub(now));
        let until = limit.until.saturating_sub(back);
        if until > now {
            self.services.limiter(&limit.address, now).block(now, until);
        }
    }

    /// Restores the rate limit from a task's record.
    fn restore_wait(&mut self, key: &TaskKey, now: Millis) {
        let Some(task) = self.task(key) else {
            return;
        };
        if let Some(until) = task.not_before {
            let limit = RateLimit {
                address: task.account.address.clone(),
                until,
                since: task.waits_since,
            };
            self.wait(&limit, now);
        }
    }

    /// Handles tasks of this tab that are missing in storage: storage is full, the user has just submitted them, or
    /// another tab has removed them and this tab was not notified. A queued task of another tab is deleted, because it
    /// may have been cancelled there.
    fn merge_unstored(&mut self, ours: HashMap<TaskKey, Tracked>) {
        let mut ours: Vec<Tracked> = ours.into_values().collect();
        ours.sort_unstable_by_key(|tracked| tracked.order);
        for tracked in ours {
            let key = tracked.task.key.clone();
            let may_be_sent =
                tracked.task.state.phase() == Phase::Queued && !tracked.task.taken_back;
            if may_be_sent && !tracked.own {
                self.pending.push(Pending::Delete(key));
                continue;
            }
            self.insert(tracked.task, tracked.own);
            if tracked.unsaved {
                self.save(&key);
            }
        }
    }

    /// Merges a record from another tab, and ignores outdated ones. Only the leader stores the result.
    pub fn merge_remote(&mut self, task: Task, now: Millis) {
        self.advance(now);
        let key = task.key.clone();
        let Some(known) = self.tasks.get(&key) else {
            if self.is_removed_late(&task) {
                return;
            }
            self.insert(task, false);
            if self.leading {
                self.save(&key);
                self.mark_abandoned(&key, now);
                self.resume(&key, now);
                self.apply_early_cancel(&key, now);
            }
            return;
        };
        if self.leading {
            self.merge_as_leader(&key, &task, now);
            return;
        }
        // An id and a terminal state are final, so such a record is outdated, unless the user has resubmitted the task.
        // A Gone task can return after another poll.
        let was_ended = known.task.state.is_terminal() && !task.state.is_terminal();
        let is_back =
            known.task.state.phase() == Phase::Gone && task.refreshed > known.task.refreshed;
        let is_late = (known.task.state.id().is_some() && task.state.id().is_none())
            || (was_ended && !is_back);
        if !is_late || compare_attempts(&task, &known.task).is_gt() {
            let (remote, own) = (acceptance_of(&known.task), known.own);
            self.insert(task, own);
            self.accept_remote(&key, remote, now);
        }
    }

    /// Applies a Cancel that arrived before the task did.
    fn apply_early_cancel(&mut self, key: &TaskKey, now: Millis) {
        if self.cancelled_early.remove(key) {
            self.act(key, Action::Cancel, now);
        }
    }

    /// Merges a record into the leader's. The leader's record wins, except for facts that the leader may not have: that
    /// the current attempt was not accepted after all, or an id, possibly of an earlier attempt.
    fn merge_as_leader(&mut self, key: &TaskKey, remote: &Task, now: Millis) {
        let is_put_back = self.task(key).is_some_and(|known| {
            known.submitted == remote.submitted
                && known.state.phase() == Phase::Unconfirmed
                && remote.state.phase() == Phase::Queued
                // A resubmission that was cancelled before it was sent stays Unconfirmed.
                && known.submitted.is_some()
        });
        match is_put_back {
            true => self.apply_event(key, Event::PutBack, now),
            false => self.accept_remote(key, acceptance_of(remote), now),
        }
    }

    /// Merges a record that another tab has stored, like [`Engine::merge_remote`], and returns it as a
    /// [`super::Command::Save`], so that it is shown. The leader stores its own record again, because the other tab may
    /// have overwritten it.
    pub fn insert_remote(&mut self, task: Task, now: Millis) {
        let key = task.key.clone();
        let is_new = !self.tasks.contains_key(&key);
        self.merge_remote(task, now);
        if is_new || self.leading {
            self.save(&key);
        }
    }

    /// Like [`Engine::insert_remote`], for a record of another tab that is missing in storage. Ignores it if this tab
    /// has removed the task.
    pub fn insert_unstored(&mut self, task: Task, now: Millis) {
        if !self.deleted.contains(&task.key) {
            self.insert_remote(task, now);
        }
    }

    /// Removes a task that another tab has removed.
    pub fn drop_remote(&mut self, key: &TaskKey) {
        self.timers.remove(key);
        if let Some(tracked) = self.tasks.remove(key) {
            self.send_queue.leave(&tracked.task, tracked.order);
        }
    }

    /// Adds new tasks, to be sent in this order. A follower only stores them; the leader sends them.
    pub fn submit(&mut self, tasks: Vec<Task>, now: Millis) {
        self.advance(now);
        for task in tasks {
            let key = task.key.clone();
            if self.tasks.contains_key(&key) {
                continue; // The task was submitted before. A second submission would be billed.
            }
            self.insert(task, true);
            self.save(&key);
            self.resume(&key, now);
        }
    }

    /// Imports tasks from another browser's history. None of them is sent. For known tasks the file changes only two
    /// things: it adds an account to a task without one, and it fills in the outcome of a
    /// [`crate::TaskState::Unconfirmed`] task.
    pub fn import(&mut self, tasks: Vec<Task>, now: Millis) {
        self.advance(now);
        for mut task in tasks {
            let key = task.key.clone();
            // The user of this browser has not requested it.
            task.cancel = None;
            // A late task with this id exists already.
            let is_late = (task.state.id()).is_some_and(|id| self.new_late_key(&key, id).is_none());
            if is_late || matches!(task.state.phase(), Phase::Queued | Phase::Submitting) {
                continue;
            }
            match self.tasks.get_mut(&key) {
                None => self.insert(task, false),
                Some(known) if known.task.gains_outcome_from(&task) => {
                    let removed = known.task.removed;
                    // If the file has no account, keep this browser's.
                    let ours = task.account.uid.is_empty().then_some(&known.task);
                    let account = ours.unwrap_or(&task).account.clone();
                    let watching = ours.unwrap_or(&task).watching;
                    let settled = Task {
                        removed,
                        account,
                        watching,
                        ..task
                    };
                    self.insert(settled, false);
                }
                Some(known) if known.task.gains_account_from(&task) => {
                    known.task.account = task.account;
                    known.task.watching = task.watching;
                }
                Some(_) => continue,
            }
            self.save(&key);
            self.resume(&key, now);
        }
    }

    pub(super) fn remove(&mut self, key: &TaskKey) {
        if key.is_late() {
            let id = self.task(key).and_then(|task| task.state.id().cloned());
            self.removed_late.extend(id);
        }
        self.drop_remote(key);
        self.deleted.insert(key.clone());
        self.forget_secrets(key);
        self.pending.push(Pending::Delete(key.clone()));
    }

    /// Inserts a record and resets the other data that is tracked for the task.
    pub(super) fn insert(&mut self, task: Task, own: bool) {
        self.drop_remote(&task.key);
        let key = task.key.clone();
        let order = self.next_order;
        self.next_order += 1;
        if let Some(removed) = task.removed {
            self.timers
                .removals
                .set(&task.key, removed.saturating_add(UNDO_MS));
        }
        let is_paused = task.paused && !task.taken_back;
        if let Some(place) = task.batch.as_ref().filter(|_| is_paused) {
            self.send_queue.pause(&place.batch);
        }
        self.tasks
            .insert(key.clone(), Tracked::new(task, order, own));
        self.forget_secrets(&key);
    }

    /// Schedules the next step for a task according to its state, if this tab leads.
    pub(super) fn resume(&mut self, key: &TaskKey, now: Millis) {
        let Some(tracked) = self.tasks.get(key) else {
            return;
        };
        if tracked.task.account != self.account {
            return;
        }
        match tracked.task.state.phase() {
            Phase::Queued => self.enqueue(key),
            Phase::Submitting
                if tracked.uncertain_error.is_some()
                    && !self.timers.resends.contains(key)
                    && !self.calls.is_sending(&tracked.task) =>
            {
                self.resend_at(key, now);
            }
            Phase::Running | Phase::Fetching
                if (tracked.task.watching || tracked.next_cancel().is_some())
                    && !self.calls.is_in_flight(key) =>
            {
                self.set_due(key, now);
            }
            Phase::Ready | Phase::Failed if tracked.refetch && !self.calls.is_in_flight(key) => {
                self.set_due(key, now);
            }
            Phase::Gone if !self.calls.is_in_flight(key) => self.schedule_gone_poll(key, now),
            _ => {}
        }
    }

    /// Adds a Queued task of the current account to the send queue.
    pub(super) fn enqueue(&mut self, key: &TaskKey) {
        if self.task(key).is_some_and(|task| self.lacks_secrets(task)) {
            self.lacking_secrets.push(key.clone());
        }
        let Some(tracked) = self.tasks.get_mut(key) else {
            return;
        };
        if tracked.task.taken_back || tracked.task.removed.is_some() {
            return;
        }
        // The task may return to a batch that was paused while its call was in flight.
        let batch = tracked.task.batch.as_ref().map(|place| &place.batch);
        let is_paused = batch.is_some_and(|batch| self.send_queue.is_paused(batch));
        let changes = std::mem::replace(&mut tracked.task.paused, is_paused) != is_paused;
        if tracked.task.account == self.account {
            self.send_queue.enter(&tracked.task, tracked.order);
        }
        if changes {
            self.save(key);
        }
    }
}

fn by_age(task: &Task) -> (Millis, usize, &TaskKey) {
    let index = task.batch.as_ref().map_or(0, |place| place.index);
    (task.created, index, &task.key)
}

/// Ranks how far a record has progressed; the higher rank wins. If a task returned to Queued, the record of another
/// attempt makes it Unconfirmed, so that the user decides and nothing is billed twice. A cancelled task is never sent
/// afterwards.
fn progress_rank(task: &Task) -> u8 {
    match task.state.phase() {
        Phase::Queued if task.taken_back => 3,
        Phase::Queued => 0,
        Phase::Submitting => 1,
        Phase::Unconfirmed => 2,
        Phase::Running => 4,
        Phase::Fetching => 5,
        // The service may turn out to know it after all.
        Phase::Gone => 6,
        Phase::Ready | Phase::Failed | Phase::Canceled => 7,
    }
}

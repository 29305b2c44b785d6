//! Where tasks come from and go to: storage, other tabs, and the person at this one.

use std::collections::HashMap;

use atelier_contract::{ApiError, StatusWord};

use super::{Engine, Pending, Tracked};
use crate::reduce::Event;
use crate::{Action, Millis, Phase, Task, TaskKey, TaskState, UNDO, sort};

impl Engine {
    /// Takes over all stored tasks, at the start or when this tab begins to lead. Whoever was
    /// between a request and its answer is gone: those tasks are Unconfirmed.
    ///
    /// Where this tab knows more of a task than storage does (the last leader told of it and was
    /// closed before it was written, or nothing can be written at all), that counts. Gives a
    /// [`super::Command::Save`] for what is new or has changed, not for everything.
    pub fn load(&mut self, tasks: Vec<Task>, now: Millis) {
        self.advance(now);
        self.send_queue.clear();
        self.timers.clear();
        let oldest_first = sort::order(tasks.len(), &|a, b| {
            by_age(&tasks[a]).cmp(&by_age(&tasks[b]))
        });
        let tasks = sort::arranged(tasks, &oldest_first);
        let mut ours = std::mem::take(&mut self.tasks);
        // What was paused once, and is so no longer as far as this tab has heard, is not paused again.
        let calls = &self.calls;
        self.send_queue.paused.retain(|batch| {
            ours.iter().any(|(key, known)| {
                let task = &known.task;
                let is_held =
                    task.paused && !task.taken_back && task.state.phase() == Phase::Queued;
                task.batch
                    .as_ref()
                    .is_some_and(|place| place.batch == *batch)
                    && (is_held || calls.is_sending(key))
            })
        });
        for mut task in tasks {
            let key = task.key.clone();
            // By a clock that was ahead: it would stay for as long.
            task.removed = task.removed.map(|removed| removed.min(now));
            match ours.remove(&key) {
                None => {
                    self.insert(task, false);
                    self.save(&key);
                }
                Some(known) => {
                    let changed = known.task != task;
                    let task = if knowledge(&known.task) > knowledge(&task) {
                        known.task
                    } else {
                        task
                    };
                    self.insert(task, known.own);
                    // A call may still be under way that is not the first.
                    if let Some(tracked) = self.tasks.get_mut(&key)
                        && tracked.task.state.phase() == Phase::Submitting
                    {
                        tracked.uncertain_error = known.uncertain_error;
                    }
                    if changed || known.unsaved {
                        self.save(&key);
                    }
                }
            }
        }
        self.keep_unstored(ours);
        let keys: Vec<TaskKey> = self.tasks.keys().cloned().collect();
        for key in &keys {
            self.keep_waiting(key, now);
            self.give_up_answer(key, now);
            self.resume(key, now);
            self.cancel_early(key, now);
        }
    }

    /// A task that is Submitting without a call of this tab: whoever sent it is gone. Where that is
    /// safe, it is sent again.
    fn give_up_answer(&mut self, key: &TaskKey, now: Millis) {
        if !self.calls.is_sending(key) {
            let error = ApiError::Network {
                detail: ApiError::PAGE_CLOSED.into(),
            };
            self.mark_uncertain(key, error, now, now);
        }
    }

    /// The service at this address has asked for no calls before this time, as a page knew since then
    /// that led before this one.
    ///
    /// Where that is yet to come by this clock, it was set back meanwhile: at most the whole wait is left.
    pub fn wait(&mut self, address: &str, until: Millis, since: Option<Millis>, now: Millis) {
        self.advance(now);
        let back = since.map_or(0, |since| since.saturating_sub(now));
        let until = until.saturating_sub(back);
        if until > now {
            self.services.limiter(address, now).block(now, until);
        }
    }

    /// The service's wish for a pause outlives the page to which it was told.
    fn keep_waiting(&mut self, key: &TaskKey, now: Millis) {
        let Some(task) = self.task(key) else {
            return;
        };
        if let Some(until) = task.not_before {
            let (address, since) = (task.account.address.clone(), task.waits_since);
            self.wait(&address, until, since, now);
        }
    }

    /// Tasks that this tab knows and storage does not: nothing can be stored, or the person
    /// submitted them just now, or another tab has removed them and this one missed it. A task
    /// that might have been taken back must not be sent.
    fn keep_unstored(&mut self, ours: HashMap<TaskKey, Tracked>) {
        let ours: Vec<Tracked> = ours.into_values().collect();
        let order = sort::positions(ours.iter().map(|tracked| tracked.order));
        for tracked in sort::arranged(ours, &order) {
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

    /// A record as another tab has it, to be known and, by a follower, not to be written: whoever
    /// leads writes. What cannot be true any more is ignored.
    pub fn merge_remote(&mut self, task: Task, now: Millis) {
        self.advance(now);
        let key = task.key.clone();
        let Some(known) = self.tasks.get(&key) else {
            self.insert(task, false);
            if self.leading {
                self.save(&key);
                self.give_up_answer(&key, now);
                self.resume(&key, now);
                self.cancel_early(&key, now);
            }
            return;
        };
        if self.leading {
            self.merge_id(&key, &task, now);
            return;
        }
        // An id, once known, is never lost, and a last word stays: such a record is late.
        let is_late = (known.task.state.id().is_some() && task.state.id().is_none())
            || (known.task.state.is_terminal() && !task.state.is_terminal());
        if !is_late {
            let own = known.own;
            self.insert(task, own);
        }
    }

    /// A person has cancelled it already, in a tab that knew of it before this one.
    fn cancel_early(&mut self, key: &TaskKey, now: Millis) {
        if self.cancelled_early.remove(key) {
            self.act(key, Action::Cancel, now);
        }
    }

    /// The leader's own word counts, but for an id that it has been waiting for: the tab that led
    /// before got the answer after all.
    fn merge_id(&mut self, key: &TaskKey, told: &Task, now: Millis) {
        let Some(known) = self.tasks.get(key) else {
            return;
        };
        let is_wanted = matches!(
            known.task.state.phase(),
            Phase::Unconfirmed | Phase::Submitting
        ) && known.task.submitted == told.submitted;
        if is_wanted
            && known.task.state.phase() == Phase::Unconfirmed
            && told.state.phase() == Phase::Queued
            // One that was withdrawn before it was sent stays so, whatever was told before that.
            && known.task.submitted.is_some()
        {
            // It knows that this very attempt never left, or was not taken.
            self.apply_event(key, Event::PutBack, now);
            return;
        }
        if let (true, Some(id)) = (is_wanted, told.state.id()) {
            let word = match &told.state {
                TaskState::Running { word, .. } => word.clone(),
                _ => StatusWord::Processing,
            };
            let accepted = Event::Accepted {
                id: id.clone(),
                word,
                error: None,
            };
            self.apply_event(key, accepted, now);
            self.resume(key, now);
        }
    }

    /// A record that another tab has written: as [`Engine::merge_remote`], and given as
    /// [`super::Command::Save`], so that it is shown. Whoever leads writes its own once more: the other tab may have
    /// written over it.
    pub fn insert_remote(&mut self, task: Task, now: Millis) {
        let key = task.key.clone();
        let is_new = !self.tasks.contains_key(&key);
        self.merge_remote(task, now);
        if is_new || self.leading {
            self.save(&key);
        }
    }

    /// Another tab has removed a task.
    pub fn drop_remote(&mut self, key: &TaskKey) {
        self.timers.remove(key);
        if let Some(tracked) = self.tasks.remove(key) {
            self.send_queue.leave(&tracked.task, tracked.order);
        }
    }

    /// New tasks, to be sent in this order. A follower only has them written: the leader sends.
    pub fn submit(&mut self, tasks: Vec<Task>, now: Millis) {
        self.advance(now);
        for task in tasks {
            let key = task.key.clone();
            if self.tasks.contains_key(&key) {
                continue; // Submitted already: a second time would be paid twice.
            }
            self.insert(task, true);
            self.save(&key);
            self.resume(&key, now);
        }
    }

    /// Tasks from another browser's history. None of them is sent; what this one knows stays as it is, but
    /// that a task can now be followed which could not when it came, and what has become of one that was
    /// [`TaskState::Unconfirmed`].
    pub fn take_in(&mut self, tasks: Vec<Task>, now: Millis) {
        self.advance(now);
        for task in tasks {
            let key = task.key.clone();
            if matches!(task.state.phase(), Phase::Queued | Phase::Submitting) {
                continue;
            }
            match self.tasks.get_mut(&key) {
                None => self.insert(task, false),
                Some(known) if known.task.is_settled_by(&task) => {
                    let removed = known.task.removed;
                    // As whom to ask is known here, where the file leaves it open.
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
                Some(known) if known.task.is_orphan() && !task.account.uid.is_empty() => {
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
        self.drop_remote(key);
        self.deleted.insert(key.clone());
        self.pending.push(Pending::Delete(key.clone()));
    }

    /// Puts a record in; what was known beside it is forgotten.
    fn insert(&mut self, task: Task, own: bool) {
        self.drop_remote(&task.key);
        let order = self.next_order;
        self.next_order += 1;
        if let Some(removed) = task.removed {
            self.timers
                .removals
                .set(&task.key, removed.saturating_add(UNDO));
        }
        let is_paused = task.paused && !task.taken_back;
        if let Some(place) = task.batch.as_ref().filter(|_| is_paused) {
            self.send_queue.paused.insert(place.batch.clone());
        }
        self.tasks.insert(
            task.key.clone(),
            Tracked {
                task,
                order,
                failures: 0,
                unknown_since: None,
                empty_answers: 0,
                refetch: false,
                stopped: false,
                uncertain_error: None,
                send_singly: false,
                own,
                unsaved: false,
            },
        );
    }

    /// Gives a task the turn that its state asks for, if this tab leads.
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
                    && !self.calls.is_sending(key) =>
            {
                self.send_again_at(key, now);
            }
            Phase::Running | Phase::Fetching
                if tracked.task.watching && !self.calls.is_about(key) =>
            {
                self.set_due(key, now);
            }
            Phase::Ready if tracked.refetch && !self.calls.is_about(key) => {
                self.set_due(key, now);
            }
            _ => {}
        }
    }

    /// Puts a Queued task of the present account in its line.
    pub(super) fn enqueue(&mut self, key: &TaskKey) {
        let Some(tracked) = self.tasks.get_mut(key) else {
            return;
        };
        if tracked.task.taken_back || tracked.task.removed.is_some() {
            return;
        }
        // It may come back to a batch that was paused while its call was under way.
        let batch = tracked.task.batch.as_ref().map(|place| &place.batch);
        let is_paused = batch.is_some_and(|batch| self.send_queue.paused.contains(batch));
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

/// How far a record has come: of two records of one task the further one knows more. Where a task
/// went back to Queued, the other record makes it Unconfirmed: a person decides, and nothing is
/// paid twice. What was taken back is never sent afterwards.
fn knowledge(task: &Task) -> u8 {
    match task.state.phase() {
        Phase::Queued if task.taken_back => 3,
        Phase::Queued => 0,
        Phase::Submitting => 1,
        Phase::Unconfirmed => 2,
        Phase::Running => 4,
        Phase::Fetching => 5,
        Phase::Ready | Phase::Failed | Phase::Gone => 6,
    }
}

//! Handles task ids that arrive late. If the user has resubmitted the task by then, the earlier submission was accepted
//! and billed, too, and becomes a separate task.

use std::cmp::Ordering;

use atelier_contract::{Accepted, StatusWord, TaskId};

use super::Engine;
use crate::reduce::Event;
use crate::{Millis, Phase, Task, TaskKey, TaskState};

impl Engine {
    /// Handles the acceptance of a submission that was sent at `sent`, in this tab or another. Returns whether it is
    /// the task's current attempt.
    pub(super) fn accept(
        &mut self,
        key: &TaskKey,
        Accepted { id, status, error }: Accepted,
        sent: Option<Millis>,
        now: Millis,
    ) -> bool {
        let is_outdated = self.was_sent_since(key, sent);
        let Some(tracked) = self.tasks.get_mut(key) else {
            return false;
        };
        let task = &mut tracked.task;
        if task.state.id() == Some(&id) {
            return true;
        }
        let phase = task.state.phase();
        let is_current = match phase {
            // The first submission was accepted, so the task is not sent again.
            Phase::Queued => true,
            Phase::Submitting | Phase::Unconfirmed => !is_outdated,
            _ => false,
        };
        let event = |id| {
            let word = status;
            Event::Accepted { id, word, error }
        };
        if is_current {
            self.send_queue.leave(task, tracked.order);
            (task.paused, task.taken_back) = (false, false);
            if phase == Phase::Queued {
                task.submitted = sent.or(task.submitted);
            }
            self.apply_event(key, event(id), now);
        } else if let Some(late) = self.new_late_key(key, &id)
            && !self.removed_late.contains(&id)
        {
            self.insert_late(key, &late, sent);
            self.apply_event(&late, event(id), now);
            self.resume(&late, now);
        }
        is_current
    }

    /// Returns the key for another task next to this one. `None` if one of those tasks already has this id.
    pub(super) fn new_late_key(&self, key: &TaskKey, id: &TaskId) -> Option<TaskKey> {
        let mut late = key.late();
        while let Some(other) = self.task(&late) {
            if other.state.id() == Some(id) {
                return None;
            }
            late = late.late();
        }
        Some(late)
    }

    /// Adds a task for an earlier submission that was accepted after a resubmission.
    fn insert_late(&mut self, key: &TaskKey, late: &TaskKey, sent: Option<Millis>) {
        let Some(of) = self.task(key) else {
            return;
        };
        let (account, name) = (of.account.clone(), of.model_name.clone());
        let mut task = Task::new(late.clone(), account, name, of.input.clone(), of.created);
        task.state = TaskState::Submitting;
        task.submitted = sent;
        task.seed_chosen = of.seed_chosen;
        task.sources = of.sources.clone();
        task.uploads = of.uploads.clone();
        task.secrets = of.secrets.clone();
        self.insert(task, true);
        // Another tab may have stored this id in the record of the original task.
        self.save(key);
    }

    /// Whether the current attempt was sent at another time than `sent`. With an idempotency key, all attempts are the
    /// same to the service.
    pub(super) fn was_sent_since(&self, key: &TaskKey, sent: Option<Millis>) -> bool {
        self.task(key).is_some_and(|task| {
            // Compare for equality, because the clock may have been set back.
            task.idempotency_key.is_none() && task.submitted.is_some() && task.submitted != sent
        })
    }

    /// Adopts the id in another tab's record of a task if this tab's record has another id or none.
    pub(super) fn accept_remote(
        &mut self,
        key: &TaskKey,
        remote: Option<RemoteAcceptance>,
        now: Millis,
    ) {
        let Some((accepted, sent)) = remote else {
            return;
        };
        if self.task(key).and_then(|task| task.state.id()) != Some(&accepted.id) {
            self.accept(key, accepted, sent, now);
            self.resume(key, now);
        }
    }

    /// Whether this is the record of a late task that the user has removed.
    pub(super) fn is_removed_late(&self, task: &Task) -> bool {
        let id = task.state.id();
        task.key.is_late() && id.is_some_and(|id| self.removed_late.contains(id))
    }
}

/// An acceptance by the service, and when the accepted submission was sent.
pub(super) type RemoteAcceptance = (Accepted, Option<Millis>);

/// Returns the acceptance that a record contains.
pub(super) fn acceptance_of(task: &Task) -> Option<RemoteAcceptance> {
    let id = task.state.id()?.clone();
    let status = match &task.state {
        TaskState::Running { word, .. } => word.clone(),
        _ => StatusWord::Processing,
    };
    let error = None;
    Some((Accepted { id, status, error }, task.submitted))
}

/// Compares two records of a task by the time of their attempt, if both have one without a key.
pub(super) fn compare_attempts(a: &Task, b: &Task) -> Ordering {
    match (a.submitted, b.submitted) {
        (Some(first), Some(second))
            if a.idempotency_key.is_none() && b.idempotency_key.is_none() =>
        {
            first.cmp(&second)
        }
        _ => Ordering::Equal,
    }
}

/// Compares two records of the same attempt, one of which is Queued again. The queued record is later, because the
/// attempt was certainly not accepted. The leader may have stored Submitting and then failed to store Queued.
pub(super) fn compare_put_back(a: &Task, b: &Task) -> Ordering {
    let is_put_back = |later: &Task, earlier: &Task| {
        later.submitted.is_some()
            && later.submitted == earlier.submitted
            && later.state.phase() == Phase::Queued
            && matches!(
                earlier.state.phase(),
                Phase::Submitting | Phase::Unconfirmed
            )
    };
    is_put_back(a, b).cmp(&is_put_back(b, a))
}

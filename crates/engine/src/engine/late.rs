//! Ids that come after all. A person may have sent a task once more by then: what the service had taken before is paid
//! for, too, and becomes a task of its own.

use std::cmp::Ordering;

use atelier_contract::{Accepted, StatusWord, TaskId};

use super::Engine;
use crate::reduce::Event;
use crate::{Millis, Phase, Task, TaskKey, TaskState};

impl Engine {
    /// The service has taken what was sent of a task at this time, in this tab or another. Whether that is its present
    /// attempt.
    pub(super) fn accept(
        &mut self,
        key: &TaskKey,
        Accepted { id, status, error }: Accepted,
        sent: Option<Millis>,
        now: Millis,
    ) -> bool {
        let is_other = self.was_sent_since(key, sent);
        let Some(tracked) = self.tasks.get_mut(key) else {
            return false;
        };
        let task = &mut tracked.task;
        if task.state.id() == Some(&id) {
            return true;
        }
        let phase = task.state.phase();
        let is_one = match phase {
            // Nothing is sent a second time if the first one has arrived.
            Phase::Queued => true,
            Phase::Submitting | Phase::Unconfirmed => !is_other,
            _ => false,
        };
        let event = |id| {
            let word = status;
            Event::Accepted { id, word, error }
        };
        if is_one {
            self.send_queue.leave(task, tracked.order);
            (task.paused, task.taken_back) = (false, false);
            if phase == Phase::Queued {
                task.submitted = sent.or(task.submitted);
            }
            self.apply_event(key, event(id), now);
        } else if let Some(late) = self.late_beside(key, &id)
            && !self.removed_late.contains(&id)
        {
            self.begin_late(key, &late, sent);
            self.apply_event(&late, event(id), now);
            self.resume(&late, now);
        }
        is_one
    }

    /// The key of one more task in addition to this one; `None` if one of those has this id.
    pub(super) fn late_beside(&self, key: &TaskKey, id: &TaskId) -> Option<TaskKey> {
        let mut late = key.late();
        while let Some(other) = self.task(&late) {
            if other.state.id() == Some(id) {
                return None;
            }
            late = late.late();
        }
        Some(late)
    }

    /// The task that another submission of this one is, in addition to it.
    fn begin_late(&mut self, key: &TaskKey, late: &TaskKey, sent: Option<Millis>) {
        let Some(of) = self.task(key) else {
            return;
        };
        let (account, name) = (of.account.clone(), of.model_name.clone());
        let mut task = Task::new(late.clone(), account, name, of.input.clone(), of.created);
        task.state = TaskState::Submitting;
        task.submitted = sent;
        task.seed_chosen = of.seed_chosen;
        task.sources = of.sources.clone();
        task.secrets = of.secrets.clone();
        self.insert(task, true);
        // Another tab may have taken the id for the other one's own.
        self.save(key);
    }

    /// An attempt at another time is the present one. To a service that minds keys all attempts are one.
    pub(super) fn was_sent_since(&self, key: &TaskKey, sent: Option<Millis>) -> bool {
        self.task(key).is_some_and(|task| {
            // Not by which is later: the clock may have been set back.
            task.idempotency_key.is_none() && task.submitted.is_some() && task.submitted != sent
        })
    }

    /// Another record of a task may have an id that this one's has not: it is followed, too.
    pub(super) fn accept_told(&mut self, key: &TaskKey, told: Option<Told>, now: Millis) {
        let Some((accepted, sent)) = told else {
            return;
        };
        if self.task(key).and_then(|task| task.state.id()) != Some(&accepted.id) {
            self.accept(key, accepted, sent, now);
            self.resume(key, now);
        }
    }

    /// It is told of what a person has removed in addition to another one.
    pub(super) fn is_removed_late(&self, task: &Task) -> bool {
        let id = task.state.id();
        task.key.is_late() && id.is_some_and(|id| self.removed_late.contains(id))
    }
}

/// That the service has taken a task, and when what it has taken was sent.
pub(super) type Told = (Accepted, Option<Millis>);

/// What a record says of that.
pub(super) fn told_by(task: &Task) -> Option<Told> {
    let id = task.state.id()?.clone();
    let status = match &task.state {
        TaskState::Running { word, .. } => word.clone(),
        _ => StatusWord::Processing,
    };
    let error = None;
    Some((Accepted { id, status, error }, task.submitted))
}

/// Which of two records of a task has the later attempt, as far as they say.
pub(super) fn by_attempt(a: &Task, b: &Task) -> Ordering {
    match (a.submitted, b.submitted) {
        (Some(first), Some(second))
            if a.idempotency_key.is_none() && b.idempotency_key.is_none() =>
        {
            first.cmp(&second)
        }
        _ => Ordering::Equal,
    }
}

/// Compares two records of one attempt, of which one is Queued again: it is the later one, and the attempt was certainly
/// not taken. Its leader may have failed to store it after it had stored that the task is being sent.
pub(super) fn by_put_back(a: &Task, b: &Task) -> Ordering {
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

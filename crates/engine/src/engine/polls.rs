//! Which tasks are asked about next: one poller for all, ten to a call.

use atelier_contract::{MAX_BATCH_ITEMS, TaskRequest};

use super::{CallKind, Engine};
use crate::{Millis, Phase, TaskKey, schedule};

/// Polls whose answers are awaited at one time. Browsers keep six connections to a host.
const MOST_IN_FLIGHT: usize = 4;

impl Engine {
    pub(super) fn may_poll(&self) -> bool {
        let polling = self
            .in_flight
            .values()
            .filter(|call| call.kind != CallKind::Generate);
        polling.count() < MOST_IN_FLIGHT
    }

    /// Makes one status or response call, if a task is due and a call may leave now.
    pub(super) fn poll_one(&mut self, now: Millis, _random: &mut dyn FnMut() -> f64) -> bool {
        let is_due = self.due.first().is_some_and(|(due, _)| *due <= now);
        if !is_due || !self.may_poll() {
            return false;
        }
        let (kind, keys) = self.gather(now);
        if keys.is_empty() {
            return true; // Only tasks that need no asking any more; they are off the list now.
        }
        if !self.limiter.take(now) {
            return false;
        }
        let mut bodies = Vec::new();
        for key in &keys {
            self.undue(key);
            let task = &self.tasks[key].task;
            if let Some(id) = task.state.id() {
                let request = TaskRequest {
                    id,
                    uid: &task.account.uid,
                    model: &task.model,
                };
                bodies.push(request.to_body());
            }
        }
        let batched = keys.len() > 1;
        self.call(kind, batched, bodies, keys, Vec::new());
        true
    }

    /// The tasks of the next call: the one that is due first, and others to be asked the same,
    /// those due within half an interval among them.
    fn gather(&mut self, now: Millis) -> (CallKind, Vec<TaskKey>) {
        let most = if self.without_batch.contains(&self.account.address) {
            1
        } else {
            MAX_BATCH_ITEMS
        };
        let mut kind = None;
        let mut keys = Vec::new();
        let mut needless = Vec::new();
        for (due, key) in &self.due {
            if keys.len() == most {
                break;
            }
            let Some(tracked) = self.tasks.get(key) else {
                continue;
            };
            let half = schedule::interval(age(&tracked.task, now)) / 2;
            if *due > now + half {
                break;
            }
            let wants = match tracked.task.state.phase() {
                _ if tracked.task.account != self.account => None,
                Phase::Running if tracked.task.watching => Some(CallKind::Status),
                Phase::Fetching if tracked.task.watching => Some(CallKind::Response),
                Phase::Ready if tracked.refetch => Some(CallKind::Response),
                _ => None,
            };
            match wants {
                None => needless.push(key.clone()),
                Some(wanted) if *kind.get_or_insert(wanted) == wanted => keys.push(key.clone()),
                Some(_) => {}
            }
        }
        for key in needless {
            self.undue(&key);
        }
        (kind.unwrap_or(CallKind::Status), keys)
    }
}

/// How long ago the service took the task.
pub(super) fn age(task: &crate::Task, now: Millis) -> Millis {
    now.saturating_sub(task.accepted.or(task.submitted).unwrap_or(task.created))
}

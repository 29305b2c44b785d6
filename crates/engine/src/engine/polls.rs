//! Chooses the tasks to poll or to cancel next. There is one poller for all tasks, with up to ten tasks per call.

use atelier_contract::{MAX_BATCH_ITEMS, TaskRequest};

use super::early_fetch::EarlyFetch;
use super::{CallKind, Engine, Tracked};
use crate::{Millis, Phase, Task, TaskKey, schedule};

/// The maximum number of polls in flight, and the stream of events. Browsers open six connections to a host.
const MAX_IN_FLIGHT: usize = 4;

/// The longest interval between two polls of a task that reports an error, in milliseconds.
pub(super) const MAX_INTERVAL: Millis = 600_000;

impl Engine {
    pub(super) fn may_poll(&self) -> bool {
        let in_flight = self.calls.polls().count() + usize::from(self.stream.is_open());
        self.credentials.may_poll_once(&self.calls) && in_flight < MAX_IN_FLIGHT
    }

    /// Makes one status, response or cancel call, if a task is due and the rate limit allows it.
    pub(super) fn poll_one(&mut self, now: Millis) -> bool {
        if self.timers.polls.first_due(now).is_none() || !self.may_poll() {
            return false;
        }
        let (kind, keys) = self.collect_due(now);
        if keys.is_empty() {
            return true; // Only tasks that need no more polls; they are removed from the timers now.
        }
        let address = self.account.address.clone();
        if !self.services.limiter(&address, now).take(now) {
            return false;
        }
        let mut bodies = Vec::new();
        let mut asked = Vec::new();
        for key in keys {
            self.timers.polls.remove(&key);
            let Some(tracked) = self.tasks.get_mut(&key) else {
                continue;
            };
            tracked.must_poll = false;
            let task = &tracked.task;
            if let Some(id) = task.state.id() {
                let request = TaskRequest {
                    id,
                    uid: &task.account.uid,
                    model: &task.model,
                };
                bodies.push((request.to_body(), None));
                asked.push(key);
            }
        }
        self.call(kind, bodies, asked);
        self.credentials.note_poll();
        true
    }

    /// Collects the tasks of the next call: the task that is due first, and other tasks that need the same kind of call
    /// and are due within half an interval.
    fn collect_due(&mut self, now: Millis) -> (CallKind, Vec<TaskKey>) {
        let most_of = |kind| (self.services).most_items(&self.account.address, kind, now);
        let mut most = MAX_BATCH_ITEMS;
        let mut kind = None;
        let mut keys = Vec::new();
        let mut unneeded = Vec::new();
        for (due, key) in self.timers.polls.iter() {
            let Some(tracked) = self.tasks.get(key) else {
                continue;
            };
            let usual = schedule::interval(age(&tracked.task, now));
            let half = match kind {
                Some(CallKind::Status) if tracked.failures == 0 => self.stream.interval(usual),
                _ => usual,
            } / 2;
            if keys.len() >= most || due > now.saturating_add(half) {
                break;
            }
            match self.needed_call(tracked, now) {
                None => unneeded.push(key.clone()),
                Some(wanted) if *kind.get_or_insert(wanted) != wanted => {}
                Some(_) if tracked.send_singly && !keys.is_empty() => {}
                Some(wanted) => {
                    if keys.is_empty() {
                        most = most_of(wanted);
                    }
                    keys.push(key.clone());
                    if tracked.send_singly {
                        most = 1;
                    }
                }
            }
        }
        for key in unneeded {
            self.timers.polls.remove(&key);
        }
        (kind.unwrap_or(CallKind::Status), keys)
    }

    /// Schedules the next poll of a running task.
    pub(super) fn poll_again(&mut self, key: &TaskKey, now: Millis, chance: f64) {
        let is_followed = |task: &Task| task.state.phase() == Phase::Running && task.watching;
        if self.task(key).is_some_and(is_followed)
            && let Some(wait) = self.poll_wait(key, now, chance)
        {
            self.set_due(key, now.saturating_add(wait));
        }
    }

    /// Returns the wait before the next poll of a running task, in milliseconds. The wait grows while the service
    /// reports only an error.
    fn poll_wait(&self, key: &TaskKey, now: Millis, chance: f64) -> Option<Millis> {
        let tracked = self.tasks.get(key)?;
        let usual = schedule::interval(age(&tracked.task, now));
        let wait = match (tracked.early_fetch, tracked.error_since) {
            (EarlyFetch::Wanted, _) => usual.min(1_000),
            (_, Some(since)) => (now.saturating_sub(since) / 2).clamp(usual, MAX_INTERVAL),
            (_, None) if tracked.must_poll => usual,
            (_, None) => self.stream.interval(usual),
        };
        Some(schedule::jittered(wait, chance))
    }

    /// Returns the kind of call that a task needs, if any.
    fn needed_call(&self, tracked: &Tracked, now: Millis) -> Option<CallKind> {
        let task = &tracked.task;
        match task.state.phase() {
            _ if task.account != self.account => None,
            // A task that is not followed needs no other call, so that it is canceled a little early.
            Phase::Running
                if tracked
                    .next_cancel()
                    .is_some_and(|at| at <= now || !task.watching) =>
            {
                Some(CallKind::Cancel)
            }
            Phase::Running if task.watching => Some(match tracked.early_fetch {
                EarlyFetch::Wanted => CallKind::Response,
                EarlyFetch::Never | EarlyFetch::Done => CallKind::Status,
            }),
            Phase::Fetching if task.watching => Some(CallKind::Response),
            Phase::Ready | Phase::Failed | Phase::Gone if tracked.refetch => {
                Some(CallKind::Response)
            }
            _ => None,
        }
    }
}

/// Returns the time since the service accepted the task, in milliseconds.
pub(super) fn age(task: &Task, now: Millis) -> Millis {
    now.saturating_sub(task.accepted.or(task.submitted).unwrap_or(task.created))
}

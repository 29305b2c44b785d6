//! Submissions of which nobody can say whether they arrived, to a service that honours idempotency
//! keys: they are sent again by themselves with the same key, and the service takes them once.
//!
//! Meanwhile the task stays Submitting. A version that does not know of keys then makes it
//! Unconfirmed, and sends nothing.

use atelier_contract::ApiError;

use super::Engine;
use super::services::Idempotency;
use crate::reduce::Event;
use crate::{Millis, Phase, Task, TaskKey, schedule};

/// A key is no longer relied upon this long before the service may forget it: a call may take that
/// long to arrive.
const MARGIN: Millis = 120_000;

impl Engine {
    /// What the service at an address says of idempotency keys.
    pub fn set_idempotency(&mut self, address: &str, said: Idempotency, now: Millis) {
        self.advance(now);
        self.services.set_idempotency(address, said, now);
        self.give_up_expired(now);
    }

    /// The key that a task's next submission carries, if the service honours any.
    pub(super) fn new_key(&self, task: &Task) -> Option<String> {
        let is_honoured = self.services.honours_keys(&task.account.address);
        // A model may have a parameter of that name.
        let field = atelier_contract::IDEMPOTENCY_FIELD;
        let is_free = !task.input.values().contains_key(field);
        let chosen = task.idempotency_key.as_ref().unwrap_or(&task.key.0);
        (is_honoured && is_free).then(|| chosen.clone())
    }

    /// When the next submission is to be sent again.
    pub(super) fn next_again(&self) -> Option<Millis> {
        let next = self.timers.resends.next();
        next.filter(|_| self.services.honours_keys(&self.account.address))
    }

    /// Takes up to `most` tasks that are to be sent again, as long as `fits` says that they may
    /// share a call; the first always may.
    pub(super) fn take_again(
        &mut self,
        now: Millis,
        most: usize,
        fits: impl Fn(&Self, &[TaskKey], &TaskKey) -> bool,
    ) -> Vec<TaskKey> {
        let mut taken: Vec<TaskKey> = Vec::new();
        while taken.len() < most
            && let Some(key) = self.timers.resends.first_due(now)
            && (taken.is_empty() || fits(self, &taken, key))
        {
            let key = key.clone();
            self.timers.resends.remove(&key);
            taken.push(key);
        }
        taken
    }

    /// Nobody can say whether the service has the task. It is sent again by itself, if that is
    /// safe; else a person decides.
    pub(super) fn mark_uncertain(
        &mut self,
        key: &TaskKey,
        error: ApiError,
        at: Millis,
        now: Millis,
    ) {
        let Some(tracked) = self.tasks.get_mut(key) else {
            return;
        };
        if tracked.task.state.phase() != Phase::Submitting {
            return;
        }
        tracked.uncertain_error = Some(error.clone());
        if self.is_expired(key, now) {
            self.apply_event(key, Event::LostAnswer { error }, now);
            return;
        }
        self.set_poll_error(key, &error, now);
        self.send_again_at(key, at);
    }

    /// When to send again after so many answers in a row that were of no use.
    pub(super) fn retry_at(&mut self, key: &TaskKey, now: Millis, chance: f64) -> Millis {
        let Some(tracked) = self.tasks.get_mut(key) else {
            return now;
        };
        tracked.failures = tracked.failures.saturating_add(1);
        now.saturating_add(schedule::after_failures(tracked.failures, chance))
    }

    /// The service has not taken this submission. It goes back to its line; if an earlier one may
    /// have been taken, it is sent again.
    pub(super) fn not_taken(&mut self, key: &TaskKey, at: Millis, now: Millis) {
        let uncertain_error = self
            .tasks
            .get(key)
            .and_then(|tracked| tracked.uncertain_error.clone());
        match uncertain_error {
            Some(error) => self.mark_uncertain(key, error, at, now),
            None => self.apply_event(key, Event::PutBack, now),
        }
    }

    /// A task that has no call under way.
    pub(super) fn send_again_at(&mut self, key: &TaskKey, at: Millis) {
        self.timers.resends.remove(key);
        if self
            .task(key)
            .is_some_and(|task| task.account == self.account && task.removed.is_none())
        {
            self.timers.resends.set(key, at);
        }
    }

    /// Leaves to a person what can't be sent again any more.
    pub(super) fn give_up_expired(&mut self, now: Millis) {
        let waiting = self.timers.resends.iter().map(|(_, key)| key);
        let expired: Vec<TaskKey> = waiting
            .filter(|key| self.is_expired(key, now))
            .cloned()
            .collect();
        for key in expired {
            let uncertain_error = self
                .tasks
                .get(&key)
                .and_then(|tracked| tracked.uncertain_error.clone());
            if let Some(error) = uncertain_error {
                self.apply_event(&key, Event::LostAnswer { error }, now);
            }
        }
    }

    /// Sent again, it might be taken a second time.
    fn is_expired(&self, key: &TaskKey, now: Millis) -> bool {
        let Some(task) = self.task(key).filter(|task| task.idempotency_key.is_some()) else {
            return true;
        };
        let age = now.saturating_sub(task.submitted.unwrap_or(task.created));
        match self.services.idempotency(&task.account.address) {
            Idempotency::Asked | Idempotency::Unknown => false,
            Idempotency::Unsupported => true,
            Idempotency::For(ttl) => age.saturating_add(MARGIN) >= ttl,
        }
    }

    /// The key of another attempt: what became of the last one is not to be told again.
    pub(super) fn choose_other_key(task: &mut Task) {
        if let Some(last) = &task.idempotency_key {
            let rest = last.strip_prefix(&task.key.0);
            let number = rest.and_then(|rest| rest.strip_prefix('.')?.parse::<u64>().ok());
            let number = number.unwrap_or(1).saturating_add(1);
            task.idempotency_key = Some(format!("{}.{number}", task.key));
        }
    }
}

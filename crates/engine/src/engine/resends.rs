//! Resends submissions whose outcome is unknown, to a service with idempotency keys. They are sent again automatically
//! with the same key, and the service accepts them only once.
//!
//! Meanwhile the task stays Submitting. A release that doesn't know idempotency keys then marks it Unconfirmed and
//! sends nothing.

use atelier_contract::ApiError;

use super::Engine;
use super::call::InFlight;
use super::service_status::asks_to_wait;
use super::services::Idempotency;
use super::shared_ids::is_of_shared_id;
use crate::reduce::Event;
use crate::{Millis, Phase, Task, TaskKey, TaskState, schedule};

/// The last part of a key's lifetime in which it is not used, in milliseconds, because a call may take that long to
/// arrive.
const KEY_MARGIN: Millis = 120_000;

impl Engine {
    /// Sets whether the service at an address supports idempotency keys.
    pub fn set_idempotency(&mut self, address: &str, support: Idempotency, now: Millis) {
        self.advance(now);
        self.services.set_idempotency(address, support, now);
        self.give_up_expired(now);
    }

    /// Returns the key for a task's next submission, if the service supports idempotency keys.
    pub(super) fn new_key(&self, task: &Task) -> Option<String> {
        let is_supported = self.services.sends_keys(&task.account.address);
        // A model can have a parameter with the same name.
        let field = atelier_contract::IDEMPOTENCY_FIELD;
        let is_free = !task.input.values().contains_key(field);
        let chosen = task.idempotency_key.as_ref().unwrap_or(&task.key.0);
        (is_supported && is_free).then(|| chosen.clone())
    }

    /// Handles a submission that failed or whose outcome is unknown.
    pub(super) fn not_submitted(
        &mut self,
        key: &TaskKey,
        error: &ApiError,
        call: &InFlight,
        now: Millis,
        chance: f64,
    ) {
        let tracked = self.tasks.get(key);
        let is_resubmitted = tracked.is_some_and(|tracked| tracked.task.resubmitted);
        // The service may have accepted an earlier submission.
        let is_in_doubt =
            tracked.is_some_and(|tracked| tracked.uncertain_error.is_some() || is_resubmitted);
        if asks_to_wait(error) {
            return self.not_accepted(key, call.sent, now, now);
        }
        if !is_in_doubt && self.pause_if_all_refused(key, error, now) {
            return;
        }
        // With the same key, the service would return the same response. A smaller batch may get a smaller response.
        let is_retry_pointless = error.is_too_large() && !call.batched || is_of_shared_id(error);
        if !is_retry_pointless && !is_conclusive(error, is_in_doubt) {
            let at = self.retry_at(key, now, chance);
            return self.mark_uncertain(key, error.clone(), at, now);
        }
        // If the input is refused, no earlier submission was accepted. An exception is a resubmission much later,
        // because a file that the input names may have changed. Any other refusal of a possibly accepted task
        // contradicts the service's idempotency promise, so the user decides.
        let is_input = !is_resubmitted
            && matches!(error, ApiError::Invalid { fields, .. } if !fields.is_empty());
        let event = if is_retry_pointless || is_in_doubt && !is_input {
            Event::LostAnswer {
                error: error.clone(),
            }
        } else {
            Event::Rejected {
                message: self.known_refusal(key, error).user_message(),
            }
        };
        self.apply_event(key, event, now);
    }

    /// Returns when the next resend is due.
    pub(super) fn next_resend(&self) -> Option<Millis> {
        let next = self.timers.resends.next();
        next.filter(|_| self.services.supports_keys(&self.account.address))
    }

    /// Takes up to `most` tasks that are due for a resend. `fits`: whether a task may share a call with the tasks
    /// already taken. It does not apply to the first task.
    pub(super) fn take_resends(
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

    /// Handles an unknown outcome. The task is resent automatically if that is safe; otherwise the user decides.
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
        if tracked.task.account == self.account {
            // Records without a token version are attributed to the current token.
            let version = &mut tracked.task.token_version;
            *version = version.or(self.credentials.token_version());
        }
        if self.is_expired(key, now) {
            self.apply_event(key, Event::LostAnswer { error }, now);
            return;
        }
        self.set_poll_error(key, &error, now);
        self.resend_at(key, at);
    }

    /// Counts a failure and returns when to send again.
    pub(super) fn retry_at(&mut self, key: &TaskKey, now: Millis, chance: f64) -> Millis {
        let Some(tracked) = self.tasks.get_mut(key) else {
            return now;
        };
        tracked.failures = tracked.failures.saturating_add(1);
        now.saturating_add(schedule::after_failures(tracked.failures, chance))
    }

    /// Handles a submission, sent at `sent`, that the service did not accept. The task returns to the queue, or is
    /// resent if an earlier submission may have been accepted. Ignores submissions that are not the current attempt.
    pub(super) fn not_accepted(&mut self, key: &TaskKey, sent: Millis, at: Millis, now: Millis) {
        if self.was_sent_since(key, Some(sent)) {
            return;
        }
        let uncertain_error = self
            .tasks
            .get(key)
            .and_then(|tracked| tracked.uncertain_error.clone());
        match uncertain_error {
            Some(error) => self.mark_uncertain(key, error, at, now),
            None => self.apply_event(key, Event::PutBack, now),
        }
    }

    /// Schedules the resend of a task that has no call in flight.
    pub(super) fn resend_at(&mut self, key: &TaskKey, at: Millis) {
        self.timers.resends.remove(key);
        if self
            .task(key)
            .is_some_and(|task| task.account == self.account && task.removed.is_none())
        {
            self.timers.resends.set(key, at);
        }
    }

    /// Marks tasks as Unconfirmed that can't be resent safely any more.
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

    /// Whether the service might accept a resend as a second task.
    fn is_expired(&self, key: &TaskKey, now: Millis) -> bool {
        // Without its secrets the request would differ under the same key.
        let can_repeat = |task: &&Task| task.idempotency_key.is_some() && !self.lacks_secrets(task);
        let Some(task) = self.task(key).filter(can_repeat) else {
            return true;
        };
        // The token of another account is unknown until that account is the current one.
        let present = self.credentials.token_version();
        let present = present.filter(|_| task.account == self.account);
        let tokens = task.token_version.zip(present);
        let is_of_other_token = tokens.is_some_and(|(its, present)| its != present);
        is_of_other_token || self.key_may_be_forgotten(task, now)
    }

    /// Whether the service may have forgotten the task's key.
    fn key_may_be_forgotten(&self, task: &Task, now: Millis) -> bool {
        let since = task
            .key_first_sent
            .or(task.submitted)
            .unwrap_or(task.created);
        // Convert the time to the current clock after backward jumps. This must not make a key younger. The margin is
        // for keys that were received some time after this tab last read its clock.
        let since = self.set_back.iter().fold(since, |since, (before, back)| {
            match before.saturating_add(KEY_MARGIN) >= since {
                true => since.saturating_sub(*back),
                false => since,
            }
        });
        // The time comes from a clock that was ahead, so the key's age is unknown.
        let is_ahead = since > now.saturating_add(KEY_MARGIN);
        let age = now.saturating_sub(since);
        is_ahead
            || match self.services.idempotency(&task.account.address) {
                Idempotency::Asked | Idempotency::Unknown | Idempotency::Unreachable => false,
                Idempotency::Unsupported => true,
                Idempotency::For(ttl) => age.saturating_add(KEY_MARGIN) >= ttl,
            }
    }

    /// Whether sending the task could create a second task at the service, in addition to an earlier submission.
    pub(super) fn may_duplicate(&self, key: &TaskKey, now: Millis) -> bool {
        let tracked = self.tasks.get(key);
        tracked.is_some_and(|tracked| tracked.uncertain_error.is_some())
            && self.is_expired(key, now)
    }

    /// Prepares a task for a resubmission by the user. It keeps its key, so that a service that accepted the earlier
    /// submission does not accept it twice. A key that the service has refused is replaced, because the service would
    /// repeat the refusal.
    pub(super) fn prepare_resubmission(task: &mut Task, now: Millis) {
        let is_refused =
            matches!(&task.state, TaskState::Unconfirmed { error } if is_conclusive(error, true));
        if is_refused {
            Self::choose_other_key(task);
        } else if task.idempotency_key.is_some() {
            task.key_first_sent = task.key_first_sent.or(task.submitted);
        }
        task.submitted = None;
        task.requeued = Some(now);
        task.resubmitted = true;
        task.cancel = None;
    }

    /// Replaces a key that the service may have forgotten: the key's recorded age would no longer match.
    pub(super) fn renew_key(&mut self, key: &TaskKey, now: Millis) {
        let is_over =
            |task: &&Task| task.key_first_sent.is_some() && self.key_may_be_forgotten(task, now);
        if self.task(key).filter(is_over).is_some()
            && let Some(tracked) = self.tasks.get_mut(key)
        {
            Self::choose_other_key(&mut tracked.task);
        }
    }

    /// Replaces the key by the key of the next attempt: `a`, `a.2`, `a.3`.
    fn choose_other_key(task: &mut Task) {
        task.key_first_sent = None;
        if let Some(last) = &task.idempotency_key {
            let rest = last.strip_prefix(&task.key.0);
            let number = rest.and_then(|rest| rest.strip_prefix('.')?.parse::<u64>().ok());
            let number = number.unwrap_or(1).saturating_add(1);
            task.idempotency_key = Some(format!("{}.{number}", task.key));
        }
    }
}

/// Whether an error shows the outcome of a submission. With `is_in_doubt`, an earlier submission may have been
/// accepted, and only the service's own response about that submission counts.
fn is_conclusive(error: &ApiError, is_in_doubt: bool) -> bool {
    match error {
        // The call was refused before the service processed the task, possibly by a proxy.
        ApiError::Unauthorized { .. } => !is_in_doubt,
        ApiError::NotFound { is_of_service, .. } => !is_in_doubt || *is_of_service,
        error => error.was_certainly_not_accepted(),
    }
}

//! Submissions of which it is unknown whether they arrived, to a service that honours idempotency
//! keys: they are sent again by themselves with the same key, and the service takes them once.
//!
//! Meanwhile the task stays Submitting. A version that does not know of keys then makes it
//! Unconfirmed, and sends nothing.

use atelier_contract::ApiError;

use super::Engine;
use super::call::InFlight;
use super::judgement::asks_to_wait;
use super::services::Idempotency;
use super::shared_ids::is_of_shared_id;
use crate::reduce::Event;
use crate::{Millis, Phase, Task, TaskKey, TaskState, schedule};

/// A key is no longer relied upon this long before the service may forget it: a call may take that
/// long to arrive.
const MARGIN: Millis = 120_000;

impl Engine {
    /// Notes what the service at an address says of idempotency keys.
    pub fn set_idempotency(&mut self, address: &str, said: Idempotency, now: Millis) {
        self.advance(now);
        self.services.set_idempotency(address, said, now);
        self.give_up_expired(now);
    }

    /// The key that a task's next submission carries, if the service honours any.
    pub(super) fn new_key(&self, task: &Task) -> Option<String> {
        let is_honoured = self.services.takes_keys(&task.account.address);
        // A model may have a parameter of that name.
        let field = atelier_contract::IDEMPOTENCY_FIELD;
        let is_free = !task.input.values().contains_key(field);
        let chosen = task.idempotency_key.as_ref().unwrap_or(&task.key.0);
        (is_honoured && is_free).then(|| chosen.clone())
    }

    /// A submission failed, or it is unknown whether it did.
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
        // An earlier one may have been taken.
        let is_in_doubt =
            tracked.is_some_and(|tracked| tracked.uncertain_error.is_some() || is_resubmitted);
        if asks_to_wait(error) {
            return self.not_taken(key, call.sent, now, now);
        }
        if !is_in_doubt && self.hold_if_all_refused(key, error, now) {
            return;
        }
        // Under its key the service would answer the same once more. With fewer others the answer may be smaller.
        let is_in_vain = error.is_too_large() && !call.batched || is_of_shared_id(error);
        if !is_in_vain && !settles(error, is_in_doubt) {
            let at = self.retry_at(key, now, chance);
            return self.mark_uncertain(key, error.clone(), at, now);
        }
        // A refused input was never taken, unless what it names has gone or changed since: a person may have sent it
        // once more much later. Any other refusal of what may have been taken before contradicts what the service
        // says of its keys: a person decides.
        let is_input = !is_resubmitted
            && matches!(error, ApiError::Invalid { fields, .. } if !fields.is_empty());
        let event = if is_in_vain || is_in_doubt && !is_input {
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

    /// It is unknown whether the service has the task. It is sent again by itself, if that is
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
        if tracked.task.account == self.account {
            // Stored before that was noted: no other is known.
            let version = &mut tracked.task.token_version;
            *version = version.or(self.credentials.token_version());
        }
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

    /// The service has not taken the submission of this time, be it the present one. It goes back to its line; if an earlier one may
    /// have been taken, it is sent again.
    pub(super) fn not_taken(&mut self, key: &TaskKey, sent: Millis, at: Millis, now: Millis) {
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
        // Without its secrets it would be another request under the same key.
        let can_repeat = |task: &&Task| task.idempotency_key.is_some() && !self.lacks_secrets(task);
        let Some(task) = self.task(key).filter(can_repeat) else {
            return true;
        };
        // Nothing is known of another account's token until that account is the present one.
        let present = self.credentials.token_version();
        let present = present.filter(|_| task.account == self.account);
        let tokens = task.token_version.zip(present);
        let is_of_other_token = tokens.is_some_and(|(its, present)| its != present);
        is_of_other_token || self.key_may_be_forgotten(task, now)
    }

    /// The service may not know the task's key any more.
    fn key_may_be_forgotten(&self, task: &Task, now: Millis) -> bool {
        let since = task
            .key_first_sent
            .or(task.submitted)
            .unwrap_or(task.created);
        // By the clock as it is by now: what it said before it was set back is no time to come, and no key gets younger.
        // This tab may have heard of the key a while after it had looked at the clock last.
        let since = self.set_back.iter().fold(since, |since, (before, back)| {
            match before.saturating_add(MARGIN) >= since {
                true => since.saturating_sub(*back),
                false => since,
            }
        });
        // A clock that was ahead of this one has set the time: it is unknown how long ago that was.
        let is_ahead = since > now.saturating_add(MARGIN);
        let age = now.saturating_sub(since);
        is_ahead
            || match self.services.idempotency(&task.account.address) {
                Idempotency::Asked | Idempotency::Unknown | Idempotency::Unreachable => false,
                Idempotency::Unsupported => true,
                Idempotency::For(ttl) => age.saturating_add(MARGIN) >= ttl,
            }
    }

    /// An earlier submission of it may have been taken, and this one might be taken in addition to it.
    pub(super) fn is_doubled(&self, key: &TaskKey, now: Millis) -> bool {
        let tracked = self.tasks.get(key);
        tracked.is_some_and(|tracked| tracked.uncertain_error.is_some())
            && self.is_expired(key, now)
    }

    /// What a person sends once more keeps its key: a service that has taken the one before says so, and does not
    /// take it twice. Where it has refused that key, the refusal would be told again.
    pub(super) fn prepare_resubmission(task: &mut Task, now: Millis) {
        let is_refused =
            matches!(&task.state, TaskState::Unconfirmed { error } if settles(error, true));
        if is_refused {
            Self::choose_other_key(task);
        } else if task.idempotency_key.is_some() {
            task.key_first_sent = task.key_first_sent.or(task.submitted);
        }
        task.submitted = None;
        task.requeued = Some(now);
        task.resubmitted = true;
    }

    /// A key that the service may have forgotten meanwhile is not sent once more: it would be new to the service, and
    /// seem old here.
    pub(super) fn renew_key(&mut self, key: &TaskKey, now: Millis) {
        let is_over =
            |task: &&Task| task.key_first_sent.is_some() && self.key_may_be_forgotten(task, now);
        if self.task(key).filter(is_over).is_some()
            && let Some(tracked) = self.tasks.get_mut(key)
        {
            Self::choose_other_key(&mut tracked.task);
        }
    }

    /// The key of another attempt: what became of the last one is not to be told again.
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

/// Whether an answer to a submission says what became of it. `is_in_doubt`: an earlier one may have been taken, and
/// only what the service says of that one settles it.
fn settles(error: &ApiError, is_in_doubt: bool) -> bool {
    match error {
        // Refused before the service looked at it, perhaps by something in front of it.
        ApiError::Unauthorized { .. } => !is_in_doubt,
        ApiError::NotFound { is_of_service, .. } => !is_in_doubt || *is_of_service,
        error => error.was_certainly_not_accepted(),
    }
}

//! Chooses the tasks to send next.

use atelier_contract::{BatchRequest, GenerateRequest, IDEMPOTENCY_FIELD, path};

use serde_json::Value;

use super::send_queue::NextSend;
use super::{Call, CallKind, Engine, Pending};
use crate::reduce::Event;
use crate::{BatchKey, Millis, Phase, TaskKey};

/// The maximum number of submissions in flight.
const MAX_IN_FLIGHT: usize = 2;

impl Engine {
    /// Returns the submission to make now, if any. Resends are first: they are the oldest, and they test without risk
    /// whether the service responds.
    fn due(&self, now: Millis) -> Option<NextSend> {
        if !self.may_send() {
            return None;
        }
        if self.next_resend().is_some_and(|at| at <= now) {
            return Some(NextSend::Resend);
        }
        let is_free = self.submissions_from(now).is_some_and(|from| from <= now);
        self.next_queued().filter(|_| is_free)
    }

    /// Returns when the next submission is due.
    pub(super) fn next_send(&self, now: Millis) -> Option<Millis> {
        if !self.may_send() {
            return None;
        }
        let new = self.next_queued().and_then(|_| self.submissions_from(now));
        self.next_resend().into_iter().chain(new).min()
    }

    fn submissions_from(&self, now: Millis) -> Option<Millis> {
        self.services.submissions_from(&self.account.address, now)
    }

    fn may_send(&self) -> bool {
        if self.needs_storage_consent() {
            return false;
        }
        let most = if self.pause.is_probing() {
            1
        } else {
            MAX_IN_FLIGHT
        };
        self.calls.submissions().count() < most
    }

    pub(super) fn next_queued(&self) -> Option<NextSend> {
        self.send_queue.next(|batch| self.is_under_way(batch))
    }

    fn is_under_way(&self, batch: &BatchKey) -> bool {
        let of_batch = |key: &TaskKey| self.task(key).is_some_and(|task| task.is_of(batch));
        let mut sending = self.calls.submissions();
        sending.any(|call| call.tasks.iter().any(of_batch))
    }

    /// Makes one generate call, if one may be sent now.
    pub(super) fn send_one(&mut self, now: Millis) -> bool {
        if self.pause.is_on() || self.is_refused() {
            return false;
        }
        let Some(next) = self.due(now) else {
            return false;
        };
        let address = self.account.address.clone();
        if !self.services.limiter(&address, now).take(now) {
            return false;
        }
        let most = if self.pause.is_probing() {
            1
        } else {
            self.services.most_items(&address, CallKind::Generate, now)
        };
        let keys = match next {
            NextSend::Resend => self.take_resends(now, most, Self::may_share),
            next => {
                // Move the queue out of `self`, because `fits` borrows `self`.
                let mut queue = std::mem::take(&mut self.send_queue);
                let fits = |taken: &[TaskKey], next: &TaskKey| self.may_share(taken, next);
                let keys = queue.take(&next, most, fits);
                self.send_queue = queue;
                keys
            }
        };
        self.send(keys, now);
        true
    }

    fn may_share(&self, taken: &[TaskKey], next: &TaskKey) -> bool {
        let is_single = |key: &TaskKey| {
            self.tasks
                .get(key)
                .is_some_and(|tracked| tracked.send_singly)
        };
        !is_single(next) && !taken.iter().any(is_single)
    }

    fn send(&mut self, keys: Vec<TaskKey>, now: Millis) {
        let mut bodies = Vec::new();
        let mut sent = Vec::new();
        for key in keys {
            let Some(tracked) = self.tasks.get(&key) else {
                continue;
            };
            // Check again that the task may be sent: a duplicate submission costs money.
            let task = &tracked.task;
            if task.account != self.account || task.removed.is_some() || self.lacks_secrets(task) {
                self.lacking_secrets.push(key);
                continue;
            }
            match tracked.task.state.phase() {
                Phase::Queued if !tracked.task.taken_back => {
                    self.renew_key(&key, now);
                    let idempotency_key = self.task(&key).and_then(|task| self.new_key(task));
                    let token_version = self.credentials.token_version();
                    if let Some(tracked) = self.tasks.get_mut(&key) {
                        tracked.task.submitted = Some(now);
                        tracked.task.idempotency_key = idempotency_key;
                        tracked.task.token_version = token_version;
                        tracked.task.paused = false;
                    }
                    self.apply_event(&key, Event::Send, now);
                }
                // A resend with the same key.
                Phase::Submitting if tracked.uncertain_error.is_some() => {}
                _ => continue,
            }
            let Some(task) = self.task(&key) else {
                continue;
            };
            let request = GenerateRequest {
                uid: &task.account.uid,
                input: &task.input,
                secrets: self.secrets.get(&key.0).and_then(Value::as_object),
            };
            bodies.push((request.to_body(), task.idempotency_key.clone()));
            sent.push(key);
        }
        self.call(CallKind::Generate, bodies, sent);
    }

    /// Queues a call and registers it as in flight. One item uses the single endpoint, several the batch endpoint; each
    /// keeps its idempotency key.
    pub(super) fn call(
        &mut self,
        kind: CallKind,
        mut bodies: Vec<(serde_json::Value, Option<String>)>,
        tasks: Vec<TaskKey>,
    ) {
        let batched = bodies.len() > 1;
        let (body, idempotency_key) = if batched {
            let requests = bodies.into_iter().map(|(mut body, key)| {
                if let Some(key) = key {
                    body[IDEMPOTENCY_FIELD] = key.into();
                }
                body
            });
            let requests = requests.collect();
            (BatchRequest { requests }.into_value(), None)
        } else {
            match bodies.pop() {
                Some(single) => single,
                None => return,
            }
        };
        let path = match (kind, batched) {
            (CallKind::Generate, false) => path::GENERATE,
            (CallKind::Generate, true) => path::GENERATE_BATCH,
            (CallKind::Status, false) => path::STATUS,
            (CallKind::Status, true) => path::STATUS_BATCH,
            (CallKind::Response, false) => path::RESPONSE,
            (CallKind::Response, true) => path::RESPONSE_BATCH,
            (CallKind::Cancel, false) => path::CANCEL,
            (CallKind::Cancel, true) => path::CANCEL_BATCH,
        };
        let account = self.account.clone();
        let sent = self.last_now;
        let id = (self.calls).begin(kind, tasks.clone(), batched, account, sent);
        self.pending.push(Pending::Call(Call {
            id,
            kind,
            path,
            body,
            idempotency_key,
            account: self.account.clone(),
            tasks,
        }));
    }
}

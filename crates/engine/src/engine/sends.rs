//! Which tasks are sent next.

use atelier_contract::{BatchRequest, GenerateRequest, IDEMPOTENCY_FIELD, MAX_BATCH_ITEMS, path};

use super::call::InFlight;
use super::send_queue::NextSend;
use super::{Call, CallId, CallKind, Engine, Pending};
use crate::reduce::Event;
use crate::{BatchKey, Millis, Phase, TaskKey};

/// Submissions whose answers are awaited at one time.
const MAX_IN_FLIGHT: usize = 2;

/// How long a 404 of a batch endpoint is believed: it may have come from a proxy while the service
/// was restarting, and a thousand single calls a round for the rest of the day would be its price.
const WITHOUT_BATCH: Millis = 10 * 60_000;

impl Engine {
    /// Whose turn it is to be sent. What may have been sent already goes first: it is the oldest, and
    /// can find out at no risk whether the service answers.
    fn turn(&self, now: Millis) -> Option<NextSend> {
        if !self.may_send() {
            return None;
        }
        if self.next_again().is_some_and(|at| at <= now) {
            return Some(NextSend::Again);
        }
        self.next_line().filter(|_| self.sends_from(now) <= now)
    }

    /// When something is to be sent next.
    pub(super) fn next_send(&self, now: Millis) -> Option<Millis> {
        if !self.may_send() {
            return None;
        }
        let new = self.next_line().map(|_| self.sends_from(now));
        self.next_again().into_iter().chain(new).min()
    }

    fn may_send(&self) -> bool {
        if self.asks_before_sending() {
            return false;
        }
        let sending = self.in_flight.values();
        let sending = sending.filter(|call| call.kind == CallKind::Generate);
        let most = if self.probing { 1 } else { MAX_IN_FLIGHT };
        sending.count() < most
    }

    pub(super) fn next_line(&self) -> Option<NextSend> {
        self.send_queue.turn(|batch| self.is_under_way(batch))
    }

    fn is_under_way(&self, batch: &BatchKey) -> bool {
        let of_batch = |key: &TaskKey| {
            let place = self.task(key).and_then(|task| task.batch.as_ref());
            place.is_some_and(|place| place.batch == *batch)
        };
        self.in_flight
            .values()
            .any(|call| call.kind == CallKind::Generate && call.tasks.iter().any(of_batch))
    }

    /// Makes one generate call, if one may leave now.
    pub(super) fn send_one(&mut self, now: Millis) -> bool {
        if self.pause.is_some() || self.refusal.is_some() {
            return false;
        }
        let Some(turn) = self.turn(now) else {
            return false;
        };
        let address = self.account.address.clone();
        if !self.limiter(&address, now).take(now) {
            return false;
        }
        let most = if self.probing {
            1
        } else {
            self.most_items(now)
        };
        let keys = match turn {
            NextSend::Again => self.take_again(now, most, Self::may_share),
            turn => {
                // Looked at while they are taken out of their line.
                let mut lines = std::mem::take(&mut self.send_queue);
                let fits = |taken: &[TaskKey], next: &TaskKey| self.may_share(taken, next);
                let keys = lines.take(&turn, most, fits);
                self.send_queue = lines;
                keys
            }
        };
        self.send(keys, now);
        self.sent_last = true;
        true
    }

    fn may_share(&self, taken: &[TaskKey], next: &TaskKey) -> bool {
        let is_alone = |key: &TaskKey| self.tasks.get(key).is_some_and(|tracked| tracked.alone);
        !is_alone(next) && !taken.iter().any(is_alone)
    }

    /// Items in a call of the present service.
    pub(super) fn most_items(&self, now: Millis) -> usize {
        let seen = self.without_batch.get(&self.account.address);
        // `min`: the clock may have been set back.
        if seen.is_some_and(|seen| now - now.min(*seen) < WITHOUT_BATCH) {
            1
        } else {
            MAX_BATCH_ITEMS
        }
    }

    fn send(&mut self, keys: Vec<TaskKey>, now: Millis) {
        let mut bodies = Vec::new();
        let mut records = Vec::new();
        let mut sent = Vec::new();
        for key in keys {
            let Some(tracked) = self.tasks.get(&key) else {
                continue;
            };
            // Lines hold nothing else; but a second look costs nothing, and a second task money.
            if tracked.task.account != self.account {
                continue;
            }
            match tracked.task.state.phase() {
                Phase::Queued if !tracked.task.taken_back => {
                    let idempotency_key = self.new_key(&tracked.task);
                    if let Some(tracked) = self.tasks.get_mut(&key) {
                        tracked.task.submitted = Some(now);
                        tracked.task.idempotency_key = idempotency_key;
                        tracked.task.paused = false;
                    }
                    self.apply_event(&key, Event::Send, now);
                }
                // Once more, with the same key.
                Phase::Submitting if tracked.doubt.is_some() => {}
                _ => continue,
            }
            let Some(task) = self.task(&key) else {
                continue;
            };
            let request = GenerateRequest {
                uid: &task.account.uid,
                input: &task.input,
            };
            bodies.push((request.to_body(), task.idempotency_key.clone()));
            records.push(task.clone());
            sent.push(key);
        }
        self.call(CallKind::Generate, bodies, sent, records);
    }

    /// Gives the command for a call and waits for its answer. One item goes to the single
    /// endpoint, several to the batch endpoint; each with the key that it may have.
    pub(super) fn call(
        &mut self,
        kind: CallKind,
        mut bodies: Vec<(serde_json::Value, Option<String>)>,
        tasks: Vec<TaskKey>,
        write_first: Vec<crate::Task>,
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
        let id = CallId(self.next_call);
        self.next_call += 1;
        let path = match (kind, batched) {
            (CallKind::Generate, false) => path::GENERATE,
            (CallKind::Generate, true) => path::GENERATE_BATCH,
            (CallKind::Status, false) => path::STATUS,
            (CallKind::Status, true) => path::STATUS_BATCH,
            (CallKind::Response, false) => path::RESPONSE,
            (CallKind::Response, true) => path::RESPONSE_BATCH,
        };
        let in_flight = InFlight {
            number: id.0,
            kind,
            tasks: tasks.clone(),
            batched,
            account: self.account.clone(),
        };
        self.in_flight.insert(id, in_flight);
        self.pending.push(Pending::Call(Call {
            id,
            kind,
            path,
            body,
            idempotency_key,
            account: self.account.clone(),
            tasks,
            write_first,
        }));
    }
}

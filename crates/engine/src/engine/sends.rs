//! Which tasks are sent next.

use atelier_contract::{BatchRequest, GenerateRequest, MAX_BATCH_ITEMS, path};

use super::call::InFlight;
use super::lines::Turn;
use super::{Call, CallId, CallKind, Engine, Pending};
use crate::reduce::Event;
use crate::{BatchKey, Millis, Phase, TaskKey};

/// Submissions whose answers are awaited at one time.
const MOST_IN_FLIGHT: usize = 2;

/// How long a 404 of a batch endpoint is believed: it may have come from a proxy while the service
/// was restarting, and a thousand single calls a round for the rest of the day would be its price.
const WITHOUT_BATCH: Millis = 10 * 60_000;

impl Engine {
    /// Whose turn it is to be sent, if anything could be but for limits of time.
    pub(super) fn turn(&self) -> Option<Turn> {
        if self.asks_before_sending() {
            return None;
        }
        let sending = self.in_flight.values();
        let sending = sending.filter(|call| call.kind == CallKind::Generate);
        let most = if self.probing { 1 } else { MOST_IN_FLIGHT };
        if sending.count() >= most {
            return None;
        }
        self.lines.turn(|batch| self.is_under_way(batch))
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
        if self.hold.is_some() || self.refusal.is_some() {
            return false;
        }
        let Some(turn) = self.turn() else {
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
        let tasks = &self.tasks;
        let is_alone = |key: &TaskKey| tasks.get(key).is_some_and(|tracked| tracked.alone);
        let keys = self.lines.take(&turn, most, |taken, next| {
            !is_alone(next) && !taken.iter().any(is_alone)
        });
        self.send(keys, now);
        self.sent_last = true;
        true
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
            let Some(tracked) = self.tasks.get_mut(&key) else {
                continue;
            };
            // Lines hold nothing else; but a second look costs nothing, and a second task money.
            if tracked.task.state.phase() != Phase::Queued || tracked.task.account != self.account {
                continue;
            }
            tracked.task.submitted = Some(now);
            tracked.task.paused = false;
            self.happen(&key, Event::Send, now);
            let Some(task) = self.task(&key) else {
                continue;
            };
            let request = GenerateRequest {
                uid: &task.account.uid,
                input: &task.input,
            };
            bodies.push(request.to_body());
            records.push(task.clone());
            sent.push(key);
        }
        self.call(CallKind::Generate, bodies, sent, records);
    }

    /// Gives the command for a call and waits for its answer. One item goes to the single
    /// endpoint, several to the batch endpoint.
    pub(super) fn call(
        &mut self,
        kind: CallKind,
        mut bodies: Vec<serde_json::Value>,
        tasks: Vec<TaskKey>,
        write_first: Vec<crate::Task>,
    ) {
        let batched = bodies.len() > 1;
        let body = if batched {
            BatchRequest { requests: bodies }.into_value()
        } else {
            match bodies.pop() {
                Some(body) => body,
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
            account: self.account.clone(),
            tasks,
            write_first,
        }));
    }
}

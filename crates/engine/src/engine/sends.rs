//! Which tasks are sent next.

use atelier_contract::{BatchRequest, GenerateRequest, MAX_BATCH_ITEMS, path};
use serde_json::json;

use super::call::InFlight;
use super::{Call, CallId, CallKind, Command, Engine};
use crate::reduce::Event;
use crate::{BatchKey, Millis, Phase, TaskKey};

/// Submissions whose answers are awaited at one time.
const MOST_IN_FLIGHT: usize = 2;

impl Engine {
    /// Puts a Queued task in its line.
    pub(super) fn enqueue(&mut self, key: &TaskKey) {
        let Some(tracked) = self.tasks.get(key) else {
            return;
        };
        let Some(place) = &tracked.task.batch else {
            if !self.singles.contains(key) {
                self.singles.push_back(key.clone());
            }
            return;
        };
        let at = match self
            .batches
            .iter()
            .position(|(batch, _)| *batch == place.batch)
        {
            Some(at) => at,
            None => {
                self.batches
                    .push_back((place.batch.clone(), Default::default()));
                self.batches.len() - 1
            }
        };
        let index = |key: &TaskKey| {
            let task = self.tasks.get(key).map(|tracked| &tracked.task);
            task.and_then(|task| task.batch.as_ref())
                .map_or(0, |place| place.index)
        };
        let waiting = &mut self.batches[at].1;
        let place = waiting.partition_point(|other| index(other) < index(key));
        if waiting.get(place) != Some(key) {
            waiting.insert(place, key.clone());
        }
    }

    /// Whether anything could be sent, but for limits of time.
    pub(super) fn may_send(&self) -> bool {
        self.sending() < MOST_IN_FLIGHT && (!self.singles.is_empty() || self.next_batch().is_some())
    }

    fn sending(&self) -> usize {
        self.in_flight
            .values()
            .filter(|call| call.kind == CallKind::Generate)
            .count()
    }

    /// Makes one generate call, if one may leave now.
    pub(super) fn send_one(&mut self, now: Millis) -> bool {
        self.drop_stale();
        let held = self.hold.as_ref().is_some_and(|hold| hold.until > now);
        if held || !self.may_send() || !self.limiter.take(now) {
            return false;
        }
        self.hold = None;
        let (tasks, is_batch) = match self.singles.pop_front() {
            Some(key) => (vec![key], false),
            None => (self.take_from_batch(), true),
        };
        self.send(tasks, is_batch, now);
        true
    }

    /// Lines hold only what is Queued here and now: another account's tasks leave them.
    fn drop_stale(&mut self) {
        let Self {
            tasks,
            account,
            singles,
            batches,
            ..
        } = self;
        let is_fresh = |key: &TaskKey| {
            tasks.get(key).is_some_and(|tracked| {
                tracked.task.state.phase() == Phase::Queued && tracked.task.account == *account
            })
        };
        while singles.front().is_some_and(|key| !is_fresh(key)) {
            singles.pop_front();
        }
        for (_, waiting) in batches.iter_mut() {
            while waiting.front().is_some_and(|key| !is_fresh(key)) {
                waiting.pop_front();
            }
        }
        batches.retain(|(_, waiting)| !waiting.is_empty());
    }

    /// The first batch that may send: not paused, and with no call of its own under way, so that
    /// its items are accepted in order.
    fn next_batch(&self) -> Option<usize> {
        let under_way = |batch: &BatchKey| {
            self.in_flight.values().any(|call| {
                call.kind == CallKind::Generate
                    && call.tasks.first().is_some_and(|key| {
                        let task = self.tasks.get(key).map(|tracked| &tracked.task);
                        task.and_then(|task| task.batch.as_ref())
                            .is_some_and(|place| place.batch == *batch)
                    })
            })
        };
        self.batches
            .iter()
            .position(|(batch, _)| !self.paused.contains(batch) && !under_way(batch))
    }

    fn take_from_batch(&mut self) -> Vec<TaskKey> {
        let most = if self.without_batch.contains(&self.account.address) {
            1
        } else {
            MAX_BATCH_ITEMS
        };
        let Some(at) = self.next_batch() else {
            return Vec::new();
        };
        let Some((batch, mut waiting)) = self.batches.remove(at) else {
            return Vec::new();
        };
        let taken = waiting.drain(..waiting.len().min(most)).collect();
        if !waiting.is_empty() {
            // To the end: batches take turns.
            self.batches.push_back((batch, waiting));
        }
        taken
    }

    fn send(&mut self, keys: Vec<TaskKey>, is_batch: bool, now: Millis) {
        let mut bodies = Vec::new();
        let mut records = Vec::new();
        let mut sent = Vec::new();
        for key in keys {
            let Some(tracked) = self.tasks.get_mut(&key) else {
                continue;
            };
            if tracked.task.state.phase() != Phase::Queued {
                continue;
            }
            tracked.task.submitted = Some(now);
            self.happen(&key, Event::Send, now);
            let task = &self.tasks[&key].task;
            let request = GenerateRequest {
                uid: &task.account.uid,
                input: &task.input,
            };
            bodies.push(request.to_body());
            records.push(task.clone());
            sent.push(key);
        }
        let batched = is_batch && sent.len() > 1;
        self.call(CallKind::Generate, batched, bodies, sent, records);
    }

    /// Gives the command for a call and waits for its answer.
    pub(super) fn call(
        &mut self,
        kind: CallKind,
        batched: bool,
        mut bodies: Vec<serde_json::Value>,
        tasks: Vec<TaskKey>,
        write_first: Vec<crate::Task>,
    ) {
        if tasks.is_empty() {
            return;
        }
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
        let body = if batched {
            json!(BatchRequest { requests: bodies })
        } else {
            bodies.remove(0)
        };
        self.in_flight.insert(
            id,
            InFlight {
                kind,
                tasks: tasks.clone(),
                batched,
            },
        );
        self.commands.push(Command::Call(Call {
            id,
            kind,
            path,
            body,
            tasks,
            write_first,
        }));
    }
}

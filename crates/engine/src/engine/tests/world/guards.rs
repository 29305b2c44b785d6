//! Invariants, asserted for each record that is stored and each call that is sent.

use atelier_contract::ApiError;
use serde_json::Value;

use super::{InFlight, Sent, World};
use crate::engine::{Call, CallKind};
use crate::{Phase, Task, TaskState};

impl World {
    /// Records the information that the page receives with this response.
    pub(super) fn note_response(&mut self, call: &InFlight) {
        if let Err(error) = &call.answer
            && let Some(wait) = error.retry_after_ms()
            // Another token has another limit.
            && call.token == self.token
        {
            self.not_before = self.not_before.max(self.time + wait);
        }
        if call.token == self.token {
            let is_poll = call.kind != CallKind::Generate;
            match &call.answer {
                Err(ApiError::Unauthorized { .. }) => {
                    // A response to a call from before the last refusal does not count as another refusal.
                    self.refusals += u64::from(call.refusals == self.refusals);
                    self.is_refused = true;
                }
                Ok(body) if is_poll && call.refusals == self.refusals => {
                    self.is_refused &= body.get("surprise").is_some();
                }
                _ => {}
            }
        }
        if call.kind != CallKind::Generate {
            return;
        }
        for (index, key) in call.tasks.iter().enumerate() {
            match &call.answer {
                Err(error) if error.was_certainly_not_accepted() => continue,
                Err(_) => {}
                Ok(body) => {
                    let single = (call.tasks.len() == 1).then_some(body);
                    let entries = body.pointer("/data/results").and_then(Value::as_array);
                    let mut own = entries
                        .into_iter()
                        .flatten()
                        .filter(|entry| entry["index"] == index);
                    let entry = own.next().filter(|_| own.next().is_none());
                    let id = single.or(entry.map(|entry| &entry["body"]));
                    if let Some(id) = id.and_then(|body| body.pointer("/data/id")?.as_str()) {
                        self.received_ids.insert(key.clone(), id.into());
                        continue;
                    }
                    if entry.is_some_and(|entry| entry["status"] == 429) {
                        continue;
                    }
                }
            }
            self.uncertain.insert(key.clone());
        }
    }

    pub(super) fn save(&mut self, task: &Task) {
        if let Some(id) = self.received_ids.get(&task.key) {
            let known = task.state.id().map(|id| id.0.clone());
            assert_eq!(known.as_ref(), Some(id), "an id was lost: {task:?}");
        }
        if let Some(ended) = self.terminal_states.get(&task.key) {
            assert_eq!(
                ended.phase(),
                task.state.phase(),
                "a terminal state changed"
            );
        }
        if task.taken_back {
            assert_eq!(task.state, TaskState::Queued);
            self.taken_back.insert(task.key.clone());
        }
        if task.state.is_terminal() {
            self.terminal_states
                .insert(task.key.clone(), task.state.clone());
        }
        if matches!(
            task.state.phase(),
            Phase::Fetching | Phase::Ready | Phase::Failed
        ) {
            self.noticed.entry(task.key.clone()).or_insert(self.time);
        }
        let text = serde_json::to_string(task).unwrap();
        self.storage.insert(task.key.clone(), text);
    }

    pub(super) fn send(&mut self, call: Call) {
        assert!(
            self.time >= self.not_before,
            "called before Retry-After had passed"
        );
        assert!((1..=10).contains(&call.tasks.len()));
        for other in &self.in_flight {
            let shared = call.tasks.iter().find(|key| other.tasks.contains(key));
            assert_eq!(shared, None, "two calls for a task in flight");
        }
        if self.is_refused {
            assert_ne!(
                call.kind,
                CallKind::Generate,
                "sent with refused credentials"
            );
        }
        if call.kind == CallKind::Generate {
            assert_eq!(call.write_first(), call.tasks);
            for key in call.write_first() {
                let task: Task = serde_json::from_str(&self.storage[key]).unwrap();
                assert_eq!(task.state, TaskState::Submitting);
                assert!(!self.taken_back.contains(&task.key), "sent and taken back");
                assert!(
                    !self.uncertain.contains(&task.key) || task.idempotency_key.is_some(),
                    "resent without the user's consent"
                );
            }
        }
        self.sent.push(Sent {
            kind: call.kind,
            tasks: call.tasks.clone(),
        });
        let answer = self.answer(&call);
        let (least, most) = self.latency;
        let at = self.time + least + self.below(most - least + 1);
        self.in_flight.push(InFlight {
            id: call.id,
            kind: call.kind,
            tasks: call.tasks,
            at,
            answer,
            token: self.token,
            refusals: self.refusals,
        });
    }
}

//! The simulated stream of events, which may be refused, silent, interrupted, incomplete and wrong.

use std::collections::HashMap;

use atelier_contract::{ApiError, ServerEvent};
use serde_json::{Value, json};

use super::World;
use crate::Millis;
use crate::engine::{CallKind, StreamAction};

/// The number in a thousand of streams and events with each fault.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct StreamFaults {
    pub refused: u64,
    pub silent: u64,
    /// Streams that report changes for a while, and then nothing more without an end.
    pub falls_silent: u64,
    pub lost_event: u64,
    pub odd_event: u64,
}

/// An open stream, in true time.
pub struct OpenStream {
    next: Millis,
    last_byte: Millis,
    ends: Millis,
    has_begun: bool,
    /// When it falls silent, although it stays open.
    silent_from: Option<Millis>,
    /// The last reported status of each task.
    reported: HashMap<String, Value>,
}

impl World {
    pub(super) fn act_on_stream(&mut self) {
        let now = self.now();
        let (is_open, chance) = (self.stream.is_some(), self.chance());
        match self.engine.stream_action(is_open, true, now, chance) {
            Some(StreamAction::Close) => self.stream = None,
            Some(StreamAction::Open(_)) => {
                assert!(
                    self.time >= self.not_before,
                    "opened before Retry-After had passed"
                );
                assert!(self.stream.is_none(), "two streams");
                let duration = 1_000 + self.below(900_000);
                let silent_from = if self.below(1_000) < self.stream_faults.silent {
                    Some(self.time)
                } else if self.below(1_000) < self.stream_faults.falls_silent {
                    Some(self.time + self.below(duration))
                } else {
                    None
                };
                self.streams += 1;
                self.stream = Some(OpenStream {
                    next: self.time + 20 + self.below(500),
                    last_byte: self.time,
                    ends: self.time + duration,
                    has_begun: false,
                    silent_from,
                    reported: HashMap::new(),
                });
            }
            None => {}
        }
    }

    /// Returns when the stream continues.
    pub(super) fn next_in_stream(&self) -> Option<Millis> {
        let stream = self.stream.as_ref()?;
        let is_silent = stream.silent_from.is_some_and(|at| at <= stream.next);
        (!is_silent).then_some(stream.next)
    }

    /// Delivers what the service has sent.
    pub(super) fn deliver_stream(&mut self) {
        if self.next_in_stream().is_none_or(|at| at > self.time) {
            return;
        }
        let Some(mut stream) = self.stream.take() else {
            return;
        };
        let now = self.now();
        let error = match stream.has_begun {
            _ if self.revoked => Some(ApiError::from_status(401, None, None)),
            false if self.below(1_000) < self.stream_faults.refused => Some(match self.below(3) {
                0 => ApiError::from_status(404, None, None),
                1 => {
                    let wait = self.below(90_000);
                    self.not_before = self.not_before.max(self.time + wait);
                    ApiError::from_status(429, None, Some(wait))
                }
                _ => ApiError::from_status(500, None, None),
            }),
            _ => None,
        };
        if error.is_some() || self.time >= stream.ends {
            let chance = self.chance();
            return (self.engine).stream_ended(error.as_ref(), now, chance);
        }
        let mut events = Vec::new();
        if !std::mem::replace(&mut stream.has_begun, true) {
            events.push(event("missed", &json!({})));
        }
        let ids: Vec<String> = self.jobs.keys().cloned().collect();
        for id in ids {
            let status = self
                .one(CallKind::Status, &json!({"id": id, "uid": "me"}), None)
                .1["data"]
                .take();
            if stream.reported.insert(id.clone(), status.clone()).as_ref() == Some(&status) {
                continue;
            }
            let mut data = status;
            (data["category"], data["subcategory"]) = ("image".into(), "a".into());
            if self.below(1_000) < self.stream_faults.odd_event {
                let mut odd = data.clone();
                match self.below(5) {
                    0 => odd["status"] = "processing".into(),
                    1 => odd["id"] = "unknown".into(),
                    2 => (odd["subcategory"], odd["status"]) = ("b".into(), "failed".into()),
                    3 => odd = json!([]),
                    _ => odd = data.clone(),
                }
                events.push(event("status", &odd));
            }
            if self.below(1_000) >= self.stream_faults.lost_event {
                events.push(event("status", &data));
            }
        }
        stream.next = self.time + 1_000;
        if !events.is_empty() || self.time - stream.last_byte >= 15_000 {
            stream.last_byte = self.time;
            let chance = self.chance();
            self.engine.stream_received(&events, now, chance);
        }
        self.stream = Some(stream);
    }
}

fn event(kind: &str, data: &Value) -> ServerEvent {
    ServerEvent {
        kind: kind.into(),
        data: data.to_string(),
        id: None,
    }
}

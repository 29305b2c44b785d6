//! Follows tasks through the service's stream of events, an extension of the interface. While the stream lives, running
//! tasks are polled once a minute only. An event has the same effect as the answer to a poll.

use atelier_contract::{ApiError, Progress, ServerEvent, json};
use serde_json::{Value, json};

use super::Engine;
use crate::{Millis, Phase, TaskKey, schedule};

/// The interval of polls while the stream lives, in milliseconds. They find what the stream has not reported.
const INTERVAL: Millis = 60_000;

/// The stream is dead after this time without a byte, in milliseconds. The service sends one every 15 seconds. A proxy that
/// collects bytes for longer makes the stream useless, too.
const MAX_SILENCE: Millis = 22_000;

/// The shortest time between polls because the service reports missed events, in milliseconds. After a report during a poll, the
/// next one has the interval without a stream.
const MISSED_INTERVAL: Millis = 5_000;

/// The mean wait after an answer that is no stream, in milliseconds. A proxy may have sent it during an update of the service.
const REFUSED_WAIT: Millis = 600_000;

/// The shortest wait of the stream after a 429, in milliseconds. It doubles for each failure in the row before it, up to eight
/// minutes. Calls wait only for Retry-After: a gateway that allows no more connections would stop them again and again.
const LIMITED_WAIT: Millis = 60_000;

/// The waits before a stream is opened again, in milliseconds, by the number of failures in a row.
const RECONNECT: [Millis; 5] = [1_000, 2_000, 5_000, 15_000, 60_000];

/// A stream that lasted this long, in milliseconds, has not failed: the service ends each stream after a while.
const MIN_DURATION: Millis = 60_000;

/// The stream of the current account.
#[derive(Debug, Default)]
pub(super) struct EventStream {
    is_offered: bool,
    open: Option<Open>,
    failures: usize,
    /// When a stream may be opened next.
    not_before: Millis,
    /// The id of the last event, with which the next stream continues.
    last_event: Option<String>,
    /// When tasks are, or were last, polled because the service reported missed events.
    missed_poll: Option<Millis>,
}

/// An open stream.
#[derive(Debug, Clone, Copy)]
struct Open {
    since: Millis,
    /// When the last byte was received, or the stream was opened.
    heard: Millis,
    /// Whether the byte before that was received, so that changes after it are reported at once.
    is_timely: bool,
    /// Whether a byte was received.
    is_alive: bool,
}

/// What to do with the stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StreamAction {
    /// Open a stream that continues after the event with this id.
    Open(Option<String>),
    /// Close the stream, and report nothing more of it.
    Close,
}

impl EventStream {
    /// Whether changes of tasks are reported.
    pub fn is_alive(&self) -> bool {
        self.open.is_some_and(|open| open.is_alive)
    }

    /// Whether a connection is in use.
    pub fn is_open(&self) -> bool {
        self.open.is_some()
    }

    /// Returns the interval of polls: at least a minute while changes are reported.
    pub fn interval(&self, usual: Millis) -> Millis {
        if self.is_alive() {
            usual.max(INTERVAL)
        } else {
            usual
        }
    }

    /// Returns when the stream counts as dead unless a byte is received.
    pub fn dead_at(&self) -> Option<Millis> {
        self.open.map(|open| open.heard.saturating_add(MAX_SILENCE))
    }

    /// Moves the times back after the clock was set back.
    pub fn shift_back(&mut self, back: Millis) {
        self.not_before = self.not_before.saturating_sub(back);
        self.missed_poll = self.missed_poll.map(|at| at.saturating_sub(back));
        if let Some(open) = &mut self.open {
            for at in [&mut open.since, &mut open.heard] {
                *at = at.saturating_sub(back);
            }
        }
    }
}

impl Engine {
    /// Sets whether the service announces a stream.
    pub fn set_stream_offered(&mut self, is_offered: bool) {
        self.stream.is_offered = is_offered;
    }

    /// Returns what to do with the stream now. Must be called before each step. `is_open`: whether the owner has an open
    /// stream; `may_open`: whether it has credentials for the account.
    pub fn stream_action(
        &mut self,
        is_open: bool,
        may_open: bool,
        now: Millis,
        chance: f64,
    ) -> Option<StreamAction> {
        self.advance(now);
        if self.stream.dead_at().is_some_and(|at| at <= now) {
            self.stream_ended(None, now, chance);
        }
        let may_call = self.leading && self.online && may_open && !self.is_refused();
        let is_wanted = self.stream.is_offered && may_call && self.is_following();
        if !is_wanted {
            self.close_stream(now);
        }
        if self.stream.open.is_some() {
            return None;
        }
        if is_open {
            return Some(StreamAction::Close);
        }
        let limiter = self.services.limiter(&self.account.address, now);
        if !is_wanted || self.stream.not_before > now || !limiter.take(now) {
            return None;
        }
        self.stream.open = Some(Open {
            since: now,
            heard: now,
            is_timely: false,
            is_alive: false,
        });
        Some(StreamAction::Open(self.stream.last_event.clone()))
    }

    /// Handles a chunk of the stream with these events; there may be none.
    pub fn stream_received(&mut self, events: &[ServerEvent], now: Millis, chance: f64) {
        self.advance(now);
        let Some(open) = &mut self.stream.open else {
            return;
        };
        // The device has slept: these bytes were waiting, and more may be missing.
        if now.saturating_sub(open.heard) >= MAX_SILENCE {
            self.stream_ended(None, now, chance);
            return;
        }
        open.is_timely = open.is_alive;
        open.heard = now;
        if !std::mem::replace(&mut open.is_alive, true) {
            self.miss_events(now);
        }
        for event in events {
            if event.id.is_some() {
                self.stream.last_event.clone_from(&event.id);
            }
            match event.kind.as_str() {
                "status" => self.status_event(&event.data, now, chance),
                "missed" => self.missed_event(now),
                _ => {}
            }
        }
    }

    /// Handles the end of the stream, or an attempt to open it that failed with an error.
    pub fn stream_ended(&mut self, error: Option<&ApiError>, now: Millis, chance: f64) {
        self.advance(now);
        let Some(open) = self.stream.open else {
            return;
        };
        self.close_stream(now);
        if now.saturating_sub(open.since) >= MIN_DURATION && open.is_alive {
            self.stream.failures = 0;
        }
        let failures = self.stream.failures;
        let last = RECONNECT.len() - 1;
        let wait = match error {
            // Another attempt would have the same result: it is not a stream, or the service refuses it.
            Some(error) if !error.is_retryable() || matches!(error, ApiError::Malformed { .. }) => {
                REFUSED_WAIT
            }
            _ => RECONNECT[failures.min(last)],
        };
        self.stream.failures += 1;
        let mut least = error.and_then(ApiError::retry_after_ms).unwrap_or_default();
        if matches!(error, Some(ApiError::RateLimited { .. })) {
            least = least.max(LIMITED_WAIT << failures.min(3));
        }
        self.stream.not_before = now
            .saturating_add(least)
            .saturating_add(schedule::spread_out(wait, chance));
        if let Some(ApiError::RateLimited { retry_after_ms, .. }) = error {
            let address = self.account.address.clone();
            self.limit_rate(&address, *retry_after_ms, now);
        }
    }

    /// Whether any running task of the account is followed.
    fn is_following(&self) -> bool {
        let is_followed = |key: &TaskKey| {
            let task = self.task(key);
            task.is_some_and(|task| {
                task.watching
                    && task.account == self.account
                    && task.state.phase() == Phase::Running
            })
        };
        let mut asked = self.calls.polls().flat_map(|call| &call.tasks);
        self.timers.polls.iter().any(|(_, key)| is_followed(key)) || asked.any(is_followed)
    }

    /// Forgets the stream of another account or token.
    pub(super) fn reset_stream(&mut self, now: Millis) {
        self.close_stream(now);
        self.stream = EventStream {
            is_offered: self.stream.is_offered,
            ..EventStream::default()
        };
    }

    fn close_stream(&mut self, now: Millis) {
        let was_alive = self.stream.is_alive();
        self.stream.open = None;
        if was_alive {
            self.miss_events(now);
        }
    }

    /// Handles a report of missed events. A service may report them often.
    fn missed_event(&mut self, now: Millis) {
        let at = match self.stream.missed_poll {
            Some(at) if at > now => at,
            last => last.map_or(now, |at| now.max(at.saturating_add(MISSED_INTERVAL))),
        };
        self.stream.missed_poll = Some(at);
        self.miss_events(at);
    }

    /// Polls all running tasks at this time, because their changes may not have been reported. Failed polls are repeated
    /// when they are due.
    fn miss_events(&mut self, at: Millis) {
        let mut due = Vec::new();
        for (key, tracked) in &mut self.tasks {
            tracked.must_poll = true;
            let is_running = tracked.task.state.phase() == Phase::Running;
            let is_failing = tracked.failures > 0 || tracked.error_since.is_some();
            let is_due_later = self.timers.polls.get(key).is_some_and(|due| due > at);
            if is_running && !is_failing && is_due_later {
                due.push(key.clone());
            }
        }
        for key in due {
            self.set_due(&key, at);
        }
    }

    /// Handles an event like the answer to a poll of its task. Ignores events about other tasks and ended tasks: an event
    /// may be older than the last answer.
    fn status_event(&mut self, data: &str, now: Millis, chance: f64) {
        let Some(data) = json::read(data) else {
            return;
        };
        let Some(key) = self.running_task(&data) else {
            return;
        };
        let Ok(progress) = Progress::from_body(&json!({ "data": data })) else {
            return;
        };
        let is_in_flight = self.calls.is_in_flight(&key);
        let is_timely = self.stream.open.is_some_and(|open| open.is_timely);
        let Some(tracked) = self.tasks.get_mut(&key) else {
            return;
        };
        // The answer to the poll may be older than the event.
        if is_in_flight || !tracked.task.watching {
            tracked.must_poll = true;
            return;
        }
        if is_timely {
            tracked.last_answer = Some(now);
        }
        tracked.must_poll = false;
        self.apply_progress(&key, progress, now, chance);
    }

    /// Returns the running task of an event. Ids may be unique within a model only.
    fn running_task(&self, data: &Value) -> Option<TaskKey> {
        let is_it = |task: &&crate::Task| {
            task.state.phase() == Phase::Running
                && task.account == self.account
                && (task.state.id()).is_some_and(|id| data["id"] == *id.0)
                && data["category"] == *task.model.category
                && data["subcategory"] == *task.model.subcategory
        };
        self.tasks().find(is_it).map(|task| task.key.clone())
    }
}

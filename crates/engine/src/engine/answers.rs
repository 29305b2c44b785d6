//! What answers mean for the tasks they are about.

use atelier_contract::{Accepted, ApiError, BatchReply, Output, Progress, StatusWord};
use serde_json::Value;

use super::call::InFlight;
use super::polls::age;
use super::{CallKind, Engine, Hold};
use crate::reduce::Event;
use crate::{Millis, TaskKey, TaskState, schedule};

/// A service that says twice, this far apart, that it does not know an id, is believed: one that is
/// just starting may say so once.
const GONE_AFTER: Millis = 5_000;

/// Completed without output is asked about this often before it is believed.
const EMPTY_ANSWERS: u32 = 3;

/// The longest hold after unanswered submissions.
const LONGEST_HOLD: Millis = 60_000;

impl Engine {
    pub(super) fn take_answer(
        &mut self,
        call: InFlight,
        answer: Result<Value, ApiError>,
        now: Millis,
        random: &mut dyn FnMut() -> f64,
    ) {
        let no_batch = call.batched && matches!(answer, Err(ApiError::NotFound { .. }));
        if no_batch {
            // The service has no batch endpoints: nothing was accepted, each is asked singly.
            self.without_batch.insert(self.account.address.clone());
            for key in &call.tasks {
                match call.kind {
                    CallKind::Generate => self.happen(key, Event::PutBack, now),
                    CallKind::Status | CallKind::Response => self.set_due(key, now),
                }
            }
            return;
        }
        // One wait for all tasks of a call, so that they stay together.
        let chance = random();
        match answer {
            Err(error) => {
                self.note_failure(&call, &error, now, chance);
                for key in &call.tasks {
                    self.one(call.kind, key, Err(error.clone()), now, chance);
                }
            }
            Ok(body) if call.batched => match BatchReply::from_body(&body, call.tasks.len()) {
                Err(error) => {
                    self.note_failure(&call, &error, now, chance);
                    for key in &call.tasks {
                        self.one(call.kind, key, Err(error.clone()), now, chance);
                    }
                }
                Ok(reply) => {
                    self.note_success(call.kind);
                    for (key, entry) in call.tasks.iter().zip(reply.entries) {
                        let answer = match entry {
                            None => Err(ApiError::malformed(
                                "the batch reply has no entry for this item",
                            )),
                            Some(entry) if (200..300).contains(&entry.status) => Ok(entry.body),
                            Some(entry) => {
                                Err(ApiError::from_status(entry.status, Some(&entry.body), None))
                            }
                        };
                        if let Err(error @ ApiError::RateLimited { .. }) = &answer {
                            self.note_failure(&call, error, now, chance);
                        }
                        self.one(call.kind, key, answer, now, chance);
                    }
                }
            },
            Ok(body) => {
                self.note_success(call.kind);
                self.one(call.kind, &call.tasks[0], Ok(body), now, chance);
            }
        }
    }

    /// What a call without an answer means for all further calls.
    fn note_failure(&mut self, call: &InFlight, error: &ApiError, now: Millis, chance: f64) {
        let waits = matches!(error, ApiError::RateLimited { .. })
            || matches!(
                error,
                ApiError::Server {
                    status: 503,
                    retry_after_ms: Some(_),
                    ..
                }
            );
        if waits {
            if self.limiter.blocked_until(now).is_none() || error.retry_after_ms().is_some() {
                self.limiter.refuse(now, error.retry_after_ms(), chance);
            }
            return;
        }
        if matches!(error, ApiError::Unauthorized { .. }) {
            self.unauthorized = true;
        }
        if call.kind != CallKind::Generate {
            return;
        }
        if matches!(error, ApiError::Unauthorized { .. }) {
            self.hold = Some(Hold {
                until: now + LONGEST_HOLD,
                error: error.clone(),
            });
        } else if !error.was_certainly_not_accepted() {
            self.unanswered = self.unanswered.saturating_add(1);
            let wait = 5_000_u64 << self.unanswered.min(5).saturating_sub(1);
            self.hold = Some(Hold {
                until: now + wait.min(LONGEST_HOLD),
                error: error.clone(),
            });
        }
    }

    fn note_success(&mut self, kind: CallKind) {
        self.limiter.accept();
        self.unauthorized = false;
        self.unanswered = 0;
        let refused = self
            .hold
            .as_ref()
            .is_some_and(|hold| matches!(hold.error, ApiError::Unauthorized { .. }));
        // The service answers again: what waited for that goes on.
        if !refused || kind == CallKind::Generate {
            self.hold = None;
        }
    }

    /// One task's own answer.
    fn one(
        &mut self,
        kind: CallKind,
        key: &TaskKey,
        answer: Result<Value, ApiError>,
        now: Millis,
        chance: f64,
    ) {
        match kind {
            CallKind::Generate => self.submitted(key, answer, now, chance),
            CallKind::Status => self.polled(key, answer, now, chance),
            CallKind::Response => self.fetched(key, answer, now, chance),
        }
    }

    fn submitted(
        &mut self,
        key: &TaskKey,
        answer: Result<Value, ApiError>,
        now: Millis,
        chance: f64,
    ) {
        let accepted = answer.and_then(|body| {
            let accepted = Accepted::from_body(&body)?;
            Ok((accepted, body))
        });
        match accepted {
            Ok((Accepted { id, status }, body)) => {
                let error = Progress::from_body(&body)
                    .ok()
                    .and_then(|progress| progress.error);
                self.happen(
                    key,
                    Event::Accepted {
                        id,
                        word: status,
                        error,
                    },
                    now,
                );
                self.poll_again(key, now, chance);
            }
            Err(
                ApiError::RateLimited { .. }
                | ApiError::Server {
                    status: 503,
                    retry_after_ms: Some(_),
                    ..
                },
            ) => {
                self.happen(key, Event::PutBack, now);
            }
            Err(error) if error.was_certainly_not_accepted() => {
                self.happen(
                    key,
                    Event::Rejected {
                        message: error.sentence(),
                    },
                    now,
                );
            }
            Err(error) => self.happen(key, Event::LostAnswer { error }, now),
        }
    }

    fn polled(&mut self, key: &TaskKey, answer: Result<Value, ApiError>, now: Millis, chance: f64) {
        let asked = self
            .tasks
            .get(key)
            .and_then(|tracked| tracked.task.state.id().cloned());
        let progress = answer
            .and_then(|body| Progress::from_body(&body))
            .and_then(|progress| {
                // An answer about another task says nothing of this one.
                match (&progress.id, &asked) {
                    (Some(told), Some(asked)) if told != asked => {
                        Err(ApiError::malformed("it is about another task"))
                    }
                    _ => Ok(progress),
                }
            });
        match progress {
            Ok(Progress { status, error, .. }) => {
                self.heard(key);
                self.happen(
                    key,
                    Event::Progress {
                        word: status,
                        error,
                    },
                    now,
                );
                self.poll_again(key, now, chance);
            }
            Err(error) => self.unheard(key, &error, now, chance),
        }
    }

    fn fetched(
        &mut self,
        key: &TaskKey,
        answer: Result<Value, ApiError>,
        now: Millis,
        chance: f64,
    ) {
        let Some(tracked) = self.tasks.get_mut(key) else {
            return;
        };
        if matches!(tracked.task.state, TaskState::Ready { .. }) {
            // A person asked for fresh addresses; without any the old ones stay.
            tracked.refetch = false;
            if let Ok(Output { output, .. }) = answer.and_then(|body| Output::from_body(&body)) {
                self.happen(key, Event::Ready { outputs: output }, now);
            }
            return;
        }
        match answer.and_then(|body| Output::from_body(&body)) {
            Ok(Output {
                status: StatusWord::Completed,
                output,
                ..
            }) => {
                let tracked_empty = output.is_empty() && {
                    tracked.empty_answers += 1;
                    tracked.empty_answers < EMPTY_ANSWERS
                };
                self.heard(key);
                if tracked_empty {
                    self.set_due(key, now + schedule::after_failures(2, chance));
                } else {
                    self.happen(key, Event::Ready { outputs: output }, now);
                }
            }
            Ok(Output { status, error, .. }) => {
                self.heard(key);
                self.happen(
                    key,
                    Event::Progress {
                        word: status,
                        error,
                    },
                    now,
                );
                self.poll_again(key, now, chance);
            }
            Err(error) => self.unheard(key, &error, now, chance),
        }
    }

    /// An answer came: whatever was unclear is clear again.
    fn heard(&mut self, key: &TaskKey) {
        if let Some(tracked) = self.tasks.get_mut(key) {
            tracked.failures = 0;
            tracked.unknown_since = None;
            if tracked.task.trouble.take().is_some() {
                self.commands
                    .push(super::Command::Save(tracked.task.clone()));
            }
        }
    }

    /// No answer: the state stays, and the question is asked again, for ever.
    fn unheard(&mut self, key: &TaskKey, error: &ApiError, now: Millis, chance: f64) {
        let Some(tracked) = self.tasks.get_mut(key) else {
            return;
        };
        let mut wait = 0;
        if matches!(error, ApiError::NotFound { .. }) {
            let since = *tracked.unknown_since.get_or_insert(now);
            if now.saturating_sub(since) >= GONE_AFTER {
                self.happen(key, Event::Gone, now);
                return;
            }
            wait = GONE_AFTER;
        }
        tracked.failures = tracked.failures.saturating_add(1);
        wait = wait.max(schedule::after_failures(tracked.failures, chance));
        let is_watched = tracked.task.watching;
        self.set_trouble(key, error, now);
        if is_watched {
            self.set_due(key, now + wait);
        }
    }

    /// The next poll of a task that still runs.
    fn poll_again(&mut self, key: &TaskKey, now: Millis, chance: f64) {
        let Some(tracked) = self.tasks.get(key) else {
            return;
        };
        if matches!(tracked.task.state, TaskState::Running { .. }) && tracked.task.watching {
            let wait = schedule::interval(age(&tracked.task, now));
            self.set_due(key, now + schedule::jittered(wait, chance));
        }
    }
}

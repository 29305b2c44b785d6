//! What answers mean for the tasks they are about.

use atelier_contract::{Accepted, ApiError, BatchReply, Output, Progress, StatusWord, envelope};
use serde_json::Value;

use super::again::settles;
use super::call::InFlight;
use super::judgement::asks_to_wait;
use super::polls::age;
use super::{CallKind, Engine};
use crate::reduce::Event;
use crate::{Millis, Phase, TaskKey, TaskState, schedule};

/// A service that says twice, this far apart and nothing else in between, that it does not know an
/// id, is believed: one that is just starting may say so once.
const GONE_AFTER: Millis = 5_000;

/// The same, where the 404 comes without a word. A service that knows its tasks says something; a
/// proxy or a web server that stands in its place for a while does not, and to lose sight of a
/// paid task is worse than to ask about a lost one for a minute.
const GONE_AFTER_WORDLESS: Millis = 60_000;

/// Completed without output is asked about this often before it is believed.
const EMPTY_ANSWERS: u32 = 4;

impl Engine {
    pub(super) fn take_response(
        &mut self,
        call: InFlight,
        answer: Result<Value, ApiError>,
        now: Millis,
        random: &mut dyn FnMut() -> f64,
    ) {
        let answer = match answer {
            Ok(body) if call.batched => {
                BatchReply::from_body(&body, call.tasks.len()).map(|reply| items(&call, reply))
            }
            Ok(body) => Ok(vec![Ok(body)]),
            Err(error) => Err(error),
        };
        let responses = match answer {
            Ok(responses) => responses,
            Err(ApiError::NotFound { .. }) if call.batched => {
                // The service has no batch endpoints, so it took nothing: each is asked singly.
                let address = &call.account.address;
                self.services.set_without_batch(address, now);
                return self.ask_again(&call, now);
            }
            Err(ApiError::Invalid { .. }) if call.batched => {
                // One item spoilt the call for all, or all together are too large.
                self.separate(&call);
                return self.ask_again(&call, now);
            }
            Err(error) => {
                if call.batched && matches!(error, ApiError::Refused { .. }) {
                    self.separate(&call);
                }
                vec![Err(error); call.tasks.len()]
            }
        };
        // One wait for all tasks of a call, so that they stay together.
        let chance = random();
        let results: Vec<Result<(), ApiError>> = call
            .tasks
            .iter()
            .zip(responses)
            .map(|(key, answer)| match call.kind {
                CallKind::Generate => self.submitted(key, answer, now, chance),
                CallKind::Status => self.polled(key, answer, now, chance),
                CallKind::Response => self.fetched(key, answer, now, chance),
            })
            .collect();
        self.judge_service(&call, &results, now, chance);
    }

    /// The call as a whole came to nothing: its tasks wait for another one.
    pub(super) fn ask_again(&mut self, call: &InFlight, now: Millis) {
        for key in &call.tasks {
            match call.kind {
                CallKind::Generate => self.not_taken(key, now, now),
                CallKind::Status | CallKind::Response => self.set_due(key, now),
            }
        }
    }

    fn separate(&mut self, call: &InFlight) {
        for key in &call.tasks {
            if let Some(tracked) = self.tasks.get_mut(key) {
                tracked.send_singly = true;
            }
        }
    }

    /// The answer to a task's submission. `Err` says why it was of no use.
    fn submitted(
        &mut self,
        key: &TaskKey,
        answer: Result<Value, ApiError>,
        now: Millis,
        chance: f64,
    ) -> Result<(), ApiError> {
        match answer.and_then(|body| Accepted::from_body(&body)) {
            Ok(Accepted {
                id,
                status: word,
                error,
            }) => {
                self.poll_ok(key);
                self.apply_event(key, Event::Accepted { id, word, error }, now);
                self.poll_again(key, now, chance);
                Ok(())
            }
            Err(error) => {
                self.not_submitted(key, &error, now, chance);
                Err(error)
            }
        }
    }

    fn not_submitted(&mut self, key: &TaskKey, error: &ApiError, now: Millis, chance: f64) {
        let tracked = self.tasks.get(key);
        // An earlier one may have been taken.
        let is_in_doubt = tracked
            .is_some_and(|tracked| tracked.uncertain_error.is_some() || tracked.task.resubmitted);
        if asks_to_wait(error) {
            return self.not_taken(key, now, now);
        }
        if !settles(error, is_in_doubt) {
            let at = self.retry_at(key, now, chance);
            return self.mark_uncertain(key, error.clone(), at, now);
        }
        // A refused input was never taken, unless what it names has gone or changed since: a person may have sent it
        // once more much later. Any other refusal of what may have been taken before contradicts what the service
        // says of its keys: a person decides.
        let is_resubmitted = tracked.is_some_and(|tracked| tracked.task.resubmitted);
        let is_input = !is_resubmitted
            && matches!(error, ApiError::Invalid { fields, .. } if !fields.is_empty());
        let event = if is_in_doubt && !is_input {
            Event::LostAnswer {
                error: error.clone(),
            }
        } else {
            Event::Rejected {
                message: error.user_message(),
            }
        };
        self.apply_event(key, event, now);
    }

    fn polled(
        &mut self,
        key: &TaskKey,
        answer: Result<Value, ApiError>,
        now: Millis,
        chance: f64,
    ) -> Result<(), ApiError> {
        let asked = self.task(key).and_then(|task| task.state.id().cloned());
        let progress = answer.and_then(|body| Progress::from_body(&body));
        let progress = progress.and_then(|progress| match (&progress.id, &asked) {
            // An answer about another task says nothing of this one.
            (Some(told), Some(asked)) if told != asked => {
                Err(ApiError::malformed("it is about another task"))
            }
            _ => Ok(progress),
        });
        match progress {
            Ok(Progress {
                status,
                error,
                line,
                ..
            }) => {
                self.progressed(key, status, error, now, chance);
                self.say_progress(key, line);
                Ok(())
            }
            Err(error) => self.poll_failed(key, error, now, chance),
        }
    }

    fn fetched(
        &mut self,
        key: &TaskKey,
        answer: Result<Value, ApiError>,
        now: Millis,
        chance: f64,
    ) -> Result<(), ApiError> {
        let Some(tracked) = self.tasks.get_mut(key) else {
            return answer.map(|_| ());
        };
        let answer = answer.and_then(|body| Output::from_body(&body));
        if matches!(tracked.task.state, TaskState::Ready { .. }) {
            // A person asked for fresh addresses; without any the old ones stay.
            tracked.refetch = false;
            return match answer {
                Ok(Output { output, .. }) => {
                    tracked.task.refreshed = Some(now);
                    self.apply_event(key, Event::Ready { outputs: output }, now);
                    self.save(key);
                    Ok(())
                }
                Err(error) if asks_to_wait(&error) => {
                    tracked.refetch = true;
                    self.set_due(key, now);
                    Err(error)
                }
                Err(error) => {
                    tracked.task.refreshed = Some(now);
                    self.save(key);
                    Err(error)
                }
            };
        }
        let Output {
            status,
            output,
            error,
        } = match answer {
            Ok(output) => output,
            Err(error) => return self.poll_failed(key, error, now, chance),
        };
        let is_output = match &status {
            StatusWord::Completed => {
                tracked.empty_answers = tracked.empty_answers.saturating_add(1);
                !output.is_empty() || tracked.empty_answers >= EMPTY_ANSWERS
            }
            // A word of its own beside outputs, from a service that has said completed.
            StatusWord::Other(_) => !output.is_empty(),
            _ => false,
        };
        if is_output {
            self.poll_ok(key);
            self.apply_event(key, Event::Ready { outputs: output }, now);
        } else if status == StatusWord::Completed {
            self.poll_ok(key);
            let tries = self
                .tasks
                .get(key)
                .map_or(0, |tracked| tracked.empty_answers);
            self.set_due(key, now + schedule::after_failures(tries, chance));
        } else {
            self.progressed(key, status, error, now, chance);
        }
        Ok(())
    }

    fn progressed(
        &mut self,
        key: &TaskKey,
        word: StatusWord,
        error: Option<String>,
        now: Millis,
        chance: f64,
    ) {
        self.poll_ok(key);
        self.apply_event(key, Event::Progress { word, error }, now);
        self.poll_again(key, now, chance);
    }

    /// Keeps the line while the task runs.
    fn say_progress(&mut self, key: &TaskKey, line: Option<String>) {
        let Some(tracked) = self.tasks.get_mut(key) else {
            return;
        };
        let is_running = tracked.task.state.phase() == Phase::Running;
        if is_running && tracked.task.progress != line {
            tracked.task.progress = line;
            self.save(key);
        }
    }

    /// An answer came: whatever was unclear is clear again.
    fn poll_ok(&mut self, key: &TaskKey) {
        if let Some(tracked) = self.tasks.get_mut(key) {
            tracked.failures = 0;
            tracked.unknown_since = None;
            if tracked.task.poll_error.take().is_some() {
                self.save(key);
            }
        }
    }

    /// No answer: the state stays, and the question is asked again, for ever.
    fn poll_failed(
        &mut self,
        key: &TaskKey,
        error: ApiError,
        now: Millis,
        chance: f64,
    ) -> Result<(), ApiError> {
        let Some(tracked) = self.tasks.get_mut(key) else {
            return Err(error);
        };
        let is_watched = tracked.task.watching;
        if asks_to_wait(&error) {
            // No trouble of this task: all calls wait, and then it is asked about at once.
            if is_watched {
                self.set_due(key, now);
            }
            return Err(error);
        }
        let mut wait = 0;
        if let ApiError::NotFound { message } = &error {
            let enough = if message.is_empty() {
                GONE_AFTER_WORDLESS
            } else {
                GONE_AFTER
            };
            // `min`: the clock may have been set back.
            let since = tracked.unknown_since.map_or(now, |since| since.min(now));
            tracked.unknown_since = Some(since);
            if now - since >= enough {
                self.apply_event(key, Event::Gone, now);
                return Err(error);
            }
            wait = GONE_AFTER;
        } else {
            tracked.unknown_since = None;
        }
        tracked.failures = tracked.failures.saturating_add(1);
        wait = wait.max(schedule::after_failures(tracked.failures, chance));
        if is_watched {
            self.set_poll_error(key, &error, now);
            self.set_due(key, now.saturating_add(wait));
        }
        Err(error)
    }

    /// The next poll of a task that still runs.
    fn poll_again(&mut self, key: &TaskKey, now: Millis, chance: f64) {
        let Some(task) = self.task(key) else {
            return;
        };
        if matches!(task.state, TaskState::Running { .. }) && task.watching {
            let wait = schedule::jittered(schedule::interval(age(task, now)), chance);
            self.set_due(key, now.saturating_add(wait));
        }
    }
}

/// A batch reply as the answers that the single endpoint would have given.
fn items(call: &InFlight, reply: BatchReply) -> Vec<Result<Value, ApiError>> {
    let responses = reply.entries.into_iter().map(|entry| match entry {
        None => Err(ApiError::malformed(
            "the batch reply has no entry for this item",
        )),
        Some(entry) if call.kind == CallKind::Generate => {
            envelope::submitted(entry.status, entry.body, None)
        }
        Some(entry) => envelope::answer(entry.status, entry.body, None),
    });
    responses.take(call.tasks.len()).collect()
}

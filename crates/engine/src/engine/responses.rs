//! Applies the response to a call to its tasks.

use atelier_contract::{Accepted, ApiError, BatchReply, Output, Progress, StatusWord};
use serde_json::Value;

use super::batched::items;
use super::call::InFlight;
use super::polls::MAX_INTERVAL;
use super::reply_limits::is_unreadable;
use super::service_status::asks_to_wait;
use super::{CallKind, Engine, Pending};
use crate::reduce::Event;
use crate::{Millis, Phase, TaskKey, schedule};

/// A task is Gone after two 404s at least this far apart, in milliseconds, with no other response in between. A service
/// that is just starting may return a single 404.
const GONE_AFTER: Millis = 5_000;

/// Like [`GONE_AFTER`], for a 404 that is not in the service's format, such as that of a proxy, gateway or web server.
/// Losing a paid task is worse than polling an unknown one for a minute.
const GONE_AFTER_OF_OTHERS: Millis = 60_000;

/// While a page is visible, polls are at most this far apart, in milliseconds.
const UNSEEN_AFTER: Millis = 15_000;

/// A completed task without outputs is polled this many times before it counts as Ready.
const EMPTY_ANSWERS: u32 = 4;

/// The status of a task in a response.
pub(super) struct Report {
    pub status: StatusWord,
    pub error: Option<String>,
    pub is_canceled: bool,
}

impl From<Progress> for Report {
    fn from(progress: Progress) -> Self {
        Self {
            status: progress.status,
            error: progress.error,
            is_canceled: progress.is_canceled,
        }
    }
}

impl Engine {
    pub(super) fn handle_response(
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
        let mut responses = match answer {
            Ok(responses) => {
                if call.batched && call.kind != CallKind::Generate {
                    self.poll_singly(&call, &responses);
                }
                responses
            }
            Err(ApiError::NotFound { .. }) if call.batched && call.kind == CallKind::Cancel => {
                // Only this batch endpoint may be missing.
                self.separate(&call);
                return self.ask_again(&call, now);
            }
            Err(ApiError::NotFound { .. }) if call.batched => {
                // The service has no batch endpoints, so it has accepted nothing. Each task gets a separate call.
                let address = &call.account.address;
                self.services.set_without_batch(address, now);
                return self.ask_again(&call, now);
            }
            Err(ApiError::Invalid { .. }) if call.batched => {
                // One invalid item made the service refuse the whole call.
                self.separate(&call);
                return self.ask_again(&call, now);
            }
            Err(error) => {
                let is_refused =
                    matches!(error, ApiError::Refused { .. }) && !error.is_out_of_credit();
                if call.batched && is_refused {
                    self.separate(&call);
                }
                // Submissions are excluded, because the service may have accepted them.
                if is_unreadable(&error)
                    && self.note_unreadable(&call, &error, now)
                    && call.kind != CallKind::Generate
                {
                    return self.ask_again(&call, now);
                }
                vec![Err(error); call.tasks.len()]
            }
        };
        let is_lost = |answer: &Result<Value, ApiError>| matches!(answer, Err(error @ ApiError::Network { .. }) if !error.is_cut_off());
        let fetches_fewer = call.kind == CallKind::Response && responses.iter().all(is_lost);
        if call.kind == CallKind::Generate {
            self.refuse_shared_ids(&call, &mut responses);
            self.note_accepted(&call, &responses);
        }
        // One random number for the whole call, so that its tasks stay together.
        let chance = random();
        let results: Vec<Result<(), ApiError>> = call
            .tasks
            .iter()
            .zip(responses)
            .map(|(key, answer)| match call.kind {
                CallKind::Generate => self.submitted(key, answer, &call, now, chance),
                CallKind::Status => self.polled(key, answer, now, chance),
                CallKind::Response => self.fetched(key, answer, now, chance),
                CallKind::Cancel => self.cancel_answered(key, answer, now, chance),
            })
            .collect();
        if fetches_fewer {
            self.fetch_fewer(&call, now);
        }
        self.update_service(&call, &results, now, chance);
    }

    /// Schedules the tasks of a call that had no effect for another call.
    pub(super) fn ask_again(&mut self, call: &InFlight, now: Millis) {
        for key in &call.tasks {
            match call.kind {
                CallKind::Generate => self.not_accepted(key, call.sent, now, now),
                CallKind::Status | CallKind::Response | CallKind::Cancel => {
                    self.set_due(key, now);
                }
            }
        }
    }

    /// Handles the response to a task's submission. `Err` if it could not be used.
    fn submitted(
        &mut self,
        key: &TaskKey,
        answer: Result<Value, ApiError>,
        call: &InFlight,
        now: Millis,
        chance: f64,
    ) -> Result<(), ApiError> {
        let sent = call.sent;
        match answer.and_then(|body| Accepted::from_body(&body)) {
            Ok(accepted) => {
                self.forget_forbidden();
                if self.accept(key, accepted, Some(sent), now) {
                    self.poll_ok(key, now);
                    self.poll_again(key, now, chance);
                }
                Ok(())
            }
            // The error is about an earlier attempt.
            Err(error) if self.was_sent_since(key, Some(sent)) => Err(error),
            Err(error) => {
                self.not_submitted(key, &error, call, now, chance);
                Err(error)
            }
        }
    }

    fn polled(
        &mut self,
        key: &TaskKey,
        answer: Result<Value, ApiError>,
        now: Millis,
        chance: f64,
    ) -> Result<(), ApiError> {
        let progress = answer.and_then(|body| Progress::from_body(&body));
        match progress.and_then(|progress| self.check_id(key, progress)) {
            Ok(progress) => {
                self.apply_progress(key, progress, now, chance);
                Ok(())
            }
            Err(error) => self.poll_failed(key, error, now, chance),
        }
    }

    /// Returns the progress if it is about this task.
    ///
    /// # Errors
    ///
    /// The response contains the id of another task.
    pub(super) fn check_id(&self, key: &TaskKey, progress: Progress) -> Result<Progress, ApiError> {
        let asked = self.task(key).and_then(|task| task.state.id());
        match (&progress.id, asked) {
            (Some(returned), Some(asked)) if returned != asked => {
                Err(ApiError::malformed("it is about another task"))
            }
            _ => Ok(progress),
        }
    }

    pub(super) fn apply_progress(
        &mut self,
        key: &TaskKey,
        progress: Progress,
        now: Millis,
        chance: f64,
    ) {
        // For a status that the interface doesn't define, show the error as progress.
        let line = progress.line.clone().or_else(|| progress.error.clone());
        let (fraction, preview) = (progress.fraction, progress.preview.clone());
        self.progressed(key, progress.into(), now, chance);
        self.set_progress(key, line, fraction, preview);
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
        if tracked.task.state.phase() == Phase::Gone {
            return self.gone_answered(key, answer, now, chance);
        }
        if tracked.task.state.phase() == Phase::Running {
            return self.fetched_early(key, answer, now, chance);
        }
        if matches!(tracked.task.state.phase(), Phase::Ready | Phase::Failed) {
            // Refetched at the user's request. Without outputs, the state stays.
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
            is_canceled,
        } = match answer {
            Ok(output) => output,
            Err(error) => return self.output_refused(key, error, now, chance),
        };
        tracked.output_refusals = None;
        let is_output = match &status {
            StatusWord::Completed => {
                tracked.empty_answers = tracked.empty_answers.saturating_add(1);
                !output.is_empty() || tracked.empty_answers >= EMPTY_ANSWERS
            }
            // The service has reported completed before, so outputs with an undefined status count.
            StatusWord::Other(_) => !output.is_empty(),
            _ => false,
        };
        if is_output {
            self.poll_ok(key, now);
            self.apply_event(key, Event::Ready { outputs: output }, now);
        } else if status == StatusWord::Completed {
            self.poll_ok(key, now);
            let tracked = self.tasks.get(key);
            let tries = tracked.map_or(0, |tracked| tracked.empty_answers);
            self.set_due(key, now + schedule::after_failures(tries, chance));
        } else {
            let report = Report {
                status,
                error,
                is_canceled,
            };
            self.progressed(key, report, now, chance);
        }
        Ok(())
    }

    pub(super) fn progressed(&mut self, key: &TaskKey, report: Report, now: Millis, chance: f64) {
        let Report { status, error, .. } = report;
        let is_unseen = self.is_unseen(key, now);
        self.poll_ok(key, now);
        let event = match report.is_canceled {
            true => Event::Canceled,
            false => Event::Progress {
                word: status,
                error: error.clone(),
            },
        };
        self.apply_event(key, event, now);
        self.note_status(key, error.as_deref(), now);
        if let Some(tracked) = self.tasks.get_mut(key)
            && is_unseen
            && tracked.task.state.phase() != Phase::Running
        {
            tracked.task.ended_unseen = true;
            self.save(key);
        }
        self.poll_again(key, now, chance);
    }

    /// Whether a running task has not been polled for a while, so that its end time is unknown.
    fn is_unseen(&self, key: &TaskKey, now: Millis) -> bool {
        let tracked = self.tasks.get(key);
        let running = tracked.filter(|tracked| tracked.task.state.phase() == Phase::Running);
        running.is_some_and(|tracked| {
            let last_answer = tracked.last_answer.or(tracked.task.accepted);
            last_answer.is_none_or(|last_answer| now.saturating_sub(last_answer) > UNSEEN_AFTER)
        })
    }

    /// Sets the message, the fraction and the preview while the task runs. They are shown but not stored, because they
    /// change with most polls.
    fn set_progress(
        &mut self,
        key: &TaskKey,
        line: Option<String>,
        fraction: Option<f64>,
        preview: Option<String>,
    ) {
        let tracked = self.tasks.get_mut(key);
        let Some(tracked) = tracked.filter(|it| it.task.state.phase() == Phase::Running) else {
            return;
        };
        let task = &mut tracked.task;
        if task.progress == line && task.fraction == fraction && task.preview == preview {
            return;
        }
        (task.progress, task.fraction, task.preview) = (line, fraction, preview);
        self.pending.push(Pending::Show(key.clone()));
    }

    /// Clears the poll error and the failure counts after a usable response.
    pub(super) fn poll_ok(&mut self, key: &TaskKey, now: Millis) {
        if let Some(tracked) = self.tasks.get_mut(key) {
            tracked.last_answer = Some(now);
            tracked.failures = 0;
            tracked.unknown_since = None;
            if tracked.task.poll_error.take().is_some() {
                self.save(key);
            }
        }
    }

    /// Handles a failed poll. The state stays, and the poll is retried indefinitely.
    pub(super) fn poll_failed(
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
            // The task is fine: all calls wait, and then it is polled at once.
            if is_watched {
                self.set_due(key, now);
            }
            return Err(error);
        }
        if is_watched && error.is_too_large() {
            // It is requested again only by the user.
            tracked.task.watching = false;
            self.set_poll_error(key, &error, now);
            self.save(key);
            return Err(error);
        }
        let mut wait = 0;
        if let ApiError::NotFound { is_of_service, .. } = &error {
            let enough = if *is_of_service {
                GONE_AFTER
            } else {
                GONE_AFTER_OF_OTHERS
            };
            // `min`: the clock may have been set back.
            let since = tracked.unknown_since.map_or(now, |since| since.min(now));
            tracked.unknown_since = Some(since);
            if now - since >= enough {
                self.apply_event(key, Event::Gone, now);
                self.schedule_gone_poll(key, now);
                return Err(error);
            }
            wait = GONE_AFTER;
        } else {
            tracked.unknown_since = None;
        }
        tracked.failures = tracked.failures.saturating_add(1);
        wait = wait.max(schedule::after_failures(tracked.failures, chance));
        if is_unreadable(&error) && tracked.task.state.phase() == Phase::Fetching {
            // The response may be large, so the interval between polls grows.
            let since = tracked.task.poll_error.as_ref().map_or(now, |it| it.since);
            wait = wait.max((now.saturating_sub(since) / 2).min(MAX_INTERVAL));
        }
        if is_watched {
            self.set_poll_error(key, &error, now);
            self.set_due(key, now.saturating_add(wait));
        }
        Err(error)
    }
}

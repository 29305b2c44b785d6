//! Handles running tasks with a status that the interface doesn't define, such as `succeeded` or `aborted`. The status
//! may be final.

use atelier_contract::{ApiError, Output, StatusWord};

use super::Engine;
use super::responses::Report;
use crate::reduce::Event;
use crate::{Millis, Phase, TaskKey, TaskState};

/// Whether to ask for the output of a running task.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum EarlyFetch {
    #[default]
    Never,
    Wanted,
    Done,
}

impl Engine {
    /// Records the service's status of a running task. Asks for the output once if the status may mean completed.
    pub(super) fn note_status(&mut self, key: &TaskKey, error: Option<&str>, now: Millis) {
        let Some(tracked) = self.tasks.get_mut(key) else {
            return;
        };
        let TaskState::Running { word, .. } = &tracked.task.state else {
            return;
        };
        if word.may_mean_completed() && tracked.early_fetch == EarlyFetch::Never {
            tracked.early_fetch = EarlyFetch::Wanted;
        }
        let has_error = matches!(word, StatusWord::Other(_)) && error.is_some();
        // `min`: the clock may have been set back.
        let since = tracked.error_since.map_or(now, |since| since.min(now));
        tracked.error_since = has_error.then_some(since);
    }

    /// Handles the response to a request for the output of a task that isn't reported as completed.
    ///
    /// # Errors
    ///
    /// No usable response. Status polls continue.
    pub(super) fn fetched_early(
        &mut self,
        key: &TaskKey,
        answer: Result<Output, ApiError>,
        now: Millis,
        chance: f64,
    ) -> Result<(), ApiError> {
        let Some(tracked) = self.tasks.get_mut(key) else {
            return answer.map(|_| ());
        };
        // Whether there may be an output in spite of the error.
        let is_open = |error: &ApiError| {
            error.is_retryable() || matches!(error, ApiError::Unauthorized { .. })
        };
        if !answer.as_ref().is_err_and(is_open) {
            tracked.early_fetch = EarlyFetch::Done;
        }
        let Output {
            status,
            output,
            error,
            is_canceled,
        } = match answer {
            Ok(output) => output,
            Err(error) if is_open(&error) => return self.poll_failed(key, error, now, chance),
            Err(error) => {
                self.poll_again(key, now, chance);
                return Err(error);
            }
        };
        // The outputs of a running or failed task may be incomplete or previews.
        let is_whole = matches!(status, StatusWord::Completed | StatusWord::Other(_));
        if is_whole && !output.is_empty() {
            self.poll_ok(key, now);
            self.apply_event(key, Event::Ready { outputs: output }, now);
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

    /// Asks for the output of a running task at the user's request.
    pub(super) fn fetch_early(&mut self, key: &TaskKey, now: Millis) {
        let tracked = self.tasks.get_mut(key);
        if let Some(tracked) = tracked.filter(|t| t.task.state.phase() == Phase::Running) {
            tracked.early_fetch = EarlyFetch::Wanted;
            self.set_due(key, now);
        }
    }
}

//! Tasks whose service says how they stand in words that the interface does not name: `succeeded`, or `aborted` with
//! an error. Such a word is progress, and perhaps the last.

use atelier_contract::{ApiError, Output, StatusWord};

use super::Engine;
use crate::reduce::Event;
use crate::{Millis, Phase, TaskKey, TaskState};

/// Whether the output of a running task is asked for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum EarlyFetch {
    #[default]
    Never,
    Wanted,
    Done,
}

impl Engine {
    /// Notes what the service said of a running task, and asks for the output once where it may be there.
    pub(super) fn note_word(&mut self, key: &TaskKey, error: Option<&str>, now: Millis) {
        let Some(tracked) = self.tasks.get_mut(key) else {
            return;
        };
        let TaskState::Running { word, .. } = &tracked.task.state else {
            return;
        };
        if word.may_mean_completed() && tracked.early_fetch == EarlyFetch::Never {
            tracked.early_fetch = EarlyFetch::Wanted;
        }
        let is_troubled = matches!(word, StatusWord::Other(_)) && error.is_some();
        // `min`: the clock may have been set back.
        let since = tracked.troubled_since.map_or(now, |since| since.min(now));
        tracked.troubled_since = is_troubled.then_some(since);
    }

    /// The answer to the question for the output of a task that is not said to be completed.
    ///
    /// # Errors
    ///
    /// There was no usable answer; the status goes on being asked for.
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
        // Whether there is an output is not known yet.
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
        } = match answer {
            Ok(output) => output,
            Err(error) if is_open(&error) => return self.poll_failed(key, error, now, chance),
            Err(error) => {
                self.poll_again(key, now, chance);
                return Err(error);
            }
        };
        // Of a task that goes on or has failed, they may be some or previews.
        let is_whole = matches!(status, StatusWord::Completed | StatusWord::Other(_));
        if is_whole && !output.is_empty() {
            self.poll_ok(key, now);
            self.apply_event(key, Event::Ready { outputs: output }, now);
        } else {
            self.progressed(key, status, error, now, chance);
        }
        Ok(())
    }

    /// A person wants the output to be asked for, whatever the service's word for the task.
    pub(super) fn fetch_early(&mut self, key: &TaskKey, now: Millis) {
        let tracked = self.tasks.get_mut(key);
        if let Some(tracked) = tracked.filter(|t| t.task.state.phase() == Phase::Running) {
            tracked.early_fetch = EarlyFetch::Wanted;
            self.set_due(key, now);
        }
    }
}

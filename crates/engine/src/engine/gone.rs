//! Handles tasks that the service has reported as unknown. The 404 may have come from a proxy, and the tasks may be
//! billed, so they are polled again at growing intervals and at the user's request.

use atelier_contract::{ApiError, Output};

use super::Engine;
use super::responses::Report;
use super::service_status::asks_to_wait;
use crate::reduce::Event;
use crate::{Millis, Phase, TaskKey};

/// The delay of the first poll, in milliseconds. Later delays equal the time since the task was marked Gone.
const FIRST_DELAY: Millis = 60_000;

/// How long a Gone task is polled, in milliseconds.
const POLLED_FOR: Millis = 3_600_000;

impl Engine {
    /// Schedules the next poll of a Gone task, unless it has been Gone for too long.
    pub(super) fn schedule_gone_poll(&mut self, key: &TaskKey, now: Millis) {
        let Some(tracked) = self.tasks.get_mut(key) else {
            return;
        };
        // `min`: the clock may have been set back.
        let since = tracked.task.finished.unwrap_or_default().min(now);
        tracked.refetch = tracked.task.removed.is_none() && now - since < POLLED_FOR;
        if tracked.refetch {
            self.set_due(key, now.saturating_add((now - since).max(FIRST_DELAY)));
        }
    }

    /// Handles the response to a poll of a Gone task. If the service knows the task, the task continues normally.
    ///
    /// # Errors
    ///
    /// The service still does not know the task, or did not answer.
    pub(super) fn gone_answered(
        &mut self,
        key: &TaskKey,
        answer: Result<Output, ApiError>,
        now: Millis,
        chance: f64,
    ) -> Result<(), ApiError> {
        let Some(tracked) = self.tasks.get_mut(key) else {
            return answer.map(|_| ());
        };
        let Output {
            status,
            output,
            error,
            is_canceled,
        } = match answer {
            Ok(output) => output,
            Err(error) => {
                if matches!(
                    error,
                    ApiError::NotFound {
                        is_of_service: true,
                        ..
                    }
                ) {
                    tracked.task.refreshed = Some(now);
                    self.save(key);
                }
                match asks_to_wait(&error) {
                    true => self.set_due(key, now),
                    false => self.schedule_gone_poll(key, now),
                }
                return Err(error);
            }
        };
        tracked.refetch = false;
        tracked.empty_answers = 0;
        tracked.task.refreshed = Some(now);
        // `finished` is the time at which the task was marked Gone.
        tracked.task.finished = None;
        let report = Report {
            status,
            error,
            is_canceled,
        };
        self.progressed(key, report, now, chance);
        if !output.is_empty() {
            self.apply_event(key, Event::Ready { outputs: output }, now);
        }
        if let Some(tracked) = self.tasks.get_mut(key) {
            tracked.task.ended_unseen = tracked.task.state.phase() != Phase::Running;
        }
        Ok(())
    }
}

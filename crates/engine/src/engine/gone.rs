//! Tasks that the service is said not to know. Something else may have stood in for the service when that was said, and
//! the tasks are paid for: they are asked about now and then, and whenever a person wants it.

use atelier_contract::{ApiError, Output};

use super::Engine;
use super::judgement::asks_to_wait;
use crate::reduce::Event;
use crate::{Millis, Phase, TaskKey};

/// The first time after so long, in milliseconds; then after twice as long each time.
const FIRST_AGAIN: Millis = 60_000;

/// For so long, in milliseconds.
const ASKED_FOR: Millis = 3_600_000;

impl Engine {
    /// It is asked about in a while, unless it has been gone for too long.
    pub(super) fn ask_about_gone(&mut self, key: &TaskKey, now: Millis) {
        let Some(tracked) = self.tasks.get_mut(key) else {
            return;
        };
        // `min`: the clock may have been set back.
        let since = tracked.task.finished.unwrap_or_default().min(now);
        tracked.refetch = tracked.task.removed.is_none() && now - since < ASKED_FOR;
        if tracked.refetch {
            self.set_due(key, now.saturating_add((now - since).max(FIRST_AGAIN)));
        }
    }

    /// What the service says of it now: once that is known, the task goes on like any other.
    ///
    /// # Errors
    ///
    /// The service still does not know it, or did not answer.
    pub(super) fn heard_of_gone(
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
                    false => self.ask_about_gone(key, now),
                }
                return Err(error);
            }
        };
        tracked.refetch = false;
        tracked.empty_answers = 0;
        tracked.task.refreshed = Some(now);
        // That was the time when it was given up.
        tracked.task.finished = None;
        self.progressed(key, status, error, now, chance);
        if !output.is_empty() {
            self.apply_event(key, Event::Ready { outputs: output }, now);
        }
        if let Some(tracked) = self.tasks.get_mut(key) {
            tracked.task.ended_unseen = tracked.task.state.phase() != Phase::Running;
        }
        Ok(())
    }
}

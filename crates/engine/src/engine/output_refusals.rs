//! Handles completed tasks whose output the service refuses. Such a task fails only after repeated refusals over some
//! time.

use atelier_contract::ApiError;

use super::Engine;
use crate::reduce::Event;
use crate::{Millis, TaskKey};

/// A task fails after this many refusals, over at least this many milliseconds. A proxy may answer for the service for
/// a while, and the output is paid for.
const REFUSALS: u32 = 4;
const REFUSED_FOR: Millis = 120_000;

impl Engine {
    /// Handles an output that could not be fetched. The task fails if the service keeps refusing the output. Other
    /// errors are retried.
    ///
    /// # Errors
    ///
    /// Always: the error of the call.
    pub(super) fn output_refused(
        &mut self,
        key: &TaskKey,
        error: ApiError,
        now: Millis,
        chance: f64,
    ) -> Result<(), ApiError> {
        let Some(tracked) = self.tasks.get_mut(key) else {
            return Err(error);
        };
        tracked.output_refusals = error.is_final().then(|| {
            let (refusals, since) = tracked.output_refusals.unwrap_or((0, now));
            // `min`: the clock may have been set back.
            (refusals.saturating_add(1), since.min(now))
        });
        match tracked.output_refusals {
            Some((refusals, since)) if refusals >= REFUSALS && now - since >= REFUSED_FOR => {
                let message = error.output_message();
                self.apply_event(key, Event::OutputRefused { message }, now);
                Err(error)
            }
            _ => self.poll_failed(key, error, now, chance),
        }
    }
}

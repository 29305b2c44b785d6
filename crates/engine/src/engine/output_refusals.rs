//! Completed tasks whose output the service refuses: what it says more than once, and for a while, is believed.

use atelier_contract::ApiError;

use super::Engine;
use crate::reduce::Event;
use crate::{Millis, TaskKey};

/// The service is asked at least this often, over at least this many milliseconds: something else may stand in its
/// place for a while, and the output is paid for.
const REFUSALS: u32 = 4;
const REFUSED_FOR: Millis = 120_000;

impl Engine {
    /// The output could not be fetched. The task fails if the service goes on refusing it; anything else is tried
    /// again.
    ///
    /// # Errors
    ///
    /// Always: why.
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

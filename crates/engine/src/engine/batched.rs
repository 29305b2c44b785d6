//! Calls about several tasks: whose answer is whose, and when each is to be asked about alone.

use atelier_contract::{ApiError, BatchReply, envelope};
use serde_json::Value;

use super::call::InFlight;
use super::{CallKind, Engine};
use crate::{Millis, Phase, TaskKey};

/// So long after a call with fewer items the others are asked about, in milliseconds: they are not to share it.
const AFTER_FEWER: Millis = 5_000;

impl Engine {
    /// A service whose batch answers leave a task out, or can't be told whose they are, may answer for one alone.
    pub(super) fn ask_singly(&mut self, call: &InFlight, responses: &[Result<Value, ApiError>]) {
        for (key, response) in call.tasks.iter().zip(responses) {
            let has_none = matches!(response, Err(ApiError::Malformed { .. }));
            if let Some(tracked) = self.tasks.get_mut(key).filter(|_| has_none) {
                tracked.send_singly = true;
            }
        }
    }

    /// The reply to a call could not be read: the next ones have half the items. What spoils the reply although it was
    /// alone is asked about alone from now on. Whether there were several items.
    pub(super) fn note_unreadable(
        &mut self,
        call: &InFlight,
        error: &ApiError,
        now: Millis,
    ) -> bool {
        let (address, kind) = (&call.account.address, call.kind);
        if call.batched {
            let asked = call.tasks.len();
            (self.services).set_unreadable(address, kind, asked, now);
        } else if kind != CallKind::Generate && !error.is_cut() {
            self.services.set_separated(address, kind, now);
            self.separate(call);
        }
        call.batched
    }

    /// No answer came to a call for outputs: with half of them one may come, unless the service is gone. One call finds
    /// out, and what failed with it waits for that as if it had failed once more.
    pub(super) fn fetch_fewer(&mut self, call: &InFlight, now: Millis) {
        let (address, asked) = (&call.account.address, call.tasks.len());
        if asked < 2 {
            // It is not their number.
            return self.services.lift_item_limit(address, call.kind);
        }
        self.services.set_unreadable(address, call.kind, asked, now);
        let fewer = &call.tasks[..asked / 2];
        let mut times = self.timers.polls.iter();
        let due = times.find(|(_, key)| fewer.contains(key));
        let Some(later) = due.map(|(due, _)| due.saturating_add(AFTER_FEWER)) else {
            return;
        };
        drop(times);
        let waits = |(at, key): &(Millis, &TaskKey)| {
            let failed = self.tasks.get(key).filter(|it| it.failures > 0);
            let fetches = failed.is_some_and(|it| it.task.state.phase() == Phase::Fetching);
            *at < later && fetches && !fewer.contains(key)
        };
        let waiting = self.timers.polls.iter().filter(waits);
        let waiting: Vec<TaskKey> = waiting.map(|(_, key)| key.clone()).collect();
        for key in waiting {
            if let Some(tracked) = self.tasks.get_mut(&key) {
                tracked.failures = tracked.failures.saturating_add(1);
            }
            self.set_due(&key, later);
        }
    }

    pub(super) fn separate(&mut self, call: &InFlight) {
        for key in &call.tasks {
            if let Some(tracked) = self.tasks.get_mut(key) {
                tracked.send_singly = true;
            }
        }
    }
}

/// A batch reply as the answers that the single endpoint would have given.
pub(super) fn items(call: &InFlight, reply: BatchReply) -> Vec<Result<Value, ApiError>> {
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

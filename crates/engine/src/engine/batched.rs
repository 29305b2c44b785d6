//! Calls with several tasks: splits their responses, and decides which tasks need separate calls.

use atelier_contract::{ApiError, BatchReply, envelope};
use serde_json::Value;

use super::call::InFlight;
use super::{CallKind, Engine};
use crate::{Millis, Phase, TaskKey};

/// How much later the remaining items are polled after a call with fewer items, in milliseconds, so that they don't
/// become part of that call.
const AFTER_FEWER: Millis = 5_000;

impl Engine {
    /// Marks the tasks that a batch response left out or that can't be attributed, so that each is polled alone.
    pub(super) fn poll_singly(&mut self, call: &InFlight, responses: &[Result<Value, ApiError>]) {
        for (key, response) in call.tasks.iter().zip(responses) {
            let has_none = matches!(response, Err(ApiError::Malformed { .. }));
            if let Some(tracked) = self.tasks.get_mut(key).filter(|_| has_none) {
                tracked.send_singly = true;
            }
        }
    }

    /// Handles an unreadable response: the next calls have half as many items. A task whose response is unreadable in a
    /// call with one item is polled alone from now on. Returns whether the call had several items.
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
        } else if kind != CallKind::Generate && !error.is_cut_off() {
            self.services.set_separated(address, kind, now);
            self.separate(call);
        }
        call.batched
    }

    /// Handles a call for outputs whose response was lost. The next call has half the items, because a smaller response
    /// may arrive. The other tasks are postponed until that call has ended, which counts as another failure for them.
    pub(super) fn fetch_fewer(&mut self, call: &InFlight, now: Millis) {
        let (address, asked) = (&call.account.address, call.tasks.len());
        if asked < 2 {
            // A call with one item failed, so the number of items is not the cause.
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

/// Splits a batch response into the responses of the single endpoint.
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

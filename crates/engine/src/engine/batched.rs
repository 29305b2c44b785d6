//! Calls about several tasks: whose answer is whose, and when each is to be asked about alone.

use atelier_contract::{ApiError, BatchReply, envelope};
use serde_json::Value;

use super::call::InFlight;
use super::{CallKind, Engine};
use crate::Millis;

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

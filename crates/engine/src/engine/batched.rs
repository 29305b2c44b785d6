//! Calls about several tasks: whose answer is whose, and when each is to be asked about alone.

use atelier_contract::{ApiError, BatchReply, envelope};
use serde_json::Value;

use super::call::InFlight;
use super::{CallKind, Engine};

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

    pub(super) fn separate(&mut self, call: &InFlight) {
        for key in &call.tasks {
            if let Some(tracked) = self.tasks.get_mut(key) {
                tracked.send_singly = true;
            }
        }
    }
}

/// Whether the call may come to something for each of its tasks alone, and has certainly done nothing so far.
pub(super) fn is_spoilt(kind: CallKind, error: &ApiError) -> bool {
    let is_question = kind != CallKind::Generate;
    matches!(error, ApiError::Invalid { .. }) || is_question && error.is_too_large()
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

//! The request to cancel a task that was sent.

use serde::{Deserialize, Serialize};

use super::Task;
use crate::{Millis, Phase};

/// The user's request to cancel a task at the service. It is stored with its task, so names and types must not change.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CancelRequest {
    /// When the user last requested it.
    pub since: Millis,
    /// Why the service does not cancel the task. The task continues, and the user may request it again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refusal: Option<String>,
}

impl CancelRequest {
    /// Returns the later of two requests, or the one that the service has answered.
    fn latest(a: Option<Self>, b: Option<Self>) -> Option<Self> {
        let rank = |it: &Self| (it.since, it.refusal.is_some());
        a.into_iter().chain(b).max_by_key(rank)
    }
}

impl Task {
    /// Adopts the request from another record of the same attempt, if it is later.
    pub(crate) fn adopt_cancel(&mut self, other: &Self) {
        let is_under_way = matches!(self.state.phase(), Phase::Submitting | Phase::Running);
        if is_under_way && self.submitted == other.submitted {
            self.cancel = CancelRequest::latest(self.cancel.take(), other.cancel.clone());
        }
    }

    /// Whether the service is to cancel the task, and has not answered yet.
    pub fn is_canceling(&self) -> bool {
        matches!(self.state.phase(), Phase::Submitting | Phase::Running)
            && self.has_cancel_request()
    }

    /// Whether the user has requested to cancel the task, and the service has not refused it.
    pub fn has_cancel_request(&self) -> bool {
        let request = self.cancel.as_ref();
        request.is_some_and(|request| request.refusal.is_none())
    }
}

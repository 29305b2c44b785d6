use crate::{Account, Task, TaskKey};

/// Names a call, so that its answer finds it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct CallId(pub(crate) u64);

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CallKind {
    Generate,
    Status,
    Response,
}

/// One HTTP call that is to be made.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    pub id: CallId,
    pub kind: CallKind,
    /// One of [`atelier_contract::path`].
    pub path: &'static str,
    pub body: serde_json::Value,
    /// For the header of a single submission; the items of a batch have theirs in the body.
    pub idempotency_key: Option<String>,
    /// The service and the person it is meant for; another may be set by the time it is made.
    pub account: Account,
    /// The tasks it is about, in the order of its items.
    pub tasks: Vec<TaskKey>,
    /// These records must be in storage before the request leaves.
    pub write_first: Vec<Task>,
}

/// A call whose answer is awaited.
#[derive(Debug)]
pub(super) struct InFlight {
    /// Tells what was known when it left: calls after it have greater ones.
    pub number: u64,
    pub kind: CallKind,
    pub tasks: Vec<TaskKey>,
    /// Through a batch endpoint.
    pub batched: bool,
    /// To whom it was made; another may be set when the answer comes.
    pub account: Account,
}

impl InFlight {
    pub fn is_sending(&self, key: &TaskKey) -> bool {
        self.kind == CallKind::Generate && self.tasks.contains(key)
    }
}

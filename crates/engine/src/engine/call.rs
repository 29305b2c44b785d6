//! Calls to make and calls in flight.

use std::collections::HashMap;

use crate::{Account, Millis, Task, TaskKey};

/// Identifies a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct CallId(pub(crate) u64);

/// The purpose of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CallKind {
    Generate,
    Status,
    Response,
    Cancel,
}

impl CallKind {
    /// The number of call kinds.
    pub(super) const COUNT: usize = Self::Cancel as usize + 1;
}

/// An HTTP call to make.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    pub id: CallId,
    pub kind: CallKind,
    /// One of the paths in [`atelier_contract::path`].
    pub path: &'static str,
    pub body: serde_json::Value,
    /// The key for the header of a single submission. The items of a batch have theirs in the body.
    pub idempotency_key: Option<String>,
    /// The account that the call is for. Another account may be set by the time the call is made.
    pub account: Account,
    /// The tasks of the call, in the order of its items.
    pub tasks: Vec<TaskKey>,
}

impl Call {
    /// Returns the tasks whose current records must be in storage before the request is sent. Changed records are among
    /// the [`Command::Save`](super::Command::Save)s of the same step.
    pub fn write_first(&self) -> &[TaskKey] {
        match self.kind {
            CallKind::Generate => &self.tasks,
            CallKind::Status | CallKind::Response | CallKind::Cancel => &[],
        }
    }
}

/// A call in flight.
#[derive(Debug)]
pub(super) struct InFlight {
    /// The order in which calls are sent. A later call has a greater number.
    pub number: u64,
    pub kind: CallKind,
    pub tasks: Vec<TaskKey>,
    /// Whether the call goes to a batch endpoint.
    pub batched: bool,
    /// The account that the call was made for. Another account may be set when the response arrives.
    pub account: Account,
    /// When the engine created the call. It identifies the attempt.
    pub sent: Millis,
}

/// The calls in flight.
#[derive(Debug, Default)]
pub(super) struct Calls {
    in_flight: HashMap<CallId, InFlight>,
    next_number: u64,
    /// Consecutive calls that the owner could not make.
    unmade: u32,
    /// The kind of the last call.
    last: Option<CallKind>,
}

impl Calls {
    /// Registers a call as in flight.
    pub fn begin(
        &mut self,
        kind: CallKind,
        tasks: Vec<TaskKey>,
        batched: bool,
        account: Account,
        sent: Millis,
    ) -> CallId {
        let id = CallId(self.next_number);
        self.next_number += 1;
        self.last = Some(kind);
        let call = InFlight {
            number: id.0,
            kind,
            tasks,
            batched,
            account,
            sent,
        };
        self.in_flight.insert(id, call);
        id
    }

    /// Returns the number of the next call. All calls in flight have smaller numbers.
    pub fn next_number(&self) -> u64 {
        self.next_number
    }

    pub fn get(&self, id: CallId) -> Option<&InFlight> {
        self.in_flight.get(&id)
    }

    /// Renumbers a call when it is sent, so that it counts as made with the current credentials.
    pub fn mark_sent(&mut self, id: CallId) {
        if let Some(call) = self.in_flight.get_mut(&id) {
            call.number = self.next_number;
            self.next_number += 1;
        }
    }

    /// Removes a call that was answered.
    pub fn answered(&mut self, id: CallId) -> Option<InFlight> {
        let call = self.in_flight.remove(&id)?;
        self.unmade = 0;
        Some(call)
    }

    /// Removes a call that could not be made. Also returns the number of such calls in a row.
    pub fn not_made(&mut self, id: CallId) -> Option<(InFlight, u32)> {
        let call = self.in_flight.remove(&id)?;
        self.unmade = self.unmade.saturating_add(1);
        Some((call, self.unmade))
    }

    /// Removes a call that must not be made any more.
    pub fn cancel(&mut self, id: CallId) -> Option<InFlight> {
        self.in_flight.remove(&id)
    }

    /// Resets the number of calls that could not be made, because the reason may be over.
    pub fn reset_unmade(&mut self) {
        self.unmade = 0;
    }

    /// Whether the last call was a submission. If so, the next call is a poll if one is due.
    pub fn last_was_submission(&self) -> bool {
        self.last == Some(CallKind::Generate)
    }

    /// Returns the submissions in flight.
    pub fn submissions(&self) -> impl Iterator<Item = &InFlight> {
        let calls = self.in_flight.values();
        calls.filter(|call| call.kind == CallKind::Generate)
    }

    /// Returns the polls in flight.
    pub fn polls(&self) -> impl Iterator<Item = &InFlight> {
        let calls = self.in_flight.values();
        calls.filter(|call| call.kind != CallKind::Generate)
    }

    /// Whether a call for the task is in flight.
    pub fn is_in_flight(&self, key: &TaskKey) -> bool {
        self.in_flight.values().any(|call| call.tasks.contains(key))
    }

    /// Whether a submission of the task's current attempt is in flight. An earlier attempt may be, too.
    pub fn is_sending(&self, task: &Task) -> bool {
        self.submissions().any(|call| {
            let is_current = task.idempotency_key.is_some() || task.submitted == Some(call.sent);
            is_current && call.tasks.contains(&task.key)
        })
    }

    /// Whether a call with this number or a later one is in flight.
    pub fn has_call_since(&self, number: u64) -> bool {
        self.in_flight.values().any(|call| call.number >= number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(name: &str) -> TaskKey {
        TaskKey(name.to_owned())
    }

    fn begin(calls: &mut Calls, kind: CallKind, task: &str) -> CallId {
        let account = Account {
            address: "https://here.example".into(),
            uid: "me".into(),
        };
        calls.begin(kind, vec![key(task)], false, account, 0)
    }

    fn sent(name: &str, submitted: Millis) -> Task {
        let mut task = crate::engine::tests::task(name, 0);
        task.submitted = Some(submitted);
        task
    }

    #[test]
    fn a_call_is_in_flight_until_its_first_answer() {
        let mut calls = Calls::default();
        let id = begin(&mut calls, CallKind::Generate, "a");
        assert!(calls.is_in_flight(&key("a")) && calls.is_sending(&sent("a", 0)));
        assert!(calls.answered(id).is_some());
        assert!(!calls.is_in_flight(&key("a")));
        assert!(calls.answered(id).is_none() && calls.not_made(id).is_none());
    }

    /// With a key, both attempts are the same to the service.
    #[test]
    fn an_earlier_attempt_in_flight_is_not_the_current_one() {
        let mut calls = Calls::default();
        begin(&mut calls, CallKind::Generate, "a");
        let mut again = sent("a", 1_000);
        assert!(!calls.is_sending(&again));
        again.idempotency_key = Some("a".into());
        assert!(calls.is_sending(&again));
    }

    #[test]
    fn a_status_call_is_not_a_submission() {
        let mut calls = Calls::default();
        begin(&mut calls, CallKind::Status, "a");
        assert!(calls.is_in_flight(&key("a")) && !calls.is_sending(&sent("a", 0)));
        assert_eq!((calls.submissions().count(), calls.polls().count()), (0, 1));
        assert!(!calls.last_was_submission());
    }

    /// Records are stored before a call is sent; a later call may be sent first.
    #[test]
    fn a_call_is_renumbered_when_it_is_sent() {
        let mut calls = Calls::default();
        let id = begin(&mut calls, CallKind::Generate, "a");
        let known_from = calls.next_number();
        assert!(!calls.has_call_since(known_from));
        calls.mark_sent(id);
        assert!(calls.has_call_since(known_from));
    }

    #[test]
    fn counts_unmade_calls_until_one_is_answered() {
        let mut calls = Calls::default();
        let mut counts = Vec::new();
        for _ in 0..2 {
            let id = begin(&mut calls, CallKind::Status, "a");
            counts.extend(calls.not_made(id).map(|(_, count)| count));
        }
        assert_eq!(counts, [1, 2]);
        let id = begin(&mut calls, CallKind::Status, "a");
        calls.answered(id);
        let id = begin(&mut calls, CallKind::Status, "a");
        assert_eq!(calls.not_made(id).map(|(_, count)| count), Some(1));
    }
}

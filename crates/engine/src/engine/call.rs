//! Calls that are to be made, and those whose answers are awaited.

use std::collections::HashMap;

use crate::{Account, Millis, Task, TaskKey};

/// Names a call, so that its answer finds it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct CallId(pub(crate) u64);

/// The purpose of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CallKind {
    Generate,
    Status,
    Response,
}

impl CallKind {
    /// How many there are.
    pub(super) const COUNT: usize = Self::Response as usize + 1;
}

/// One HTTP call that is to be made.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    pub id: CallId,
    pub kind: CallKind,
    /// One of [`atelier_contract::path`].
    pub path: &'static str,
    pub body: serde_json::Value,
    /// The key for the header of a single submission; the items of a batch have theirs in the body.
    pub idempotency_key: Option<String>,
    /// The service and the person it is meant for; another may be set by the time it is made.
    pub account: Account,
    /// The tasks it is about, in the order of its items.
    pub tasks: Vec<TaskKey>,
}

impl Call {
    /// The tasks whose records must be in storage, as they are now, before the request leaves. What
    /// has changed of them is among the [`Command::Save`](super::Command::Save)s of the same step.
    pub fn write_first(&self) -> &[TaskKey] {
        match self.kind {
            CallKind::Generate => &self.tasks,
            CallKind::Status | CallKind::Response => &[],
        }
    }
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
    /// The account that the call was made for; another one may be set when the answer comes.
    pub account: Account,
    /// When it was decided on, which tells an attempt from a later one.
    pub sent: Millis,
}

/// The calls whose answers are awaited.
#[derive(Debug, Default)]
pub(super) struct Calls {
    in_flight: HashMap<CallId, InFlight>,
    next_number: u64,
    /// Calls in a row that the owner could not make.
    unmade: u32,
    /// The purpose of the last call.
    last: Option<CallKind>,
}

impl Calls {
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

    /// The number of the next one: those that are under way have smaller ones.
    pub fn next_number(&self) -> u64 {
        self.next_number
    }

    pub fn get(&self, id: CallId) -> Option<&InFlight> {
        self.in_flight.get(&id)
    }

    /// It leaves only now, with what is known now.
    pub fn leaves(&mut self, id: CallId) {
        if let Some(call) = self.in_flight.get_mut(&id) {
            call.number = self.next_number;
            self.next_number += 1;
        }
    }

    /// Notes that the call was answered.
    pub fn answered(&mut self, id: CallId) -> Option<InFlight> {
        let call = self.in_flight.remove(&id)?;
        self.unmade = 0;
        Some(call)
    }

    /// It was not made, with how many in a row that is.
    pub fn not_made(&mut self, id: CallId) -> Option<(InFlight, u32)> {
        let call = self.in_flight.remove(&id)?;
        self.unmade = self.unmade.saturating_add(1);
        Some((call, self.unmade))
    }

    /// It is taken back, because it must not be made any more.
    pub fn take_back(&mut self, id: CallId) -> Option<InFlight> {
        self.in_flight.remove(&id)
    }

    /// Forgets the calls that could not be made, because the reason for that may be over.
    pub fn forget_unmade(&mut self) {
        self.unmade = 0;
    }

    /// The last was a submission: the next is a poll, where both are wanted.
    pub fn last_was_submission(&self) -> bool {
        self.last == Some(CallKind::Generate)
    }

    pub fn submissions(&self) -> impl Iterator<Item = &InFlight> {
        let calls = self.in_flight.values();
        calls.filter(|call| call.kind == CallKind::Generate)
    }

    pub fn polls(&self) -> impl Iterator<Item = &InFlight> {
        let calls = self.in_flight.values();
        calls.filter(|call| call.kind != CallKind::Generate)
    }

    /// A call about the task is under way.
    pub fn is_about(&self, key: &TaskKey) -> bool {
        self.in_flight.values().any(|call| call.tasks.contains(key))
    }

    /// The task's present attempt is under way: one before it may be, too.
    pub fn is_sending(&self, task: &Task) -> bool {
        self.submissions().any(|call| {
            let is_one = task.idempotency_key.is_some() || task.submitted == Some(call.sent);
            is_one && call.tasks.contains(&task.key)
        })
    }

    /// A call of this number or later is under way.
    pub fn is_any_since(&self, number: u64) -> bool {
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
    fn a_call_is_under_way_until_its_answer_comes_and_is_answered_once() {
        let mut calls = Calls::default();
        let id = begin(&mut calls, CallKind::Generate, "a");
        assert!(calls.is_about(&key("a")) && calls.is_sending(&sent("a", 0)));
        assert!(calls.answered(id).is_some());
        assert!(!calls.is_about(&key("a")));
        assert!(calls.answered(id).is_none() && calls.not_made(id).is_none());
    }

    /// With a key each is the same attempt to the service.
    #[test]
    fn an_earlier_attempt_that_is_under_way_is_not_the_present_one() {
        let mut calls = Calls::default();
        begin(&mut calls, CallKind::Generate, "a");
        let mut again = sent("a", 1_000);
        assert!(!calls.is_sending(&again));
        again.idempotency_key = Some("a".into());
        assert!(calls.is_sending(&again));
    }

    #[test]
    fn a_question_about_a_task_does_not_send_it() {
        let mut calls = Calls::default();
        begin(&mut calls, CallKind::Status, "a");
        assert!(calls.is_about(&key("a")) && !calls.is_sending(&sent("a", 0)));
        assert_eq!((calls.submissions().count(), calls.polls().count()), (0, 1));
        assert!(!calls.last_was_submission());
    }

    /// Records are written before a call leaves; by then a later one may have left.
    #[test]
    fn a_call_counts_from_when_it_leaves() {
        let mut calls = Calls::default();
        let id = begin(&mut calls, CallKind::Generate, "a");
        let known_from = calls.next_number();
        assert!(!calls.is_any_since(known_from));
        calls.leaves(id);
        assert!(calls.is_any_since(known_from));
    }

    #[test]
    fn calls_that_could_not_be_made_are_counted_until_one_is_answered() {
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

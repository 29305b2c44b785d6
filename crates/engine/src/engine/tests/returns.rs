//! Changes while a call is in flight, and its response.

use atelier_contract::{ApiError, StatusWord, TaskId};
use serde_json::json;

use super::hand::{Hand, START, accepted, error, progress};
use super::world::{account, task};
use crate::engine::CallKind;
use crate::{Action, BatchKey, Engine, Phase, TaskKey, TaskState};

fn batch() -> BatchKey {
    BatchKey("a".into())
}

fn reload(hand: &mut Hand) {
    let stored: Vec<_> = hand.engine.tasks().cloned().collect();
    hand.engine = Engine::new(account());
    hand.engine.load(stored, hand.now);
}

/// Guards against sending items that were paused while their call was in flight, after a 429 and a reload.
#[test]
fn a_pause_applies_to_items_in_flight() {
    let mut hand = Hand::new();
    hand.submit_batch("a", 8);
    let call = hand.call();
    hand.engine.pause_batch(&batch());
    hand.answer(&call, Err(error(429)));
    reload(&mut hand);
    hand.now += 120_000;
    assert!(hand.calls().is_empty());
    assert!(hand.engine.send_queue.is_paused(&batch()));
    hand.engine.resume_batch(&batch());
    assert_eq!(hand.call().tasks.len(), 8);
}

/// Guards against sending items that were stopped while their call was in flight, after a 429, and against losing their
/// inputs.
#[test]
fn a_stop_applies_to_items_in_flight() {
    let mut hand = Hand::new();
    hand.submit_batch("a", 15);
    let call = hand.call();
    hand.engine.stop_batch(&batch(), hand.now);
    hand.answer(&call, Err(error(429)));
    hand.now += 120_000;
    assert!(hand.calls().is_empty());
    assert_eq!(hand.taken_back().len(), 15);
    reload(&mut hand);
    hand.engine.resume_batch(&batch());
    hand.now += 120_000;
    assert!(hand.calls().is_empty(), "sent after a reload");
    assert!(!hand.engine.send_queue.is_paused(&batch()));
    // They are in the table again.
    let keys: Vec<TaskKey> = hand.engine.tasks().map(|task| task.key.clone()).collect();
    for key in &keys {
        hand.engine.act(key, Action::Delete, hand.now);
    }
    hand.calls();
    assert_eq!(hand.deleted.len(), 15);
    assert_eq!(hand.engine.tasks().count(), 0);
}

/// Guards against rows that are both in the table and at the service: a Stop returned rows that the leader was just
/// sending.
#[test]
fn stop_takes_back_unsent_items_only() {
    let mut hand = Hand::new();
    hand.submit_batch("a", 25);
    let call = hand.call();
    hand.engine.stop_batch(&batch(), hand.now);
    assert!(hand.calls().is_empty());
    let expected: Vec<String> = (10..25).map(|index| format!("a-{index:03}")).collect();
    assert_eq!(hand.taken_back(), expected);
    hand.answer(&call, Err(error(500)));
    hand.calls();
    assert_eq!(hand.taken_back(), expected, "those may be at the service");
    assert_eq!(hand.phase("a-000"), Phase::Unconfirmed);
}

/// Guards against a leader that closes before it has stored a Stop: the next leader must not send tasks that are back
/// in the table.
#[test]
fn the_next_leader_does_not_send_tasks_taken_back() {
    for stored in [TaskState::Queued, TaskState::Submitting] {
        let mut hand = Hand::new();
        hand.engine.set_leading(false, hand.now);
        let mut told = task("a", START);
        told.taken_back = true;
        hand.engine.merge_remote(told.clone(), hand.now);
        let mut record = task("a", START);
        record.state = stored;
        hand.engine.load(vec![record], hand.now);
        hand.engine.set_leading(true, hand.now);
        assert!(hand.calls().is_empty());
        assert_eq!(hand.taken_back(), ["a"]);
        // The record is kept if storage never had it.
        hand.engine.load(Vec::new(), hand.now);
        hand.calls();
        assert!(hand.deleted.is_empty());
    }
}

#[test]
fn an_accepted_item_of_a_stopped_batch_is_polled() {
    let mut hand = Hand::new();
    hand.submit_batch("a", 1);
    let call = hand.call();
    hand.engine.stop_batch(&batch(), hand.now);
    hand.answer(&call, accepted("1"));
    assert_eq!(hand.next_call().kind, CallKind::Status);
}

/// Guards against a task that stays Submitting forever because the leader received it late from another tab.
#[test]
fn a_submission_received_late_from_another_tab_is_not_stuck() {
    let mut hand = Hand::new();
    let mut told = task("a", START);
    told.submitted = Some(START);
    told.state = TaskState::Submitting;
    hand.engine.merge_remote(told.clone(), hand.now);
    assert_eq!(hand.phase("a"), Phase::Unconfirmed);
    assert!(hand.calls().is_empty(), "sent by the other tab already");
    told.state = TaskState::Running {
        id: TaskId("1".into()),
        word: StatusWord::Processing,
    };
    hand.engine.merge_remote(told, hand.now);
    assert_eq!(hand.call().kind, CallKind::Status);
}

/// Guards against a lost request for fresh URLs.
#[test]
fn a_refetch_waits_for_its_account() {
    let mut hand = Hand::new();
    let call = hand.running();
    hand.answer(&call, progress("completed"));
    let call = hand.call();
    let output = json!({"success": true, "data": {"status": "completed", "output": ["u"]}});
    hand.answer(&call, Ok(output));
    let key = TaskKey("a".into());
    hand.engine.act(&key, Action::Refetch, hand.now);
    let mut other = account();
    other.uid = "another".into();
    hand.engine.set_account(other, hand.now);
    assert!(hand.calls().is_empty());
    hand.engine.set_account(account(), hand.now);
    assert_eq!(hand.call().kind, CallKind::Response);
}

/// Guards against single calls until the page is closed, after a proxy's 404 while the service restarted.
#[test]
fn batch_endpoints_are_tried_again_after_a_while() {
    let mut hand = Hand::new();
    hand.submit_batch("a", 20);
    let call = hand.call();
    hand.answer(&call, Err(ApiError::from_status(404, None, None)));
    let single = hand.call();
    assert_eq!(single.tasks.len(), 1);
    hand.now += 20 * 60_000;
    hand.answer(&single, accepted("1"));
    let calls = hand.calls();
    assert!(calls.iter().any(|call| call.tasks.len() == 10));
}

/// Guards against an hour without calls, after a wait of seconds, a clock that was set back by an hour, and a reload.
#[test]
fn a_clock_jump_does_not_lengthen_a_stored_wait() {
    let mut hand = Hand::new();
    let call = hand.running();
    let refusal = ApiError::from_status(429, None, Some(10_000));
    hand.answer(&call, Err(refusal));
    hand.calls();
    hand.now -= 60 * 60_000;
    let back = hand.now;
    reload(&mut hand);
    assert!(hand.calls().is_empty());
    assert_eq!(hand.next_call().kind, CallKind::Status);
    assert!((10_000..=10_500).contains(&(hand.now - back)));
}

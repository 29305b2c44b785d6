//! What was on its way while something changed, and came back.

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

/// Paused while their call was under way, put back by a 429, then a reload: they were sent.
#[test]
fn a_pause_counts_for_items_that_come_back() {
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

/// Stopped while their call was under way, put back by a 429: they were sent, and paid, later; and
/// after that was mended, they were deleted and what was typed was lost.
#[test]
fn a_stop_counts_for_items_that_come_back() {
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
    // They stand in the table again.
    let keys: Vec<TaskKey> = hand.engine.tasks().map(|task| task.key.clone()).collect();
    for key in &keys {
        hand.engine.act(key, Action::Delete, hand.now);
    }
    hand.calls();
    assert_eq!(hand.deleted.len(), 15);
    assert_eq!(hand.engine.tasks().count(), 0);
}

/// The tab in which Stop was pressed put its rows back at once: those that the leader was sending
/// in that moment were in the table and at the service. Now it goes by the leader's records.
#[test]
fn only_what_was_not_sent_is_taken_back() {
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

/// A leader that ends before it has written what it told: the tab that takes over must not send what has
/// gone back into a table.
#[test]
fn what_another_tab_took_back_is_not_sent_by_the_next_leader() {
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
        // Nor is it forgotten where storage never heard of it.
        hand.engine.load(Vec::new(), hand.now);
        hand.calls();
        assert!(hand.deleted.is_empty());
    }
}

#[test]
fn an_item_of_a_stopped_batch_that_was_taken_is_watched() {
    let mut hand = Hand::new();
    hand.submit_batch("a", 1);
    let call = hand.call();
    hand.engine.stop_batch(&batch(), hand.now);
    hand.answer(&call, accepted("1"));
    assert_eq!(hand.next_call().kind, CallKind::Status);
}

/// A leader that heard of another tab's submission for the first time had it Submitting for ever.
#[test]
fn a_submission_that_another_tab_tells_of_late_is_not_stuck() {
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

/// A wish for fresh addresses was forgotten, and could not be uttered again visibly.
#[test]
fn a_wish_for_fresh_addresses_waits_for_its_account() {
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

/// A proxy's 404 while the service restarted cost single calls for as long as the page was open.
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

/// A wait of seconds, a clock that was set back by an hour, and a reload: nothing was sent or asked
/// for an hour.
#[test]
fn a_clock_set_back_does_not_lengthen_a_wait_that_was_stored() {
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

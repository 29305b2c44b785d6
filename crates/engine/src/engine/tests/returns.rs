//! What was on its way while something changed, and came back.

use atelier_contract::{ApiError, StatusWord, TaskId};
use serde_json::json;

use super::rules::{Hand, START, accepted, error, progress};
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
    assert!(hand.engine.is_paused(&batch()));
    hand.engine.resume_batch(&batch());
    assert_eq!(hand.call().tasks.len(), 8);
}

/// Stopped while their call was under way, put back by a 429: they were sent, and paid, later.
#[test]
fn a_stop_counts_for_items_that_come_back() {
    let mut hand = Hand::new();
    hand.submit_batch("a", 15);
    let call = hand.call();
    hand.engine.stop_batch(&batch(), hand.now);
    hand.answer(&call, Err(error(429)));
    hand.now += 120_000;
    assert!(hand.calls().is_empty());
    assert_eq!(hand.engine.tasks().count(), 0);
    assert_eq!(hand.deleted.len(), 15);
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
    hand.engine.learn(told.clone(), hand.now);
    assert_eq!(hand.phase("a"), Phase::Unconfirmed);
    assert!(hand.calls().is_empty(), "sent by the other tab already");
    told.state = TaskState::Running {
        id: TaskId("1".into()),
        word: StatusWord::Processing,
    };
    hand.engine.learn(told, hand.now);
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

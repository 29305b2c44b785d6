//! Tests changes to tasks while their call is in flight, and the response to the call.

use atelier_contract::{ApiError, StatusWord, TaskId};
use serde_json::json;

use super::harness::{Harness, START, accepted, error, progress};
use super::world::{account, task};
use crate::engine::CallKind;
use crate::{Action, BatchKey, Engine, Phase, TaskKey, TaskState};

fn batch() -> BatchKey {
    BatchKey("a".into())
}

fn reload(harness: &mut Harness) {
    let stored: Vec<_> = harness.engine.tasks().cloned().collect();
    harness.engine = Engine::new(account());
    harness.engine.load(stored, harness.now);
}

/// Items that were paused while their call was in flight must not be sent after a 429 and a reload.
#[test]
fn a_pause_applies_to_items_in_flight() {
    let mut harness = Harness::new();
    harness.submit_batch("a", 8);
    let call = harness.call();
    harness.engine.pause_batch(&batch());
    harness.answer(&call, Err(error(429)));
    reload(&mut harness);
    harness.now += 120_000;
    assert!(harness.calls().is_empty());
    assert!(harness.engine.send_queue.is_paused(&batch()));
    harness.engine.resume_batch(&batch());
    assert_eq!(harness.call().tasks.len(), 8);
}

/// Items that were stopped while their call was in flight must not be sent after a 429, and their inputs must not be
/// lost.
#[test]
fn a_stop_applies_to_items_in_flight() {
    let mut harness = Harness::new();
    harness.submit_batch("a", 15);
    let call = harness.call();
    harness.engine.stop_batch(&batch(), harness.now);
    harness.answer(&call, Err(error(429)));
    harness.now += 120_000;
    assert!(harness.calls().is_empty());
    assert_eq!(harness.taken_back().len(), 15);
    reload(&mut harness);
    harness.engine.resume_batch(&batch());
    harness.now += 120_000;
    assert!(harness.calls().is_empty(), "sent after a reload");
    assert!(!harness.engine.send_queue.is_paused(&batch()));
    // The inputs of the items are in the table again.
    let keys: Vec<TaskKey> = harness
        .engine
        .tasks()
        .map(|task| task.key.clone())
        .collect();
    for key in &keys {
        harness.engine.act(key, Action::Delete, harness.now);
    }
    harness.calls();
    assert_eq!(harness.deleted.len(), 15);
    assert_eq!(harness.engine.tasks().count(), 0);
}

/// A Stop must not return items to the table that the leader is sending.
#[test]
fn stop_takes_back_unsent_items_only() {
    let mut harness = Harness::new();
    harness.submit_batch("a", 25);
    let call = harness.call();
    harness.engine.stop_batch(&batch(), harness.now);
    assert!(harness.calls().is_empty());
    let expected: Vec<String> = (10..25).map(|index| format!("a-{index:03}")).collect();
    assert_eq!(harness.taken_back(), expected);
    harness.answer(&call, Err(error(500)));
    harness.calls();
    assert_eq!(
        harness.taken_back(),
        expected,
        "the service may have accepted those"
    );
    assert_eq!(harness.phase("a-000"), Phase::Unconfirmed);
}

/// The leader was closed before it has stored a Stop. The next leader must not send tasks that are back in the table.
#[test]
fn the_next_leader_does_not_send_tasks_taken_back() {
    for stored in [TaskState::Queued, TaskState::Submitting] {
        let mut harness = Harness::new();
        harness.engine.set_leading(false, harness.now);
        let mut remote = task("a", START);
        remote.taken_back = true;
        harness.engine.merge_remote(remote.clone(), harness.now);
        let mut record = task("a", START);
        record.state = stored;
        harness.engine.load(vec![record], harness.now);
        harness.engine.set_leading(true, harness.now);
        assert!(harness.calls().is_empty());
        assert_eq!(harness.taken_back(), ["a"]);
        // The record is preserved if it was never stored.
        harness.engine.load(Vec::new(), harness.now);
        harness.calls();
        assert!(harness.deleted.is_empty());
    }
}

#[test]
fn an_accepted_item_of_a_stopped_batch_is_polled() {
    let mut harness = Harness::new();
    harness.submit_batch("a", 1);
    let call = harness.call();
    harness.engine.stop_batch(&batch(), harness.now);
    harness.answer(&call, accepted("1"));
    assert_eq!(harness.next_call().kind, CallKind::Status);
}

/// A task that the leader receives late from another tab must not stay Submitting forever.
#[test]
fn a_submission_received_late_from_another_tab_is_not_stuck() {
    let mut harness = Harness::new();
    let mut remote = task("a", START);
    remote.submitted = Some(START);
    remote.state = TaskState::Submitting;
    harness.engine.merge_remote(remote.clone(), harness.now);
    assert_eq!(harness.phase("a"), Phase::Unconfirmed);
    assert!(harness.calls().is_empty(), "sent by the other tab already");
    remote.state = TaskState::Running {
        id: TaskId("1".into()),
        word: StatusWord::Processing,
    };
    harness.engine.merge_remote(remote, harness.now);
    assert_eq!(harness.call().kind, CallKind::Status);
}

/// The request for fresh URLs must not be lost.
#[test]
fn a_refetch_waits_for_its_account() {
    let mut harness = Harness::new();
    let call = harness.running();
    harness.answer(&call, progress("completed"));
    let call = harness.call();
    let output = json!({"success": true, "data": {"status": "completed", "output": ["u"]}});
    harness.answer(&call, Ok(output));
    let key = TaskKey("a".into());
    harness.engine.act(&key, Action::Refetch, harness.now);
    let mut other = account();
    other.uid = "another".into();
    harness.engine.set_account(other, harness.now);
    assert!(harness.calls().is_empty());
    harness.engine.set_account(account(), harness.now);
    assert_eq!(harness.call().kind, CallKind::Response);
}

/// A proxy may have sent the 404 while the service restarted.
#[test]
fn batch_endpoints_are_tried_again_after_a_while() {
    let mut harness = Harness::new();
    harness.submit_batch("a", 20);
    let call = harness.call();
    harness.answer(&call, Err(ApiError::from_status(404, None, None)));
    let single = harness.call();
    assert_eq!(single.tasks.len(), 1);
    harness.now += 20 * 60_000;
    harness.answer(&single, accepted("1"));
    let calls = harness.calls();
    assert!(calls.iter().any(|call| call.tasks.len() == 10));
}

/// After a clock is set back by an hour and a reload, a wait of seconds must not last an hour.
#[test]
fn a_clock_jump_does_not_lengthen_a_stored_wait() {
    let mut harness = Harness::new();
    let call = harness.running();
    let refusal = ApiError::from_status(429, None, Some(10_000));
    harness.answer(&call, Err(refusal));
    harness.calls();
    harness.now -= 60 * 60_000;
    let back = harness.now;
    reload(&mut harness);
    assert!(harness.calls().is_empty());
    assert_eq!(harness.next_call().kind, CallKind::Status);
    assert!((10_000..=10_500).contains(&(harness.now - back)));
}

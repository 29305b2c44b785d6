//! Tests batches: calls have up to ten items, in order, and each item has its own response.

use atelier_contract::{ApiError, path};
use serde_json::{Value, json};

use super::harness::{Harness, accepted, error, network};
use super::world::account;
use crate::engine::{Call, CallKind, Idempotency};
use crate::{Action, BatchKey, Phase, TaskKey, TaskState};

fn all_accepted(call: &Call) -> Result<Value, ApiError> {
    if call.tasks.len() == 1 {
        return accepted(&call.tasks[0].0);
    }
    let results: Vec<Value> = call
        .tasks
        .iter()
        .enumerate()
        .map(|(index, key)| {
            let body = json!({"success": true, "data": {"id": key.0, "status": "queued"}});
            json!({"index": index, "status": 200, "body": body})
        })
        .collect();
    Ok(json!({"success": true, "data": {"results": results}}))
}

fn generate_calls(harness: &mut Harness) -> Vec<Call> {
    let mut calls = harness.calls();
    calls.retain(|call| call.kind == CallKind::Generate);
    calls
}

/// Sends all tasks, answering each call at once, and returns the calls.
fn send_all(harness: &mut Harness) -> Vec<Call> {
    let mut all = Vec::new();
    loop {
        let calls = generate_calls(harness);
        if calls.is_empty() {
            return all;
        }
        for call in calls {
            let answer = all_accepted(&call);
            harness.answer(&call, answer);
            all.push(call);
        }
    }
}

#[test]
fn sends_25_items_as_10_10_and_5_in_order() {
    let mut harness = Harness::new();
    harness.submit_batch("a", 25);
    let first = generate_calls(&mut harness);
    assert_eq!(first.len(), 1, "one call per batch in flight");
    let answer = all_accepted(&first[0]);
    harness.answer(&first[0], answer);
    let rest = send_all(&mut harness);
    let calls: Vec<&Call> = first.iter().chain(&rest).collect();
    let sizes: Vec<usize> = calls.iter().map(|call| call.tasks.len()).collect();
    assert_eq!(sizes, [10, 10, 5]);
    let sent: Vec<&TaskKey> = calls.iter().flat_map(|call| &call.tasks).collect();
    assert!(sent.is_sorted());
    assert!(calls.iter().all(|call| call.path == path::GENERATE_BATCH));
}

#[test]
fn one_item_uses_the_single_endpoint() {
    let mut harness = Harness::new();
    harness.submit_batch("a", 1);
    assert_eq!(harness.call().path, path::GENERATE);
}

#[test]
fn batches_take_turns_and_single_tasks_go_first() {
    let mut harness = Harness::new();
    harness.submit_batch("a", 30);
    harness.submit_batch("b", 30);
    harness.submit(&["single"]);
    let firsts: Vec<String> = send_all(&mut harness)
        .iter()
        .map(|call| call.tasks[0].0.clone())
        .collect();
    assert_eq!(
        firsts,
        [
            "single", "a-000", "b-000", "a-010", "b-010", "a-020", "b-020"
        ]
    );
}

#[test]
fn each_item_is_handled_by_its_own_response() {
    let mut harness = Harness::new();
    harness.submit_batch("a", 6);
    let call = harness.call();
    let entry = |index: usize, status: u16, body: Value| json!({"index": index, "status": status, "body": body});
    let good = json!({"success": true, "data": {"id": "x", "status": "completed"}});
    let reply = json!({"success": true, "data": {"results": [
        entry(4, 429, json!({"success": false})),
        entry(3, 500, json!({"success": false})),
        entry(0, 200, good),
        entry(1, 422, json!({"success": false, "message": "too long"})),
        entry(5, 200, json!({"success": true, "data": {}})),
    ]}});
    harness.answer(&call, Ok(reply));
    for (index, expected) in [
        Phase::Fetching,
        Phase::Failed,
        Phase::Unconfirmed, // There is no entry.
        Phase::Unconfirmed,
        Phase::Queued,
        Phase::Unconfirmed,
    ]
    .into_iter()
    .enumerate()
    {
        assert_eq!(harness.phase(&format!("a-{index:03}")), expected, "{index}");
    }
    assert!(
        matches!(harness.state("a-001"), TaskState::Failed { message, .. } if message.contains("too long"))
    );
    assert!(harness.calls().is_empty(), "the 429 blocks all calls");
}

#[test]
fn a_lost_response_affects_only_the_items_of_its_call() {
    let mut harness = Harness::new();
    harness.submit_batch("a", 25);
    let call = harness.call();
    harness.answer(&call, Err(network()));
    let unconfirmed = |harness: &Harness| {
        harness
            .engine
            .tasks()
            .filter(|task| task.state.phase() == Phase::Unconfirmed)
            .count()
    };
    assert_eq!(unconfirmed(&harness), 10);
    // The rest waits; then one item tests whether the service is back.
    assert!(harness.calls().is_empty());
    let probe = harness.next_call();
    assert_eq!(probe.tasks, [TaskKey("a-010".into())]);
    harness.answer(&probe, accepted("x"));
    let sizes: Vec<usize> = send_all(&mut harness)
        .iter()
        .map(|call| call.tasks.len())
        .collect();
    assert_eq!(sizes, [10, 4]);
}

#[test]
fn few_items_are_sent_to_a_service_that_stays_down() {
    let mut harness = Harness::new();
    harness.submit_batch("a", 1_000);
    let end = harness.now + 10 * 60_000;
    while harness.engine.next_wake().is_some_and(|at| at <= end) {
        for call in {
            harness.now = harness.engine.next_wake().unwrap();
            harness.calls()
        } {
            harness.answer(&call, Err(network()));
        }
    }
    let unsent = harness
        .engine
        .tasks()
        .filter(|task| task.state == TaskState::Queued)
        .count();
    assert!(unsent > 960, "{unsent}");
}

#[test]
fn sends_single_calls_without_batch_endpoints() {
    for status in [404, 405] {
        let mut harness = Harness::new();
        harness.submit_batch("a", 12);
        let call = harness.call();
        harness.answer(&call, Err(ApiError::from_status(status, None, None)));
        let calls = send_all(&mut harness);
        assert_eq!(calls.len(), 12);
        assert!(calls.iter().all(|call| call.path == path::GENERATE));
        let sent: Vec<&TaskKey> = calls.iter().flat_map(|call| &call.tasks).collect();
        assert!(sent.is_sorted(), "still in order");
        harness.now += 2_000;
        assert!(harness.calls().iter().all(|call| call.path == path::STATUS));
    }
}

#[test]
fn an_invalid_item_is_separated_from_its_batch() {
    let mut harness = Harness::new();
    harness.submit_batch("a", 3);
    let call = harness.call();
    harness.answer(&call, Err(error(400)));
    for index in 0..3 {
        let call = generate_calls(&mut harness).remove(0);
        assert_eq!(call.path, path::GENERATE);
        let answer = if index == 1 {
            Err(error(400))
        } else {
            accepted("x")
        };
        harness.answer(&call, answer);
    }
    let phases: Vec<Phase> = (0..3)
        .map(|index| harness.phase(&format!("a-{index:03}")))
        .collect();
    assert_eq!(phases, [Phase::Running, Phase::Failed, Phase::Running]);
}

#[test]
fn a_paused_batch_stays_paused_over_a_reload_and_can_be_stopped() {
    let mut harness = Harness::new();
    let batch = BatchKey("a".into());
    harness.submit_batch("a", 25);
    let call = harness.call();
    harness.engine.pause_batch(&batch);
    let answer = all_accepted(&call);
    harness.answer(&call, answer);
    assert!(generate_calls(&mut harness).is_empty());
    let stored: Vec<_> = harness.engine.tasks().cloned().collect();
    harness.engine = crate::Engine::new(super::world::account());
    harness.engine.load(stored, harness.now);
    assert!(harness.engine.send_queue.is_paused(&batch));
    assert!(generate_calls(&mut harness).is_empty());
    harness.engine.resume_batch(&batch);
    let call = generate_calls(&mut harness).remove(0);
    harness.engine.stop_batch(&batch, harness.now);
    let answer = all_accepted(&call);
    harness.answer(&call, answer);
    assert!(generate_calls(&mut harness).is_empty());
    assert_eq!(
        harness.taken_back(),
        ["a-020", "a-021", "a-022", "a-023", "a-024"]
    );
    assert!(
        harness.deleted.is_empty(),
        "the inputs are not in the table yet"
    );
}

/// A takeover must not pause a batch that was resumed in another tab.
#[test]
fn a_batch_resumed_in_another_tab_stays_resumed() {
    let mut harness = Harness::new();
    harness.submit_batch("a", 3);
    let batch = BatchKey("a".into());
    let tasks: Vec<_> = harness.engine.tasks().cloned().collect();
    let mut follower = crate::Engine::new(super::world::account());
    follower.set_leading(false, harness.now);
    for paused in [true, false] {
        for task in &tasks {
            let remote = crate::Task {
                paused,
                ..task.clone()
            };
            follower.merge_remote(remote, harness.now);
        }
    }
    follower.load(tasks, harness.now);
    follower.set_leading(true, harness.now);
    assert!(!follower.send_queue.is_paused(&batch));
    assert!(follower.tasks().all(|task| !task.paused));
    harness.engine = follower;
    assert_eq!(generate_calls(&mut harness).len(), 1);
}

#[test]
fn cancels_an_item_in_the_middle_of_a_batch() {
    let mut harness = Harness::new();
    harness.submit_batch("a", 12);
    harness
        .engine
        .act(&TaskKey("a-005".into()), Action::Cancel, harness.now);
    let sizes: Vec<usize> = send_all(&mut harness)
        .iter()
        .map(|call| call.tasks.len())
        .collect();
    assert_eq!(sizes, [10, 1]);
}

/// Tests ids that a response assigns to several items. If they were accepted, one output would be shown for several
/// prompts, and paid tasks would not be polled.
#[test]
fn items_with_a_shared_id_are_unconfirmed() {
    // With the same key, the service would return the same id again.
    for support in [Idempotency::Unsupported, Idempotency::For(86_400_000)] {
        let mut harness = Harness::new();
        let address = account().address;
        harness
            .engine
            .set_idempotency(&address, support, harness.now);
        harness.submit_batch("a", 3);
        let call = generate_calls(&mut harness).remove(0);
        let entry = |index: usize, id: &str| {
            let body = json!({"success": true, "data": {"id": id, "status": "queued"}});
            json!({"index": index, "status": 200, "body": body})
        };
        let results = [entry(0, "x"), entry(1, "x"), entry(2, "y")];
        let reply = json!({"success": true, "data": {"results": results}});
        harness.answer(&call, Ok(reply));
        let phases: Vec<Phase> = call
            .tasks
            .iter()
            .map(|key| harness.engine.task(key).unwrap().state.phase())
            .collect();
        let wanted = [Phase::Unconfirmed, Phase::Unconfirmed, Phase::Running];
        assert_eq!(phases, wanted);
    }
}

/// Guards against a task that seems to run forever because batch responses have no entry for it.
#[test]
fn a_task_missing_from_a_batch_response_is_polled_alone() {
    let mut harness = Harness::new();
    harness.submit_batch("a", 3);
    send_all(&mut harness);
    let call = harness.next_call();
    assert_eq!((call.path, call.tasks.len()), (path::STATUS_BATCH, 3));
    let entry = |index: usize, id: &str| {
        let body = json!({"success": true, "data": {"id": id, "status": "queued"}});
        json!({"index": index, "status": 200, "body": body})
    };
    let results = [entry(0, "a-000"), entry(1, "a-001")];
    let reply = json!({"success": true, "data": {"results": results}});
    harness.answer(&call, Ok(reply));
    let mut asked = Vec::new();
    while asked.len() < 2 {
        harness.now = harness.engine.next_wake().unwrap();
        asked.extend(harness.calls());
    }
    asked.sort_by_key(|call| call.tasks.len());
    assert_eq!(asked[0].path, path::STATUS);
    assert_eq!(asked[0].tasks, [TaskKey("a-002".into())]);
    assert_eq!(
        (asked[1].path, asked[1].tasks.len()),
        (path::STATUS_BATCH, 2)
    );
}

/// The response has no entries at all.
#[test]
fn tasks_with_unusable_batch_responses_are_polled_alone() {
    let mut harness = Harness::new();
    harness.submit_batch("a", 3);
    send_all(&mut harness);
    let call = harness.next_call();
    assert_eq!(call.path, path::STATUS_BATCH);
    harness.answer(&call, Ok(json!({"success": true, "data": {}})));
    let mut asked = Vec::new();
    while asked.len() < 3 {
        harness.now = harness.engine.next_wake().unwrap();
        asked.extend(harness.calls());
    }
    assert!(asked.iter().all(|call| call.path == path::STATUS));
}

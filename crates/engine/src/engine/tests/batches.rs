//! Batches: calls with up to ten items, in order. Each item has its own response.

use atelier_contract::{ApiError, path};
use serde_json::{Value, json};

use super::hand::{Hand, accepted, error, network};
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

fn generate_calls(hand: &mut Hand) -> Vec<Call> {
    let mut calls = hand.calls();
    calls.retain(|call| call.kind == CallKind::Generate);
    calls
}

/// Sends all tasks, answering each call at once, and returns the calls.
fn send_all(hand: &mut Hand) -> Vec<Call> {
    let mut all = Vec::new();
    loop {
        let calls = generate_calls(hand);
        if calls.is_empty() {
            return all;
        }
        for call in calls {
            let answer = all_accepted(&call);
            hand.answer(&call, answer);
            all.push(call);
        }
    }
}

#[test]
fn sends_25_items_as_10_10_and_5_in_order() {
    let mut hand = Hand::new();
    hand.submit_batch("a", 25);
    let first = generate_calls(&mut hand);
    assert_eq!(first.len(), 1, "one call of a batch at one time");
    let answer = all_accepted(&first[0]);
    hand.answer(&first[0], answer);
    let rest = send_all(&mut hand);
    let calls: Vec<&Call> = first.iter().chain(&rest).collect();
    let sizes: Vec<usize> = calls.iter().map(|call| call.tasks.len()).collect();
    assert_eq!(sizes, [10, 10, 5]);
    let sent: Vec<&TaskKey> = calls.iter().flat_map(|call| &call.tasks).collect();
    assert!(sent.is_sorted());
    assert!(calls.iter().all(|call| call.path == path::GENERATE_BATCH));
}

#[test]
fn one_item_uses_the_single_endpoint() {
    let mut hand = Hand::new();
    hand.submit_batch("a", 1);
    assert_eq!(hand.call().path, path::GENERATE);
}

#[test]
fn batches_take_turns_and_single_tasks_go_first() {
    let mut hand = Hand::new();
    hand.submit_batch("a", 30);
    hand.submit_batch("b", 30);
    hand.submit(&["single"]);
    let firsts: Vec<String> = send_all(&mut hand)
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
    let mut hand = Hand::new();
    hand.submit_batch("a", 6);
    let call = hand.call();
    let entry = |index: usize, status: u16, body: Value| json!({"index": index, "status": status, "body": body});
    let good = json!({"success": true, "data": {"id": "x", "status": "completed"}});
    let reply = json!({"success": true, "data": {"results": [
        entry(4, 429, json!({"success": false})),
        entry(3, 500, json!({"success": false})),
        entry(0, 200, good),
        entry(1, 422, json!({"success": false, "message": "too long"})),
        entry(5, 200, json!({"success": true, "data": {}})),
    ]}});
    hand.answer(&call, Ok(reply));
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
        assert_eq!(hand.phase(&format!("a-{index:03}")), expected, "{index}");
    }
    assert!(
        matches!(hand.state("a-001"), TaskState::Failed { message, .. } if message.contains("too long"))
    );
    assert!(hand.calls().is_empty(), "the refused item makes all wait");
}

#[test]
fn a_lost_response_affects_only_the_items_of_its_call() {
    let mut hand = Hand::new();
    hand.submit_batch("a", 25);
    let call = hand.call();
    hand.answer(&call, Err(network()));
    let unconfirmed = |hand: &Hand| {
        hand.engine
            .tasks()
            .filter(|task| task.state.phase() == Phase::Unconfirmed)
            .count()
    };
    assert_eq!(unconfirmed(&hand), 10);
    // The rest waits; then one item tests whether the service is back.
    assert!(hand.calls().is_empty());
    let probe = hand.next_call();
    assert_eq!(probe.tasks, [TaskKey("a-010".into())]);
    hand.answer(&probe, accepted("x"));
    let sizes: Vec<usize> = send_all(&mut hand)
        .iter()
        .map(|call| call.tasks.len())
        .collect();
    assert_eq!(sizes, [10, 4]);
}

#[test]
fn few_items_are_sent_to_a_service_that_stays_down() {
    let mut hand = Hand::new();
    hand.submit_batch("a", 1_000);
    let end = hand.now + 10 * 60_000;
    while hand.engine.next_wake().is_some_and(|at| at <= end) {
        for call in {
            hand.now = hand.engine.next_wake().unwrap();
            hand.calls()
        } {
            hand.answer(&call, Err(network()));
        }
    }
    let unsent = hand
        .engine
        .tasks()
        .filter(|task| task.state == TaskState::Queued)
        .count();
    assert!(unsent > 960, "{unsent}");
}

#[test]
fn sends_single_calls_without_batch_endpoints() {
    for status in [404, 405] {
        let mut hand = Hand::new();
        hand.submit_batch("a", 12);
        let call = hand.call();
        hand.answer(&call, Err(ApiError::from_status(status, None, None)));
        let calls = send_all(&mut hand);
        assert_eq!(calls.len(), 12);
        assert!(calls.iter().all(|call| call.path == path::GENERATE));
        let sent: Vec<&TaskKey> = calls.iter().flat_map(|call| &call.tasks).collect();
        assert!(sent.is_sorted(), "still in order");
        hand.now += 2_000;
        assert!(hand.calls().iter().all(|call| call.path == path::STATUS));
    }
}

#[test]
fn an_invalid_item_is_separated_from_its_batch() {
    let mut hand = Hand::new();
    hand.submit_batch("a", 3);
    let call = hand.call();
    hand.answer(&call, Err(error(400)));
    for index in 0..3 {
        let call = generate_calls(&mut hand).remove(0);
        assert_eq!(call.path, path::GENERATE);
        let answer = if index == 1 {
            Err(error(400))
        } else {
            accepted("x")
        };
        hand.answer(&call, answer);
    }
    let phases: Vec<Phase> = (0..3)
        .map(|index| hand.phase(&format!("a-{index:03}")))
        .collect();
    assert_eq!(phases, [Phase::Running, Phase::Failed, Phase::Running]);
}

#[test]
fn a_paused_batch_stays_paused_over_a_reload_and_can_be_stopped() {
    let mut hand = Hand::new();
    let batch = BatchKey("a".into());
    hand.submit_batch("a", 25);
    let call = hand.call();
    hand.engine.pause_batch(&batch);
    let answer = all_accepted(&call);
    hand.answer(&call, answer);
    assert!(generate_calls(&mut hand).is_empty());
    let stored: Vec<_> = hand.engine.tasks().cloned().collect();
    hand.engine = crate::Engine::new(super::world::account());
    hand.engine.load(stored, hand.now);
    assert!(hand.engine.send_queue.is_paused(&batch));
    assert!(generate_calls(&mut hand).is_empty());
    hand.engine.resume_batch(&batch);
    let call = generate_calls(&mut hand).remove(0);
    hand.engine.stop_batch(&batch, hand.now);
    let answer = all_accepted(&call);
    hand.answer(&call, answer);
    assert!(generate_calls(&mut hand).is_empty());
    assert_eq!(
        hand.taken_back(),
        ["a-020", "a-021", "a-022", "a-023", "a-024"]
    );
    assert!(
        hand.deleted.is_empty(),
        "what was typed is not in the table yet"
    );
}

/// Guards against a batch that was resumed in another tab and is paused again when this tab takes over.
#[test]
fn a_batch_resumed_in_another_tab_stays_resumed() {
    let mut hand = Hand::new();
    hand.submit_batch("a", 3);
    let batch = BatchKey("a".into());
    let tasks: Vec<_> = hand.engine.tasks().cloned().collect();
    let mut follower = crate::Engine::new(super::world::account());
    follower.set_leading(false, hand.now);
    for paused in [true, false] {
        for task in &tasks {
            let told = crate::Task {
                paused,
                ..task.clone()
            };
            follower.merge_remote(told, hand.now);
        }
    }
    follower.load(tasks, hand.now);
    follower.set_leading(true, hand.now);
    assert!(!follower.send_queue.is_paused(&batch));
    assert!(follower.tasks().all(|task| !task.paused));
    hand.engine = follower;
    assert_eq!(generate_calls(&mut hand).len(), 1);
}

#[test]
fn cancels_an_item_in_the_middle_of_a_batch() {
    let mut hand = Hand::new();
    hand.submit_batch("a", 12);
    hand.engine
        .act(&TaskKey("a-005".into()), Action::Cancel, hand.now);
    let sizes: Vec<usize> = send_all(&mut hand)
        .iter()
        .map(|call| call.tasks.len())
        .collect();
    assert_eq!(sizes, [10, 1]);
}

/// Guards against one output that is shown next to several prompts, and against paid tasks that no tab follows.
#[test]
fn items_with_a_shared_id_are_unconfirmed() {
    // With the same key, the service would return the same id again.
    for said in [Idempotency::Unsupported, Idempotency::For(86_400_000)] {
        let mut hand = Hand::new();
        let address = account().address;
        hand.engine.set_idempotency(&address, said, hand.now);
        hand.submit_batch("a", 3);
        let call = generate_calls(&mut hand).remove(0);
        let entry = |index: usize, id: &str| {
            let body = json!({"success": true, "data": {"id": id, "status": "queued"}});
            json!({"index": index, "status": 200, "body": body})
        };
        let results = [entry(0, "x"), entry(1, "x"), entry(2, "y")];
        let reply = json!({"success": true, "data": {"results": results}});
        hand.answer(&call, Ok(reply));
        let phases: Vec<Phase> = call
            .tasks
            .iter()
            .map(|key| hand.engine.task(key).unwrap().state.phase())
            .collect();
        let wanted = [Phase::Unconfirmed, Phase::Unconfirmed, Phase::Running];
        assert_eq!(phases, wanted);
    }
}

/// Guards against tasks that run forever because batch responses never contain an entry for them and they are not
/// polled alone.
#[test]
fn a_task_missing_from_a_batch_response_is_polled_alone() {
    let mut hand = Hand::new();
    hand.submit_batch("a", 3);
    send_all(&mut hand);
    let call = hand.next_call();
    assert_eq!((call.path, call.tasks.len()), (path::STATUS_BATCH, 3));
    let entry = |index: usize, id: &str| {
        let body = json!({"success": true, "data": {"id": id, "status": "queued"}});
        json!({"index": index, "status": 200, "body": body})
    };
    let results = [entry(0, "a-000"), entry(1, "a-001")];
    let reply = json!({"success": true, "data": {"results": results}});
    hand.answer(&call, Ok(reply));
    let mut asked = Vec::new();
    while asked.len() < 2 {
        hand.now = hand.engine.next_wake().unwrap();
        asked.extend(hand.calls());
    }
    asked.sort_by_key(|call| call.tasks.len());
    assert_eq!(asked[0].path, path::STATUS);
    assert_eq!(asked[0].tasks, [TaskKey("a-002".into())]);
    assert_eq!(
        (asked[1].path, asked[1].tasks.len()),
        (path::STATUS_BATCH, 2)
    );
}

/// The same for a response without any entries.
#[test]
fn tasks_with_unusable_batch_responses_are_polled_alone() {
    let mut hand = Hand::new();
    hand.submit_batch("a", 3);
    send_all(&mut hand);
    let call = hand.next_call();
    assert_eq!(call.path, path::STATUS_BATCH);
    hand.answer(&call, Ok(json!({"success": true, "data": {}})));
    let mut asked = Vec::new();
    while asked.len() < 3 {
        hand.now = hand.engine.next_wake().unwrap();
        asked.extend(hand.calls());
    }
    assert!(asked.iter().all(|call| call.path == path::STATUS));
}

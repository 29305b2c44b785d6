//! Tests resending submissions without a response, for a service with idempotency keys.

use atelier_contract::{ApiError, StatusWord, TaskId, path};
use serde_json::{Value, json};

use super::harness::{Harness, START, accepted, error, network};
use super::world::{account, task};
use crate::engine::{BlockReason, Call, CallKind, Idempotency};
use crate::{Account, Action, BatchKey, Engine, Millis, Phase, Task, TaskKey, TaskState};

const DAY: Millis = 86_400_000;

fn set_key_support(harness: &mut Harness, support: Idempotency) {
    let address = account().address;
    harness
        .engine
        .set_idempotency(&address, support, harness.now);
}

fn harness() -> Harness {
    let mut harness = Harness::new();
    set_key_support(&mut harness, Idempotency::For(DAY));
    harness
}

fn reload(harness: &mut Harness) {
    let mut stored = std::collections::BTreeMap::new();
    harness.calls();
    for task in &harness.saved {
        stored.insert(task.key.clone(), task.clone());
    }
    harness.engine = Engine::new(account());
    set_key_support(harness, Idempotency::Asked);
    harness
        .engine
        .load(stored.into_values().collect(), harness.now);
}

/// Returns the keys in the header and the body of a call.
fn keys(call: &Call) -> Vec<String> {
    let items = call.body["requests"].as_array().into_iter().flatten();
    let fields = items.map(|item| {
        item["idempotency_key"]
            .as_str()
            .unwrap_or_default()
            .to_owned()
    });
    fields.chain(call.idempotency_key.clone()).collect()
}

fn refusal(status: u16) -> ApiError {
    ApiError::from_status(status, Some(&json!({"message": "so"})), None)
}

#[test]
fn each_submission_has_its_own_key() {
    let mut harness = harness();
    harness.submit(&["a", "b"]);
    let calls = harness.calls();
    assert_eq!(keys(&calls[0]), ["a"]);
    assert_eq!(keys(&calls[1]), ["b"]);
    assert_eq!(
        calls[0].body.get("idempotency_key"),
        None,
        "the key is in the header"
    );
    assert_eq!(
        harness
            .engine
            .task(&calls[0].write_first()[0])
            .unwrap()
            .idempotency_key
            .as_deref(),
        Some("a"),
        "stored before it is sent"
    );
    for call in &calls {
        harness.answer(call, accepted(&call.tasks[0].0));
    }
    harness.submit_batch("c", 3);
    let mut calls = harness.calls();
    calls.retain(|call| call.kind == CallKind::Generate);
    assert_eq!(calls[0].path, path::GENERATE_BATCH);
    assert_eq!(keys(&calls[0]), ["c-000", "c-001", "c-002"]);
}

/// An extra header fails because of CORS, and an extra field may be refused.
#[test]
fn sends_no_keys_to_a_service_without_key_support() {
    for support in [Idempotency::Unsupported, Idempotency::Unknown] {
        let mut harness = Harness::new();
        set_key_support(&mut harness, support);
        harness.submit_batch("a", 2);
        harness.submit(&["b"]);
        for call in harness.calls() {
            assert!(keys(&call).iter().all(String::is_empty));
            let requests = call.body["requests"]
                .as_array()
                .cloned()
                .unwrap_or_default();
            assert!(
                requests
                    .iter()
                    .chain([&call.body])
                    .all(|body| body.get("idempotency_key").is_none())
            );
            harness.answer(&call, Err(network()));
        }
        assert_eq!(harness.phase("a-000"), Phase::Unconfirmed);
        assert_eq!(harness.phase("b"), Phase::Unconfirmed);
        harness.now += DAY;
        assert!(harness.calls().is_empty());
    }
}

#[test]
fn resends_with_the_same_key_after_a_lost_response() {
    for lost in [
        Err(network()),
        Err(error(500)),
        Err(error(503)),
        Err(ApiError::Timeout { after_ms: 1 }),
        Ok(json!({"surprise": true})),
        // The service is still processing the first submission.
        Err(refusal(409)),
        Err(refusal(425)),
    ] {
        let mut harness = harness();
        harness.submit(&["a"]);
        let mut call = harness.call();
        for _ in 0..20 {
            let before = harness.now;
            harness.answer(&call, lost.clone());
            assert_eq!(harness.phase("a"), Phase::Submitting, "{lost:?}");
            assert!(harness.calls().is_empty(), "at once");
            call = harness.next_call();
            let wait = harness.now - before;
            assert!((500..=60_000).contains(&wait), "{wait}");
            assert_eq!(keys(&call), ["a"]);
        }
        harness.answer(&call, accepted("1"));
        assert_eq!(harness.phase("a"), Phase::Running);
        let task = harness.engine.task(&TaskKey("a".into())).unwrap();
        assert_eq!((task.submitted, &task.poll_error), (Some(START), &None));
        assert_eq!(harness.next_call().kind, CallKind::Status);
    }
}

#[test]
fn resends_the_items_of_a_lost_batch_call_together() {
    let mut harness = harness();
    harness.submit_batch("a", 25);
    let call = harness.call();
    harness.answer(&call, Err(network()));
    // One resend tests whether the service is reachable.
    let probe = harness.next_call();
    assert_eq!(keys(&probe), ["a-000"]);
    assert!(matches!(
        harness.engine.block_reason(START + 1),
        None | Some(BlockReason::Unanswered(_))
    ));
    harness.answer(&probe, accepted("0"));
    let calls = harness.calls();
    let sent: Vec<usize> = calls.iter().map(|call| call.tasks.len()).collect();
    assert_eq!(sent, [9], "in the batch's order, one call at a time");
    assert_eq!(keys(&calls[0])[0], "a-001");
}

#[test]
fn resends_submissions_in_flight_after_a_reload() {
    let mut harness = harness();
    harness.submit(&["a"]);
    harness.call();
    reload(&mut harness);
    assert_eq!(harness.phase("a"), Phase::Submitting);
    assert!(harness.calls().is_empty(), "key support is still unknown");
    harness.now += 3_000;
    set_key_support(&mut harness, Idempotency::For(DAY));
    let call = harness.call();
    assert_eq!(keys(&call), ["a"]);
    harness.answer(&call, accepted("1"));
    assert_eq!(harness.phase("a"), Phase::Running);
}

/// A submission that is sent without a key before the model list arrives would become Unconfirmed if its response is
/// lost.
#[test]
fn submissions_wait_for_the_key_support_of_the_service() {
    let mut harness = Harness::new();
    set_key_support(&mut harness, Idempotency::Asked);
    harness.submit(&["a"]);
    assert!(harness.calls().is_empty());
    harness.now += 1_000;
    set_key_support(&mut harness, Idempotency::For(DAY));
    assert_eq!(keys(&harness.call()), ["a"]);
    // The wait is limited.
    let mut harness = Harness::new();
    set_key_support(&mut harness, Idempotency::Asked);
    harness.submit(&["a"]);
    assert!(harness.calls().is_empty());
    let call = harness.next_call();
    assert!(harness.now <= START + 10_000);
    assert_eq!(call.idempotency_key, None);
}

#[test]
fn tasks_become_unconfirmed_when_key_support_ends() {
    let mut harness = harness();
    harness.submit(&["a"]);
    let call = harness.call();
    harness.answer(&call, Err(network()));
    set_key_support(&mut harness, Idempotency::Unsupported);
    assert!(matches!(harness.state("a"), TaskState::Unconfirmed { error } if error == network()));
    harness.now += DAY;
    assert!(harness.calls().is_empty());
    // The same applies after a reload.
    let mut harness = self::harness();
    harness.submit(&["a"]);
    harness.call();
    reload(&mut harness);
    set_key_support(&mut harness, Idempotency::Unsupported);
    assert_eq!(harness.phase("a"), Phase::Unconfirmed);
}

/// Guards against a second charge for a resend whose key the service has forgotten.
#[test]
fn an_expired_key_is_not_resent() {
    let mut harness = harness();
    harness.submit(&["a"]);
    let call = harness.call();
    harness.answer(&call, Err(network()));
    harness.engine.set_online(false, harness.now);
    harness.now += DAY;
    harness.engine.set_online(true, harness.now);
    assert!(harness.calls().is_empty());
    assert_eq!(harness.phase("a"), Phase::Unconfirmed);
    // A resubmission by the user is another attempt, with another key.
    let key = TaskKey("a".into());
    harness.engine.act(&key, Action::Resubmit, harness.now);
    let call = harness.next_call();
    assert_eq!(keys(&call), ["a.2"]);
}

/// The first attempt may have been accepted. A rate limit, a refused token or a Stop doesn't change that.
#[test]
fn an_uncertain_task_stays_submitting_until_a_definite_response() {
    for unsettling in [
        Err(ApiError::from_status(429, None, Some(2_000))),
        Err(ApiError::from_status(503, None, Some(2_000))),
        Err(error(401)),
        Err(ApiError::from_status(404, None, None)),
        Err(network()),
    ] {
        let mut harness = harness();
        harness.submit_batch("a", 1);
        let call = harness.call();
        harness.answer(&call, Err(network()));
        let call = harness.next_call();
        harness
            .engine
            .stop_batch(&BatchKey("a".into()), harness.now);
        harness.answer(&call, unsettling.clone());
        assert_eq!(harness.phase("a-000"), Phase::Submitting, "{unsettling:?}");
        harness.engine.credentials_changed(harness.now);
        harness
            .engine
            .stop_batch(&BatchKey("a".into()), harness.now);
        let call = match harness.calls().pop() {
            Some(call) => call,
            None => harness.next_call(),
        };
        assert_eq!(keys(&call), ["a-000"]);
        assert!(harness.taken_back().is_empty());
        harness.answer(&call, accepted("1"));
        assert_eq!(harness.phase("a-000"), Phase::Running);
    }
}

#[test]
fn a_refused_resend_is_unconfirmed_unless_its_input_is_invalid() {
    let invalid =
        json!({"message": "no", "fields": [{"parameter": "prompt", "message": "too long"}]});
    for (refusal, expected) in [
        (error(402), Phase::Unconfirmed),
        (error(422), Phase::Unconfirmed),
        (
            ApiError::from_status(422, Some(&invalid), None),
            Phase::Failed,
        ),
    ] {
        let mut harness = harness();
        harness.submit(&["a"]);
        let call = harness.call();
        harness.answer(&call, Err(network()));
        let call = harness.next_call();
        harness.answer(&call, Err(refusal));
        assert_eq!(harness.phase("a"), expected);
    }
}

/// A refusal of the first attempt means that it was not accepted.
#[test]
fn a_refused_first_attempt_fails() {
    for (refusal, expected) in [
        (error(401), Phase::Failed),
        (error(422), Phase::Failed),
        (error(429), Phase::Queued),
    ] {
        let mut harness = harness();
        harness.submit(&["a"]);
        let call = harness.call();
        harness.answer(&call, Err(refusal));
        assert_eq!(harness.phase("a"), expected);
    }
}

/// Guards against resending an item without a delay because the other items of its call were accepted.
#[test]
fn a_409_for_one_item_delays_only_that_item() {
    let mut harness = harness();
    harness.submit_batch("a", 3);
    let call = harness.call();
    let entry = |index: usize| match index {
        1 => json!({"index": index, "status": 409, "body": {"success": false}}),
        _ => {
            let data = json!({"id": format!("{index}"), "status": "queued"});
            json!({"index": index, "status": 200, "body": {"success": true, "data": data}})
        }
    };
    let results: Vec<Value> = (0..3).map(entry).collect();
    let reply = json!({"success": true, "data": {"results": results}});
    harness.answer(&call, Ok(reply));
    assert!(harness.calls().is_empty());
    loop {
        harness.now = harness.engine.next_wake().unwrap();
        if let Some(call) = harness
            .calls()
            .into_iter()
            .find(|call| call.kind == CallKind::Generate)
        {
            assert_eq!(keys(&call), ["a-001"]);
            break;
        }
    }
    assert!(harness.now >= START + 500);
}

#[test]
fn an_id_from_the_last_leader_settles_an_uncertain_task() {
    let mut harness = harness();
    let mut remote: Task = task("a", START);
    remote.state = TaskState::Submitting;
    remote.submitted = Some(START);
    remote.idempotency_key = Some("a".into());
    harness.engine.load(vec![remote.clone()], harness.now);
    assert_eq!(harness.phase("a"), Phase::Submitting);
    remote.state = TaskState::Running {
        id: TaskId("1".into()),
        word: StatusWord::Processing,
    };
    harness.engine.merge_remote(remote, harness.now);
    assert_eq!(harness.call().kind, CallKind::Status);
}

#[test]
fn an_uncertain_task_waits_for_its_account() {
    let mut harness = harness();
    harness.submit(&["a"]);
    let call = harness.call();
    let other = Account {
        uid: "other".into(),
        ..account()
    };
    harness.engine.set_account(other, harness.now);
    harness.answer(&call, Err(network()));
    harness.now += 600_000;
    assert!(harness.calls().is_empty());
    assert_eq!(harness.phase("a"), Phase::Submitting);
    harness.engine.set_account(account(), harness.now);
    assert_eq!(keys(&harness.call()), ["a"]);
}

/// Guards against a task that can't be removed because its service no longer exists.
#[test]
fn the_user_can_dismiss_a_task_that_is_being_resent() {
    let mut harness = harness();
    harness.submit(&["a"]);
    let call = harness.call();
    let key = TaskKey("a".into());
    harness.engine.act(&key, Action::Dismiss, harness.now);
    // The response may still arrive.
    assert_eq!(harness.phase("a"), Phase::Submitting);
    harness.answer(&call, Err(network()));
    harness.engine.act(&key, Action::Dismiss, harness.now);
    harness.now += DAY / 2;
    assert!(harness.calls().is_empty());
    assert_eq!(harness.deleted, [key]);
}

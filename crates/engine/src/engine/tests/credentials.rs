//! Tests refused credentials and tasks of other accounts.

use super::harness::{Harness, accepted, error, network, progress};
use super::world::{account, task};
use crate::engine::{BlockReason, CallKind, Engine};
use crate::{Account, Phase, TaskKey, TaskState};
use atelier_contract::ApiError;
use serde_json::json;

fn other() -> Account {
    Account {
        uid: "other".into(),
        ..account()
    }
}

pub fn count_in_phase(harness: &Harness, phase: Phase) -> usize {
    let tasks = harness.engine.tasks();
    tasks.filter(|task| task.state.phase() == phase).count()
}

/// Guards against a batch that fails item by item, because another item is sent each time the window gets focus, the
/// network returns, or the user presses "Try now".
#[test]
fn refused_credentials_block_all_submissions() {
    let mut harness = Harness::new();
    harness.submit_batch("a", 100);
    let call = harness.call();
    harness.answer(&call, Err(error(401)));
    assert_eq!(count_in_phase(&harness, Phase::Failed), 10);
    assert!(
        matches!(harness.state("a-000"), TaskState::Failed { message, .. } if message.contains("credentials"))
    );
    for _ in 0..5 {
        assert_eq!(harness.engine.next_wake(), None, "no timer");
        harness.now += 3_600_000;
        assert!(harness.calls().is_empty());
        harness.engine.wake(harness.now);
        assert!(harness.calls().is_empty(), "sent on focus");
        harness.engine.set_online(false, harness.now);
        harness.engine.set_online(true, harness.now);
        assert!(harness.calls().is_empty(), "sent when back online");
        harness.engine.set_leading(false, harness.now);
        harness.engine.set_leading(true, harness.now);
        assert!(harness.calls().is_empty(), "sent when leading again");
        harness.submit(&["single"]);
        assert!(harness.calls().is_empty(), "sent a new task");
        let block_reason = harness.engine.block_reason(harness.now);
        assert_eq!(block_reason, Some(BlockReason::Unauthorized));
    }
    assert_eq!(count_in_phase(&harness, Phase::Failed), 10);
    assert_eq!(count_in_phase(&harness, Phase::Queued), 91);
}

/// A corrected token has the same address and User ID, so the account does not change.
#[test]
fn new_credentials_are_tested_with_one_submission() {
    let mut harness = Harness::new();
    harness.submit_batch("a", 100);
    let call = harness.call();
    harness.answer(&call, Err(error(401)));
    harness.engine.credentials_changed(harness.now);
    assert_eq!(harness.engine.block_reason(harness.now), None);
    let probe = harness.call();
    assert_eq!(probe.tasks.len(), 1);
    harness.answer(&probe, Err(error(403)));
    assert_eq!(count_in_phase(&harness, Phase::Failed), 11);
    assert!(harness.calls().is_empty());
    harness.engine.credentials_changed(harness.now);
    let probe = harness.call();
    harness.answer(&probe, accepted("x"));
    assert_eq!(harness.engine.block_reason(harness.now), None);
    assert!(harness.calls().iter().any(|call| call.tasks.len() == 10));
}

#[test]
fn a_refusal_does_not_block_another_account() {
    let mut harness = Harness::new();
    harness.submit(&["a"]);
    let call = harness.call();
    harness.answer(&call, Err(error(401)));
    harness.engine.set_account(other(), harness.now);
    assert_eq!(harness.engine.block_reason(harness.now), None);
    let mut task = task("b", harness.now);
    task.account = other();
    harness.engine.submit(vec![task], harness.now);
    assert_eq!(harness.call().kind, CallKind::Generate);
}

/// A refusal of a call with the old token must not count as a refusal of the new token.
#[test]
fn a_refusal_of_old_credentials_does_not_affect_new_ones() {
    let mut harness = Harness::new();
    harness.submit(&["a", "b"]);
    let calls = harness.calls();
    assert_eq!(calls.len(), 2);
    harness.answer(&calls[0], Err(error(401)));
    harness.engine.credentials_changed(harness.now);
    harness.submit(&["c"]);
    harness.answer(&calls[1], Err(error(401)));
    assert_eq!(harness.phase("b"), Phase::Failed);
    assert_eq!(harness.engine.block_reason(harness.now), None);
    assert_eq!(harness.call().tasks, [TaskKey("c".into())]);
}

/// Guards against endless polls with a refused token.
#[test]
fn refused_credentials_allow_one_poll_per_wake_only() {
    let mut harness = Harness::new();
    let call = harness.running();
    harness.submit(&["b", "c"]);
    for call in harness.calls() {
        harness.answer(&call, accepted("2"));
    }
    harness.submit_batch("later", 20);
    harness.answer(&call, Err(error(401)));
    assert_eq!(
        harness.phase("a"),
        Phase::Running,
        "only the service ends a task"
    );
    let block_reason = harness.engine.block_reason(harness.now);
    assert_eq!(block_reason, Some(BlockReason::Unauthorized));
    for answer in [error(401), network(), error(403), error(500)] {
        assert_eq!(harness.engine.next_wake(), None, "no poll is due");
        harness.now += 3_600_000;
        assert!(harness.calls().is_empty());
        harness.engine.wake(harness.now);
        harness.engine.wake(harness.now);
        let probe = harness.call();
        assert_eq!(probe.kind, CallKind::Status);
        harness.engine.wake(harness.now);
        assert!(harness.calls().is_empty(), "two polls in flight");
        harness.answer(&probe, Err(answer));
        assert!(harness.calls().is_empty());
        let block_reason = harness.engine.block_reason(harness.now);
        assert_eq!(block_reason, Some(BlockReason::Unauthorized));
    }
    harness.now += 3_600_000;
    harness.engine.wake(harness.now);
    let probe = harness.call();
    let entry = |index| {
        let body = progress("processing").unwrap();
        let body = json!({"success": true, "data": {"status": body["data"]["status"]}});
        json!({"index": index, "status": 200, "body": body})
    };
    let entries: Vec<_> = (0..probe.tasks.len()).map(entry).collect();
    harness.answer(
        &probe,
        Ok(json!({"success": true, "data": {"results": entries}})),
    );
    assert_eq!(harness.engine.block_reason(harness.now), None);
    assert_eq!(harness.call().tasks.len(), 1, "one submission first");
}

/// A poll that was sent before the refusal is older than the refusal.
#[test]
fn a_poll_sent_before_a_refusal_does_not_lift_it() {
    let mut harness = Harness::new();
    let poll = harness.running();
    harness.submit(&["b", "c", "d"]);
    let submission = harness.calls().remove(0);
    assert_eq!(submission.kind, CallKind::Generate);
    harness.answer(&submission, Err(error(401)));
    harness.answer(&poll, progress("processing"));
    let block_reason = harness.engine.block_reason(harness.now);
    assert_eq!(block_reason, Some(BlockReason::Unauthorized));
    harness.now += 60_000;
    assert!(harness.calls().is_empty());
}

#[test]
fn refused_entries_fail_and_block_the_rest() {
    let mut harness = Harness::new();
    harness.submit_batch("a", 100);
    let call = harness.call();
    let results: Vec<_> = (0..10)
        .map(|index| match index {
            3 | 7 => json!({"index": index, "status": 401, "body": {"success": false}}),
            _ => {
                let data = json!({"id": format!("{index}"), "status": "queued"});
                json!({"index": index, "status": 200, "body": {"success": true, "data": data}})
            }
        })
        .collect();
    harness.answer(
        &call,
        Ok(json!({"success": true, "data": {"results": results}})),
    );
    assert_eq!(count_in_phase(&harness, Phase::Failed), 2);
    assert_eq!(count_in_phase(&harness, Phase::Running), 8);
    assert_eq!(count_in_phase(&harness, Phase::Queued), 90);
    harness.now += 60_000;
    assert!(harness.calls().is_empty());
    assert_eq!(harness.engine.next_wake(), None);
    harness.engine.wake(harness.now);
    assert_eq!(harness.call().kind, CallKind::Status);
}

#[test]
fn tasks_wait_for_their_account() {
    let mut harness = Harness::new();
    let call = harness.running();
    harness.submit(&["b"]);
    harness.engine.set_account(other(), harness.now);
    assert!(harness.calls().is_empty());
    // The response in flight still counts, but schedules nothing.
    harness.answer(&call, progress("processing"));
    harness.now += 60_000;
    assert!(harness.calls().is_empty());
    assert_eq!(harness.engine.tasks().count(), 2);
    harness.engine.set_account(account(), harness.now);
    let mut kinds: Vec<_> = harness.calls().iter().map(|call| call.kind).collect();
    kinds.sort_by_key(|kind| *kind != CallKind::Generate);
    assert_eq!(kinds, [CallKind::Generate, CallKind::Status]);
    assert!(harness.engine.tasks().all(|task| task.account.uid == "me"));
}

#[test]
fn a_refusal_after_an_account_change_does_not_affect_the_new_account() {
    let mut harness = Harness::new();
    harness.submit(&["a"]);
    let call = harness.call();
    let new = Account {
        address: "https://new.example".into(),
        uid: "me".into(),
    };
    harness.engine.set_account(new, harness.now);
    let refusal = atelier_contract::ApiError::from_status(429, None, Some(60_000));
    harness.answer(&call, Err(refusal));
    assert_eq!(harness.state("a"), TaskState::Queued);
    assert_eq!(harness.engine.block_reason(harness.now), None);
    assert!(harness.calls().is_empty(), "it belongs to another service");
    harness.engine.set_account(account(), harness.now);
    assert!(harness.calls().is_empty(), "the rate limit still applies");
}

/// Returns a harness with a task whose submission, with the account's first token, was rate-limited for a day.
fn limited() -> Harness {
    let mut harness = Harness::new();
    harness.engine.set_token_version(1, harness.now);
    harness.submit(&["a"]);
    let call = harness.call();
    let refusal = ApiError::from_status(429, None, Some(86_400_000));
    harness.answer(&call, Err(refusal));
    assert!(harness.calls().is_empty());
    assert!(is_waiting(&harness));
    harness
}

fn is_waiting(harness: &Harness) -> bool {
    let until = harness.waits.last().map(|limit| limit.until);
    until.is_some_and(|until| until > harness.now)
}

/// The account's plan may have changed, so a new token must not wait for the limit of the previous one.
#[test]
fn a_rate_limit_applies_to_its_token_only() {
    let mut harness = limited();
    harness.engine.set_token_version(1, harness.now);
    harness.now += 2_000;
    assert!(harness.calls().is_empty(), "the same token");

    harness.engine.set_token_version(2, harness.now);
    harness.now += 2_000;
    assert_eq!(harness.calls().len(), 1);
    // A reload does not restore the limit.
    assert!(!is_waiting(&harness));
    let stored = harness.saved.iter().rev().find(|task| task.key.0 == "a");
    assert_eq!(stored.unwrap().not_before, None);
}

/// A limit does not apply to another account. The limit is not lost when the account is set after the start, or when
/// another service was used in between.
#[test]
fn a_rate_limit_applies_to_its_account_only() {
    let mut harness = limited();
    harness.engine.set_account(other(), harness.now);
    harness.engine.set_token_version(2, harness.now);
    let mut its = task("b", harness.now);
    its.account = other();
    harness.engine.submit(vec![its], harness.now);
    harness.now += 2_000;
    assert_eq!(harness.calls().len(), 1);

    let mut harness = limited();
    let elsewhere = Account {
        address: "https://new.example".into(),
        ..account()
    };
    harness.engine.set_account(elsewhere, harness.now);
    harness.engine.set_token_version(2, harness.now);
    harness.engine.set_account(account(), harness.now);
    harness.engine.set_token_version(1, harness.now);
    harness.now += 2_000;
    assert!(harness.calls().is_empty(), "the rate limit still applies");

    let mut harness = limited();
    let tasks = harness.engine.tasks().cloned().collect();
    let limit = harness.waits[0].clone();
    let unknown = Account {
        uid: String::new(),
        ..account()
    };
    harness.engine = Engine::new(unknown);
    harness.engine.load(tasks, harness.now);
    harness.engine.wait(&limit, harness.now);
    harness.engine.set_account(account(), harness.now);
    harness.engine.set_token_version(1, harness.now);
    harness.now += 2_000;
    assert!(
        harness.calls().is_empty(),
        "the limit belongs to this account"
    );
}

/// A response to a call with the previous token must not block the new one.
#[test]
fn a_late_429_applies_to_the_token_of_its_call() {
    let mut harness = Harness::new();
    harness.engine.set_token_version(1, harness.now);
    harness.submit(&["a"]);
    let call = harness.call();
    harness.engine.set_token_version(2, harness.now);
    let refusal = ApiError::from_status(429, None, Some(86_400_000));
    harness.answer(&call, Err(refusal.clone()));
    harness.now += 2_000;
    let call = harness.call();
    harness.answer(&call, Err(refusal));
    harness.now += 2_000;
    assert!(
        harness.calls().is_empty(),
        "the limit belongs to this token"
    );
}

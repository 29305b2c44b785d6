//! Refused credentials, and tasks of other accounts.

use super::hand::{Hand, accepted, error, network, progress};
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

pub fn in_phase(hand: &Hand, phase: Phase) -> usize {
    let tasks = hand.engine.tasks();
    tasks.filter(|task| task.state.phase() == phase).count()
}

/// Guards against a batch that fails item by item: each focus of the window, return of the network and "Try now" sent
/// one more item.
#[test]
fn refused_credentials_block_all_submissions() {
    let mut hand = Hand::new();
    hand.submit_batch("a", 100);
    let call = hand.call();
    hand.answer(&call, Err(error(401)));
    assert_eq!(in_phase(&hand, Phase::Failed), 10);
    assert!(
        matches!(hand.state("a-000"), TaskState::Failed { message, .. } if message.contains("credentials"))
    );
    for _ in 0..5 {
        assert_eq!(hand.engine.next_wake(), None, "nothing goes on by itself");
        hand.now += 3_600_000;
        assert!(hand.calls().is_empty());
        hand.engine.wake(hand.now);
        assert!(hand.calls().is_empty(), "sent at a focus");
        hand.engine.set_online(false, hand.now);
        hand.engine.set_online(true, hand.now);
        assert!(hand.calls().is_empty(), "sent with the network's return");
        hand.engine.set_leading(false, hand.now);
        hand.engine.set_leading(true, hand.now);
        assert!(hand.calls().is_empty(), "sent when leading again");
        hand.submit(&["single"]);
        assert!(hand.calls().is_empty(), "a new one, too");
        let block_reason = hand.engine.block_reason(hand.now);
        assert_eq!(block_reason, Some(BlockReason::Unauthorized));
    }
    assert_eq!(in_phase(&hand, Phase::Failed), 10);
    assert_eq!(in_phase(&hand, Phase::Queued), 91);
}

/// A corrected token has the same address and User ID, so the account does not change.
#[test]
fn new_credentials_are_tested_with_one_submission() {
    let mut hand = Hand::new();
    hand.submit_batch("a", 100);
    let call = hand.call();
    hand.answer(&call, Err(error(401)));
    hand.engine.credentials_changed(hand.now);
    assert_eq!(hand.engine.block_reason(hand.now), None);
    let probe = hand.call();
    assert_eq!(probe.tasks.len(), 1);
    hand.answer(&probe, Err(error(403)));
    assert_eq!(in_phase(&hand, Phase::Failed), 11);
    assert!(hand.calls().is_empty());
    hand.engine.credentials_changed(hand.now);
    let probe = hand.call();
    hand.answer(&probe, accepted("x"));
    assert_eq!(hand.engine.block_reason(hand.now), None);
    assert!(hand.calls().iter().any(|call| call.tasks.len() == 10));
}

#[test]
fn a_refusal_does_not_block_another_account() {
    let mut hand = Hand::new();
    hand.submit(&["a"]);
    let call = hand.call();
    hand.answer(&call, Err(error(401)));
    hand.engine.set_account(other(), hand.now);
    assert_eq!(hand.engine.block_reason(hand.now), None);
    let mut task = task("b", hand.now);
    task.account = other();
    hand.engine.submit(vec![task], hand.now);
    assert_eq!(hand.call().kind, CallKind::Generate);
}

/// Guards against a refusal of the old token that is attributed to the new one.
#[test]
fn a_refusal_of_old_credentials_does_not_affect_new_ones() {
    let mut hand = Hand::new();
    hand.submit(&["a", "b"]);
    let calls = hand.calls();
    assert_eq!(calls.len(), 2);
    hand.answer(&calls[0], Err(error(401)));
    hand.engine.credentials_changed(hand.now);
    hand.submit(&["c"]);
    hand.answer(&calls[1], Err(error(401)));
    assert_eq!(hand.phase("b"), Phase::Failed);
    assert_eq!(hand.engine.block_reason(hand.now), None);
    assert_eq!(hand.call().tasks, [TaskKey("c".into())]);
}

/// Guards against endless polls with a refused token.
#[test]
fn refused_credentials_allow_one_poll_per_wake_only() {
    let mut hand = Hand::new();
    let call = hand.running();
    hand.submit(&["b", "c"]);
    for call in hand.calls() {
        hand.answer(&call, accepted("2"));
    }
    hand.submit_batch("later", 20);
    hand.answer(&call, Err(error(401)));
    assert_eq!(
        hand.phase("a"),
        Phase::Running,
        "only the service ends a task"
    );
    let block_reason = hand.engine.block_reason(hand.now);
    assert_eq!(block_reason, Some(BlockReason::Unauthorized));
    for answer in [error(401), network(), error(403), error(500)] {
        assert_eq!(hand.engine.next_wake(), None, "no poll by timer");
        hand.now += 3_600_000;
        assert!(hand.calls().is_empty());
        hand.engine.wake(hand.now);
        hand.engine.wake(hand.now);
        let probe = hand.call();
        assert_eq!(probe.kind, CallKind::Status);
        hand.engine.wake(hand.now);
        assert!(
            hand.calls().is_empty(),
            "a second while the first is under way"
        );
        hand.answer(&probe, Err(answer));
        assert!(hand.calls().is_empty());
        let block_reason = hand.engine.block_reason(hand.now);
        assert_eq!(block_reason, Some(BlockReason::Unauthorized));
    }
    hand.now += 3_600_000;
    hand.engine.wake(hand.now);
    let probe = hand.call();
    let entry = |index| {
        let body = progress("processing").unwrap();
        let body = json!({"success": true, "data": {"status": body["data"]["status"]}});
        json!({"index": index, "status": 200, "body": body})
    };
    let entries: Vec<_> = (0..probe.tasks.len()).map(entry).collect();
    hand.answer(
        &probe,
        Ok(json!({"success": true, "data": {"results": entries}})),
    );
    assert_eq!(hand.engine.block_reason(hand.now), None);
    assert_eq!(hand.call().tasks.len(), 1, "one goes ahead");
}

/// A poll that was sent before the refusal is older than the refusal.
#[test]
fn a_poll_sent_before_a_refusal_does_not_lift_it() {
    let mut hand = Hand::new();
    let poll = hand.running();
    hand.submit(&["b", "c", "d"]);
    let submission = hand.calls().remove(0);
    assert_eq!(submission.kind, CallKind::Generate);
    hand.answer(&submission, Err(error(401)));
    hand.answer(&poll, progress("processing"));
    let block_reason = hand.engine.block_reason(hand.now);
    assert_eq!(block_reason, Some(BlockReason::Unauthorized));
    hand.now += 60_000;
    assert!(hand.calls().is_empty());
}

#[test]
fn refused_entries_fail_and_block_the_rest() {
    let mut hand = Hand::new();
    hand.submit_batch("a", 100);
    let call = hand.call();
    let results: Vec<_> = (0..10)
        .map(|index| match index {
            3 | 7 => json!({"index": index, "status": 401, "body": {"success": false}}),
            _ => {
                let data = json!({"id": format!("{index}"), "status": "queued"});
                json!({"index": index, "status": 200, "body": {"success": true, "data": data}})
            }
        })
        .collect();
    hand.answer(
        &call,
        Ok(json!({"success": true, "data": {"results": results}})),
    );
    assert_eq!(in_phase(&hand, Phase::Failed), 2);
    assert_eq!(in_phase(&hand, Phase::Running), 8);
    assert_eq!(in_phase(&hand, Phase::Queued), 90);
    hand.now += 60_000;
    assert!(hand.calls().is_empty());
    assert_eq!(hand.engine.next_wake(), None);
    hand.engine.wake(hand.now);
    assert_eq!(hand.call().kind, CallKind::Status);
}

#[test]
fn tasks_wait_for_their_account() {
    let mut hand = Hand::new();
    let call = hand.running();
    hand.submit(&["b"]);
    hand.engine.set_account(other(), hand.now);
    assert!(hand.calls().is_empty());
    // The response in flight still counts, but schedules nothing.
    hand.answer(&call, progress("processing"));
    hand.now += 60_000;
    assert!(hand.calls().is_empty());
    assert_eq!(hand.engine.tasks().count(), 2);
    hand.engine.set_account(account(), hand.now);
    let mut kinds: Vec<_> = hand.calls().iter().map(|call| call.kind).collect();
    kinds.sort_by_key(|kind| *kind != CallKind::Generate);
    assert_eq!(kinds, [CallKind::Generate, CallKind::Status]);
    assert!(hand.engine.tasks().all(|task| task.account.uid == "me"));
}

#[test]
fn a_refusal_after_an_account_change_does_not_affect_the_new_account() {
    let mut hand = Hand::new();
    hand.submit(&["a"]);
    let call = hand.call();
    let new = Account {
        address: "https://new.example".into(),
        uid: "me".into(),
    };
    hand.engine.set_account(new, hand.now);
    let refusal = atelier_contract::ApiError::from_status(429, None, Some(60_000));
    hand.answer(&call, Err(refusal));
    assert_eq!(hand.state("a"), TaskState::Queued);
    assert_eq!(hand.engine.block_reason(hand.now), None);
    assert!(hand.calls().is_empty(), "it was submitted elsewhere");
    hand.engine.set_account(account(), hand.now);
    assert!(hand.calls().is_empty(), "that service still waits");
}

/// A task whose submission was rate-limited for a day, with the account's first token.
fn limited() -> Hand {
    let mut hand = Hand::new();
    hand.engine.set_token_version(1, hand.now);
    hand.submit(&["a"]);
    let call = hand.call();
    let refusal = ApiError::from_status(429, None, Some(86_400_000));
    hand.answer(&call, Err(refusal));
    assert!(hand.calls().is_empty());
    assert!(is_waiting(&hand));
    hand
}

fn is_waiting(hand: &Hand) -> bool {
    let until = hand.waits.last().map(|limit| limit.until);
    until.is_some_and(|until| until > hand.now)
}

/// Guards against an account that waits a day for the limit of its previous token, although its plan has changed.
#[test]
fn a_rate_limit_applies_to_its_token_only() {
    let mut hand = limited();
    hand.engine.set_token_version(1, hand.now);
    hand.now += 2_000;
    assert!(hand.calls().is_empty(), "the same");

    hand.engine.set_token_version(2, hand.now);
    hand.now += 2_000;
    assert_eq!(hand.calls().len(), 1);
    // A reload does not restore the limit.
    assert!(!is_waiting(&hand));
    let stored = hand.saved.iter().rev().find(|task| task.key.0 == "a");
    assert_eq!(stored.unwrap().not_before, None);
}

/// Guards against applying one account's limit to another, and against losing a limit when the account is set after the
/// start or another service was used meanwhile.
#[test]
fn a_rate_limit_applies_to_its_account_only() {
    let mut hand = limited();
    hand.engine.set_account(other(), hand.now);
    hand.engine.set_token_version(2, hand.now);
    let mut its = task("b", hand.now);
    its.account = other();
    hand.engine.submit(vec![its], hand.now);
    hand.now += 2_000;
    assert_eq!(hand.calls().len(), 1);

    let mut hand = limited();
    let elsewhere = Account {
        address: "https://new.example".into(),
        ..account()
    };
    hand.engine.set_account(elsewhere, hand.now);
    hand.engine.set_token_version(2, hand.now);
    hand.engine.set_account(account(), hand.now);
    hand.engine.set_token_version(1, hand.now);
    hand.now += 2_000;
    assert!(hand.calls().is_empty(), "the service still waits");

    let mut hand = limited();
    let tasks = hand.engine.tasks().cloned().collect();
    let limit = hand.waits[0].clone();
    let unknown = Account {
        uid: String::new(),
        ..account()
    };
    hand.engine = Engine::new(unknown);
    hand.engine.load(tasks, hand.now);
    hand.engine.wait(&limit, hand.now);
    hand.engine.set_account(account(), hand.now);
    hand.engine.set_token_version(1, hand.now);
    hand.now += 2_000;
    assert!(
        hand.calls().is_empty(),
        "it was this account's all the time"
    );
}

/// Guards against a new token that waits a day because of a response to the previous one.
#[test]
fn a_late_429_applies_to_the_token_of_its_call() {
    let mut hand = Hand::new();
    hand.engine.set_token_version(1, hand.now);
    hand.submit(&["a"]);
    let call = hand.call();
    hand.engine.set_token_version(2, hand.now);
    let refusal = ApiError::from_status(429, None, Some(86_400_000));
    hand.answer(&call, Err(refusal.clone()));
    hand.now += 2_000;
    let call = hand.call();
    hand.answer(&call, Err(refusal));
    hand.now += 2_000;
    assert!(hand.calls().is_empty(), "that was its own");
}

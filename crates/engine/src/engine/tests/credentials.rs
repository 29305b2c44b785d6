//! Credentials that are refused, and tasks of other accounts.

use super::rules::{Hand, accepted, error, progress};
use super::world::account;
use crate::engine::{CallKind, Hindrance};
use crate::{Account, Phase, TaskState};
use serde_json::json;

fn other() -> Account {
    Account {
        uid: "other".into(),
        ..account()
    }
}

#[test]
fn refused_credentials_stop_sending_until_a_person_acts() {
    let mut hand = Hand::new();
    hand.submit_batch("a", 100);
    let call = hand.call();
    hand.answer(&call, Err(error(401)));
    let failed = |hand: &Hand| {
        hand.engine
            .tasks()
            .filter(|task| task.state.phase() == Phase::Failed)
            .count()
    };
    assert_eq!(failed(&hand), 10);
    assert_eq!(hand.engine.next_wake(), None, "nothing goes on by itself");
    hand.now += 3_600_000;
    assert!(hand.calls().is_empty());
    assert_eq!(
        hand.engine.hindrance(hand.now),
        Some(Hindrance::Unauthorized)
    );
    // Awake, one item finds out.
    hand.engine.wake(hand.now);
    let probe = hand.call();
    assert_eq!(probe.tasks.len(), 1);
    hand.answer(&probe, Err(error(403)));
    assert_eq!(failed(&hand), 11);
    assert!(hand.calls().is_empty());
    hand.engine.wake(hand.now);
    let probe = hand.call();
    hand.answer(&probe, accepted("x"));
    assert_eq!(hand.engine.hindrance(hand.now), None);
    assert!(hand.calls().iter().any(|call| call.tasks.len() == 10));
}

#[test]
fn refused_entries_stop_sending_too() {
    let mut hand = Hand::new();
    hand.submit_batch("a", 100);
    let call = hand.call();
    let results: Vec<_> = (0..10)
        .map(|index| json!({"index": index, "status": 401, "body": {"success": false}}))
        .collect();
    hand.answer(
        &call,
        Ok(json!({"success": true, "data": {"results": results}})),
    );
    assert!(hand.calls().is_empty());
    assert_eq!(hand.engine.next_wake(), None);
}

#[test]
fn tasks_of_another_account_wait_for_it() {
    let mut hand = Hand::new();
    let call = hand.running();
    hand.submit(&["b"]);
    hand.engine.set_account(other(), hand.now);
    assert!(hand.calls().is_empty());
    // The answer under way still counts, and nothing follows from it.
    hand.answer(&call, progress("processing"));
    hand.now += 60_000;
    assert!(hand.calls().is_empty());
    assert!(hand.engine.tasks().all(|task| hand.engine.is_foreign(task)));
    hand.engine.set_account(account(), hand.now);
    let mut kinds: Vec<_> = hand.calls().iter().map(|call| call.kind).collect();
    kinds.sort_by_key(|kind| *kind != CallKind::Generate);
    assert_eq!(kinds, [CallKind::Generate, CallKind::Status]);
    assert!(hand.engine.tasks().all(|task| task.account.uid == "me"));
}

#[test]
fn a_refusal_that_comes_after_the_account_changed_does_not_touch_the_new_one() {
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
    assert_eq!(hand.engine.hindrance(hand.now), None);
    assert!(hand.calls().is_empty(), "it was submitted elsewhere");
    hand.engine.set_account(account(), hand.now);
    assert!(hand.calls().is_empty(), "that service still waits");
}

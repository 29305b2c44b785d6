//! The life cycle of a task, and what can happen to its calls: failure, a clock set back, no network.

use atelier_contract::{ApiError, path};
use serde_json::json;

use super::hand::{Hand, START, accepted, error, network, progress};
use crate::engine::CallKind;
use crate::{Phase, TaskState};

#[test]
fn runs_a_task_from_submission_to_output() {
    let mut hand = Hand::new();
    hand.submit(&["a"]);
    let call = hand.call();
    assert_eq!((call.kind, call.path), (CallKind::Generate, path::GENERATE));
    assert_eq!(call.write_first(), call.tasks);
    assert_eq!(call.body["seed"], u64::MAX);
    assert_eq!(hand.saved.last().unwrap().state, TaskState::Submitting);
    hand.answer(&call, accepted("1"));
    assert_eq!(hand.state("a").label(), "Starting");
    let call = hand.next_call();
    assert_eq!(call.path, path::STATUS);
    assert!((900..=1_100).contains(&(hand.now - START)));
    hand.answer(&call, progress("completed"));
    let call = hand.call();
    assert_eq!(call.path, path::RESPONSE);
    hand.answer(
        &call,
        Ok(json!({"success": true, "data": {"status": "completed", "output": ["u"]}})),
    );
    assert!(matches!(hand.state("a"), TaskState::Ready { outputs, .. } if outputs == ["u"]));
    assert_eq!(hand.engine.next_wake(), None);
}

#[test]
fn a_submission_fails_only_if_it_was_certainly_refused() {
    for (error, expected) in [
        (error(422), Phase::Failed),
        (error(404), Phase::Failed),
        (error(402), Phase::Failed),
        (error(500), Phase::Unconfirmed),
        (error(503), Phase::Unconfirmed),
        (network(), Phase::Unconfirmed),
        (ApiError::Timeout { after_ms: 1 }, Phase::Unconfirmed),
        (ApiError::malformed("x"), Phase::Unconfirmed),
        (error(429), Phase::Queued),
        (ApiError::from_status(503, None, Some(1_000)), Phase::Queued),
    ] {
        let mut hand = Hand::new();
        hand.submit(&["a"]);
        let call = hand.call();
        hand.answer(&call, Err(error.clone()));
        assert_eq!(hand.phase("a"), expected, "{error:?}");
    }
}

#[test]
fn a_clock_set_back_does_not_delay_polls() {
    let mut hand = Hand::new();
    let call = hand.running();
    hand.answer(&call, progress("processing"));
    hand.now -= 3_600_000;
    hand.engine.step(hand.now);
    assert!(hand.engine.next_wake().unwrap() <= hand.now + 1_200);
    // The same while an id is unknown.
    let call = hand.next_call();
    hand.answer(&call, Err(error(404)));
    hand.now -= 3_600_000;
    let back = hand.now;
    while hand.phase("a") == Phase::Running {
        hand.calls();
        let call = hand.next_call();
        hand.answer(&call, Err(error(404)));
    }
    assert!(hand.now - back < 20_000);
}

#[test]
fn makes_no_calls_offline_and_all_when_back_online() {
    let mut hand = Hand::new();
    let call = hand.running();
    hand.answer(&call, Err(network()));
    hand.submit(&["b"]);
    hand.engine.set_online(false, hand.now);
    hand.now += 600_000;
    assert!(hand.calls().is_empty());
    assert_eq!(hand.engine.next_wake(), None);
    hand.engine.set_online(true, hand.now);
    assert_eq!(hand.calls().len(), 2);
}

#[test]
fn retries_unsent_calls_at_growing_intervals() {
    let mut hand = Hand::new();
    hand.submit(&["a"]);
    let mut call = hand.call();
    let mut waits = Vec::new();
    for _ in 0..5 {
        let before = hand.now;
        hand.engine.not_sent(call.id, hand.now);
        assert_eq!(hand.phase("a"), Phase::Queued);
        call = hand.next_call();
        waits.push(hand.now - before);
    }
    assert!(waits.is_sorted() && waits[4] > 5_000, "{waits:?}");
    hand.engine.not_sent(call.id, hand.now);
    hand.engine.wake(hand.now);
    assert_eq!(hand.calls().len(), 1, "asked for, it is tried at once");
}

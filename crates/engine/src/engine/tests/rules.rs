//! Tests the life cycle of a task, with failed calls, a clock that is set back, and without a network.

use atelier_contract::{ApiError, path};
use serde_json::json;

use super::harness::{Harness, START, accepted, error, network, progress};
use crate::engine::CallKind;
use crate::{Phase, TaskState};

#[test]
fn runs_a_task_from_submission_to_output() {
    let mut harness = Harness::new();
    harness.submit(&["a"]);
    let call = harness.call();
    assert_eq!((call.kind, call.path), (CallKind::Generate, path::GENERATE));
    assert_eq!(call.write_first(), call.tasks);
    assert_eq!(call.body["seed"], u64::MAX);
    assert_eq!(harness.saved.last().unwrap().state, TaskState::Submitting);
    harness.answer(&call, accepted("1"));
    assert_eq!(harness.state("a").label(), "Starting");
    let call = harness.next_call();
    assert_eq!(call.path, path::STATUS);
    assert!((900..=1_100).contains(&(harness.now - START)));
    harness.answer(&call, progress("completed"));
    let call = harness.call();
    assert_eq!(call.path, path::RESPONSE);
    harness.answer(
        &call,
        Ok(json!({"success": true, "data": {"status": "completed", "output": ["u"]}})),
    );
    assert!(matches!(harness.state("a"), TaskState::Ready { outputs, .. } if outputs == ["u"]));
    assert_eq!(harness.engine.next_wake(), None);
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
        let mut harness = Harness::new();
        harness.submit(&["a"]);
        let call = harness.call();
        harness.answer(&call, Err(error.clone()));
        assert_eq!(harness.phase("a"), expected, "{error:?}");
    }
}

#[test]
fn a_clock_set_back_does_not_delay_polls() {
    let mut harness = Harness::new();
    let call = harness.running();
    harness.answer(&call, progress("processing"));
    harness.now -= 3_600_000;
    harness.engine.step(harness.now);
    assert!(harness.engine.next_wake().unwrap() <= harness.now + 1_200);
    // The service returns 404 for the id.
    let call = harness.next_call();
    harness.answer(&call, Err(error(404)));
    harness.now -= 3_600_000;
    let back = harness.now;
    while harness.phase("a") == Phase::Running {
        harness.calls();
        let call = harness.next_call();
        harness.answer(&call, Err(error(404)));
    }
    assert!(harness.now - back < 20_000);
}

#[test]
fn makes_no_calls_offline_and_all_when_back_online() {
    let mut harness = Harness::new();
    let call = harness.running();
    harness.answer(&call, Err(network()));
    harness.submit(&["b"]);
    harness.engine.set_online(false, harness.now);
    harness.now += 600_000;
    assert!(harness.calls().is_empty());
    assert_eq!(harness.engine.next_wake(), None);
    harness.engine.set_online(true, harness.now);
    assert_eq!(harness.calls().len(), 2);
}

#[test]
fn retries_unsent_calls_at_growing_intervals() {
    let mut harness = Harness::new();
    harness.submit(&["a"]);
    let mut call = harness.call();
    let mut waits = Vec::new();
    for _ in 0..5 {
        let before = harness.now;
        harness.engine.not_sent(call.id, harness.now);
        assert_eq!(harness.phase("a"), Phase::Queued);
        call = harness.next_call();
        waits.push(harness.now - before);
    }
    assert!(waits.is_sorted() && waits[4] > 5_000, "{waits:?}");
    harness.engine.not_sent(call.id, harness.now);
    harness.engine.wake(harness.now);
    assert_eq!(harness.calls().len(), 1, "retried at once on request");
}

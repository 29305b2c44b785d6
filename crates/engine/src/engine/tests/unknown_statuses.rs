//! Tests services that report statuses that the interface doesn't define.

use serde_json::{Value, json};

use super::harness::{Harness, error, network, progress};
use crate::engine::{Call, CallKind};
use crate::{Action, Millis, Phase, TaskKey};

type Answer = Result<Value, atelier_contract::ApiError>;

fn status_with_error(word: &str) -> Answer {
    let data = json!({"id": "1", "status": word, "error": "the worker was restarted"});
    Ok(json!({"success": true, "data": data}))
}

fn output(word: &str, output: &[&str]) -> Answer {
    Ok(json!({"success": true, "data": {"id": "1", "status": word, "output": output}}))
}

fn key() -> TaskKey {
    TaskKey("a".into())
}

/// Answers each call for an hour, and returns the kinds and times of the calls.
fn an_hour(
    harness: &mut Harness,
    mut call: Call,
    answer: impl Fn(CallKind) -> Answer,
) -> Vec<(CallKind, Millis)> {
    let mut calls = Vec::new();
    let end = harness.now + 3_600_000;
    while harness.now < end {
        calls.push((call.kind, harness.now));
        harness.answer(&call, answer(call.kind));
        call = harness.next_call();
    }
    calls
}

/// A task that ended as `aborted` must not be polled every five seconds forever, and the service's error must be shown.
#[test]
fn an_unknown_status_with_an_error_is_polled_at_growing_intervals() {
    let mut harness = Harness::new();
    let call = harness.running();
    let calls = an_hour(&mut harness, call, |_| status_with_error("aborted"));
    assert!(calls.len() < 40, "{} polls in an hour", calls.len());
    assert!(calls.iter().all(|(kind, _)| *kind == CallKind::Status));
    let last: Vec<Millis> = calls.iter().rev().take(2).map(|(_, at)| *at).collect();
    assert!(last[0] - last[1] <= 660_000, "polls continue");
    let task = harness.engine.task(&key()).unwrap();
    assert_eq!(task.progress.as_deref(), Some("the worker was restarted"));
    assert_eq!(task.state.label(), "aborted");
    let offered = Action::offered(task);
    assert_eq!(offered, [Action::FetchEarly, Action::StopWatching]);
}

/// Without an error, the status counts as work in progress.
#[test]
fn an_unknown_status_without_an_error_is_polled_as_usual() {
    let mut harness = Harness::new();
    let call = harness.running();
    let calls = an_hour(&mut harness, call, |_| progress("warming-up"));
    assert!(calls.len() > 600, "{} polls in an hour", calls.len());
}

/// The service reports `succeeded` instead of `completed`.
#[test]
fn requests_the_output_of_a_succeeded_task_once() {
    let mut harness = Harness::new();
    let call = harness.running();
    harness.answer(&call, progress("succeeded"));
    let call = harness.next_call();
    assert_eq!(call.kind, CallKind::Response);
    harness.answer(&call, output("succeeded", &["https://x.example/a.png"]));
    assert_eq!(harness.phase("a"), Phase::Ready);
    assert_eq!(harness.engine.next_wake(), None);

    for answer in [
        output("succeeded", &[]),
        output("processing", &["https://x.example/preview.png"]),
        Err(error(404)),
    ] {
        let mut harness = Harness::new();
        let call = harness.running();
        let calls = an_hour(&mut harness, call, |kind| match kind {
            CallKind::Response => answer.clone(),
            _ => progress("succeeded"),
        });
        let fetches = calls.iter().filter(|(kind, _)| *kind == CallKind::Response);
        assert_eq!(fetches.count(), 1, "{answer:?}");
        assert_eq!(harness.phase("a"), Phase::Running, "{answer:?}");
    }
}

/// A network failure during the request must not lose a paid output.
#[test]
fn retries_the_output_request_after_network_errors() {
    let mut harness = Harness::new();
    let mut call = harness.running();
    harness.answer(&call, progress("succeeded"));
    for answer in [Err(network()), Err(error(500)), Err(error(429))] {
        call = harness.next_call();
        assert_eq!(call.kind, CallKind::Response);
        harness.answer(&call, answer);
    }
    call = harness.next_call();
    harness.answer(&call, output("succeeded", &["https://x.example/a.png"]));
    assert_eq!(harness.phase("a"), Phase::Ready);
}

/// The user may know from another source that the output is ready.
#[test]
fn the_user_can_fetch_the_output_early() {
    let mut harness = Harness::new();
    let call = harness.running();
    harness.answer(&call, status_with_error("aborted"));
    harness.engine.act(&key(), Action::FetchEarly, harness.now);
    let call = harness.call();
    assert_eq!(call.kind, CallKind::Response);
    harness.answer(&call, output("aborted", &["https://x.example/a.png"]));
    assert_eq!(harness.phase("a"), Phase::Ready);
}

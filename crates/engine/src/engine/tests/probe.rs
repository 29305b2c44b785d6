//! Tests the probe that checks whether refused credentials are accepted again.

use atelier_contract::ApiError;
use serde_json::json;

use super::credentials::count_in_phase;
use super::harness::{Harness, accepted, error, network, progress};
use super::world::account;
use crate::Phase;

/// Guards against a queue that waits forever after one 401: when no task is running, there is no poll that could show
/// that the service accepts the credentials again.
#[test]
fn a_probe_ends_a_refusal_while_no_task_runs() {
    let mut harness = Harness::new();
    harness.submit_batch("a", 20);
    assert_eq!(
        harness.engine.probe_request(harness.now),
        None,
        "nothing is refused"
    );
    let call = harness.call();
    harness.answer(&call, Err(error(401)));
    let probe = harness
        .engine
        .probe_request(harness.now)
        .expect("ten tasks wait");
    assert_eq!(probe["uid"], "me");
    let address = account().address;
    for answer in [error(401), error(403), error(500), network()] {
        harness
            .engine
            .probe_answered(&address, &Err(answer), harness.now);
        assert!(harness.engine.is_refused());
        assert!(harness.calls().is_empty());
    }
    let gateway = ApiError::from_status(404, Some(&json!({"message": "no route"})), None);
    harness
        .engine
        .probe_answered(&address, &Err(gateway), harness.now);
    assert!(harness.engine.is_refused(), "a 404 from a gateway");
    harness
        .engine
        .probe_answered("https://other.example", &Err(error(404)), harness.now);
    assert!(harness.engine.is_refused(), "another service");
    harness
        .engine
        .probe_answered(&address, &Err(error(404)), harness.now);
    assert!(!harness.engine.is_refused());
    let call = harness.call();
    assert_eq!(call.tasks.len(), 1, "one submission tests the credentials");
    harness.answer(&call, accepted("1"));
    assert!(!harness.engine.is_refused());
}

/// The refused task is the only task.
#[test]
fn probes_after_a_refusal_while_nothing_waits() {
    let mut harness = Harness::new();
    harness.submit(&["a"]);
    let call = harness.call();
    harness.answer(&call, Err(error(401)));
    assert_eq!(harness.phase("a"), Phase::Failed);
    assert!(harness.engine.probe_request(harness.now).is_some());
    let address = account().address;
    harness
        .engine
        .probe_answered(&address, &Err(error(404)), harness.now);
    assert_eq!(harness.engine.block_reason(harness.now), None);
    assert!(harness.calls().is_empty());
}

/// The next poll of the running task is half an hour away.
#[test]
fn probes_without_waiting_for_the_next_poll() {
    let mut harness = Harness::new();
    let call = harness.running();
    harness.answer(&call, progress("processing"));
    harness.submit(&["b"]);
    let call = harness.call();
    harness.answer(&call, Err(error(401)));
    harness.submit(&["c"]);
    assert!(harness.engine.is_refused());
    assert!(harness.engine.probe_request(harness.now).is_some());
}

/// A service that returns "unknown task" before it checks the credentials would fail one item per probe.
#[test]
fn does_not_probe_again_after_a_misleading_probe() {
    let mut harness = Harness::new();
    harness.submit_batch("a", 20);
    let call = harness.call();
    harness.answer(&call, Err(error(401)));
    let address = account().address;
    assert!(harness.engine.probe_request(harness.now).is_some());
    harness
        .engine
        .probe_answered(&address, &Err(error(404)), harness.now);
    let call = harness.call();
    harness.answer(&call, Err(error(401)));
    assert_eq!(count_in_phase(&harness, Phase::Failed), 11);
    assert_eq!(harness.engine.probe_request(harness.now), None);
    harness.engine.credentials_changed(harness.now);
    let call = harness.call();
    harness.answer(&call, Err(error(401)));
    assert!(
        harness.engine.probe_request(harness.now).is_some(),
        "probes again with new credentials"
    );
}

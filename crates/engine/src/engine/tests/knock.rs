//! A probe finds out whether refused credentials are accepted again.

use atelier_contract::ApiError;
use serde_json::json;

use super::credentials::in_phase;
use super::hand::{Hand, accepted, error, network, progress};
use super::world::account;
use crate::Phase;

/// Guards against a queue that waits forever after one 401 when no task runs: Try now and Generate made no call,
/// although the service accepted the credentials again.
#[test]
fn a_probe_ends_a_refusal_while_no_task_runs() {
    let mut hand = Hand::new();
    hand.submit_batch("a", 20);
    assert_eq!(hand.engine.knock(hand.now), None, "nothing is refused");
    let call = hand.call();
    hand.answer(&call, Err(error(401)));
    let knock = hand.engine.knock(hand.now).expect("ten wait");
    assert_eq!(knock["uid"], "me");
    let address = account().address;
    for answer in [error(401), error(403), error(500), network()] {
        hand.engine.knocked(&address, &Err(answer), hand.now);
        assert!(hand.engine.is_refused());
        assert!(hand.calls().is_empty());
    }
    let gateway = ApiError::from_status(404, Some(&json!({"message": "no route"})), None);
    hand.engine.knocked(&address, &Err(gateway), hand.now);
    assert!(hand.engine.is_refused(), "the word of a gateway");
    hand.engine
        .knocked("https://other.example", &Err(error(404)), hand.now);
    assert!(hand.engine.is_refused(), "another service");
    hand.engine.knocked(&address, &Err(error(404)), hand.now);
    assert!(!hand.engine.is_refused());
    let call = hand.call();
    assert_eq!(call.tasks.len(), 1, "one finds out");
    hand.answer(&call, accepted("1"));
    assert!(!hand.engine.is_refused());
}

/// The same if the refused task is the only one.
#[test]
fn probes_after_a_refusal_while_nothing_waits() {
    let mut hand = Hand::new();
    hand.submit(&["a"]);
    let call = hand.call();
    hand.answer(&call, Err(error(401)));
    assert_eq!(hand.phase("a"), Phase::Failed);
    assert!(hand.engine.knock(hand.now).is_some());
    let address = account().address;
    hand.engine.knocked(&address, &Err(error(404)), hand.now);
    assert_eq!(hand.engine.block_reason(hand.now), None);
    assert!(hand.calls().is_empty());
}

/// The same next to a task whose next poll is half an hour away.
#[test]
fn probes_without_waiting_for_the_next_poll() {
    let mut hand = Hand::new();
    let call = hand.running();
    hand.answer(&call, progress("processing"));
    hand.submit(&["b"]);
    let call = hand.call();
    hand.answer(&call, Err(error(401)));
    hand.submit(&["c"]);
    assert!(hand.engine.is_refused());
    assert!(hand.engine.knock(hand.now).is_some());
}

/// Guards against a batch that fails one item per press at a service that returns "unknown task" before it checks the
/// credentials.
#[test]
fn does_not_probe_again_after_a_misleading_probe() {
    let mut hand = Hand::new();
    hand.submit_batch("a", 20);
    let call = hand.call();
    hand.answer(&call, Err(error(401)));
    let address = account().address;
    assert!(hand.engine.knock(hand.now).is_some());
    hand.engine.knocked(&address, &Err(error(404)), hand.now);
    let call = hand.call();
    hand.answer(&call, Err(error(401)));
    assert_eq!(in_phase(&hand, Phase::Failed), 11);
    assert_eq!(hand.engine.knock(hand.now), None);
    hand.engine.credentials_changed(hand.now);
    let call = hand.call();
    hand.answer(&call, Err(error(401)));
    assert!(hand.engine.knock(hand.now).is_some(), "others were entered");
}

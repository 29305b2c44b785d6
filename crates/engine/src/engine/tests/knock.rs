//! A question about a task that does not exist finds out whether credentials that were refused are taken again.

use atelier_contract::ApiError;
use serde_json::json;

use super::credentials::in_phase;
use super::hand::{Hand, accepted, error, network, progress};
use super::world::account;
use crate::Phase;

/// Guards against a queue that waits for good after one 401, where no task runs that could be asked about: Try now and
/// Generate made no call, and the service had let all clients in again long before.
#[test]
fn where_nothing_runs_a_question_about_no_task_ends_a_refusal() {
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

/// The same where the one task that was refused is all there is: the page went on saying so.
#[test]
fn a_press_finds_out_though_nothing_waits() {
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

/// The same next to a task that is asked about in half an hour: it is a press that finds out, not that.
#[test]
fn a_press_need_not_wait_for_the_next_poll() {
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

/// Guards against a batch that is emptied press by press at a service that says of any task that it does not know it,
/// before it looks at the credentials.
#[test]
fn a_question_that_misled_once_is_not_asked_again() {
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

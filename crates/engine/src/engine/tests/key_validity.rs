//! The validity of idempotency keys: with which token, and for how long.

use super::hand::{Hand, START, accepted, error, network};
use super::world::account;
use crate::engine::{Engine, Idempotency};
use crate::{Account, Action, Millis, Phase, TaskKey};
use atelier_contract::ApiError;

const MINUTE: Millis = 60_000;

const DAY: Millis = 86_400_000;

/// Sets up a service that remembers keys for a day, and the account's first token.
fn hand() -> Hand {
    let mut hand = Hand::new();
    tell(&mut hand);
    hand.engine.set_token_version(1, hand.now);
    hand
}

fn tell(hand: &mut Hand) {
    let address = account().address;
    let said = Idempotency::For(DAY);
    hand.engine.set_idempotency(&address, said, hand.now);
}

/// Opens the page again with this token.
fn reload(hand: &mut Hand, token_version: u64) {
    hand.calls();
    let stored = hand.saved.pop();
    hand.engine = Engine::new(account());
    tell(hand);
    hand.engine.set_token_version(token_version, hand.now);
    hand.engine.load(stored.into_iter().collect(), hand.now);
}

/// Guards against a second charge: the response was lost, another token was entered, and the same key with that token
/// was another submission to the service.
#[test]
fn a_task_sent_with_another_token_is_unconfirmed() {
    let mut hand = hand();
    hand.submit(&["a"]);
    let call = hand.call();
    hand.answer(&call, Err(network()));
    hand.engine.set_token_version(2, hand.now);
    assert_eq!(hand.phase("a"), Phase::Unconfirmed);
    hand.now += DAY / 2;
    assert!(hand.calls().is_empty(), "sent with another token");

    // The response is lost after that.
    hand.submit(&["b"]);
    let call = hand.call();
    hand.engine.set_token_version(3, hand.now);
    assert_eq!(hand.phase("b"), Phase::Submitting);
    hand.answer(&call, Err(network()));
    assert_eq!(hand.phase("b"), Phase::Unconfirmed);
}

#[test]
fn accepts_a_response_after_a_token_change() {
    let mut hand = hand();
    hand.submit(&["a"]);
    let call = hand.call();
    hand.engine.set_token_version(2, hand.now);
    hand.answer(&call, accepted("1"));
    assert_eq!(hand.phase("a"), Phase::Running);
}

#[test]
fn a_token_change_stops_a_pending_resend() {
    let mut hand = hand();
    hand.submit(&["a"]);
    let call = hand.call();
    hand.answer(&call, Err(network()));
    hand.now += DAY / 4;
    let again = hand.call();
    hand.engine.set_token_version(2, hand.now);
    assert!(!hand.engine.may_leave(again.id, hand.now));
    assert_eq!(hand.phase("a"), Phase::Unconfirmed);
}

#[test]
fn the_token_version_survives_a_reload() {
    for (token_version, expected) in [(1, Phase::Submitting), (2, Phase::Unconfirmed)] {
        let mut hand = hand();
        hand.submit(&["a"]);
        hand.call();
        reload(&mut hand, token_version);
        assert_eq!(hand.phase("a"), expected);
        assert_eq!(hand.calls().len(), usize::from(token_version == 1));
    }
}

#[test]
fn another_accounts_token_does_not_affect_a_task() {
    let mut hand = hand();
    hand.submit(&["a"]);
    let call = hand.call();
    hand.answer(&call, Err(network()));
    let other = Account {
        uid: "other".into(),
        ..account()
    };
    hand.engine.set_account(other, hand.now);
    hand.engine.set_token_version(2, hand.now);
    hand.now += DAY / 4;
    assert!(hand.calls().is_empty(), "sent as another");
    assert_eq!(hand.phase("a"), Phase::Submitting);
    // Back at the first account, the token is entered again, and it is unknown whether it is the same.
    hand.engine.set_account(account(), hand.now);
    hand.engine.set_token_version(3, hand.now);
    assert_eq!(hand.phase("a"), Phase::Unconfirmed);
    assert!(hand.calls().is_empty());
}

/// Covers records without a token version.
#[test]
fn an_unknown_token_counts_as_the_current_one() {
    let mut hand = hand();
    hand.submit(&["a"]);
    hand.call();
    hand.calls();
    let mut stored = hand.saved.pop().unwrap();
    stored.token_version = None;
    hand.saved.push(stored);
    reload(&mut hand, 1);
    let call = hand.call();
    hand.answer(&call, Err(network()));
    assert_eq!(hand.phase("a"), Phase::Submitting);
    hand.engine.set_token_version(2, hand.now);
    assert_eq!(hand.phase("a"), Phase::Unconfirmed);
}

/// Guards against a second charge: the task was submitted while the clock was two days ahead, so its key seemed to be
/// valid for three.
#[test]
fn a_task_sent_while_the_clock_was_ahead_is_unconfirmed() {
    let mut hand = hand();
    hand.now = START + 2 * DAY;
    hand.submit(&["a"]);
    hand.call();
    hand.now = START + DAY + DAY / 4;
    reload(&mut hand, 1);
    assert_eq!(hand.phase("a"), Phase::Unconfirmed);
    assert!(hand.calls().is_empty());
}

/// Guards against asking the user for an outcome that the key can settle: the response was lost with the leader, and
/// the clock was set back while the next leader waited for storage.
#[test]
fn resends_a_task_from_before_a_clock_jump_that_the_page_observed() {
    let mut hand = hand();
    hand.submit(&["a"]);
    hand.call();
    let stored = hand.saved.pop().unwrap();
    let mut next = Hand::new();
    tell(&mut next);
    next.engine.set_token_version(1, hand.now);
    next.now = hand.now - 12 * MINUTE;
    tell(&mut next);
    next.now -= 15 * MINUTE;
    next.engine.load(vec![stored], next.now);
    assert_eq!(next.phase("a"), Phase::Submitting);
    assert_eq!(next.calls().len(), 1);
}

/// A key that was sent after the jump is not older.
#[test]
fn a_clock_jump_does_not_age_later_keys() {
    let mut hand = hand();
    tell(&mut hand);
    hand.now -= DAY;
    tell(&mut hand);
    hand.now += DAY + 5 * MINUTE;
    hand.submit(&["a"]);
    let call = hand.call();
    hand.answer(&call, Err(network()));
    assert_eq!(hand.phase("a"), Phase::Submitting);
}

/// The age of a key includes the time before the jump.
#[test]
fn a_clock_jump_does_not_make_a_key_younger() {
    let mut hand = hand();
    hand.submit(&["a"]);
    let call = hand.call();
    hand.answer(&call, Err(network()));
    hand.engine
        .set_idempotency(&account().address, Idempotency::Unreachable, hand.now);
    hand.now += DAY - 10 * MINUTE;
    tell(&mut hand);
    assert_eq!(hand.phase("a"), Phase::Submitting);
    hand.now -= 27 * MINUTE;
    tell(&mut hand);
    hand.now += 10 * MINUTE;
    tell(&mut hand);
    assert_eq!(hand.phase("a"), Phase::Unconfirmed);
}

/// Guards against a second charge: a browser repeats a request when the connection breaks, the service returns 409, and
/// the page showed that as a free refusal with Retry next to it.
#[test]
fn a_409_without_a_key_is_unconfirmed() {
    for (status, expected) in [(409, Phase::Unconfirmed), (402, Phase::Failed)] {
        let mut hand = Hand::new();
        hand.submit(&["a", "b"]);
        let call = hand.calls().remove(0);
        let error = ApiError::from_status(status, None, None);
        hand.answer(&call, Err(error));
        assert_eq!(hand.phase("a"), expected);
        // Other tasks are not blocked.
        hand.submit(&["c"]);
        assert_eq!(hand.call().tasks, [TaskKey("c".into())]);
    }
}

/// Guards against an unnecessary second charge: a Resubmit used a new key, although the service still knew the old one.
#[test]
fn a_resubmission_reuses_its_key_until_the_key_expires() {
    for (later, expected) in [(DAY / 4, "a"), (DAY, "a.2")] {
        let mut hand = hand();
        hand.submit(&["a"]);
        let call = hand.call();
        hand.answer(&call, Err(network()));
        hand.engine.set_token_version(2, hand.now);
        assert_eq!(hand.phase("a"), Phase::Unconfirmed);
        hand.now += DAY / 4;
        hand.engine.set_online(false, hand.now);
        hand.engine
            .act(&TaskKey("a".into()), Action::Resubmit, hand.now);
        hand.now += later;
        hand.engine.set_online(true, hand.now);
        let call = hand.call();
        assert_eq!(call.idempotency_key.as_deref(), Some(expected));
    }
}

/// Guards against a second charge: the age of the key was counted from the second submission instead of the first.
#[test]
fn a_reused_key_ages_from_its_first_submission() {
    let mut hand = hand();
    hand.submit(&["a"]);
    let call = hand.call();
    hand.answer(&call, Err(network()));
    hand.engine.set_token_version(2, hand.now);
    hand.now += DAY / 2;
    hand.engine
        .act(&TaskKey("a".into()), Action::Resubmit, hand.now);
    let call = hand.call();
    hand.answer(&call, Err(network()));
    assert_eq!(
        hand.phase("a"),
        Phase::Submitting,
        "it is sent again by itself"
    );
    hand.now += DAY / 2;
    assert!(hand.calls().is_empty());
    assert_eq!(hand.phase("a"), Phase::Unconfirmed);
}

/// The service would repeat the refusal for the same key.
#[test]
fn a_refused_key_is_not_reused() {
    let mut hand = hand();
    hand.submit(&["a"]);
    let call = hand.call();
    hand.answer(&call, Err(network()));
    let call = hand.next_call();
    hand.answer(&call, Err(error(402)));
    assert_eq!(hand.phase("a"), Phase::Unconfirmed);
    hand.engine
        .act(&TaskKey("a".into()), Action::Resubmit, hand.now);
    assert_eq!(hand.call().idempotency_key.as_deref(), Some("a.2"));
}

/// Guards against a false statement: the second submission was refused, and the page said that the first was not
/// billed.
#[test]
fn a_refused_resubmission_is_unconfirmed() {
    for status in [401, 402, 404] {
        let mut hand = Hand::new();
        hand.submit(&["a"]);
        let call = hand.call();
        hand.answer(&call, Err(network()));
        assert_eq!(hand.phase("a"), Phase::Unconfirmed);
        hand.engine
            .act(&TaskKey("a".into()), Action::Resubmit, hand.now);
        let call = hand.next_call();
        hand.answer(&call, Err(error(status)));
        assert_eq!(hand.phase("a"), Phase::Unconfirmed, "{status}");
    }
}

/// Guards against "nothing was billed" for a resubmitted task, after the accepted input had become one that the service
/// refuses.
#[test]
fn a_resubmission_refused_for_its_input_is_unconfirmed() {
    let mut hand = Hand::new();
    hand.submit(&["a"]);
    let call = hand.call();
    hand.answer(&call, Err(network()));
    assert_eq!(hand.phase("a"), Phase::Unconfirmed);
    hand.now += DAY;
    hand.engine
        .act(&TaskKey("a".into()), Action::Resubmit, hand.now);
    let call = hand.next_call();
    let gone = serde_json::json!({ "errors": { "image_url": "it can't be fetched" } });
    let refusal = ApiError::from_status(422, Some(&gone), None);
    assert!(matches!(&refusal, ApiError::Invalid { fields, .. } if !fields.is_empty()));
    hand.answer(&call, Err(refusal));
    assert_eq!(hand.phase("a"), Phase::Unconfirmed);
}

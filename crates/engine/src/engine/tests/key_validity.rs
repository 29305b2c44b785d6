//! What an idempotency key is worth: to the token that it came with, for as long as the service remembers it.

use super::hand::{Hand, START, accepted, error, network};
use super::world::account;
use crate::engine::{Engine, Idempotency};
use crate::{Account, Action, Millis, Phase, TaskKey};
use atelier_contract::ApiError;

const MINUTE: Millis = 60_000;

const DAY: Millis = 86_400_000;

/// At a service that honours keys for a day, with the first of the account's tokens.
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

/// The page is opened again, with this token.
fn reload(hand: &mut Hand, token_version: u64) {
    hand.calls();
    let stored = hand.saved.pop();
    hand.engine = Engine::new(account());
    tell(hand);
    hand.engine.set_token_version(token_version, hand.now);
    hand.engine.load(stored.into_iter().collect(), hand.now);
}

/// Guards against a task that is paid twice: its answer was lost, another token was entered, and the same key with that
/// one was another submission to the service.
#[test]
fn what_was_sent_with_another_token_is_left_to_a_person() {
    let mut hand = hand();
    hand.submit(&["a"]);
    let call = hand.call();
    hand.answer(&call, Err(network()));
    hand.engine.set_token_version(2, hand.now);
    assert_eq!(hand.phase("a"), Phase::Unconfirmed);
    hand.now += DAY / 2;
    assert!(hand.calls().is_empty(), "sent with another token");

    // The answer comes to nothing after that.
    hand.submit(&["b"]);
    let call = hand.call();
    hand.engine.set_token_version(3, hand.now);
    assert_eq!(hand.phase("b"), Phase::Submitting);
    hand.answer(&call, Err(network()));
    assert_eq!(hand.phase("b"), Phase::Unconfirmed);
}

#[test]
fn an_answer_to_what_was_sent_with_another_token_counts() {
    let mut hand = hand();
    hand.submit(&["a"]);
    let call = hand.call();
    hand.engine.set_token_version(2, hand.now);
    hand.answer(&call, accepted("1"));
    assert_eq!(hand.phase("a"), Phase::Running);
}

#[test]
fn what_is_about_to_be_sent_again_stays_here_once_the_token_is_another_one() {
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
fn a_reload_knows_which_token_it_was() {
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
fn the_token_of_another_account_says_nothing_of_this_one() {
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
    // Back there it is entered anew, and it is unknown whether it is the same.
    hand.engine.set_account(account(), hand.now);
    hand.engine.set_token_version(3, hand.now);
    assert_eq!(hand.phase("a"), Phase::Unconfirmed);
    assert!(hand.calls().is_empty());
}

/// Records of before it was noted.
#[test]
fn what_was_sent_with_an_unknown_token_is_taken_to_be_of_the_present_one() {
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

/// Guards against a task that is paid twice: it was submitted by a clock that was two days ahead, and by the right one
/// its key seemed to be good for three.
#[test]
fn what_was_sent_by_a_clock_that_was_ahead_is_left_to_a_person() {
    let mut hand = hand();
    hand.now = START + 2 * DAY;
    hand.submit(&["a"]);
    hand.call();
    hand.now = START + DAY + DAY / 4;
    reload(&mut hand, 1);
    assert_eq!(hand.phase("a"), Phase::Unconfirmed);
    assert!(hand.calls().is_empty());
}

/// Guards against a person who is asked for what the key settles: the answer was lost with the tab that led, storage did
/// not answer, and before it did the clock was set back under the eyes of the tab that leads now.
#[test]
fn what_was_sent_before_the_clock_was_set_back_is_sent_again_by_a_page_that_has_seen_it() {
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

/// Nor is one older that left later than that.
#[test]
fn a_key_that_left_after_the_clock_was_set_back_is_as_old_as_it_is() {
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

/// The age of a key is counted by the clock that was ahead, too.
#[test]
fn a_key_is_not_younger_where_the_clock_is_set_back() {
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

/// Guards against a task that is paid twice: a browser sends a request again by itself where the connection breaks, the
/// service notices that it has it, and the page called that a refusal that costs nothing, with Retry next to it.
#[test]
fn a_conflict_that_no_key_settles_is_left_to_a_person() {
    for (status, expected) in [(409, Phase::Unconfirmed), (402, Phase::Failed)] {
        let mut hand = Hand::new();
        hand.submit(&["a", "b"]);
        let call = hand.calls().remove(0);
        let error = ApiError::from_status(status, None, None);
        hand.answer(&call, Err(error));
        assert_eq!(hand.phase("a"), expected);
        // It holds nothing else up.
        hand.submit(&["c"]);
        assert_eq!(hand.call().tasks, [TaskKey("c".into())]);
    }
}

/// Guards against a Resubmit that is paid twice without need: it had a key of its own, though the service would have
/// known the old one, and the task that it has for it.
#[test]
fn what_a_person_sends_once_more_keeps_its_key_as_long_as_the_service_remembers_it() {
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

/// Guards against a task that is paid twice: its key was as old as the first submission, and was taken to be as old as
/// the second.
#[test]
fn a_key_that_is_kept_is_as_old_as_its_first_submission() {
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

/// The refusal would be told again for the same key, whatever has changed since.
#[test]
fn a_key_that_was_refused_is_not_sent_again() {
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

/// Guards against a word that is not true: the second submission was refused, and of the first it was said that nothing
/// was billed.
#[test]
fn a_refusal_of_what_was_sent_once_more_says_nothing_of_the_first() {
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

/// Guards against "nothing was billed" about what a person sent once more, after the input that was taken the first
/// time had become one that the service refuses.
#[test]
fn a_refusal_of_the_input_says_nothing_of_what_was_sent_before_a_person_sent_it_again() {
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

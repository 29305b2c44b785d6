//! Tests the validity of idempotency keys, which depends on the token and on time.

use super::harness::{Harness, START, accepted, error, network};
use super::world::account;
use crate::engine::{Engine, Idempotency};
use crate::{Account, Action, Millis, Phase, TaskKey};
use atelier_contract::ApiError;

const MINUTE: Millis = 60_000;

const DAY: Millis = 86_400_000;

/// Sets up a service that remembers keys for a day, and the account's first token.
fn harness() -> Harness {
    let mut harness = Harness::new();
    set_key_support(&mut harness);
    harness.engine.set_token_version(1, harness.now);
    harness
}

fn set_key_support(harness: &mut Harness) {
    let address = account().address;
    let support = Idempotency::For(DAY);
    harness
        .engine
        .set_idempotency(&address, support, harness.now);
}

/// Opens the page again with this token.
fn reload(harness: &mut Harness, token_version: u64) {
    harness.calls();
    let stored = harness.saved.pop();
    harness.engine = Engine::new(account());
    set_key_support(harness);
    harness.engine.set_token_version(token_version, harness.now);
    harness
        .engine
        .load(stored.into_iter().collect(), harness.now);
}

/// Guards against a second charge: to the service, the same key with another token is another submission.
#[test]
fn a_task_sent_with_another_token_is_unconfirmed() {
    let mut harness = harness();
    harness.submit(&["a"]);
    let call = harness.call();
    harness.answer(&call, Err(network()));
    harness.engine.set_token_version(2, harness.now);
    assert_eq!(harness.phase("a"), Phase::Unconfirmed);
    harness.now += DAY / 2;
    assert!(harness.calls().is_empty(), "sent with another token");

    // The response is lost after the token was changed.
    harness.submit(&["b"]);
    let call = harness.call();
    harness.engine.set_token_version(3, harness.now);
    assert_eq!(harness.phase("b"), Phase::Submitting);
    harness.answer(&call, Err(network()));
    assert_eq!(harness.phase("b"), Phase::Unconfirmed);
}

#[test]
fn accepts_a_response_after_a_token_change() {
    let mut harness = harness();
    harness.submit(&["a"]);
    let call = harness.call();
    harness.engine.set_token_version(2, harness.now);
    harness.answer(&call, accepted("1"));
    assert_eq!(harness.phase("a"), Phase::Running);
}

#[test]
fn a_token_change_stops_a_pending_resend() {
    let mut harness = harness();
    harness.submit(&["a"]);
    let call = harness.call();
    harness.answer(&call, Err(network()));
    harness.now += DAY / 4;
    let again = harness.call();
    harness.engine.set_token_version(2, harness.now);
    assert!(!harness.engine.may_leave(again.id, harness.now));
    assert_eq!(harness.phase("a"), Phase::Unconfirmed);
}

#[test]
fn the_token_version_survives_a_reload() {
    for (token_version, expected) in [(1, Phase::Submitting), (2, Phase::Unconfirmed)] {
        let mut harness = harness();
        harness.submit(&["a"]);
        harness.call();
        reload(&mut harness, token_version);
        assert_eq!(harness.phase("a"), expected);
        assert_eq!(harness.calls().len(), usize::from(token_version == 1));
    }
}

#[test]
fn another_accounts_token_does_not_affect_a_task() {
    let mut harness = harness();
    harness.submit(&["a"]);
    let call = harness.call();
    harness.answer(&call, Err(network()));
    let other = Account {
        uid: "other".into(),
        ..account()
    };
    harness.engine.set_account(other, harness.now);
    harness.engine.set_token_version(2, harness.now);
    harness.now += DAY / 4;
    assert!(harness.calls().is_empty(), "sent with another account");
    assert_eq!(harness.phase("a"), Phase::Submitting);
    // The first account is set again. It is unknown whether the token is the same as before.
    harness.engine.set_account(account(), harness.now);
    harness.engine.set_token_version(3, harness.now);
    assert_eq!(harness.phase("a"), Phase::Unconfirmed);
    assert!(harness.calls().is_empty());
}

/// Covers records without a token version.
#[test]
fn an_unknown_token_counts_as_the_current_one() {
    let mut harness = harness();
    harness.submit(&["a"]);
    harness.call();
    harness.calls();
    let mut stored = harness.saved.pop().unwrap();
    stored.token_version = None;
    harness.saved.push(stored);
    reload(&mut harness, 1);
    let call = harness.call();
    harness.answer(&call, Err(network()));
    assert_eq!(harness.phase("a"), Phase::Submitting);
    harness.engine.set_token_version(2, harness.now);
    assert_eq!(harness.phase("a"), Phase::Unconfirmed);
}

/// Guards against a second charge: the task was submitted while the clock was two days ahead, so its key seems to be
/// valid for three days.
#[test]
fn a_task_sent_while_the_clock_was_ahead_is_unconfirmed() {
    let mut harness = harness();
    harness.now = START + 2 * DAY;
    harness.submit(&["a"]);
    harness.call();
    harness.now = START + DAY + DAY / 4;
    reload(&mut harness, 1);
    assert_eq!(harness.phase("a"), Phase::Unconfirmed);
    assert!(harness.calls().is_empty());
}

/// The response was lost with the leader, and the clock was set back while the next leader waited for storage. The key
/// is still valid, so the task is resent without asking the user.
#[test]
fn resends_a_task_from_before_a_clock_jump_that_the_page_observed() {
    let mut harness = harness();
    harness.submit(&["a"]);
    harness.call();
    let stored = harness.saved.pop().unwrap();
    let mut next = Harness::new();
    set_key_support(&mut next);
    next.engine.set_token_version(1, harness.now);
    next.now = harness.now - 12 * MINUTE;
    set_key_support(&mut next);
    next.now -= 15 * MINUTE;
    next.engine.load(vec![stored], next.now);
    assert_eq!(next.phase("a"), Phase::Submitting);
    assert_eq!(next.calls().len(), 1);
}

/// A key that was sent after the jump does not become older through the jump.
#[test]
fn a_clock_jump_does_not_age_later_keys() {
    let mut harness = harness();
    set_key_support(&mut harness);
    harness.now -= DAY;
    set_key_support(&mut harness);
    harness.now += DAY + 5 * MINUTE;
    harness.submit(&["a"]);
    let call = harness.call();
    harness.answer(&call, Err(network()));
    assert_eq!(harness.phase("a"), Phase::Submitting);
}

/// The age of a key includes the time before the jump.
#[test]
fn a_clock_jump_does_not_make_a_key_younger() {
    let mut harness = harness();
    harness.submit(&["a"]);
    let call = harness.call();
    harness.answer(&call, Err(network()));
    harness
        .engine
        .set_idempotency(&account().address, Idempotency::Unreachable, harness.now);
    harness.now += DAY - 10 * MINUTE;
    set_key_support(&mut harness);
    assert_eq!(harness.phase("a"), Phase::Submitting);
    harness.now -= 27 * MINUTE;
    set_key_support(&mut harness);
    harness.now += 10 * MINUTE;
    set_key_support(&mut harness);
    assert_eq!(harness.phase("a"), Phase::Unconfirmed);
}

/// Guards against a second charge: a browser repeats a request when the connection breaks, and the service then returns
/// 409. This is not a refusal, because the first request may be accepted.
#[test]
fn a_409_without_a_key_is_unconfirmed() {
    for (status, expected) in [(409, Phase::Unconfirmed), (402, Phase::Failed)] {
        let mut harness = Harness::new();
        harness.submit(&["a", "b"]);
        let call = harness.calls().remove(0);
        let error = ApiError::from_status(status, None, None);
        harness.answer(&call, Err(error));
        assert_eq!(harness.phase("a"), expected);
        // Other tasks are not blocked.
        harness.submit(&["c"]);
        assert_eq!(harness.call().tasks, [TaskKey("c".into())]);
    }
}

/// Guards against an unnecessary second charge: with the old key, the service accepts the task only once.
#[test]
fn a_resubmission_reuses_its_key_until_the_key_expires() {
    for (later, expected) in [(DAY / 4, "a"), (DAY, "a.2")] {
        let mut harness = harness();
        harness.submit(&["a"]);
        let call = harness.call();
        harness.answer(&call, Err(network()));
        harness.engine.set_token_version(2, harness.now);
        assert_eq!(harness.phase("a"), Phase::Unconfirmed);
        harness.now += DAY / 4;
        harness.engine.set_online(false, harness.now);
        harness
            .engine
            .act(&TaskKey("a".into()), Action::Resubmit, harness.now);
        harness.now += later;
        harness.engine.set_online(true, harness.now);
        let call = harness.call();
        assert_eq!(call.idempotency_key.as_deref(), Some(expected));
    }
}

/// Guards against a second charge: the key's age counts from the first submission, not from the second.
#[test]
fn a_reused_key_ages_from_its_first_submission() {
    let mut harness = harness();
    harness.submit(&["a"]);
    let call = harness.call();
    harness.answer(&call, Err(network()));
    harness.engine.set_token_version(2, harness.now);
    harness.now += DAY / 2;
    harness
        .engine
        .act(&TaskKey("a".into()), Action::Resubmit, harness.now);
    let call = harness.call();
    harness.answer(&call, Err(network()));
    assert_eq!(
        harness.phase("a"),
        Phase::Submitting,
        "resent automatically"
    );
    harness.now += DAY / 2;
    assert!(harness.calls().is_empty());
    assert_eq!(harness.phase("a"), Phase::Unconfirmed);
}

/// The service would repeat the refusal for the same key.
#[test]
fn a_refused_key_is_not_reused() {
    let mut harness = harness();
    harness.submit(&["a"]);
    let call = harness.call();
    harness.answer(&call, Err(network()));
    let call = harness.next_call();
    harness.answer(&call, Err(error(402)));
    assert_eq!(harness.phase("a"), Phase::Unconfirmed);
    harness
        .engine
        .act(&TaskKey("a".into()), Action::Resubmit, harness.now);
    assert_eq!(harness.call().idempotency_key.as_deref(), Some("a.2"));
}

/// The second submission was refused, but the first may have been accepted and billed.
#[test]
fn a_refused_resubmission_is_unconfirmed() {
    for status in [401, 402, 404] {
        let mut harness = Harness::new();
        harness.submit(&["a"]);
        let call = harness.call();
        harness.answer(&call, Err(network()));
        assert_eq!(harness.phase("a"), Phase::Unconfirmed);
        harness
            .engine
            .act(&TaskKey("a".into()), Action::Resubmit, harness.now);
        let call = harness.next_call();
        harness.answer(&call, Err(error(status)));
        assert_eq!(harness.phase("a"), Phase::Unconfirmed, "{status}");
    }
}

/// The input may have been valid at the time of the first submission, which may have been billed.
#[test]
fn a_resubmission_refused_for_its_input_is_unconfirmed() {
    let mut harness = Harness::new();
    harness.submit(&["a"]);
    let call = harness.call();
    harness.answer(&call, Err(network()));
    assert_eq!(harness.phase("a"), Phase::Unconfirmed);
    harness.now += DAY;
    harness
        .engine
        .act(&TaskKey("a".into()), Action::Resubmit, harness.now);
    let call = harness.next_call();
    let gone = serde_json::json!({ "errors": { "image_url": "it can't be fetched" } });
    let refusal = ApiError::from_status(422, Some(&gone), None);
    assert!(matches!(&refusal, ApiError::Invalid { fields, .. } if !fields.is_empty()));
    harness.answer(&call, Err(refusal));
    assert_eq!(harness.phase("a"), Phase::Unconfirmed);
}

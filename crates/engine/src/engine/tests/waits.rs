//! Nothing is called before the time that a service has asked for.

use atelier_contract::ApiError;

use super::hand::{Hand, START, accepted, error, progress};
use super::world::{account, task};
use crate::engine::{BlockReason, CallKind, Engine, Idempotency};
use crate::{Phase, RateLimit, TaskKey, TaskState};

#[test]
fn a_refusal_anywhere_stops_everything_until_its_time() {
    let mut hand = Hand::new();
    let call = hand.running();
    hand.submit(&["b"]);
    hand.answer(&call, Err(ApiError::from_status(429, None, Some(12_000))));
    let told = hand.now;
    assert!(hand.calls().is_empty());
    assert!(
        matches!(hand.engine.block_reason(hand.now), Some(BlockReason::RateLimited(until)) if until >= told + 12_000)
    );
    hand.now = told + 11_999;
    hand.engine.wake(hand.now);
    assert!(hand.calls().is_empty());
    hand.now = hand.engine.next_wake().unwrap();
    assert!((told + 12_000..told + 13_000).contains(&hand.now));
    assert!(!hand.calls().is_empty());
    assert_eq!(
        hand.engine.task(&TaskKey("a".into())).unwrap().poll_error,
        None
    );
}

#[test]
fn a_refusal_outlives_the_page() {
    let mut hand = Hand::new();
    let call = hand.running();
    hand.answer(&call, Err(ApiError::from_status(429, None, Some(12_000))));
    hand.calls();
    let stored = hand.saved.last().unwrap().clone();
    let told = hand.now;
    hand.engine = Engine::new(account());
    hand.now += 1_000;
    hand.engine.load(vec![stored], hand.now);
    assert!(hand.calls().is_empty());
    hand.next_call();
    assert!(hand.now >= told + 12_000);
}

/// The record of a task is written in its own time: a page that is left before that is done took
/// the service's wish with it.
#[test]
fn a_refusal_is_told_apart_from_any_record() {
    let mut hand = Hand::new();
    let call = hand.running();
    hand.answer(&call, Err(ApiError::from_status(429, None, Some(12_000))));
    let told = hand.now;
    assert!(hand.calls().is_empty());
    let limit = hand.waits.remove(0);
    assert!(limit.until >= told + 12_000);
    hand.engine = Engine::new(account());
    let mut unwritten = task("a", START);
    unwritten.state = TaskState::Running {
        id: atelier_contract::TaskId("1".into()),
        word: atelier_contract::StatusWord::Processing,
    };
    hand.engine.load(vec![unwritten], hand.now);
    hand.engine.wait(&limit, hand.now);
    assert!(hand.calls().is_empty());
    hand.next_call();
    assert!(hand.now >= told + 12_000);
}

/// Guards against a wait of twelve seconds that lasted three quarters of an hour: a page had kept when it
/// ends, the clock was set back, and the next page believed that.
#[test]
fn a_wait_that_was_kept_is_no_longer_once_the_clock_was_set_back() {
    let hour = 3_600_000;
    for since in [Some(START), None] {
        let (until, now) = (START + 12_000, START - hour);
        let mut engine = Engine::new(account());
        let limit = RateLimit {
            address: String::new(),
            until,
            since,
        };
        engine.wait(&limit, now);
        let blocked = engine.services.blocked_until("", now);
        let whole = now + 12_000;
        // An earlier version does not say since when: then the clock is believed.
        assert_eq!(blocked, Some(since.map_or(until, |_| whole)));
    }
}

/// A submission is written down before it leaves. On a busy machine that took half a second, and it
/// left though the service had meanwhile asked for no more calls.
#[test]
fn what_was_being_written_when_a_refusal_came_does_not_leave() {
    let mut hand = Hand::new();
    let poll = hand.running();
    hand.submit(&["b"]);
    let submission = hand.call();
    assert!(hand.engine.may_leave(submission.id, hand.now));
    let refusal = ApiError::from_status(429, None, Some(12_000));
    hand.answer(&poll, Err(refusal));
    let told = hand.now;
    hand.now += 500;
    assert!(!hand.engine.may_leave(submission.id, hand.now));
    assert_eq!(hand.phase("b"), Phase::Queued);
    assert!(hand.calls().is_empty());
    hand.now = hand.engine.next_wake().unwrap();
    assert!((told + 12_000..told + 13_000).contains(&hand.now));
    let mut kinds: Vec<CallKind> = hand.calls().iter().map(|call| call.kind).collect();
    kinds.sort_by_key(|kind| *kind == CallKind::Generate);
    assert_eq!(kinds, [CallKind::Status, CallKind::Generate]);

    // The same with credentials that are refused: it would only fail.
    let mut hand = Hand::new();
    hand.submit(&["a", "b"]);
    let calls = hand.calls();
    hand.answer(&calls[0], Err(error(401)));
    assert!(!hand.engine.may_leave(calls[1].id, hand.now));
    assert_eq!(hand.phase("b"), Phase::Queued);
    assert!(!hand.engine.may_leave(calls[1].id, hand.now), "it is gone");

    // The same where the service is gone: there would be no answer.
    let mut hand = Hand::new();
    hand.submit(&["a"]);
    let call = hand.call();
    tell(&mut hand, Idempotency::Unreachable);
    assert!(!hand.engine.may_leave(call.id, hand.now));
    assert_eq!(hand.phase("a"), Phase::Queued);
    tell(&mut hand, Idempotency::Unsupported);
    assert_eq!(hand.call().kind, CallKind::Generate);
}

fn tell(hand: &mut Hand, said: Idempotency) {
    let address = account().address;
    hand.engine.set_idempotency(&address, said, hand.now);
}

/// Guards against a task that becomes Unconfirmed though the page knew that the service is gone: it was sent all
/// the same, got no answer, and might have been billed for all that was known.
#[test]
fn what_is_made_while_the_service_cannot_be_reached_waits_and_is_sent_once_it_answers() {
    let mut hand = Hand::new();
    tell(&mut hand, Idempotency::Unreachable);
    hand.submit(&["a", "b"]);
    for _ in 0..3 {
        assert!(hand.calls().is_empty());
        assert_eq!(hand.engine.next_wake(), None, "nothing to wake for");
        hand.now += 600_000;
        hand.engine.wake(hand.now);
    }
    assert_eq!(hand.phase("a"), Phase::Queued);
    let reason = hand.engine.block_reason(hand.now);
    assert_eq!(reason, Some(BlockReason::Unreachable));
    tell(&mut hand, Idempotency::Unsupported);
    assert_eq!(hand.engine.block_reason(hand.now), None);
    assert_eq!(hand.calls().len(), 2);
    assert!(hand.calls().is_empty(), "each is sent once");
}

#[test]
fn nothing_is_said_of_a_service_that_nothing_waits_for() {
    let mut hand = Hand::new();
    tell(&mut hand, Idempotency::Unreachable);
    assert_eq!(hand.engine.block_reason(hand.now), None);
}

/// Guards against a queue that waits for good for a list of models, at a service that gives no list and takes tasks.
#[test]
fn an_answer_to_a_poll_ends_the_wait_for_a_service_that_could_not_be_reached() {
    let mut hand = Hand::new();
    let poll = hand.running();
    tell(&mut hand, Idempotency::Unreachable);
    hand.submit(&["b"]);
    hand.answer(&poll, Err(super::hand::network()));
    assert!(hand.calls().is_empty());
    hand.now += 60_000;
    let poll = hand.call();
    assert_eq!(poll.kind, CallKind::Status);
    hand.answer(&poll, progress("processing"));
    assert_eq!(hand.engine.block_reason(hand.now), None);
    hand.now += 10_000;
    let mut kinds: Vec<_> = hand.calls().iter().map(|call| call.kind).collect();
    kinds.retain(|kind| *kind == CallKind::Generate);
    assert_eq!(kinds, [CallKind::Generate]);
}

/// What was sent under a key, and not answered, is neither given up nor sent while the service is gone.
#[test]
fn what_may_have_been_taken_waits_for_a_service_that_cannot_be_reached() {
    let mut hand = Hand::new();
    tell(&mut hand, Idempotency::For(86_400_000));
    hand.submit(&["a"]);
    let call = hand.call();
    hand.answer(&call, Err(super::hand::network()));
    tell(&mut hand, Idempotency::Unreachable);
    hand.now += 600_000;
    assert!(hand.calls().is_empty());
    assert_eq!(hand.phase("a"), Phase::Submitting);
    let reason = hand.engine.block_reason(hand.now);
    assert_eq!(reason, Some(BlockReason::Unreachable));
    tell(&mut hand, Idempotency::For(86_400_000));
    let again = hand.call();
    assert_eq!(again.idempotency_key, call.idempotency_key);
    hand.answer(&again, accepted("1"));
    assert_eq!(hand.phase("a"), Phase::Running);
}

/// Guards against a queue that waits for good at a service whose list alone can't be had, where no task runs that
/// could be asked about, and against one that goes on once there is no answer any more.
#[test]
fn an_answer_to_a_knock_ends_the_wait_as_long_as_the_service_answers() {
    let mut hand = Hand::new();
    let address = account().address;
    tell(&mut hand, Idempotency::Unreachable);
    assert_eq!(hand.engine.knock(hand.now), None, "nothing waits");
    hand.submit(&["a"]);
    let knock = hand.engine.knock(hand.now).expect("a task waits");
    assert_eq!(knock["uid"], "me");
    assert_eq!(knock["subcategory"], "a");
    assert!(knock.get("prompt").is_none(), "{knock}");
    for silence in [super::hand::network(), error(502), error(504)] {
        hand.engine.knocked(&address, &Err(silence), hand.now);
        assert_eq!(
            hand.engine.block_reason(hand.now),
            Some(BlockReason::Unreachable)
        );
    }
    hand.engine.knocked(&address, &Err(error(404)), hand.now);
    // Its list, which says what it knows of keys, is asked for once more, in vain.
    assert!(hand.calls().is_empty());
    tell(&mut hand, Idempotency::Unreachable);
    let call = hand.call();
    hand.answer(&call, accepted("1"));
    assert_eq!(hand.engine.knock(hand.now), None, "nothing waits any more");
    tell(&mut hand, Idempotency::Unreachable);
    hand.submit(&["b"]);
    let call = hand
        .calls()
        .into_iter()
        .find(|call| call.kind == CallKind::Generate);
    let call = call.expect("it answers");
    hand.answer(&call, Err(super::hand::network()));
    tell(&mut hand, Idempotency::Unreachable);
    hand.submit(&["c"]);
    hand.now += 600_000;
    let mut calls = hand.calls().into_iter();
    assert!(
        calls.all(|call| call.kind != CallKind::Generate),
        "nobody is there"
    );
    assert_eq!(hand.phase("c"), Phase::Queued);
}

/// Guards against a queue that waits for good at a service that answers the question about an unknown task with an
/// error of its own, and against one that asks for time and gets none.
#[test]
fn whatever_a_service_says_to_a_knock_it_is_there() {
    let address = account().address;
    for (answer, blocked) in [
        (error(500), None),
        (ApiError::malformed("it is empty"), None),
        (
            ApiError::from_status(429, None, Some(9_000)),
            Some(BlockReason::RateLimited(0)),
        ),
    ] {
        let mut hand = Hand::new();
        tell(&mut hand, Idempotency::Unreachable);
        hand.submit(&["a"]);
        assert!(hand.engine.knock(hand.now).is_some());
        hand.engine.knocked(&address, &Err(answer), hand.now);
        tell(&mut hand, Idempotency::Unreachable);
        let reason = hand.engine.block_reason(hand.now);
        let kind = |reason: &Option<BlockReason>| reason.as_ref().map(std::mem::discriminant);
        assert_eq!(kind(&reason), kind(&blocked), "{reason:?}");
        hand.now += 10_000;
        assert_eq!(hand.call().kind, CallKind::Generate);
    }
}

/// Guards against `The service can't be reached.` where it refuses the credentials and its list alone can't be had.
#[test]
fn a_refusal_of_a_knock_is_an_answer() {
    let mut hand = Hand::new();
    tell(&mut hand, Idempotency::Unreachable);
    hand.submit(&["a"]);
    assert!(hand.engine.knock(hand.now).is_some());
    let address = account().address;
    hand.engine.knocked(&address, &Err(error(401)), hand.now);
    tell(&mut hand, Idempotency::Unreachable);
    let call = hand.call();
    hand.answer(&call, Err(error(401)));
    assert_eq!(
        hand.engine.block_reason(hand.now),
        Some(BlockReason::Unauthorized)
    );
}

/// Guards against a task that is sent without a key in the moment before the service at another address is asked
/// whether it honours keys.
#[test]
fn of_an_address_that_is_new_it_is_not_known_yet_whether_it_honours_keys() {
    let mut hand = Hand::new();
    let there = crate::Account {
        address: "https://there.example".into(),
        ..account()
    };
    let mut waiting = task("a", hand.now);
    waiting.account = there.clone();
    hand.engine.load(vec![waiting], hand.now);
    hand.engine.set_account(there.clone(), hand.now);
    assert!(hand.calls().is_empty());
    let address = there.address;
    let keys = Idempotency::For(86_400_000);
    hand.engine.set_idempotency(&address, keys, hand.now + 9);
    assert!(hand.call().idempotency_key.is_some());
}

/// Guards against a banner that is missing where a guest's tasks wait: as whom they are sent is not known before the
/// service answers.
#[test]
fn what_a_guest_has_made_waits_for_the_service_too() {
    let mut hand = Hand::new();
    let guest = account();
    let nobody = crate::Account {
        uid: String::new(),
        ..guest.clone()
    };
    hand.submit(&["a"]);
    hand.engine.set_account(nobody, hand.now);
    assert_eq!(hand.engine.block_reason(hand.now), None);
    tell(&mut hand, Idempotency::Unreachable);
    assert_eq!(
        hand.engine.block_reason(hand.now),
        Some(BlockReason::Unreachable)
    );
    assert_eq!(hand.engine.knock(hand.now), None, "as nobody");
    hand.engine.set_account(guest, hand.now);
    tell(&mut hand, Idempotency::Unsupported);
    assert_eq!(hand.engine.block_reason(hand.now), None);
    hand.call();
}

/// Guards against a task that is sent without a key though the service has said that it honours keys: it answers, and
/// its list, which was asked for once more, does not come.
#[test]
fn what_was_said_of_keys_holds_while_the_list_is_asked_for_once_more() {
    let mut hand = Hand::new();
    tell(&mut hand, Idempotency::For(86_400_000));
    tell(&mut hand, Idempotency::Unreachable);
    hand.submit(&["a"]);
    let address = account().address;
    hand.engine.knocked(&address, &Err(error(404)), hand.now);
    hand.now += 10_000;
    assert!(hand.call().idempotency_key.is_some());
}

/// Guards against a task that may have been taken, and says that it is sent again, and never is: the key that it was
/// sent under was forgotten with the list.
#[test]
fn what_may_have_been_taken_is_sent_again_where_the_list_alone_cannot_be_had() {
    let mut hand = Hand::new();
    tell(&mut hand, Idempotency::For(86_400_000));
    hand.submit(&["a"]);
    let call = hand.call();
    hand.answer(&call, Err(super::hand::network()));
    tell(&mut hand, Idempotency::Unreachable);
    let address = account().address;
    hand.engine.knocked(&address, &Err(error(404)), hand.now);
    tell(&mut hand, Idempotency::Unreachable);
    hand.now += 60_000;
    let again = hand.call();
    assert_eq!(again.idempotency_key, call.idempotency_key);
}

/// Guards against a service that says when it is back, and is asked all the time before.
#[test]
fn a_service_that_is_away_for_a_while_says_so_to_a_knock() {
    let mut hand = Hand::new();
    tell(&mut hand, Idempotency::Unreachable);
    hand.submit(&["a"]);
    assert!(hand.engine.knock(hand.now).is_some());
    let away = ApiError::from_status(503, None, Some(600_000));
    let address = account().address;
    hand.engine.knocked(&address, &Err(away), hand.now);
    tell(&mut hand, Idempotency::Unreachable);
    let reason = hand.engine.block_reason(hand.now);
    assert!(
        matches!(reason, Some(BlockReason::RateLimited(_))),
        "{reason:?}"
    );
    assert_eq!(hand.engine.knock(hand.now), None);
    hand.now += 610_000;
    assert!(hand.engine.knock(hand.now).is_some(), "it is not back yet");
}

//! No call is made before the time that a service has asked for.

use atelier_contract::ApiError;

use super::hand::{Hand, START, accepted, error, progress};
use super::world::{account, task};
use crate::engine::{BlockReason, CallKind, Engine, Idempotency};
use crate::{Phase, RateLimit, TaskKey, TaskState};

#[test]
fn a_429_stops_all_calls_until_retry_after() {
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
fn a_rate_limit_survives_a_reload() {
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

/// Guards against losing the rate limit if the page closes before the task's record is stored.
#[test]
fn a_rate_limit_is_stored_apart_from_tasks() {
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

/// Guards against a wait of twelve seconds that lasted three quarters of an hour, because its end was stored before the
/// clock was set back.
#[test]
fn a_stored_wait_does_not_grow_after_a_clock_jump() {
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
        // An earlier version does not store when the wait began; then the clock is trusted.
        assert_eq!(blocked, Some(since.map_or(until, |_| whole)));
    }
}

/// Guards against a submission that is sent after a 429 because storing its record took half a second.
#[test]
fn may_leave_is_false_after_a_refusal() {
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

    // The same with refused credentials.
    let mut hand = Hand::new();
    hand.submit(&["a", "b"]);
    let calls = hand.calls();
    hand.answer(&calls[0], Err(error(401)));
    assert!(!hand.engine.may_leave(calls[1].id, hand.now));
    assert_eq!(hand.phase("b"), Phase::Queued);
    assert!(!hand.engine.may_leave(calls[1].id, hand.now), "it is gone");

    // The same while the service is unreachable.
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

/// Guards against a task that becomes Unconfirmed although the page knew that the service was unreachable.
#[test]
fn new_tasks_wait_while_the_service_is_unreachable() {
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
fn an_unreachable_service_is_not_reported_without_waiting_tasks() {
    let mut hand = Hand::new();
    tell(&mut hand, Idempotency::Unreachable);
    assert_eq!(hand.engine.block_reason(hand.now), None);
}

/// Guards against a queue that waits forever for a model list, at a service that accepts tasks without one.
#[test]
fn a_poll_response_ends_the_wait_for_an_unreachable_service() {
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

/// While the service is unreachable, a task that was sent with a key is neither marked Unconfirmed nor resent.
#[test]
fn an_uncertain_task_waits_for_an_unreachable_service() {
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

/// Guards against a queue that waits forever at a service without a model list while no task runs, and against sending
/// after the service has stopped answering.
#[test]
fn a_probe_response_ends_the_wait_while_the_service_answers() {
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
    // The model list, which reports key support, is requested again and fails.
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

/// Guards against a queue that waits forever at a service that answers a probe with an error, and against ignoring its
/// Retry-After.
#[test]
fn any_probe_response_shows_that_the_service_is_reachable() {
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

/// Guards against `The service can't be reached.` if the service refuses the credentials and its model list is
/// unavailable.
#[test]
fn a_refused_probe_shows_that_the_service_is_reachable() {
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

/// Guards against a task that is sent without a key just before the service at a new address is asked about keys.
#[test]
fn submissions_to_a_new_address_wait_for_key_support() {
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

/// Guards against a missing banner while a guest's tasks wait: their account is unknown until the service answers.
#[test]
fn a_guests_tasks_report_an_unreachable_service() {
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

/// Guards against a task that is sent without a key to a service that supports keys, while its model list is requested
/// again.
#[test]
fn key_support_is_remembered_while_the_model_list_is_requested() {
    let mut hand = Hand::new();
    tell(&mut hand, Idempotency::For(86_400_000));
    tell(&mut hand, Idempotency::Unreachable);
    hand.submit(&["a"]);
    let address = account().address;
    hand.engine.knocked(&address, &Err(error(404)), hand.now);
    hand.now += 10_000;
    assert!(hand.call().idempotency_key.is_some());
}

/// Guards against an uncertain task that is never resent because key support was forgotten together with the model
/// list.
#[test]
fn an_uncertain_task_is_resent_without_a_model_list() {
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

/// Guards against probing a service before its Retry-After has passed.
#[test]
fn a_probe_respects_retry_after() {
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

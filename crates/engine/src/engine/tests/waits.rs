//! Nothing is called before the time that a service has asked for.

use atelier_contract::ApiError;

use super::hand::{Hand, START, error};
use super::world::{account, task};
use crate::engine::{BlockReason, CallKind, Engine};
use crate::{Phase, TaskKey, TaskState};

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
    let (address, until, since) = hand.waits.remove(0);
    assert!(until >= told + 12_000);
    hand.engine = Engine::new(account());
    let mut unwritten = task("a", START);
    unwritten.state = TaskState::Running {
        id: atelier_contract::TaskId("1".into()),
        word: atelier_contract::StatusWord::Processing,
    };
    hand.engine.load(vec![unwritten], hand.now);
    hand.engine.wait(&address, until, Some(since), hand.now);
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
        engine.wait("", until, since, now);
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
}

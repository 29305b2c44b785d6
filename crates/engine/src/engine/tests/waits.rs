//! Tests that no call is made before the time that a service has requested.

use atelier_contract::ApiError;

use super::harness::{Harness, START, accepted, error, progress};
use super::world::{account, task};
use crate::engine::{BlockReason, CallKind, Engine, Idempotency};
use crate::{Phase, RateLimit, TaskKey, TaskState};

#[test]
fn a_429_stops_all_calls_until_retry_after() {
    let mut harness = Harness::new();
    let call = harness.running();
    harness.submit(&["b"]);
    harness.answer(&call, Err(ApiError::from_status(429, None, Some(12_000))));
    let received_at = harness.now;
    assert!(harness.calls().is_empty());
    assert!(
        matches!(harness.engine.block_reason(harness.now), Some(BlockReason::RateLimited(until)) if until >= received_at + 12_000)
    );
    harness.now = received_at + 11_999;
    harness.engine.wake(harness.now);
    assert!(harness.calls().is_empty());
    harness.now = harness.engine.next_wake().unwrap();
    assert!((received_at + 12_000..received_at + 13_000).contains(&harness.now));
    assert!(!harness.calls().is_empty());
    assert_eq!(
        harness
            .engine
            .task(&TaskKey("a".into()))
            .unwrap()
            .poll_error,
        None
    );
}

/// A 429 of an upload stops the calls about tasks as well, and is stored.
#[test]
fn a_429_of_another_call_stops_all_calls_until_retry_after() {
    let mut harness = Harness::new();
    harness.submit(&["a"]);
    let received_at = harness.now;
    let address = account().address;
    harness
        .engine
        .limit_rate(&address, Some(12_000), received_at);
    assert!(harness.calls().is_empty());
    assert!(
        matches!(harness.engine.block_reason(harness.now), Some(BlockReason::RateLimited(until)) if until >= received_at + 12_000)
    );
    assert!(harness.waits[0].until >= received_at + 12_000);
    harness.next_call();
    assert!(harness.now >= received_at + 12_000);
}

#[test]
fn a_rate_limit_survives_a_reload() {
    let mut harness = Harness::new();
    let call = harness.running();
    harness.answer(&call, Err(ApiError::from_status(429, None, Some(12_000))));
    harness.calls();
    let stored = harness.saved.last().unwrap().clone();
    let received_at = harness.now;
    harness.engine = Engine::new(account());
    harness.now += 1_000;
    harness.engine.load(vec![stored], harness.now);
    assert!(harness.calls().is_empty());
    harness.next_call();
    assert!(harness.now >= received_at + 12_000);
}

/// The page may close before the task's record is stored.
#[test]
fn a_rate_limit_is_stored_apart_from_tasks() {
    let mut harness = Harness::new();
    let call = harness.running();
    harness.answer(&call, Err(ApiError::from_status(429, None, Some(12_000))));
    let received_at = harness.now;
    assert!(harness.calls().is_empty());
    let limit = harness.waits.remove(0);
    assert!(limit.until >= received_at + 12_000);
    harness.engine = Engine::new(account());
    let mut unwritten = task("a", START);
    unwritten.state = TaskState::Running {
        id: atelier_contract::TaskId("1".into()),
        word: atelier_contract::StatusWord::Processing,
    };
    harness.engine.load(vec![unwritten], harness.now);
    harness.engine.wait(&limit, harness.now);
    assert!(harness.calls().is_empty());
    harness.next_call();
    assert!(harness.now >= received_at + 12_000);
}

/// The end of the wait was stored before the clock was set back.
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
        // An earlier version does not store when the wait began, so the stored end is used.
        assert_eq!(blocked, Some(since.map_or(until, |_| whole)));
    }
}

/// A 429 may arrive while the record of a submission is being stored.
#[test]
fn may_leave_is_false_after_a_refusal() {
    let mut harness = Harness::new();
    let poll = harness.running();
    harness.submit(&["b"]);
    let submission = harness.call();
    assert!(harness.engine.may_leave(submission.id, harness.now));
    let refusal = ApiError::from_status(429, None, Some(12_000));
    harness.answer(&poll, Err(refusal));
    let received_at = harness.now;
    harness.now += 500;
    assert!(!harness.engine.may_leave(submission.id, harness.now));
    assert_eq!(harness.phase("b"), Phase::Queued);
    assert!(harness.calls().is_empty());
    harness.now = harness.engine.next_wake().unwrap();
    assert!((received_at + 12_000..received_at + 13_000).contains(&harness.now));
    let mut kinds: Vec<CallKind> = harness.calls().iter().map(|call| call.kind).collect();
    kinds.sort_by_key(|kind| *kind == CallKind::Generate);
    assert_eq!(kinds, [CallKind::Status, CallKind::Generate]);

    // The credentials are refused in the meantime.
    let mut harness = Harness::new();
    harness.submit(&["a", "b"]);
    let calls = harness.calls();
    harness.answer(&calls[0], Err(error(401)));
    assert!(!harness.engine.may_leave(calls[1].id, harness.now));
    assert_eq!(harness.phase("b"), Phase::Queued);
    assert!(
        !harness.engine.may_leave(calls[1].id, harness.now),
        "the call was cancelled"
    );

    // The service becomes unreachable in the meantime.
    let mut harness = Harness::new();
    harness.submit(&["a"]);
    let call = harness.call();
    set_key_support(&mut harness, Idempotency::Unreachable);
    assert!(!harness.engine.may_leave(call.id, harness.now));
    assert_eq!(harness.phase("a"), Phase::Queued);
    set_key_support(&mut harness, Idempotency::Unsupported);
    assert_eq!(harness.call().kind, CallKind::Generate);
}

fn set_key_support(harness: &mut Harness, support: Idempotency) {
    let address = account().address;
    harness
        .engine
        .set_idempotency(&address, support, harness.now);
}

/// A task that is sent to an unreachable service would become Unconfirmed.
#[test]
fn new_tasks_wait_while_the_service_is_unreachable() {
    let mut harness = Harness::new();
    set_key_support(&mut harness, Idempotency::Unreachable);
    harness.submit(&["a", "b"]);
    for _ in 0..3 {
        assert!(harness.calls().is_empty());
        assert_eq!(harness.engine.next_wake(), None, "nothing is due");
        harness.now += 600_000;
        harness.engine.wake(harness.now);
    }
    assert_eq!(harness.phase("a"), Phase::Queued);
    let reason = harness.engine.block_reason(harness.now);
    assert_eq!(reason, Some(BlockReason::Unreachable));
    set_key_support(&mut harness, Idempotency::Unsupported);
    assert_eq!(harness.engine.block_reason(harness.now), None);
    assert_eq!(harness.calls().len(), 2);
    assert!(harness.calls().is_empty(), "each is sent once");
}

#[test]
fn an_unreachable_service_is_not_reported_without_waiting_tasks() {
    let mut harness = Harness::new();
    set_key_support(&mut harness, Idempotency::Unreachable);
    assert_eq!(harness.engine.block_reason(harness.now), None);
}

/// A service without a model list may accept tasks.
#[test]
fn a_poll_response_ends_the_wait_for_an_unreachable_service() {
    let mut harness = Harness::new();
    let poll = harness.running();
    set_key_support(&mut harness, Idempotency::Unreachable);
    harness.submit(&["b"]);
    harness.answer(&poll, Err(super::harness::network()));
    assert!(harness.calls().is_empty());
    harness.now += 60_000;
    let poll = harness.call();
    assert_eq!(poll.kind, CallKind::Status);
    harness.answer(&poll, progress("processing"));
    assert_eq!(harness.engine.block_reason(harness.now), None);
    harness.now += 10_000;
    let mut kinds: Vec<_> = harness.calls().iter().map(|call| call.kind).collect();
    kinds.retain(|kind| *kind == CallKind::Generate);
    assert_eq!(kinds, [CallKind::Generate]);
}

/// While the service is unreachable, a task that was sent with a key is neither marked Unconfirmed nor resent.
#[test]
fn an_uncertain_task_waits_for_an_unreachable_service() {
    let mut harness = Harness::new();
    set_key_support(&mut harness, Idempotency::For(86_400_000));
    harness.submit(&["a"]);
    let call = harness.call();
    harness.answer(&call, Err(super::harness::network()));
    set_key_support(&mut harness, Idempotency::Unreachable);
    harness.now += 600_000;
    assert!(harness.calls().is_empty());
    assert_eq!(harness.phase("a"), Phase::Submitting);
    let reason = harness.engine.block_reason(harness.now);
    assert_eq!(reason, Some(BlockReason::Unreachable));
    set_key_support(&mut harness, Idempotency::For(86_400_000));
    let again = harness.call();
    assert_eq!(again.idempotency_key, call.idempotency_key);
    harness.answer(&again, accepted("1"));
    assert_eq!(harness.phase("a"), Phase::Running);
}

/// No task is running, and the service has no model list. A probe shows that it responds. Tasks must not be sent after
/// it has stopped responding.
#[test]
fn a_probe_response_ends_the_wait_while_the_service_answers() {
    let mut harness = Harness::new();
    let address = account().address;
    set_key_support(&mut harness, Idempotency::Unreachable);
    assert_eq!(
        harness.engine.probe_request(harness.now),
        None,
        "nothing waits"
    );
    harness.submit(&["a"]);
    let probe = harness
        .engine
        .probe_request(harness.now)
        .expect("a task waits");
    assert_eq!(probe["uid"], "me");
    assert_eq!(probe["subcategory"], "a");
    assert!(probe.get("prompt").is_none(), "{probe}");
    for silence in [super::harness::network(), error(502), error(504)] {
        harness
            .engine
            .probe_answered(&address, &Err(silence), harness.now);
        assert_eq!(
            harness.engine.block_reason(harness.now),
            Some(BlockReason::Unreachable)
        );
    }
    harness
        .engine
        .probe_answered(&address, &Err(error(404)), harness.now);
    // The model list, which reports key support, is requested again and fails.
    assert!(harness.calls().is_empty());
    set_key_support(&mut harness, Idempotency::Unreachable);
    let call = harness.call();
    harness.answer(&call, accepted("1"));
    assert_eq!(
        harness.engine.probe_request(harness.now),
        None,
        "nothing waits"
    );
    set_key_support(&mut harness, Idempotency::Unreachable);
    harness.submit(&["b"]);
    let call = harness
        .calls()
        .into_iter()
        .find(|call| call.kind == CallKind::Generate);
    let call = call.expect("the service answers");
    harness.answer(&call, Err(super::harness::network()));
    set_key_support(&mut harness, Idempotency::Unreachable);
    harness.submit(&["c"]);
    harness.now += 600_000;
    let mut calls = harness.calls().into_iter();
    assert!(
        calls.all(|call| call.kind != CallKind::Generate),
        "the service does not answer"
    );
    assert_eq!(harness.phase("c"), Phase::Queued);
}

/// A probe that is answered with an error ends the wait, too, and its Retry-After is respected.
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
        let mut harness = Harness::new();
        set_key_support(&mut harness, Idempotency::Unreachable);
        harness.submit(&["a"]);
        assert!(harness.engine.probe_request(harness.now).is_some());
        harness
            .engine
            .probe_answered(&address, &Err(answer), harness.now);
        set_key_support(&mut harness, Idempotency::Unreachable);
        let reason = harness.engine.block_reason(harness.now);
        let kind = |reason: &Option<BlockReason>| reason.as_ref().map(std::mem::discriminant);
        assert_eq!(kind(&reason), kind(&blocked), "{reason:?}");
        harness.now += 10_000;
        assert_eq!(harness.call().kind, CallKind::Generate);
    }
}

/// The service refuses the credentials, and its model list is unavailable. The page must not report it as unreachable.
#[test]
fn a_refused_probe_shows_that_the_service_is_reachable() {
    let mut harness = Harness::new();
    set_key_support(&mut harness, Idempotency::Unreachable);
    harness.submit(&["a"]);
    assert!(harness.engine.probe_request(harness.now).is_some());
    let address = account().address;
    harness
        .engine
        .probe_answered(&address, &Err(error(401)), harness.now);
    set_key_support(&mut harness, Idempotency::Unreachable);
    let call = harness.call();
    harness.answer(&call, Err(error(401)));
    assert_eq!(
        harness.engine.block_reason(harness.now),
        Some(BlockReason::Unauthorized)
    );
}

/// A task must not be sent without a key before the service at a new address is asked about keys.
#[test]
fn submissions_to_a_new_address_wait_for_key_support() {
    let mut harness = Harness::new();
    let there = crate::Account {
        address: "https://there.example".into(),
        ..account()
    };
    let mut waiting = task("a", harness.now);
    waiting.account = there.clone();
    harness.engine.load(vec![waiting], harness.now);
    harness.engine.set_account(there.clone(), harness.now);
    assert!(harness.calls().is_empty());
    let address = there.address;
    let keys = Idempotency::For(86_400_000);
    harness
        .engine
        .set_idempotency(&address, keys, harness.now + 9);
    assert!(harness.call().idempotency_key.is_some());
}

/// The account of a guest's tasks is unknown until the service answers. The page must show why they wait.
#[test]
fn a_guests_tasks_report_an_unreachable_service() {
    let mut harness = Harness::new();
    let guest = account();
    let nobody = crate::Account {
        uid: String::new(),
        ..guest.clone()
    };
    harness.submit(&["a"]);
    harness.engine.set_account(nobody, harness.now);
    assert_eq!(harness.engine.block_reason(harness.now), None);
    set_key_support(&mut harness, Idempotency::Unreachable);
    assert_eq!(
        harness.engine.block_reason(harness.now),
        Some(BlockReason::Unreachable)
    );
    assert_eq!(
        harness.engine.probe_request(harness.now),
        None,
        "without an account"
    );
    harness.engine.set_account(guest, harness.now);
    set_key_support(&mut harness, Idempotency::Unsupported);
    assert_eq!(harness.engine.block_reason(harness.now), None);
    harness.call();
}

/// A task must be sent with a key while the model list of a service that supports keys is requested again.
#[test]
fn key_support_is_remembered_while_the_model_list_is_requested() {
    let mut harness = Harness::new();
    set_key_support(&mut harness, Idempotency::For(86_400_000));
    set_key_support(&mut harness, Idempotency::Unreachable);
    harness.submit(&["a"]);
    let address = account().address;
    harness
        .engine
        .probe_answered(&address, &Err(error(404)), harness.now);
    harness.now += 10_000;
    assert!(harness.call().idempotency_key.is_some());
}

/// A failed request for the model list must not clear the last known key support.
#[test]
fn an_uncertain_task_is_resent_without_a_model_list() {
    let mut harness = Harness::new();
    set_key_support(&mut harness, Idempotency::For(86_400_000));
    harness.submit(&["a"]);
    let call = harness.call();
    harness.answer(&call, Err(super::harness::network()));
    set_key_support(&mut harness, Idempotency::Unreachable);
    let address = account().address;
    harness
        .engine
        .probe_answered(&address, &Err(error(404)), harness.now);
    set_key_support(&mut harness, Idempotency::Unreachable);
    harness.now += 60_000;
    let again = harness.call();
    assert_eq!(again.idempotency_key, call.idempotency_key);
}

/// A probe is not sent before Retry-After has passed.
#[test]
fn a_probe_respects_retry_after() {
    let mut harness = Harness::new();
    set_key_support(&mut harness, Idempotency::Unreachable);
    harness.submit(&["a"]);
    assert!(harness.engine.probe_request(harness.now).is_some());
    let unavailable = ApiError::from_status(503, None, Some(600_000));
    let address = account().address;
    harness
        .engine
        .probe_answered(&address, &Err(unavailable), harness.now);
    set_key_support(&mut harness, Idempotency::Unreachable);
    let reason = harness.engine.block_reason(harness.now);
    assert!(
        matches!(reason, Some(BlockReason::RateLimited(_))),
        "{reason:?}"
    );
    assert_eq!(harness.engine.probe_request(harness.now), None);
    harness.now += 610_000;
    assert!(
        harness.engine.probe_request(harness.now).is_some(),
        "probes again after the wait"
    );
}

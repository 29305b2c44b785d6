//! Tests canceling tasks at the service.

use atelier_contract::{ApiError, path};
use serde_json::{Value, json};

use super::harness::{Harness, START, accepted, error, network, progress};
use super::world::task;
use crate::engine::{CallKind, Command};
use crate::{Account, Action, Phase, TaskKey};

fn key(name: &str) -> TaskKey {
    TaskKey(name.into())
}

fn cancel(harness: &mut Harness, name: &str) {
    let now = harness.now;
    harness.engine.act(&key(name), Action::CancelAtService, now);
}

fn canceled() -> Result<Value, ApiError> {
    let data = json!({"id": "1", "status": "failed", "error": "Canceled", "canceled": true});
    Ok(json!({"success": true, "data": data}))
}

fn refused(message: Value) -> Result<Value, ApiError> {
    let data = json!({"id": "1", "status": "processing", "canceled": false, "message": message});
    Ok(json!({"success": true, "data": data}))
}

/// Returns a harness with a running task whose cancellation was requested, and the call for it.
fn canceling() -> (Harness, crate::engine::Call) {
    let mut harness = Harness::new();
    let call = harness.running();
    harness.answer(&call, progress("processing"));
    cancel(&mut harness, "a");
    let call = harness.call();
    assert_eq!((call.kind, call.path), (CallKind::Cancel, path::CANCEL));
    (harness, call)
}

fn refusal(harness: &Harness) -> Option<String> {
    let task = harness.engine.task(&key("a")).unwrap();
    task.cancel.as_ref()?.refusal.clone()
}

fn label(harness: &Harness) -> &str {
    harness.engine.task(&key("a")).unwrap().label()
}

#[test]
fn cancels_a_running_task_without_a_notification() {
    let (mut harness, call) = canceling();
    assert_eq!(call.body["id"], "1");
    assert_eq!(label(&harness), "Canceling…");
    harness.answer(&call, canceled());
    let commands = harness.engine.step(harness.now);
    let is_announced = |command: &Command| matches!(command, Command::Finished(_));
    assert!(!commands.iter().any(is_announced));
    assert_eq!(harness.phase("a"), Phase::Canceled);
    assert_eq!(label(&harness), "Canceled");
    let task = harness.engine.task(&key("a")).unwrap();
    assert!(task.can_retry() && !task.has_failed() && task.cancel.is_none());
    assert_eq!(task.finished, Some(harness.now));
    assert_eq!(harness.engine.next_wake(), None);
}

/// The file exists, and may be paid for.
#[test]
fn a_task_that_finishes_first_keeps_its_outputs() {
    let (mut harness, call) = canceling();
    let done = json!({"id": "1", "status": "completed", "canceled": false});
    harness.answer(&call, Ok(json!({"success": true, "data": done})));
    assert_eq!(harness.phase("a"), Phase::Fetching);
    let call = harness.call();
    assert_eq!(call.kind, CallKind::Response);
    let done = json!({"status": "completed", "output": ["https://o.example/1"]});
    harness.answer(&call, Ok(json!({"success": true, "data": done})));
    assert_eq!(harness.phase("a"), Phase::Ready);
    assert_eq!(harness.engine.task(&key("a")).unwrap().cancel, None);
}

#[test]
fn a_task_that_failed_first_has_failed() {
    let (mut harness, call) = canceling();
    let failed = json!({"id": "1", "status": "failed", "error": "no faces", "canceled": false});
    harness.answer(&call, Ok(json!({"success": true, "data": failed})));
    assert_eq!(harness.phase("a"), Phase::Failed);
}

/// Another program may have canceled it.
#[test]
fn a_status_reports_that_the_task_was_canceled() {
    let mut harness = Harness::new();
    let call = harness.running();
    harness.answer(&call, canceled());
    assert_eq!(harness.phase("a"), Phase::Canceled);
}

#[test]
fn a_task_that_waits_to_be_sent_is_removed_without_a_call() {
    let mut harness = Harness::new();
    harness.engine.set_online(false, START);
    harness.submit(&["a"]);
    cancel(&mut harness, "a");
    harness.engine.set_online(true, START);
    assert_eq!(harness.calls(), []);
    assert_eq!(harness.deleted, [key("a")]);
}

#[test]
fn a_task_that_is_being_sent_is_canceled_once_its_id_is_known() {
    let mut harness = Harness::new();
    harness.submit(&["a"]);
    let call = harness.call();
    cancel(&mut harness, "a");
    assert_eq!(harness.calls(), []);
    assert_eq!(label(&harness), "Canceling…");
    harness.answer(&call, accepted("1"));
    assert_eq!(harness.call().kind, CallKind::Cancel);
}

#[test]
fn a_task_that_was_not_accepted_is_not_sent_again_after_a_cancel() {
    let mut harness = Harness::new();
    harness.submit(&["a"]);
    let call = harness.call();
    cancel(&mut harness, "a");
    harness.answer(&call, Err(error(429)));
    harness.now += 600_000;
    assert_eq!(harness.calls(), []);
    assert_eq!(harness.deleted, [key("a")]);
}

#[test]
fn the_request_waits_for_a_status_in_flight() {
    let mut harness = Harness::new();
    let status = harness.running();
    cancel(&mut harness, "a");
    assert_eq!(harness.calls(), []);
    harness.answer(&status, progress("processing"));
    assert_eq!(harness.call().kind, CallKind::Cancel);
}

#[test]
fn the_request_is_stored_and_survives_a_reload_offline() {
    let mut harness = Harness::new();
    let call = harness.running();
    harness.answer(&call, progress("processing"));
    harness.engine.set_online(false, harness.now);
    cancel(&mut harness, "a");
    assert_eq!(harness.calls(), []);
    let stored = harness.saved.last().unwrap().clone();
    assert!(stored.is_canceling());
    let mut next = Harness::new();
    next.now = harness.now;
    next.engine.set_online(false, next.now);
    next.engine.load(vec![stored], next.now);
    assert_eq!(next.calls(), []);
    next.engine.set_online(true, next.now);
    let call = next.call();
    assert_eq!(call.kind, CallKind::Cancel);
    next.answer(&call, canceled());
    assert_eq!(next.phase("a"), Phase::Canceled);
}

/// The last leader may have been closed before it stored the request that it has sent to the other tabs.
#[test]
fn a_new_leader_keeps_a_request_that_is_not_stored() {
    let mut harness = Harness::new();
    let call = harness.running();
    harness.answer(&call, progress("processing"));
    let stored = harness.engine.task(&key("a")).unwrap().clone();
    cancel(&mut harness, "a");
    let requested = harness.engine.task(&key("a")).unwrap().clone();
    let mut next = Harness::new();
    next.now = harness.now;
    next.engine.set_leading(false, next.now);
    next.engine.merge_remote(requested, next.now);
    next.engine.set_leading(true, next.now);
    next.engine.load(vec![stored], next.now);
    assert_eq!(next.call().kind, CallKind::Cancel);
}

/// While the request fails, the task is polled: it may end.
#[test]
fn a_failed_request_is_repeated_and_the_task_is_polled_in_between() {
    for failure in [network(), error(500), error(502)] {
        let (mut harness, mut call) = canceling();
        let mut kinds = Vec::new();
        for _ in 0..8 {
            let answer = match call.kind {
                CallKind::Cancel => Err(failure.clone()),
                _ => progress("processing"),
            };
            harness.answer(&call, answer);
            assert_eq!(label(&harness), "Canceling…");
            call = harness.next_call();
            kinds.push(call.kind);
        }
        assert!(kinds.contains(&CallKind::Status), "{kinds:?}");
        assert!(kinds.contains(&CallKind::Cancel), "{kinds:?}");
        assert_eq!(refusal(&harness), None);
    }
}

#[test]
fn a_rate_limit_delays_the_request() {
    let (mut harness, call) = canceling();
    let limited = ApiError::from_status(429, None, Some(7_000));
    harness.answer(&call, Err(limited));
    let before = harness.now;
    let call = harness.next_call();
    assert_eq!(call.kind, CallKind::Cancel);
    assert!(harness.now >= before + 7_000);
}

#[test]
fn refused_credentials_block_the_request_until_they_are_corrected() {
    let (mut harness, call) = canceling();
    harness.answer(&call, Err(error(401)));
    harness.now += 60_000;
    assert_eq!(harness.calls(), []);
    assert_eq!(
        (refusal(&harness), harness.engine.is_refused()),
        (None, true)
    );
    harness.engine.credentials_changed(harness.now);
    assert_eq!(harness.call().kind, CallKind::Cancel);
}

/// Guards against a refusal that is shown as the progress of the task, and against a bar that disappears with it.
#[test]
fn a_refusal_does_not_change_the_progress() {
    let mut harness = Harness::new();
    let call = harness.running();
    let mut half = progress("processing").unwrap();
    half["data"]["progress"] = 0.5.into();
    half["data"]["message"] = "step 5".into();
    harness.answer(&call, Ok(half));
    cancel(&mut harness, "a");
    let call = harness.call();
    harness.answer(&call, refused("It can't.".into()));
    assert!(refusal(&harness).is_some());
    let task = harness.engine.task(&key("a")).unwrap();
    assert_eq!(
        (task.fraction, task.progress.as_deref()),
        (Some(0.5), Some("step 5"))
    );
}

#[test]
fn a_refused_request_is_reported_and_the_task_continues() {
    let gateway = ApiError::from_status(404, None, None);
    let forbidden = json!({"success": false, "message": "Your plan does not include this"});
    let forbidden = ApiError::from_status(403, Some(&forbidden), None);
    for refused in [
        error(404),
        error(405),
        error(422),
        error(501),
        gateway,
        forbidden,
    ] {
        let (mut harness, call) = canceling();
        harness.answer(&call, Err(refused.clone()));
        assert!(refusal(&harness).unwrap().ends_with("The task continues."));
        assert_eq!(label(&harness), "Processing");
        for _ in 0..3 {
            let call = harness.next_call();
            assert_eq!(call.kind, CallKind::Status, "{refused}");
            harness.answer(&call, progress("processing"));
        }
        cancel(&mut harness, "a");
        assert_eq!(
            harness.call().kind,
            CallKind::Cancel,
            "the user may repeat it"
        );
    }
}

/// Guards against words that are meant for programmers.
#[test]
fn a_missing_endpoint_is_reported_in_clear_words() {
    for status in [404, 405, 501] {
        let (mut harness, call) = canceling();
        let body = json!({"message": "Cannot POST /v2/cancel"});
        let missing = ApiError::from_status(status, Some(&body), None);
        harness.answer(&call, Err(missing));
        let expected = "The service can't cancel this task. The task continues.";
        assert_eq!(refusal(&harness).as_deref(), Some(expected));
    }
}

#[test]
fn the_reason_of_the_service_is_reported() {
    for (message, expected) in [
        (
            json!("It was sent to a server."),
            "It was sent to a server.",
        ),
        (
            json!(null),
            "The service gave no reason. The task continues.",
        ),
        (json!({"odd": []}), "{\"odd\":[]}"),
    ] {
        let (mut harness, call) = canceling();
        harness.answer(&call, refused(message));
        assert_eq!(refusal(&harness).as_deref(), Some(expected));
        assert_eq!(harness.next_call().kind, CallKind::Status);
    }
}

/// The service ends the task later.
#[test]
fn an_accepted_request_is_not_repeated() {
    let (mut harness, call) = canceling();
    let accepted = json!({"id": "1", "status": "processing", "canceled": true});
    harness.answer(&call, Ok(json!({"success": true, "data": accepted})));
    for _ in 0..5 {
        let call = harness.next_call();
        assert_eq!(call.kind, CallKind::Status);
        harness.answer(&call, progress("processing"));
        assert_eq!(label(&harness), "Canceling…");
    }
    let call = harness.next_call();
    harness.answer(&call, canceled());
    assert_eq!(harness.phase("a"), Phase::Canceled);
}

#[test]
fn unreadable_responses_end_the_request_but_not_the_task() {
    let (mut harness, mut call) = canceling();
    let mut requests = 0;
    for _ in 0..30 {
        let is_request = call.kind == CallKind::Cancel;
        requests += usize::from(is_request);
        harness.answer(
            &call,
            match is_request {
                true => Ok(json!(["odd"])),
                false => progress("processing"),
            },
        );
        call = harness.next_call();
    }
    assert_eq!(requests, 3);
    assert!(refusal(&harness).is_some());
    assert_eq!(harness.phase("a"), Phase::Running);
}

/// A response about another task must not end this one.
#[test]
fn a_response_about_another_task_is_not_used() {
    let (mut harness, call) = canceling();
    let other = json!({"id": "2", "status": "failed", "error": "Canceled", "canceled": true});
    harness.answer(&call, Ok(json!({"success": true, "data": other})));
    assert_eq!(harness.phase("a"), Phase::Running);
}

#[test]
fn several_tasks_are_canceled_in_one_call_or_singly() {
    for has_batch in [true, false] {
        let mut harness = Harness::new();
        harness.submit_batch("b", 3);
        let call = harness.call();
        let entry = |index: usize, data: Value| json!({"index": index, "status": 200, "body": {"success": true, "data": data}});
        let results: Vec<Value> = (0..3)
            .map(|n| entry(n, json!({"id": n.to_string(), "status": "queued"})))
            .collect();
        harness.answer(
            &call,
            Ok(json!({"success": true, "data": {"results": results}})),
        );
        for name in ["b-000", "b-001", "b-002"] {
            cancel(&mut harness, name);
        }
        let call = harness.call();
        assert_eq!((call.path, call.tasks.len()), (path::CANCEL_BATCH, 3));
        if has_batch {
            let ended =
                |n: usize| json!({"id": n.to_string(), "status": "failed", "canceled": true});
            let results: Vec<Value> = (0..3).map(|n| entry(n, ended(n))).collect();
            harness.answer(
                &call,
                Ok(json!({"success": true, "data": {"results": results}})),
            );
        } else {
            harness.answer(&call, Err(error(405)));
            for call in harness.calls() {
                assert_eq!(call.path, path::CANCEL);
                let id = call.body["id"].clone();
                let ended = json!({"id": id, "status": "failed", "canceled": true});
                harness.answer(&call, Ok(json!({"success": true, "data": ended})));
            }
        }
        for name in ["b-000", "b-001", "b-002"] {
            assert_eq!(harness.phase(name), Phase::Canceled, "{has_batch}");
        }
    }
}

/// Hiding a task does not withdraw the request.
#[test]
fn a_hidden_task_is_canceled() {
    let (mut harness, call) = canceling();
    harness.answer(&call, Err(network()));
    let now = harness.now;
    harness.engine.act(&key("a"), Action::StopWatching, now);
    // It is due early when the network returns, for example.
    harness.engine.wake(now);
    let call = harness.next_call();
    assert_eq!(call.kind, CallKind::Cancel);
    harness.answer(&call, canceled());
    assert_eq!(harness.phase("a"), Phase::Canceled);
}

#[test]
fn a_request_for_another_account_waits_for_it() {
    let mut harness = Harness::new();
    let call = harness.running();
    harness.answer(&call, progress("processing"));
    let ours = harness.engine.task(&key("a")).unwrap().account.clone();
    let other = Account {
        uid: "other".into(),
        ..ours.clone()
    };
    harness.engine.set_account(other, harness.now);
    cancel(&mut harness, "a");
    assert_eq!(harness.calls(), []);
    harness.engine.set_account(ours, harness.now);
    assert_eq!(harness.call().kind, CallKind::Cancel);
}

/// The user of this browser did not request it.
#[test]
fn an_imported_task_is_not_canceled() {
    let (harness, _) = canceling();
    let exported = harness.engine.task(&key("a")).unwrap().clone();
    let mut other = Harness::new();
    other.engine.import(vec![exported], other.now);
    assert_eq!(other.call().kind, CallKind::Status);
}

#[test]
fn offers_cancel_only_where_the_service_can_cancel() {
    let queued = task("a", START);
    let (harness, _) = canceling();
    let canceling = harness.engine.task(&key("a")).unwrap().clone();
    let mut running = canceling.clone();
    running.cancel = None;
    let offered = Action::offered_by;
    assert_eq!(offered(&queued, false), [Action::Cancel]);
    assert_eq!(offered(&queued, true), [Action::Cancel]);
    assert_eq!(offered(&running, false), [Action::StopWatching]);
    let both = [Action::CancelAtService, Action::StopWatching];
    assert_eq!(offered(&running, true), both);
    assert_eq!(offered(&canceling, true), [Action::StopWatching]);
    let mut hidden = running.clone();
    hidden.watching = false;
    let all = [Action::CancelAtService, Action::Watch, Action::Remove];
    assert_eq!(offered(&hidden, true), all);
}

#[test]
fn a_backward_jump_of_the_clock_does_not_delay_the_request() {
    let (mut harness, call) = canceling();
    harness.answer(&call, Err(network()));
    harness.now -= 86_400_000;
    let mut kinds = Vec::new();
    for _ in 0..4 {
        harness.engine.step(harness.now);
        harness.now = harness.engine.next_wake().unwrap();
        let call = harness.call();
        kinds.push(call.kind);
        harness.answer(&call, progress("processing"));
    }
    assert!(kinds.contains(&CallKind::Cancel), "{kinds:?}");
    assert!(harness.now < START);
}

/// A follower repeats its user's action until it sees that the leader has executed it.
#[test]
fn the_action_is_not_possible_twice() {
    let (harness, _) = canceling();
    let task = harness.engine.task(&key("a")).unwrap();
    assert!(!Action::CancelAtService.is_allowed(task));
}

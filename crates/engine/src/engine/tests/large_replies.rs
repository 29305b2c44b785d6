//! Tests responses that are too large, malformed or cut off.

use atelier_contract::ApiError;
use serde_json::{Value, json};

use super::harness::{Harness, network, progress};
use crate::engine::{Call, CallKind, Idempotency};
use crate::{Action, Phase, Task, TaskKey};

fn too_large() -> ApiError {
    ApiError::malformed(ApiError::TOO_LARGE)
}

fn cut() -> ApiError {
    ApiError::Network {
        detail: ApiError::CUT_OFF.into(),
    }
}

fn malformed() -> ApiError {
    ApiError::malformed("it is not JSON but begins “{”")
}

/// Returns the response of a service at which all tasks are completed.
fn good(call: &Call) -> Value {
    let count = call.tasks.len();
    let body = |at: usize| {
        let item = if count > 1 {
            &call.body["requests"][at]
        } else {
            &call.body
        };
        let id = item["id"]
            .as_str()
            .map_or(call.tasks[at].0.clone(), str::to_owned);
        let data = match call.kind {
            CallKind::Generate => json!({"id": id, "status": "starting"}),
            CallKind::Status | CallKind::Cancel => json!({"id": id, "status": "completed"}),
            CallKind::Response => {
                json!({"status": "completed", "output": ["https://x.example/a.png"]})
            }
        };
        json!({"success": true, "data": data})
    };
    if count == 1 {
        return body(0);
    }
    let results = (0..count).map(|at| json!({"index": at, "status": 200, "body": body(at)}));
    json!({"success": true, "data": {"results": results.collect::<Vec<_>>()}})
}

/// Runs a batch to its end and returns the number of items of each call of one kind. Responses to calls with more than
/// `most` items can't be read.
fn play(
    harness: &mut Harness,
    count: usize,
    kind: CallKind,
    most: usize,
    error: &ApiError,
) -> Vec<usize> {
    harness.submit_batch("a", count);
    let mut sizes = Vec::new();
    for _ in 0..200 {
        let Some(wake) = harness.engine.next_wake() else {
            return sizes;
        };
        harness.now = wake.max(harness.now);
        for call in harness.calls() {
            let is_of_kind = call.kind == kind;
            if is_of_kind {
                sizes.push(call.tasks.len());
            }
            let is_unreadable = is_of_kind && call.tasks.len() > most;
            let answer = if is_unreadable {
                Err(error.clone())
            } else {
                Ok(good(&call))
            };
            harness.answer(&call, answer);
        }
    }
    panic!("polled forever: {sizes:?}");
}

/// Guards against a batch that never completes, because its outputs together can't be read and the same call is
/// repeated forever.
#[test]
fn halves_calls_whose_responses_cannot_be_read() {
    for error in [cut(), too_large(), malformed()] {
        for kind in [CallKind::Response, CallKind::Status] {
            let mut harness = Harness::new();
            let sizes = play(&mut harness, 10, kind, 2, &error);
            assert_eq!(sizes, [10, 5, 5, 2, 2, 2, 2, 2], "{error:?}");
            let ready = harness
                .engine
                .tasks()
                .filter(|task| task.state.phase() == Phase::Ready);
            assert_eq!(ready.count(), 10, "{error:?}");
        }
    }
}

/// Guards against a batch that never completes, because the connection breaks before the outputs arrive and the same
/// call is repeated forever.
#[test]
fn halves_output_calls_whose_responses_never_arrive() {
    let mut harness = Harness::new();
    let sizes = play(&mut harness, 10, CallKind::Response, 2, &network());
    assert_eq!(sizes, [10, 5, 2, 2, 2, 2, 2]);
    let is_ready = |task: &&Task| task.state.phase() == Phase::Ready;
    assert_eq!(harness.engine.tasks().filter(is_ready).count(), 10);
}

/// An outage must not increase the number of calls.
#[test]
fn an_outage_makes_one_output_call_per_round() {
    let mut harness = Harness::new();
    harness.submit_batch("a", 10);
    let (mut calls, mut first_failure) = (Vec::new(), None);
    while first_failure.is_none_or(|first_failure| harness.now < first_failure + 600_000) {
        let wake = harness.engine.next_wake().unwrap();
        harness.now = wake.max(harness.now);
        for call in harness.calls() {
            if call.kind == CallKind::Response {
                first_failure.get_or_insert(harness.now);
                calls.push((harness.now, call.tasks.len()));
                harness.answer(&call, Err(network()));
            } else {
                harness.answer(&call, Ok(good(&call)));
            }
        }
    }
    // One call at a time. With all items in each call, there would be 25.
    assert!(calls.len() <= 32, "{calls:?}");
}

/// The number of items in a call must not stay limited forever.
#[test]
fn the_item_limit_recovers_after_a_while() {
    let mut harness = Harness::new();
    play(&mut harness, 10, CallKind::Response, 1, &too_large());
    harness.now += 600_000;
    harness.submit_batch("b", 10);
    let mut largest = 0;
    while let Some(wake) = harness.engine.next_wake() {
        harness.now = wake.max(harness.now);
        for call in harness.calls() {
            if call.kind == CallKind::Response {
                largest = largest.max(call.tasks.len());
            }
            harness.answer(&call, Ok(good(&call)));
        }
    }
    assert_eq!(largest, 10);
}

/// Guards against a second charge, because the submission may have been accepted.
#[test]
fn a_submission_with_an_unreadable_response_is_not_resent() {
    for error in [too_large(), cut(), malformed()] {
        let mut harness = Harness::new();
        harness.submit_batch("a", 10);
        let call = harness.call();
        harness.answer(&call, Err(error.clone()));
        assert!(
            harness
                .engine
                .tasks()
                .all(|task| task.state.phase() == Phase::Unconfirmed)
        );
        harness.now += 3_600_000;
        assert_eq!(harness.calls(), [], "{error:?}");
        // The next submissions have fewer items.
        harness.now -= 3_600_000;
        harness.submit_batch("b", 10);
        let mut sizes = Vec::new();
        while sizes.iter().sum::<usize>() < 10 {
            harness.now = harness.engine.next_wake().unwrap();
            for call in harness.calls() {
                if call.kind == CallKind::Generate {
                    sizes.push(call.tasks.len());
                }
                harness.answer(&call, Ok(good(&call)));
            }
        }
        assert!(sizes.iter().all(|size| *size <= 5), "{error:?}: {sizes:?}");
    }
}

/// With a key, the submission can be repeated, and with fewer items its response can be read.
#[test]
fn with_keys_an_unreadable_submission_is_resent_in_halves() {
    let mut harness = Harness::new();
    let support = Idempotency::For(86_400_000);
    let address = super::world::account().address;
    harness
        .engine
        .set_idempotency(&address, support, harness.now);
    let sizes = play(&mut harness, 10, CallKind::Generate, 2, &too_large());
    assert_eq!(sizes[0], 10);
    assert!(sizes[1..].iter().all(|size| *size <= 5), "{sizes:?}");
    assert!(
        harness
            .engine
            .tasks()
            .all(|task| task.state.phase() == Phase::Ready)
    );
}

/// Guards against downloading many megabytes twice a minute forever.
#[test]
fn polls_an_unreadable_output_at_growing_intervals() {
    for error in [cut(), malformed()] {
        let mut harness = Harness::new();
        let call = harness.running();
        harness.answer(&call, progress("completed"));
        let mut call = harness.call();
        let end = harness.now + 3_600_000;
        let mut calls = 0;
        while harness.now < end {
            assert_eq!(call.kind, CallKind::Response);
            calls += 1;
            harness.answer(&call, Err(error.clone()));
            call = harness.next_call();
        }
        assert!(calls < 30, "{calls} calls in an hour");
        let task = harness.engine.task(&TaskKey("a".into())).unwrap();
        assert!(task.poll_error.is_some() && task.is_active());
        assert!(Action::offered(task).contains(&Action::StopWatching));
        harness.answer(&call, Ok(good(&call)));
        assert_eq!(harness.phase("a"), Phase::Ready);
    }
}

/// Guards against polling all tasks one by one because of a single task.
#[test]
fn a_task_with_unreadable_responses_is_polled_alone() {
    let mut harness = Harness::new();
    harness.submit_batch("a", 10);
    let call = harness.call();
    harness.answer(&call, Ok(good(&call)));
    let bad = TaskKey("a-003".into());
    let mut shared = 0;
    for _ in 0..60 {
        harness.now = harness.engine.next_wake().expect("a wake time");
        for call in harness.calls() {
            let is_bad = call.tasks.contains(&bad);
            let running = |_| json!({"status": 200, "body": {"success": true, "data": {"status": "processing"}}});
            let answer = match call.tasks.len() {
                _ if is_bad => Err(malformed()),
                1 => Ok(json!({"success": true, "data": {"status": "processing"}})),
                count => Ok(json!({"success": true, "data": {
                    "results": (0..count).map(running).collect::<Vec<_>>()}})),
            };
            shared = if is_bad && call.tasks.len() > 1 {
                0
            } else {
                shared.max(call.tasks.len())
            };
            harness.answer(&call, answer);
        }
    }
    assert!(shared >= 2, "no calls are shared");
}

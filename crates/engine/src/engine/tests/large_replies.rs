//! Replies that are too large to read, malformed or cut off.

use atelier_contract::ApiError;
use serde_json::{Value, json};

use super::hand::{Hand, network, progress};
use crate::engine::{Call, CallKind, Idempotency};
use crate::{Action, Phase, Task, TaskKey};

fn too_large() -> ApiError {
    ApiError::malformed(ApiError::TOO_LARGE)
}

fn cut() -> ApiError {
    ApiError::Network {
        detail: ApiError::CUT.into(),
    }
}

fn malformed() -> ApiError {
    ApiError::malformed("it is not JSON but begins “{”")
}

/// What a good service answers; all tasks are completed.
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
            CallKind::Status => json!({"id": id, "status": "completed"}),
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

/// Lets a batch come to its end, and gives the calls of one kind, each by the number of its items. Replies to those with
/// more than `most` items can't be read.
fn play(
    hand: &mut Hand,
    count: usize,
    kind: CallKind,
    most: usize,
    error: &ApiError,
) -> Vec<usize> {
    hand.submit_batch("a", count);
    let mut sizes = Vec::new();
    for _ in 0..200 {
        let Some(wake) = hand.engine.next_wake() else {
            return sizes;
        };
        hand.now = wake.max(hand.now);
        for call in hand.calls() {
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
            hand.answer(&call, answer);
        }
    }
    panic!("asked for ever: {sizes:?}");
}

/// Guards against a batch that never completes: its outputs together are larger than what is read of a reply, or break
/// off each time, and the same call was made again for ever.
#[test]
fn what_cannot_be_read_together_is_asked_for_in_halves() {
    for error in [cut(), too_large(), malformed()] {
        for kind in [CallKind::Response, CallKind::Status] {
            let mut hand = Hand::new();
            let sizes = play(&mut hand, 10, kind, 2, &error);
            assert_eq!(sizes, [10, 5, 5, 2, 2, 2, 2, 2], "{error:?}");
            let ready = hand
                .engine
                .tasks()
                .filter(|task| task.state.phase() == Phase::Ready);
            assert_eq!(ready.count(), 10, "{error:?}");
        }
    }
}

/// Guards against a batch that never completes: the connection breaks each time before anything of its outputs arrives,
/// and the same call was made again for ever.
#[test]
fn what_never_arrives_together_is_asked_for_in_halves() {
    let mut hand = Hand::new();
    let sizes = play(&mut hand, 10, CallKind::Response, 2, &network());
    assert_eq!(sizes, [10, 5, 2, 2, 2, 2, 2]);
    let is_ready = |task: &&Task| task.state.phase() == Phase::Ready;
    assert_eq!(hand.engine.tasks().filter(is_ready).count(), 10);
}

/// Guards against more calls, not fewer, while there is no answer.
#[test]
fn an_outage_costs_no_more_calls_for_outputs_than_one_a_round() {
    let mut hand = Hand::new();
    hand.submit_batch("a", 10);
    let (mut calls, mut begun) = (Vec::new(), None);
    while begun.is_none_or(|begun| hand.now < begun + 600_000) {
        let wake = hand.engine.next_wake().unwrap();
        hand.now = wake.max(hand.now);
        for call in hand.calls() {
            if call.kind == CallKind::Response {
                begun.get_or_insert(hand.now);
                calls.push((hand.now, call.tasks.len()));
                hand.answer(&call, Err(network()));
            } else {
                hand.answer(&call, Ok(good(&call)));
            }
        }
    }
    // One at a time; with all items in each they are 25.
    assert!(calls.len() <= 32, "{calls:?}");
}

/// Guards against single calls for the rest of the day.
#[test]
fn calls_have_more_items_again_after_a_while() {
    let mut hand = Hand::new();
    play(&mut hand, 10, CallKind::Response, 1, &too_large());
    hand.now += 600_000;
    hand.submit_batch("b", 10);
    let mut largest = 0;
    while let Some(wake) = hand.engine.next_wake() {
        hand.now = wake.max(hand.now);
        for call in hand.calls() {
            if call.kind == CallKind::Response {
                largest = largest.max(call.tasks.len());
            }
            hand.answer(&call, Ok(good(&call)));
        }
    }
    assert_eq!(largest, 10);
}

/// Guards against tasks that are paid twice: the answer to their submission was not read.
#[test]
fn a_submission_whose_reply_cannot_be_read_is_not_sent_twice() {
    for error in [too_large(), cut(), malformed()] {
        let mut hand = Hand::new();
        hand.submit_batch("a", 10);
        let call = hand.call();
        hand.answer(&call, Err(error.clone()));
        assert!(
            hand.engine
                .tasks()
                .all(|task| task.state.phase() == Phase::Unconfirmed)
        );
        hand.now += 3_600_000;
        assert_eq!(hand.calls(), [], "{error:?}");
        // What comes next is answered in smaller parts.
        hand.now -= 3_600_000;
        hand.submit_batch("b", 10);
        let mut sizes = Vec::new();
        while sizes.iter().sum::<usize>() < 10 {
            hand.now = hand.engine.next_wake().unwrap();
            for call in hand.calls() {
                if call.kind == CallKind::Generate {
                    sizes.push(call.tasks.len());
                }
                hand.answer(&call, Ok(good(&call)));
            }
        }
        assert!(sizes.iter().all(|size| *size <= 5), "{error:?}: {sizes:?}");
    }
}

/// With a key that the service takes once, the answer may be asked for again, and with fewer items it can be read.
#[test]
fn under_keys_a_submission_is_repeated_in_halves() {
    let mut hand = Hand::new();
    let said = Idempotency::For(86_400_000);
    let address = super::world::account().address;
    hand.engine.set_idempotency(&address, said, hand.now);
    let sizes = play(&mut hand, 10, CallKind::Generate, 2, &too_large());
    assert_eq!(sizes[0], 10);
    assert!(sizes[1..].iter().all(|size| *size <= 5), "{sizes:?}");
    assert!(
        hand.engine
            .tasks()
            .all(|task| task.state.phase() == Phase::Ready)
    );
}

/// Guards against many megabytes that are fetched twice a minute, for ever.
#[test]
fn one_output_that_cannot_be_read_is_asked_for_less_and_less_often() {
    for error in [cut(), malformed()] {
        let mut hand = Hand::new();
        let call = hand.running();
        hand.answer(&call, progress("completed"));
        let mut call = hand.call();
        let end = hand.now + 3_600_000;
        let mut calls = 0;
        while hand.now < end {
            assert_eq!(call.kind, CallKind::Response);
            calls += 1;
            hand.answer(&call, Err(error.clone()));
            call = hand.next_call();
        }
        assert!(calls < 30, "{calls} in an hour");
        let task = hand.engine.task(&TaskKey("a".into())).unwrap();
        assert!(task.poll_error.is_some() && task.is_active());
        assert!(Action::offered(task).contains(&Action::StopWatching));
        hand.answer(&call, Ok(good(&call)));
        assert_eq!(hand.phase("a"), Phase::Ready);
    }
}

/// Guards against one task on whose account all others are asked about one by one.
#[test]
fn one_task_that_spoils_replies_is_asked_about_alone() {
    let mut hand = Hand::new();
    hand.submit_batch("a", 10);
    let call = hand.call();
    hand.answer(&call, Ok(good(&call)));
    let bad = TaskKey("a-003".into());
    let mut shared = 0;
    for _ in 0..60 {
        hand.now = hand.engine.next_wake().expect("something to do");
        for call in hand.calls() {
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
            hand.answer(&call, answer);
        }
    }
    assert!(shared >= 2, "each is asked about alone");
}

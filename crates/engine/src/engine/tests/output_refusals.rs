//! Completed tasks whose output the service refuses.

use atelier_contract::ApiError;
use serde_json::json;

use super::hand::{Hand, progress};
use crate::engine::{Call, CallKind};
use crate::{Action, Phase, TaskKey, TaskState};

fn refusal(status: u16) -> ApiError {
    let body = json!({"success": false, "message": "at most 2500 characters"});
    ApiError::from_status(status, Some(&body), None)
}

/// Returns a completed task and the call for its output.
fn fetching() -> (Hand, Call) {
    let mut hand = Hand::new();
    let call = hand.running();
    hand.answer(&call, progress("completed"));
    let call = hand.next_call();
    assert_eq!(call.kind, CallKind::Response);
    (hand, call)
}

/// Guards against a task that is fetched forever, because a 4xx was retried like a network error.
#[test]
fn a_task_fails_after_repeated_output_refusals() {
    for status in [400, 422, 451] {
        let (mut hand, mut call) = fetching();
        let first = hand.now;
        let mut tries = 0;
        loop {
            hand.answer(&call, Err(refusal(status)));
            tries += 1;
            if hand.phase("a") == Phase::Failed {
                break;
            }
            assert!(tries < 20, "{status}: asked for ever");
            call = hand.next_call();
        }
        assert!(
            tries >= 4 && hand.now - first >= 120_000,
            "believed too soon"
        );
        let TaskState::Failed { id, message } = hand.state("a") else {
            unreachable!()
        };
        assert!(id.is_some());
        assert!(message.contains("at most 2500 characters"), "{message}");
        assert_eq!(hand.engine.next_wake(), None);
        let task = hand.engine.task(&TaskKey("a".into())).unwrap();
        assert!(task.poll_error.is_none(), "it is not asked again");
    }
}

/// Errors that depend on time, credit or credentials are not final, and neither is a refusal between other errors.
#[test]
fn other_output_errors_are_retried_forever() {
    for kinds in [&[500][..], &[402], &[409], &[425], &[500, 422, 422, 422]] {
        let (mut hand, mut call) = fetching();
        for turn in 0..40 {
            hand.answer(&call, Err(refusal(kinds[turn % kinds.len()])));
            assert_eq!(hand.phase("a"), Phase::Fetching, "{kinds:?}");
            call = hand.next_call();
        }
        let output = json!({"status": "completed", "output": ["https://x.example/a.png"]});
        hand.answer(&call, Ok(json!({"success": true, "data": output})));
        assert_eq!(hand.phase("a"), Phase::Ready, "{kinds:?}");
    }
}

/// Guards against a paid result that only a second paid run could give, because its output was refused for a while.
#[test]
fn a_refused_output_can_be_requested_again() {
    let (mut hand, mut call) = fetching();
    while hand.phase("a") == Phase::Fetching {
        hand.answer(&call, Err(refusal(422)));
        if hand.phase("a") == Phase::Fetching {
            call = hand.next_call();
        }
    }
    let key = TaskKey("a".into());
    let ask = |hand: &mut Hand| {
        let task = hand.engine.task(&key).unwrap();
        assert_eq!(Action::offered(task), [Action::AskAgain, Action::Remove]);
        hand.engine.act(&key, Action::AskAgain, hand.now);
        let call = hand.next_call();
        assert_eq!(call.kind, CallKind::Response);
        call
    };
    let call = ask(&mut hand);
    hand.answer(&call, Err(refusal(422)));
    assert_eq!(hand.phase("a"), Phase::Failed);
    let task = hand.engine.task(&key).unwrap();
    assert_eq!(
        task.refreshed,
        Some(hand.now),
        "the page says that it was answered"
    );
    assert_eq!(
        hand.engine.next_wake(),
        None,
        "it is asked once for each press"
    );
    let call = ask(&mut hand);
    let output = json!({"status": "completed", "output": ["https://x.example/a.png"]});
    hand.answer(&call, Ok(json!({"success": true, "data": output})));
    assert_eq!(hand.phase("a"), Phase::Ready);
}

/// A task that failed at the service has no output to ask for.
#[test]
fn a_task_failed_by_the_service_offers_no_refetch() {
    let mut hand = Hand::new();
    let call = hand.running();
    hand.answer(&call, progress("failed"));
    let task = hand.engine.task(&TaskKey("a".into())).unwrap();
    assert_eq!(Action::offered(task), [Action::Remove]);
}

//! Tests completed tasks whose output the service refuses.

use atelier_contract::ApiError;
use serde_json::json;

use super::harness::{Harness, progress};
use crate::engine::{Call, CallKind};
use crate::{Action, Phase, TaskKey, TaskState};

fn refusal(status: u16) -> ApiError {
    let body = json!({"success": false, "message": "at most 2500 characters"});
    ApiError::from_status(status, Some(&body), None)
}

/// Returns a completed task and the call for its output.
fn fetching() -> (Harness, Call) {
    let mut harness = Harness::new();
    let call = harness.running();
    harness.answer(&call, progress("completed"));
    let call = harness.next_call();
    assert_eq!(call.kind, CallKind::Response);
    (harness, call)
}

/// Guards against retrying a 4xx forever, like a network error.
#[test]
fn a_task_fails_after_repeated_output_refusals() {
    for status in [400, 422, 451] {
        let (mut harness, mut call) = fetching();
        let first = harness.now;
        let mut tries = 0;
        loop {
            harness.answer(&call, Err(refusal(status)));
            tries += 1;
            if harness.phase("a") == Phase::Failed {
                break;
            }
            assert!(tries < 20, "{status}: polled forever");
            call = harness.next_call();
        }
        assert!(
            tries >= 4 && harness.now - first >= 120_000,
            "failed too early"
        );
        let TaskState::Failed { id, message } = harness.state("a") else {
            unreachable!()
        };
        assert!(id.is_some());
        assert!(message.contains("at most 2500 characters"), "{message}");
        assert_eq!(harness.engine.next_wake(), None);
        let task = harness.engine.task(&TaskKey("a".into())).unwrap();
        assert!(task.poll_error.is_none(), "not retried");
    }
}

/// Errors that depend on time, credit or credentials are not final. A refusal between other errors is not final either.
#[test]
fn other_output_errors_are_retried_forever() {
    for kinds in [&[500][..], &[402], &[409], &[425], &[500, 422, 422, 422]] {
        let (mut harness, mut call) = fetching();
        for turn in 0..40 {
            harness.answer(&call, Err(refusal(kinds[turn % kinds.len()])));
            assert_eq!(harness.phase("a"), Phase::Fetching, "{kinds:?}");
            call = harness.next_call();
        }
        let output = json!({"status": "completed", "output": ["https://x.example/a.png"]});
        harness.answer(&call, Ok(json!({"success": true, "data": output})));
        assert_eq!(harness.phase("a"), Phase::Ready, "{kinds:?}");
    }
}

/// The service may refuse the output only for a while. The user must not have to pay for a second run.
#[test]
fn a_refused_output_can_be_requested_again() {
    let (mut harness, mut call) = fetching();
    while harness.phase("a") == Phase::Fetching {
        harness.answer(&call, Err(refusal(422)));
        if harness.phase("a") == Phase::Fetching {
            call = harness.next_call();
        }
    }
    let key = TaskKey("a".into());
    let ask = |harness: &mut Harness| {
        let task = harness.engine.task(&key).unwrap();
        assert_eq!(Action::offered(task), [Action::AskAgain, Action::Remove]);
        harness.engine.act(&key, Action::AskAgain, harness.now);
        let call = harness.next_call();
        assert_eq!(call.kind, CallKind::Response);
        call
    };
    let call = ask(&mut harness);
    harness.answer(&call, Err(refusal(422)));
    assert_eq!(harness.phase("a"), Phase::Failed);
    let task = harness.engine.task(&key).unwrap();
    assert_eq!(
        task.refreshed,
        Some(harness.now),
        "the page shows that there was an answer"
    );
    assert_eq!(harness.engine.next_wake(), None, "one request per press");
    let call = ask(&mut harness);
    let output = json!({"status": "completed", "output": ["https://x.example/a.png"]});
    harness.answer(&call, Ok(json!({"success": true, "data": output})));
    assert_eq!(harness.phase("a"), Phase::Ready);
}

/// A task that the service reported as failed has no output.
#[test]
fn a_task_failed_by_the_service_offers_no_refetch() {
    let mut harness = Harness::new();
    let call = harness.running();
    harness.answer(&call, progress("failed"));
    let task = harness.engine.task(&TaskKey("a".into())).unwrap();
    assert_eq!(Action::offered(task), [Action::Remove]);
}

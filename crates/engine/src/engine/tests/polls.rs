//! Tests responses to polls, and when they are trusted.

use atelier_contract::ApiError;
use serde_json::{Value, json};

use super::harness::{Harness, error, network, progress};
use crate::engine::CallKind;
use crate::{Action, Phase, TaskKey, TaskState};

#[test]
fn failed_polls_keep_the_state_and_are_retried_forever() {
    let mut harness = Harness::new();
    let mut call = harness.running();
    let began = harness.now;
    for failure in 1..=50 {
        let before = harness.now;
        harness.answer(
            &call,
            Err(if failure % 2 == 0 {
                error(500)
            } else {
                network()
            }),
        );
        assert_eq!(harness.phase("a"), Phase::Running);
        let poll_error = harness
            .engine
            .task(&TaskKey("a".into()))
            .unwrap()
            .poll_error
            .clone();
        assert_eq!(poll_error.unwrap().since, began);
        call = harness.next_call();
        assert!(harness.now - before <= 37_500);
    }
    harness.answer(&call, progress("processing"));
    assert_eq!(
        harness
            .engine
            .task(&TaskKey("a".into()))
            .unwrap()
            .poll_error,
        None
    );
}

#[test]
fn a_task_is_gone_after_two_404s() {
    let mut harness = Harness::new();
    let call = harness.running();
    harness.answer(&call, Err(error(404)));
    assert_eq!(harness.phase("a"), Phase::Running);
    let first = harness.now;
    // A 404 after one second is too early to count.
    harness.now += 1_000;
    harness.engine.wake(harness.now);
    let call = harness.call();
    harness.answer(&call, Err(error(404)));
    assert_eq!(harness.phase("a"), Phase::Running);
    let call = harness.next_call();
    assert!(harness.now - first >= 5_000);
    harness.answer(&call, Err(error(404)));
    assert_eq!(harness.phase("a"), Phase::Gone);
    harness.now += 59_000;
    assert!(harness.calls().is_empty(), "not polled for a minute");
}

/// Guards against losing a paid task because of a gateway that answers for the service for a few seconds with a 404.
#[test]
fn a_404_from_a_gateway_is_trusted_later() {
    let gateway = || {
        let body = json!({"message": "no Route matched with those values"});
        ApiError::from_status(404, Some(&body), None)
    };
    let mut harness = Harness::new();
    let mut call = harness.running();
    let first = harness.now;
    while harness.now - first < 55_000 {
        harness.answer(&call, Err(gateway()));
        assert_eq!(harness.phase("a"), Phase::Running);
        call = harness.next_call();
    }
    harness.answer(&call, progress("processing"));
    assert_eq!(harness.phase("a"), Phase::Running);
}

/// The gateway answered for so long that the task became Gone.
#[test]
fn a_gone_task_is_polled_and_can_return() {
    let mut harness = Harness::new();
    let mut call = harness.running();
    while harness.phase("a") != Phase::Gone {
        harness.answer(&call, Err(error(404)));
        call = harness.next_call();
    }
    assert_eq!(call.kind, CallKind::Response);
    let gone = harness.now;
    harness.answer(&call, Err(error(404)));
    assert_eq!(harness.phase("a"), Phase::Gone);
    let call = harness.next_call();
    assert!(harness.now - gone >= 60_000, "growing intervals");
    harness.answer(
        &call,
        Ok(json!({"success": true, "data": {"status": "processing", "output": []}})),
    );
    assert_eq!(harness.phase("a"), Phase::Running, "known and unfinished");
    let task = harness.engine.task(&TaskKey("a".into()));
    assert!(task.is_some_and(|task| task.finished.is_none()));
    let call = harness.next_call();
    harness.answer(&call, progress("completed"));
    let call = harness.next_call();
    harness.answer(
        &call,
        Ok(json!({"success": true, "data": {"status": "completed", "output": ["https://x.example/a.png"]}})),
    );
    assert_eq!(harness.phase("a"), Phase::Ready);
    assert_eq!(harness.engine.next_wake(), None);
}

/// A service that has forgotten a task is not polled forever, but the user can ask at any time.
#[test]
fn a_gone_task_is_polled_for_an_hour_and_on_request() {
    let mut harness = Harness::new();
    let mut call = harness.running();
    let mut asked = 0;
    loop {
        harness.answer(&call, Err(error(404)));
        if harness.engine.next_wake().is_none() {
            break;
        }
        asked += 1;
        assert!(asked < 20, "polled forever");
        call = harness.next_call();
    }
    assert_eq!(harness.phase("a"), Phase::Gone);
    harness.now += 86_400_000;
    assert!(harness.calls().is_empty());
    harness
        .engine
        .act(&TaskKey("a".into()), Action::AskAgain, harness.now);
    let call = harness.call();
    harness.answer(&call, Err(error(404)));
    assert_eq!(harness.engine.next_wake(), None);
}

#[test]
fn an_answer_between_404s_keeps_a_task() {
    let mut harness = Harness::new();
    let mut call = harness.running();
    for answer in [
        Err(error(404)),
        progress("processing"),
        Err(error(404)),
        Err(error(502)),
        Err(error(404)),
    ] {
        harness.answer(&call, answer);
        call = harness.next_call();
    }
    let empty_404 = || Err(ApiError::from_status(404, None, None));
    harness.answer(&call, progress("processing"));
    let began = harness.now;
    while harness.phase("a") == Phase::Running {
        let call = harness.next_call();
        harness.answer(&call, empty_404());
    }
    assert!(harness.now - began >= 60_000);
}

#[test]
fn ignores_a_status_of_another_task() {
    let mut harness = Harness::new();
    let call = harness.running();
    harness.answer(
        &call,
        Ok(json!({"success": true, "data": {"id": "2", "status": "failed"}})),
    );
    assert_eq!(harness.phase("a"), Phase::Running);
    assert!(
        harness
            .engine
            .task(&TaskKey("a".into()))
            .unwrap()
            .poll_error
            .is_some()
    );
}

#[test]
fn completed_without_output_is_polled_a_few_times() {
    let mut harness = Harness::new();
    let call = harness.running();
    harness.answer(&call, progress("completed"));
    let mut asked = 0;
    while harness.phase("a") == Phase::Fetching {
        let call = harness.next_call();
        asked += 1;
        harness.answer(
            &call,
            Ok(json!({"success": true, "data": {"status": "completed"}})),
        );
    }
    assert!(matches!(harness.state("a"), TaskState::Ready { outputs, .. } if outputs.is_empty()));
    assert!((2..10).contains(&asked));
}

#[test]
fn a_premature_completed_returns_to_status_polls() {
    let mut harness = Harness::new();
    let call = harness.running();
    harness.answer(&call, progress("completed"));
    let call = harness.call();
    harness.answer(&call, progress("processing"));
    assert_eq!(harness.phase("a"), Phase::Running);
    assert_eq!(harness.next_call().kind, CallKind::Status);
}

#[test]
fn refetched_urls_replace_old_ones_unless_empty() {
    let mut harness = Harness::new();
    let call = harness.running();
    harness.answer(&call, progress("completed"));
    let call = harness.call();
    let output =
        |urls: Value| Ok(json!({"success": true, "data": {"status": "completed", "output": urls}}));
    harness.answer(&call, output(json!(["old"])));
    let key = TaskKey("a".into());
    for (answer, expected) in [
        (output(json!([])), "old"),
        (Err(error(404)), "old"),
        (output(json!(["new"])), "new"),
    ] {
        harness.engine.act(&key, Action::Refetch, harness.now);
        harness.engine.act(&key, Action::Refetch, harness.now);
        let call = harness.call();
        assert_eq!(call.kind, CallKind::Response);
        harness.answer(&call, answer);
        assert!(
            matches!(harness.state("a"), TaskState::Ready { outputs, .. } if outputs == [expected])
        );
        assert!(harness.calls().is_empty(), "fetched once");
        // A refetch is saved even if nothing else has changed, so that the page can react.
        let last_saved = harness
            .saved
            .last()
            .map(|task| (&task.state, task.refreshed));
        assert_eq!(last_saved, Some((&harness.state("a"), Some(harness.now))));
    }
}

/// The progress message of a service is shown only while the task runs.
#[test]
fn progress_is_cleared_when_the_run_ends() {
    let mut harness = Harness::new();
    harness.submit(&["a"]);
    let call = harness.call();
    harness.answer(&call, Ok(json!({"data": {"id": "t1", "status": "queued"}})));
    let key = TaskKey("a".into());
    let mut poll_with = |data: Value| {
        let call = harness.next_call();
        harness.answer(&call, Ok(json!({"data": data})));
        harness.engine.task(&key).unwrap().progress.clone()
    };
    let line = poll_with(json!({"id": "t1", "status": "processing", "progress": "step 3 of 20"}));
    assert_eq!(line.as_deref(), Some("step 3 of 20"));
    assert_eq!(poll_with(json!({"id": "t1", "status": "processing"})), None);
    poll_with(json!({"id": "t1", "status": "processing", "progress": 0.5, "preview": "/p.png"}));
    let data = json!({"id": "t1", "status": "completed", "progress": "20 of 20"});
    assert_eq!(poll_with(data), None);
    let task = harness.engine.task(&key).unwrap();
    assert_eq!((task.fraction, &task.preview), (None, &None));
}

/// Guards against a write to storage at each poll, and against more polls because the progress changes.
#[test]
fn a_change_of_progress_alone_is_shown_and_neither_stored_nor_polled_more_often() {
    let polls = |is_growing: bool| {
        let mut harness = Harness::new();
        let mut call = harness.running();
        harness.answer(&call, progress("processing"));
        call = harness.next_call();
        harness.saved.clear();
        let mut times = Vec::new();
        for step in 1..=20 {
            let mut body = progress("processing").unwrap();
            if is_growing {
                body["data"]["progress"] = json!(f64::from(step) / 20.0);
                body["data"]["message"] = json!(format!("step {step}"));
                body["data"]["preview"] = json!(format!("/previews/{step}.jpg"));
            }
            harness.answer(&call, Ok(body));
            call = harness.next_call();
            times.push(harness.now);
        }
        assert!(harness.saved.is_empty(), "{:?}", harness.saved);
        (harness, times)
    };
    let (harness, growing) = polls(true);
    assert_eq!(harness.shown.len(), 20);
    let last = harness.shown.last().unwrap();
    assert_eq!(
        (last.fraction, last.progress.as_deref()),
        (Some(1.0), Some("step 20"))
    );
    assert_eq!(last.preview.as_deref(), Some("/previews/20.jpg"));
    let (harness, unchanged) = polls(false);
    assert!(harness.shown.is_empty());
    assert_eq!(growing, unchanged);
}

/// The duration of such a task is unknown, because it may have ended before the poll.
#[test]
fn an_end_after_a_gap_in_polling_is_marked_unseen() {
    for (away, answers, is_unseen) in [
        (2_000, vec!["completed"], false),
        (40_000, vec!["completed"], true),
        // The task was still running after the gap.
        (40_000, vec!["processing", "completed"], false),
        (40_000, vec!["failed"], true),
    ] {
        let mut harness = Harness::new();
        let mut poll = harness.running();
        harness.now += away;
        for (at, word) in answers.into_iter().enumerate() {
            if at > 0 {
                poll = harness.next_call();
            }
            harness.answer(&poll, progress(word));
        }
        let task = harness.engine.task(&TaskKey("a".into())).unwrap();
        assert_eq!(task.ended_unseen, is_unseen, "{away}");
    }
}

/// Guards against repeating a large download forever.
#[test]
fn an_oversized_output_is_refetched_only_on_request() {
    let mut harness = Harness::new();
    let call = harness.running();
    let too_large = || Err(ApiError::malformed(ApiError::TOO_LARGE));
    harness.answer(&call, progress("completed"));
    let call = harness.call();
    harness.answer(&call, too_large());
    let key = TaskKey("a".into());
    let stopped = harness.engine.task(&key).unwrap().clone();
    assert_eq!(stopped.label(), "Not read");
    assert!(!stopped.is_active() && stopped.poll_error.is_some());
    harness.now += 86_400_000;
    harness.engine.wake(harness.now);
    assert!(harness.calls().is_empty());
    // The same applies at the next visit.
    assert_eq!(harness.saved.last(), Some(&stopped));
    harness.engine.act(&key, Action::Watch, harness.now);
    let call = harness.call();
    harness.answer(&call, too_large());
    assert!(harness.calls().is_empty());
    harness.engine.act(&key, Action::Watch, harness.now);
    let call = harness.call();
    let output = json!({"success": true, "data": {"status": "completed", "output": ["u"]}});
    harness.answer(&call, Ok(output));
    assert_eq!(harness.phase("a"), Phase::Ready);
}

/// Ten outputs may be too large together, but not alone.
#[test]
fn outputs_too_large_together_are_fetched_singly() {
    let mut harness = Harness::new();
    harness.submit_batch("a", 2);
    let call = harness.call();
    let entry = |index: usize| {
        json!({"index": index, "status": 200, "body": {
        "success": true, "data": {"id": format!("{index}"), "status": "starting"}}})
    };
    let results = [entry(0), entry(1)];
    harness.answer(
        &call,
        Ok(json!({"success": true, "data": {"results": results}})),
    );
    let call = harness.next_call();
    assert_eq!(call.tasks.len(), 2);
    harness.answer(&call, Err(ApiError::malformed(ApiError::TOO_LARGE)));
    let calls = harness.calls();
    assert_eq!(calls.len(), 2);
    assert!(calls.iter().all(|call| call.tasks.len() == 1));
    // A submission is never repeated for that reason.
    let mut harness = Harness::new();
    harness.submit_batch("a", 2);
    let call = harness.call();
    harness.answer(&call, Err(ApiError::malformed(ApiError::TOO_LARGE)));
    assert_eq!(harness.phase("a-000"), Phase::Unconfirmed);
}

//! Responses to polls, and when they are trusted.

use atelier_contract::ApiError;
use serde_json::{Value, json};

use super::hand::{Hand, error, network, progress};
use crate::engine::CallKind;
use crate::{Action, Phase, TaskKey, TaskState};

#[test]
fn failed_polls_keep_the_state_and_are_retried_forever() {
    let mut hand = Hand::new();
    let mut call = hand.running();
    let began = hand.now;
    for failure in 1..=50 {
        let before = hand.now;
        hand.answer(
            &call,
            Err(if failure % 2 == 0 {
                error(500)
            } else {
                network()
            }),
        );
        assert_eq!(hand.phase("a"), Phase::Running);
        let trouble = hand
            .engine
            .task(&TaskKey("a".into()))
            .unwrap()
            .poll_error
            .clone();
        assert_eq!(trouble.unwrap().since, began);
        call = hand.next_call();
        assert!(hand.now - before <= 37_500);
    }
    hand.answer(&call, progress("processing"));
    assert_eq!(
        hand.engine.task(&TaskKey("a".into())).unwrap().poll_error,
        None
    );
}

#[test]
fn a_task_is_gone_after_two_404s() {
    let mut hand = Hand::new();
    let call = hand.running();
    hand.answer(&call, Err(error(404)));
    assert_eq!(hand.phase("a"), Phase::Running);
    let first = hand.now;
    // Polled again at once: too early to count.
    hand.now += 1_000;
    hand.engine.wake(hand.now);
    let call = hand.call();
    hand.answer(&call, Err(error(404)));
    assert_eq!(hand.phase("a"), Phase::Running);
    let call = hand.next_call();
    assert!(hand.now - first >= 5_000);
    hand.answer(&call, Err(error(404)));
    assert_eq!(hand.phase("a"), Phase::Gone);
    hand.now += 59_000;
    assert!(
        hand.calls().is_empty(),
        "it is not asked about for a minute"
    );
}

/// Guards against losing a paid task because a gateway answered for the service for a few seconds, and its 404 with a
/// message was trusted like the service's own.
#[test]
fn a_404_from_a_gateway_is_trusted_later() {
    let gateway = || {
        let body = json!({"message": "no Route matched with those values"});
        ApiError::from_status(404, Some(&body), None)
    };
    let mut hand = Hand::new();
    let mut call = hand.running();
    let first = hand.now;
    while hand.now - first < 55_000 {
        hand.answer(&call, Err(gateway()));
        assert_eq!(hand.phase("a"), Phase::Running);
        call = hand.next_call();
    }
    hand.answer(&call, progress("processing"));
    assert_eq!(hand.phase("a"), Phase::Running);
}

/// The same if it lasted so long that the task became Gone.
#[test]
fn a_gone_task_is_polled_and_can_return() {
    let mut hand = Hand::new();
    let mut call = hand.running();
    while hand.phase("a") != Phase::Gone {
        hand.answer(&call, Err(error(404)));
        call = hand.next_call();
    }
    assert_eq!(call.kind, CallKind::Response);
    let gone = hand.now;
    hand.answer(&call, Err(error(404)));
    assert_eq!(hand.phase("a"), Phase::Gone);
    let call = hand.next_call();
    assert!(hand.now - gone >= 60_000, "less and less often");
    hand.answer(
        &call,
        Ok(json!({"success": true, "data": {"status": "processing", "output": []}})),
    );
    assert_eq!(hand.phase("a"), Phase::Running, "known, and not done");
    let task = hand.engine.task(&TaskKey("a".into()));
    assert!(task.is_some_and(|task| task.finished.is_none()));
    let call = hand.next_call();
    hand.answer(&call, progress("completed"));
    let call = hand.next_call();
    hand.answer(
        &call,
        Ok(json!({"success": true, "data": {"status": "completed", "output": ["https://x.example/a.png"]}})),
    );
    assert_eq!(hand.phase("a"), Phase::Ready);
    assert_eq!(hand.engine.next_wake(), None);
}

/// A service that has forgotten a task is not polled forever; the user may ask at any time.
#[test]
fn a_gone_task_is_polled_for_an_hour_and_on_request() {
    let mut hand = Hand::new();
    let mut call = hand.running();
    let mut asked = 0;
    loop {
        hand.answer(&call, Err(error(404)));
        if hand.engine.next_wake().is_none() {
            break;
        }
        asked += 1;
        assert!(asked < 20, "it goes on");
        call = hand.next_call();
    }
    assert_eq!(hand.phase("a"), Phase::Gone);
    hand.now += 86_400_000;
    assert!(hand.calls().is_empty());
    hand.engine
        .act(&TaskKey("a".into()), Action::AskAgain, hand.now);
    let call = hand.call();
    hand.answer(&call, Err(error(404)));
    assert_eq!(hand.engine.next_wake(), None);
}

#[test]
fn an_answer_between_404s_keeps_a_task() {
    let mut hand = Hand::new();
    let mut call = hand.running();
    for answer in [
        Err(error(404)),
        progress("processing"),
        Err(error(404)),
        Err(error(502)),
        Err(error(404)),
    ] {
        hand.answer(&call, answer);
        call = hand.next_call();
    }
    let wordless = || Err(ApiError::from_status(404, None, None));
    hand.answer(&call, progress("processing"));
    let began = hand.now;
    while hand.phase("a") == Phase::Running {
        let call = hand.next_call();
        hand.answer(&call, wordless());
    }
    assert!(hand.now - began >= 60_000);
}

#[test]
fn ignores_a_status_of_another_task() {
    let mut hand = Hand::new();
    let call = hand.running();
    hand.answer(
        &call,
        Ok(json!({"success": true, "data": {"id": "2", "status": "failed"}})),
    );
    assert_eq!(hand.phase("a"), Phase::Running);
    assert!(
        hand.engine
            .task(&TaskKey("a".into()))
            .unwrap()
            .poll_error
            .is_some()
    );
}

#[test]
fn completed_without_output_is_polled_a_few_times() {
    let mut hand = Hand::new();
    let call = hand.running();
    hand.answer(&call, progress("completed"));
    let mut asked = 0;
    while hand.phase("a") == Phase::Fetching {
        let call = hand.next_call();
        asked += 1;
        hand.answer(
            &call,
            Ok(json!({"success": true, "data": {"status": "completed"}})),
        );
    }
    assert!(matches!(hand.state("a"), TaskState::Ready { outputs, .. } if outputs.is_empty()));
    assert!((2..10).contains(&asked));
}

#[test]
fn a_premature_completed_returns_to_status_polls() {
    let mut hand = Hand::new();
    let call = hand.running();
    hand.answer(&call, progress("completed"));
    let call = hand.call();
    hand.answer(&call, progress("processing"));
    assert_eq!(hand.phase("a"), Phase::Running);
    assert_eq!(hand.next_call().kind, CallKind::Status);
}

#[test]
fn refetched_urls_replace_old_ones_unless_empty() {
    let mut hand = Hand::new();
    let call = hand.running();
    hand.answer(&call, progress("completed"));
    let call = hand.call();
    let output =
        |urls: Value| Ok(json!({"success": true, "data": {"status": "completed", "output": urls}}));
    hand.answer(&call, output(json!(["old"])));
    let key = TaskKey("a".into());
    for (answer, expected) in [
        (output(json!([])), "old"),
        (Err(error(404)), "old"),
        (output(json!(["new"])), "new"),
    ] {
        hand.engine.act(&key, Action::Refetch, hand.now);
        hand.engine.act(&key, Action::Refetch, hand.now);
        let call = hand.call();
        assert_eq!(call.kind, CallKind::Response);
        hand.answer(&call, answer);
        assert!(
            matches!(hand.state("a"), TaskState::Ready { outputs, .. } if outputs == [expected])
        );
        assert!(hand.calls().is_empty(), "asked once");
        // A refetch is saved even if nothing else has changed, so that the page can react.
        let told = hand.saved.last().map(|task| (&task.state, task.refreshed));
        assert_eq!(told, Some((&hand.state("a"), Some(hand.now))));
    }
}

/// The progress message of a service is shown only while the task runs.
#[test]
fn progress_is_cleared_when_the_run_ends() {
    let mut hand = Hand::new();
    hand.submit(&["a"]);
    let call = hand.call();
    hand.answer(&call, Ok(json!({"data": {"id": "t1", "status": "queued"}})));
    let key = TaskKey("a".into());
    let mut say = |data: Value| {
        let call = hand.next_call();
        hand.answer(&call, Ok(json!({"data": data})));
        hand.engine.task(&key).unwrap().progress.clone()
    };
    let line = say(json!({"id": "t1", "status": "processing", "progress": "step 3 of 20"}));
    assert_eq!(line.as_deref(), Some("step 3 of 20"));
    assert_eq!(say(json!({"id": "t1", "status": "processing"})), None);
    let data = json!({"id": "t1", "status": "completed", "progress": "20 of 20"});
    assert_eq!(say(data), None);
}

/// Guards against a task of twelve seconds whose duration includes the time in which it was not polled.
#[test]
fn an_end_after_a_gap_in_polling_is_marked_unseen() {
    for (away, answers, is_unseen) in [
        (2_000, vec!["completed"], false),
        (40_000, vec!["completed"], true),
        // It was seen running after that.
        (40_000, vec!["processing", "completed"], false),
        (40_000, vec!["failed"], true),
    ] {
        let mut hand = Hand::new();
        let mut poll = hand.running();
        hand.now += away;
        for (at, word) in answers.into_iter().enumerate() {
            if at > 0 {
                poll = hand.next_call();
            }
            hand.answer(&poll, progress(word));
        }
        let task = hand.engine.task(&TaskKey("a".into())).unwrap();
        assert_eq!(task.ended_unseen, is_unseen, "{away}");
    }
}

/// Guards against downloading 16 MB again and again, forever.
#[test]
fn an_oversized_output_is_refetched_only_on_request() {
    let mut hand = Hand::new();
    let call = hand.running();
    let too_large = || Err(ApiError::malformed(ApiError::TOO_LARGE));
    hand.answer(&call, progress("completed"));
    let call = hand.call();
    hand.answer(&call, too_large());
    let key = TaskKey("a".into());
    let stopped = hand.engine.task(&key).unwrap().clone();
    assert_eq!(stopped.label(), "Not read");
    assert!(!stopped.is_active() && stopped.poll_error.is_some());
    hand.now += 86_400_000;
    hand.engine.wake(hand.now);
    assert!(hand.calls().is_empty());
    // The same applies at the next visit.
    assert_eq!(hand.saved.last(), Some(&stopped));
    hand.engine.act(&key, Action::Watch, hand.now);
    let call = hand.call();
    hand.answer(&call, too_large());
    assert!(hand.calls().is_empty());
    hand.engine.act(&key, Action::Watch, hand.now);
    let call = hand.call();
    let output = json!({"success": true, "data": {"status": "completed", "output": ["u"]}});
    hand.answer(&call, Ok(output));
    assert_eq!(hand.phase("a"), Phase::Ready);
}

/// Ten outputs may be too large together, but not alone.
#[test]
fn outputs_too_large_together_are_fetched_singly() {
    let mut hand = Hand::new();
    hand.submit_batch("a", 2);
    let call = hand.call();
    let entry = |index: usize| {
        json!({"index": index, "status": 200, "body": {
        "success": true, "data": {"id": format!("{index}"), "status": "starting"}}})
    };
    let results = [entry(0), entry(1)];
    hand.answer(
        &call,
        Ok(json!({"success": true, "data": {"results": results}})),
    );
    let call = hand.next_call();
    assert_eq!(call.tasks.len(), 2);
    hand.answer(&call, Err(ApiError::malformed(ApiError::TOO_LARGE)));
    let calls = hand.calls();
    assert_eq!(calls.len(), 2);
    assert!(calls.iter().all(|call| call.tasks.len() == 1));
    // A submission is never repeated for that reason.
    let mut hand = Hand::new();
    hand.submit_batch("a", 2);
    let call = hand.call();
    hand.answer(&call, Err(ApiError::malformed(ApiError::TOO_LARGE)));
    assert_eq!(hand.phase("a-000"), Phase::Unconfirmed);
}

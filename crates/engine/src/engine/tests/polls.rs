//! What comes back when a task is asked about, and when that is believed.

use atelier_contract::ApiError;
use serde_json::{Value, json};

use super::hand::{Hand, error, network, progress};
use crate::engine::CallKind;
use crate::{Action, Phase, TaskKey, TaskState};

#[test]
fn polls_that_fail_leave_the_state_and_go_on_for_ever() {
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
fn an_unknown_id_is_believed_when_it_was_said_twice() {
    let mut hand = Hand::new();
    let call = hand.running();
    hand.answer(&call, Err(error(404)));
    assert_eq!(hand.phase("a"), Phase::Running);
    let first = hand.now;
    // Shown again at once: too early to count.
    hand.now += 1_000;
    hand.engine.wake(hand.now);
    let call = hand.call();
    hand.answer(&call, Err(error(404)));
    assert_eq!(hand.phase("a"), Phase::Running);
    let call = hand.next_call();
    assert!(hand.now - first >= 5_000);
    hand.answer(&call, Err(error(404)));
    assert_eq!(hand.phase("a"), Phase::Gone);
    assert_eq!(hand.engine.next_wake(), None);
}

#[test]
fn an_answer_in_between_or_a_wordless_404_keeps_a_task() {
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
fn an_answer_about_another_task_says_nothing() {
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
fn completed_without_output_is_asked_about_a_few_times_and_then_believed() {
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
fn a_response_that_is_not_ready_yet_goes_back_to_asking() {
    let mut hand = Hand::new();
    let call = hand.running();
    hand.answer(&call, progress("completed"));
    let call = hand.call();
    hand.answer(&call, progress("processing"));
    assert_eq!(hand.phase("a"), Phase::Running);
    assert_eq!(hand.next_call().kind, CallKind::Status);
}

#[test]
fn fresh_addresses_replace_old_ones_and_none_do_not() {
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
        // Whoever waits for the answer is told, though nothing else may have changed.
        let told = hand.saved.last().map(|task| (&task.state, task.refreshed));
        assert_eq!(told, Some((&hand.state("a"), Some(hand.now))));
    }
}

/// What a service says of how far it is stands with the task while it runs, and no longer.
#[test]
fn the_line_of_progress_goes_with_the_run() {
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

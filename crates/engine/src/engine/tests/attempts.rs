//! Tests two attempts of one task that are in flight in one or two tabs. The outcome of the first must not affect the
//! second, and no id may be lost.

use atelier_contract::{ApiError, StatusWord, TaskId};
use serde_json::{Value, json};

use super::harness::{Harness, START, accepted, error, network, progress};
use super::late::{id, key, mark_unconfirmed, resubmitted, saved, sent_again};
use crate::engine::{Call, Idempotency};
use crate::{Action, BatchAction, BatchKey, Millis, Phase, Task, TaskKey, TaskState};

fn busy() -> ApiError {
    ApiError::RateLimited {
        message: String::new(),
        retry_after_ms: Some(3_000),
    }
}

/// Counts the submissions, which cost money.
fn paid(calls: &[Call]) -> usize {
    let submissions = calls.iter().filter(|call| !call.write_first().is_empty());
    submissions.count()
}

fn has_id(task: &Task, id: &str, submitted: Millis) -> Task {
    let mut task = task.clone();
    task.state = TaskState::Running {
        id: TaskId(id.into()),
        word: StatusWord::Processing,
    };
    task.submitted = Some(submitted);
    task
}

fn shared_id() -> Result<Value, ApiError> {
    let entry = |index: usize| {
        json!({"index": index, "status": 200, "body": {
            "success": true, "data": {"id": "7", "status": "starting"}}})
    };
    Ok(json!({"success": true, "data": {"results": [entry(0), entry(1)]}}))
}

/// The service has accepted the first attempt, so the second attempt must not be sent.
#[test]
fn an_unsent_second_attempt_gets_the_id_of_the_first() {
    for is_sent in [true, false] {
        let mut harness = Harness::new();
        let first = resubmitted(&mut harness);
        let second = sent_again(&mut harness);
        harness.now += 500;
        match is_sent {
            true => harness.answer(&second, Err(busy())),
            false => harness.engine.not_sent(second.id, harness.now),
        }
        harness.now += 500;
        harness.answer(&first, accepted("1"));
        assert_eq!(id(&harness, &key()).as_deref(), Some("1"), "{is_sent}");
        harness.now += 60_000;
        assert_eq!(paid(&harness.calls()), 0);
        assert_eq!(harness.engine.tasks().count(), 1);
    }
}

/// Returns a tab that was frozen with a call for two tasks in flight, and the call. Another tab has marked the tasks
/// Unconfirmed, the user has resubmitted both there, and the first tab has received those records.
fn frozen() -> (Harness, Call) {
    let mut frozen = Harness::new();
    frozen.submit_batch("a", 2);
    let first = frozen.call();
    let stored: Vec<Task> = frozen.engine.tasks().cloned().collect();
    let mut other = Harness::new();
    other.engine.load(stored, other.now);
    other.now += 1_000;
    for key in &first.tasks {
        other.engine.act(key, Action::Resubmit, other.now);
    }
    other.call();
    frozen.engine.set_leading(false, frozen.now);
    for task in other.engine.tasks() {
        frozen.engine.merge_remote(task.clone(), frozen.now);
    }
    saved(&mut frozen);
    frozen.now += 2_000;
    (frozen, first)
}

fn assert_untouched(frozen: &mut Harness) {
    for task in frozen.engine.tasks() {
        assert_eq!(task.state.phase(), Phase::Submitting, "{task:?}");
        assert_eq!(task.submitted, Some(START + 1_000));
    }
    assert_eq!(saved(frozen), []);
}

#[test]
fn an_unsent_first_attempt_does_not_affect_the_second() {
    let (mut frozen, first) = frozen();
    frozen.engine.not_sent(first.id, frozen.now);
    assert_untouched(&mut frozen);
}

#[test]
fn a_refused_first_attempt_does_not_affect_the_second() {
    for late in [404, 422] {
        let (mut frozen, first) = frozen();
        frozen.answer(&first, Err(error(late)));
        assert_untouched(&mut frozen);
    }
}

#[test]
fn a_shared_id_for_the_first_attempt_does_not_affect_the_second() {
    let (mut frozen, first) = frozen();
    frozen.answer(&first, shared_id());
    assert_untouched(&mut frozen);
}

/// This tab's own first call is still in flight.
#[test]
fn a_second_attempt_whose_tab_was_closed_is_unconfirmed() {
    for answer in [accepted("1"), Err(network()), Err(error(402))] {
        let mut harness = Harness::new();
        harness.submit(&["a"]);
        let first = harness.call();
        let mut remote = harness.engine.task(&key()).unwrap().clone();
        remote.submitted = Some(harness.now + 1_000);
        harness.now += 20_000;
        harness.engine.set_leading(false, harness.now);
        harness.engine.merge_remote(remote.clone(), harness.now);
        harness.engine.load(vec![remote], harness.now);
        harness.engine.set_leading(true, harness.now);
        assert_eq!(harness.phase("a"), Phase::Unconfirmed);
        let is_taken = answer.is_ok();
        harness.answer(&first, answer);
        assert_eq!(harness.phase("a"), Phase::Unconfirmed);
        assert_eq!(id(&harness, &key().late()).is_some(), is_taken);
    }
}

#[test]
fn distinguishes_attempts_after_the_clock_was_set_back() {
    let mut harness = Harness::new();
    harness.submit(&["a"]);
    let first = harness.call();
    mark_unconfirmed(&mut harness);
    harness.now -= 3_600_000;
    harness.engine.act(&key(), Action::Resubmit, harness.now);
    harness.now += 10_000;
    sent_again(&mut harness);
    harness.answer(&first, Err(busy()));
    assert_eq!(harness.phase("a"), Phase::Submitting);
    harness.now += 10_000;
    assert_eq!(paid(&harness.calls()), 0);
}

/// The id arrives while the task waits in a paused batch to be sent again.
#[test]
fn an_accepted_task_is_not_paused() {
    let mut harness = Harness::new();
    harness.submit_batch("a", 30);
    let key = harness.call().tasks[0].clone();
    let known = harness.engine.task(&key).unwrap().clone();
    let batch = BatchKey("a".into());
    (harness.engine).act_on_batch(&batch, BatchAction::Pause, harness.now);
    harness.engine.set_leading(false, harness.now);
    let mut remote = known.clone();
    remote.state = TaskState::Unconfirmed { error: network() };
    harness.engine.merge_remote(remote, harness.now);
    harness.engine.set_leading(true, harness.now);
    harness.engine.act(&key, Action::Resubmit, harness.now);
    assert!(harness.engine.task(&key).unwrap().paused);
    (harness.engine).merge_remote(has_id(&known, "1", START), harness.now);
    let task = harness.engine.task(&key).unwrap();
    assert_eq!(task.state.phase(), Phase::Running);
    assert_eq!((task.paused, task.submitted), (false, Some(START)));
}

/// A follower has the id of the first attempt. The outcome of the second attempt is unknown.
#[test]
fn a_follower_with_the_first_id_merges_the_second_attempt() {
    let mut harness = Harness::new();
    harness.submit(&["a"]);
    let first = harness.call();
    let mut second = harness.engine.task(&key()).unwrap().clone();
    harness.engine.set_leading(false, harness.now);
    harness.answer(&first, accepted("1"));
    second.submitted = Some(harness.now + 1_000);
    second.state = TaskState::Unconfirmed { error: network() };
    let records = [second.clone(), has_id(&second.clone(), "1", START)];
    harness.engine.merge_remote(second, harness.now);
    assert_eq!(harness.phase("a"), Phase::Unconfirmed);
    assert_eq!(id(&harness, &key().late()).as_deref(), Some("1"));
    // The tab becomes the leader.
    let [second, mut late] = records;
    late.key = key().late();
    harness.engine.load(vec![second, late], harness.now);
    assert_eq!(harness.phase("a"), Phase::Unconfirmed);
    assert_eq!(id(&harness, &key().late()).as_deref(), Some("1"));
    assert_eq!(harness.engine.tasks().count(), 2);
}

#[test]
fn an_id_that_storage_lacks_becomes_a_separate_task() {
    let mut harness = Harness::new();
    harness.submit(&["a"]);
    let first = harness.call();
    harness.engine.set_leading(false, harness.now);
    harness.answer(&first, accepted("1"));
    let known = harness.engine.task(&key()).unwrap().clone();
    let stored = has_id(&known, "2", harness.now + 1_000);
    harness.engine.load(vec![stored], harness.now + 5_000);
    assert_eq!(id(&harness, &key()).as_deref(), Some("2"));
    assert_eq!(id(&harness, &key().late()).as_deref(), Some("1"));
}

/// The first attempt is polled already.
#[test]
fn an_import_does_not_settle_the_second_attempt_with_the_first_id() {
    let mut harness = Harness::new();
    let first = resubmitted(&mut harness);
    let second = sent_again(&mut harness);
    harness.answer(&second, Err(network()));
    let known = harness.engine.task(&key()).unwrap().clone();
    let file = vec![has_id(&known, "1", START)];
    harness.answer(&first, accepted("1"));
    harness.engine.import(file, harness.now);
    assert_eq!(harness.phase("a"), Phase::Unconfirmed);
    assert_eq!(harness.engine.tasks().count(), 2);
}

#[test]
fn a_removed_late_task_stays_removed() {
    let mut harness = Harness::new();
    let first = resubmitted(&mut harness);
    let second = sent_again(&mut harness);
    harness.answer(&second, accepted("2"));
    harness.answer(&first, accepted("1"));
    let late = harness.engine.task(&key().late()).unwrap().clone();
    harness.engine.act(&late.key, Action::Remove, harness.now);
    harness
        .engine
        .act(&late.key, Action::StopWatching, harness.now);
    harness.engine.act(&late.key, Action::Remove, harness.now);
    harness.now += 20_000;
    harness.calls();
    assert_eq!(harness.engine.tasks().count(), 1);
    let known = harness.engine.task(&key()).unwrap().clone();
    (harness.engine).merge_remote(has_id(&known, "1", START), harness.now);
    harness.engine.merge_remote(late, harness.now);
    assert_eq!(harness.engine.tasks().count(), 1);
    // A third id is another task.
    (harness.engine).merge_remote(has_id(&known, "3", START), harness.now);
    assert_eq!(harness.engine.tasks().count(), 2);
}

/// The service would return the same response for the same key.
#[test]
fn a_submission_with_an_oversized_response_is_unconfirmed() {
    let mut harness = Harness::new();
    let support = Idempotency::For(86_400_000);
    let address = super::world::account().address;
    harness
        .engine
        .set_idempotency(&address, support, harness.now);
    harness.submit(&["a"]);
    let call = harness.call();
    harness.answer(&call, Err(ApiError::malformed(ApiError::TOO_LARGE)));
    assert_eq!(harness.phase("a"), Phase::Unconfirmed);
    harness.now += 600_000;
    assert_eq!(paid(&harness.calls()), 0);
}

/// The response to the first attempt says nothing about the second.
#[test]
fn a_late_id_does_not_clear_the_poll_error_of_the_other_attempt() {
    let mut harness = Harness::new();
    let first = resubmitted(&mut harness);
    let second = sent_again(&mut harness);
    harness.answer(&second, accepted("2"));
    harness.now += 5_000;
    let question = harness.call();
    harness.answer(&question, Err(network()));
    harness.answer(&first, accepted("1"));
    assert!(harness.engine.task(&key()).unwrap().poll_error.is_some());
}

#[test]
fn a_late_task_does_not_inherit_progress() {
    let mut harness = Harness::new();
    let first = resubmitted(&mut harness);
    let second = sent_again(&mut harness);
    harness.answer(&second, accepted("2"));
    harness.now += 5_000;
    let question = harness.call();
    let mut half = progress("processing").unwrap();
    half["data"]["id"] = "2".into();
    half["data"]["progress"] = "50 %".into();
    harness.answer(&question, Ok(half));
    assert!(harness.engine.task(&key()).unwrap().progress.is_some());
    harness.answer(&first, accepted("1"));
    let late = harness.engine.task(&key().late()).unwrap();
    assert_eq!((&late.progress, late.resubmitted), (&None, false));
    assert_eq!(late.submitted, Some(START));
}

#[test]
fn tasks_share_polls_again_once_the_large_one_is_found() {
    let mut harness = Harness::new();
    harness.submit_batch("a", 10);
    let call = harness.call();
    let entry = |index: usize| {
        json!({"index": index, "status": 200, "body": {
            "success": true, "data": {"id": format!("{index}"), "status": "starting"}}})
    };
    let results: Vec<_> = (0..10).map(entry).collect();
    harness.answer(
        &call,
        Ok(json!({"success": true, "data": {"results": results}})),
    );
    let large = TaskKey("a-003".into());
    let mut is_found = false;
    for _ in 0..40 {
        harness.now = harness.engine.next_wake().expect("a wake time");
        for call in harness.calls() {
            let is_large = call.tasks.contains(&large);
            if is_found && call.tasks.len() > 1 {
                assert!(!is_large);
                return;
            }
            is_found |= is_large && call.tasks.len() == 1;
            let running = json!({"success": true, "data": {"status": "processing"}});
            let too_large = ApiError::malformed(ApiError::TOO_LARGE);
            harness.answer(
                &call,
                if is_large {
                    Err(too_large)
                } else {
                    Ok(running)
                },
            );
        }
    }
    panic!("polled singly forever");
}

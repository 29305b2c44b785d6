//! Two attempts of one task are under way, in one tab or two: whatever becomes of the first says nothing of the second,
//! and no id of either is lost.

use atelier_contract::{ApiError, StatusWord, TaskId};
use serde_json::{Value, json};

use super::hand::{Hand, START, accepted, error, network, progress};
use super::late::{given_up, id, key, resubmitted, saved, sent_again};
use crate::engine::{Call, Idempotency};
use crate::{Action, BatchAction, BatchKey, Millis, Phase, Task, TaskKey, TaskState};

fn busy() -> ApiError {
    ApiError::RateLimited {
        message: String::new(),
        retry_after_ms: Some(3_000),
    }
}

/// How many of these calls cost money.
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

/// It is of the first, then, and it need not be sent once more.
#[test]
fn what_the_service_did_not_take_the_second_time_gets_the_id_of_the_first() {
    for is_sent in [true, false] {
        let mut hand = Hand::new();
        let first = resubmitted(&mut hand);
        let second = sent_again(&mut hand);
        hand.now += 500;
        match is_sent {
            true => hand.answer(&second, Err(busy())),
            false => hand.engine.not_sent(second.id, hand.now),
        }
        hand.now += 500;
        hand.answer(&first, accepted("1"));
        assert_eq!(id(&hand, &key()).as_deref(), Some("1"), "{is_sent}");
        hand.now += 60_000;
        assert_eq!(paid(&hand.calls()), 0);
        assert_eq!(hand.engine.tasks().count(), 1);
    }
}

/// A tab was frozen with a call about two tasks. Another one gave them up, a person has sent both once more there, and
/// the first tab has heard of that.
fn frozen() -> (Hand, Call) {
    let mut frozen = Hand::new();
    frozen.submit_batch("a", 2);
    let first = frozen.call();
    let stored: Vec<Task> = frozen.engine.tasks().cloned().collect();
    let mut other = Hand::new();
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

fn assert_untouched(frozen: &mut Hand) {
    for task in frozen.engine.tasks() {
        assert_eq!(task.state.phase(), Phase::Submitting, "{task:?}");
        assert_eq!(task.submitted, Some(START + 1_000));
    }
    assert_eq!(saved(frozen), []);
}

#[test]
fn a_first_attempt_that_was_not_sent_leaves_the_second_alone() {
    let (mut frozen, first) = frozen();
    frozen.engine.not_sent(first.id, frozen.now);
    assert_untouched(&mut frozen);
}

#[test]
fn a_first_attempt_that_was_refused_as_a_whole_leaves_the_second_alone() {
    for late in [404, 422] {
        let (mut frozen, first) = frozen();
        frozen.answer(&first, Err(error(late)));
        assert_untouched(&mut frozen);
    }
}

#[test]
fn a_first_attempt_that_got_one_id_for_all_leaves_the_second_alone() {
    let (mut frozen, first) = frozen();
    frozen.answer(&first, shared_id());
    assert_untouched(&mut frozen);
}

/// Its own first call is still under way.
#[test]
fn a_second_attempt_whose_tab_was_closed_is_given_up() {
    for answer in [accepted("1"), Err(network()), Err(error(402))] {
        let mut hand = Hand::new();
        hand.submit(&["a"]);
        let first = hand.call();
        let mut told = hand.engine.task(&key()).unwrap().clone();
        told.submitted = Some(hand.now + 1_000);
        hand.now += 20_000;
        hand.engine.set_leading(false, hand.now);
        hand.engine.merge_remote(told.clone(), hand.now);
        hand.engine.load(vec![told], hand.now);
        hand.engine.set_leading(true, hand.now);
        assert_eq!(hand.phase("a"), Phase::Unconfirmed);
        let is_taken = answer.is_ok();
        hand.answer(&first, answer);
        assert_eq!(hand.phase("a"), Phase::Unconfirmed);
        assert_eq!(id(&hand, &key().late()).is_some(), is_taken);
    }
}

#[test]
fn attempts_are_told_apart_though_the_clock_was_set_back() {
    let mut hand = Hand::new();
    hand.submit(&["a"]);
    let first = hand.call();
    given_up(&mut hand);
    hand.now -= 3_600_000;
    hand.engine.act(&key(), Action::Resubmit, hand.now);
    hand.now += 10_000;
    sent_again(&mut hand);
    hand.answer(&first, Err(busy()));
    assert_eq!(hand.phase("a"), Phase::Submitting);
    hand.now += 10_000;
    assert_eq!(paid(&hand.calls()), 0);
}

/// It waits to be sent once more in a paused batch when its id comes.
#[test]
fn what_has_an_id_is_not_paused() {
    let mut hand = Hand::new();
    hand.submit_batch("a", 30);
    let key = hand.call().tasks[0].clone();
    let known = hand.engine.task(&key).unwrap().clone();
    let batch = BatchKey("a".into());
    (hand.engine).act_on_batch(&batch, BatchAction::Pause, hand.now);
    hand.engine.set_leading(false, hand.now);
    let mut told = known.clone();
    told.state = TaskState::Unconfirmed { error: network() };
    hand.engine.merge_remote(told, hand.now);
    hand.engine.set_leading(true, hand.now);
    hand.engine.act(&key, Action::Resubmit, hand.now);
    assert!(hand.engine.task(&key).unwrap().paused);
    (hand.engine).merge_remote(has_id(&known, "1", START), hand.now);
    let task = hand.engine.task(&key).unwrap();
    assert_eq!(task.state.phase(), Phase::Running);
    assert_eq!((task.paused, task.submitted), (false, Some(START)));
}

/// The tab has the id of the first and does not lead; the outcome of the second is unknown.
#[test]
fn who_knows_the_first_hears_of_the_second() {
    let mut hand = Hand::new();
    hand.submit(&["a"]);
    let first = hand.call();
    let mut second = hand.engine.task(&key()).unwrap().clone();
    hand.engine.set_leading(false, hand.now);
    hand.answer(&first, accepted("1"));
    second.submitted = Some(hand.now + 1_000);
    second.state = TaskState::Unconfirmed { error: network() };
    let records = [second.clone(), has_id(&second.clone(), "1", START)];
    hand.engine.merge_remote(second, hand.now);
    assert_eq!(hand.phase("a"), Phase::Unconfirmed);
    assert_eq!(id(&hand, &key().late()).as_deref(), Some("1"));
    // It begins to lead.
    let [second, mut late] = records;
    late.key = key().late();
    hand.engine.load(vec![second, late], hand.now);
    assert_eq!(hand.phase("a"), Phase::Unconfirmed);
    assert_eq!(id(&hand, &key().late()).as_deref(), Some("1"));
    assert_eq!(hand.engine.tasks().count(), 2);
}

#[test]
fn an_id_that_this_tab_has_and_storage_has_not_becomes_a_task_of_its_own() {
    let mut hand = Hand::new();
    hand.submit(&["a"]);
    let first = hand.call();
    hand.engine.set_leading(false, hand.now);
    hand.answer(&first, accepted("1"));
    let known = hand.engine.task(&key()).unwrap().clone();
    let stored = has_id(&known, "2", hand.now + 1_000);
    hand.engine.load(vec![stored], hand.now + 5_000);
    assert_eq!(id(&hand, &key()).as_deref(), Some("2"));
    assert_eq!(id(&hand, &key().late()).as_deref(), Some("1"));
}

/// The first is followed already.
#[test]
fn a_file_does_not_settle_the_second_attempt_by_the_id_of_the_first() {
    let mut hand = Hand::new();
    let first = resubmitted(&mut hand);
    let second = sent_again(&mut hand);
    hand.answer(&second, Err(network()));
    let known = hand.engine.task(&key()).unwrap().clone();
    let file = vec![has_id(&known, "1", START)];
    hand.answer(&first, accepted("1"));
    hand.engine.take_in(file, hand.now);
    assert_eq!(hand.phase("a"), Phase::Unconfirmed);
    assert_eq!(hand.engine.tasks().count(), 2);
}

#[test]
fn what_a_person_has_removed_beside_a_task_stays_removed() {
    let mut hand = Hand::new();
    let first = resubmitted(&mut hand);
    let second = sent_again(&mut hand);
    hand.answer(&second, accepted("2"));
    hand.answer(&first, accepted("1"));
    let late = hand.engine.task(&key().late()).unwrap().clone();
    hand.engine.act(&late.key, Action::Remove, hand.now);
    hand.engine.act(&late.key, Action::StopWatching, hand.now);
    hand.engine.act(&late.key, Action::Remove, hand.now);
    hand.now += 20_000;
    hand.calls();
    assert_eq!(hand.engine.tasks().count(), 1);
    let known = hand.engine.task(&key()).unwrap().clone();
    (hand.engine).merge_remote(has_id(&known, "1", START), hand.now);
    hand.engine.merge_remote(late, hand.now);
    assert_eq!(hand.engine.tasks().count(), 1);
    // A third one is another task.
    (hand.engine).merge_remote(has_id(&known, "3", START), hand.now);
    assert_eq!(hand.engine.tasks().count(), 2);
}

/// Under its key the service would give the same answer once more.
#[test]
fn an_answer_too_large_to_read_is_left_to_a_person() {
    let mut hand = Hand::new();
    let said = Idempotency::For(86_400_000);
    let address = super::world::account().address;
    hand.engine.set_idempotency(&address, said, hand.now);
    hand.submit(&["a"]);
    let call = hand.call();
    hand.answer(&call, Err(ApiError::malformed(ApiError::TOO_LARGE)));
    assert_eq!(hand.phase("a"), Phase::Unconfirmed);
    hand.now += 600_000;
    assert_eq!(paid(&hand.calls()), 0);
}

/// What the first attempt's answer says is not news of the second.
#[test]
fn a_question_without_an_answer_stays_so_when_an_id_comes_for_another() {
    let mut hand = Hand::new();
    let first = resubmitted(&mut hand);
    let second = sent_again(&mut hand);
    hand.answer(&second, accepted("2"));
    hand.now += 5_000;
    let question = hand.call();
    hand.answer(&question, Err(network()));
    hand.answer(&first, accepted("1"));
    assert!(hand.engine.task(&key()).unwrap().poll_error.is_some());
}

#[test]
fn the_task_of_a_late_id_begins_with_nothing_of_the_other() {
    let mut hand = Hand::new();
    let first = resubmitted(&mut hand);
    let second = sent_again(&mut hand);
    hand.answer(&second, accepted("2"));
    hand.now += 5_000;
    let question = hand.call();
    let mut half = progress("processing").unwrap();
    half["data"]["id"] = "2".into();
    half["data"]["progress"] = "50 %".into();
    hand.answer(&question, Ok(half));
    assert!(hand.engine.task(&key()).unwrap().progress.is_some());
    hand.answer(&first, accepted("1"));
    let late = hand.engine.task(&key().late()).unwrap();
    assert_eq!((&late.progress, late.resubmitted), (&None, false));
    assert_eq!(late.submitted, Some(START));
}

#[test]
fn tasks_are_asked_about_together_again_once_the_large_one_is_found() {
    let mut hand = Hand::new();
    hand.submit_batch("a", 10);
    let call = hand.call();
    let entry = |index: usize| {
        json!({"index": index, "status": 200, "body": {
            "success": true, "data": {"id": format!("{index}"), "status": "starting"}}})
    };
    let results: Vec<_> = (0..10).map(entry).collect();
    hand.answer(
        &call,
        Ok(json!({"success": true, "data": {"results": results}})),
    );
    let large = TaskKey("a-003".into());
    let mut is_found = false;
    for _ in 0..40 {
        hand.now = hand.engine.next_wake().expect("something to do");
        for call in hand.calls() {
            let is_large = call.tasks.contains(&large);
            if is_found && call.tasks.len() > 1 {
                assert!(!is_large);
                return;
            }
            is_found |= is_large && call.tasks.len() == 1;
            let running = json!({"success": true, "data": {"status": "processing"}});
            let too_large = ApiError::malformed(ApiError::TOO_LARGE);
            hand.answer(
                &call,
                if is_large {
                    Err(too_large)
                } else {
                    Ok(running)
                },
            );
        }
    }
    panic!("each is asked about alone for ever");
}

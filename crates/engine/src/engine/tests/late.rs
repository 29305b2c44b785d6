//! A submission is accepted after the user has resubmitted it: both tasks are paid for, and both are followed.

use atelier_contract::ApiError;

use super::hand::{Hand, accepted, error, network};
use super::world::account;
use crate::engine::{Call, Command, Idempotency};
use crate::{Action, Phase, Task, TaskKey, TaskState};

pub fn key() -> TaskKey {
    TaskKey("a".into())
}

pub fn id(hand: &Hand, key: &TaskKey) -> Option<String> {
    let task = hand.engine.task(key)?;
    Some(task.state.id()?.0.clone())
}

/// The tab that sent the task was asleep; another tab led and marked the task Unconfirmed; this tab leads again, and
/// the user has resubmitted the task.
pub fn resubmitted(hand: &mut Hand) -> Call {
    hand.submit(&["a"]);
    let first = hand.call();
    given_up(hand);
    hand.now += 1_000;
    hand.engine.act(&key(), Action::Resubmit, hand.now);
    first
}

pub fn given_up(hand: &mut Hand) {
    let mut told = hand.engine.task(&key()).unwrap().clone();
    told.state = TaskState::Unconfirmed { error: network() };
    hand.engine.set_leading(false, hand.now);
    hand.engine.merge_remote(told, hand.now);
    hand.engine.set_leading(true, hand.now);
}

pub fn sent_again(hand: &mut Hand) -> Call {
    let calls = hand.calls();
    calls.into_iter().next_back().expect("sent once more")
}

#[test]
fn a_late_response_cancels_a_queued_resubmission() {
    let mut hand = Hand::new();
    let first = resubmitted(&mut hand);
    hand.answer(&first, accepted("1"));
    assert_eq!(hand.phase("a"), Phase::Running);
    let calls = hand.calls();
    assert!(calls.iter().all(|call| call.write_first().is_empty()));
    assert_eq!(id(&hand, &key().late()), None);
}

#[test]
fn a_late_id_after_a_resubmission_becomes_a_separate_task() {
    for is_second_answered in [false, true] {
        let mut hand = Hand::new();
        let first = resubmitted(&mut hand);
        let second = sent_again(&mut hand);
        if is_second_answered {
            hand.answer(&second, accepted("2"));
        }
        hand.answer(&first, accepted("1"));
        hand.answer(&first, accepted("1"));
        if !is_second_answered {
            assert_eq!(hand.phase("a"), Phase::Submitting);
            hand.answer(&second, accepted("2"));
        }
        let late = key().late();
        assert_eq!(id(&hand, &key()).as_deref(), Some("2"));
        assert_eq!(id(&hand, &late).as_deref(), Some("1"));
        assert_eq!(late.late_of(), Some(key()));
        // Both are polled and stored.
        hand.now += 5_000;
        let asked: Vec<TaskKey> = hand
            .calls()
            .into_iter()
            .flat_map(|call| call.tasks)
            .collect();
        assert!(asked.contains(&late) && asked.contains(&key()), "{asked:?}");
        let kept = |key: &TaskKey| hand.saved.iter().any(|task| task.key == *key);
        assert!(kept(&late));
        assert_eq!(hand.engine.tasks().count(), 2);
    }
}

/// The outcome of the first attempt does not affect the second.
#[test]
fn a_late_failure_does_not_affect_the_current_attempt() {
    for late in [error(402), error(500), network(), ApiError::malformed("x")] {
        let mut hand = Hand::new();
        let first = resubmitted(&mut hand);
        let second = sent_again(&mut hand);
        hand.answer(&first, Err(late));
        assert_eq!(hand.phase("a"), Phase::Submitting);
        hand.answer(&second, accepted("2"));
        assert_eq!(id(&hand, &key()).as_deref(), Some("2"));
    }
}

/// The service has refused the second submission.
#[test]
fn follows_the_first_attempt_although_the_second_failed() {
    let mut hand = Hand::new();
    let first = resubmitted(&mut hand);
    let second = sent_again(&mut hand);
    hand.answer(&second, Err(network()));
    assert_eq!(hand.phase("a"), Phase::Unconfirmed);
    hand.answer(&first, accepted("1"));
    assert_eq!(
        hand.phase("a"),
        Phase::Unconfirmed,
        "nobody knows of the second"
    );
    assert_eq!(id(&hand, &key().late()).as_deref(), Some("1"));
}

/// With idempotency keys, the service accepts both as one task.
#[test]
fn attempts_with_the_same_id_are_one_task() {
    let mut hand = Hand::new();
    let said = Idempotency::For(86_400_000);
    hand.engine
        .set_idempotency(&account().address, said, hand.now);
    let first = resubmitted(&mut hand);
    let second = sent_again(&mut hand);
    hand.answer(&first, accepted("1"));
    hand.answer(&second, accepted("1"));
    assert_eq!(id(&hand, &key()).as_deref(), Some("1"));
    assert_eq!(hand.engine.tasks().count(), 1);
    // The service has forgotten the key, or ignores keys.
    let first = {
        hand = Hand::new();
        hand.engine
            .set_idempotency(&account().address, said, hand.now);
        resubmitted(&mut hand)
    };
    let second = sent_again(&mut hand);
    hand.answer(&first, accepted("1"));
    hand.answer(&second, accepted("2"));
    assert_eq!(id(&hand, &key()).as_deref(), Some("1"));
    assert_eq!(id(&hand, &key().late()).as_deref(), Some("2"));
}

/// The tab that was asleep sends its records to the leader. It may have received the outcome meanwhile, or not.
#[test]
fn follows_a_late_id_from_another_tab() {
    let mut asleep = Hand::new();
    asleep.submit(&["a"]);
    asleep.call();
    let unanswered = asleep.engine.task(&key()).unwrap().clone();

    let mut hand = Hand::new();
    hand.engine.load(vec![unanswered], hand.now);
    hand.now += 1_000;
    hand.engine.act(&key(), Action::Resubmit, hand.now);
    let second = hand.call();
    hand.answer(&second, accepted("2"));
    let known = hand.engine.task(&key()).unwrap().clone();
    for has_heard in [false, true] {
        let mut asleep = Hand::new();
        asleep.submit(&["a"]);
        let first = asleep.call();
        asleep.engine.set_leading(false, asleep.now);
        if has_heard {
            asleep.engine.merge_remote(known.clone(), asleep.now);
        }
        asleep.now += 2_000;
        asleep.answer(&first, accepted("1"));
        let told = saved(&mut asleep);
        let mut hand = Hand::new();
        hand.engine.load(vec![known.clone()], hand.now);
        for task in told {
            hand.engine.merge_remote(task, hand.now);
        }
        assert_eq!(id(&hand, &key()).as_deref(), Some("2"), "{has_heard}");
        assert_eq!(
            id(&hand, &key().late()).as_deref(),
            Some("1"),
            "{has_heard}"
        );
        let told = saved(&mut hand);
        assert!(told.iter().any(|task| task.key == key()), "told once more");
    }
}

pub fn saved(hand: &mut Hand) -> Vec<Task> {
    let commands = hand.engine.step(hand.now).into_iter();
    let saved = commands.filter_map(|command| match command {
        Command::Save(task) => Some(task),
        _ => None,
    });
    saved.collect()
}

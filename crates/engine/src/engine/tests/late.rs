//! Tests submissions that are accepted after the user has resubmitted the task. Both submissions are billed, so both
//! are polled.

use atelier_contract::ApiError;

use super::harness::{Harness, accepted, error, network};
use super::world::account;
use crate::engine::{Call, Command, Idempotency};
use crate::{Action, Phase, Task, TaskKey, TaskState};

pub fn key() -> TaskKey {
    TaskKey("a".into())
}

pub fn id(harness: &Harness, key: &TaskKey) -> Option<String> {
    let task = harness.engine.task(key)?;
    Some(task.state.id()?.0.clone())
}

/// Sets up a tab that was asleep with a call in flight. Another tab led and marked the task Unconfirmed. This tab leads
/// again, and the user has resubmitted the task. Returns the first call.
pub fn resubmitted(harness: &mut Harness) -> Call {
    harness.submit(&["a"]);
    let first = harness.call();
    mark_unconfirmed(harness);
    harness.now += 1_000;
    harness.engine.act(&key(), Action::Resubmit, harness.now);
    first
}

pub fn mark_unconfirmed(harness: &mut Harness) {
    let mut remote = harness.engine.task(&key()).unwrap().clone();
    remote.state = TaskState::Unconfirmed { error: network() };
    harness.engine.set_leading(false, harness.now);
    harness.engine.merge_remote(remote, harness.now);
    harness.engine.set_leading(true, harness.now);
}

pub fn sent_again(harness: &mut Harness) -> Call {
    let calls = harness.calls();
    calls.into_iter().next_back().expect("resubmitted")
}

#[test]
fn a_late_response_cancels_a_queued_resubmission() {
    let mut harness = Harness::new();
    let first = resubmitted(&mut harness);
    harness.answer(&first, accepted("1"));
    assert_eq!(harness.phase("a"), Phase::Running);
    let calls = harness.calls();
    assert!(calls.iter().all(|call| call.write_first().is_empty()));
    assert_eq!(id(&harness, &key().late()), None);
}

#[test]
fn a_late_id_after_a_resubmission_becomes_a_separate_task() {
    for is_second_answered in [false, true] {
        let mut harness = Harness::new();
        let first = resubmitted(&mut harness);
        let second = sent_again(&mut harness);
        if is_second_answered {
            harness.answer(&second, accepted("2"));
        }
        harness.answer(&first, accepted("1"));
        harness.answer(&first, accepted("1"));
        if !is_second_answered {
            assert_eq!(harness.phase("a"), Phase::Submitting);
            harness.answer(&second, accepted("2"));
        }
        let late = key().late();
        assert_eq!(id(&harness, &key()).as_deref(), Some("2"));
        assert_eq!(id(&harness, &late).as_deref(), Some("1"));
        assert_eq!(late.original_of_late(), Some(key()));
        // Both are polled and stored.
        harness.now += 5_000;
        let asked: Vec<TaskKey> = harness
            .calls()
            .into_iter()
            .flat_map(|call| call.tasks)
            .collect();
        assert!(asked.contains(&late) && asked.contains(&key()), "{asked:?}");
        let kept = |key: &TaskKey| harness.saved.iter().any(|task| task.key == *key);
        assert!(kept(&late));
        assert_eq!(harness.engine.tasks().count(), 2);
    }
}

/// The outcome of the first attempt does not affect the second.
#[test]
fn a_late_failure_does_not_affect_the_current_attempt() {
    for late in [error(402), error(500), network(), ApiError::malformed("x")] {
        let mut harness = Harness::new();
        let first = resubmitted(&mut harness);
        let second = sent_again(&mut harness);
        harness.answer(&first, Err(late));
        assert_eq!(harness.phase("a"), Phase::Submitting);
        harness.answer(&second, accepted("2"));
        assert_eq!(id(&harness, &key()).as_deref(), Some("2"));
    }
}

/// The service has refused the second submission.
#[test]
fn follows_the_first_attempt_although_the_second_failed() {
    let mut harness = Harness::new();
    let first = resubmitted(&mut harness);
    let second = sent_again(&mut harness);
    harness.answer(&second, Err(network()));
    assert_eq!(harness.phase("a"), Phase::Unconfirmed);
    harness.answer(&first, accepted("1"));
    assert_eq!(
        harness.phase("a"),
        Phase::Unconfirmed,
        "the second is still uncertain"
    );
    assert_eq!(id(&harness, &key().late()).as_deref(), Some("1"));
}

/// With idempotency keys, the service accepts both submissions as one task.
#[test]
fn attempts_with_the_same_id_are_one_task() {
    let mut harness = Harness::new();
    let support = Idempotency::For(86_400_000);
    harness
        .engine
        .set_idempotency(&account().address, support, harness.now);
    let first = resubmitted(&mut harness);
    let second = sent_again(&mut harness);
    harness.answer(&first, accepted("1"));
    harness.answer(&second, accepted("1"));
    assert_eq!(id(&harness, &key()).as_deref(), Some("1"));
    assert_eq!(harness.engine.tasks().count(), 1);
    // The service has forgotten the key, or ignores keys.
    let first = {
        harness = Harness::new();
        harness
            .engine
            .set_idempotency(&account().address, support, harness.now);
        resubmitted(&mut harness)
    };
    let second = sent_again(&mut harness);
    harness.answer(&first, accepted("1"));
    harness.answer(&second, accepted("2"));
    assert_eq!(id(&harness, &key()).as_deref(), Some("1"));
    assert_eq!(id(&harness, &key().late()).as_deref(), Some("2"));
}

/// The tab that was asleep sends its records to the leader, whether or not the leader has received the second id by
/// then.
#[test]
fn follows_a_late_id_from_another_tab() {
    let mut asleep = Harness::new();
    asleep.submit(&["a"]);
    asleep.call();
    let unanswered = asleep.engine.task(&key()).unwrap().clone();

    let mut harness = Harness::new();
    harness.engine.load(vec![unanswered], harness.now);
    harness.now += 1_000;
    harness.engine.act(&key(), Action::Resubmit, harness.now);
    let second = harness.call();
    harness.answer(&second, accepted("2"));
    let known = harness.engine.task(&key()).unwrap().clone();
    for has_outcome in [false, true] {
        let mut asleep = Harness::new();
        asleep.submit(&["a"]);
        let first = asleep.call();
        asleep.engine.set_leading(false, asleep.now);
        if has_outcome {
            asleep.engine.merge_remote(known.clone(), asleep.now);
        }
        asleep.now += 2_000;
        asleep.answer(&first, accepted("1"));
        let remote = saved(&mut asleep);
        let mut harness = Harness::new();
        harness.engine.load(vec![known.clone()], harness.now);
        for task in remote {
            harness.engine.merge_remote(task, harness.now);
        }
        assert_eq!(id(&harness, &key()).as_deref(), Some("2"), "{has_outcome}");
        assert_eq!(
            id(&harness, &key().late()).as_deref(),
            Some("1"),
            "{has_outcome}"
        );
        let remote = saved(&mut harness);
        assert!(
            remote.iter().any(|task| task.key == key()),
            "sent to the other tabs again"
        );
    }
}

pub fn saved(harness: &mut Harness) -> Vec<Task> {
    let commands = harness.engine.step(harness.now).into_iter();
    let saved = commands.filter_map(|command| match command {
        Command::Save(task) => Some(task),
        _ => None,
    });
    saved.collect()
}

//! Several tabs: one leads, and nothing is lost or duplicated when another takes over.

use atelier_contract::{StatusWord, TaskId};

use super::hand::{Hand, accepted, network};
use super::world::{account, task};
use crate::{Action, Engine, Phase, Task, TaskKey, TaskState};

fn with(state: TaskState) -> Task {
    let mut task = task("a", super::hand::START);
    task.submitted = Some(super::hand::START);
    task.state = state;
    task
}

/// Returns the task before its first attempt.
fn never_sent() -> Task {
    task("a", super::hand::START)
}

fn running() -> Task {
    with(TaskState::Running {
        id: TaskId("1".into()),
        word: StatusWord::Processing,
    })
}

fn unconfirmed() -> Task {
    with(TaskState::Unconfirmed { error: network() })
}

#[test]
fn a_follower_stores_its_tasks_and_makes_no_calls() {
    let mut hand = Hand::new();
    hand.engine.set_leading(false, hand.now);
    hand.submit(&["a"]);
    hand.engine.merge_remote(running_as("b"), hand.now);
    assert!(hand.calls().is_empty());
    assert_eq!(hand.engine.next_wake(), None);
    let written: Vec<&str> = hand.saved.iter().map(|task| task.key.0.as_str()).collect();
    assert_eq!(written, ["a"], "others' records are theirs to write");
    // This tab becomes the leader, and all tasks continue.
    hand.engine.set_leading(true, hand.now);
    assert_eq!(hand.calls().len(), 2);
}

fn running_as(key: &str) -> Task {
    let mut task = running();
    task.key = TaskKey(key.into());
    task
}

#[test]
fn ignores_outdated_records() {
    let mut hand = Hand::new();
    hand.engine.set_leading(false, hand.now);
    hand.engine.insert_remote(with(TaskState::Queued), hand.now);
    hand.engine.insert_remote(running(), hand.now);
    hand.engine
        .insert_remote(with(TaskState::Submitting), hand.now);
    assert_eq!(hand.phase("a"), Phase::Running);
    hand.engine.insert_remote(
        with(TaskState::Gone {
            id: TaskId("1".into()),
        }),
        hand.now,
    );
    hand.engine.insert_remote(running(), hand.now);
    assert_eq!(hand.phase("a"), Phase::Gone);
    hand.calls();
    // The stored record is the last known state.
    assert!(
        hand.saved
            .iter()
            .all(|task| task.state.phase() == Phase::Gone)
    );
    // The service was asked again and knows the task.
    let back = Task {
        refreshed: Some(hand.now),
        ..running()
    };
    hand.engine.insert_remote(back, hand.now);
    assert_eq!(hand.phase("a"), Phase::Running);
}

#[test]
fn a_new_leader_merges_stored_and_received_records() {
    for (told, stored, expected) in [
        (None, with(TaskState::Submitting), Phase::Unconfirmed),
        (None, with(TaskState::Queued), Phase::Submitting), // Sent by this tab now.
        (None, running(), Phase::Running),
        (Some(running()), with(TaskState::Submitting), Phase::Running),
        (Some(with(TaskState::Submitting)), running(), Phase::Running),
        (
            Some(with(TaskState::Submitting)),
            never_sent(),
            Phase::Unconfirmed,
        ),
        (
            Some(never_sent()),
            with(TaskState::Submitting),
            Phase::Unconfirmed,
        ),
    ] {
        let mut hand = Hand::new();
        hand.engine.set_leading(false, hand.now);
        if let Some(told) = told.clone() {
            hand.engine.merge_remote(told, hand.now);
        }
        hand.engine.load(vec![stored.clone()], hand.now);
        hand.engine.set_leading(true, hand.now);
        hand.calls();
        assert_eq!(hand.phase("a"), expected, "{told:?} and {stored:?}");
    }
}

/// Guards against a task that becomes Unconfirmed although nothing was sent: its leader had stored Submitting, then
/// lost its database, put the task back, and was closed.
#[test]
fn a_task_put_back_stays_queued() {
    let sent = || with(TaskState::Submitting);
    let put_back = || with(TaskState::Queued);
    let later = Task {
        submitted: Some(super::hand::START + 1),
        ..sent()
    };
    for (told, stored, expected) in [
        (put_back(), sent(), Phase::Queued),
        (sent(), put_back(), Phase::Queued),
        (put_back(), unconfirmed(), Phase::Queued),
        // It was put back from an attempt before the one that may have been accepted.
        (put_back(), later.clone(), Phase::Unconfirmed),
        (later, put_back(), Phase::Unconfirmed),
        // It was accepted after all.
        (put_back(), running(), Phase::Running),
    ] {
        let mut hand = Hand::new();
        hand.engine.set_leading(false, hand.now);
        hand.engine.merge_remote(told.clone(), hand.now);
        hand.engine.load(vec![stored.clone()], hand.now);
        assert_eq!(hand.phase("a"), expected, "{told:?} and {stored:?}");
    }
}

/// Guards against sending a cancelled task: a tab that had missed the cancellation reported it to the leader as missing
/// from storage.
#[test]
fn insert_unstored_ignores_removed_tasks() {
    let mut hand = Hand::new();
    hand.engine.set_online(false, hand.now);
    hand.submit(&["a"]);
    let key = TaskKey("a".into());
    hand.engine.act(&key, Action::Cancel, hand.now);
    assert_eq!(hand.engine.task(&key), None);
    hand.engine.insert_unstored(never_sent(), hand.now);
    assert_eq!(hand.engine.task(&key), None);
    hand.engine.insert_unstored(running_as("b"), hand.now);
    assert_eq!(hand.phase("b"), Phase::Running);
}

#[test]
fn continues_with_known_tasks_without_storage() {
    let mut hand = Hand::new();
    hand.engine.set_leading(false, hand.now);
    hand.submit(&["own"]);
    hand.engine.merge_remote(running_as("told"), hand.now);
    let mut queued = with(TaskState::Queued);
    queued.key = TaskKey("maybe-taken-back".into());
    hand.engine.merge_remote(queued, hand.now);
    hand.engine.load(Vec::new(), hand.now);
    hand.engine.set_leading(true, hand.now);
    let calls = hand.calls();
    let mut about: Vec<&str> = calls.iter().map(|call| call.tasks[0].0.as_str()).collect();
    about.sort();
    assert_eq!(about, ["own", "told"]);
    assert_eq!(hand.deleted, [TaskKey("maybe-taken-back".into())]);
}

#[test]
fn loading_stores_changed_tasks_only() {
    let mut hand = Hand::new();
    let stored = vec![running(), {
        let mut task = with(TaskState::Submitting);
        task.key = TaskKey("b".into());
        task
    }];
    hand.engine.set_leading(false, hand.now);
    for task in stored.clone() {
        hand.engine.merge_remote(task, hand.now);
    }
    hand.engine.load(stored, hand.now);
    hand.calls();
    let written: Vec<&str> = hand.saved.iter().map(|task| task.key.0.as_str()).collect();
    assert_eq!(written, ["b"]);
}

#[test]
fn a_call_in_flight_survives_losing_and_regaining_leadership() {
    let mut hand = Hand::new();
    hand.submit(&["a"]);
    let call = hand.call();
    let stored = hand.saved.last().unwrap().clone();
    hand.engine.set_leading(false, hand.now);
    hand.engine.load(vec![stored], hand.now);
    hand.engine.set_leading(true, hand.now);
    assert_eq!(
        hand.phase("a"),
        Phase::Submitting,
        "its answer may still come"
    );
    hand.answer(&call, accepted("1"));
    assert_eq!(hand.phase("a"), Phase::Running);
}

#[test]
fn a_late_id_of_the_last_leader_settles_an_unconfirmed_task() {
    let mut hand = Hand::new();
    hand.engine.load(vec![unconfirmed()], hand.now);
    hand.engine.insert_remote(running(), hand.now);
    assert_eq!(hand.phase("a"), Phase::Running);
    assert_eq!(hand.call().tasks.len(), 1);
    // Not if the id is from an attempt before the current one.
    let mut hand = Hand::new();
    let mut later = unconfirmed();
    later.submitted = Some(super::hand::START + 1);
    hand.engine.load(vec![later], hand.now);
    hand.engine.insert_remote(running(), hand.now);
    assert_eq!(hand.phase("a"), Phase::Unconfirmed);
}

#[test]
fn submits_each_key_once() {
    let mut hand = Hand::new();
    hand.submit(&["a"]);
    let call = hand.call();
    hand.submit(&["a"]);
    assert!(hand.calls().is_empty());
    hand.answer(&call, accepted("1"));
    hand.submit(&["a"]);
    assert_eq!(hand.phase("a"), Phase::Running);
}

#[test]
fn only_the_user_resubmits_an_unconfirmed_task() {
    let mut hand = Hand::new();
    hand.engine = Engine::new(account());
    hand.engine
        .load(vec![with(TaskState::Submitting)], hand.now);
    hand.engine.wake(hand.now);
    hand.now += 3_600_000;
    assert!(hand.calls().is_empty());
    assert_eq!(hand.engine.next_wake(), None);
    hand.engine
        .act(&TaskKey("a".into()), Action::Resubmit, hand.now);
    assert_eq!(hand.calls().len(), 1);
}

#[test]
fn imported_tasks_are_followed_and_never_sent() {
    let mut hand = Hand::new();
    let mut stranger = running_as("c");
    stranger.account.uid.clear();
    let unsent = [
        with(TaskState::Queued),
        Task {
            key: TaskKey("d".into()),
            ..with(TaskState::Submitting)
        },
    ];
    let arrivals = [vec![running_as("b"), stranger.clone()], unsent.to_vec()].concat();
    hand.engine.take_in(arrivals.clone(), hand.now);
    let calls = hand.calls();
    assert_eq!(calls.len(), 1);
    assert_eq!(calls[0].tasks, [TaskKey("b".into())]);
    assert_eq!(hand.engine.tasks().count(), 2);
    // Imported again, now with its account.
    hand.saved.clear();
    let known = Task {
        account: account(),
        ..stranger
    };
    hand.engine
        .take_in([arrivals, vec![known]].concat(), hand.now);
    hand.calls();
    let saved: Vec<&str> = hand.saved.iter().map(|task| task.key.0.as_str()).collect();
    assert_eq!(saved, ["c"], "what is known stays as it is");
    assert_eq!(hand.engine.tasks().count(), 2);
}

/// Guards against a running task that is stored as unsent: Retry was pressed in two tabs at once, and the follower
/// stored its record last. After a crash it would be sent again.
#[test]
fn the_leader_restores_an_overwritten_record() {
    let mut hand = Hand::new();
    hand.submit(&["a"]);
    let call = hand.call();
    hand.answer(&call, accepted("t"));
    hand.calls();
    hand.saved.clear();
    let own = hand.engine.task(&TaskKey("a".into())).cloned();
    hand.engine.insert_remote(task("a", hand.now), hand.now);
    assert!(hand.calls().is_empty(), "it was sent twice");
    assert_eq!(hand.saved.last().cloned(), own);
    assert_eq!(hand.phase("a"), Phase::Running);
}

/// Guards against a Resubmit that pays twice although an imported history contained the task's outcome.
#[test]
fn an_imported_record_settles_an_unconfirmed_task() {
    let mut hand = Hand::new();
    hand.engine.insert_remote(unconfirmed(), hand.now);
    assert_eq!(hand.phase("a"), Phase::Unconfirmed);
    hand.engine.take_in(vec![unconfirmed()], hand.now);
    assert_eq!(hand.phase("a"), Phase::Unconfirmed);
    hand.engine.take_in(vec![running()], hand.now);
    assert_eq!(hand.phase("a"), Phase::Running);
    // A running task is not changed.
    hand.engine.take_in(vec![unconfirmed()], hand.now);
    assert_eq!(hand.phase("a"), Phase::Running);
}

/// Guards against a task that no tab follows: the file contains no account, but this browser's record does.
#[test]
fn an_import_without_an_account_keeps_the_known_one() {
    let mut hand = Hand::new();
    hand.engine.insert_remote(unconfirmed(), hand.now);
    let mut told = running();
    told.account.uid.clear();
    told.watching = false;
    hand.engine.take_in(vec![told], hand.now);
    let task = hand.engine.task(&TaskKey("a".into())).cloned();
    let task = task.map(|task| (task.account, task.watching));
    assert_eq!(task, Some((account(), true)));
}

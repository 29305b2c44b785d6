//! Tests several tabs: one leads, and no task is lost or duplicated when another tab takes over.

use atelier_contract::{StatusWord, TaskId};

use super::harness::{Harness, accepted, network};
use super::world::{account, task};
use crate::{Action, Engine, Phase, Task, TaskKey, TaskState};

fn with(state: TaskState) -> Task {
    let mut task = task("a", super::harness::START);
    task.submitted = Some(super::harness::START);
    task.state = state;
    task
}

/// Returns the task before its first attempt.
fn never_sent() -> Task {
    task("a", super::harness::START)
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
    let mut harness = Harness::new();
    harness.engine.set_leading(false, harness.now);
    harness.submit(&["a"]);
    harness.engine.merge_remote(running_as("b"), harness.now);
    assert!(harness.calls().is_empty());
    assert_eq!(harness.engine.next_wake(), None);
    let written: Vec<&str> = harness
        .saved
        .iter()
        .map(|task| task.key.0.as_str())
        .collect();
    assert_eq!(written, ["a"], "a follower stores only its own tasks");
    // This tab becomes the leader, and all tasks continue.
    harness.engine.set_leading(true, harness.now);
    assert_eq!(harness.calls().len(), 2);
}

fn running_as(key: &str) -> Task {
    let mut task = running();
    task.key = TaskKey(key.into());
    task
}

#[test]
fn ignores_outdated_records() {
    let mut harness = Harness::new();
    harness.engine.set_leading(false, harness.now);
    harness
        .engine
        .insert_remote(with(TaskState::Queued), harness.now);
    harness.engine.insert_remote(running(), harness.now);
    harness
        .engine
        .insert_remote(with(TaskState::Submitting), harness.now);
    assert_eq!(harness.phase("a"), Phase::Running);
    harness.engine.insert_remote(
        with(TaskState::Gone {
            id: TaskId("1".into()),
        }),
        harness.now,
    );
    harness.engine.insert_remote(running(), harness.now);
    assert_eq!(harness.phase("a"), Phase::Gone);
    harness.calls();
    // The stored record is the last known state.
    assert!(
        harness
            .saved
            .iter()
            .all(|task| task.state.phase() == Phase::Gone)
    );
    // The service was asked again and knows the task.
    let back = Task {
        refreshed: Some(harness.now),
        ..running()
    };
    harness.engine.insert_remote(back, harness.now);
    assert_eq!(harness.phase("a"), Phase::Running);
}

#[test]
fn a_new_leader_merges_stored_and_received_records() {
    for (remote, stored, expected) in [
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
        let mut harness = Harness::new();
        harness.engine.set_leading(false, harness.now);
        if let Some(remote) = remote.clone() {
            harness.engine.merge_remote(remote, harness.now);
        }
        harness.engine.load(vec![stored.clone()], harness.now);
        harness.engine.set_leading(true, harness.now);
        harness.calls();
        assert_eq!(harness.phase("a"), expected, "{remote:?} and {stored:?}");
    }
}

/// The leader stored Submitting, lost its database, put the task back into the queue because it was not accepted, and
/// was closed.
#[test]
fn a_task_put_back_stays_queued() {
    let sent = || with(TaskState::Submitting);
    let put_back = || with(TaskState::Queued);
    let later = Task {
        submitted: Some(super::harness::START + 1),
        ..sent()
    };
    for (remote, stored, expected) in [
        (put_back(), sent(), Phase::Queued),
        (sent(), put_back(), Phase::Queued),
        (put_back(), unconfirmed(), Phase::Queued),
        // The task was put back from an attempt before the one that may have been accepted.
        (put_back(), later.clone(), Phase::Unconfirmed),
        (later, put_back(), Phase::Unconfirmed),
        // The task was accepted after all.
        (put_back(), running(), Phase::Running),
    ] {
        let mut harness = Harness::new();
        harness.engine.set_leading(false, harness.now);
        harness.engine.merge_remote(remote.clone(), harness.now);
        harness.engine.load(vec![stored.clone()], harness.now);
        assert_eq!(harness.phase("a"), expected, "{remote:?} and {stored:?}");
    }
}

/// Guards against sending a cancelled task: a tab that was not notified of the cancellation reports the task to the
/// leader as missing in storage.
#[test]
fn insert_unstored_ignores_removed_tasks() {
    let mut harness = Harness::new();
    harness.engine.set_online(false, harness.now);
    harness.submit(&["a"]);
    let key = TaskKey("a".into());
    harness.engine.act(&key, Action::Cancel, harness.now);
    assert_eq!(harness.engine.task(&key), None);
    harness.engine.insert_unstored(never_sent(), harness.now);
    assert_eq!(harness.engine.task(&key), None);
    harness.engine.insert_unstored(running_as("b"), harness.now);
    assert_eq!(harness.phase("b"), Phase::Running);
}

#[test]
fn continues_with_known_tasks_without_storage() {
    let mut harness = Harness::new();
    harness.engine.set_leading(false, harness.now);
    harness.submit(&["own"]);
    harness.engine.merge_remote(running_as("told"), harness.now);
    let mut queued = with(TaskState::Queued);
    queued.key = TaskKey("maybe-taken-back".into());
    harness.engine.merge_remote(queued, harness.now);
    harness.engine.load(Vec::new(), harness.now);
    harness.engine.set_leading(true, harness.now);
    let calls = harness.calls();
    let mut about: Vec<&str> = calls.iter().map(|call| call.tasks[0].0.as_str()).collect();
    about.sort();
    assert_eq!(about, ["own", "told"]);
    assert_eq!(harness.deleted, [TaskKey("maybe-taken-back".into())]);
}

#[test]
fn loading_stores_changed_tasks_only() {
    let mut harness = Harness::new();
    let stored = vec![running(), {
        let mut task = with(TaskState::Submitting);
        task.key = TaskKey("b".into());
        task
    }];
    harness.engine.set_leading(false, harness.now);
    for task in stored.clone() {
        harness.engine.merge_remote(task, harness.now);
    }
    harness.engine.load(stored, harness.now);
    harness.calls();
    let written: Vec<&str> = harness
        .saved
        .iter()
        .map(|task| task.key.0.as_str())
        .collect();
    assert_eq!(written, ["b"]);
}

/// Guards against a takeover that stores all running tasks and loses their progress.
#[test]
fn a_takeover_keeps_the_progress_and_stores_nothing() {
    let shown = Task {
        progress: Some("step 3".into()),
        fraction: Some(0.3),
        preview: Some("/p.png".into()),
        ..running()
    };
    // An earlier release stored the progress.
    let outdated = Task {
        progress: Some("step 1".into()),
        ..running()
    };
    for stored in [running(), outdated.clone()] {
        let mut harness = Harness::new();
        harness.engine.set_leading(false, harness.now);
        harness.engine.merge_remote(shown.clone(), harness.now);
        harness.engine.load(vec![stored], harness.now);
        harness.engine.set_leading(true, harness.now);
        harness.calls();
        assert_eq!(harness.saved, []);
        assert_eq!(harness.engine.task(&shown.key), Some(&shown));
    }
    // Another attempt has made no progress.
    let later = Task {
        submitted: Some(super::harness::START + 1),
        ..outdated
    };
    let mut harness = Harness::new();
    harness.engine.set_leading(false, harness.now);
    harness.engine.merge_remote(shown.clone(), harness.now);
    harness.engine.load(vec![later], harness.now);
    let task = harness.engine.task(&shown.key);
    assert!(task.is_some_and(|task| !task.has_progress()), "{task:?}");
}

#[test]
fn a_call_in_flight_survives_losing_and_regaining_leadership() {
    let mut harness = Harness::new();
    harness.submit(&["a"]);
    let call = harness.call();
    let stored = harness.saved.last().unwrap().clone();
    harness.engine.set_leading(false, harness.now);
    harness.engine.load(vec![stored], harness.now);
    harness.engine.set_leading(true, harness.now);
    assert_eq!(
        harness.phase("a"),
        Phase::Submitting,
        "its response may still arrive"
    );
    harness.answer(&call, accepted("1"));
    assert_eq!(harness.phase("a"), Phase::Running);
}

#[test]
fn a_late_id_of_the_last_leader_settles_an_unconfirmed_task() {
    let mut harness = Harness::new();
    harness.engine.load(vec![unconfirmed()], harness.now);
    harness.engine.insert_remote(running(), harness.now);
    assert_eq!(harness.phase("a"), Phase::Running);
    assert_eq!(harness.call().tasks.len(), 1);
    // An id of an earlier attempt does not determine the outcome of the current attempt.
    let mut harness = Harness::new();
    let mut later = unconfirmed();
    later.submitted = Some(super::harness::START + 1);
    harness.engine.load(vec![later], harness.now);
    harness.engine.insert_remote(running(), harness.now);
    assert_eq!(harness.phase("a"), Phase::Unconfirmed);
}

#[test]
fn submits_each_key_once() {
    let mut harness = Harness::new();
    harness.submit(&["a"]);
    let call = harness.call();
    harness.submit(&["a"]);
    assert!(harness.calls().is_empty());
    harness.answer(&call, accepted("1"));
    harness.submit(&["a"]);
    assert_eq!(harness.phase("a"), Phase::Running);
}

#[test]
fn only_the_user_resubmits_an_unconfirmed_task() {
    let mut harness = Harness::new();
    harness.engine = Engine::new(account());
    harness
        .engine
        .load(vec![with(TaskState::Submitting)], harness.now);
    harness.engine.wake(harness.now);
    harness.now += 3_600_000;
    assert!(harness.calls().is_empty());
    assert_eq!(harness.engine.next_wake(), None);
    harness
        .engine
        .act(&TaskKey("a".into()), Action::Resubmit, harness.now);
    assert_eq!(harness.calls().len(), 1);
}

#[test]
fn imported_tasks_are_followed_and_never_sent() {
    let mut harness = Harness::new();
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
    harness.engine.import(arrivals.clone(), harness.now);
    let calls = harness.calls();
    assert_eq!(calls.len(), 1);
    assert_eq!(calls[0].tasks, [TaskKey("b".into())]);
    assert_eq!(harness.engine.tasks().count(), 2);
    // The task is imported again, now with its account.
    harness.saved.clear();
    let known = Task {
        account: account(),
        ..stranger
    };
    harness
        .engine
        .import([arrivals, vec![known]].concat(), harness.now);
    harness.calls();
    let saved: Vec<&str> = harness
        .saved
        .iter()
        .map(|task| task.key.0.as_str())
        .collect();
    assert_eq!(saved, ["c"], "known tasks are not changed");
    assert_eq!(harness.engine.tasks().count(), 2);
}

/// Retry was pressed in two tabs at once, and the follower stored its record last. After a crash, the running task
/// would be sent again.
#[test]
fn the_leader_restores_an_overwritten_record() {
    let mut harness = Harness::new();
    harness.submit(&["a"]);
    let call = harness.call();
    harness.answer(&call, accepted("t"));
    harness.calls();
    harness.saved.clear();
    let own = harness.engine.task(&TaskKey("a".into())).cloned();
    harness
        .engine
        .insert_remote(task("a", harness.now), harness.now);
    assert!(harness.calls().is_empty(), "the task was sent twice");
    assert_eq!(harness.saved.last().cloned(), own);
    assert_eq!(harness.phase("a"), Phase::Running);
}

/// An imported history contains the outcome, so the user need not resubmit the task.
#[test]
fn an_imported_record_settles_an_unconfirmed_task() {
    let mut harness = Harness::new();
    harness.engine.insert_remote(unconfirmed(), harness.now);
    assert_eq!(harness.phase("a"), Phase::Unconfirmed);
    harness.engine.import(vec![unconfirmed()], harness.now);
    assert_eq!(harness.phase("a"), Phase::Unconfirmed);
    harness.engine.import(vec![running()], harness.now);
    assert_eq!(harness.phase("a"), Phase::Running);
    // A running task is not changed.
    harness.engine.import(vec![unconfirmed()], harness.now);
    assert_eq!(harness.phase("a"), Phase::Running);
}

/// The file contains no account, but this browser's record does. The task must be polled.
#[test]
fn an_import_without_an_account_keeps_the_known_one() {
    let mut harness = Harness::new();
    harness.engine.insert_remote(unconfirmed(), harness.now);
    let mut remote = running();
    remote.account.uid.clear();
    remote.watching = false;
    harness.engine.import(vec![remote], harness.now);
    let task = harness.engine.task(&TaskKey("a".into())).cloned();
    let task = task.map(|task| (task.account, task.watching));
    assert_eq!(task, Some((account(), true)));
}

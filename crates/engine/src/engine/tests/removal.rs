//! Tests that removed tasks can be restored for a while, even after a reload.

use super::harness::{Harness, accepted};
use super::world::{account, task};
use crate::removed::last_removed;
use crate::{Action, BatchAction, BatchKey, Engine, Phase, Task, TaskKey, UNDO_MS};

fn key(name: &str) -> TaskKey {
    TaskKey(name.into())
}

/// Adds a task that the service did not accept.
fn failed(harness: &mut Harness, name: &str) {
    harness.submit(&[name]);
    let call = harness.call();
    let refusal = atelier_contract::ApiError::from_status(400, None, None);
    harness.answer(&call, Err(refusal));
    assert_eq!(harness.phase(name), Phase::Failed);
    harness.calls();
}

fn retried(harness: &mut Harness, name: &str, of: &str) {
    let mut again = task(name, harness.now);
    again.retry_of = Some(key(of));
    harness.engine.submit(vec![again], harness.now);
}

fn is_known(harness: &Harness, name: &str) -> bool {
    harness.engine.task(&key(name)).is_some()
}

#[test]
fn a_removed_task_is_deleted_after_the_undo_time() {
    let mut harness = Harness::new();
    failed(&mut harness, "a");
    harness.engine.act(&key("a"), Action::Remove, harness.now);
    harness.calls();
    assert!(harness.deleted.is_empty());
    assert_eq!(
        harness.engine.task(&key("a")).unwrap().removed,
        Some(harness.now)
    );
    assert_eq!(harness.engine.next_wake(), Some(harness.now + UNDO_MS));
    harness.now += UNDO_MS - 1;
    harness.calls();
    assert!(is_known(&harness, "a"));
    harness.now += 1;
    harness.calls();
    assert_eq!(harness.deleted, [key("a")]);
    assert_eq!(harness.engine.next_wake(), None);
}

#[test]
fn undo_restores_all_tasks_removed_together() {
    let removed = |name: &str, since: Option<u64>| Task {
        removed: since,
        ..task(name, 0)
    };
    let tasks = [
        removed("before", Some(5_000)),
        removed("a", Some(9_000)),
        removed("b", Some(9_400)),
        removed("kept", None),
    ];
    assert_eq!(last_removed(&tasks, 10_000), [key("a"), key("b")]);
    assert_eq!(last_removed(&tasks, 19_200), [key("b")]);
    assert!(last_removed(&tasks, 19_400).is_empty());
}

/// The tasks of a large batch are removed one by one, which takes seconds.
#[test]
fn undo_restores_a_removal_that_took_seconds() {
    let one = |n: u64| Task {
        removed: Some(9_000 + n * 5),
        ..task(&n.to_string(), 0)
    };
    let tasks: Vec<Task> = (0..1_000).map(one).collect();
    assert_eq!(last_removed(&tasks, 14_500).len(), 1_000);
}

#[test]
fn a_removed_task_can_be_restored() {
    let mut harness = Harness::new();
    failed(&mut harness, "a");
    harness.engine.act(&key("a"), Action::Remove, harness.now);
    harness.now += UNDO_MS / 2;
    harness.engine.act(&key("a"), Action::Restore, harness.now);
    harness.calls();
    let last: &Task = harness.saved.last().unwrap();
    assert_eq!((last.key.0.as_str(), last.removed), ("a", None));
    harness.now += UNDO_MS;
    harness.calls();
    assert!(is_known(&harness, "a") && harness.deleted.is_empty());
}

/// The task was removed while the clock was ahead. Undo must not be offered for days.
#[test]
fn a_task_removed_while_the_clock_was_ahead_is_deleted_in_time() {
    let mut harness = Harness::new();
    failed(&mut harness, "a");
    harness
        .engine
        .act(&key("a"), Action::Remove, harness.now + 86_400_000);
    harness.calls();
    let stored = harness.saved.last().unwrap().clone();
    harness.engine = Engine::new(account());
    harness.engine.load(vec![stored], harness.now);
    assert_eq!(harness.engine.next_wake(), Some(harness.now + UNDO_MS));
    harness.now += UNDO_MS;
    harness.calls();
    assert_eq!(harness.deleted, [key("a")]);
}

/// The page is offline, so no calls are made.
#[test]
fn a_removed_task_survives_a_reload() {
    let mut harness = Harness::new();
    failed(&mut harness, "a");
    harness.engine.act(&key("a"), Action::Remove, harness.now);
    harness.calls();
    let stored = harness.saved.last().unwrap().clone();
    harness.engine = Engine::new(account());
    harness.engine.set_online(false, harness.now);
    harness.engine.load(vec![stored], harness.now);
    assert_eq!(harness.engine.next_wake(), Some(harness.now + UNDO_MS));
    harness.now += UNDO_MS;
    harness.calls();
    assert_eq!(harness.deleted, [key("a")]);
}

#[test]
fn deleting_a_retry_deletes_its_earlier_attempts_unless_it_was_not_sent() {
    let mut harness = Harness::new();
    failed(&mut harness, "first");
    retried(&mut harness, "second", "first");
    harness
        .engine
        .act(&key("second"), Action::Cancel, harness.now);
    harness.calls();
    assert_eq!(harness.deleted, [key("second")]);
    assert!(is_known(&harness, "first"));
    retried(&mut harness, "third", "first");
    let call = harness.call();
    harness.answer(&call, accepted("t"));
    harness
        .engine
        .act(&key("third"), Action::StopWatching, harness.now);
    harness
        .engine
        .act(&key("third"), Action::Delete, harness.now);
    harness.calls();
    assert_eq!(harness.engine.tasks().count(), 0);
}

/// Guards against sending and billing a task that the user has cancelled in another tab before the leader received it.
#[test]
fn a_task_cancelled_before_it_arrived_is_not_sent() {
    let mut harness = Harness::new();
    harness.engine.act(&key("a"), Action::Cancel, harness.now);
    let early = task("a", harness.now);
    harness.engine.insert_remote(early, harness.now);
    assert!(harness.calls().is_empty());
    assert!(!is_known(&harness, "a"));
    assert_eq!(harness.deleted, [key("a")]);
}

/// Guards against cancelling a Retry immediately because the previous attempt, which had the same key, was cancelled in
/// both tabs.
#[test]
fn a_task_cancelled_twice_can_be_retried() {
    let mut harness = Harness::new();
    harness.engine.credentials_refused(harness.now);
    harness
        .engine
        .insert_remote(task("a-2", harness.now), harness.now);
    for _ in 0..2 {
        harness.engine.act(&key("a-2"), Action::Cancel, harness.now);
    }
    assert!(!is_known(&harness, "a-2"));
    harness
        .engine
        .insert_remote(task("a-2", harness.now), harness.now);
    assert!(is_known(&harness, "a-2"));
}

/// Adds an Unconfirmed task: the request was sent, and no response came.
fn unconfirmed(harness: &mut Harness, name: &str) {
    harness.submit(&[name]);
    let call = harness.call();
    let lost = atelier_contract::ApiError::Network {
        detail: "reset".into(),
    };
    harness.answer(&call, Err(lost));
    assert_eq!(harness.phase(name), Phase::Unconfirmed);
    harness.calls();
}

/// Cancelling the second submission must not remove the task, because the first may have been accepted and billed.
#[test]
fn a_cancelled_resubmission_is_unconfirmed_again() {
    let mut harness = Harness::new();
    unconfirmed(&mut harness, "a");
    harness.engine.set_online(false, harness.now);
    harness.engine.act(&key("a"), Action::Resubmit, harness.now);
    assert!(harness.calls().is_empty());
    assert_eq!(harness.phase("a"), Phase::Queued);
    harness.engine.act(&key("a"), Action::Cancel, harness.now);
    assert_eq!(harness.phase("a"), Phase::Unconfirmed);
    harness.engine.set_online(true, harness.now);
    harness.now += UNDO_MS;
    assert!(harness.calls().is_empty(), "it was cancelled");
    assert!(harness.deleted.is_empty());
    assert_eq!(harness.phase("a"), Phase::Unconfirmed);
}

/// A new leader that receives an outdated record from before the cancellation must not send the task.
#[test]
fn an_outdated_record_does_not_undo_a_cancellation() {
    let mut harness = Harness::new();
    unconfirmed(&mut harness, "a");
    harness.engine.set_online(false, harness.now);
    harness.engine.act(&key("a"), Action::Resubmit, harness.now);
    let remote = harness.engine.task(&key("a")).unwrap().clone();
    harness.engine.act(&key("a"), Action::Cancel, harness.now);
    harness.engine.merge_remote(remote, harness.now);
    harness.engine.set_online(true, harness.now);
    harness.now += UNDO_MS;
    assert!(harness.calls().is_empty(), "it was cancelled");
    assert_eq!(harness.phase("a"), Phase::Unconfirmed);
}

/// Stop must not return a possibly accepted task to the table, and the batch must not be paused again at the next
/// visit.
#[test]
fn stop_makes_a_resubmission_unconfirmed() {
    let mut harness = Harness::new();
    harness.submit_batch("b", 1);
    let call = harness.call();
    let lost = atelier_contract::ApiError::Network {
        detail: "reset".into(),
    };
    harness.answer(&call, Err(lost));
    harness.calls();
    let (item, batch) = (key("b-000"), BatchKey("b".into()));
    assert_eq!(harness.phase("b-000"), Phase::Unconfirmed);
    harness.engine.set_online(false, harness.now);
    harness.engine.act(&item, Action::Resubmit, harness.now);
    harness
        .engine
        .act_on_batch(&batch, BatchAction::Pause, harness.now);
    harness
        .engine
        .act_on_batch(&batch, BatchAction::Stop, harness.now);
    harness.engine.set_online(true, harness.now);
    assert!(harness.calls().is_empty(), "it was stopped");
    let task = harness.engine.task(&item).unwrap();
    assert_eq!(task.state.phase(), Phase::Unconfirmed);
    assert!(!task.taken_back && !task.paused);
}

/// The task may have been accepted and billed, so the user can undo the dismissal.
#[test]
fn a_dismissed_task_can_be_restored_and_is_not_sent() {
    let mut harness = Harness::new();
    unconfirmed(&mut harness, "a");
    harness.engine.act(&key("a"), Action::Dismiss, harness.now);
    assert!(harness.calls().is_empty());
    assert!(harness.deleted.is_empty());
    assert_eq!(
        harness.engine.task(&key("a")).unwrap().removed,
        Some(harness.now)
    );
    harness.engine.act(&key("a"), Action::Resubmit, harness.now);
    assert!(harness.calls().is_empty(), "it is removed");
    harness.now += UNDO_MS / 2;
    harness.engine.act(&key("a"), Action::Restore, harness.now);
    harness.now += UNDO_MS;
    assert!(harness.calls().is_empty());
    assert_eq!(harness.phase("a"), Phase::Unconfirmed);
    harness.engine.act(&key("a"), Action::Dismiss, harness.now);
    harness.now += UNDO_MS;
    harness.calls();
    assert_eq!(harness.deleted, [key("a")]);
}

/// Another tab reports that the last attempt of a removed task was not accepted.
#[test]
fn a_dismissed_task_that_was_put_back_is_not_sent() {
    let mut harness = Harness::new();
    unconfirmed(&mut harness, "a");
    harness.engine.act(&key("a"), Action::Dismiss, harness.now);
    let never_left = Task {
        state: crate::TaskState::Queued,
        removed: None,
        ..harness.engine.task(&key("a")).unwrap().clone()
    };
    harness.engine.merge_remote(never_left, harness.now);
    assert!(harness.calls().is_empty());
    harness.engine.act(&key("a"), Action::Restore, harness.now);
    harness.next_call();
}

/// Guards against resending a dismissed task, and against a restored task that is never resent.
#[test]
fn resends_stop_while_a_task_is_dismissed() {
    let mut harness = Harness::new();
    let keys = crate::Idempotency::For(86_400_000);
    let address = account().address;
    harness.engine.set_idempotency(&address, keys, harness.now);
    harness.submit(&["a"]);
    let call = harness.call();
    let lost = atelier_contract::ApiError::Network {
        detail: "reset".into(),
    };
    harness.answer(&call, Err(lost));
    harness.engine.act(&key("a"), Action::Dismiss, harness.now);
    harness.now += UNDO_MS - 1;
    assert!(harness.calls().is_empty());
    harness.engine.act(&key("a"), Action::Restore, harness.now);
    let again = harness.call();
    assert_eq!(again.idempotency_key, call.idempotency_key);
}

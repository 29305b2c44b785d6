//! Removed tasks can be restored for a while, whatever happens to the page meanwhile.

use super::hand::{Hand, accepted};
use super::world::{account, task};
use crate::removed::last_removed;
use crate::{Action, BatchAction, BatchKey, Engine, Phase, Task, TaskKey, UNDO};

fn key(name: &str) -> TaskKey {
    TaskKey(name.into())
}

/// Adds a task that the service did not accept.
fn failed(hand: &mut Hand, name: &str) {
    hand.submit(&[name]);
    let call = hand.call();
    let refusal = atelier_contract::ApiError::from_status(400, None, None);
    hand.answer(&call, Err(refusal));
    assert_eq!(hand.phase(name), Phase::Failed);
    hand.calls();
}

fn retried(hand: &mut Hand, name: &str, of: &str) {
    let mut again = task(name, hand.now);
    again.retry_of = Some(key(of));
    hand.engine.submit(vec![again], hand.now);
}

fn is_known(hand: &Hand, name: &str) -> bool {
    hand.engine.task(&key(name)).is_some()
}

#[test]
fn a_removed_task_is_deleted_after_the_undo_time() {
    let mut hand = Hand::new();
    failed(&mut hand, "a");
    hand.engine.act(&key("a"), Action::Remove, hand.now);
    hand.calls();
    assert!(hand.deleted.is_empty());
    assert_eq!(hand.engine.task(&key("a")).unwrap().removed, Some(hand.now));
    assert_eq!(hand.engine.next_wake(), Some(hand.now + UNDO));
    hand.now += UNDO - 1;
    hand.calls();
    assert!(is_known(&hand, "a"));
    hand.now += 1;
    hand.calls();
    assert_eq!(hand.deleted, [key("a")]);
    assert_eq!(hand.engine.next_wake(), None);
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

/// Guards against restoring only part of a batch of a thousand, whose tasks were removed one after the other.
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
    let mut hand = Hand::new();
    failed(&mut hand, "a");
    hand.engine.act(&key("a"), Action::Remove, hand.now);
    hand.now += UNDO / 2;
    hand.engine.act(&key("a"), Action::Restore, hand.now);
    hand.calls();
    let last: &Task = hand.saved.last().unwrap();
    assert_eq!((last.key.0.as_str(), last.removed), ("a", None));
    hand.now += UNDO;
    hand.calls();
    assert!(is_known(&hand, "a") && hand.deleted.is_empty());
}

/// Guards against an Undo that is offered for days, because the task was removed while the clock was ahead.
#[test]
fn a_task_removed_while_the_clock_was_ahead_is_deleted_in_time() {
    let mut hand = Hand::new();
    failed(&mut hand, "a");
    hand.engine
        .act(&key("a"), Action::Remove, hand.now + 86_400_000);
    hand.calls();
    let stored = hand.saved.last().unwrap().clone();
    hand.engine = Engine::new(account());
    hand.engine.load(vec![stored], hand.now);
    assert_eq!(hand.engine.next_wake(), Some(hand.now + UNDO));
    hand.now += UNDO;
    hand.calls();
    assert_eq!(hand.deleted, [key("a")]);
}

/// Also while offline, when no calls are made.
#[test]
fn a_removed_task_survives_a_reload() {
    let mut hand = Hand::new();
    failed(&mut hand, "a");
    hand.engine.act(&key("a"), Action::Remove, hand.now);
    hand.calls();
    let stored = hand.saved.last().unwrap().clone();
    hand.engine = Engine::new(account());
    hand.engine.set_online(false, hand.now);
    hand.engine.load(vec![stored], hand.now);
    assert_eq!(hand.engine.next_wake(), Some(hand.now + UNDO));
    hand.now += UNDO;
    hand.calls();
    assert_eq!(hand.deleted, [key("a")]);
}

#[test]
fn deleting_a_retry_deletes_its_earlier_attempts_unless_it_was_not_sent() {
    let mut hand = Hand::new();
    failed(&mut hand, "first");
    retried(&mut hand, "second", "first");
    hand.engine.act(&key("second"), Action::Cancel, hand.now);
    hand.calls();
    assert_eq!(hand.deleted, [key("second")]);
    assert!(is_known(&hand, "first"));
    retried(&mut hand, "third", "first");
    let call = hand.call();
    hand.answer(&call, accepted("t"));
    hand.engine
        .act(&key("third"), Action::StopWatching, hand.now);
    hand.engine.act(&key("third"), Action::Delete, hand.now);
    hand.calls();
    assert_eq!(hand.engine.tasks().count(), 0);
}

/// Guards against sending and paying for a task that the user has cancelled in another tab before the leader received
/// it.
#[test]
fn a_task_cancelled_before_it_arrived_is_not_sent() {
    let mut hand = Hand::new();
    hand.engine.act(&key("a"), Action::Cancel, hand.now);
    let early = task("a", hand.now);
    hand.engine.insert_remote(early, hand.now);
    assert!(hand.calls().is_empty());
    assert!(!is_known(&hand, "a"));
    assert_eq!(hand.deleted, [key("a")]);
}

/// Guards against a Retry that vanishes: the previous attempt had the same key, and both tabs had cancelled it.
#[test]
fn a_task_cancelled_twice_can_be_retried() {
    let mut hand = Hand::new();
    hand.engine.credentials_refused(hand.now);
    hand.engine.insert_remote(task("a-2", hand.now), hand.now);
    for _ in 0..2 {
        hand.engine.act(&key("a-2"), Action::Cancel, hand.now);
    }
    assert!(!is_known(&hand, "a-2"));
    hand.engine.insert_remote(task("a-2", hand.now), hand.now);
    assert!(is_known(&hand, "a-2"));
}

/// Adds an Unconfirmed task: the request was sent, and no response came.
fn unconfirmed(hand: &mut Hand, name: &str) {
    hand.submit(&[name]);
    let call = hand.call();
    let lost = atelier_contract::ApiError::Network {
        detail: "reset".into(),
    };
    hand.answer(&call, Err(lost));
    assert_eq!(hand.phase(name), Phase::Unconfirmed);
    hand.calls();
}

/// Guards against a task that is lost by Cancel of its second submission, although the first may have been accepted and
/// billed.
#[test]
fn a_cancelled_resubmission_is_unconfirmed_again() {
    let mut hand = Hand::new();
    unconfirmed(&mut hand, "a");
    hand.engine.set_online(false, hand.now);
    hand.engine.act(&key("a"), Action::Resubmit, hand.now);
    assert!(hand.calls().is_empty());
    assert_eq!(hand.phase("a"), Phase::Queued);
    hand.engine.act(&key("a"), Action::Cancel, hand.now);
    assert_eq!(hand.phase("a"), Phase::Unconfirmed);
    hand.engine.set_online(true, hand.now);
    hand.now += UNDO;
    assert!(hand.calls().is_empty(), "it was cancelled");
    assert!(hand.deleted.is_empty());
    assert_eq!(hand.phase("a"), Phase::Unconfirmed);
}

/// Guards against a new leader that receives an outdated record from before the cancellation, concludes that the first
/// submission never left, and sends it.
#[test]
fn an_outdated_record_does_not_undo_a_cancellation() {
    let mut hand = Hand::new();
    unconfirmed(&mut hand, "a");
    hand.engine.set_online(false, hand.now);
    hand.engine.act(&key("a"), Action::Resubmit, hand.now);
    let told = hand.engine.task(&key("a")).unwrap().clone();
    hand.engine.act(&key("a"), Action::Cancel, hand.now);
    hand.engine.merge_remote(told, hand.now);
    hand.engine.set_online(true, hand.now);
    hand.now += UNDO;
    assert!(hand.calls().is_empty(), "it was cancelled");
    assert_eq!(hand.phase("a"), Phase::Unconfirmed);
}

/// Guards against Stop that returns a possibly accepted task to the table, and against a batch that is paused again at
/// the next visit because of it.
#[test]
fn stop_makes_a_resubmission_unconfirmed() {
    let mut hand = Hand::new();
    hand.submit_batch("b", 1);
    let call = hand.call();
    let lost = atelier_contract::ApiError::Network {
        detail: "reset".into(),
    };
    hand.answer(&call, Err(lost));
    hand.calls();
    let (item, batch) = (key("b-000"), BatchKey("b".into()));
    assert_eq!(hand.phase("b-000"), Phase::Unconfirmed);
    hand.engine.set_online(false, hand.now);
    hand.engine.act(&item, Action::Resubmit, hand.now);
    hand.engine
        .act_on_batch(&batch, BatchAction::Pause, hand.now);
    hand.engine
        .act_on_batch(&batch, BatchAction::Stop, hand.now);
    hand.engine.set_online(true, hand.now);
    assert!(hand.calls().is_empty(), "it was stopped");
    let task = hand.engine.task(&item).unwrap();
    assert_eq!(task.state.phase(), Phase::Unconfirmed);
    assert!(!task.taken_back && !task.paused);
}

/// Guards against Dismiss that deletes a possibly accepted and billed task without an undo.
#[test]
fn a_dismissed_task_can_be_restored_and_is_not_sent() {
    let mut hand = Hand::new();
    unconfirmed(&mut hand, "a");
    hand.engine.act(&key("a"), Action::Dismiss, hand.now);
    assert!(hand.calls().is_empty());
    assert!(hand.deleted.is_empty());
    assert_eq!(hand.engine.task(&key("a")).unwrap().removed, Some(hand.now));
    hand.engine.act(&key("a"), Action::Resubmit, hand.now);
    assert!(hand.calls().is_empty(), "it is out of sight");
    hand.now += UNDO / 2;
    hand.engine.act(&key("a"), Action::Restore, hand.now);
    hand.now += UNDO;
    assert!(hand.calls().is_empty());
    assert_eq!(hand.phase("a"), Phase::Unconfirmed);
    hand.engine.act(&key("a"), Action::Dismiss, hand.now);
    hand.now += UNDO;
    hand.calls();
    assert_eq!(hand.deleted, [key("a")]);
}

/// Guards against sending a removed task after another tab reports that its last attempt was not accepted.
#[test]
fn a_dismissed_task_that_was_put_back_is_not_sent() {
    let mut hand = Hand::new();
    unconfirmed(&mut hand, "a");
    hand.engine.act(&key("a"), Action::Dismiss, hand.now);
    let never_left = Task {
        state: crate::TaskState::Queued,
        removed: None,
        ..hand.engine.task(&key("a")).unwrap().clone()
    };
    hand.engine.merge_remote(never_left, hand.now);
    assert!(hand.calls().is_empty());
    hand.engine.act(&key("a"), Action::Restore, hand.now);
    hand.next_call();
}

/// Guards against resending a dismissed task, and against a restored task that is never resent.
#[test]
fn resends_stop_while_a_task_is_dismissed() {
    let mut hand = Hand::new();
    let keys = crate::Idempotency::For(86_400_000);
    let address = account().address;
    hand.engine.set_idempotency(&address, keys, hand.now);
    hand.submit(&["a"]);
    let call = hand.call();
    let lost = atelier_contract::ApiError::Network {
        detail: "reset".into(),
    };
    hand.answer(&call, Err(lost));
    hand.engine.act(&key("a"), Action::Dismiss, hand.now);
    hand.now += UNDO - 1;
    assert!(hand.calls().is_empty());
    hand.engine.act(&key("a"), Action::Restore, hand.now);
    let again = hand.call();
    assert_eq!(again.idempotency_key, call.idempotency_key);
}

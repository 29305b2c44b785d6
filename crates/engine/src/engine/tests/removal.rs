//! What was removed can be brought back for a while, whatever happens to the page meanwhile.

use super::hand::{Hand, accepted};
use super::world::{account, task};
use crate::removed::last_removed;
use crate::{Action, BatchAction, BatchKey, Engine, Phase, Task, TaskKey, UNDO};

fn key(name: &str) -> TaskKey {
    TaskKey(name.into())
}

/// A task that the service did not accept.
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
fn what_was_removed_is_forgotten_after_a_while_and_not_before() {
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
fn what_was_removed_in_one_go_is_brought_back_in_one() {
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

/// Guards against a batch of a thousand that comes back in part: each of its tasks was removed a little
/// later than the one before.
#[test]
fn a_removal_that_took_seconds_is_brought_back_as_a_whole() {
    let one = |n: u64| Task {
        removed: Some(9_000 + n * 5),
        ..task(&n.to_string(), 0)
    };
    let tasks: Vec<Task> = (0..1_000).map(one).collect();
    assert_eq!(last_removed(&tasks, 14_500).len(), 1_000);
}

#[test]
fn what_was_removed_comes_back_at_a_word() {
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

/// Guards against an Undo that is offered for days: it was removed by a clock that was ahead.
#[test]
fn what_was_removed_by_a_clock_that_was_ahead_is_forgotten_in_time() {
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

/// Without a network, too: nothing is called.
#[test]
fn a_reload_forgets_neither_the_task_nor_that_it_was_removed() {
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
fn what_gave_way_to_a_retry_goes_with_it_and_comes_back_where_that_was_not_sent() {
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

/// Guards against a task that is sent, and paid, although a person had cancelled it in another tab: the
/// one that leads now had not heard of it by then.
#[test]
fn what_was_cancelled_before_it_was_heard_of_is_not_sent() {
    let mut hand = Hand::new();
    hand.engine.act(&key("a"), Action::Cancel, hand.now);
    let early = task("a", hand.now);
    hand.engine.insert_remote(early, hand.now);
    assert!(hand.calls().is_empty());
    assert!(!is_known(&hand, "a"));
    assert_eq!(hand.deleted, [key("a")]);
}

/// Guards against a Retry that vanishes: the attempt before it had the same key, and both tabs had cancelled it.
#[test]
fn what_was_cancelled_twice_can_be_retried() {
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

/// An Unconfirmed: the request left, and no answer came.
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

/// Guards against a task that is gone at one press, though its first submission may have been taken and billed:
/// the press was `Cancel`, of the second one.
#[test]
fn what_was_sent_before_is_unconfirmed_again_when_the_next_submission_is_cancelled() {
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

/// Guards against a tab that takes over, and hears late what was told before the second submission was cancelled: it
/// took that for the word that the first one had never left, and sent it.
#[test]
fn what_was_told_before_a_cancellation_does_not_send_it() {
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

/// Guards against Stop that puts back into the table, as if never sent, what may have been taken; and against a
/// batch that is paused again at the next visit because of an item that is not to be sent.
#[test]
fn stop_leaves_what_was_sent_before_unconfirmed_and_pauses_nothing() {
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

/// Guards against a task that is gone at one press, without a way back, though it may have been taken and
/// billed: the press was `Dismiss`.
#[test]
fn what_was_dismissed_comes_back_at_a_word_and_is_not_sent() {
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

/// Guards against a submission that leaves while it is removed: another tab knows that the last attempt was
/// not taken.
#[test]
fn what_was_dismissed_is_not_sent_where_it_turns_out_that_it_never_left() {
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

/// Guards against what is dismissed and still sent, and against what is brought back and rests for ever.
#[test]
fn what_is_sent_again_rests_while_it_is_dismissed_and_goes_on_when_it_is_brought_back() {
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

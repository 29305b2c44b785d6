//! The duration of an attempt excludes the time in which it waited for the user.

use super::hand::{Hand, accepted, error, network};
use super::world::account;
use crate::{
    Access, Account, Action, BatchAction, BatchKey, BlockReason, Millis, Phase, Sending, Task,
    TaskKey, elapsed,
};

const HOUR: Millis = 3_600_000;

fn get(hand: &Hand, key: &str) -> Task {
    hand.engine.task(&TaskKey(key.into())).unwrap().clone()
}

fn elapsed_of(hand: &Hand, key: &str) -> Option<Millis> {
    let block_reason = hand.engine.block_reason(hand.now);
    let sending = Sending {
        account: &account(),
        access: Access::Given,
        block_reason: block_reason.as_ref(),
        is_leader_asleep: false,
        is_superseded: false,
    };
    elapsed(&get(hand, key), sending, hand.now)
}

/// Returns the duration of all active tasks.
fn elapsed_of_all(hand: &Hand) -> Vec<Option<Millis>> {
    let active = hand.engine.tasks().filter(|task| task.is_active());
    active.map(|task| elapsed_of(hand, &task.key.0)).collect()
}

/// Guards against `1 h 00 min` for a task that was resubmitted a second ago, an hour after its response was lost.
#[test]
fn a_resubmission_restarts_the_elapsed_time() {
    let mut hand = Hand::new();
    hand.submit(&["a"]);
    let call = hand.call();
    hand.answer(&call, Err(network()));
    assert_eq!(hand.phase("a"), Phase::Unconfirmed);
    hand.now += HOUR;
    assert_eq!(elapsed_of(&hand, "a"), None, "it waits for a person");
    let key = TaskKey("a".into());
    hand.engine.act(&key, Action::Resubmit, hand.now);
    hand.now += 2_000;
    assert_eq!(elapsed_of(&hand, "a"), Some(2_000));
    let call = hand.call();
    hand.answer(&call, accepted("1"));
    hand.now += 1_000;
    assert_eq!(elapsed_of(&hand, "a"), Some(1_000));
}

/// Guards against a batch that seems to have taken a night because its token was corrected in the morning.
#[test]
fn excludes_the_wait_for_credentials() {
    let mut hand = Hand::new();
    hand.submit_batch("a", 12);
    let call = hand.call();
    hand.answer(&call, Err(error(401)));
    assert_eq!(hand.phase("a-011"), Phase::Queued);
    hand.now += HOUR;
    assert_eq!(elapsed_of(&hand, "a-011"), None);
    hand.engine.credentials_changed(hand.now);
    hand.now += 3_000;
    assert_eq!(elapsed_of(&hand, "a-011"), Some(3_000));
    assert_eq!(elapsed_of_all(&hand), [Some(3_000); 2]);
}

#[test]
fn excludes_the_wait_for_another_account() {
    let mut hand = Hand::new();
    let other = Account {
        uid: "other".into(),
        ..account()
    };
    hand.engine.set_account(other, hand.now);
    hand.submit(&["a"]);
    hand.now += HOUR;
    hand.engine.set_account(account(), hand.now);
    hand.now += 1_000;
    assert_eq!(elapsed_of(&hand, "a"), Some(1_000));
}

#[test]
fn excludes_a_pause() {
    let mut hand = Hand::new();
    hand.submit_batch("a", 3);
    let batch = BatchKey("a".into());
    let act = |hand: &mut Hand, action| hand.engine.act_on_batch(&batch, action, hand.now);
    act(&mut hand, BatchAction::Pause);
    hand.now += HOUR;
    assert_eq!(elapsed_of_all(&hand), [None; 3]);
    act(&mut hand, BatchAction::Resume);
    hand.now += 500;
    assert_eq!(elapsed_of_all(&hand), [Some(500); 3]);
}

/// A rate limit is not a wait for the user.
#[test]
fn includes_the_wait_for_the_service() {
    let mut hand = Hand::new();
    hand.submit(&["a"]);
    let block_reason = BlockReason::RateLimited(hand.now + HOUR);
    hand.now += 7_000;
    let sending = Sending {
        account: &account(),
        access: Access::Given,
        block_reason: Some(&block_reason),
        is_leader_asleep: false,
        is_superseded: false,
    };
    assert_eq!(elapsed(&get(&hand, "a"), sending, hand.now), Some(7_000));
}

/// Guards against `12 s` for a task that was never sent.
#[test]
fn an_unsent_task_has_no_duration() {
    let mut hand = Hand::new();
    hand.submit(&["a"]);
    let mut task = get(&hand, "a");
    task.state = crate::TaskState::Failed {
        id: None,
        message: "Not sent".into(),
    };
    task.secrets = vec!["token".into()];
    task.finished = Some(hand.now + 12_000);
    assert_eq!(task.took(), None);
    task.submitted = Some(hand.now);
    assert_eq!(task.took().as_deref(), Some("12 s"));
}

/// Guards against an hour for a task that was sent a second ago, after the user agreed to send without storage.
#[test]
fn excludes_the_wait_for_storage() {
    for is_accepted in [true, false] {
        let mut hand = Hand::new();
        hand.engine.set_storage_works(false, true, hand.now);
        hand.submit(&["a"]);
        hand.now += HOUR;
        assert_eq!(elapsed_of(&hand, "a"), None, "it waits for a person");
        match is_accepted {
            true => hand.engine.accept_without_storage(hand.now),
            false => hand.engine.set_storage_works(true, true, hand.now),
        }
        assert_eq!(elapsed_of(&hand, "a"), Some(0));
        // Entering the same credentials again changes nothing.
        hand.now += HOUR;
        hand.engine.credentials_changed(hand.now);
        assert_eq!(elapsed_of(&hand, "a"), Some(HOUR));
    }
}

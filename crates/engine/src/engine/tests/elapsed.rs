//! The time of an attempt: what was waited for a person is not counted.

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

/// Of all tasks that have not ended.
fn elapsed_of_all(hand: &Hand) -> Vec<Option<Millis>> {
    let active = hand.engine.tasks().filter(|task| task.is_active());
    active.map(|task| elapsed_of(hand, &task.key.0)).collect()
}

/// Guards against `1 h 00 min` shown for what was resubmitted a second ago, because its answer was lost an hour before.
#[test]
fn a_resubmission_counts_from_the_press() {
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

/// Guards against a batch that took a night, because its token was corrected in the morning.
#[test]
fn a_wait_for_credentials_is_not_counted() {
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
fn a_wait_for_another_account_is_not_counted() {
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
fn a_pause_is_not_counted() {
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

/// What the service asks for is no wait for a person.
#[test]
fn a_wait_for_the_service_is_counted() {
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

/// Guards against `12 s` shown for what was never sent.
#[test]
fn what_was_never_sent_took_no_time() {
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

/// Guards against an hour shown for what was sent a second ago, after a person was asked whether it may be lost.
#[test]
fn a_wait_for_storage_is_not_counted() {
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
        // The same credentials once more change nothing.
        hand.now += HOUR;
        hand.engine.credentials_changed(hand.now);
        assert_eq!(elapsed_of(&hand, "a"), Some(HOUR));
    }
}

//! Tests that the duration of an attempt excludes the time in which it waited for the user.

use super::harness::{Harness, accepted, error, network};
use super::world::account;
use crate::{
    Access, Account, Action, BatchAction, BatchKey, BlockReason, Millis, Phase, SendingState, Task,
    TaskKey, elapsed,
};

const HOUR: Millis = 3_600_000;

fn get(harness: &Harness, key: &str) -> Task {
    harness.engine.task(&TaskKey(key.into())).unwrap().clone()
}

fn elapsed_of(harness: &Harness, key: &str) -> Option<Millis> {
    let block_reason = harness.engine.block_reason(harness.now);
    let sending = SendingState {
        account: &account(),
        access: Access::Given,
        block_reason: block_reason.as_ref(),
        is_leader_asleep: false,
        is_superseded: false,
    };
    elapsed(&get(harness, key), sending, harness.now)
}

/// Returns the duration of all active tasks.
fn elapsed_of_all(harness: &Harness) -> Vec<Option<Millis>> {
    let active = harness.engine.tasks().filter(|task| task.is_active());
    active
        .map(|task| elapsed_of(harness, &task.key.0))
        .collect()
}

/// The duration of a task that is resubmitted an hour after its response was lost excludes that hour.
#[test]
fn a_resubmission_restarts_the_elapsed_time() {
    let mut harness = Harness::new();
    harness.submit(&["a"]);
    let call = harness.call();
    harness.answer(&call, Err(network()));
    assert_eq!(harness.phase("a"), Phase::Unconfirmed);
    harness.now += HOUR;
    assert_eq!(elapsed_of(&harness, "a"), None, "it waits for the user");
    let key = TaskKey("a".into());
    harness.engine.act(&key, Action::Resubmit, harness.now);
    harness.now += 2_000;
    assert_eq!(elapsed_of(&harness, "a"), Some(2_000));
    let call = harness.call();
    harness.answer(&call, accepted("1"));
    harness.now += 1_000;
    assert_eq!(elapsed_of(&harness, "a"), Some(1_000));
}

/// The duration of a batch whose token is corrected in the morning excludes the night.
#[test]
fn excludes_the_wait_for_credentials() {
    let mut harness = Harness::new();
    harness.submit_batch("a", 12);
    let call = harness.call();
    harness.answer(&call, Err(error(401)));
    assert_eq!(harness.phase("a-011"), Phase::Queued);
    harness.now += HOUR;
    assert_eq!(elapsed_of(&harness, "a-011"), None);
    harness.engine.credentials_changed(harness.now);
    harness.now += 3_000;
    assert_eq!(elapsed_of(&harness, "a-011"), Some(3_000));
    assert_eq!(elapsed_of_all(&harness), [Some(3_000); 2]);
}

#[test]
fn excludes_the_wait_for_another_account() {
    let mut harness = Harness::new();
    let other = Account {
        uid: "other".into(),
        ..account()
    };
    harness.engine.set_account(other, harness.now);
    harness.submit(&["a"]);
    harness.now += HOUR;
    harness.engine.set_account(account(), harness.now);
    harness.now += 1_000;
    assert_eq!(elapsed_of(&harness, "a"), Some(1_000));
}

#[test]
fn excludes_a_pause() {
    let mut harness = Harness::new();
    harness.submit_batch("a", 3);
    let batch = BatchKey("a".into());
    let act =
        |harness: &mut Harness, action| harness.engine.act_on_batch(&batch, action, harness.now);
    act(&mut harness, BatchAction::Pause);
    harness.now += HOUR;
    assert_eq!(elapsed_of_all(&harness), [None; 3]);
    act(&mut harness, BatchAction::Resume);
    harness.now += 500;
    assert_eq!(elapsed_of_all(&harness), [Some(500); 3]);
}

/// The time of a rate limit is included, because it is not a wait for the user.
#[test]
fn includes_the_wait_for_the_service() {
    let mut harness = Harness::new();
    harness.submit(&["a"]);
    let block_reason = BlockReason::RateLimited(harness.now + HOUR);
    harness.now += 7_000;
    let sending = SendingState {
        account: &account(),
        access: Access::Given,
        block_reason: Some(&block_reason),
        is_leader_asleep: false,
        is_superseded: false,
    };
    assert_eq!(
        elapsed(&get(&harness, "a"), sending, harness.now),
        Some(7_000)
    );
}

/// A task that was never sent has no duration, even if it waited.
#[test]
fn an_unsent_task_has_no_duration() {
    let mut harness = Harness::new();
    harness.submit(&["a"]);
    let mut task = get(&harness, "a");
    task.state = crate::TaskState::Failed {
        id: None,
        message: "Not sent".into(),
    };
    task.secrets = vec!["token".into()];
    task.finished = Some(harness.now + 12_000);
    assert_eq!(task.duration_text(), None);
    task.submitted = Some(harness.now);
    assert_eq!(task.duration_text().as_deref(), Some("12 s"));
}

/// The duration of a task that waited an hour for the user's consent excludes that hour.
#[test]
fn excludes_the_wait_for_storage() {
    for is_accepted in [true, false] {
        let mut harness = Harness::new();
        harness.engine.set_storage_works(false, true, harness.now);
        harness.submit(&["a"]);
        harness.now += HOUR;
        assert_eq!(elapsed_of(&harness, "a"), None, "it waits for the user");
        match is_accepted {
            true => harness.engine.accept_without_storage(harness.now),
            false => harness.engine.set_storage_works(true, true, harness.now),
        }
        assert_eq!(elapsed_of(&harness, "a"), Some(0));
        // Entering the same credentials again changes nothing.
        harness.now += HOUR;
        harness.engine.credentials_changed(harness.now);
        assert_eq!(elapsed_of(&harness, "a"), Some(HOUR));
    }
}

//! Property tests: for any actions of users, networks and services, no task is lost or billed twice, and no call is
//! made too early. [`World`] asserts this at every step.

use proptest::prelude::*;

use super::world::{Faults, StreamFaults, World};
use crate::{Action, BatchKey, Phase};

#[derive(Debug, Clone)]
enum Operation {
    Submit(usize),
    SubmitBatch(usize, u8),
    Wait(u64),
    Sleep(u64),
    Restart,
    ClockBack(u64),
    Online(bool),
    Lead(bool),
    Wake,
    /// The service refuses the token.
    Revoke,
    /// The service accepts the token again.
    Reinstate,
    /// The user enters another token.
    CorrectToken,
    Act(Phase, Action),
    Pause(u8),
    Resume(u8),
    Stop(u8),
    Forget404,
    /// The model list fails this many times.
    LoseList(u64),
}

fn any_operation() -> impl Strategy<Value = Operation> {
    prop_oneof![
        3 => (1usize..4).prop_map(Operation::Submit),
        2 => (1usize..35, 0u8..3).prop_map(|(count, batch)| Operation::SubmitBatch(count, batch)),
        8 => (0u64..20_000).prop_map(Operation::Wait),
        1 => (0u64..7_200_000).prop_map(Operation::Sleep),
        2 => Just(Operation::Restart),
        1 => (0u64..3_600_000).prop_map(Operation::ClockBack),
        1 => any::<bool>().prop_map(Operation::Online),
        1 => any::<bool>().prop_map(Operation::Lead),
        2 => Just(Operation::Wake),
        1 => Just(Operation::Revoke),
        1 => Just(Operation::Reinstate),
        1 => Just(Operation::CorrectToken),
        3 => (
            prop::sample::select(Phase::ALL.to_vec()),
            prop::sample::select(vec![
                Action::Cancel,
                Action::CancelAtService,
                Action::Resubmit,
                Action::Dismiss,
                Action::StopWatching,
                Action::Watch,
                Action::Refetch,
            ]),
        )
            .prop_map(|(phase, action)| Operation::Act(phase, action)),
        1 => (0u8..3).prop_map(Operation::Pause),
        1 => (0u8..3).prop_map(Operation::Resume),
        1 => (0u8..3).prop_map(Operation::Stop),
        1 => Just(Operation::Forget404),
        1 => (1u64..6).prop_map(Operation::LoseList),
    ]
}

fn any_faults() -> impl Strategy<Value = Faults> {
    let part = || 0u64..150;
    (part(), part(), part(), part(), part(), part()).prop_map(
        |(unreached, lost_answer, refused, broken, nonsense, bad_entry)| Faults {
            unreached,
            lost_answer,
            refused,
            broken,
            nonsense,
            bad_entry,
        },
    )
}

fn any_stream_faults() -> impl Strategy<Value = StreamFaults> {
    let part = || 0u64..500;
    (part(), part(), part(), part(), part()).prop_map(
        |(refused, silent, falls_silent, lost_event, odd_event)| StreamFaults {
            refused,
            silent,
            falls_silent,
            lost_event,
            odd_event,
        },
    )
}

fn batch(n: u8) -> BatchKey {
    BatchKey(format!("batch-{n}"))
}

fn perform(world: &mut World, operation: Operation) {
    let now = world.now();
    match operation {
        Operation::Submit(count) => {
            world.submit(count, None);
        }
        Operation::SubmitBatch(count, n) => {
            world.submit(count, Some(&batch(n).0));
        }
        Operation::Wait(time) => world.run(time),
        // Nothing happens while the machine sleeps.
        Operation::Sleep(time) => world.time += time,
        Operation::Restart => world.restart(),
        Operation::ClockBack(by) => world.offset -= by as i64,
        Operation::Online(online) => world.engine.set_online(online, now),
        Operation::Lead(leading) => world.engine.set_leading(leading, now),
        Operation::Wake => world.engine.wake(now),
        Operation::Revoke => world.revoked = true,
        Operation::Reinstate => world.revoked = false,
        Operation::CorrectToken => world.correct_token(),
        Operation::Act(phase, action) => {
            if let Some(key) = world.keys(phase).first() {
                world.act(key, action);
            }
        }
        Operation::Pause(n) => world.engine.pause_batch(&batch(n)),
        Operation::Resume(n) => world.engine.resume_batch(&batch(n)),
        Operation::Stop(n) => world.engine.stop_batch(&batch(n), now),
        Operation::LoseList(times) => world.lose_list(times),
        Operation::Forget404 => {
            let first = world.jobs.keys().next().cloned();
            let key = first.map(|id| world.jobs[&id].key.clone());
            if key.is_some_and(|key| world.engine.task(&key).is_some_and(|task| task.watching)) {
                world.jobs.pop_first();
            }
        }
    }
    world.step_engine();
}

/// Ends all faults and advances the clock until all tasks must have ended.
fn settle(world: &mut World) {
    world.faults = Faults::default();
    world.correct_token();
    let now = world.now();
    world.engine.set_online(true, now);
    world.engine.set_leading(true, now);
    for n in 0..3 {
        world.engine.resume_batch(&batch(n));
    }
    for phase in [Phase::Running, Phase::Fetching] {
        for key in world.keys(phase) {
            world.act(&key, Action::Watch);
        }
    }
    world.step_engine();
    // The time must be sufficient for a wait that was stored before the clock was set back.
    world.run(48 * 3_600_000);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, max_shrink_iters: 60, ..ProptestConfig::default() })]

    #[test]
    fn never_loses_duplicates_or_calls_early(
        seed: u64,
        faults in any_faults(),
        has_batch: bool,
        has_cancel: bool,
        has_stream: bool,
        stream_faults in any_stream_faults(),
        operations in prop::collection::vec(any_operation(), 1..40),
    ) {
        let mut world = World::new(seed);
        world.faults = faults;
        world.has_batch = has_batch;
        world.has_cancel = has_cancel;
        world.has_stream = has_stream;
        world.stream_faults = stream_faults;
        world.latency = (5, 3_000);
        world.write = 500;
        for operation in operations {
            perform(&mut world, operation);
        }
        settle(&mut world);
        for task in world.engine.tasks() {
            // Every accepted id was polled until a terminal state. Every other task was sent, or waits for the user.
            prop_assert!(
                task.state.is_terminal()
                    || task.state.phase() == Phase::Unconfirmed
                    || task.taken_back,
                "not finished: {task:?}"
            );
            prop_assert!(task.poll_error.is_none());
        }
        for (id, job) in &world.jobs {
            // Every paid task is shown, or the user was told that it may exist.
            let Some(task) = world.engine.task(&job.key) else { continue };
            let known = task.state.id().is_some_and(|known| known.0 == *id);
            let asked = world.resubmits.contains_key(&job.key);
            prop_assert!(known || asked || task.state.phase() == Phase::Unconfirmed, "lost: {task:?}");
            // A task is shown as canceled if and only if the service has canceled it.
            let is_canceled = task.state.phase() == Phase::Canceled;
            prop_assert!(!known || is_canceled == job.canceled.is_some(), "canceled: {task:?}");
        }
        // The stored records match the engine's.
        let stored = world.stored();
        prop_assert_eq!(stored.len(), world.engine.tasks().count());
        for task in stored {
            prop_assert_eq!(Some(&task), world.engine.task(&task.key));
        }
        prop_assert_eq!(world.engine.next_wake(), None, "nothing is due");
    }

    /// With idempotency keys, no task becomes Unconfirmed unless the token has changed, and each submission is one task
    /// at the service.
    #[test]
    fn with_keys_every_submission_is_one_task(
        seed: u64,
        faults in any_faults(),
        has_batch: bool,
        operations in prop::collection::vec(any_operation(), 1..40),
    ) {
        let mut world = World::new(seed);
        world.faults = Faults { unreached: 2 * faults.unreached, lost_answer: 3 * faults.lost_answer, ..faults };
        world.has_batch = has_batch;
        world.latency = (5, 3_000);
        world.write = 500;
        world.key_lifetime = Some(1_000 * 3_600_000);
        world.request_key_support();
        world.run(10_000);
        for operation in operations {
            perform(&mut world, operation);
        }
        settle(&mut world);
        // Exceptions: after a reload the service may report key support late; a key belongs to its token; and the age
        // of a submission is unknown if the clock was ahead.
        let keyless = |task: &crate::Task| {
            let is_of_other_token = world.sent_with_other_token.contains(&task.key);
            task.idempotency_key.is_none() || is_of_other_token || world.offset < 0
        };
        for task in world.engine.tasks() {
            prop_assert!(
                task.state.phase() != Phase::Unconfirmed || keyless(task),
                "unconfirmed: {task:?}"
            );
            prop_assert!(task.state.is_terminal() || task.taken_back || keyless(task), "not finished: {task:?}");
            let jobs = world.jobs.values().filter(|job| job.key == task.key).count();
            let asked = world.resubmits.get(&task.key).copied().unwrap_or_default();
            prop_assert!(jobs <= 1 + asked);
        }
    }

    #[test]
    fn handles_any_clock(seed: u64, jumps in prop::collection::vec(any::<u64>(), 1..20)) {
        let mut world = World::new(seed);
        world.submit(12, None);
        for now in jumps {
            world.engine.step(now);
            world.engine.wake(now);
            let _ = world.engine.next_wake();
            let _ = world.engine.block_reason(now);
        }
    }
}

//! Tests a thousand concurrent tasks: there are few calls, and completions are noticed in time.

use std::collections::HashMap;

use super::world::World;
use crate::engine::CallKind;
use crate::{Phase, TaskKey, schedule};

const MINUTE: u64 = 60_000;

/// A round polls each running task once, so the maximum number of polls of a task is the number of rounds.
#[test]
fn a_round_makes_one_call_per_ten_tasks() {
    for count in [1, 9, 10, 11, 25, 101, 1_000] {
        let mut world = World::new(count as u64);
        world.work = (60 * MINUTE, 60 * MINUTE);
        world.submit(count, Some("batch"));
        world.run(MINUTE);
        assert_eq!(world.count(Phase::Running), count);
        for span in [MINUTE, 5 * MINUTE] {
            world.sent.clear();
            world.run(span);
            let mut asked: HashMap<&TaskKey, usize> = HashMap::new();
            for key in world.sent.iter().flat_map(|call| &call.tasks) {
                *asked.entry(key).or_default() += 1;
            }
            let most = *asked.values().max().unwrap();
            let least = *asked.values().min().unwrap();
            assert_eq!(asked.len(), count);
            assert!(
                world.sent.len() <= most * count.div_ceil(10),
                "{count} tasks: {} calls in {most} rounds",
                world.sent.len()
            );
            // All tasks are polled about equally often.
            assert!(
                most <= least + least / 4 + 1,
                "{count} tasks: {least} to {most} times"
            );
        }
    }
}

/// Tasks that were submitted one by one are polled together. Otherwise, each would have a separate call.
#[test]
fn tasks_submitted_at_different_times_share_calls() {
    for count in [2, 9, 25, 40] {
        let mut world = World::new(count as u64);
        world.work = (60 * MINUTE, 60 * MINUTE);
        for _ in 0..count {
            world.submit(1, None);
            world.run(370);
        }
        world.run(MINUTE);
        world.sent.clear();
        world.run(5 * MINUTE);
        let asked: usize = world.sent.iter().map(|call| call.tasks.len()).sum();
        let rounds = asked.div_ceil(count);
        let calls = world.sent.len();
        assert!(
            calls <= rounds * count.div_ceil(10) * 11 / 10,
            "{count} tasks: {calls} calls in {rounds} rounds"
        );
    }
}

#[test]
fn notices_each_of_a_thousand_completions_within_an_interval() {
    let mut world = World::new(7);
    world.work = (2_000, 6 * MINUTE);
    let keys = world.submit(1_000, Some("batch"));
    world.run(8 * MINUTE);
    assert_eq!(
        world.count(Phase::Ready) + world.count(Phase::Failed),
        keys.len()
    );
    let (_, answer) = world.latency;
    let mut latest = 0;
    for job in world.jobs.values() {
        let task = world.engine.task(&job.key).unwrap();
        let age = job.done_at - task.accepted.unwrap().min(job.done_at);
        // The bound adds a tenth of the interval for jitter, the time of two responses because one may already be in
        // flight, and one tick of the clock. While a thousand tasks are young, the rate limit is tighter than the
        // interval.
        let interval = schedule::interval(age + 5_000) * 11 / 10;
        let interval = interval.max(keys.len().div_ceil(10) as u64 * 1_000 / 60);
        let late = world.noticed[&job.key].saturating_sub(job.done_at);
        assert!(
            late <= interval + 2 * answer + 50,
            "{late} ms late at the age of {age} ms"
        );
        latest = latest.max(late);
    }
    let generate = world
        .sent
        .iter()
        .filter(|call| call.kind == CallKind::Generate);
    assert_eq!(generate.count(), 100);
    assert_eq!(world.finished.len(), keys.len());
    println!(
        "noticed at most {latest} ms late, {} calls",
        world.sent.len()
    );
}

/// [`World`] asserts that the rate limit is respected.
#[test]
fn a_rate_limit_starves_neither_sending_nor_polling() {
    let mut world = World::new(3);
    world.work = (60 * MINUTE, 60 * MINUTE);
    world.submit(60, None);
    world.faults.refused = 300;
    world.run(2 * MINUTE);
    let kinds = |kind| world.sent.iter().filter(|call| call.kind == kind).count();
    let (sent, asked) = (kinds(CallKind::Generate), kinds(CallKind::Status));
    assert!(
        sent >= 10 && asked >= 10,
        "{sent} submissions, {asked} polls"
    );
}

#[test]
fn finished_tasks_need_no_work() {
    let mut world = World::new(5);
    world.work = (0, 0);
    world.submit(3_000, Some("history"));
    world.run(20 * MINUTE);
    assert_eq!(
        world.engine.next_wake(),
        None,
        "finished tasks need no calls"
    );
    assert!(world.engine.timers.polls.is_empty() && world.engine.send_queue.is_empty());
}

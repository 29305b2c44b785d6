//! Tests the stream of events: how rarely tasks are polled while it lives, and that it is never trusted too much.

use atelier_contract::{ApiError, ServerEvent};
use serde_json::{Value, json};

use super::harness::{Harness, accepted, error, progress};
use super::world::{StreamFaults, World, account};
use crate::engine::{CallKind, StreamAction};
use crate::{Account, Action, Millis, Phase, TaskKey};

impl Harness {
    /// Offers a stream, and returns the action.
    fn stream_action(&mut self) -> Option<StreamAction> {
        self.engine.set_stream_offered(true);
        let is_open = self.engine.stream.dead_at().is_some();
        self.engine.stream_action(is_open, true, self.now, 0.5)
    }

    /// Opens a stream, which begins with a comment.
    fn open_stream(&mut self) {
        assert_eq!(self.stream_action(), Some(StreamAction::Open(None)));
        self.receive(&[]);
    }

    fn receive(&mut self, events: &[ServerEvent]) {
        self.engine.stream_received(events, self.now, 0.5);
    }

    /// Receives a comment every 15 seconds until `end`.
    fn hear_until(&mut self, end: Millis) {
        while self.now < end {
            self.now = end.min(self.now + 15_000);
            self.receive(&[]);
        }
    }

    /// Returns a harness with a running task whose status was just polled, and a stream.
    fn streaming() -> Self {
        let mut harness = Self::new();
        let call = harness.running();
        harness.answer(&call, progress("processing"));
        harness.open_stream();
        let call = harness.call();
        harness.answer(&call, progress("processing"));
        harness
    }
}

fn event(data: &Value) -> ServerEvent {
    ServerEvent {
        kind: "status".into(),
        data: data.to_string(),
        id: None,
    }
}

fn status(word: &str) -> ServerEvent {
    event(
        &json!({"id": "1", "category": "image", "subcategory": "a", "status": word, "progress": 0.5}),
    )
}

fn missed() -> ServerEvent {
    ServerEvent {
        kind: "missed".into(),
        data: "{}".into(),
        id: Some("7".into()),
    }
}

#[test]
fn running_tasks_are_polled_once_a_minute_while_the_stream_lives() {
    let mut harness = Harness::streaming();
    let start = harness.now;
    harness.hear_until(start + 54_000);
    assert!(harness.calls().is_empty());
    harness.hear_until(start + 66_000);
    assert_eq!(harness.call().kind, CallKind::Status);
}

#[test]
fn event_has_the_effect_of_a_poll() {
    let mut harness = Harness::streaming();
    let start = harness.now;
    harness.hear_until(start + 30_000);
    harness.receive(&[status("processing")]);
    assert!(harness.calls().is_empty());
    assert_eq!(harness.shown.last().unwrap().fraction, Some(0.5));
    harness.receive(&[status("completed")]);
    let call = harness.call();
    assert_eq!(call.kind, CallKind::Response);
    let task = harness.engine.task(&TaskKey("a".into())).unwrap();
    assert!(
        !task.ended_unseen,
        "the stream has reported the end at once"
    );
    harness.answer(
        &call,
        Ok(json!({"success": true, "data": {"status": "completed", "output": ["https://x.example/a.png"]}})),
    );
    assert_eq!(harness.phase("a"), Phase::Ready);
    harness.calls();
    assert_eq!(harness.stream_action(), Some(StreamAction::Close));
    assert_eq!(harness.engine.next_wake(), None);
}

/// Guards against bytes from before the device slept, which would defer polls although the stream is dead.
#[test]
fn stream_is_dead_after_a_long_silence_even_if_bytes_follow() {
    let mut harness = Harness::streaming();
    harness.now += 3_600_000;
    harness.receive(&[status("processing")]);
    harness.receive(&[status("failed")]);
    assert_eq!(harness.phase("a"), Phase::Running);
    assert_eq!(harness.call().kind, CallKind::Status);
}

/// Guards against a result that appears a minute late: the stream reports its end only once.
#[test]
fn task_that_runs_again_is_polled_soon() {
    let mut harness = Harness::streaming();
    harness.receive(&[status("completed")]);
    let call = harness.call();
    assert_eq!(call.kind, CallKind::Response);
    harness.answer(&call, progress("processing"));
    assert_eq!(harness.phase("a"), Phase::Running);
    let before = harness.now;
    harness.next_call();
    assert!(harness.now - before < 2_000);
}

/// The stream was interrupted: the end of the task may be long ago.
#[test]
fn end_is_unseen_if_the_stream_was_silent_before() {
    let mut harness = Harness::streaming();
    harness.engine.stream_ended(None, harness.now, 0.5);
    harness.now += 30_000;
    assert!(matches!(
        harness.stream_action(),
        Some(StreamAction::Open(_))
    ));
    harness.receive(&[status("failed")]);
    let task = harness.engine.task(&TaskKey("a".into())).unwrap();
    assert!(task.ended_unseen);
}

#[test]
fn polls_resume_at_once_when_the_stream_ends_or_is_silent() {
    let mut harness = Harness::streaming();
    harness.engine.stream_ended(None, harness.now, 0.5);
    assert_eq!(harness.call().kind, CallKind::Status);

    let mut harness = Harness::streaming();
    let dead = harness.now + 22_000;
    assert_eq!(harness.engine.next_wake(), Some(dead));
    harness.now = dead;
    assert_eq!(harness.stream_action(), Some(StreamAction::Close));
    assert_eq!(harness.call().kind, CallKind::Status);
}

#[test]
fn stream_without_a_byte_defers_no_poll() {
    let mut harness = Harness::new();
    let call = harness.running();
    assert!(matches!(
        harness.stream_action(),
        Some(StreamAction::Open(_))
    ));
    harness.answer(&call, progress("processing"));
    let before = harness.now;
    harness.next_call();
    assert!(harness.now - before < 2_000);
}

#[test]
fn end_of_the_stream_respects_limits_and_waits_after_errors() {
    let mut harness = Harness::new();
    let call = harness.running();
    harness.open_stream();
    let wait = ApiError::from_status(429, None, Some(30_000));
    harness.answer(&call, Err(wait));
    let start = harness.now;
    harness.engine.stream_ended(None, harness.now, 0.5);
    assert!(harness.calls().is_empty());
    harness.now += 5_000;
    assert_eq!(harness.stream_action(), None, "opening one is a call, too");
    harness.next_call();
    assert!(harness.now >= start + 30_000);

    let mut harness = Harness::new();
    let mut call = harness.running();
    harness.open_stream();
    for _ in 0..5 {
        harness.answer(&call, Err(error(500)));
        call = harness.next_call();
        harness.receive(&[]);
    }
    harness.answer(&call, Err(error(500)));
    harness.engine.stream_ended(None, harness.now, 0.5);
    assert!(harness.calls().is_empty());
}

#[test]
fn missed_events_are_polled() {
    let mut harness = Harness::streaming();
    harness.receive(&[missed()]);
    let call = harness.call();
    // The answer may be older than the changes that were missed.
    harness.receive(&[missed()]);
    harness.answer(&call, progress("processing"));
    let before = harness.now;
    let call = harness.next_call();
    assert!(harness.now - before < 2_000);
    harness.answer(&call, progress("processing"));
    assert!(harness.engine.next_wake().unwrap() >= harness.now + 20_000);
    harness.engine.stream_ended(None, harness.now, 0.5);
    harness.now += 1_000;
    let action = harness.stream_action();
    assert_eq!(action, Some(StreamAction::Open(Some("7".into()))));
}

/// Guards against a service that reports missed events all the time, and would be polled each time.
#[test]
fn frequent_reports_of_missed_events_lead_to_a_poll_each_5_seconds() {
    let mut harness = Harness::streaming();
    let start = harness.now;
    let mut polls = Vec::new();
    while harness.now < start + 15_000 {
        harness.receive(&[missed()]);
        for call in harness.calls() {
            assert_eq!(call.kind, CallKind::Status);
            harness.answer(&call, progress("processing"));
            polls.push(harness.now - start);
        }
        harness.now += 200;
    }
    assert_eq!(polls, [0, 5_000, 10_000]);
    // The last report leads to a poll, although no other report follows.
    let call = harness.next_call();
    assert_eq!(call.kind, CallKind::Status);
    assert_eq!(harness.now, start + 15_000);
}

#[test]
fn event_during_a_poll_leads_to_another_poll() {
    let mut harness = Harness::new();
    let call = harness.running();
    harness.open_stream();
    harness.receive(&[status("completed")]);
    assert_eq!(harness.phase("a"), Phase::Running);
    harness.answer(&call, progress("processing"));
    let before = harness.now;
    harness.next_call();
    assert!(harness.now - before < 2_000);
}

/// The event of its end may have been received before its id was known.
#[test]
fn task_is_polled_soon_after_it_is_accepted() {
    let mut harness = Harness::streaming();
    harness.submit(&["b"]);
    let call = harness.call();
    harness.answer(&call, accepted("2"));
    let before = harness.now;
    let call = harness.next_call();
    assert_eq!(call.tasks, [TaskKey("b".into())]);
    assert!(harness.now - before < 2_000);
}

#[test]
fn other_and_late_events_change_nothing() {
    let mut harness = Harness::streaming();
    harness.hear_until(harness.now + 1_000);
    let before = harness.engine.task(&TaskKey("a".into())).cloned();
    for data in [
        json!({"id": "2", "category": "image", "subcategory": "a", "status": "failed"}),
        json!({"id": "1", "category": "image", "subcategory": "b", "status": "failed"}),
        json!({"id": "1", "category": "video", "subcategory": "a", "status": "failed"}),
        json!({"id": "1", "status": "failed"}),
        json!({"id": "1", "category": "image", "subcategory": "a"}),
        json!({"category": "image", "subcategory": "a", "status": "failed"}),
        json!(["1"]),
        json!(null),
    ] {
        harness.receive(&[event(&data)]);
        assert_eq!(
            harness.engine.task(&TaskKey("a".into())),
            before.as_ref(),
            "{data}"
        );
    }
    for (kind, data) in [("status", "{"), ("status", ""), ("other", "{}"), ("", "")] {
        let event = ServerEvent {
            kind: kind.into(),
            data: data.into(),
            id: None,
        };
        harness.receive(&[event]);
        assert_eq!(harness.engine.task(&TaskKey("a".into())), before.as_ref());
    }
    assert!(harness.calls().is_empty());
    harness.receive(&[status("completed"), status("processing")]);
    assert_eq!(harness.phase("a"), Phase::Fetching);
    harness.receive(&[status("failed")]);
    assert_eq!(harness.phase("a"), Phase::Fetching);
}

#[test]
fn tasks_that_are_not_followed_ignore_events() {
    let mut harness = Harness::streaming();
    harness.submit(&["b"]);
    let key = TaskKey("a".into());
    harness.engine.act(&key, Action::StopWatching, harness.now);
    harness.receive(&[status("completed")]);
    assert_eq!(harness.phase("a"), Phase::Running);
}

#[test]
fn stream_is_open_only_while_tasks_are_polled() {
    let mut harness = Harness::new();
    assert_eq!(harness.stream_action(), None);
    let call = harness.running();
    for (is_offered, may_open) in [(false, true), (true, false)] {
        harness.engine.set_stream_offered(is_offered);
        let action = harness
            .engine
            .stream_action(false, may_open, harness.now, 0.5);
        assert_eq!(action, None);
    }
    harness.engine.set_online(false, harness.now);
    assert_eq!(harness.stream_action(), None);
    harness.engine.set_online(true, harness.now);
    harness.engine.set_leading(false, harness.now);
    assert_eq!(harness.stream_action(), None);
    harness.engine.set_leading(true, harness.now);
    harness.answer(&call, progress("processing"));
    harness.open_stream();
    assert_eq!(harness.stream_action(), None, "one is open");
    harness.engine.set_leading(false, harness.now);
    assert_eq!(harness.stream_action(), Some(StreamAction::Close));
}

#[test]
fn failed_streams_are_opened_again_after_growing_waits() {
    let mut harness = Harness::new();
    harness.running();
    let mut waits = Vec::new();
    assert!(matches!(
        harness.stream_action(),
        Some(StreamAction::Open(_))
    ));
    for _ in 0..7 {
        harness.receive(&[]);
        harness.engine.stream_ended(None, harness.now, 0.5);
        let ended = harness.now;
        while harness.stream_action().is_none() {
            harness.now += 500;
        }
        waits.push((harness.now - ended) / 1_000);
    }
    assert_eq!(waits, [1, 2, 5, 15, 60, 60, 60]);
    // The service ends each stream after 15 minutes.
    harness.receive(&[]);
    harness.hear_until(harness.now + 900_000);
    harness.engine.stream_ended(None, harness.now, 0.5);
    harness.now += 1_000;
    assert!(matches!(
        harness.stream_action(),
        Some(StreamAction::Open(_))
    ));
}

/// Guards against pages that all open their streams at once after a restart of the service.
#[test]
fn waits_before_a_reconnect_are_spread_and_not_shorter_than_retry_after() {
    let wait = |error: Option<&ApiError>, chance: f64| {
        let mut harness = Harness::streaming();
        let ended = harness.now;
        harness.engine.stream_ended(error, harness.now, chance);
        while harness.stream_action().is_none() {
            harness.now += 10;
        }
        harness.now - ended
    };
    let waits = [0.0, 0.5, 1.0].map(|chance| wait(None, chance));
    assert_eq!(waits, [500, 1_000, 1_500]);
    let starting = ApiError::from_status(503, None, Some(10_000));
    let waits = [0.0, 0.5, 1.0].map(|chance| wait(Some(&starting), chance));
    assert_eq!(waits, [10_500, 11_000, 11_500]);
}

#[test]
fn refused_stream_is_opened_again_after_ten_minutes_or_for_another_account() {
    for refusal in [
        ApiError::from_status(400, None, None),
        ApiError::from_status(401, None, None),
        ApiError::from_status(404, None, None),
        ApiError::malformed("it is a web page"),
    ] {
        let mut harness = Harness::new();
        harness.running();
        assert!(matches!(
            harness.stream_action(),
            Some(StreamAction::Open(_))
        ));
        harness
            .engine
            .stream_ended(Some(&refusal), harness.now, 0.5);
        harness.now += 599_999;
        assert_eq!(harness.stream_action(), None, "{refusal:?}");
        let other = Account {
            uid: "other".into(),
            ..account()
        };
        harness.engine.set_account(other, harness.now);
        harness.engine.set_account(account(), harness.now);
        assert!(matches!(
            harness.stream_action(),
            Some(StreamAction::Open(_))
        ));
    }
    let mut harness = Harness::new();
    harness.running();
    assert!(matches!(
        harness.stream_action(),
        Some(StreamAction::Open(_))
    ));
    harness.engine.stream_ended(
        Some(&ApiError::from_status(404, None, None)),
        harness.now,
        0.5,
    );
    harness.now += 600_000;
    assert!(matches!(
        harness.stream_action(),
        Some(StreamAction::Open(_))
    ));
    let busy = ApiError::from_status(429, None, Some(50_000));
    harness.engine.stream_ended(Some(&busy), harness.now, 0.5);
    assert!(harness.calls().is_empty(), "a limit applies to all calls");
    harness.now += 49_999;
    assert_eq!(harness.stream_action(), None);
    assert!(harness.calls().is_empty());
}

/// Guards against a gateway that limits the number of streams, and would stop all polls and submissions again and again.
#[test]
fn rate_limit_of_the_stream_delays_the_next_stream_longer_than_calls() {
    let mut harness = Harness::new();
    let mut call = harness.running();
    assert!(harness.stream_action().is_some());
    for (retry_after, least) in [
        (20_000, 60_000),
        (20_000, 120_000),
        (20_000, 240_000),
        (20_000, 480_000),
        (20_000, 480_000),
        (900_000, 900_000),
    ] {
        let limited = ApiError::from_status(429, None, Some(retry_after));
        let ended = harness.now;
        harness.engine.stream_ended(Some(&limited), ended, 0.0);
        harness.answer(&call, progress("processing"));
        call = harness.next_call();
        let wait = harness.now - ended;
        assert!((retry_after..retry_after + 6_000).contains(&wait), "{wait}");
        while harness.stream_action().is_none() {
            harness.answer(&call, progress("processing"));
            call = harness.next_call();
        }
        let wait = harness.now - ended;
        assert!((least..least + 70_000).contains(&wait), "{wait}");
    }
}

#[test]
fn few_calls_notice_each_of_many_completions_at_once() {
    let status_calls = |has_stream: bool| {
        let mut world = World::new(9);
        world.has_stream = has_stream;
        world.work = (5_000, 300_000);
        let keys = world.submit(50, Some("batch"));
        world.run(480_000);
        assert_eq!(world.finished.len(), keys.len());
        assert_eq!(world.streams > 0, has_stream);
        // The simulated service reports changes once a second.
        let late = world
            .jobs
            .values()
            .map(|job| world.noticed[&job.key].saturating_sub(job.done_at));
        assert!(!has_stream || late.max().unwrap() <= 1_000 + 2 * world.latency.1);
        let calls = world
            .sent
            .iter()
            .filter(|call| call.kind == CallKind::Status);
        calls.count()
    };
    let (few, many) = (status_calls(true), status_calls(false));
    assert!(few * 5 < many, "{few} instead of {many}");
}

/// Returns the longest time after which the end of a task was noticed, in milliseconds. Checks that every task has ended.
fn longest_delay(faults: StreamFaults) -> Millis {
    let mut world = World::new(5);
    world.has_stream = true;
    world.stream_faults = faults;
    world.work = (5_000, 900_000);
    let keys = world.submit(50, Some("batch"));
    world.run(1_200_000);
    assert_eq!(world.finished.len(), keys.len());
    assert!(world.streams > 0);
    let jobs = world.jobs.values();
    let delays = jobs.map(|job| world.noticed[&job.key].saturating_sub(job.done_at));
    delays.max().unwrap()
}

/// Guards against tasks that seem to run as long as a broken connection stays open.
#[test]
fn end_is_noticed_half_a_minute_later_if_the_stream_has_fallen_silent() {
    let delay = longest_delay(StreamFaults {
        falls_silent: 1_000,
        ..StreamFaults::default()
    });
    // The silence, and then the usual interval.
    assert!((5_000..30_000).contains(&delay), "{delay}");
}

#[test]
fn end_is_noticed_a_minute_later_if_the_stream_does_not_report_it() {
    let delay = longest_delay(StreamFaults {
        lost_event: 1_000,
        ..StreamFaults::default()
    });
    assert!((30_000..70_000).contains(&delay), "{delay}");
}

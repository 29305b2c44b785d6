//! The rules one by one, on an engine that is told everything by hand.

use atelier_contract::{ApiError, path};
use serde_json::{Value, json};

use super::world::{account, task};
use crate::engine::{BlockReason, Call, CallKind, Command, Engine};
use crate::{Action, BatchKey, BatchPlace, Millis, Phase, Task, TaskKey, TaskState};

pub const START: Millis = 1_800_000_000_000;

/// An engine, its clock, and the calls that it has asked for.
pub struct Hand {
    pub engine: Engine,
    pub now: Millis,
    pub saved: Vec<Task>,
    pub deleted: Vec<TaskKey>,
    pub waits: Vec<(String, Millis, Millis)>,
}

impl Hand {
    pub fn new() -> Self {
        Self {
            engine: Engine::new(account()),
            now: START,
            saved: Vec::new(),
            deleted: Vec::new(),
            waits: Vec::new(),
        }
    }

    pub fn calls(&mut self) -> Vec<Call> {
        let mut calls = Vec::new();
        for command in self.engine.step(self.now, &mut || 0.5) {
            match command {
                Command::Call(call) => calls.push(call),
                Command::Save(task) => self.saved.push(task),
                Command::Delete(key) => self.deleted.push(key),
                Command::Wait {
                    address,
                    until,
                    since,
                } => self.waits.push((address, until, since)),
                Command::Finished(_) => {}
            }
        }
        calls
    }

    pub fn call(&mut self) -> Call {
        let mut calls = self.calls();
        assert_eq!(calls.len(), 1, "{calls:?}");
        calls.remove(0)
    }

    pub fn answer(&mut self, call: &Call, answer: Result<Value, ApiError>) {
        self.engine
            .responded(call.id, answer, self.now, &mut || 0.5);
    }

    /// Waits until the engine wants to be called, and gives the only call.
    pub fn next_call(&mut self) -> Call {
        self.now = self.engine.next_wake().expect("something to do");
        self.call()
    }

    pub fn submit(&mut self, keys: &[&str]) {
        let tasks = keys.iter().map(|key| task(key, self.now)).collect();
        self.engine.submit(tasks, self.now);
    }

    pub fn submit_batch(&mut self, batch: &str, count: usize) {
        let tasks = (0..count).map(|index| {
            let mut task = task(&format!("{batch}-{index:03}"), self.now);
            let batch = BatchKey(batch.into());
            task.batch = Some(BatchPlace { batch, index });
            task
        });
        self.engine.submit(tasks.collect(), self.now);
    }

    /// One task that runs, and its next status call.
    pub fn running(&mut self) -> Call {
        self.submit(&["a"]);
        let call = self.call();
        self.answer(&call, accepted("1"));
        self.next_call()
    }

    /// What storage has as taken back.
    pub fn taken_back(&self) -> Vec<&str> {
        let mut latest = std::collections::BTreeMap::new();
        for task in &self.saved {
            latest.insert(task.key.0.as_str(), task.taken_back);
        }
        let kept = latest
            .into_iter()
            .filter(|(_, is_taken_back)| *is_taken_back);
        kept.map(|(key, _)| key).collect()
    }

    pub fn state(&self, key: &str) -> TaskState {
        self.engine
            .task(&TaskKey(key.into()))
            .unwrap()
            .state
            .clone()
    }

    pub fn phase(&self, key: &str) -> Phase {
        self.state(key).phase()
    }
}

pub fn accepted(id: &str) -> Result<Value, ApiError> {
    Ok(json!({"success": true, "data": {"id": id, "status": "starting"}}))
}

pub fn progress(word: &str) -> Result<Value, ApiError> {
    Ok(json!({"success": true, "data": {"id": "1", "status": word}}))
}

pub fn error(status: u16) -> ApiError {
    ApiError::from_status(status, Some(&json!({"message": "so"})), None)
}

pub fn network() -> ApiError {
    ApiError::Network { detail: "x".into() }
}

#[test]
fn a_task_from_submission_to_output() {
    let mut hand = Hand::new();
    hand.submit(&["a"]);
    let call = hand.call();
    assert_eq!((call.kind, call.path), (CallKind::Generate, path::GENERATE));
    assert_eq!(call.write_first[0].state, TaskState::Submitting);
    assert_eq!(call.body["seed"], u64::MAX);
    assert_eq!(hand.saved.last().unwrap().state, TaskState::Submitting);
    hand.answer(&call, accepted("1"));
    assert_eq!(hand.state("a").label(), "Starting");
    let call = hand.next_call();
    assert_eq!(call.path, path::STATUS);
    assert!((900..=1_100).contains(&(hand.now - START)));
    hand.answer(&call, progress("completed"));
    let call = hand.call();
    assert_eq!(call.path, path::RESPONSE);
    hand.answer(
        &call,
        Ok(json!({"success": true, "data": {"status": "completed", "output": ["u"]}})),
    );
    assert!(matches!(hand.state("a"), TaskState::Ready { outputs, .. } if outputs == ["u"]));
    assert_eq!(hand.engine.next_wake(), None);
}

#[test]
fn only_what_was_certainly_not_taken_is_said_to_have_failed() {
    for (error, expected) in [
        (error(422), Phase::Failed),
        (error(404), Phase::Failed),
        (error(402), Phase::Failed),
        (error(500), Phase::Unconfirmed),
        (error(503), Phase::Unconfirmed),
        (network(), Phase::Unconfirmed),
        (ApiError::Timeout { after_ms: 1 }, Phase::Unconfirmed),
        (ApiError::malformed("x"), Phase::Unconfirmed),
        (error(429), Phase::Queued),
        (ApiError::from_status(503, None, Some(1_000)), Phase::Queued),
    ] {
        let mut hand = Hand::new();
        hand.submit(&["a"]);
        let call = hand.call();
        hand.answer(&call, Err(error.clone()));
        assert_eq!(hand.phase("a"), expected, "{error:?}");
    }
}

#[test]
fn polls_that_fail_leave_the_state_and_go_on_for_ever() {
    let mut hand = Hand::new();
    let mut call = hand.running();
    let began = hand.now;
    for failure in 1..=50 {
        let before = hand.now;
        hand.answer(
            &call,
            Err(if failure % 2 == 0 {
                error(500)
            } else {
                network()
            }),
        );
        assert_eq!(hand.phase("a"), Phase::Running);
        let trouble = hand
            .engine
            .task(&TaskKey("a".into()))
            .unwrap()
            .poll_error
            .clone();
        assert_eq!(trouble.unwrap().since, began);
        call = hand.next_call();
        assert!(hand.now - before <= 37_500);
    }
    hand.answer(&call, progress("processing"));
    assert_eq!(
        hand.engine.task(&TaskKey("a".into())).unwrap().poll_error,
        None
    );
}

#[test]
fn an_unknown_id_is_believed_when_it_was_said_twice() {
    let mut hand = Hand::new();
    let call = hand.running();
    hand.answer(&call, Err(error(404)));
    assert_eq!(hand.phase("a"), Phase::Running);
    let first = hand.now;
    // Shown again at once: too early to count.
    hand.now += 1_000;
    hand.engine.wake(hand.now);
    let call = hand.call();
    hand.answer(&call, Err(error(404)));
    assert_eq!(hand.phase("a"), Phase::Running);
    let call = hand.next_call();
    assert!(hand.now - first >= 5_000);
    hand.answer(&call, Err(error(404)));
    assert_eq!(hand.phase("a"), Phase::Gone);
    assert_eq!(hand.engine.next_wake(), None);
}

#[test]
fn an_answer_in_between_or_a_wordless_404_keeps_a_task() {
    let mut hand = Hand::new();
    let mut call = hand.running();
    for answer in [
        Err(error(404)),
        progress("processing"),
        Err(error(404)),
        Err(error(502)),
        Err(error(404)),
    ] {
        hand.answer(&call, answer);
        call = hand.next_call();
    }
    let wordless = || Err(ApiError::from_status(404, None, None));
    hand.answer(&call, progress("processing"));
    let began = hand.now;
    while hand.phase("a") == Phase::Running {
        let call = hand.next_call();
        hand.answer(&call, wordless());
    }
    assert!(hand.now - began >= 60_000);
}

#[test]
fn an_answer_about_another_task_says_nothing() {
    let mut hand = Hand::new();
    let call = hand.running();
    hand.answer(
        &call,
        Ok(json!({"success": true, "data": {"id": "2", "status": "failed"}})),
    );
    assert_eq!(hand.phase("a"), Phase::Running);
    assert!(
        hand.engine
            .task(&TaskKey("a".into()))
            .unwrap()
            .poll_error
            .is_some()
    );
}

#[test]
fn completed_without_output_is_asked_about_a_few_times_and_then_believed() {
    let mut hand = Hand::new();
    let call = hand.running();
    hand.answer(&call, progress("completed"));
    let mut asked = 0;
    while hand.phase("a") == Phase::Fetching {
        let call = hand.next_call();
        asked += 1;
        hand.answer(
            &call,
            Ok(json!({"success": true, "data": {"status": "completed"}})),
        );
    }
    assert!(matches!(hand.state("a"), TaskState::Ready { outputs, .. } if outputs.is_empty()));
    assert!((2..10).contains(&asked));
}

#[test]
fn a_response_that_is_not_ready_yet_goes_back_to_asking() {
    let mut hand = Hand::new();
    let call = hand.running();
    hand.answer(&call, progress("completed"));
    let call = hand.call();
    hand.answer(&call, progress("processing"));
    assert_eq!(hand.phase("a"), Phase::Running);
    assert_eq!(hand.next_call().kind, CallKind::Status);
}

#[test]
fn fresh_addresses_replace_old_ones_and_none_do_not() {
    let mut hand = Hand::new();
    let call = hand.running();
    hand.answer(&call, progress("completed"));
    let call = hand.call();
    let output =
        |urls: Value| Ok(json!({"success": true, "data": {"status": "completed", "output": urls}}));
    hand.answer(&call, output(json!(["old"])));
    let key = TaskKey("a".into());
    for (answer, expected) in [
        (output(json!([])), "old"),
        (Err(error(404)), "old"),
        (output(json!(["new"])), "new"),
    ] {
        hand.engine.act(&key, Action::Refetch, hand.now);
        hand.engine.act(&key, Action::Refetch, hand.now);
        let call = hand.call();
        assert_eq!(call.kind, CallKind::Response);
        hand.answer(&call, answer);
        assert!(
            matches!(hand.state("a"), TaskState::Ready { outputs, .. } if outputs == [expected])
        );
        assert!(hand.calls().is_empty(), "asked once");
        // Whoever waits for the answer is told, though nothing else may have changed.
        let told = hand.saved.last().map(|task| (&task.state, task.refreshed));
        assert_eq!(told, Some((&hand.state("a"), Some(hand.now))));
    }
}

#[test]
fn a_refusal_anywhere_stops_everything_until_its_time() {
    let mut hand = Hand::new();
    let call = hand.running();
    hand.submit(&["b"]);
    hand.answer(&call, Err(ApiError::from_status(429, None, Some(12_000))));
    let told = hand.now;
    assert!(hand.calls().is_empty());
    assert!(
        matches!(hand.engine.block_reason(hand.now), Some(BlockReason::RateLimited { until }) if until >= told + 12_000)
    );
    hand.now = told + 11_999;
    hand.engine.wake(hand.now);
    assert!(hand.calls().is_empty());
    hand.now = hand.engine.next_wake().unwrap();
    assert!((told + 12_000..told + 13_000).contains(&hand.now));
    assert!(!hand.calls().is_empty());
    assert_eq!(
        hand.engine.task(&TaskKey("a".into())).unwrap().poll_error,
        None
    );
}

#[test]
fn a_refusal_outlives_the_page() {
    let mut hand = Hand::new();
    let call = hand.running();
    hand.answer(&call, Err(ApiError::from_status(429, None, Some(12_000))));
    hand.calls();
    let stored = hand.saved.last().unwrap().clone();
    let told = hand.now;
    hand.engine = Engine::new(account());
    hand.now += 1_000;
    hand.engine.load(vec![stored], hand.now);
    assert!(hand.calls().is_empty());
    hand.next_call();
    assert!(hand.now >= told + 12_000);
}

/// The record of a task is written in its own time: a page that is left before that is done took
/// the service's wish with it.
#[test]
fn a_refusal_is_told_apart_from_any_record() {
    let mut hand = Hand::new();
    let call = hand.running();
    hand.answer(&call, Err(ApiError::from_status(429, None, Some(12_000))));
    let told = hand.now;
    assert!(hand.calls().is_empty());
    let (address, until, since) = hand.waits.remove(0);
    assert!(until >= told + 12_000);
    hand.engine = Engine::new(account());
    let mut unwritten = task("a", START);
    unwritten.state = TaskState::Running {
        id: atelier_contract::TaskId("1".into()),
        word: atelier_contract::StatusWord::Processing,
    };
    hand.engine.load(vec![unwritten], hand.now);
    hand.engine.wait(&address, until, Some(since), hand.now);
    assert!(hand.calls().is_empty());
    hand.next_call();
    assert!(hand.now >= told + 12_000);
}

/// Guards against a wait of twelve seconds that lasted three quarters of an hour: a page had kept when it
/// ends, the clock was set back, and the next page believed that.
#[test]
fn a_wait_that_was_kept_is_no_longer_once_the_clock_was_set_back() {
    let hour = 3_600_000;
    for since in [Some(START), None] {
        let (until, now) = (START + 12_000, START - hour);
        let mut engine = Engine::new(account());
        engine.wait("", until, since, now);
        let blocked = engine.services.blocked_until("", now);
        let whole = now + 12_000;
        // An earlier version does not say since when: then the clock is believed.
        assert_eq!(blocked, Some(since.map_or(until, |_| whole)));
    }
}

/// A submission is written down before it leaves. On a busy machine that took half a second, and it
/// left though the service had meanwhile asked for no more calls.
#[test]
fn what_was_being_written_when_a_refusal_came_does_not_leave() {
    let mut hand = Hand::new();
    let poll = hand.running();
    hand.submit(&["b"]);
    let submission = hand.call();
    assert!(hand.engine.may_leave(submission.id, hand.now));
    let refusal = ApiError::from_status(429, None, Some(12_000));
    hand.answer(&poll, Err(refusal));
    let told = hand.now;
    hand.now += 500;
    assert!(!hand.engine.may_leave(submission.id, hand.now));
    assert_eq!(hand.phase("b"), Phase::Queued);
    assert!(hand.calls().is_empty());
    hand.now = hand.engine.next_wake().unwrap();
    assert!((told + 12_000..told + 13_000).contains(&hand.now));
    let mut kinds: Vec<CallKind> = hand.calls().iter().map(|call| call.kind).collect();
    kinds.sort_by_key(|kind| *kind == CallKind::Generate);
    assert_eq!(kinds, [CallKind::Status, CallKind::Generate]);

    // The same with credentials that are refused: it would only fail.
    let mut hand = Hand::new();
    hand.submit(&["a", "b"]);
    let calls = hand.calls();
    hand.answer(&calls[0], Err(error(401)));
    assert!(!hand.engine.may_leave(calls[1].id, hand.now));
    assert_eq!(hand.phase("b"), Phase::Queued);
    assert!(!hand.engine.may_leave(calls[1].id, hand.now), "it is gone");
}

#[test]
fn a_clock_set_back_delays_nothing() {
    let mut hand = Hand::new();
    let call = hand.running();
    hand.answer(&call, progress("processing"));
    hand.now -= 3_600_000;
    hand.engine.step(hand.now, &mut || 0.5);
    assert!(hand.engine.next_wake().unwrap() <= hand.now + 1_200);
    // In the middle of an unknown id, too.
    let call = hand.next_call();
    hand.answer(&call, Err(error(404)));
    hand.now -= 3_600_000;
    let back = hand.now;
    while hand.phase("a") == Phase::Running {
        hand.calls();
        let call = hand.next_call();
        hand.answer(&call, Err(error(404)));
    }
    assert!(hand.now - back < 20_000);
}

#[test]
fn offline_nothing_is_called_and_back_online_everything_at_once() {
    let mut hand = Hand::new();
    let call = hand.running();
    hand.answer(&call, Err(network()));
    hand.submit(&["b"]);
    hand.engine.set_online(false, hand.now);
    hand.now += 600_000;
    assert!(hand.calls().is_empty());
    assert_eq!(hand.engine.next_wake(), None);
    hand.engine.set_online(true, hand.now);
    assert_eq!(hand.calls().len(), 2);
}

#[test]
fn what_could_not_be_sent_is_tried_again_ever_more_slowly() {
    let mut hand = Hand::new();
    hand.submit(&["a"]);
    let mut call = hand.call();
    let mut waits = Vec::new();
    for _ in 0..5 {
        let before = hand.now;
        hand.engine.not_sent(call.id, hand.now);
        assert_eq!(hand.phase("a"), Phase::Queued);
        call = hand.next_call();
        waits.push(hand.now - before);
    }
    assert!(waits.is_sorted() && waits[4] > 5_000, "{waits:?}");
    hand.engine.not_sent(call.id, hand.now);
    hand.engine.wake(hand.now);
    assert_eq!(hand.calls().len(), 1, "asked for, it is tried at once");
}

/// What a service says of how far it is stands with the task while it runs, and no longer.
#[test]
fn the_line_of_progress_goes_with_the_run() {
    let mut hand = Hand::new();
    hand.submit(&["a"]);
    let call = hand.call();
    hand.answer(&call, Ok(json!({"data": {"id": "t1", "status": "queued"}})));
    let key = TaskKey("a".into());
    let mut say = |data: Value| {
        let call = hand.next_call();
        hand.answer(&call, Ok(json!({"data": data})));
        hand.engine.task(&key).unwrap().progress.clone()
    };
    let line = say(json!({"id": "t1", "status": "processing", "progress": "step 3 of 20"}));
    assert_eq!(line.as_deref(), Some("step 3 of 20"));
    assert_eq!(say(json!({"id": "t1", "status": "processing"})), None);
    let data = json!({"id": "t1", "status": "completed", "progress": "20 of 20"});
    assert_eq!(say(data), None);
}

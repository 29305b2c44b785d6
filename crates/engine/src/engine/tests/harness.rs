//! A test harness that drives an engine step by step.

use atelier_contract::ApiError;
use serde_json::{Value, json};

use super::world::{account, task};
use crate::engine::{Call, Command, Engine};
use crate::{BatchKey, BatchPlace, Millis, Phase, RateLimit, Task, TaskKey, TaskState};

pub const START: Millis = 1_800_000_000_000;

/// An engine, its clock, and the commands that it has returned.
pub struct Harness {
    pub engine: Engine,
    pub now: Millis,
    pub saved: Vec<Task>,
    /// The records that were shown without being stored.
    pub shown: Vec<Task>,
    pub deleted: Vec<TaskKey>,
    pub waits: Vec<RateLimit>,
}

impl Harness {
    pub fn new() -> Self {
        Self {
            engine: Engine::new(account()),
            now: START,
            saved: Vec::new(),
            shown: Vec::new(),
            deleted: Vec::new(),
            waits: Vec::new(),
        }
    }

    pub fn calls(&mut self) -> Vec<Call> {
        let mut calls = Vec::new();
        for command in self.engine.step(self.now) {
            match command {
                Command::Call(call) => calls.push(call),
                Command::Save(task) => self.saved.push(task),
                Command::Show(task) => self.shown.push(task),
                Command::Delete(key) => self.deleted.push(key),
                Command::Wait(limit) => self.waits.push(limit),
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

    /// Advances the clock to the engine's next wake time and returns the only call.
    pub fn next_call(&mut self) -> Call {
        self.now = self.engine.next_wake().expect("a wake time");
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

    /// Submits one task, has it accepted, and returns its next status call.
    pub fn running(&mut self) -> Call {
        self.submit(&["a"]);
        let call = self.call();
        self.answer(&call, accepted("1"));
        self.next_call()
    }

    /// Returns the keys of the tasks that are stored as taken back.
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
    // A 403 is classified by its message.
    let message = if status == 403 { "wrong token" } else { "so" };
    let body = json!({"success": false, "message": message});
    ApiError::from_status(status, Some(&body), None)
}

pub fn network() -> ApiError {
    ApiError::Network { detail: "x".into() }
}

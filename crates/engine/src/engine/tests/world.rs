//! A simulated service and page in one process, with a clock that the test controls. It asserts all invariants in each
//! test that uses it.

mod guards;
mod service;
mod stream;

use std::collections::{BTreeMap, HashMap, HashSet};

use atelier_contract::{ApiError, Input};
use serde_json::{Value, json};

use stream::OpenStream;
pub use stream::StreamFaults;

use crate::engine::{Call, CallId, CallKind, Command, Engine, Idempotency};
use crate::{
    Account, Action, BatchKey, BatchPlace, Millis, Phase, RateLimit, Task, TaskKey, TaskState,
};

/// The number of calls in a thousand that fail, by kind of failure.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Faults {
    pub unreached: u64,
    pub lost_answer: u64,
    pub refused: u64,
    pub broken: u64,
    pub nonsense: u64,
    /// The number of entries in a thousand entries of batch responses that are broken.
    pub bad_entry: u64,
}

pub struct Job {
    pub key: TaskKey,
    pub done_at: Millis,
    pub fails: bool,
    /// Whether its model can stop it.
    pub can_be_canceled: bool,
    /// When the service canceled it, in true time.
    pub canceled: Option<Millis>,
}

struct InFlight {
    id: CallId,
    kind: CallKind,
    tasks: Vec<TaskKey>,
    at: Millis,
    answer: Result<Value, ApiError>,
    /// The token of the call, and how many refusals of it the page had received when the call was sent.
    token: u64,
    refusals: u64,
}

pub struct Sent {
    pub kind: CallKind,
    pub tasks: Vec<TaskKey>,
}

pub struct World {
    pub engine: Engine,
    /// The true time; the page's clock differs by `offset`.
    pub time: Millis,
    pub offset: i64,
    pub storage: BTreeMap<TaskKey, String>,
    pub jobs: BTreeMap<String, Job>,
    pub faults: Faults,
    pub has_batch: bool,
    /// Whether the service can cancel tasks.
    pub has_cancel: bool,
    /// The time for which the service remembers keys, if it supports them.
    pub key_lifetime: Option<Millis>,
    /// When the page receives the service's key support, in true time.
    key_support_at: Option<Millis>,
    /// The number of requests for the model list that will fail.
    pub list_failures: u64,
    /// The id that was returned, the request and the time, by idempotency key.
    keys: HashMap<String, (String, Value, Millis)>,
    /// Whether the service has a stream of events.
    pub has_stream: bool,
    pub stream_faults: StreamFaults,
    stream: Option<OpenStream>,
    /// The number of streams that were opened.
    pub streams: usize,
    pub latency: (Millis, Millis),
    pub work: (Millis, Millis),
    pub sent: Vec<Sent>,
    pub finished: Vec<TaskKey>,
    /// When the page noticed the completion of each task.
    pub noticed: HashMap<TaskKey, Millis>,
    /// The number of resubmissions of each task by the user.
    pub resubmits: HashMap<TaskKey, usize>,
    /// The ids that the page has received.
    received_ids: HashMap<TaskKey, String>,
    terminal_states: HashMap<TaskKey, TaskState>,
    /// Tasks whose inputs may be back in the table.
    taken_back: HashSet<TaskKey>,
    /// Tasks whose last submission has an unknown outcome.
    uncertain: HashSet<TaskKey>,
    in_flight: Vec<InFlight>,
    /// Calls whose records are being stored, and when that ends.
    writing: Vec<(Millis, Call)>,
    /// The maximum time that storing takes.
    pub write: Millis,
    /// When the next call is allowed, in true time.
    not_before: Millis,
    /// The rate limit that the page has stored for a reload.
    stored_wait: Option<RateLimit>,
    /// Whether the service refuses the current token.
    pub revoked: bool,
    token: u64,
    /// Tasks in flight when the token was changed.
    pub sent_with_other_token: HashSet<TaskKey>,
    /// The number of refusals of the current token that the page has received.
    refusals: u64,
    /// Whether the last refusal is still in force.
    is_refused: bool,
    seed: u64,
    next_id: u64,
    next_key: u64,
}

pub fn account() -> Account {
    Account {
        address: "https://service.example".into(),
        uid: "me".into(),
    }
}

pub fn input(prompt: &str) -> Input {
    serde_json::from_value(json!({
        "model": {"category": "image", "subcategory": "a"},
        "values": {"prompt": prompt, "seed": u64::MAX},
    }))
    .unwrap()
}

pub fn task(key: &str, created: Millis) -> Task {
    Task::new(
        TaskKey(key.into()),
        account(),
        "A".into(),
        input(key),
        created,
    )
}

impl World {
    pub fn new(seed: u64) -> Self {
        let time = 1_800_000_000_000;
        let mut engine = Engine::new(account());
        engine.set_token_version(0, time);
        Self {
            engine,
            time,
            offset: 0,
            storage: BTreeMap::new(),
            jobs: BTreeMap::new(),
            faults: Faults::default(),
            has_batch: true,
            has_cancel: true,
            key_lifetime: None,
            key_support_at: None,
            list_failures: 0,
            keys: HashMap::new(),
            has_stream: false,
            stream_faults: StreamFaults::default(),
            stream: None,
            streams: 0,
            latency: (20, 80),
            work: (2_000, 60_000),
            sent: Vec::new(),
            finished: Vec::new(),
            noticed: HashMap::new(),
            resubmits: HashMap::new(),
            received_ids: HashMap::new(),
            terminal_states: HashMap::new(),
            taken_back: HashSet::new(),
            uncertain: HashSet::new(),
            in_flight: Vec::new(),
            writing: Vec::new(),
            write: 0,
            not_before: 0,
            stored_wait: None,
            revoked: false,
            token: 0,
            sent_with_other_token: HashSet::new(),
            refusals: 0,
            is_refused: false,
            seed: seed | 1,
            next_id: 0,
            next_key: 0,
        }
    }

    pub fn now(&self) -> Millis {
        self.time.saturating_add_signed(self.offset)
    }

    /// Returns a pseudorandom number (xorshift).
    pub fn below(&mut self, most: u64) -> u64 {
        self.seed ^= self.seed << 13;
        self.seed ^= self.seed >> 7;
        self.seed ^= self.seed << 17;
        self.seed % most.max(1)
    }

    /// Returns a pseudorandom number in `[0, 1)`.
    fn chance(&mut self) -> f64 {
        self.below(1_000) as f64 / 1_000.0
    }

    pub fn submit(&mut self, count: usize, batch: Option<&str>) -> Vec<TaskKey> {
        let now = self.now();
        let tasks: Vec<Task> = (0..count)
            .map(|index| {
                self.next_key += 1;
                let mut task = task(&format!("task-{:05}", self.next_key), now);
                task.batch = batch.map(|batch| BatchPlace {
                    batch: BatchKey(batch.into()),
                    index,
                });
                task
            })
            .collect();
        let keys = tasks.iter().map(|task| task.key.clone()).collect();
        self.engine.submit(tasks, now);
        self.step_engine();
        keys
    }

    pub fn act(&mut self, key: &TaskKey, action: Action) {
        let phase = self.engine.task(key).map(|task| task.state.phase());
        if action == Action::Resubmit && phase == Some(Phase::Unconfirmed) {
            *self.resubmits.entry(key.clone()).or_default() += 1;
            self.uncertain.remove(key);
        }
        let now = self.now();
        self.engine.act(key, action, now);
        self.step_engine();
    }

    /// Enters another token, which the service accepts.
    pub fn correct_token(&mut self) {
        self.revoked = false;
        self.token += 1;
        let unanswered = self.keys(Phase::Submitting);
        self.sent_with_other_token.extend(unanswered);
        self.is_refused = false;
        // The rate limit applied to the previous token.
        self.not_before = 0;
        self.stored_wait = None;
        let now = self.now();
        self.engine.set_token_version(self.token, now);
        self.engine.credentials_changed(now);
    }

    /// Closes the page with all calls in flight, and opens it again.
    pub fn restart(&mut self) {
        for call in self.in_flight.drain(..) {
            if call.kind == CallKind::Generate {
                self.uncertain.extend(call.tasks);
            }
        }
        self.writing.clear();
        self.engine = Engine::new(account());
        self.stream = None;
        // The new page has not received the refusal.
        self.is_refused = false;
        self.request_key_support();
        let tasks = self.stored();
        let now = self.now();
        self.engine.set_token_version(self.token, now);
        self.engine.load(tasks, now);
        if let Some(limit) = &self.stored_wait {
            self.engine.wait(limit, now);
        }
        self.step_engine();
    }

    /// Requests the model list.
    pub fn request_key_support(&mut self) {
        let now = self.now();
        let address = account().address;
        self.engine
            .set_idempotency(&address, Idempotency::Asked, now);
        self.key_support_at = Some(self.time + 10 + self.below(9_000));
    }

    /// Requests the model list again and fails this many times.
    pub fn lose_list(&mut self, times: u64) {
        self.list_failures = times;
        self.key_support_at = Some(self.time + 1);
    }

    fn report_key_support(&mut self) {
        if self.key_support_at.is_some_and(|at| at <= self.time) {
            self.key_support_at = None;
            let word = self
                .key_lifetime
                .map_or(Idempotency::Unsupported, Idempotency::For);
            let support = match self.list_failures {
                0 => word,
                _ => Idempotency::Unreachable,
            };
            if self.list_failures > 0 {
                self.list_failures -= 1;
                self.key_support_at = Some(self.time + 1_000 + self.below(60_000));
            }
            let now = self.now();
            self.engine
                .set_idempotency(&account().address, support, now);
        }
    }

    pub fn stored(&self) -> Vec<Task> {
        self.storage
            .values()
            .map(|text| serde_json::from_str(text).unwrap())
            .collect()
    }

    /// Advances the clock: responses arrive, and the engine is called at its wake times.
    pub fn run(&mut self, time: Millis) {
        let end = self.time + time;
        loop {
            let wake = self.engine.next_wake();
            let wake = wake.map(|at| at.saturating_add_signed(-self.offset).max(self.time + 1));
            let answer = self.in_flight.iter().map(|call| call.at).min();
            let key_support = self.key_support_at.map(|at| at.max(self.time + 1));
            let written = self.writing.iter().map(|(at, _)| *at).min();
            let stream = self.next_in_stream().map(|at| at.max(self.time + 1));
            let own = key_support.into_iter().chain(written).chain(stream);
            let next = wake.into_iter().chain(answer).chain(own).min();
            let Some(next) = next.filter(|next| *next <= end) else {
                self.time = end;
                return;
            };
            self.time = self.time.max(next);
            self.report_key_support();
            self.deliver();
            self.deliver_stream();
            self.step_engine();
            self.send_stored();
        }
    }

    /// Sends the calls whose records are stored, if they may still be sent.
    fn send_stored(&mut self) {
        while let Some(at) = self.writing.iter().position(|(at, _)| *at <= self.time) {
            let (_, call) = self.writing.swap_remove(at);
            let now = self.now();
            if self.engine.may_leave(call.id, now) {
                self.send(call);
            } else {
                self.step_engine();
            }
        }
    }

    fn deliver(&mut self) {
        while let Some(at) = self.in_flight.iter().position(|call| call.at <= self.time) {
            let call = self.in_flight.swap_remove(at);
            self.note_response(&call);
            let now = self.now();
            let chance = self.chance();
            self.engine
                .responded(call.id, call.answer, now, &mut || chance);
        }
    }

    pub fn step_engine(&mut self) {
        self.run_commands();
        if self.write == 0 {
            self.send_stored();
        }
    }

    fn run_commands(&mut self) {
        self.engine.set_stream_offered(self.has_stream);
        self.act_on_stream();
        let now = self.now();
        for command in self.engine.step(now) {
            match command {
                Command::Save(task) => self.save(&task),
                Command::Show(_) => {}
                Command::Delete(key) => {
                    self.storage.remove(&key);
                }
                Command::Finished(key) => self.finished.push(key),
                Command::Wait(limit) => self.stored_wait = Some(limit),
                Command::Call(call) if call.write_first().is_empty() => self.send(call),
                Command::Call(call) => {
                    for key in call.write_first() {
                        let task = self.engine.task(key).cloned();
                        self.save(&task.expect("a task that is sent is known"));
                    }
                    let at = self.time + self.below(self.write + 1);
                    self.writing.push((at, call));
                }
            }
        }
    }

    pub fn count(&self, phase: Phase) -> usize {
        let tasks = self.engine.tasks();
        tasks.filter(|task| task.state.phase() == phase).count()
    }

    pub fn keys(&self, phase: Phase) -> Vec<TaskKey> {
        let tasks = self.engine.tasks();
        let mut keys: Vec<_> = tasks
            .filter(|task| task.state.phase() == phase)
            .map(|task| task.key.clone())
            .collect();
        keys.sort();
        keys
    }
}

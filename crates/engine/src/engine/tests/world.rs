//! A service and a page in one process, with a clock that the test moves. Whatever must never
//! happen is asserted here, so that every test that uses it checks it.

use std::collections::{BTreeMap, HashMap, HashSet};

use atelier_contract::{ApiError, Input, path};
use serde_json::{Value, json};

use crate::engine::{Call, CallId, CallKind, Command, Engine, Idempotency};
use crate::{Account, Action, BatchKey, BatchPlace, Millis, Phase, Task, TaskKey, TaskState};

/// Parts of a thousand calls that go wrong, each in its own way.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Faults {
    pub unreached: u64,
    pub lost_answer: u64,
    pub refused: u64,
    pub broken: u64,
    pub nonsense: u64,
    /// Parts of a thousand entries of batch replies.
    pub bad_entry: u64,
}

pub struct Job {
    pub key: TaskKey,
    pub done_at: Millis,
    pub fails: bool,
}

struct Travelling {
    id: CallId,
    kind: CallKind,
    tasks: Vec<TaskKey>,
    at: Millis,
    answer: Result<Value, ApiError>,
    /// Which token it was made with, and how many refusals of it the page had heard of then.
    token: u64,
    refusals: u64,
}

pub struct Sent {
    pub kind: CallKind,
    pub tasks: Vec<TaskKey>,
}

pub struct World {
    pub engine: Engine,
    /// True time; the page's clock differs by `offset`.
    pub time: Millis,
    pub offset: i64,
    pub storage: BTreeMap<TaskKey, String>,
    pub jobs: BTreeMap<String, Job>,
    pub faults: Faults,
    pub has_batch: bool,
    /// How long the service honours keys, if it does.
    pub keys_for: Option<Millis>,
    /// When the page will know that, in true time.
    told_of_keys: Option<Millis>,
    /// By key: the id that was given out, the request, and when.
    keys: HashMap<String, (String, Value, Millis)>,
    pub latency: (Millis, Millis),
    pub work: (Millis, Millis),
    pub sent: Vec<Sent>,
    pub finished: Vec<TaskKey>,
    /// When the page first knew of a completion.
    pub noticed: HashMap<TaskKey, Millis>,
    /// Persons' wishes for another attempt.
    pub resubmits: HashMap<TaskKey, usize>,
    /// Ids that the page has been told.
    told: HashMap<TaskKey, String>,
    ended: HashMap<TaskKey, TaskState>,
    /// What a person may have in the table again.
    taken_back: HashSet<TaskKey>,
    /// Submissions since when nothing certain is known of the last.
    unsure: HashSet<TaskKey>,
    travelling: Vec<Travelling>,
    /// Calls whose records are being written, and when that is done.
    writing: Vec<(Millis, Call)>,
    /// The longest that writing takes.
    pub write: Millis,
    /// In true time, by the service's word.
    not_before: Millis,
    /// The service refuses the present token.
    pub revoked: bool,
    token: u64,
    /// Refusals of the present token that the page has heard, and whether the last still counts.
    refusals: u64,
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
        Self {
            engine: Engine::new(account()),
            time: 1_800_000_000_000,
            offset: 0,
            storage: BTreeMap::new(),
            jobs: BTreeMap::new(),
            faults: Faults::default(),
            has_batch: true,
            keys_for: None,
            told_of_keys: None,
            keys: HashMap::new(),
            latency: (20, 80),
            work: (2_000, 60_000),
            sent: Vec::new(),
            finished: Vec::new(),
            noticed: HashMap::new(),
            resubmits: HashMap::new(),
            told: HashMap::new(),
            ended: HashMap::new(),
            taken_back: HashSet::new(),
            unsure: HashSet::new(),
            travelling: Vec::new(),
            writing: Vec::new(),
            write: 0,
            not_before: 0,
            revoked: false,
            token: 0,
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

    /// Xorshift: the same seed, the same story.
    pub fn below(&mut self, most: u64) -> u64 {
        self.seed ^= self.seed << 13;
        self.seed ^= self.seed >> 7;
        self.seed ^= self.seed << 17;
        self.seed % most.max(1)
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
        self.pump();
        keys
    }

    pub fn act(&mut self, key: &TaskKey, action: Action) {
        let phase = self.engine.task(key).map(|task| task.state.phase());
        if action == Action::Resubmit && phase == Some(Phase::Unconfirmed) {
            *self.resubmits.entry(key.clone()).or_default() += 1;
            self.unsure.remove(key);
        }
        let now = self.now();
        self.engine.act(key, action, now);
        self.pump();
    }

    /// A person enters another token, which the service takes.
    pub fn correct_token(&mut self) {
        self.revoked = false;
        self.token += 1;
        self.is_refused = false;
        let now = self.now();
        self.engine.credentials_changed(now);
    }

    /// The page is closed at once, with everything that is under way, and opened again.
    pub fn restart(&mut self) {
        for call in self.travelling.drain(..) {
            if call.kind == CallKind::Generate {
                self.unsure.extend(call.tasks);
            }
        }
        self.writing.clear();
        self.engine = Engine::new(account());
        // Nobody has told the new page.
        self.is_refused = false;
        self.ask_for_keys();
        let tasks = self.stored();
        let now = self.now();
        self.engine.load(tasks, now);
        self.pump();
    }

    /// The page asks for the list of models.
    pub fn ask_for_keys(&mut self) {
        let now = self.now();
        let address = account().address;
        self.engine
            .set_idempotency(&address, Idempotency::Asked, now);
        self.told_of_keys = Some(self.time + 10 + self.below(9_000));
    }

    fn tell_of_keys(&mut self) {
        if self.told_of_keys.is_some_and(|at| at <= self.time) {
            self.told_of_keys = None;
            let said = self
                .keys_for
                .map_or(Idempotency::Unsupported, Idempotency::For);
            let now = self.now();
            self.engine.set_idempotency(&account().address, said, now);
        }
    }

    pub fn stored(&self) -> Vec<Task> {
        self.storage
            .values()
            .map(|text| serde_json::from_str(text).unwrap())
            .collect()
    }

    /// Lets time pass: answers arrive, the engine is called when it wants to be.
    pub fn run(&mut self, time: Millis) {
        let end = self.time + time;
        loop {
            let wake = self.engine.next_wake();
            let wake = wake.map(|at| at.saturating_add_signed(-self.offset).max(self.time + 1));
            let answer = self.travelling.iter().map(|call| call.at).min();
            let told = self.told_of_keys.map(|at| at.max(self.time + 1));
            let written = self.writing.iter().map(|(at, _)| *at).min();
            let own = told.into_iter().chain(written);
            let next = wake.into_iter().chain(answer).chain(own).min();
            let Some(next) = next.filter(|next| *next <= end) else {
                self.time = end;
                return;
            };
            self.time = self.time.max(next);
            self.tell_of_keys();
            self.deliver();
            self.pump();
            self.leave();
        }
    }

    /// What is written leaves, if it still may.
    fn leave(&mut self) {
        while let Some(at) = self.writing.iter().position(|(at, _)| *at <= self.time) {
            let (_, call) = self.writing.swap_remove(at);
            let now = self.now();
            if self.engine.may_leave(call.id, now) {
                self.send(call);
            } else {
                self.pump();
            }
        }
    }

    fn deliver(&mut self) {
        while let Some(at) = self.travelling.iter().position(|call| call.at <= self.time) {
            let call = self.travelling.swap_remove(at);
            self.take_note(&call);
            let now = self.now();
            let chance = self.below(1_000) as f64 / 1_000.0;
            self.engine
                .responded(call.id, call.answer, now, &mut || chance);
        }
    }

    /// What the page can know from now on.
    fn take_note(&mut self, call: &Travelling) {
        if let Err(error) = &call.answer
            && let Some(wait) = error.retry_after_ms()
        {
            self.not_before = self.not_before.max(self.time + wait);
        }
        if call.token == self.token {
            let is_poll = call.kind != CallKind::Generate;
            match &call.answer {
                Err(ApiError::Unauthorized { .. }) => {
                    self.refusals += 1;
                    self.is_refused = true;
                }
                Ok(body) if is_poll && call.refusals == self.refusals => {
                    self.is_refused &= body.get("surprise").is_some();
                }
                _ => {}
            }
        }
        if call.kind != CallKind::Generate {
            return;
        }
        for (index, key) in call.tasks.iter().enumerate() {
            match &call.answer {
                Err(error) if error.was_certainly_not_accepted() => continue,
                Err(_) => {}
                Ok(body) => {
                    let single = (call.tasks.len() == 1).then_some(body);
                    let entries = body.pointer("/data/results").and_then(Value::as_array);
                    let mut own = entries
                        .into_iter()
                        .flatten()
                        .filter(|entry| entry["index"] == index);
                    let entry = own.next().filter(|_| own.next().is_none());
                    let id = single.or(entry.map(|entry| &entry["body"]));
                    if let Some(id) = id.and_then(|body| body.pointer("/data/id")?.as_str()) {
                        self.told.insert(key.clone(), id.into());
                        continue;
                    }
                    if entry.is_some_and(|entry| entry["status"] == 429) {
                        continue;
                    }
                }
            }
            self.unsure.insert(key.clone());
        }
    }

    pub fn pump(&mut self) {
        self.decide();
        if self.write == 0 {
            self.leave();
        }
    }

    fn decide(&mut self) {
        let now = self.now();
        let chance = self.below(1_000) as f64 / 1_000.0;
        for command in self.engine.step(now, &mut || chance) {
            match command {
                Command::Save(task) => self.save(&task),
                Command::Delete(key) => {
                    self.storage.remove(&key);
                }
                Command::Finished(key) => self.finished.push(key),
                Command::Wait { .. } => {}
                Command::Call(call) if call.write_first.is_empty() => self.send(call),
                Command::Call(call) => {
                    for task in &call.write_first {
                        self.save(task);
                    }
                    let at = self.time + self.below(self.write + 1);
                    self.writing.push((at, call));
                }
            }
        }
    }

    fn save(&mut self, task: &Task) {
        if let Some(id) = self.told.get(&task.key) {
            let known = task.state.id().map(|id| id.0.clone());
            assert_eq!(known.as_ref(), Some(id), "an id was lost: {task:?}");
        }
        if let Some(ended) = self.ended.get(&task.key) {
            assert_eq!(ended.phase(), task.state.phase(), "a last word changed");
        }
        if task.taken_back {
            assert_eq!(task.state, TaskState::Queued);
            self.taken_back.insert(task.key.clone());
        }
        if task.state.is_terminal() {
            self.ended.insert(task.key.clone(), task.state.clone());
        }
        if matches!(
            task.state.phase(),
            Phase::Fetching | Phase::Ready | Phase::Failed
        ) {
            self.noticed.entry(task.key.clone()).or_insert(self.time);
        }
        let text = serde_json::to_string(task).unwrap();
        self.storage.insert(task.key.clone(), text);
    }

    fn send(&mut self, call: Call) {
        assert!(
            self.time >= self.not_before,
            "called before Retry-After had passed"
        );
        assert!((1..=10).contains(&call.tasks.len()));
        for other in &self.travelling {
            let shared = call.tasks.iter().find(|key| other.tasks.contains(key));
            assert_eq!(shared, None, "asked about twice at one time");
        }
        if self.is_refused {
            assert_ne!(call.kind, CallKind::Generate, "sent to be refused");
        }
        if call.kind == CallKind::Generate {
            let written: Vec<_> = call.write_first.iter().map(|task| &task.key).collect();
            assert!(
                written
                    .iter()
                    .eq(call.tasks.iter().collect::<Vec<_>>().iter())
            );
            for task in &call.write_first {
                assert_eq!(task.state, TaskState::Submitting);
                assert!(!self.taken_back.contains(&task.key), "sent and taken back");
                assert!(
                    !self.unsure.contains(&task.key) || task.idempotency_key.is_some(),
                    "sent again without a person's word"
                );
            }
        }
        self.sent.push(Sent {
            kind: call.kind,
            tasks: call.tasks.clone(),
        });
        let answer = self.answer(&call);
        let (least, most) = self.latency;
        let at = self.time + least + self.below(most - least + 1);
        self.travelling.push(Travelling {
            id: call.id,
            kind: call.kind,
            tasks: call.tasks,
            at,
            answer,
            token: self.token,
            refusals: self.refusals,
        });
    }

    fn answer(&mut self, call: &Call) -> Result<Value, ApiError> {
        let batched = [
            path::GENERATE_BATCH,
            path::STATUS_BATCH,
            path::RESPONSE_BATCH,
        ]
        .contains(&call.path);
        assert_eq!(batched, call.tasks.len() > 1);
        let network = || ApiError::Network { detail: "x".into() };
        let Faults {
            unreached,
            lost_answer,
            refused,
            broken,
            nonsense,
            ..
        } = self.faults;
        let chance = self.below(1_000);
        let mut limit = unreached;
        if chance < limit {
            return Err(network());
        }
        if self.revoked {
            return Err(ApiError::from_status(401, None, None));
        }
        limit += refused;
        if chance < limit {
            let wait = match self.below(4) {
                0 => None,
                n => Some(n * 3_000),
            };
            let status = if wait.is_some() && self.below(2) == 0 {
                503
            } else {
                429
            };
            return Err(ApiError::from_status(status, None, wait));
        }
        limit += broken;
        if chance < limit {
            return Err(ApiError::from_status(500, None, None));
        }
        if batched && !self.has_batch {
            return Err(ApiError::from_status(404, None, None));
        }
        let body = if batched {
            let requests = call.body["requests"].as_array().unwrap().clone();
            self.batch_reply(call.kind, &requests)
        } else {
            let key = call.idempotency_key.as_deref();
            let (status, body) = self.one(call.kind, &call.body, key);
            if status != 200 {
                return Err(ApiError::from_status(status, Some(&body), None));
            }
            body
        };
        limit += lost_answer;
        if chance < limit {
            return Err(network());
        }
        limit += nonsense;
        if chance < limit {
            return Ok(json!({"surprise": true}));
        }
        Ok(body)
    }

    fn batch_reply(&mut self, kind: CallKind, requests: &[Value]) -> Value {
        let mut results = Vec::new();
        for (index, request) in requests.iter().enumerate() {
            let key = request["idempotency_key"].as_str();
            let (status, body) = self.one(kind, request, key);
            let entry = json!({"index": index, "status": status, "body": body});
            let chance = self.below(1_000);
            if chance >= self.faults.bad_entry {
                results.push(entry);
                continue;
            }
            match self.below(4) {
                0 => {} // Missing.
                1 => results.extend([entry.clone(), entry]),
                2 => {
                    results.push(json!({"index": index, "status": 500, "body": {"success": false}}))
                }
                _ => {
                    // Without an id, or about another task.
                    let id = match kind {
                        CallKind::Generate => Value::Null,
                        CallKind::Status | CallKind::Response => "other".into(),
                    };
                    let mut data = json!({"id": id});
                    if kind == CallKind::Status {
                        data["status"] = "failed".into();
                    }
                    let body = json!({"success": true, "data": data});
                    results.push(json!({"index": index, "status": 200, "body": body}));
                }
            }
        }
        for at in (1..results.len()).rev() {
            let other = self.below(at as u64 + 1) as usize;
            results.swap(at, other);
        }
        json!({"success": true, "data": {"results": results}})
    }

    /// The single endpoints of the service.
    fn one(&mut self, kind: CallKind, request: &Value, key: Option<&str>) -> (u16, Value) {
        assert_eq!(request["uid"], "me");
        if kind == CallKind::Generate {
            assert_eq!(request["seed"], u64::MAX);
            let mut request = request.clone();
            request.as_object_mut().unwrap().remove("idempotency_key");
            assert!(
                key.is_none() || self.keys_for.is_some(),
                "a key that was not asked for"
            );
            if let (Some(key), Some(ttl)) = (key, self.keys_for)
                && let Some((_, known, at)) = self.keys.get(key)
                && self.time < at + ttl
            {
                assert_eq!(*known, request, "another request with the same key");
                // As the draft has it, one that comes while the first is being taken waits.
                if self.below(10) == 0 {
                    return (409, json!({"success": false, "message": "in use"}));
                }
                let (id, ..) = &self.keys[key];
                let data = json!({"id": id, "status": "starting"});
                return (200, json!({"success": true, "data": data}));
            }
            let honoured = key.map(str::to_owned);
            let key = TaskKey(request["prompt"].as_str().unwrap().into());
            self.next_id += 1;
            let id = format!("id-{}", self.next_id);
            let (least, most) = self.work;
            let done_at = self.time + least + self.below(most - least + 1);
            let fails = self.below(10) == 0;
            self.jobs.insert(
                id.clone(),
                Job {
                    key: key.clone(),
                    done_at,
                    fails,
                },
            );
            if let Some(honoured) = honoured {
                self.keys.insert(honoured, (id.clone(), request, self.time));
            }
            let paid = self.jobs.values().filter(|job| job.key == key).count();
            let allowed = 1 + self.resubmits.get(&key).copied().unwrap_or_default();
            assert!(paid <= allowed, "paid twice: {key}");
            return (
                200,
                json!({"success": true, "data": {"id": id, "status": "starting"}}),
            );
        }
        let id = request["id"].as_str().unwrap();
        let Some(job) = self.jobs.get(id) else {
            return (404, json!({"success": false, "message": "no such task"}));
        };
        let word = match (self.time >= job.done_at, job.fails) {
            (false, _) => "processing",
            (true, false) => "completed",
            (true, true) => "failed",
        };
        let mut data = json!({"id": id, "status": word});
        if word == "failed" {
            data["error"] = json!({"message": "did not work"});
        } else if kind == CallKind::Response && word == "completed" {
            data["output"] = json!([format!("https://out.example/{id}.png")]);
        }
        (200, json!({"success": true, "data": data}))
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

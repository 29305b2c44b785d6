//! Clients that submit tasks at a constant rate, and poll them, fetch their files and cancel some. They retry as the page
//! and the Python files do, at the other `serve` process, as behind a load balancer.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::history::{Answer, Kind, Record};
use super::random::Random;
use super::recorder::Recorder;
use super::system::{MODEL, SERVERS, System};
use crate::support::STRATA;

/// The time between two submissions of a client.
const SUBMIT: Duration = Duration::from_millis(1200);

/// The time between two polls of a client.
const POLL: Duration = Duration::from_millis(1000);

/// The timeout of an attempt: shorter than some faults, so that clients retry during these.
const TIMEOUT: Duration = Duration::from_secs(8);

/// How long a call is retried: longer than the longest fault, and the start of a process after it.
const GIVE_UP: Duration = Duration::from_secs(90);

/// The longest pause before a retry.
const MAX_PAUSE: Duration = Duration::from_secs(2);

/// The maximum number of items of a batch call.
const BATCH: usize = 10;

/// Calls the service for one user.
pub struct Client<'a> {
    name: String,
    uid: String,
    system: &'a System,
    recorder: &'a Recorder,
    agent: ureq::Agent,
    /// The `serve` process of the next call.
    server: AtomicUsize,
}

/// A submitted task.
#[derive(Debug, Clone)]
pub struct Task {
    pub id: String,
    pub uid: String,
    pub model: (&'static str, &'static str),
}

/// A request, sent as often as necessary.
struct Request<'a> {
    kind: Kind,
    path: &'a str,
    /// `None` is a GET.
    body: Option<Value>,
    key: Option<String>,
    /// The tasks that the request is about: several in a batch.
    tasks: &'a [Task],
}

/// A response: its status, `Retry-After` and body.
type Reply = Result<(u16, Option<u64>, Vec<u8>), String>;

impl Task {
    fn to_item(&self) -> Value {
        json!({"uid": self.uid, "category": self.model.0, "subcategory": self.model.1, "id": self.id})
    }
}

impl<'a> Client<'a> {
    pub fn new(name: &str, uid: &str, system: &'a System, recorder: &'a Recorder) -> Self {
        let agent = ureq::Agent::config_builder()
            .http_status_as_error(false)
            .timeout_global(Some(TIMEOUT))
            .build()
            .into();
        Self {
            name: name.to_owned(),
            uid: uid.to_owned(),
            system,
            recorder,
            agent,
            server: AtomicUsize::new(0),
        }
    }

    /// Uses only this `serve` process at first.
    pub fn prefer(self, server: usize) -> Self {
        self.server.store(server, Ordering::Relaxed);
        self
    }

    /// Submits tasks until `until`, and polls them until they have ended, or until `deadline`. Calls `accepted` with each.
    pub fn run(
        &self,
        mut random: Random,
        until: Instant,
        deadline: Instant,
        accepted: &(dyn Fn(&Task) + Sync),
    ) {
        let open = Mutex::new(Vec::new());
        let submitting = AtomicUsize::new(1);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                self.poll_all(
                    &open,
                    || submitting.load(Ordering::Relaxed) > 0 && Instant::now() < deadline,
                    deadline,
                );
            });
            let mut next = Instant::now();
            for number in 0.. {
                let model = if random.between(0, 7) == 0 {
                    STRATA
                } else {
                    MODEL
                };
                let is_canceled = random.between(0, 9) == 0;
                let cancel = is_canceled.then(|| Duration::from_millis(random.between(0, 2000)));
                submitting.fetch_add(1, Ordering::Relaxed);
                let (open, submitting) = (&open, &submitting);
                scope.spawn(move || {
                    if let Some(task) = self.submit(number, model) {
                        accepted(&task);
                        lock(open).push(task.clone());
                        if let Some(pause) = cancel {
                            std::thread::sleep(pause);
                            self.cancel(&task);
                        }
                    }
                    submitting.fetch_sub(1, Ordering::Relaxed);
                });
                // Does not wait for responses, so that the rate stays constant during a fault.
                next += SUBMIT;
                if next > until {
                    break;
                }
                std::thread::sleep(next.saturating_duration_since(Instant::now()));
            }
            submitting.fetch_sub(1, Ordering::Relaxed);
        });
    }

    fn submit(&self, number: usize, model: (&'static str, &'static str)) -> Option<Task> {
        let mut body = json!({
            "uid": self.uid, "category": model.0, "subcategory": model.1,
            "prompt": format!("{} {number}", self.name),
        });
        if model == STRATA {
            body["seed"] = number.into();
        }
        let answers = self.call(&Request {
            kind: Kind::Generate,
            path: "/v2/generate",
            body: Some(body),
            key: Some(format!("{}-{number}", self.name)),
            tasks: &[],
        });
        match answers.into_iter().next()? {
            (Some(id), Answer::Accepted) => Some(Task {
                id,
                uid: self.uid.clone(),
                model,
            }),
            _ => None,
        }
    }

    fn cancel(&self, task: &Task) {
        self.call(&Request {
            kind: Kind::Cancel,
            path: "/v2/cancel",
            body: Some(task.to_item()),
            key: None,
            tasks: std::slice::from_ref(task),
        });
    }

    /// Polls the open tasks while some are open or `more` may come.
    fn poll_all(&self, open: &Mutex<Vec<Task>>, more: impl Fn() -> bool, deadline: Instant) {
        loop {
            let may_grow = more();
            let tasks: Vec<Task> = lock(open).clone();
            if Instant::now() > deadline || tasks.is_empty() && !may_grow {
                return;
            }
            for batch in tasks.chunks(BATCH) {
                let ended = self.fetch(batch);
                lock(open).retain(|task| !ended.contains(&task.id));
            }
            std::thread::sleep(POLL);
        }
    }

    /// Reads the status of up to ten tasks, and the outputs of the completed ones. Returns the ids of those that have ended.
    pub fn fetch(&self, tasks: &[Task]) -> Vec<String> {
        let ended = self
            .poll(tasks)
            .into_iter()
            .filter(|(_, answer)| !matches!(answer, Answer::Unfinished) && !answer.is_retryable());
        let (ids, answers): (Vec<_>, Vec<_>) = ended.unzip();
        let completed: Vec<Task> = ids
            .iter()
            .zip(&answers)
            .filter(|(_, answer)| **answer == Answer::Completed)
            .filter_map(|(id, _)| tasks.iter().find(|task| Some(&task.id) == id.as_ref()))
            .cloned()
            .collect();
        if !completed.is_empty() {
            let outputs = self.call(&batch(Kind::Response, "/v2/response-batch", &completed));
            for (id, answer) in outputs {
                let Answer::Output { paths } = answer else {
                    continue;
                };
                let task = completed.iter().find(|task| Some(&task.id) == id.as_ref());
                for path in paths {
                    self.call(&Request {
                        kind: Kind::File,
                        path: &path,
                        body: None,
                        key: None,
                        tasks: task.map_or(&[], std::slice::from_ref),
                    });
                }
            }
        }
        ids.into_iter().flatten().collect()
    }

    /// Reads the status of up to ten tasks.
    pub fn poll(&self, tasks: &[Task]) -> Vec<(Option<String>, Answer)> {
        self.call(&batch(Kind::Status, "/v2/status-batch", tasks))
    }

    /// Sends a request until it gets an answer that is final, or until [`GIVE_UP`]. Returns the last answers, one for each task.
    fn call(&self, request: &Request) -> Vec<(Option<String>, Answer)> {
        let call = self.recorder.next_call();
        let give_up = Instant::now() + GIVE_UP;
        for attempt in 0.. {
            let server = self.server.load(Ordering::Relaxed) % SERVERS;
            let sent = self.recorder.now();
            let reply = self.send(server, request);
            let answered = self.recorder.now();
            let retry_after = reply.as_ref().ok().and_then(|reply| reply.1);
            let answers = read(request, reply);
            let is_retryable = answers.iter().any(|(_, answer)| answer.is_retryable());
            let is_last = !is_retryable || Instant::now() > give_up;
            for (id, answer) in &answers {
                self.recorder.add(Record {
                    client: self.name.clone(),
                    call,
                    attempt,
                    server,
                    kind: request.kind,
                    key: request.key.clone(),
                    id: id.clone(),
                    sent,
                    answered,
                    answer: answer.clone(),
                    is_given_up: is_last && answer.is_retryable(),
                });
            }
            if is_last {
                return answers;
            }
            self.server.fetch_add(1, Ordering::Relaxed);
            // Services ask for longer pauses than the faults of this test take.
            let doubled = Duration::from_millis(200 << attempt.min(4));
            let asked = Duration::from_secs(retry_after.unwrap_or(0));
            std::thread::sleep(doubled.max(asked).min(MAX_PAUSE));
        }
        unreachable!()
    }

    fn send(&self, server: usize, request: &Request) -> Reply {
        let url = format!("http://{}{}", self.system.addresses[server], request.path);
        let mut http = ureq::http::Request::builder()
            .uri(url)
            .header("authorization", "Bearer t");
        if request.body.is_some() {
            http = http
                .method("POST")
                .header("content-type", "application/json");
        }
        if let Some(key) = &request.key {
            http = http.header("idempotency-key", key);
        }
        let body = request
            .body
            .as_ref()
            .map(Value::to_string)
            .unwrap_or_default();
        let mut answer = match request.body {
            Some(_) => self.agent.run(http.body(body).unwrap()),
            None => self.agent.run(http.body(()).unwrap()),
        }
        .map_err(|error| error.to_string())?;
        let retry_after = answer.headers().get("retry-after");
        let retry_after = retry_after.and_then(|value| value.to_str().ok()?.parse().ok());
        let status = answer.status().as_u16();
        let body = answer.body_mut().with_config().limit(1 << 26).read_to_vec();
        Ok((
            status,
            retry_after,
            body.map_err(|error| error.to_string())?,
        ))
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn batch<'a>(kind: Kind, path: &'a str, tasks: &'a [Task]) -> Request<'a> {
    let items: Vec<Value> = tasks.iter().map(Task::to_item).collect();
    Request {
        kind,
        path,
        body: Some(json!({"requests": items})),
        key: None,
        tasks,
    }
}

/// Returns the answer for each task of the request.
fn read(request: &Request, reply: Reply) -> Vec<(Option<String>, Answer)> {
    let ids = || request.tasks.iter().map(|task| Some(task.id.clone()));
    let (status, _, bytes) = match reply {
        Ok(reply) => reply,
        Err(error) => {
            let lost = Answer::Lost { error };
            return for_all(ids(), &lost);
        }
    };
    if request.kind == Kind::File {
        let path = request.path.to_owned();
        let answer = match status {
            200 => Answer::File {
                path,
                bytes: bytes.len() as u64,
                digest: hex::encode(&Sha256::digest(&bytes)[..8]),
            },
            404 => Answer::NotFound { what: path },
            _ => refused(status, &serde_json::from_slice(&bytes).unwrap_or_default()),
        };
        return for_all(ids(), &answer);
    }
    let Ok(body) = serde_json::from_slice::<Value>(&bytes) else {
        let error = format!("HTTP {status} with {} bytes that are not JSON", bytes.len());
        return for_all(ids(), &Answer::Lost { error });
    };
    let entries = body["data"]["results"].as_array();
    match (request.kind, status, entries) {
        (Kind::Generate, 200, _) => {
            let id = body["data"]["id"].as_str().map(str::to_owned);
            vec![(id, Answer::Accepted)]
        }
        (_, 200, Some(entries)) => ids()
            .zip(entries)
            .map(|(id, entry)| {
                let status = entry["status"].as_u64().unwrap_or_default();
                let status = u16::try_from(status).unwrap_or_default();
                (id, read_task(request.kind, status, &entry["body"]))
            })
            .collect(),
        _ => for_all(ids(), &read_task(request.kind, status, &body)),
    }
}

/// Returns the same answer for each task, or once if the request has none.
fn for_all(
    ids: impl Iterator<Item = Option<String>>,
    answer: &Answer,
) -> Vec<(Option<String>, Answer)> {
    let mut answers: Vec<_> = ids.map(|id| (id, answer.clone())).collect();
    if answers.is_empty() {
        answers.push((None, answer.clone()));
    }
    answers
}

fn read_task(kind: Kind, status: u16, body: &Value) -> Answer {
    let data = &body["data"];
    match (status, data["status"].as_str()) {
        (200, Some("completed")) if kind == Kind::Response => Answer::Output {
            paths: data["output"]
                .as_array()
                .into_iter()
                .flatten()
                .filter_map(Value::as_str)
                .map(|url| url[url.find("/outputs/").unwrap_or_default()..].to_owned())
                .collect(),
        },
        (200, Some("completed")) => Answer::Completed,
        (200, Some("failed")) if data["canceled"] == true => Answer::Canceled,
        (200, Some("failed")) => Answer::Failed {
            error: data["error"].as_str().unwrap_or_default().to_owned(),
        },
        (200, Some(_)) => Answer::Unfinished,
        (404, _) => Answer::NotFound {
            what: "task".into(),
        },
        _ => refused(status, body),
    }
}

/// Returns what the data of an event shows about its task.
pub fn read_event(data: &Value) -> Answer {
    read_task(Kind::Status, 200, &json!({"data": data}))
}

fn refused(status: u16, body: &Value) -> Answer {
    let error = body["error"].as_str().unwrap_or_default().to_owned();
    Answer::Refused { status, error }
}

//! Tests workers that are paused for a while, so that other workers consider them dead.

use std::fs;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use super::support::small_server::{SmallServer, json_response};
use super::{Cluster, LEASE, OWN, Worker, wait_for_end, wait_until};

const MODEL: (&str, &str) = ("image", "paid");
const GENERATIONS: &str = "/v1/images/generations";
const FILE: &str = "/files/0.png";

/// A server that accepts requests, and responds after `answers` is set.
struct Paid {
    server: SmallServer,
    answers: Arc<Mutex<bool>>,
}

impl Paid {
    fn start() -> Self {
        let answers = Arc::new(Mutex::new(false));
        let shared = answers.clone();
        let server = SmallServer::start(move |request| {
            wait_if(request.path == GENERATIONS, &shared);
            json_response(200, json!({"data": [{"b64_json": "iVBORw0KGgo="}]}))
        });
        Self { server, answers }
    }

    /// Starts a server whose response contains the address of a file. It serves the file when `files` is set.
    fn start_with_files(files: &Arc<Mutex<bool>>) -> Self {
        let answers = Arc::new(Mutex::new(false));
        let (shared, files) = (answers.clone(), files.clone());
        let server = SmallServer::start(move |request| {
            wait_if(request.path == GENERATIONS, &shared);
            wait_if(request.path == FILE, &files);
            match request.path.as_str() {
                FILE => Some((200, "image/png", b"\x89PNG\r\n\x1a\n".to_vec())),
                _ => json_response(200, json!({"data": [{"url": FILE}]})),
            }
        });
        Self { server, answers }
    }

    /// Writes a models file with this server and time limit. It applies to processes that start later.
    fn write_models(&self, cluster: &Cluster, time_limit: &str) {
        let models = format!(
            "[[model]]\ncategory = \"image\"\nsubcategory = \"paid\"\nname = \"Paid\"\n\
             time_limit = \"{time_limit}\"\n[model.openai]\naddress = \"{}/v1\"\n",
            self.server.url()
        );
        fs::write(cluster.folder.path().join("models.toml"), models).unwrap();
    }

    fn request_count(&self) -> usize {
        self.server.requests(GENERATIONS).len()
    }
}

/// Waits until `gate` is true, if the request is behind the gate.
fn wait_if(is_behind_gate: bool, gate: &Mutex<bool>) {
    while is_behind_gate && !*gate.lock().unwrap() {
        std::thread::sleep(Duration::from_millis(10));
    }
}

impl Worker {
    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.0), signal).unwrap();
    }
}

/// Guards against a task that another worker marks as failed although the worker that has sent it is alive.
#[test]
#[ignore = "needs PostgreSQL and a bucket: ./dev test cluster"]
fn a_task_sent_by_a_paused_worker_does_not_fail() {
    let cluster = Cluster::new();
    let paid = Paid::start();
    paid.write_models(&cluster, "10m");
    let server = cluster.serve("s0", &[]);
    let first = cluster.work("w0");
    let task = server.generate(MODEL, json!({"prompt": "a"}));
    wait_until(&cluster, "the request", || paid.request_count() == 1);
    first.signal(Signal::STOP);
    let _second = cluster.work("w1");
    let log = || fs::read_to_string(cluster.folder.path().join("w1.log")).unwrap();
    wait_until(&cluster, "the second waits", || {
        log().contains("Another process has sent the task")
    });
    first.signal(Signal::CONT);
    *paid.answers.lock().unwrap() = true;
    let answer = wait_for_end(&cluster, &server, &task, Instant::now() + 3 * LEASE);
    assert_eq!(answer["status"], "completed", "{answer}");
    assert_eq!(paid.request_count(), 1);
}

/// Guards against a task that fails because the process that took it over has killed its program.
#[test]
#[ignore = "needs PostgreSQL and a bucket: ./dev test cluster"]
fn a_program_of_a_paused_worker_continues() {
    let cluster = Cluster::new();
    let blocker = cluster.block_program();
    let server = cluster.serve("s0", &[]);
    let first = cluster.work("w0");
    let task = server.generate(OWN, json!({"prompt": "a"}));
    cluster.await_runs(1, LEASE);
    first.signal(Signal::STOP);
    let second = cluster.work("w1");
    cluster.await_runs(2, 3 * LEASE);
    // Only the first can end the task.
    second.signal(Signal::STOP);
    first.signal(Signal::CONT);
    drop(blocker);
    let answer = wait_for_end(&cluster, &server, &task, Instant::now() + 3 * LEASE);
    assert_eq!(answer["status"], "completed", "{answer}");
}

/// Guards against ignoring a result because another worker has stored that the outcome is unknown.
#[test]
#[ignore = "needs PostgreSQL and a bucket: ./dev test cluster"]
fn a_result_wins_over_an_unknown_outcome() {
    let cluster = Cluster::new();
    let paid = Paid::start();
    paid.write_models(&cluster, "10m");
    let server = cluster.serve("s0", &[]);
    let first = cluster.work("w0");
    let task = server.generate(MODEL, json!({"prompt": "a"}));
    wait_until(&cluster, "the request", || paid.request_count() == 1);
    first.signal(Signal::STOP);
    // The second worker gives up soon.
    paid.write_models(&cluster, "1s");
    let _second = cluster.work("w1");
    let failed = wait_for_end(&cluster, &server, &task, Instant::now() + 3 * LEASE);
    assert_eq!(failed["status"], "failed", "{failed}");
    first.signal(Signal::CONT);
    *paid.answers.lock().unwrap() = true;
    wait_until(&cluster, "the result", || {
        let answer = server.post("/v2/response", &task).json()["data"].clone();
        answer["status"] == "completed" && answer["output"].as_array().unwrap().len() == 1
    });
    assert_eq!(paid.request_count(), 1);
}

/// Guards against losing a response that arrives after another worker has stored that the outcome is unknown, if the
/// worker that received it ends before it has fetched the files.
#[test]
#[ignore = "needs PostgreSQL and a bucket: ./dev test cluster"]
fn a_late_response_survives_the_end_of_its_worker() {
    let cluster = Cluster::new();
    let files = Arc::new(Mutex::new(false));
    let paid = Paid::start_with_files(&files);
    paid.write_models(&cluster, "10m");
    let server = cluster.serve("s0", &[]);
    let mut first = cluster.work("w0");
    let task = server.generate(MODEL, json!({"prompt": "a"}));
    wait_until(&cluster, "the request", || paid.request_count() == 1);
    first.signal(Signal::STOP);
    // The second worker gives up soon.
    paid.write_models(&cluster, "1s");
    let mut second = cluster.work("w1");
    let failed = wait_for_end(&cluster, &server, &task, Instant::now() + 3 * LEASE);
    assert_eq!(failed["status"], "failed", "{failed}");
    second.kill();
    first.signal(Signal::CONT);
    *paid.answers.lock().unwrap() = true;
    wait_until(&cluster, "the first fetches", || {
        !paid.server.requests(FILE).is_empty()
    });
    first.kill();

    *files.lock().unwrap() = true;
    paid.write_models(&cluster, "10m");
    let _third = cluster.work("w2");
    wait_until(&cluster, "the result", || {
        let answer = server.post("/v2/response", &task).json()["data"].clone();
        answer["status"] == "completed" && answer["output"].as_array().unwrap().len() == 1
    });
    assert_eq!(paid.request_count(), 1);
}

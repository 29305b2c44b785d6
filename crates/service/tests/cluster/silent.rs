//! A worker that is silent for a while, and was taken for dead.

use std::fs;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use super::support::small_server::{SmallServer, json as said};
use super::{LEASE, Place, Worker, finished};

const MODEL: (&str, &str) = ("image", "paid");
const GENERATIONS: &str = "/v1/images/generations";
const FILE: &str = "/files/0.png";

/// A server that takes orders, and answers when it is told to.
struct Paid {
    server: SmallServer,
    answers: Arc<Mutex<bool>>,
}

impl Paid {
    fn start() -> Self {
        let answers = Arc::new(Mutex::new(false));
        let told = answers.clone();
        let server = SmallServer::start(move |asked| {
            wait_if(asked.path == GENERATIONS, &told);
            said(200, json!({"data": [{"b64_json": "iVBORw0KGgo="}]}))
        });
        Self { server, answers }
    }

    /// Its answer has the address of a file, which `files` gives out.
    fn start_with_files(files: &Arc<Mutex<bool>>) -> Self {
        let answers = Arc::new(Mutex::new(false));
        let (told, files) = (answers.clone(), files.clone());
        let server = SmallServer::start(move |asked| {
            wait_if(asked.path == GENERATIONS, &told);
            wait_if(asked.path == FILE, &files);
            match asked.path.as_str() {
                FILE => Some((200, "image/png", b"\x89PNG\r\n\x1a\n".to_vec())),
                _ => said(200, json!({"data": [{"url": FILE}]})),
            }
        });
        Self { server, answers }
    }

    /// Offers it with this time limit, to processes that start from now on.
    fn offer(&self, place: &Place, time_limit: &str) {
        let models = format!(
            "[[model]]\ncategory = \"image\"\nsubcategory = \"paid\"\nname = \"Paid\"\n\
             time_limit = \"{time_limit}\"\n[model.openai]\naddress = \"{}/v1\"\n",
            self.server.url()
        );
        fs::write(place.folder.path().join("models.toml"), models).unwrap();
    }

    fn orders(&self) -> usize {
        self.server.asked(GENERATIONS).len()
    }
}

/// Waits until the gate is open.
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

fn wait_until(place: &Place, what: &str, is_so: impl Fn() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(60);
    while !is_so() {
        assert!(Instant::now() < deadline, "never: {what}\n{}", place.logs());
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Guards against a task that another worker fails although the one that has sent it is alive.
#[test]
#[ignore = "needs PostgreSQL and a bucket: ./dev test cluster"]
fn a_task_that_a_silent_worker_has_sent_is_not_failed() {
    let place = Place::new();
    let paid = Paid::start();
    paid.offer(&place, "10m");
    let server = place.serve("s0", &[]);
    let first = place.work("w0");
    let task = server.generate(MODEL, json!({"prompt": "a"}));
    wait_until(&place, "the order", || paid.orders() == 1);
    first.signal(Signal::STOP);
    let _second = place.work("w1");
    let log = || fs::read_to_string(place.folder.path().join("w1.log")).unwrap();
    wait_until(&place, "the second waits", || {
        log().contains("Another process has sent the task")
    });
    first.signal(Signal::CONT);
    *paid.answers.lock().unwrap() = true;
    let answer = finished(&place, &server, &task, Instant::now() + 3 * LEASE);
    assert_eq!(answer["status"], "completed", "{answer}");
    assert_eq!(paid.orders(), 1);
}

/// Guards against a result that is ignored because another worker has failed the task as unknown.
#[test]
#[ignore = "needs PostgreSQL and a bucket: ./dev test cluster"]
fn a_result_wins_over_an_unknown_outcome() {
    let place = Place::new();
    let paid = Paid::start();
    paid.offer(&place, "10m");
    let server = place.serve("s0", &[]);
    let first = place.work("w0");
    let task = server.generate(MODEL, json!({"prompt": "a"}));
    wait_until(&place, "the order", || paid.orders() == 1);
    first.signal(Signal::STOP);
    // It gives up soon.
    paid.offer(&place, "1s");
    let _second = place.work("w1");
    let failed = finished(&place, &server, &task, Instant::now() + 3 * LEASE);
    assert_eq!(failed["status"], "failed", "{failed}");
    first.signal(Signal::CONT);
    *paid.answers.lock().unwrap() = true;
    wait_until(&place, "the result", || {
        let answer = server.post("/v2/response", &task).json()["data"].clone();
        answer["status"] == "completed" && answer["output"].as_array().unwrap().len() == 1
    });
    assert_eq!(paid.orders(), 1);
}

/// Guards against an answer that is lost because it came after another worker had failed the task as unknown,
/// and its own worker ended before the files were fetched.
#[test]
#[ignore = "needs PostgreSQL and a bucket: ./dev test cluster"]
fn a_late_answer_outlives_the_worker_that_got_it() {
    let place = Place::new();
    let files = Arc::new(Mutex::new(false));
    let paid = Paid::start_with_files(&files);
    paid.offer(&place, "10m");
    let server = place.serve("s0", &[]);
    let mut first = place.work("w0");
    let task = server.generate(MODEL, json!({"prompt": "a"}));
    wait_until(&place, "the order", || paid.orders() == 1);
    first.signal(Signal::STOP);
    // It gives up soon.
    paid.offer(&place, "1s");
    let mut second = place.work("w1");
    let failed = finished(&place, &server, &task, Instant::now() + 3 * LEASE);
    assert_eq!(failed["status"], "failed", "{failed}");
    second.kill();
    first.signal(Signal::CONT);
    *paid.answers.lock().unwrap() = true;
    wait_until(&place, "the first fetches", || {
        !paid.server.asked(FILE).is_empty()
    });
    first.kill();

    *files.lock().unwrap() = true;
    paid.offer(&place, "10m");
    let _third = place.work("w2");
    wait_until(&place, "the result", || {
        let answer = server.post("/v2/response", &task).json()["data"].clone();
        answer["status"] == "completed" && answer["output"].as_array().unwrap().len() == 1
    });
    assert_eq!(paid.orders(), 1);
}

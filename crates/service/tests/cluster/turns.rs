//! Whose turn it is, at all processes together.

use std::fs;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use super::support::small_server::{SmallServer, json as said};
use super::support::{STRATA, Server, request};
use super::{LEASE, OWN, Place, Worker, finished};

/// Much less than it takes to find out that a process is dead.
const TIMEOUT: Duration = Duration::from_secs(5);

impl Place {
    /// What is begun ends when this is dropped.
    pub(super) fn hold(&self) -> Hold {
        let file = self.folder.path().join("hold");
        std::fs::write(&file, "").unwrap();
        Hold(file)
    }

    fn begun(&self) -> usize {
        self.runs().values().sum()
    }

    /// Waits until so many runs have begun.
    pub(super) fn await_begun(&self, count: usize, patience: Duration) {
        let by = Instant::now() + patience;
        while self.begun() < count {
            assert!(Instant::now() < by, "{:?}\n{}", self.runs(), self.logs());
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Waits until so many tasks wait for others of their account.
    fn await_refused(&self, count: &str) {
        let by = Instant::now() + Duration::from_secs(60);
        loop {
            let asked = Command::new("psql")
                .args(["--tuples-only", "--no-align", "--command"])
                .arg("SELECT count(*) FROM turn WHERE process IS NULL")
                .arg(&self.database)
                .output()
                .unwrap();
            if String::from_utf8_lossy(&asked.stdout).trim() == count {
                break;
            }
            assert!(Instant::now() < by, "{asked:?}\n{}", self.logs());
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    fn await_working(&self, data: &str) {
        let log = self.folder.path().join(format!("{data}.log"));
        let by = Instant::now() + LEASE;
        while !std::fs::read_to_string(&log).unwrap().contains("working") {
            assert!(Instant::now() < by, "{}", self.logs());
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

pub(super) struct Hold(std::path::PathBuf);

impl Drop for Hold {
    fn drop(&mut self) {
        // It may have gone with its folder.
        let _ = std::fs::remove_file(&self.0);
    }
}

impl Worker {
    fn ask_to_stop(&self) {
        kill_process(Pid::from_child(&self.0), Signal::TERM).unwrap();
    }
}

fn task_of(server: &Server, model: (&str, &str), uid: &str) -> Value {
    let mut body = request(model, json!({"prompt": "a"}));
    body["uid"] = uid.into();
    let answer = server.post("/v2/generate", &body).json();
    json!({"uid": uid, "category": model.0, "subcategory": model.1, "id": answer["data"]["id"]})
}

/// Guards against tasks of a process that was asked to stop which wait until it is taken for dead.
#[test]
#[ignore = "needs PostgreSQL and a bucket: ./dev test cluster"]
fn jobs_of_a_stopped_worker_are_released_at_once() {
    let place = Place::new();
    let hold = place.hold();
    let server = place.serve("s0", &[]);
    let first = place.work("w0");
    let tasks = [task_of(&server, OWN, "a"), task_of(&server, OWN, "b")];
    place.await_begun(2, LEASE);
    let _second = place.work("w1");
    place.await_working("w1");
    first.ask_to_stop();
    place.await_begun(4, TIMEOUT);
    drop(hold);
    for task in &tasks {
        let answer = finished(&place, &server, task, Instant::now() + LEASE);
        assert_eq!(answer["status"], "completed");
    }
    assert!(place.runs().values().all(|runs| *runs == 2));
}

/// Guards against a task that another process begins while the first one still has time to end it, and
/// against tasks which the first one keeps although it begins nothing any more.
#[test]
#[ignore = "needs PostgreSQL and a bucket: ./dev test cluster"]
fn a_draining_worker_keeps_running_tasks_and_releases_waiting_ones() {
    let place = Place::new();
    let hold = place.hold();
    let server = place.serve("s0", &[]);
    let first = place.work_with("w0", &["--drain-seconds", "60"]);
    let mut tasks = vec![task_of(&server, OWN, "a"), task_of(&server, OWN, "b")];
    place.await_begun(2, LEASE);
    tasks.push(task_of(&server, OWN, "c"));
    first.ask_to_stop();
    // It can do one more at the same time.
    let _second = place.work("w1");
    place.await_begun(3, LEASE);
    std::thread::sleep(Duration::from_secs(15));
    assert_eq!(place.begun(), 3, "{}", place.logs());
    drop(hold);
    for task in &tasks {
        finished(&place, &server, task, Instant::now() + LEASE);
    }
    assert!(place.runs().values().all(|runs| *runs == 1));
}

/// Guards against a bound that each process keeps for itself, and against a turn that no process has when
/// the one before has ended.
#[test]
#[ignore = "needs PostgreSQL and a bucket: ./dev test cluster"]
fn the_running_limit_of_an_account_applies_across_processes() {
    let place = Place::new();
    let hold = place.hold();
    let server = place.serve("s0", &[]);
    let _workers = ["w0", "w1"].map(|data| {
        let worker = place.work_with(data, &["--account-running", "1"]);
        place.await_working(data);
        worker
    });
    let many: Vec<Value> = (0..6).map(|_| task_of(&server, OWN, "many")).collect();
    let one = task_of(&server, OWN, "one");
    place.await_begun(2, LEASE);
    std::thread::sleep(Duration::from_secs(6));
    assert_eq!(place.begun(), 2, "one of each account\n{}", place.logs());
    drop(hold);
    let by = Instant::now() + LEASE;
    for task in many.iter().chain([&one]) {
        assert_eq!(finished(&place, &server, task, by)["status"], "completed");
    }
    assert_eq!(place.runs().len(), 7);
    assert_eq!(place.begun(), 7, "each once\n{}", place.logs());
}

/// Guards against the turn of a dead process that no process gets back, when no other process has its model.
#[test]
#[ignore = "needs PostgreSQL and a bucket: ./dev test cluster"]
fn a_killed_worker_takes_no_turn_with_it() {
    let place = Place::new();
    let _hold = place.hold();
    let server = place.serve("s0", &[]);
    let args = ["--account-running", "1"];
    let mut first = place.work_with("w0", &args);
    task_of(&server, OWN, "me");
    place.await_begun(1, LEASE);
    let waits = task_of(&server, STRATA, "me");
    // It is refused a turn.
    std::thread::sleep(Duration::from_secs(1));
    first.kill();
    std::fs::write(place.folder.path().join("models.toml"), "").unwrap();
    let _second = place.work_with("w1", &args);
    let answer = finished(&place, &server, &waits, Instant::now() + 2 * LEASE);
    assert_eq!(answer["status"], "completed");
}

/// Guards against a time limit that restarts whenever a task waits for others of its account, and so never
/// passes.
#[test]
#[ignore = "needs PostgreSQL and a bucket: ./dev test cluster"]
fn a_refused_turn_keeps_the_begin_of_its_time_limit() {
    const GENERATIONS: &str = "/v1/images/generations";
    let place = Place::new();
    let hold = place.hold();
    let answers = Arc::new(AtomicBool::new(false));
    let told = answers.clone();
    let paid = SmallServer::start(move |asked| {
        while asked.path == GENERATIONS && !told.load(Ordering::Relaxed) {
            std::thread::sleep(Duration::from_millis(10));
        }
        said(401, json!({"error": {"message": "wrong key"}}))
    });
    let file = place.folder.path().join("models.toml");
    let own = fs::read_to_string(&file).unwrap();
    let offer = |time_limit: &str| {
        let model = format!(
            "[[model]]\ncategory = \"image\"\nsubcategory = \"paid\"\nname = \"Paid\"\n\
             time_limit = \"{time_limit}\"\n[model.openai]\naddress = \"{}/v1\"\n",
            paid.url()
        );
        fs::write(&file, format!("{own}{model}")).unwrap();
    };
    let args = ["--account-running", "1"];
    offer("10m");
    let server = place.serve("s0", &[]);
    let mut first = place.work_with("w0", &args);
    let refused = task_of(&server, ("image", "paid"), "me");
    let by = Instant::now() + Duration::from_secs(60);
    while paid.asked(GENERATIONS).is_empty() {
        assert!(Instant::now() < by, "{}", place.logs());
        std::thread::sleep(Duration::from_millis(20));
    }
    let sent = Instant::now();
    let other = task_of(&server, OWN, "me");
    place.await_refused("1");
    // The other has its turn after this attempt, and the next attempt is refused one.
    answers.store(true, Ordering::Relaxed);
    place.await_begun(1, Duration::from_secs(60));
    place.await_refused("1");
    first.ask_to_stop();
    first.0.wait().unwrap();

    offer("1s");
    while sent.elapsed() < Duration::from_secs(1) {
        std::thread::sleep(Duration::from_millis(20));
    }
    let _second = place.work_with("w1", &args);
    drop(hold);
    let by = Instant::now() + 3 * LEASE;
    assert_eq!(finished(&place, &server, &other, by)["status"], "completed");
    let failed = finished(&place, &server, &refused, by);
    let error = failed["error"].as_str().unwrap_or_default();
    for words in ["time limit of 1 s", "HTTP 401: wrong key"] {
        assert!(error.contains(words), "{failed}");
    }
    assert_eq!(paid.asked(GENERATIONS).len(), 1, "{}", place.logs());
}

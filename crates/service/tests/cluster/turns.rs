//! The scheduling of tasks across processes.

use std::fs;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use super::support::small_server::{SmallServer, json_response};
use super::support::{STRATA, Server, request};
use super::{Cluster, LEASE, OWN, Worker, wait_for_end};

/// Much less than the time after which a process is considered dead.
const TIMEOUT: Duration = Duration::from_secs(5);

impl Cluster {
    /// Blocks the program of the model until the returned value is dropped.
    pub(super) fn block_program(&self) -> Blocker {
        let file = self.folder.path().join("hold");
        std::fs::write(&file, "").unwrap();
        Blocker(file)
    }

    /// Returns the number of runs of the program.
    fn run_count(&self) -> usize {
        self.runs().values().sum()
    }

    /// Waits until the program was started `count` times.
    pub(super) fn await_runs(&self, count: usize, timeout: Duration) {
        let deadline = Instant::now() + timeout;
        while self.run_count() < count {
            assert!(
                Instant::now() < deadline,
                "{:?}\n{}",
                self.runs(),
                self.logs()
            );
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Waits until `count` tasks wait for other tasks of their account.
    fn await_refused(&self, count: &str) {
        let deadline = Instant::now() + Duration::from_secs(60);
        loop {
            let output = Command::new("psql")
                .args(["--tuples-only", "--no-align", "--command"])
                .arg("SELECT count(*) FROM turn WHERE process IS NULL")
                .arg(&self.database)
                .output()
                .unwrap();
            if String::from_utf8_lossy(&output.stdout).trim() == count {
                break;
            }
            assert!(Instant::now() < deadline, "{output:?}\n{}", self.logs());
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    fn await_working(&self, data: &str) {
        let log = self.folder.path().join(format!("{data}.log"));
        let deadline = Instant::now() + LEASE;
        while !std::fs::read_to_string(&log).unwrap().contains("working") {
            assert!(Instant::now() < deadline, "{}", self.logs());
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

/// Blocks the program until it is dropped.
pub(super) struct Blocker(std::path::PathBuf);

impl Drop for Blocker {
    fn drop(&mut self) {
        // The folder may have been removed already.
        let _ = std::fs::remove_file(&self.0);
    }
}

impl Worker {
    fn request_stop(&self) {
        kill_process(Pid::from_child(&self.0), Signal::TERM).unwrap();
    }
}

fn task_of(server: &Server, model: (&str, &str), uid: &str) -> Value {
    let mut body = request(model, json!({"prompt": "a"}));
    body["uid"] = uid.into();
    let answer = server.post("/v2/generate", &body).json();
    json!({"uid": uid, "category": model.0, "subcategory": model.1, "id": answer["data"]["id"]})
}

/// Guards against tasks of a stopped process that wait until the process is considered dead.
#[test]
#[ignore = "needs PostgreSQL and a bucket: ./dev test cluster"]
fn jobs_of_a_stopped_worker_are_released_at_once() {
    let cluster = Cluster::new();
    let block_program = cluster.block_program();
    let server = cluster.serve("s0", &[]);
    let first = cluster.work("w0");
    let tasks = [task_of(&server, OWN, "a"), task_of(&server, OWN, "b")];
    cluster.await_runs(2, LEASE);
    let _second = cluster.work("w1");
    cluster.await_working("w1");
    first.request_stop();
    cluster.await_runs(4, TIMEOUT);
    drop(block_program);
    for task in &tasks {
        let answer = wait_for_end(&cluster, &server, task, Instant::now() + LEASE);
        assert_eq!(answer["status"], "completed");
    }
    assert!(cluster.runs().values().all(|runs| *runs == 2));
}

/// Guards against another process starting a task that the draining process still runs, and against a draining process
/// that keeps tasks which it does not start any more.
#[test]
#[ignore = "needs PostgreSQL and a bucket: ./dev test cluster"]
fn a_draining_worker_keeps_running_tasks_and_releases_waiting_ones() {
    let cluster = Cluster::new();
    let block_program = cluster.block_program();
    let server = cluster.serve("s0", &[]);
    let first = cluster.work_with("w0", &["--drain-seconds", "60"]);
    let mut tasks = vec![task_of(&server, OWN, "a"), task_of(&server, OWN, "b")];
    cluster.await_runs(2, LEASE);
    tasks.push(task_of(&server, OWN, "c"));
    first.request_stop();
    // The second worker has capacity for one more task.
    let _second = cluster.work("w1");
    cluster.await_runs(3, LEASE);
    std::thread::sleep(Duration::from_secs(15));
    assert_eq!(cluster.run_count(), 3, "{}", cluster.logs());
    drop(block_program);
    for task in &tasks {
        wait_for_end(&cluster, &server, task, Instant::now() + LEASE);
    }
    assert!(cluster.runs().values().all(|runs| *runs == 1));
}

/// Guards against a limit that applies to each process separately, and against waiting tasks that no process starts after
/// the task before them has ended.
#[test]
#[ignore = "needs PostgreSQL and a bucket: ./dev test cluster"]
fn the_running_limit_of_an_account_applies_across_processes() {
    let cluster = Cluster::new();
    let block_program = cluster.block_program();
    let server = cluster.serve("s0", &[]);
    let _workers = ["w0", "w1"].map(|data| {
        let worker = cluster.work_with(data, &["--account-running", "1"]);
        cluster.await_working(data);
        worker
    });
    let many: Vec<Value> = (0..6).map(|_| task_of(&server, OWN, "many")).collect();
    let one = task_of(&server, OWN, "one");
    cluster.await_runs(2, LEASE);
    std::thread::sleep(Duration::from_secs(6));
    assert_eq!(
        cluster.run_count(),
        2,
        "each account runs only one task\n{}",
        cluster.logs()
    );
    drop(block_program);
    let deadline = Instant::now() + LEASE;
    for task in many.iter().chain([&one]) {
        assert_eq!(
            wait_for_end(&cluster, &server, task, deadline)["status"],
            "completed"
        );
    }
    assert_eq!(cluster.runs().len(), 7);
    assert_eq!(cluster.run_count(), 7, "each task once\n{}", cluster.logs());
}

/// Guards against a dead process whose turn still counts if no other process has its model.
#[test]
#[ignore = "needs PostgreSQL and a bucket: ./dev test cluster"]
fn the_turn_of_a_killed_worker_is_released() {
    let cluster = Cluster::new();
    let _hold = cluster.block_program();
    let server = cluster.serve("s0", &[]);
    let args = ["--account-running", "1"];
    let mut first = cluster.work_with("w0", &args);
    task_of(&server, OWN, "me");
    cluster.await_runs(1, LEASE);
    let waiting = task_of(&server, STRATA, "me");
    // Time for the worker to refuse the task a turn.
    std::thread::sleep(Duration::from_secs(1));
    first.kill();
    std::fs::write(cluster.folder.path().join("models.toml"), "").unwrap();
    let _second = cluster.work_with("w1", &args);
    let answer = wait_for_end(&cluster, &server, &waiting, Instant::now() + 2 * LEASE);
    assert_eq!(answer["status"], "completed");
}

/// Guards against a time limit that restarts each time a task waits for other tasks of its account.
#[test]
#[ignore = "needs PostgreSQL and a bucket: ./dev test cluster"]
fn the_time_limit_continues_after_a_refused_turn() {
    const GENERATIONS: &str = "/v1/images/generations";
    let cluster = Cluster::new();
    let block_program = cluster.block_program();
    let answers = Arc::new(AtomicBool::new(false));
    let shared = answers.clone();
    let paid = SmallServer::start(move |request| {
        while request.path == GENERATIONS && !shared.load(Ordering::Relaxed) {
            std::thread::sleep(Duration::from_millis(10));
        }
        json_response(401, json!({"error": {"message": "wrong key"}}))
    });
    let file = cluster.folder.path().join("models.toml");
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
    let server = cluster.serve("s0", &[]);
    let mut first = cluster.work_with("w0", &args);
    let refused = task_of(&server, ("image", "paid"), "me");
    let deadline = Instant::now() + Duration::from_secs(60);
    while paid.requests(GENERATIONS).is_empty() {
        assert!(Instant::now() < deadline, "{}", cluster.logs());
        std::thread::sleep(Duration::from_millis(20));
    }
    let sent = Instant::now();
    let other = task_of(&server, OWN, "me");
    cluster.await_refused("1");
    // After this attempt, the other task gets the turn, and the next attempt is refused.
    answers.store(true, Ordering::Relaxed);
    cluster.await_runs(1, Duration::from_secs(60));
    cluster.await_refused("1");
    first.request_stop();
    first.0.wait().unwrap();

    offer("1s");
    while sent.elapsed() < Duration::from_secs(1) {
        std::thread::sleep(Duration::from_millis(20));
    }
    let _second = cluster.work_with("w1", &args);
    drop(block_program);
    let deadline = Instant::now() + 3 * LEASE;
    assert_eq!(
        wait_for_end(&cluster, &server, &other, deadline)["status"],
        "completed"
    );
    let failed = wait_for_end(&cluster, &server, &refused, deadline);
    let error = failed["error"].as_str().unwrap_or_default();
    for words in ["time limit of 1 s", "HTTP 401: wrong key"] {
        assert!(error.contains(words), "{failed}");
    }
    assert_eq!(paid.requests(GENERATIONS).len(), 1, "{}", cluster.logs());
}

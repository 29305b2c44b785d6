//! Whose turn it is, at all processes together.

use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use super::support::{Server, request};
use super::{LEASE, OWN, Place, Worker, finished};

/// Much less than it takes to find out that a process is dead.
const AT_ONCE: Duration = Duration::from_secs(5);

impl Place {
    /// What is begun ends when this is dropped.
    fn hold(&self) -> Hold {
        let file = self.folder.path().join("hold");
        std::fs::write(&file, "").unwrap();
        Hold(file)
    }

    fn begun(&self) -> usize {
        self.runs().values().sum()
    }

    /// Waits until so many runs have begun.
    fn await_begun(&self, count: usize, patience: Duration) {
        let by = Instant::now() + patience;
        while self.begun() < count {
            assert!(Instant::now() < by, "{:?}\n{}", self.runs(), self.logs());
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

struct Hold(std::path::PathBuf);

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

fn task_of(server: &Server, uid: &str) -> Value {
    let mut body = request(OWN, json!({"prompt": "a"}));
    body["uid"] = uid.into();
    let answer = server.post("/v2/generate", &body).json();
    json!({"uid": uid, "category": OWN.0, "subcategory": OWN.1, "id": answer["data"]["id"]})
}

/// Guards against tasks of a process that was asked to stop which wait until it is taken for dead.
#[test]
#[ignore = "needs PostgreSQL and a bucket: ./dev test cluster"]
fn what_a_worker_leaves_at_its_end_is_anothers_at_once() {
    let place = Place::new();
    let hold = place.hold();
    let server = place.serve("s0", &[]);
    let first = place.work("w0");
    let tasks = [task_of(&server, "a"), task_of(&server, "b")];
    place.await_begun(2, LEASE);
    let _second = place.work("w1");
    place.await_working("w1");
    first.ask_to_stop();
    place.await_begun(4, AT_ONCE);
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
fn what_runs_stays_with_a_worker_that_is_asked_to_stop_and_what_waits_does_not() {
    let place = Place::new();
    let hold = place.hold();
    let server = place.serve("s0", &[]);
    let first = place.work_with("w0", &["--drain-seconds", "60"]);
    let _running = [task_of(&server, "a"), task_of(&server, "b")];
    place.await_begun(2, LEASE);
    let waiting = [task_of(&server, "c"), task_of(&server, "d")];
    first.ask_to_stop();
    let _second = place.work("w1");
    place.await_begun(4, AT_ONCE);
    std::thread::sleep(Duration::from_secs(15));
    assert_eq!(place.begun(), 4, "{}", place.logs());
    drop(hold);
    for task in _running.iter().chain(&waiting) {
        finished(&place, &server, task, Instant::now() + LEASE);
    }
    assert!(place.runs().values().all(|runs| *runs == 1));
}

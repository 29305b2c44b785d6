//! Tasks survive the end of the process.

mod support;

use serde_json::{Value, json};
use support::{STRATA, Server, cluster, request};

/// Options that make tasks slow enough to be interrupted on any machine.
const SLOW: [&str; 4] = ["--speed", "20", "--workers", "1"];

/// Options without which files of different tasks differ.
const PLAIN: [&str; 2] = ["--embed-recipe", "off"];

#[test]
fn tasks_survive_a_killed_process() {
    let data = tempfile::tempdir().unwrap();
    let mut server = Server::start_on(data.path(), &[&SLOW[..], &PLAIN].concat());
    let running = server.generate(STRATA, json!({"prompt": "a", "seed": 1}));
    let waiting = server.generate(STRATA, json!({"prompt": "b"}));
    // Only the log shows that a task runs.
    server.await_log("begins");
    server.kill();

    let server = Server::start_on(data.path(), &[&["--speed", "0"][..], &PLAIN].concat());
    for task in [&running, &waiting] {
        assert_eq!(server.wait(task)["status"], "completed");
        let output = &server.post("/v2/response", task).json()["data"]["output"];
        assert_eq!(server.get(output[0].as_str().unwrap()).status, 200);
    }
    // The input is unchanged after the kill: the same seed gives the same bytes.
    let again = server.output(STRATA, json!({"prompt": "a", "seed": 1}));
    let first = server.post("/v2/response", &running).json()["data"]["output"][0].clone();
    assert_eq!(
        server.get(&again[0]).bytes,
        server.get(first.as_str().unwrap()).bytes
    );
}

/// Guards against the progress of an attempt that was killed.
#[test]
fn progress_restarts_with_the_task() {
    let data = tempfile::tempdir().unwrap();
    let mut server = Server::start_on(data.path(), &SLOW);
    let task = server.generate(STRATA, json!({"prompt": "a"}));
    let progress = |status: &Value| status["progress"].as_f64().unwrap_or_default();
    let reached = progress(&server.await_status(&task, |status| progress(status) > 0.02));
    server.kill();
    let server = Server::start_on(data.path(), &["--workers", "1", "--speed", "100"]);
    server.await_log("begins");
    let restarted = progress(&server.post("/v2/status", &task).json()["data"]);
    assert!(restarted < reached, "{restarted} after {reached}");
}

#[cfg(unix)]
#[test]
fn a_stop_request_stops_at_once_and_tasks_are_resumed_later() {
    let data = tempfile::tempdir().unwrap();
    let mut server = Server::start_on(data.path(), &SLOW);
    let requests: Vec<_> = (0..10)
        .map(|n| request(STRATA, json!({"prompt": n.to_string()})))
        .collect();
    let reply = server
        .post("/v2/generate-batch", &json!({"requests": requests}))
        .json();
    assert!(server.terminate(), "the service exits successfully");
    const FINISHED: &str = "task WHERE finished_ms IS NOT NULL";
    let finished = cluster::count(data.path(), FINISHED).unwrap_or_else(|| {
        let file = data.path().join("tasks.sqlite");
        let database = rusqlite::Connection::open(file).unwrap();
        let count = format!("SELECT count(*) FROM {FINISHED}");
        database.query_row(&count, [], |row| row.get(0)).unwrap()
    });
    assert_eq!(finished, 0, "the stop did not wait for a task");

    let server = Server::start_on(data.path(), &["--speed", "0", "--workers", "4"]);
    for entry in reply["data"]["results"].as_array().unwrap() {
        let mut task = request(STRATA, json!({}));
        task["id"] = entry["body"]["data"]["id"].clone();
        assert_eq!(server.wait(&task)["status"], "completed");
    }
}

#[test]
fn a_directory_can_be_used_by_only_one_service() {
    let data = tempfile::tempdir().unwrap();
    let first = Server::start_on(data.path(), &[]);
    // The response shows that the service has opened its database.
    assert_eq!(first.get("/api/models").status, 200);
    let second = std::process::Command::new(env!("CARGO_BIN_EXE_atelier-service"))
        .args(["--listen", "127.0.0.1:0", "--data"])
        .arg(data.path())
        .output()
        .unwrap();
    assert!(!second.status.success());
    assert!(String::from_utf8_lossy(&second.stderr).contains("another service"));
}

//! Tasks are canceled at one process while another one runs them.

use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use super::support::Server;
use super::{Cluster, LEASE, OWN, wait_for_end};

fn cancel(server: &Server, task: &Value) {
    let data = server.post("/v2/cancel", task).json()["data"].clone();
    let expected =
        json!({"id": task["id"], "status": "failed", "error": "Canceled", "canceled": true});
    assert_eq!(data, expected);
}

/// Returns the number of live processes that run a task. Each has the task in its environment.
fn processes_of(task: &Value) -> usize {
    let mark = format!("ATELIER_TASK={}", task["id"].as_str().unwrap());
    let all = std::fs::read_dir("/proc").unwrap().flatten();
    let environments = all.filter_map(|entry| std::fs::read(entry.path().join("environ")).ok());
    environments
        .filter(|bytes| {
            let mut variables = bytes.split(|byte| *byte == 0);
            variables.any(|variable| variable == mark.as_bytes())
        })
        .count()
}

/// Waits until no canceled task may still run at its model.
fn await_stopped(cluster: &Cluster) {
    let count = "SELECT count(*) FROM task WHERE canceled = 1";
    let deadline = Instant::now() + 3 * LEASE;
    while cluster.query(count) != "0" {
        assert!(Instant::now() < deadline, "{}", cluster.logs());
        std::thread::sleep(Duration::from_millis(50));
    }
}

fn await_no_processes_of(cluster: &Cluster, task: &Value) {
    let deadline = Instant::now() + 3 * LEASE;
    while processes_of(task) > 0 {
        assert!(Instant::now() < deadline, "{task}\n{}", cluster.logs());
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
#[ignore = "needs PostgreSQL and a bucket: ./dev test cluster"]
fn a_task_is_canceled_at_another_process_than_the_one_that_runs_it() {
    let cluster = Cluster::new();
    let blocker = cluster.block_program();
    let servers = ["s0", "s1"].map(|data| cluster.serve(data, &[]));
    let _worker = cluster.work("w0");
    let tasks: Vec<Value> = (0..4)
        .map(|n| servers[0].generate(OWN, json!({"prompt": n.to_string()})))
        .collect();
    // The worker runs two tasks at a time.
    cluster.await_runs(2, LEASE);
    let runs = cluster.runs();
    let is_running = |task: &&Value| runs.contains_key(task["id"].as_str().unwrap());
    let (running, waiting): (Vec<&Value>, Vec<&Value>) = tasks.iter().partition(is_running);
    for task in waiting.iter().chain(&running) {
        cancel(&servers[1], task);
    }
    for task in &running {
        await_no_processes_of(&cluster, task);
    }
    drop(blocker);
    // The worker is free for the next task, and has run none of the waiting ones.
    let next = servers[0].generate(OWN, json!({"prompt": "next"}));
    let answer = wait_for_end(&cluster, &servers[1], &next, Instant::now() + LEASE);
    assert_eq!(answer["status"], "completed");
    assert_eq!(cluster.runs().len(), 3, "{}", cluster.logs());
    for task in &tasks {
        let status = servers[0].post("/v2/status", task).json();
        assert_eq!(status["data"]["canceled"], true, "{status}");
    }
}

/// Guards against canceled tasks that another process runs after the lease of a dead one.
#[test]
#[ignore = "needs PostgreSQL and a bucket: ./dev test cluster"]
fn a_canceled_task_is_not_run_again_when_its_worker_is_dead_or_paused() {
    let cluster = Cluster::new();
    let blocker = cluster.block_program();
    let server = cluster.serve("s0", &[]);
    let mut killed = cluster.work("w0");
    let of_killed = server.generate(OWN, json!({"prompt": "a"}));
    cluster.await_runs(1, LEASE);
    killed.kill();
    cancel(&server, &of_killed);

    let paused = cluster.work("w1");
    let of_paused = server.generate(OWN, json!({"prompt": "b"}));
    cluster.await_runs(2, LEASE);
    let process = Pid::from_raw(paused.0.id().cast_signed()).unwrap();
    kill_process(process, Signal::STOP).unwrap();
    cancel(&server, &of_paused);

    let _third = cluster.work("w2");
    // The third process receives the jobs of both others.
    await_stopped(&cluster);
    kill_process(process, Signal::CONT).unwrap();
    await_no_processes_of(&cluster, &of_paused);
    drop(blocker);
    let next = server.generate(OWN, json!({"prompt": "next"}));
    let answer = wait_for_end(&cluster, &server, &next, Instant::now() + LEASE);
    assert_eq!(answer["status"], "completed");
    let runs = cluster.runs();
    for task in [&of_killed, &of_paused] {
        assert_eq!(runs[task["id"].as_str().unwrap()], 1, "{}", cluster.logs());
        let status = server.post("/v2/status", task).json();
        assert_eq!(status["data"]["error"], "Canceled");
    }
}

/// Guards against a canceled task that is never stopped at its model, because other tasks of its account run.
#[test]
#[ignore = "needs PostgreSQL and a bucket: ./dev test cluster"]
fn a_canceled_task_is_stopped_while_its_account_is_at_its_limit() {
    let cluster = Cluster::new();
    let blocker = cluster.block_program();
    let limit = ["--account-running", "1"];
    let server = cluster.serve("s0", &limit);
    let mut killed = cluster.work_with("w0", &limit);
    let of_killed = server.generate(OWN, json!({"prompt": "a"}));
    cluster.await_runs(1, LEASE);
    killed.kill();
    cancel(&server, &of_killed);

    let _other = cluster.work_with("w1", &limit);
    let running = server.generate(OWN, json!({"prompt": "b"}));
    cluster.await_runs(2, LEASE);
    await_stopped(&cluster);
    let status = server.post("/v2/status", &running).json();
    assert_eq!(status["data"]["status"], "processing", "{status}");
    drop(blocker);
    let answer = wait_for_end(&cluster, &server, &running, Instant::now() + LEASE);
    assert_eq!(answer["status"], "completed");
}

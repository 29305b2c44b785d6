//! The service on a full disk.
#![cfg(target_os = "linux")]

mod support;

use serde_json::{Value, json};
use support::small_disk::SmallDisk;
use support::{STRATA, Server, request};

/// Guards against accepting tasks without disk space, and against accepted tasks that stay unfinished after space is
/// freed.
#[test]
fn on_a_full_disk_tasks_are_refused_and_accepted_ones_wait() {
    let Some(disk) = SmallDisk::mount(
        "on_a_full_disk_tasks_are_refused_and_accepted_ones_wait",
        24,
    ) else {
        return;
    };
    let server = Server::start_on(
        &disk.path().join("data"),
        &["--speed", "0.3", "--workers", "2"],
    );
    let tasks: Vec<Value> = (0..6)
        .map(|n| server.generate(STRATA, json!({"prompt": n.to_string()})))
        .collect();
    disk.fill();
    let refused = server.post("/v2/generate", &request(STRATA, json!({"prompt": "x"})));
    assert_eq!(
        (refused.status, refused.error().as_str()),
        (503, "disk_full")
    );
    assert!(refused.header("retry-after").parse::<u64>().unwrap() >= 1);
    let batch = json!({"requests": [request(STRATA, json!({"prompt": "x"}))]});
    let entry = &server.post("/v2/generate-batch", &batch).json()["data"]["results"][0];
    assert_eq!(entry["status"], 503);
    server.await_log("trying again");
    for task in &tasks {
        let data = &server.post("/v2/status", task).json()["data"];
        assert_ne!(data["status"], "failed", "{data}");
    }
    disk.empty();
    for task in &tasks {
        assert_eq!(server.wait(task)["status"], "completed");
    }
    server.output(STRATA, json!({"prompt": "afterwards"}));
}

/// A service on a full disk must start, so that its tasks can be read.
#[test]
fn the_service_starts_on_a_full_disk() {
    let Some(disk) = SmallDisk::mount("the_service_starts_on_a_full_disk", 24) else {
        return;
    };
    let data = disk.path().join("data");
    let mut server = Server::start_on(&data, &["--speed", "0"]);
    let task = server.generate(STRATA, json!({"prompt": "a"}));
    server.wait(&task);
    server.kill();
    disk.fill();
    let server = Server::start_on(&data, &["--speed", "0"]);
    assert_eq!(server.wait(&task)["status"], "completed");
    let refused = server.post("/v2/generate", &request(STRATA, json!({"prompt": "x"})));
    assert_eq!(refused.status, 503);
}

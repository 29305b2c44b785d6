//! What a container's OpenAPI document declares.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use serde_json::json;
use tempfile::TempDir;

use super::support::small_server::{SmallServer, json as said};
use super::{MODEL, container, start, succeeded};

/// A worker that had a task before the container's first check took the addresses of its files for text.
#[test]
fn the_first_task_of_a_new_start_knows_what_the_container_makes() {
    let phase = Arc::new(AtomicUsize::new(0));
    let now = phase.clone();
    let server = SmallServer::start(move |asked| match asked.path.as_str() {
        "/health-check" if now.load(Ordering::SeqCst) == 0 => said(200, json!({"status": "READY"})),
        // No check succeeds any more.
        "/health-check" => said(200, json!({"status": "STARTING"})),
        "/openapi.json" => said(
            200,
            json!({"components": {"schemas": {"Output": {"type": "string", "format": "uri"},
                "Input": {"properties": {"prompt": {"type": "string"}}}}}}),
        ),
        "/a.txt" => Some((200, "text/plain", b"a file".to_vec())),
        path if path.ends_with("/cancel") => said(200, json!({})),
        _ if now.load(Ordering::SeqCst) == 0 => said(409, json!({"detail": "busy"})),
        _ => succeeded(json!(format!("http://{}/a.txt", asked.header("host")))),
    });
    let data = TempDir::new().unwrap();
    let mut service = start(data.path(), &server.url());
    let task = service.generate(MODEL, json!({"prompt": "a"}));
    service.await_log("the container is busy");
    service.kill();
    // As at a new machine.
    std::fs::remove_dir_all(data.path().join("schemas")).unwrap();
    phase.store(1, Ordering::SeqCst);
    let service = start(data.path(), &server.url());
    assert_eq!(service.wait(&task)["status"], "completed");
    let output = service.post("/v2/response", &task).json()["data"]["output"].clone();
    assert_eq!(service.get(output[0].as_str().unwrap()).text(), "a file");
}

/// A container whose document has changed while the service was stopped was asked for its first task before it
/// was asked for its document.
#[test]
fn a_container_is_checked_before_its_first_task() {
    let busy = Arc::new(AtomicBool::new(true));
    let is_busy = busy.clone();
    let server = container(move |asked| match asked.path.ends_with("/cancel") {
        true => said(200, json!({})),
        false if is_busy.load(Ordering::SeqCst) => said(409, json!({"detail": "busy"})),
        false => succeeded(json!("done")),
    });
    let data = TempDir::new().unwrap();
    let mut service = start(data.path(), &server.url());
    let task = service.generate(MODEL, json!({"prompt": "a"}));
    service.await_log("the container is busy");
    service.kill();
    let killed = std::time::SystemTime::now();
    busy.store(false, Ordering::SeqCst);
    let service = start(data.path(), &server.url());
    assert_eq!(service.wait(&task)["status"], "completed");
    let path = format!("/predictions/{}", task["id"].as_str().unwrap());
    let first = |path: &str| {
        let asked = server.asked(path).into_iter().map(|asked| asked.at);
        asked.filter(|at| *at > killed).min().unwrap()
    };
    assert!(first("/openapi.json") < first(&path));
}

//! The inputs and outputs that a container's OpenAPI document declares.

use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use serde_json::json;
use tempfile::TempDir;

use super::support::small_server::{SmallServer, json_response};
use super::support::{program, request};
use super::{MODEL, container, container_with_output, start, succeeded};

/// Guards against treating file addresses as text in a task that starts before the container's first check.
#[test]
fn the_document_is_fetched_before_the_first_task_after_a_start() {
    let phase = Arc::new(AtomicUsize::new(0));
    let now = phase.clone();
    let server = SmallServer::start(move |received| match received.path.as_str() {
        "/health-check" if now.load(Ordering::SeqCst) == 0 => {
            json_response(200, json!({"status": "READY"}))
        }
        // Later checks fail.
        "/health-check" => json_response(200, json!({"status": "STARTING"})),
        "/openapi.json" => json_response(
            200,
            json!({"components": {"schemas": {"Output": {"type": "string", "format": "uri"},
                "Input": {"properties": {"prompt": {"type": "string"}}}}}}),
        ),
        "/a.txt" => Some((200, "text/plain", b"a file".to_vec())),
        path if path.ends_with("/cancel") => json_response(200, json!({})),
        _ if now.load(Ordering::SeqCst) == 0 => json_response(409, json!({"detail": "busy"})),
        _ => succeeded(json!(format!("http://{}/a.txt", received.header("host")))),
    });
    let data = TempDir::new().unwrap();
    let mut service = start(data.path(), &server.url());
    let task = service.generate(MODEL, json!({"prompt": "a"}));
    service.await_log("the container is busy");
    service.kill();
    // Removes the cached document, as on a new machine.
    std::fs::remove_dir_all(data.path().join("schemas")).unwrap();
    phase.store(1, Ordering::SeqCst);
    let service = start(data.path(), &server.url());
    assert_eq!(service.wait(&task)["status"], "completed");
    let output = service.post("/v2/response", &task).json()["data"]["output"].clone();
    assert_eq!(service.get(output[0].as_str().unwrap()).text(), "a file");
}

/// Guards against sending the first task before fetching the document, which may have changed while the service was
/// stopped.
#[test]
fn a_container_is_checked_before_its_first_task() {
    let busy = Arc::new(AtomicBool::new(true));
    let is_busy = busy.clone();
    let server = container(move |received| match received.path.ends_with("/cancel") {
        true => json_response(200, json!({})),
        false if is_busy.load(Ordering::SeqCst) => json_response(409, json!({"detail": "busy"})),
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
        let times = server
            .requests(path)
            .into_iter()
            .map(|received| received.at);
        times.filter(|at| *at > killed).min().unwrap()
    };
    assert!(first("/openapi.json") < first(&path));
}

/// Guards against refusing all tasks of a container whose required input has the name of a common field.
#[test]
fn an_input_with_the_name_of_a_common_field_is_renamed() {
    let server = SmallServer::start(|received| match received.path.as_str() {
        "/health-check" => json_response(200, json!({"status": "READY"})),
        "/openapi.json" => {
            let text = json!({"type": "string"});
            let properties = json!({"id": text, "category": {"enum": ["animal", "place"]},
                "uid": {"type": "string", "default": "none"}});
            let input = json!({"required": ["id", "category"], "properties": properties});
            json_response(200, json!({"components": {"schemas": {"Input": input}}}))
        }
        _ => succeeded(json!("x")),
    });
    let data = TempDir::new().unwrap();
    let service = start(data.path(), &server.url());
    let note = "its input \"category\" is set by the parameter \"input_category\"";
    service.await_log(note);
    // `id` is a field of other requests, but not of `generate`.
    let input = json!({"id": "its own", "input_category": "place", "input_uid": "me"});
    let task = service.generate(MODEL, input);
    assert_eq!(service.wait(&task)["status"], "completed");
    let path = format!("/predictions/{}", task["id"].as_str().unwrap());
    assert_eq!(
        server.requests(&path)[0].json()["input"],
        json!({"id": "its own", "category": "place", "uid": "me"})
    );
    let body = request(MODEL, json!({"id": "its own", "input_category": "thing"}));
    let refused = service.post("/v2/generate", &body);
    assert_eq!(refused.status, 422);
    assert!(
        refused.text().contains("input_category"),
        "{}",
        refused.text()
    );

    let models = data.path().join("models.toml");
    let output = Command::new(program())
        .args(["doctor", "--listen", "127.0.0.1:0", "--models"])
        .args([&models, Path::new("--data"), &data.path().join("d")])
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let found = text.lines().find(|line| line.contains("model text/cog: "));
    let found = found.unwrap_or_else(|| panic!("{text}"));
    assert!(
        found.starts_with("warning ") && found.contains(note),
        "{found}"
    );
}

/// Guards against returning the addresses of files in dictionaries, nested lists and unions, or with `HTTP://`.
#[test]
fn every_declared_file_of_an_output_is_fetched() {
    let file = json!({"type": "string", "format": "uri"});
    let files = json!({"type": "array", "items": file});
    let output = json!({"type": "object", "additionalProperties": {"anyOf": [file, files,
        {"type": "array", "items": files}, {"type": "null"}]}});
    let server = container_with_output(output, |received| {
        let at = |n: usize| format!("http://{}/{n}.txt", received.header("host"));
        if received.path.ends_with(".txt") {
            return Some((200, "text/plain", received.path.clone().into_bytes())).into();
        }
        succeeded(
            json!({"vocals": at(0), "drums": at(1).replace("http", "HTTP"), "bass": null,
            "rows": [[at(2), null], [at(3)]], "seed": 5}),
        )
        .into()
    });
    let data = TempDir::new().unwrap();
    let service = start(data.path(), &server.url());
    let urls = service.output(MODEL, json!({"prompt": "a"}));
    let found: Vec<String> = urls.iter().map(|url| service.get(url).text()).collect();
    assert_eq!(
        found,
        ["/0.txt", "/1.txt", "/2.txt", "/3.txt", r#"{"seed":5}"#]
    );
}

//! What a container's OpenAPI document declares.

use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use serde_json::json;
use tempfile::TempDir;

use super::support::small_server::{SmallServer, json as said};
use super::support::{program, request};
use super::{MODEL, container, declaring, start, succeeded};

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

/// Each task of a container that demanded an input with a name of the interface was refused with 422.
#[test]
fn an_input_with_a_name_of_the_interface_has_another_name_here() {
    let server = SmallServer::start(|asked| match asked.path.as_str() {
        "/health-check" => said(200, json!({"status": "READY"})),
        "/openapi.json" => {
            let text = json!({"type": "string"});
            let properties = json!({"id": text, "category": {"enum": ["animal", "place"]},
                "uid": {"type": "string", "default": "none"}});
            let input = json!({"required": ["id", "category"], "properties": properties});
            said(200, json!({"components": {"schemas": {"Input": input}}}))
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
        server.asked(&path)[0].json()["input"],
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

/// Files in dictionaries, lists of lists and choices stayed addresses, and so did those with `HTTP://`.
#[test]
fn every_declared_file_of_an_output_is_fetched() {
    let file = json!({"type": "string", "format": "uri"});
    let files = json!({"type": "array", "items": file});
    let output = json!({"type": "object", "additionalProperties": {"anyOf": [file, files,
        {"type": "array", "items": files}, {"type": "null"}]}});
    let server = declaring(output, |asked| {
        let at = |n: usize| format!("http://{}/{n}.txt", asked.header("host"));
        if asked.path.ends_with(".txt") {
            return Some((200, "text/plain", asked.path.clone().into_bytes())).into();
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

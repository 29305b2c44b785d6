//! The time limit of a task counts from its first attempt.

mod support;

use serde_json::{Value, json};
use support::Server;
use support::small_server::{SmallServer, json_response};
use tempfile::TempDir;

const MODEL: (&str, &str) = ("image", "m");

fn error_of(more: &str) -> String {
    let data = TempDir::new().unwrap();
    let graph = json!({"6": {"class_type": "CLIPTextEncode", "inputs": {"text": ""}}});
    std::fs::write(data.path().join("flow.json"), graph.to_string()).unwrap();
    let models = format!(
        "[[model]]\ncategory = \"image\"\nsubcategory = \"m\"\nname = \"M\"\ntime_limit = \"10s\"\n{more}\n"
    );
    let service = Server::start_with_models(data.path(), &models, &["--speed", "0"]);
    let ended = service.wait(&service.generate(MODEL, json!({"prompt": "a"})));
    assert_eq!(ended["status"], "failed", "{ended}");
    let error = ended["error"].as_str().unwrap().to_owned();
    assert!(error.contains("time limit of 10 s"), "{error}");
    error
}

/// Guards against a task that is retried forever because its limit restarts at each attempt.
#[test]
fn an_unreadable_history_fails_the_task_with_the_last_error() {
    let server = SmallServer::start(|request| match request.path.as_str() {
        "/prompt" => json_response(200, json!({"prompt_id": request.json()["prompt_id"]})),
        path if path.starts_with("/history/") => json_response(500, json!({"error": "no memory"})),
        _ => json_response(200, Value::Object(serde_json::Map::new())),
    });
    let error = error_of(&format!(
        "[model.comfyui]\naddress = \"{}\"\nworkflow = \"flow.json\"\n\
         [[model.parameter]]\nname = \"prompt\"\ntype = \"string\"\ninput = \"6.text\"",
        server.url()
    ));
    assert!(error.contains("HTTP 500: no memory"), "{error}");
}

/// Guards against retrying forever with a key that the server refuses.
#[test]
fn a_refused_key_fails_the_task_with_the_last_error() {
    let server =
        SmallServer::start(|_| json_response(401, json!({"error": {"message": "wrong key"}})));
    let error = error_of(&format!(
        "[model.openai]\naddress = \"{}/v1\"",
        server.url()
    ));
    assert!(error.contains("HTTP 401: wrong key"), "{error}");
}

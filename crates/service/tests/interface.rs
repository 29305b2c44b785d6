//! Every endpoint of INTERFACE.md, over HTTP.

#[path = "interface/origins.rs"]
mod origins;
#[path = "interface/rate.rs"]
mod rate;
#[path = "interface/refusals.rs"]
mod refusals;

mod support;

use atelier_contract::{ModelList, Schema};
use serde_json::json;
use support::{STRATA, Server, request};

#[test]
fn models_and_schemas_agree_with_the_contract() {
    let server = Server::start(&[]);
    let body = server.get("/api/models").json();
    let list = ModelList::from_body(body.to_string().as_bytes()).unwrap();
    assert_eq!((body["success"].clone(), list.unreadable), (json!(true), 0));
    assert_eq!(body["count"], list.models.len());
    assert!(
        list.models
            .iter()
            .filter(|model| model.id.category == "image")
            .count()
            >= 4
    );
    for model in &list.models {
        assert!(
            model.documentation.starts_with(&server.url) && model.preview.starts_with(&server.url)
        );
        let reply = server
            .get(&atelier_contract::path::schema(&model.id))
            .json();
        let schema: Schema = serde_json::from_value(reply["data"].clone()).unwrap();
        assert_eq!(schema.model, model.id);
        assert_eq!(schema.parameters().count(), {
            let list = |key: &str| reply["data"]["parameters"][key].as_array().unwrap().len();
            list("required") + list("optional")
        });
        assert!(reply["message"].is_string());
        let page = server.get(&model.documentation);
        assert_eq!(page.status, 200);
        assert!(page.text().contains(model.display_name()));
    }
    let preview = server.get(&list.models[0].preview);
    assert_eq!(
        (preview.status, preview.header("content-type")),
        (200, "image/png")
    );
}

#[test]
fn a_task_from_generate_to_its_files() {
    let server = Server::start(&["--speed", "0.1"]);
    let task = server.generate(
        STRATA,
        json!({"prompt": "calm lake", "num_outputs": 2, "seed": u64::MAX}),
    );
    let early = server.post("/v2/response", &task).json();
    assert_eq!(
        early["data"],
        json!({"status": "processing"}),
        "an early request is not an error"
    );
    let data = server.wait(&task);
    assert_eq!(data, json!({"id": task["id"], "status": "completed"}));
    let body = server.post("/v2/response", &task).json();
    let urls = body["data"]["output"].as_array().unwrap();
    assert_eq!(urls.len(), 2);
    let url = urls[1].as_str().unwrap();
    assert!(url.starts_with(&format!("{}/outputs/", server.url)));
    let file = server.get(url);
    assert_eq!(
        (file.status, file.header("content-type")),
        (200, "image/png")
    );
    assert!(file.bytes.starts_with(b"\x89PNG"));
    assert_eq!(file.header("x-content-type-options"), "nosniff");
    assert!(file.header("cache-control").contains("immutable"));
    assert!(file.header("content-security-policy").contains("sandbox"));
    let page = ("origin", "http://localhost:8080");
    let file = server.call("GET", url, &[page], b"");
    assert_eq!(file.header("access-control-allow-origin"), page.1);
    let part = server.call("GET", url, &[("range", "bytes=1-3")], b"");
    assert_eq!((part.status, part.bytes.as_slice()), (206, &b"PNG"[..]));
    // Guards against errors that a browser caches.
    let beyond = server.call("GET", url, &[("range", "bytes=999999999-")], b"");
    assert_eq!(
        (beyond.status, beyond.error().as_str()),
        (416, "range_not_satisfiable")
    );
    assert!(beyond.header("content-range").starts_with("bytes */"));
    for answer in [
        &beyond,
        &server.call("POST", url, &[], b""),
        &server.get("/outputs/0123/0.png"),
    ] {
        assert_eq!(answer.header("cache-control"), "no-store");
        assert!(answer.header("content-security-policy").contains("sandbox"));
    }
    assert_eq!(server.call("POST", url, &[], b"").status, 405);
    let gone = server.get("/outputs/0123/0.png");
    assert_eq!(
        (gone.status, gone.error().as_str()),
        (404, "unknown_output")
    );
    assert_eq!(server.get("/outputs/../tasks.sqlite").status, 404);
    assert_eq!(server.get("/outputs/%2e%2e/tasks.sqlite").status, 404);
}

#[test]
fn videos_and_sounds_have_their_content_types() {
    let server = Server::start(&["--speed", "0"]);
    let urls = server.output(
        ("video", "silk"),
        json!({"prompt": "gold", "duration": 1, "frame_rate": 12}),
    );
    let film = server.get(&urls[0]);
    assert_eq!(film.header("content-type"), "video/webm");
    assert!(film.bytes.starts_with(&[0x1A, 0x45, 0xDF, 0xA3]));
    let urls = server.output(
        ("audio", "reverie"),
        json!({"prompt": "rain", "duration": 4}),
    );
    let sound = server.get(&urls[0]);
    assert!(sound.header("content-type").starts_with("audio/"));
    assert!(sound.bytes.starts_with(b"RIFF"));
}

#[test]
fn a_failure_is_reported_by_status_and_response() {
    let server = Server::start(&["--speed", "0.05"]);
    let task = server.generate(STRATA, json!({"prompt": "please [fail]"}));
    let data = server.wait(&task);
    assert_eq!(data["status"], "failed");
    assert!(data["error"].as_str().unwrap().contains("on purpose"));
    let body = server.post("/v2/response", &task).json();
    assert_eq!(
        body["data"],
        json!({"status": "failed", "error": data["error"]})
    );
}

#[test]
fn a_task_belongs_to_its_user_and_model() {
    let server = Server::start(&["--speed", "0"]);
    let task = server.generate(STRATA, json!({"prompt": "a"}));
    for (key, value) in [
        ("uid", "you"),
        ("subcategory", "fluxfield"),
        ("id", "nonsense"),
    ] {
        for path in ["/v2/status", "/v2/response"] {
            let mut other = task.clone();
            other[key] = value.into();
            let answer = server.post(path, &other);
            assert_eq!(
                (answer.status, answer.error().as_str()),
                (404, "unknown_task"),
                "{key}"
            );
        }
    }
    let answer = server.post("/v2/status", &json!({"uid": "me"}));
    assert_eq!(
        (
            answer.status,
            answer.json()["fields"].as_array().unwrap().len()
        ),
        (422, 3)
    );
}

#[test]
fn batches_handle_each_item_separately() {
    let server = Server::start(&["--speed", "0"]);
    let items = json!([
        request(STRATA, json!({"prompt": "a"})),
        request(STRATA, json!({"prompt": ""})),
        request(("no", "model"), json!({})),
        7,
    ]);
    let answer = server.post("/v2/generate-batch", &json!({"requests": items}));
    assert_eq!(answer.status, 200);
    let results = answer.json()["data"]["results"].as_array().unwrap().clone();
    let statuses: Vec<_> = results
        .iter()
        .map(|r| (r["index"].as_u64(), r["status"].as_u64()))
        .collect();
    assert_eq!(
        statuses,
        [
            (Some(0), Some(200)),
            (Some(1), Some(422)),
            (Some(2), Some(404)),
            (Some(3), Some(400))
        ]
    );
    assert_eq!(results[0]["body"]["data"]["status"], "queued");
    assert_eq!(results[1]["body"]["fields"][0]["parameter"], "prompt");
    let task = json!({"uid": "me", "category": "image", "subcategory": "strata",
        "id": results[0]["body"]["data"]["id"]});
    server.wait(&task);
    let both = json!({"requests": [task, {"uid": "me"}]});
    let status = server.post("/v2/status-batch", &both).json();
    assert_eq!(
        status["data"]["results"][0]["body"]["data"]["status"],
        "completed"
    );
    assert_eq!(status["data"]["results"][1]["status"], 422);
    let response = server.post("/v2/response-batch", &both).json();
    assert_eq!(
        response["data"]["results"][0]["body"]["data"]["output"]
            .as_array()
            .unwrap()
            .len(),
        1
    );
    for count in [0, 11] {
        for path in [
            "/v2/generate-batch",
            "/v2/status-batch",
            "/v2/response-batch",
        ] {
            let body = json!({"requests": vec![task.clone(); count]});
            let answer = server.post(path, &body);
            assert_eq!(
                (answer.status, answer.error().as_str()),
                (422, "invalid_input")
            );
        }
    }
    assert_eq!(server.post("/v2/status-batch", &json!([])).status, 422);
}

/// Guards against `starting` and `queued`, which may occur only in the response to generate.
#[test]
fn a_status_is_one_of_three_words() {
    let server = Server::start(&["--speed", "50", "--workers", "1"]);
    let first = server.generate(STRATA, json!({"prompt": "a"}));
    let second = server.generate(STRATA, json!({"prompt": "b"}));
    for task in [&first, &second] {
        let data = server.post("/v2/status", task).json()["data"].clone();
        assert_eq!(
            data["status"], "processing",
            "a waiting task has the same status"
        );
        let batch = server
            .post("/v2/status-batch", &json!({"requests": [task]}))
            .json();
        assert_eq!(batch["data"]["results"][0]["body"]["data"], data);
    }
}

/// Guards against prompts and pictures that all users of the machine can read.
#[cfg(unix)]
#[test]
fn data_is_readable_only_by_its_owner() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let server = Server::start_on(&data, &["--speed", "0"]);
    let urls = server.output(STRATA, json!({"prompt": "a"}));
    let output = urls[0].split("/outputs/").nth(1).unwrap();
    let mode = |path: &str| {
        let found = std::fs::metadata(data.join(path)).unwrap();
        format!("{path} {:o}", found.permissions().mode() & 0o777)
    };
    for file in [
        "tasks.sqlite",
        "tasks.sqlite-wal",
        &format!("outputs/{output}"),
    ] {
        assert_eq!(mode(file), format!("{file} 600"));
    }
    for dir in ["", "outputs"] {
        assert_eq!(mode(dir), format!("{dir} 700"));
    }
}

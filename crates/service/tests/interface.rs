//! Every endpoint of INTERFACE.md, over HTTP.

mod support;

use atelier_contract::{ModelList, Schema};
use serde_json::{Value, json};
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
        "asking early is no error"
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
    // Guards against a browser that keeps an error for good.
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
fn films_and_sounds_have_their_types() {
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
fn a_failure_is_told_by_status_and_response() {
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
fn wrong_inputs_are_refused_with_every_field_named() {
    let server = Server::start(&[]);
    let refused = |body: &Value| {
        let answer = server.post("/v2/generate", body);
        assert_eq!(answer.status, 422, "{body}: {}", answer.text());
        assert_eq!(answer.error(), "invalid_input");
        let fields = answer.json()["fields"].as_array().unwrap().clone();
        let names: Vec<String> = fields
            .iter()
            .map(|f| f["parameter"].as_str().unwrap().to_owned())
            .collect();
        names.join(",")
    };
    assert_eq!(refused(&json!({})), "uid,category,subcategory");
    assert_eq!(
        refused(&json!({"uid": "", "category": 1, "subcategory": "strata"})),
        "uid,category"
    );
    assert_eq!(refused(&request(STRATA, json!({}))), "prompt");
    let wrong = json!({"prompt": 7, "layers": 99, "mist": "much", "water": "salt", "other": 1});
    assert_eq!(
        refused(&request(STRATA, wrong)),
        "prompt,layers,mist,water,other"
    );
    let number = json!({"prompt": "a", "symmetry": "4"});
    assert_eq!(
        refused(&request(("image", "fluxfield"), number)),
        "symmetry",
        "\"4\" is not 4"
    );
    assert_eq!(
        refused(&request(STRATA, json!({"prompt": "a", "seed": -1}))),
        "seed"
    );
    let unknown = server.post(
        "/v2/generate",
        &request(("image", "nothing"), json!({"prompt": "a"})),
    );
    assert_eq!(
        (unknown.status, unknown.error().as_str()),
        (404, "unknown_model")
    );
}

#[test]
fn an_image_comes_from_this_service_or_not_at_all() {
    let server = Server::start(&["--speed", "0"]);
    let repaint = ("image", "repaint");
    let urls = server.output(STRATA, json!({"prompt": "a"}));
    for style in ["duotone", "halftone", "oil", "pixel-sort", "kaleidoscope"] {
        let made = server.output(
            repaint,
            json!({"prompt": "b", "image_url": urls[0], "style": style}),
        );
        assert_eq!(server.get(&made[0]).status, 200);
    }
    let elsewhere = urls[0].replace("127.0.0.1", "localhost");
    server.output(repaint, json!({"prompt": "b", "image_url": elsewhere}));
    for url in [
        "http://169.254.169.254/latest/meta-data.png",
        "http://example.com/outputs/a/0.png",
        "file:///etc/passwd",
        "/outputs/../tasks.sqlite",
        "",
        "data:image/png;base64,AAAA",
        &format!(
            "{}/outputs/00000000000000000000000000000000/0.png",
            server.url
        ),
        &format!("http://evil@{}", &urls[0]["http://".len()..]),
    ] {
        let answer = server.post(
            "/v2/generate",
            &request(repaint, json!({"prompt": "b", "image_url": url})),
        );
        assert_eq!(answer.status, 422, "{url}");
        assert_eq!(answer.json()["fields"][0]["parameter"], "image_url");
    }
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
fn batches_answer_each_item_on_its_own() {
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

#[test]
fn calls_that_are_no_calls() {
    let server = Server::start(&["--token", "secret"]);
    let json_type = ("content-type", "application/json");
    let body = request(STRATA, json!({"prompt": "a"})).to_string();
    for authorization in ["", "Bearer ", "Bearer wrong", "Basic secret"] {
        let headers = [("authorization", authorization), json_type];
        let answer = server.call("POST", "/v2/generate", &headers, body.as_bytes());
        assert_eq!(
            (answer.status, answer.error().as_str()),
            (401, "unauthorized")
        );
    }
    let headers = [("authorization", "Bearer secret"), json_type];
    assert_eq!(
        server
            .call("POST", "/v2/generate", &headers, body.as_bytes())
            .status,
        200
    );
    let answer = server.call("POST", "/v2/generate", &headers, b"{\"uid\":");
    assert_eq!(
        (answer.status, answer.error().as_str()),
        (400, "bad_request")
    );
    let large = vec![b' '; (1 << 20) + 1];
    let answer = server.call("POST", "/v2/generate", &headers, &large);
    assert_eq!((answer.status, answer.error().as_str()), (413, "too_large"));
    let answer = server.get("/v2/generate");
    assert_eq!(
        (answer.status, answer.error().as_str()),
        (405, "method_not_allowed")
    );
    for path in ["/api/nothing", "/v2/nothing", "/nothing"] {
        let answer = server.get(path);
        assert_eq!(
            (answer.status, answer.error().as_str()),
            (404, "not_found"),
            "{path}"
        );
    }
    // Guards against answers that are not JSON: the framework's own.
    for path in ["schema", "openai-function", "comfyui-node", "docs"] {
        let answer = server.get(&format!("/api/{path}/image/%ff"));
        assert_eq!(
            (answer.status, answer.error().as_str()),
            (400, "bad_request")
        );
    }
    for path in [
        "/api/schema/a/b",
        "/api/openai-function/a/b",
        "/api/comfyui-node/a/b",
    ] {
        assert_eq!(server.get(path).error(), "unknown_model");
    }
}

#[test]
fn pages_of_this_machine_may_call() {
    let server = Server::start(&[]);
    let page = ("origin", "http://localhost:8080");
    let asks = [
        page,
        ("access-control-request-method", "POST"),
        (
            "access-control-request-headers",
            "authorization,content-type",
        ),
    ];
    let answer = server.call("OPTIONS", "/v2/generate", &asks, b"");
    assert_eq!(
        (answer.status, answer.header("access-control-allow-origin")),
        (200, page.1)
    );
    assert!(
        answer
            .header("access-control-allow-headers")
            .contains("authorization")
    );
    assert!(!answer.header("access-control-max-age").is_empty());
    let refused = server.call("POST", "/v2/status", &[page], b"");
    assert_eq!(
        (
            refused.status,
            refused.header("access-control-allow-origin")
        ),
        (401, page.1)
    );
    assert!(
        refused
            .header("access-control-expose-headers")
            .contains("retry-after")
    );
    assert!(
        refused
            .header("access-control-allow-credentials")
            .is_empty()
    );
    // What a browser keeps without the header is not to be used where it is needed.
    let vary = server.get("/api/models").header("vary").to_owned();
    assert!(vary.contains("origin"), "{vary}");
}

/// Guards against any web page that its owner opens using the service, by its own name or by one
/// that was made to lead here.
#[test]
fn other_names_and_pages_are_turned_away() {
    let server = Server::start(&[]);
    let port = server.url.rsplit(':').next().unwrap();
    let evil = [("host", "evil.example")];
    let with_port = format!("evil.example:{port}");
    for (path, method) in [
        ("/api/models", "GET"),
        ("/v2/generate", "POST"),
        ("/", "GET"),
    ] {
        for headers in [evil, [("host", with_port.as_str())]] {
            let answer = server.call(method, path, &headers, b"");
            assert_eq!(
                (answer.status, answer.error().as_str()),
                (421, "host_not_allowed")
            );
        }
        let answer = server.call(method, path, &[("origin", "https://evil.example")], b"");
        assert_eq!(
            (answer.status, answer.error().as_str()),
            (403, "origin_not_allowed")
        );
        assert_eq!(answer.header("access-control-allow-origin"), "");
    }
    assert_eq!(
        server
            .call("GET", "/api/models", &[("origin", "null")], b"")
            .status,
        403
    );
    let local = [("host", "localhost:1"), ("origin", "http://[::1]:9")];
    assert_eq!(server.call("GET", "/api/models", &local, b"").status, 200);

    let server = Server::start(&[
        "--allow-host",
        "evil.example",
        "--allow-origin",
        "https://evil.example",
    ]);
    let headers = [("host", "evil.example"), ("origin", "https://evil.example")];
    let answer = server.call("GET", "/api/models", &headers, b"");
    assert_eq!(
        (answer.status, answer.header("access-control-allow-origin")),
        (200, "https://evil.example")
    );
}

#[test]
fn too_many_calls_are_told_when_to_come_back() {
    let server = Server::start(&["--rate", "2/s", "--latency", "10ms"]);
    let task = json!({"uid": "me", "category": "image", "subcategory": "strata", "id": "x"});
    let answers: Vec<_> = (0..6).map(|_| server.post("/v2/status", &task)).collect();
    let refused = answers
        .iter()
        .find(|answer| answer.status == 429)
        .expect("a 429");
    assert_eq!(refused.error(), "rate_limited");
    assert!(refused.header("retry-after").parse::<u64>().unwrap() >= 1);
    assert_eq!(
        server.get("/api/models").status,
        200,
        "discovery is not limited"
    );
}

/// Guards against a limit that ten items pass for the price of one, or that a new token resets.
#[test]
fn every_item_counts_and_a_fresh_token_does_not_help() {
    let server = Server::start(&["--rate", "5/s"]);
    let task = json!({"uid": "me", "category": "image", "subcategory": "strata", "id": "x"});
    let ten = json!({"requests": vec![task.clone(); 10]});
    assert_eq!(server.post("/v2/status-batch", &ten).status, 200);
    let refused = server.post("/v2/status", &task);
    assert_eq!(refused.status, 429);
    let wait: u64 = refused.header("retry-after").parse().unwrap();
    assert!((1..=2).contains(&wait), "{wait}");
    let headers = [
        ("authorization", "Bearer another"),
        ("content-type", "application/json"),
    ];
    let answer = server.call("POST", "/v2/status", &headers, task.to_string().as_bytes());
    assert_eq!(answer.status, 429, "the address is the same");
}

/// Guards against words that the interface keeps for the answer to generate.
#[test]
fn a_status_is_one_of_three_words() {
    let server = Server::start(&["--speed", "50", "--workers", "1"]);
    let first = server.generate(STRATA, json!({"prompt": "a"}));
    let second = server.generate(STRATA, json!({"prompt": "b"}));
    for task in [&first, &second] {
        let data = server.post("/v2/status", task).json()["data"].clone();
        assert_eq!(data["status"], "processing", "the second one waits still");
        let batch = server
            .post("/v2/status-batch", &json!({"requests": [task]}))
            .json();
        assert_eq!(batch["data"]["results"][0]["body"]["data"], data);
    }
}

/// Guards against prompts and pictures that everybody on the machine can read.
#[cfg(unix)]
#[test]
fn data_is_its_owners_alone() {
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

#[test]
fn urls_follow_the_address_that_the_caller_used() {
    // Guards against anybody's header in the addresses, and in the downloaded files.
    let server = Server::start(&[]);
    let forwarded = [
        ("x-forwarded-host", "localhost:1"),
        ("x-forwarded-proto", "https"),
    ];
    let file = server.call("GET", "/api/openai-function/image/strata", &forwarded, b"");
    let address = format!("BASE_URL = \"{}\"", server.url);
    assert!(file.text().contains(&address), "{address}");

    let server = Server::start(&["--trust-proxy", "--allow-host", "studio.example"]);
    let evil = [("x-forwarded-host", "evil.example")];
    assert_eq!(server.call("GET", "/api/models", &evil, b"").status, 421);
    let headers = [
        ("x-forwarded-host", "studio.example"),
        ("x-forwarded-proto", "https"),
    ];
    let models = server.call("GET", "/api/models", &headers, b"").json();
    let preview = models["data"][0]["preview"].as_str().unwrap();
    assert!(
        preview.starts_with("https://studio.example/outputs/previews/"),
        "{preview}"
    );
    let server = Server::start(&["--public-url", "https://a.example/x/"]);
    let models = server.get("/api/models").json();
    assert!(
        models["data"][0]["documentation"]
            .as_str()
            .unwrap()
            .starts_with("https://a.example/x/api/")
    );
    let file = server.get("/api/openai-function/image/strata").text();
    assert!(file.contains("BASE_URL = \"https://a.example/x\""));
}

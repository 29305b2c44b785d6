//! Models in cog containers, with behavior that the real servers in `cog.rs` don't show.

#[path = "containers/document.rs"]
mod document;
#[path = "containers/streams.rs"]
mod streams;
mod support;

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};
use support::Server;
use support::small_server::{Reply, Request, Response, SmallServer, json_response, unused_address};
use tempfile::TempDir;

const MODEL: (&str, &str) = ("text", "cog");

fn start(data: &Path, address: &str) -> Server {
    start_with(data, address, "")
}

fn start_with(data: &Path, address: &str, more: &str) -> Server {
    let models = format!(
        "[[model]]\ncategory = \"text\"\nsubcategory = \"cog\"\nname = \"Cog\"\n\
         [model.cog]\naddress = \"{address}\"\n{more}\n"
    );
    Server::start_with_models(data, &models, &["--speed", "0"])
}

/// Returns a server on loopback that does not belong to the container.
fn secret_server() -> SmallServer {
    SmallServer::start(|_| Some((200, "text/plain", b"a secret".to_vec())))
}

/// Returns a container whose document declares this output.
fn container_with_output(
    output: Value,
    predict: impl Fn(&Request) -> Reply + Send + Sync + 'static,
) -> SmallServer {
    SmallServer::start_with_headers(move |request| match request.path.as_str() {
        "/health-check" => json_response(200, json!({"status": "READY"})).into(),
        "/openapi.json" => json_response(
            200,
            json!({"components": {"schemas": {"Output": output,
                "Input": {"properties": {"prompt": {"type": "string"}}}}}}),
        )
        .into(),
        _ => predict(request),
    })
}

/// Guards against fetching every text that begins with http://.
#[test]
fn a_text_that_is_an_address_stays_a_text() {
    let secret = secret_server();
    for declared in [
        json!({"type": "string"}),
        json!({"type": "array", "items": {"type": "string"}}),
        json!({}),
    ] {
        let url = format!("{}/latest/meta-data", secret.url());
        let printed = url.clone();
        let server = container_with_output(declared, move |_| succeeded(json!(printed)).into());
        let data = TempDir::new().unwrap();
        let service = start(data.path(), &server.url());
        let urls = service.output(MODEL, json!({"prompt": "print it"}));
        assert_eq!(service.get(&urls[0]).text(), url);
    }
    assert_eq!(secret.requests("/latest/meta-data").len(), 0);
}

/// Guards against fetching files from loopback, private and link-local addresses, directly or after a redirect.
#[test]
fn files_are_fetched_only_from_the_container_and_allowed_origins() {
    let secret = secret_server();
    let target = format!("{}/a", secret.url());
    let link = target.clone();
    let server =
        container_with_output(json!({"type": "string", "format": "uri"}), move |request| {
            let own = format!("http://{}", request.header("host"));
            match request.path.as_str() {
                "/moved" => Reply {
                    response: json_response(302, json!({})),
                    headers: vec![("location", target.clone())],
                },
                "/own" => Some((200, "text/plain", b"mine".to_vec())).into(),
                _ => succeeded(json!(match request.json()["input"]["prompt"].as_str() {
                    Some("own") => format!("{own}/own"),
                    Some("moved") => format!("{own}/moved"),
                    Some("metadata") => "http://169.254.169.254/latest".to_owned(),
                    _ => target.clone(),
                }))
                .into(),
            }
        });
    let data = TempDir::new().unwrap();
    let service = start(data.path(), &server.url());
    let urls = service.output(MODEL, json!({"prompt": "own"}));
    assert_eq!(service.get(&urls[0]).text(), "mine");
    for prompt in ["foreign", "moved", "metadata"] {
        let ended = service.wait(&service.generate(MODEL, json!({"prompt": prompt})));
        let error = ended["error"].as_str().unwrap_or_default();
        assert!(error.contains("allow_fetch"), "{prompt}: {ended}");
        let address = if prompt == "metadata" {
            "http://169.254.169.254/latest"
        } else {
            &link
        };
        assert!(error.contains(address), "{prompt}: {ended}");
    }
    assert_eq!(secret.requests("/a").len(), 0);
    drop(service);

    let allowed = format!("allow_fetch = [\"{}\"]", secret.url());
    let service = start_with(data.path(), &server.url(), &allowed);
    for prompt in ["foreign", "moved"] {
        let urls = service.output(MODEL, json!({"prompt": prompt}));
        assert_eq!(service.get(&urls[0]).text(), "a secret");
    }
}

/// Returns a container with this response to predictions.
fn container(predict: impl Fn(&Request) -> Response + Send + Sync + 'static) -> SmallServer {
    SmallServer::start(move |request| answer(request, &predict))
}

fn answer(request: &Request, predict: &impl Fn(&Request) -> Response) -> Response {
    match request.path.as_str() {
        "/health-check" => json_response(200, json!({"status": "READY"})),
        "/openapi.json" => json_response(
            200,
            json!({"components": {"schemas": {"Input": {"properties": {
            "prompt": {"type": "string"}, "seed": {"type": "integer", "nullable": true}},
            "required": ["prompt"]}}}}),
        ),
        _ => predict(request),
    }
}

fn succeeded(output: Value) -> Response {
    json_response(200, json!({"status": "succeeded", "output": output}))
}

#[test]
fn outputs_of_all_kinds_become_files() {
    let server = container(|request| {
        succeeded(match request.json()["input"]["prompt"].as_str() {
            Some("text") => json!("plain words"),
            Some("pieces") => json!(["a", " b"]),
            Some("number") => json!(5),
            Some("object") => json!({"mask": "data:image/png;base64,iVBORw0KGgo=", "score": 0.5}),
            _ => json!("data:text/plain;base64,aGk="),
        })
    });
    let data = TempDir::new().unwrap();
    let service = start(data.path(), &server.url());
    let outputs = |prompt: &str| -> Vec<String> {
        let urls = service.output(MODEL, json!({"prompt": prompt, "seed": null}));
        urls.iter().map(|url| service.get(url).text()).collect()
    };
    assert_eq!(outputs("text"), ["plain words"]);
    assert_eq!(outputs("pieces"), ["a b"]);
    assert_eq!(outputs("number"), ["5"]);
    assert_eq!(outputs("object")[1], r#"{"score":0.5}"#);
    assert_eq!(outputs("uri"), ["hi"]);
    // The request has no nulls, because newer containers refuse them.
    let urls = service.output(MODEL, json!({"prompt": "uri"}));
    let path = format!("/predictions/{}", urls[0].rsplit('/').nth(1).unwrap());
    assert_eq!(
        server.requests(&path)[0].json(),
        json!({"input": {"prompt": "uri"}})
    );
}

/// Guards against losing the other files because one file can't be fetched.
#[test]
fn a_missing_file_is_reported_after_the_others() {
    let files = json!({"type": "array", "items": {"type": "string", "format": "uri"}});
    let output = json!({"type": "object", "properties": {"files": files}});
    let server = container_with_output(output, |request| {
        let at = |name: &str| format!("http://{}/{name}", request.header("host"));
        let gone = at("gone.txt");
        match request.path.as_str() {
            "/0.txt" | "/2.txt" => Some((200, "text/plain", request.path.clone().into_bytes())),
            "/gone.txt" => json_response(404, json!({"detail": "it was deleted"})),
            _ => succeeded(match request.json()["input"]["prompt"].as_str() {
                Some("one") => json!({"files": [at("0.txt"), gone, at("2.txt")], "seed": 5}),
                Some("all but the seed") => json!({"files": [gone], "seed": 5}),
                _ => json!({"files": [gone, gone]}),
            }),
        }
        .into()
    });
    let data = TempDir::new().unwrap();
    let service = start(data.path(), &server.url());
    let outputs = |prompt: &str| -> Vec<String> {
        let urls = service.output(MODEL, json!({"prompt": prompt}));
        urls.iter().map(|url| service.get(url).text()).collect()
    };
    let found = outputs("one");
    assert_eq!(
        found[..3],
        ["/0.txt", "/2.txt", r#"{"seed":5}"#],
        "{found:?}"
    );
    for words in [
        "1 of 3 files missing",
        "/gone.txt",
        "HTTP 404: it was deleted",
    ] {
        assert!(found[3].contains(words), "{found:?}");
    }
    let found = outputs("all but the seed");
    assert_eq!(found[0], r#"{"seed":5}"#);
    assert!(found[1].contains("1 of 1 files missing"), "{found:?}");
    let ended = service.wait(&service.generate(MODEL, json!({"prompt": "all"})));
    let error = ended["error"].as_str().unwrap_or_default();
    assert!(error.contains("HTTP 404: it was deleted"), "{ended}");
}

#[test]
fn retryable_errors_are_retried_with_the_same_id() {
    let count = AtomicUsize::new(0);
    let server = container(move |request| {
        if request.path.ends_with("/cancel") {
            return json_response(200, json!({}));
        }
        match count.fetch_add(1, Ordering::SeqCst) {
            0 => json_response(409, json!({"detail": "Already running a prediction"})),
            // A prediction of an earlier attempt is still running.
            1 => json_response(202, json!({"status": "processing"})),
            // The response of coglet while it starts.
            2 => json_response(503, json!({"status": "failed", "error": "not ready"})),
            3 => None,
            _ => succeeded(json!("done")),
        }
    });
    let data = TempDir::new().unwrap();
    let service = start(data.path(), &server.url());
    let task = service.generate(MODEL, json!({"prompt": "a"}));
    assert_eq!(service.wait(&task)["status"], "completed");
    let path = format!("/predictions/{}", task["id"].as_str().unwrap());
    assert_eq!(server.requests(&path).len(), 5);
    assert_eq!(server.requests(&format!("{path}/cancel")).len(), 1);
}

#[test]
fn final_errors_fail_the_task_with_their_message() {
    let server = container(|request| match request.json()["input"]["prompt"].as_str() {
        Some("refused") => json_response(422, json!({"detail": "prompt: too rude"})),
        Some("odd") => json_response(500, json!({"detail": "bad output"})),
        Some("broken") => None,
        _ => json_response(
            200,
            json!({"status": "failed", "error": "no", "logs": "step 1\nthe last\n\n"}),
        ),
    });
    let data = TempDir::new().unwrap();
    let service = start(data.path(), &server.url());
    let error = |prompt: &str| {
        let ended = service.wait(&service.generate(MODEL, json!({"prompt": prompt})));
        ended["error"].as_str().unwrap().to_owned()
    };
    assert_eq!(
        error("refused"),
        "The container refused: HTTP 422: prompt: too rude"
    );
    assert_eq!(error("odd"), "The container failed: HTTP 500: bad output");
    assert_eq!(error("fails"), "no (last line of its log: the last)");
    assert!(error("broken").starts_with("The container broke off 4 times over this task"));
}

#[test]
fn an_unavailable_container_has_its_last_known_schema() {
    let address = unused_address();
    let url = format!("http://{address}");
    let data = TempDir::new().unwrap();
    {
        // The container was never available, so its parameters are unknown.
        let service = start(data.path(), &url);
        let answer = service.post(
            "/v2/generate",
            &support::request(MODEL, json!({"prompt": "a"})),
        );
        assert_eq!(
            (answer.status, answer.error().as_str()),
            (503, "model_away")
        );
        assert_eq!(answer.header("retry-after"), "5");
    }
    {
        let _server = container(|_| None);
        let server = start(data.path(), &_server.url());
        assert_eq!(
            server.get("/api/models").json()["data"][0].get("away"),
            None
        );
    }
    let service = start(data.path(), &url);
    let entry = service.await_model(MODEL, |entry| entry["away"].is_string());
    assert_eq!(entry["name"], "Cog");
    let schema = service.get("/api/schema/text/cog").json();
    assert_eq!(
        schema["data"]["parameters"]["required"][0]["name"],
        "prompt"
    );
    let task = service.generate(MODEL, json!({"prompt": "a"}));
    service.await_log("trying again");
    let _server = SmallServer::start_at(address, |request| {
        answer(request, &|_| succeeded(json!("x")))
    });
    assert_eq!(service.wait(&task)["status"], "completed");
    service.await_model(MODEL, |entry| entry.get("away").is_none());
}

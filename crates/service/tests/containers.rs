//! Models in cog containers: what a container may do that those of `cog.rs` don't.

#[path = "containers/document.rs"]
mod document;
mod support;

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};
use support::Server;
use support::small_server::{Asked, Reply, Said, SmallServer, json as said, nobody};
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

/// A server that is none of the container's, though it can be reached from here.
fn secret_server() -> SmallServer {
    SmallServer::start(|_| Some((200, "text/plain", b"a secret".to_vec())))
}

/// A container whose document declares this output.
fn declaring(
    output: Value,
    predict: impl Fn(&Asked) -> Reply + Send + Sync + 'static,
) -> SmallServer {
    SmallServer::start_with_headers(move |asked| match asked.path.as_str() {
        "/health-check" => said(200, json!({"status": "READY"})).into(),
        "/openapi.json" => said(
            200,
            json!({"components": {"schemas": {"Output": output,
                "Input": {"properties": {"prompt": {"type": "string"}}}}}}),
        )
        .into(),
        _ => predict(asked),
    })
}

/// The service fetched every text that began with http:// and showed it to the user.
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
        let server = declaring(declared, move |_| succeeded(json!(printed)).into());
        let data = TempDir::new().unwrap();
        let service = start(data.path(), &server.url());
        let urls = service.output(MODEL, json!({"prompt": "print it"}));
        assert_eq!(service.get(&urls[0]).text(), url);
    }
    assert_eq!(secret.asked("/latest/meta-data").len(), 0);
}

/// Files came from wherever the output or a redirect led: loopback, private and link-local addresses, too.
#[test]
fn files_come_from_the_container_or_where_the_models_file_allows() {
    let secret = secret_server();
    let target = format!("{}/a", secret.url());
    let link = target.clone();
    let server = declaring(json!({"type": "string", "format": "uri"}), move |asked| {
        let own = format!("http://{}", asked.header("host"));
        match asked.path.as_str() {
            "/moved" => Reply {
                said: said(302, json!({})),
                headers: vec![("location", target.clone())],
            },
            "/own" => Some((200, "text/plain", b"mine".to_vec())).into(),
            _ => succeeded(json!(match asked.json()["input"]["prompt"].as_str() {
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
    assert_eq!(secret.asked("/a").len(), 0);
    drop(service);

    let allowed = format!("allow_fetch = [\"{}\"]", secret.url());
    let service = start_with(data.path(), &server.url(), &allowed);
    for prompt in ["foreign", "moved"] {
        let urls = service.output(MODEL, json!({"prompt": prompt}));
        assert_eq!(service.get(&urls[0]).text(), "a secret");
    }
}

/// A container that answers a prediction so.
fn container(predict: impl Fn(&Asked) -> Said + Send + Sync + 'static) -> SmallServer {
    SmallServer::start(move |asked| answer(asked, &predict))
}

fn answer(asked: &Asked, predict: &impl Fn(&Asked) -> Said) -> Said {
    match asked.path.as_str() {
        "/health-check" => said(200, json!({"status": "READY"})),
        "/openapi.json" => said(
            200,
            json!({"components": {"schemas": {"Input": {"properties": {
            "prompt": {"type": "string"}, "seed": {"type": "integer", "nullable": true}},
            "required": ["prompt"]}}}}),
        ),
        _ => predict(asked),
    }
}

fn succeeded(output: Value) -> Said {
    said(200, json!({"status": "succeeded", "output": output}))
}

#[test]
fn whatever_comes_out_becomes_files() {
    let server = container(|asked| {
        succeeded(match asked.json()["input"]["prompt"].as_str() {
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
    // Nulls are left out: newer containers refuse them.
    let urls = service.output(MODEL, json!({"prompt": "uri"}));
    let path = format!("/predictions/{}", urls[0].rsplit('/').nth(1).unwrap());
    assert_eq!(
        server.asked(&path)[0].json(),
        json!({"input": {"prompt": "uri"}})
    );
}

/// One file that could not be fetched failed the task, and the others were lost.
#[test]
fn a_missing_file_is_reported_after_the_others() {
    let files = json!({"type": "array", "items": {"type": "string", "format": "uri"}});
    let output = json!({"type": "object", "properties": {"files": files}});
    let server = declaring(output, |asked| {
        let at = |name: &str| format!("http://{}/{name}", asked.header("host"));
        let gone = at("gone.txt");
        match asked.path.as_str() {
            "/0.txt" | "/2.txt" => Some((200, "text/plain", asked.path.clone().into_bytes())),
            "/gone.txt" => said(404, json!({"detail": "it was deleted"})),
            _ => succeeded(match asked.json()["input"]["prompt"].as_str() {
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
    let server = container(move |asked| {
        if asked.path.ends_with("/cancel") {
            return said(200, json!({}));
        }
        match count.fetch_add(1, Ordering::SeqCst) {
            0 => said(409, json!({"detail": "Already running a prediction"})),
            // Of an attempt that nothing waits for any more.
            1 => said(202, json!({"status": "processing"})),
            // As coglet says it while it starts.
            2 => said(503, json!({"status": "failed", "error": "not ready"})),
            3 => None,
            _ => succeeded(json!("done")),
        }
    });
    let data = TempDir::new().unwrap();
    let service = start(data.path(), &server.url());
    let task = service.generate(MODEL, json!({"prompt": "a"}));
    assert_eq!(service.wait(&task)["status"], "completed");
    let path = format!("/predictions/{}", task["id"].as_str().unwrap());
    assert_eq!(server.asked(&path).len(), 5);
    assert_eq!(server.asked(&format!("{path}/cancel")).len(), 1);
}

#[test]
fn final_errors_fail_the_task_with_their_message() {
    let server = container(|asked| match asked.json()["input"]["prompt"].as_str() {
        Some("refused") => said(422, json!({"detail": "prompt: too rude"})),
        Some("odd") => said(500, json!({"detail": "bad output"})),
        Some("broken") => None,
        _ => said(
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
fn a_container_that_is_away_is_known_by_what_it_said_last() {
    let address = nobody();
    let url = format!("http://{address}");
    let data = TempDir::new().unwrap();
    {
        // Never seen before, it is unknown what it takes.
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
    let _server = SmallServer::start_at(address, |asked| answer(asked, &|_| succeeded(json!("x"))));
    assert_eq!(service.wait(&task)["status"], "completed");
    service.await_model(MODEL, |entry| entry.get("away").is_none());
}

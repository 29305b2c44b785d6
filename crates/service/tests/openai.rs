//! Models on servers with OpenAI's images API.

#[path = "openai/edits.rs"]
mod edits;
mod support;

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use serde_json::json;
use support::small_server::{Reply, Response, SmallServer, json_response, unused_address};
use support::{Server, until};
use tempfile::TempDir;

const MODEL: (&str, &str) = ("image", "gpt");
const GENERATIONS: &str = "/v1/images/generations";
const PNG: &[u8] = b"\x89PNG\r\n\x1a\n";
const PNG_BASE64: &str = "iVBORw0KGgo=";

fn models(address: &str, more: &str) -> String {
    format!(
        "[[model]]\ncategory = \"image\"\nsubcategory = \"gpt\"\nname = \"GPT\"\nmakes = \"image\"\n\
         [model.openai]\naddress = \"{address}/v1\"\nmodel = \"gpt-image-1\"\n{more}\n"
    )
}

fn start(data: &Path, address: &str, more: &str) -> Server {
    Server::start_with_models(data, &models(address, more), &["--speed", "0"])
}

fn one_picture() -> Response {
    json_response(
        200,
        json!({"created": 1, "data": [{"b64_json": PNG_BASE64}]}),
    )
}

#[test]
fn pictures_are_read_from_base64_or_an_address() {
    let fetched = Arc::new(AtomicUsize::new(0));
    let files = SmallServer::start(move |request| match request.path.as_str() {
        // The first fetch fails, and is retried.
        "/a.jpg?x=1" if fetched.fetch_add(1, Ordering::SeqCst) == 0 => {
            json_response(503, json!({}))
        }
        "/a.jpg?x=1" => Some((200, "image/jpeg", b"\xff\xd8\xff".to_vec())),
        _ => json_response(404, json!({})),
    });
    let url = format!("{}/a.jpg?x=1", files.url());
    let server = SmallServer::start(move |request| match request.path.as_str() {
        GENERATIONS => json_response(
            200,
            json!({"data": [{"b64_json": PNG_BASE64}, {"url": url}]}),
        ),
        _ => json_response(404, json!({})),
    });
    let data = TempDir::new().unwrap();
    // The key can be any variable that is set.
    let more = format!(
        "key_env = \"CARGO_MANIFEST_DIR\"\nfields = {{ quality = \"high\" }}\nallow_fetch = [\"{}\"]",
        files.url()
    );
    let service = start(data.path(), &server.url(), &more);
    let urls = service.output(MODEL, json!({"prompt": "a fox", "n": 2}));
    assert_eq!(service.get(&urls[0]).bytes, PNG);
    assert!(
        urls[0].ends_with(".png") && urls[1].ends_with(".jpg"),
        "{urls:?}"
    );

    let [request] = &server.requests(GENERATIONS)[..] else {
        panic!("not exactly one request")
    };
    let body = json!({"quality": "high", "prompt": "a fox", "n": 2, "model": "gpt-image-1"});
    assert_eq!(request.json(), body);
    let key = format!("Bearer {}", env!("CARGO_MANIFEST_DIR"));
    assert_eq!(request.header("authorization"), key);
    assert_eq!(
        files.requests("/a.jpg?x=1")[1].header("authorization"),
        "",
        "the key is only sent to its server"
    );
}

/// Guards against sending the key to another server after a redirect.
#[test]
fn the_key_is_not_sent_to_redirect_targets() {
    let files = SmallServer::start(|_| Some((200, "image/png", PNG.to_vec())));
    let target = format!("{}/a.png", files.url());
    let server = SmallServer::start_with_headers(move |request| match request.path.as_str() {
        GENERATIONS => json_response(200, json!({"data": [{"url": "/moved"}]})).into(),
        _ => Reply {
            response: json_response(302, json!({})),
            headers: vec![("location", target.clone())],
        },
    });
    let data = TempDir::new().unwrap();
    let more = format!(
        "key_env = \"CARGO_MANIFEST_DIR\"\nallow_fetch = [\"{}\"]",
        files.url()
    );
    let service = start(data.path(), &server.url(), &more);
    let urls = service.output(MODEL, json!({"prompt": "a fox"}));
    assert_eq!(service.get(&urls[0]).bytes, PNG);
    let key = format!("Bearer {}", env!("CARGO_MANIFEST_DIR"));
    assert_eq!(server.requests("/moved")[0].header("authorization"), key);
    assert_eq!(files.requests("/a.png")[0].header("authorization"), "");
}

/// Guards against fetching addresses of this machine and its network because a response contains them.
#[test]
fn no_picture_is_fetched_from_a_private_address() {
    let secret = SmallServer::start(|_| Some((200, "text/plain", b"a secret".to_vec())));
    let url = format!("{}/a", secret.url());
    let server = SmallServer::start(move |_| json_response(200, json!({"data": [{"url": url}]})));
    let data = TempDir::new().unwrap();
    let service = start(data.path(), &server.url(), "");
    let ended = service.wait(&service.generate(MODEL, json!({"prompt": "a"})));
    let error = ended["error"].as_str().unwrap_or_default();
    assert!(error.contains("allow_fetch"), "{ended}");
    assert_eq!(secret.requests("/a").len(), 0);
}

/// Guards against a key in an output text and in the log, because a server's error message contains it.
#[test]
fn the_report_of_a_missing_picture_contains_no_secret() {
    const KEY: &str = "sk-CASE-REPORT-123";
    let server = SmallServer::start(|_| {
        let error = json!({"error": {"message": format!("refused for {KEY}")}});
        json_response(200, json!({"data": [error, {"b64_json": PNG_BASE64}]}))
    });
    let parameter = |name: &str, more: &str| {
        format!("[[model.parameter]]\nname = \"{name}\"\ntype = \"string\"\n{more}\n")
    };
    let more = parameter("prompt", "required = true") + &parameter("api_key", "secret = true");
    let data = TempDir::new().unwrap();
    let service = start(data.path(), &server.url(), &more);
    let input = json!({"prompt": "two", "api_key": KEY});
    let urls = service.output(MODEL, input);
    assert_eq!(
        service.get(&urls[1]).text(),
        "1 of 2 pictures missing: refused for [secret]"
    );
    assert!(!service.log().contains(KEY));
}

/// Guards against losing paid pictures when addresses are relative, when files require the key, or when one picture is
/// missing. Also guards against losing the reason of a moderation, and against retrying dead addresses until the time
/// limit.
#[test]
fn received_pictures_are_saved_and_missing_ones_are_reported() {
    let server = SmallServer::start(|request| {
        let png = Some((200, "application/octet-stream", PNG.to_vec()));
        match (request.path.as_str(), request.json()["prompt"].as_str()) {
            ("/files/1", _) if request.header("authorization").is_empty() => {
                json_response(403, json!({}))
            }
            ("/files/1", _) => png,
            (GENERATIONS, Some("relative")) => json_response(200, json!([{"url": "/files/1"}])),
            (GENERATIONS, Some("two")) => json_response(
                200,
                json!({"data": [{"error": {"message": "filtered"}}, {"b64_json": PNG_BASE64}]}),
            ),
            (GENERATIONS, Some("fewer")) => one_picture(),
            (GENERATIONS, Some("filtered")) => json_response(
                200,
                json!({"data": [], "content_filter_results": {"sexual": {"filtered": true}}}),
            ),
            (GENERATIONS, Some("error")) => json_response(
                200,
                json!({"error": {"message": "Rejected by the safety system."}}),
            ),
            (GENERATIONS, Some("dead")) => {
                json_response(200, json!({"data": [{"url": "/gone.png"}]}))
            }
            _ => json_response(404, json!({})),
        }
    });
    let data = TempDir::new().unwrap();
    let service = start(
        data.path(),
        &server.url(),
        "key_env = \"CARGO_MANIFEST_DIR\"",
    );
    let output = |input: serde_json::Value| -> Vec<Vec<u8>> {
        let urls = service.output(MODEL, input);
        urls.iter().map(|url| service.get(url).bytes).collect()
    };
    assert_eq!(output(json!({"prompt": "relative"})), [PNG]);
    let two = output(json!({"prompt": "two", "n": 2}));
    assert_eq!(two, [PNG, b"1 of 2 pictures missing: filtered"]);
    let fewer = output(json!({"prompt": "fewer", "n": 3}));
    assert_eq!(fewer[0], PNG);
    assert!(fewer[1].starts_with(b"2 of 3 pictures missing"));

    let error = |prompt: &str| {
        let ended = service.wait(&service.generate(MODEL, json!({"prompt": prompt})));
        ended["error"].as_str().unwrap_or_default().to_owned()
    };
    assert!(error("filtered").contains("content_filter_results"));
    assert!(error("error").contains("Rejected by the safety system."));
    let dead = error("dead");
    assert!(
        dead.contains(&format!("{}/gone.png", server.url())),
        "{dead}"
    );
    assert_eq!(server.requests("/gone.png").len(), 4);
}

#[test]
fn a_refused_task_fails_and_a_busy_server_is_retried() {
    let count = AtomicUsize::new(0);
    let server = SmallServer::start(move |request| {
        if request.path != GENERATIONS {
            return json_response(404, json!({}));
        }
        match count.fetch_add(1, Ordering::SeqCst) {
            0 => json_response(400, json!({"error": {"message": "no such thing"}})),
            1 => json_response(429, json!({"error": {"message": "slow down"}})),
            2 => json_response(401, json!({"error": {"message": "key"}})),
            _ => one_picture(),
        }
    });
    let data = TempDir::new().unwrap();
    let service = start(data.path(), &server.url(), "");
    let refused = service.wait(&service.generate(MODEL, json!({"prompt": "a"})));
    assert_eq!(
        refused["error"],
        "The server refused: HTTP 400: no such thing"
    );
    service.output(MODEL, json!({"prompt": "b"}));
    assert_eq!(server.requests(GENERATIONS).len(), 4);
}

#[test]
fn an_answer_that_was_lost_is_not_paid_for_twice() {
    let server = SmallServer::start(|request| match request.path.as_str() {
        GENERATIONS => None,
        _ => json_response(404, json!({})),
    });
    let data = TempDir::new().unwrap();
    let service = start(data.path(), &server.url(), "");
    let ended = service.wait(&service.generate(MODEL, json!({"prompt": "a"})));
    assert!(
        ended["error"]
            .as_str()
            .unwrap()
            .contains("not sent again by itself"),
        "{ended}"
    );
    assert_eq!(server.requests(GENERATIONS).len(), 1);
}

/// Gateways also send 408 or 503 if a slow server behind them has accepted the request. Guards against paying several
/// times because of a retry.
#[test]
fn a_request_that_may_have_been_processed_is_not_sent_again() {
    let server = SmallServer::start(|request| match request.json()["prompt"].as_str() {
        Some(status) => json_response(status.parse().unwrap(), json!({"error": "slow upstream"})),
        None => json_response(404, json!({})),
    });
    let data = TempDir::new().unwrap();
    let service = start(data.path(), &server.url(), "");
    let statuses = ["408", "500", "502", "503", "504", "524"];
    for status in statuses {
        let ended = service.wait(&service.generate(MODEL, json!({"prompt": status})));
        let error = ended["error"].as_str().unwrap_or_default();
        assert!(error.contains("not sent again by itself"), "{ended}");
        assert!(error.contains(&format!("HTTP {status}")), "{ended}");
    }
    assert_eq!(server.requests(GENERATIONS).len(), statuses.len());
}

/// Returns a server that refuses the first request with this status and `Retry-After`, and then makes pictures.
fn busy_once(status: u16, retry_after: String) -> SmallServer {
    let count = AtomicUsize::new(0);
    SmallServer::start_with_headers(move |request| {
        if request.path != GENERATIONS || count.fetch_add(1, Ordering::SeqCst) > 0 {
            return one_picture().into();
        }
        Reply {
            response: json_response(status, json!({"error": {"message": "busy"}})),
            headers: vec![("retry-after", retry_after.clone())],
        }
    })
}

/// Guards against ignoring a date in `Retry-After`.
#[test]
fn retries_at_the_date_that_retry_after_names() {
    for status in [429, 503] {
        let date = SystemTime::now() + Duration::from_secs(4);
        let server = busy_once(status, httpdate::fmt_http_date(date));
        let data = TempDir::new().unwrap();
        let service = start(data.path(), &server.url(), "");
        service.output(MODEL, json!({"prompt": "a"}));
        let [_, second] = &server.requests(GENERATIONS)[..] else {
            panic!("not exactly two requests")
        };
        // The date is rounded to whole seconds.
        assert!(second.at + Duration::from_secs(1) > date, "{second:?}");
    }
}

/// Guards against retrying too early when the requested time is after the time limit.
#[test]
fn a_wait_beyond_the_time_limit_fails_the_task_with_the_reason() {
    let server = busy_once(429, "3600".into());
    let data = TempDir::new().unwrap();
    let models =
        models(&server.url(), "").replace("[model.openai]", "time_limit = \"10s\"\n[model.openai]");
    let service = Server::start_with_models(data.path(), &models, &["--speed", "0"]);
    let ended = service.wait(&service.generate(MODEL, json!({"prompt": "a"})));
    let error = ended["error"].as_str().unwrap_or_default();
    assert!(
        error.contains("HTTP 429: busy") && error.contains("3600 s"),
        "{ended}"
    );
    assert_eq!(server.requests(GENERATIONS).len(), 1);
}

/// Returns a server that responds only after the flag is set.
fn slow() -> (SmallServer, Arc<Mutex<bool>>) {
    let go = Arc::new(Mutex::new(false));
    let shared = go.clone();
    let server = SmallServer::start(move |request| {
        while request.path == GENERATIONS && !*shared.lock().unwrap() {
            std::thread::sleep(Duration::from_millis(10));
        }
        one_picture()
    });
    (server, go)
}

fn await_requests(server: &SmallServer, count: usize) {
    until("the requests are sent", || {
        server.requests(GENERATIONS).len() >= count
    });
}

#[test]
fn a_task_is_not_resent_if_the_service_is_killed_while_it_waits() {
    let (server, go) = slow();
    let data = TempDir::new().unwrap();
    let mut service = start(data.path(), &server.url(), "");
    let task = service.generate(MODEL, json!({"prompt": "a"}));
    await_requests(&server, 1);
    service.kill();
    *go.lock().unwrap() = true;
    let service = start(data.path(), &server.url(), "");
    let ended = service.wait(&task);
    assert!(
        ended["error"]
            .as_str()
            .unwrap()
            .contains("may have been made and paid"),
        "{ended}"
    );
    assert_eq!(server.requests(GENERATIONS).len(), 1);
}

#[test]
fn a_server_with_idempotency_keys_gets_the_same_key_again() {
    let (server, go) = slow();
    let data = TempDir::new().unwrap();
    let mut service = start(data.path(), &server.url(), "idempotent = true");
    let task = service.generate(MODEL, json!({"prompt": "a"}));
    await_requests(&server, 1);
    service.kill();
    *go.lock().unwrap() = true;
    let service = start(data.path(), &server.url(), "idempotent = true");
    assert_eq!(service.wait(&task)["status"], "completed");
    let requests = server.requests(GENERATIONS);
    let keys: Vec<_> = requests
        .iter()
        .map(|a| a.header("idempotency-key"))
        .collect();
    assert_eq!(keys, [task["id"].as_str().unwrap(); 2]);
}

#[test]
fn tasks_wait_while_the_server_is_unavailable() {
    let address = unused_address();
    let data = TempDir::new().unwrap();
    let service = start(data.path(), &format!("http://{address}"), "");
    service.await_model(MODEL, |entry| entry["away"].is_string());
    let task = service.generate(MODEL, json!({"prompt": "a"}));
    service.await_log("trying again");
    let server = SmallServer::start_at(address, |_| one_picture());
    assert_eq!(service.wait(&task)["status"], "completed");
    assert_eq!(server.requests(GENERATIONS).len(), 1);
}

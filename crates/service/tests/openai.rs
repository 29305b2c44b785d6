//! Models behind OpenAI's images interface.

mod support;

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use serde_json::json;
use support::Server;
use support::small_server::{Reply, Said, SmallServer, json as said, nobody};
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

fn one_picture() -> Said {
    said(
        200,
        json!({"created": 1, "data": [{"b64_json": PNG_BASE64}]}),
    )
}

#[test]
fn pictures_come_as_base64_or_by_address() {
    let fetched = Arc::new(AtomicUsize::new(0));
    let files = SmallServer::start(move |asked| match asked.path.as_str() {
        // The first time it does not work: what is paid for is fetched again.
        "/a.jpg?x=1" if fetched.fetch_add(1, Ordering::SeqCst) == 0 => said(503, json!({})),
        "/a.jpg?x=1" => Some((200, "image/jpeg", b"\xff\xd8\xff".to_vec())),
        _ => said(404, json!({})),
    });
    let url = format!("{}/a.jpg?x=1", files.url());
    let server = SmallServer::start(move |asked| match asked.path.as_str() {
        GENERATIONS => said(
            200,
            json!({"data": [{"b64_json": PNG_BASE64}, {"url": url}]}),
        ),
        _ => said(404, json!({})),
    });
    let data = TempDir::new().unwrap();
    // Any variable that is there will do for a key.
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

    let [asked] = &server.asked(GENERATIONS)[..] else {
        panic!("asked more than once")
    };
    let body = json!({"quality": "high", "prompt": "a fox", "n": 2, "model": "gpt-image-1"});
    assert_eq!(asked.json(), body);
    let key = format!("Bearer {}", env!("CARGO_MANIFEST_DIR"));
    assert_eq!(asked.header("authorization"), key);
    assert_eq!(
        files.asked("/a.jpg?x=1")[1].header("authorization"),
        "",
        "the key is the server's"
    );
}

/// Guards against a key that is sent to another server, to which a file was moved.
#[test]
fn the_key_does_not_go_where_the_server_redirects_to() {
    let files = SmallServer::start(|_| Some((200, "image/png", PNG.to_vec())));
    let target = format!("{}/a.png", files.url());
    let server = SmallServer::start_with_headers(move |asked| match asked.path.as_str() {
        GENERATIONS => said(200, json!({"data": [{"url": "/moved"}]})).into(),
        _ => Reply {
            said: said(302, json!({})),
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
    assert_eq!(server.asked("/moved")[0].header("authorization"), key);
    assert_eq!(files.asked("/a.png")[0].header("authorization"), "");
}

/// Whatever address an answer named was fetched, those of this machine and its network, too.
#[test]
fn no_picture_is_fetched_from_a_private_address() {
    let secret = SmallServer::start(|_| Some((200, "text/plain", b"a secret".to_vec())));
    let url = format!("{}/a", secret.url());
    let server = SmallServer::start(move |_| said(200, json!({"data": [{"url": url}]})));
    let data = TempDir::new().unwrap();
    let service = start(data.path(), &server.url(), "");
    let ended = service.wait(&service.generate(MODEL, json!({"prompt": "a"})));
    let error = ended["error"].as_str().unwrap_or_default();
    assert!(error.contains("allow_fetch"), "{ended}");
    assert_eq!(secret.asked("/a").len(), 0);
}

/// A server's error that repeats a key was part of a text that every client can read, and of the log.
#[test]
fn the_report_of_a_missing_picture_repeats_no_secret() {
    const KEY: &str = "sk-CASE-REPORT-123";
    let server = SmallServer::start(|_| {
        let error = json!({"error": {"message": format!("refused for {KEY}")}});
        said(200, json!({"data": [error, {"b64_json": PNG_BASE64}]}))
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

/// Pictures that were made and paid for were lost: relative addresses, files that want the same key, one of
/// two, the reason of a moderation, and addresses that do not exist held a place for the whole time limit.
#[test]
fn what_was_paid_for_is_kept_and_what_is_missing_is_reported() {
    let server = SmallServer::start(|asked| {
        let png = Some((200, "application/octet-stream", PNG.to_vec()));
        match (asked.path.as_str(), asked.json()["prompt"].as_str()) {
            ("/files/1", _) if asked.header("authorization").is_empty() => said(403, json!({})),
            ("/files/1", _) => png,
            (GENERATIONS, Some("relative")) => said(200, json!([{"url": "/files/1"}])),
            (GENERATIONS, Some("two")) => said(
                200,
                json!({"data": [{"error": {"message": "filtered"}}, {"b64_json": PNG_BASE64}]}),
            ),
            (GENERATIONS, Some("fewer")) => one_picture(),
            (GENERATIONS, Some("filtered")) => said(
                200,
                json!({"data": [], "content_filter_results": {"sexual": {"filtered": true}}}),
            ),
            (GENERATIONS, Some("error")) => said(
                200,
                json!({"error": {"message": "Rejected by the safety system."}}),
            ),
            (GENERATIONS, Some("dead")) => said(200, json!({"data": [{"url": "/gone.png"}]})),
            _ => said(404, json!({})),
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
    assert_eq!(server.asked("/gone.png").len(), 4);
}

#[test]
fn a_refusal_fails_and_a_busy_server_is_asked_again() {
    let count = AtomicUsize::new(0);
    let server = SmallServer::start(move |asked| {
        if asked.path != GENERATIONS {
            return said(404, json!({}));
        }
        match count.fetch_add(1, Ordering::SeqCst) {
            0 => said(400, json!({"error": {"message": "no such thing"}})),
            1 => said(429, json!({"error": {"message": "slow down"}})),
            2 => said(401, json!({"error": {"message": "key"}})),
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
    assert_eq!(server.asked(GENERATIONS).len(), 4);
}

#[test]
fn an_answer_that_was_lost_is_not_paid_for_twice() {
    let server = SmallServer::start(|asked| match asked.path.as_str() {
        GENERATIONS => None,
        _ => said(404, json!({})),
    });
    let data = TempDir::new().unwrap();
    let service = start(data.path(), &server.url(), "");
    let lost = service.wait(&service.generate(MODEL, json!({"prompt": "a"})));
    assert!(
        lost["error"]
            .as_str()
            .unwrap()
            .contains("not sent again by itself"),
        "{lost}"
    );
    assert_eq!(server.asked(GENERATIONS).len(), 1);
}

/// A gateway answers 408 or 503 also when the server behind it accepted the request and was slow. Sending
/// again on these paid for one order several times.
#[test]
fn a_request_that_may_have_been_processed_is_not_sent_again() {
    let server = SmallServer::start(|asked| match asked.json()["prompt"].as_str() {
        Some(status) => said(status.parse().unwrap(), json!({"error": "slow upstream"})),
        None => said(404, json!({})),
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
    assert_eq!(server.asked(GENERATIONS).len(), statuses.len());
}

/// Says no to the first request with this status and `Retry-After`, then makes pictures.
fn busy_once(status: u16, retry_after: String) -> SmallServer {
    let count = AtomicUsize::new(0);
    SmallServer::start_with_headers(move |asked| {
        if asked.path != GENERATIONS || count.fetch_add(1, Ordering::SeqCst) > 0 {
            return one_picture().into();
        }
        Reply {
            said: said(status, json!({"error": {"message": "busy"}})),
            headers: vec![("retry-after", retry_after.clone())],
        }
    })
}

/// `Retry-After` as a date was ignored: the service asked again at once.
#[test]
fn retries_at_the_date_that_retry_after_names() {
    for status in [429, 503] {
        let date = SystemTime::now() + Duration::from_secs(4);
        let server = busy_once(status, httpdate::fmt_http_date(date));
        let data = TempDir::new().unwrap();
        let service = start(data.path(), &server.url(), "");
        service.output(MODEL, json!({"prompt": "a"}));
        let [_, second] = &server.asked(GENERATIONS)[..] else {
            panic!("not asked twice")
        };
        // The date has whole seconds.
        assert!(second.at + Duration::from_secs(1) > date, "{second:?}");
    }
}

/// A wait that is longer than the time limit was cut to half of what was left, and the server asked too
/// early.
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
    assert_eq!(server.asked(GENERATIONS).len(), 1);
}

/// A server that takes its time until it is told to go on.
fn slow() -> (SmallServer, Arc<Mutex<bool>>) {
    let go = Arc::new(Mutex::new(false));
    let told = go.clone();
    let server = SmallServer::start(move |asked| {
        while asked.path == GENERATIONS && !*told.lock().unwrap() {
            std::thread::sleep(Duration::from_millis(10));
        }
        one_picture()
    });
    (server, go)
}

fn await_asked(server: &SmallServer, count: usize) {
    let deadline = std::time::Instant::now() + Duration::from_secs(60);
    while server.asked(GENERATIONS).len() < count {
        assert!(std::time::Instant::now() < deadline);
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn killed_while_it_waits_the_service_does_not_pay_twice() {
    let (server, go) = slow();
    let data = TempDir::new().unwrap();
    let mut service = start(data.path(), &server.url(), "");
    let task = service.generate(MODEL, json!({"prompt": "a"}));
    await_asked(&server, 1);
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
    assert_eq!(server.asked(GENERATIONS).len(), 1);
}

#[test]
fn a_server_that_knows_keys_is_asked_again_with_the_same_one() {
    let (server, go) = slow();
    let data = TempDir::new().unwrap();
    let mut service = start(data.path(), &server.url(), "idempotent = true");
    let task = service.generate(MODEL, json!({"prompt": "a"}));
    await_asked(&server, 1);
    service.kill();
    *go.lock().unwrap() = true;
    let service = start(data.path(), &server.url(), "idempotent = true");
    assert_eq!(service.wait(&task)["status"], "completed");
    let asked = server.asked(GENERATIONS);
    let keys: Vec<_> = asked.iter().map(|a| a.header("idempotency-key")).collect();
    assert_eq!(keys, [task["id"].as_str().unwrap(); 2]);
}

#[test]
fn tasks_wait_while_the_server_is_unavailable() {
    let address = nobody();
    let data = TempDir::new().unwrap();
    let service = start(data.path(), &format!("http://{address}"), "");
    service.await_model(MODEL, |entry| entry["away"].is_string());
    let task = service.generate(MODEL, json!({"prompt": "a"}));
    service.await_log("trying again");
    let server = SmallServer::start_at(address, |_| one_picture());
    assert_eq!(service.wait(&task)["status"], "completed");
    assert_eq!(server.asked(GENERATIONS).len(), 1);
}

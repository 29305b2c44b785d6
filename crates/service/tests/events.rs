//! `GET /v2/events`, which is additional to the interface.

mod support;

use serde_json::{Value, json};
use support::event_stream::Stream;
use support::{STRATA, Server, until};
use tempfile::TempDir;

fn ended(task: &Value, status: &str) -> Value {
    json!({"id": task["id"], "category": "image", "subcategory": "strata", "status": status})
}

#[test]
fn a_stream_has_the_changes_of_its_users_tasks() {
    let server = Server::start(&[]);
    assert_eq!(server.get("/api/models").json()["events"], "/v2/events");
    let mut stream = Stream::open(&server, "me", None);
    stream.begin();
    let mut other = Stream::open(&server, "bob", None);
    other.begin();
    let task = server.generate(STRATA, json!({"prompt": "a", "seed": 1}));
    let (_, _, data) = stream.await_status(&task, "completed");
    assert_eq!(data, ended(&task, "completed"));
    // What a stream says is what the status says.
    assert_eq!(server.wait(&task)["status"], "completed");
    let failing = server.generate(STRATA, json!({"prompt": "[fail]", "seed": 1}));
    let (_, _, data) = stream.await_status(&failing, "failed");
    assert!(data["error"].as_str().unwrap().contains("on purpose"));

    // The other user's stream has only that user's task.
    let mut body = support::request(STRATA, json!({"prompt": "b", "seed": 1}));
    body["uid"] = "bob".into();
    let of_other = server.post("/v2/generate", &body).json()["data"].clone();
    let (_, _, data) = other.next_status();
    assert_eq!(data["id"], of_other["id"]);
}

#[test]
fn a_stream_continues_after_the_last_event() {
    let server = Server::start(&[]);
    let mut stream = Stream::open(&server, "me", None);
    stream.begin();
    let first = server.generate(STRATA, json!({"prompt": "a", "seed": 1}));
    let (event, ..) = stream.await_status(&first, "completed");
    drop(stream);
    let second = server.generate(STRATA, json!({"prompt": "b", "seed": 2}));
    server.wait(&second);
    let mut stream = Stream::open(&server, "me", Some(&event));
    // It has the present status of the second task.
    let (_, name, data) = loop {
        let event = stream.next_event().unwrap();
        if event.2["id"] != first["id"] {
            break event;
        }
    };
    assert_eq!(
        (name.as_str(), data),
        ("status", ended(&second, "completed"))
    );
    // After a restart, or with another process's event, changes may have been missed.
    Stream::open(&server, "me", Some("0-1")).begin();
}

#[test]
fn a_stream_without_access_is_refused() {
    let server = Server::start(&["--token", "secret"]);
    assert_eq!(Stream::request(&server, "?uid=me", "wrong", None).0, 401);
    assert_eq!(Stream::request(&server, "", "secret", None).0, 400);
    let (status, mut stream) = Stream::request(&server, "?uid=me", "secret", None);
    assert_eq!(status, 200);
    stream.begin();
}

#[test]
fn one_user_can_not_open_all_streams() {
    let server = Server::start(&[]);
    let mut streams: Vec<Stream> = (0..64).map(|_| Stream::open(&server, "me", None)).collect();
    assert_eq!(Stream::request(&server, "?uid=me", "local", None).0, 503);
    Stream::open(&server, "bob", None).begin();
    // A closed stream makes room, once the service has noticed.
    streams.pop();
    let task = server.generate(STRATA, json!({"prompt": "a", "seed": 1}));
    streams[0].await_status(&task, "completed");
    until("another stream is opened", || {
        Stream::request(&server, "?uid=me", "local", None).0 == 200
    });
}

/// Guards against a stop that waits until all streams are closed by their clients.
#[test]
fn streams_end_when_the_service_stops() {
    let mut server = Server::start(&[]);
    let mut stream = Stream::open(&server, "me", None);
    stream.begin();
    server.request_stop();
    while stream.next_event().is_some() {}
    assert!(server.exits_successfully());
}

/// Guards against streams that tell only when a task begins and ends.
#[test]
fn a_stream_has_the_progress_of_a_running_task() {
    let server = Server::start(&["--speed", "100", "--workers", "1"]);
    let mut stream = Stream::open(&server, "me", None);
    stream.begin();
    server.generate(STRATA, json!({"prompt": "a", "seed": 1}));
    while !stream.next_status().2["progress"].is_number() {}
}

/// Guards against a stream that continues after its token was replaced.
#[test]
fn a_stream_ends_when_its_token_is_replaced() {
    let data = TempDir::new().unwrap();
    let account = |args: &[&str]| {
        let output = std::process::Command::new(support::program())
            .args(["account", args[0], args[1], "--data"])
            .arg(data.path())
            .args(support::cluster::database_of(data.path()))
            .output()
            .unwrap();
        assert!(output.status.success(), "{output:?}");
        let text = String::from_utf8(output.stdout).unwrap();
        let mut words = text.split_whitespace();
        let token = words.find(|word| word.starts_with("atelier_"));
        token.expect("a token").to_owned()
    };
    let token = account(&["add", "me"]);
    let server = Server::start_on(data.path(), &[]);
    let (status, mut stream) = Stream::request(&server, "", &token, None);
    assert_eq!(status, 200);
    stream.begin();
    assert_eq!(Stream::request(&server, "?uid=bob", &token, None).0, 404);
    let new = account(&["rotate", "me"]);
    let body = support::request(STRATA, json!({"prompt": "a", "seed": 1}));
    let authorization = format!("Bearer {new}");
    let headers = [
        ("authorization", authorization.as_str()),
        ("content-type", "application/json"),
    ];
    let submitted = server.call(
        "POST",
        "/v2/generate",
        &headers,
        body.to_string().as_bytes(),
    );
    assert_eq!(submitted.status, 200);
    // The old token may be valid for a second. It is checked again when a task changes, and with each heartbeat.
    while stream.next_event().is_some() {}
}

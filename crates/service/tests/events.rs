//! `GET /v2/events`, which is additional to the interface.

mod support;

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::{Value, json};
use support::{STRATA, Server, cluster};
use tempfile::TempDir;

/// An event: its id, its name and its data.
type Event = (String, String, Value);

/// An open stream.
struct Stream(BufReader<TcpStream>);

impl Stream {
    fn open(server: &Server, uid: &str, last_event: Option<&str>) -> Self {
        let (status, stream) = Self::request(server, &format!("?uid={uid}"), "local", last_event);
        assert_eq!(status, 200);
        stream
    }

    /// Returns the status of the response and its body.
    fn request(server: &Server, query: &str, token: &str, last_event: Option<&str>) -> (u16, Self) {
        let mut stream = server.connect();
        stream
            .set_read_timeout(Some(Duration::from_secs(60)))
            .unwrap();
        let last_event = last_event
            .map(|id| format!("Last-Event-ID: {id}\r\n"))
            .unwrap_or_default();
        let host = server.url.strip_prefix("http://").unwrap();
        write!(
            stream,
            "GET /v2/events{query} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\n{last_event}\r\n"
        )
        .unwrap();
        let mut stream = Self(BufReader::new(stream));
        let line = stream.line().unwrap();
        let status = line.split(' ').nth(1).unwrap().parse().unwrap();
        while !stream.line().unwrap().is_empty() {}
        (status, stream)
    }

    /// Returns the next line; `None` at the end of the connection.
    fn line(&mut self) -> Option<String> {
        let mut line = String::new();
        let length = self.0.read_line(&mut line).unwrap();
        (length > 0).then(|| line.trim_end().to_owned())
    }

    /// Returns the next event; `None` at the end of the stream.
    fn next(&mut self) -> Option<Event> {
        let (mut id, mut name) = (String::new(), String::new());
        loop {
            let line = self.line()?;
            // Other lines are the sizes of the chunks, and comments.
            if line == "0" {
                return None;
            } else if let Some(value) = line.strip_prefix("id: ") {
                value.clone_into(&mut id);
            } else if let Some(value) = line.strip_prefix("event: ") {
                value.clone_into(&mut name);
            } else if let Some(value) = line.strip_prefix("data: ") {
                return Some((id, name, serde_json::from_str(value).unwrap()));
            }
        }
    }

    /// Reads events until one of this task has this status.
    fn await_status(&mut self, task: &Value, status: &str) -> Event {
        loop {
            let event = self.next().expect("the stream has ended");
            if event.1 == "status" && event.2["id"] == task["id"] && event.2["status"] == status {
                return event;
            }
        }
    }

    /// Reads the event that every new stream begins with.
    fn begin(&mut self) -> String {
        let (id, name, _) = self.next().unwrap();
        assert_eq!(name, "missed");
        id
    }
}

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
    let (_, _, data) = stream.await_status(&task, "processing");
    assert_eq!(data["category"], "image");
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
    let (_, _, data) = other.next().unwrap();
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
    // The first event is of the second task, and has its present status.
    let (_, name, data) = stream.next().unwrap();
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
    assert_eq!(Stream::request(&server, "?uid=me", "local", None).0, 429);
    Stream::open(&server, "bob", None).begin();
    // A closed stream makes room, once the service has noticed.
    streams.pop();
    let task = server.generate(STRATA, json!({"prompt": "a", "seed": 1}));
    streams[0].await_status(&task, "completed");
    let is_open = || Stream::request(&server, "?uid=me", "local", None).0 == 200;
    while !is_open() {
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Guards against a stop that waits until all streams are closed by their clients.
#[test]
fn streams_end_when_the_service_stops() {
    let mut server = Server::start(&[]);
    let mut stream = Stream::open(&server, "me", None);
    stream.begin();
    server.request_stop();
    assert_eq!(stream.next(), None);
    assert!(server.exits_successfully());
}

/// With a shared database, a stream has the changes that other processes have made.
#[test]
fn a_stream_has_the_changes_of_other_processes() {
    let data = TempDir::new().unwrap();
    if cluster::database().is_none() {
        return;
    }
    let first = Server::start_on(data.path(), &["--role", "serve"]);
    let second = Server::start_on(data.path(), &[]);
    let mut stream = Stream::open(&first, "me", None);
    stream.begin();
    let task = second.generate(STRATA, json!({"prompt": "a", "seed": 1}));
    stream.await_status(&task, "completed");
}

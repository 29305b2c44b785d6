//! A client of `GET /v2/events`.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::Value;

use super::Server;

/// An event: its id, its name and its data.
pub type Event = (String, String, Value);

/// An open stream.
pub struct Stream(BufReader<TcpStream>);

impl Stream {
    pub fn open(server: &Server, uid: &str, last_event: Option<&str>) -> Self {
        let (status, stream) = Self::request(server, &format!("?uid={uid}"), "local", last_event);
        assert_eq!(status, 200);
        stream
    }

    /// Returns the status of the response and its body.
    pub fn request(
        server: &Server,
        query: &str,
        token: &str,
        last_event: Option<&str>,
    ) -> (u16, Self) {
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
    pub fn line(&mut self) -> Option<String> {
        let mut line = String::new();
        let length = self.0.read_line(&mut line).unwrap();
        (length > 0).then(|| line.trim_end().to_owned())
    }

    /// Returns the next event; `None` at the end of the stream.
    pub fn next_event(&mut self) -> Option<Event> {
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
    pub fn await_status(&mut self, task: &Value, status: &str) -> Event {
        loop {
            let event = self.next_status();
            if event.2["id"] == task["id"] && event.2["status"] == status {
                return event;
            }
        }
    }

    /// Returns the next event of a task.
    pub fn next_status(&mut self) -> Event {
        loop {
            let event = self.next_event().expect("the stream has ended");
            if event.1 == "status" {
                return event;
            }
        }
    }

    /// Reads the event that every new stream begins with.
    pub fn begin(&mut self) -> String {
        let (id, name, _) = self.next_event().unwrap();
        assert_eq!(name, "missed");
        id
    }
}

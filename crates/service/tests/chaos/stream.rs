//! A client that learns from the stream of events (`GET /v2/events`) which tasks have ended. It asks for the status of a
//! task only once it is accepted, and when the stream reports that events were missed.

use std::io::{self, BufRead, BufReader, ErrorKind, Write};
use std::net::TcpStream;
use std::sync::mpsc::{Receiver, TryRecvError};
use std::time::{Duration, Instant};

use serde_json::Value;

use super::clients::{Client, Task, read_event};
use super::history::{Answer, Kind};
use super::recorder::Recorder;
use super::system::{SERVERS, System};

/// How often to look for accepted tasks.
const TICK: Duration = Duration::from_millis(200);

/// The time for the events about the last tasks, which have ended already.
const TIMEOUT: Duration = Duration::from_secs(90);

/// Records the end of each accepted task, until `accepted` is closed and all have ended.
pub fn watch(
    system: &System,
    recorder: &Recorder,
    uid: &str,
    first_server: usize,
    accepted: &Receiver<Task>,
) {
    let name = format!("stream of {uid}");
    let client = Client::new(&name, uid, system, recorder);
    let mut open: Vec<Task> = Vec::new();
    let mut stream: Option<Stream> = None;
    let mut last_event = None;
    let mut server = first_server;
    let mut deadline = None;
    loop {
        let mut is_behind = false;
        let is_closed = loop {
            match accepted.try_recv() {
                Ok(task) => {
                    recorder.add_fact(&name, Kind::Stream, Some(task.id.clone()), Answer::Watched);
                    open.push(task);
                    is_behind = true;
                }
                Err(error) => break error == TryRecvError::Disconnected,
            }
        };
        match &mut stream {
            None => {
                stream = Stream::open(system.addresses[server], uid, last_event.as_deref()).ok();
                if stream.is_none() {
                    server = (server + 1) % SERVERS;
                    std::thread::sleep(TICK);
                }
            }
            Some(events) => match events.next() {
                Ok(None) => {}
                Ok(Some(event)) => {
                    last_event = Some(event.id).filter(|id| !id.is_empty()).or(last_event);
                    if event.name == "missed" {
                        is_behind = true;
                    }
                    record(
                        recorder,
                        &name,
                        &mut open,
                        event.data["id"].as_str(),
                        read_event(&event.data),
                    );
                }
                Err(_) => {
                    stream = None;
                    std::thread::sleep(TICK);
                }
            },
        }
        if is_behind {
            for tasks in open.clone().chunks(10) {
                for (id, answer) in client.poll(tasks) {
                    record(recorder, &name, &mut open, id.as_deref(), answer);
                }
            }
        }
        if is_closed {
            let deadline = *deadline.get_or_insert_with(|| Instant::now() + TIMEOUT);
            if open.is_empty() || Instant::now() > deadline {
                return;
            }
        }
    }
}

/// Records the answer about an open task if it shows that the task has ended.
fn record(
    recorder: &Recorder,
    client: &str,
    open: &mut Vec<Task>,
    id: Option<&str>,
    answer: Answer,
) {
    let is_end = matches!(
        answer,
        Answer::Completed | Answer::Failed { .. } | Answer::Canceled
    );
    let Some(at) = open.iter().position(|task| Some(task.id.as_str()) == id) else {
        return;
    };
    if is_end {
        let task = open.swap_remove(at);
        recorder.add_fact(client, Kind::Stream, Some(task.id), answer);
    }
}

struct Event {
    id: String,
    name: String,
    data: Value,
}

/// An open stream.
struct Stream {
    reader: BufReader<TcpStream>,
    line: Vec<u8>,
    id: String,
    name: String,
}

impl Stream {
    fn open(
        address: std::net::SocketAddr,
        uid: &str,
        last_event: Option<&str>,
    ) -> io::Result<Self> {
        let mut stream = TcpStream::connect(address)?;
        stream.set_read_timeout(Some(TICK))?;
        let last_event = last_event.map(|id| format!("Last-Event-ID: {id}\r\n"));
        write!(
            stream,
            "GET /v2/events?uid={uid} HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer t\r\n{}\r\n",
            last_event.unwrap_or_default()
        )?;
        Ok(Self {
            reader: BufReader::new(stream),
            line: Vec::new(),
            id: String::new(),
            name: String::new(),
        })
    }

    /// Reads lines until the next event, or until nothing was received for a while.
    ///
    /// # Errors
    ///
    /// The stream has ended.
    fn next(&mut self) -> io::Result<Option<Event>> {
        loop {
            match self.reader.read_until(b'\n', &mut self.line) {
                Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
                Err(error)
                    if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) =>
                {
                    return Ok(None);
                }
                other => other?,
            };
            let line = String::from_utf8_lossy(&std::mem::take(&mut self.line))
                .trim()
                .to_owned();
            if line.starts_with("HTTP/1.1 ") && !line.starts_with("HTTP/1.1 200") {
                return Err(ErrorKind::ConnectionRefused.into());
            }
            if line == "0" {
                return Err(ErrorKind::UnexpectedEof.into());
            }
            // Other lines are headers, the sizes of the chunks, and comments.
            if let Some(value) = line.strip_prefix("id: ") {
                value.clone_into(&mut self.id);
            } else if let Some(value) = line.strip_prefix("event: ") {
                value.clone_into(&mut self.name);
            } else if let Some(value) = line.strip_prefix("data: ") {
                return Ok(Some(Event {
                    id: std::mem::take(&mut self.id),
                    name: std::mem::take(&mut self.name),
                    data: serde_json::from_str(value).unwrap_or_default(),
                }));
            }
        }
    }
}

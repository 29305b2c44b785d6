//! Many clients at once.

mod support;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use support::Server;

/// One client, which keeps its connection.
struct Poller(BufReader<TcpStream>);

impl Poller {
    fn new(server: &Server) -> Self {
        let stream = server.connect();
        stream.set_nodelay(true).unwrap();
        Self(BufReader::new(stream))
    }

    fn status(&mut self, id: &str) {
        let body =
            format!(r#"{{"uid":"me","category":"image","subcategory":"strata","id":"{id}"}}"#);
        let request = format!(
            "POST /v2/status HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer t\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        );
        self.0.get_mut().write_all(request.as_bytes()).unwrap();
        let (mut line, mut length) = (String::new(), 0);
        self.0.read_line(&mut line).unwrap();
        assert!(line.starts_with("HTTP/1.1 200"), "{line}");
        while line != "\r\n" {
            line.clear();
            self.0.read_line(&mut line).unwrap();
            if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                length = value.trim().parse().unwrap();
            }
        }
        self.0.read_exact(&mut vec![0; length]).unwrap();
    }
}

/// A database of the first version: before it, and after it was taken over, the same tasks.
fn write_tasks(path: &Path) {
    let database = rusqlite::Connection::open(path).unwrap();
    database
        .execute_batch(
            "CREATE TABLE task (
                 seq INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, uid TEXT NOT NULL,
                 category TEXT NOT NULL, subcategory TEXT NOT NULL, input TEXT NOT NULL,
                 status TEXT NOT NULL, output TEXT NOT NULL DEFAULT '[]', error TEXT,
                 created_ms INTEGER NOT NULL, finished_ms INTEGER);
             CREATE INDEX task_unfinished ON task (seq) WHERE finished_ms IS NULL;
             CREATE INDEX task_by_uid ON task (uid, seq);
             PRAGMA user_version = 1;",
        )
        .unwrap();
    for n in 0..10 {
        for (name, length) in [("small", 10), ("large", 1_000_000)] {
            let input = format!(r#"{{"prompt":"{}"}}"#, "x".repeat(length));
            database
                .execute(
                    "INSERT INTO task (id, uid, category, subcategory, input, status, created_ms, finished_ms)
                     VALUES (?1, 'me', 'image', 'strata', ?2, 'completed', 1, 1)",
                    [format!("{name}{n}"), input],
                )
                .unwrap();
        }
    }
}

/// How many status calls a second one client gets, while 32 others ask for other tasks.
fn calls_a_second(server: &Server, others: &str) -> f64 {
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for n in 0..32 {
            let stop = &stop;
            scope.spawn(move || {
                let mut poller = Poller::new(server);
                while !stop.load(Ordering::Relaxed) {
                    poller.status(&format!("{others}{}", n % 10));
                }
            });
        }
        let mut poller = Poller::new(server);
        let (start, mut calls) = (Instant::now(), 0);
        while start.elapsed() < Duration::from_secs(2) {
            poller.status("small0");
            calls += 1;
        }
        stop.store(true, Ordering::Relaxed);
        f64::from(calls) / start.elapsed().as_secs_f64()
    })
}

/// Guards against polls that read the input: whoever polled ten tasks of a megabyte each left
/// another client six calls a second.
#[test]
fn large_inputs_do_not_slow_others_down() {
    let data = tempfile::tempdir().unwrap();
    write_tasks(&data.path().join("tasks.sqlite"));
    let server = Server::start_on(data.path(), &[]);
    let small = calls_a_second(&server, "small");
    let large = calls_a_second(&server, "large");
    println!("beside 32 clients: {small:.0} calls a second, with large inputs {large:.0}");
    assert!(large > small / 3.0, "{large:.1} instead of {small:.1}");
}

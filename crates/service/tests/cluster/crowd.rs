//! More concurrent callers than a process has threads that can wait for the database.

use std::io::{Read, Write};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::json;

use super::support::request;
use super::{Cluster, OWN};

/// More than tokio's limit of blocking threads.
const CALLERS: usize = 700;

/// Much longer than the calls take.
const TIMEOUT: Duration = Duration::from_secs(60);

/// Guards against a deadlock: if the threads that receive the database's responses also wait for the database, the
/// process never answers again.
#[test]
#[ignore = "needs PostgreSQL and a bucket: ./dev test cluster"]
fn more_callers_than_threads_are_answered() {
    let cluster = Cluster::new();
    let server = cluster.serve("a", &[]);
    let mut task = request(OWN, json!({"prompt": "a"}));
    task["id"] = "none".into();
    let body = json!({"requests": vec![task; 10]}).to_string();
    let call = format!(
        "POST /v2/status-batch HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer t\r\n\
         content-type: application/json\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    let answered = AtomicUsize::new(0);
    let started = Instant::now();
    std::thread::scope(|scope| {
        for _ in 0..CALLERS {
            scope.spawn(|| {
                // Long enough that the cached check for accounts expires.
                while started.elapsed() < Duration::from_secs(4) {
                    let mut stream = server.connect();
                    stream.set_read_timeout(Some(TIMEOUT)).unwrap();
                    let mut answer = Vec::new();
                    let sent = stream.write_all(call.as_bytes());
                    if sent.and_then(|()| stream.read_to_end(&mut answer)).is_err() {
                        return;
                    }
                    answered.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
    });
    assert!(started.elapsed() < TIMEOUT, "{:?}", started.elapsed());
    assert!(answered.load(Ordering::Relaxed) >= CALLERS);
    assert_eq!(server.get("/healthz").status, 200);
}

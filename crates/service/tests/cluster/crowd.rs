//! More callers at once than a process has threads that wait for its database.

use std::io::{Read, Write};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::json;

use super::support::request;
use super::{OWN, Place};

/// More than the threads that tokio has for what waits.
const CALLERS: usize = 700;

/// Far more than it takes.
const TIMEOUT: Duration = Duration::from_secs(60);

/// Guards against a process that answers no requests any more, for good: threads that heard the database waited for
/// it like all others.
#[test]
#[ignore = "needs PostgreSQL and a bucket: ./dev test cluster"]
fn a_crowd_is_answered() {
    let place = Place::new();
    let server = place.serve("a", &[]);
    let mut task = request(OWN, json!({"prompt": "a"}));
    task["id"] = "none".into();
    let body = json!({"requests": vec![task; 10]}).to_string();
    let call = format!(
        "POST /v2/status-batch HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer t\r\n\
         content-type: application/json\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    let answered = AtomicUsize::new(0);
    let begun = Instant::now();
    std::thread::scope(|scope| {
        for _ in 0..CALLERS {
            scope.spawn(|| {
                // Long enough that a process asks again whether there are accounts.
                while begun.elapsed() < Duration::from_secs(4) {
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
    assert!(begun.elapsed() < TIMEOUT, "{:?}", begun.elapsed());
    assert!(answered.load(Ordering::Relaxed) >= CALLERS);
    assert_eq!(server.get("/healthz").status, 200);
}

//! Slow and idle connections, large headers, and many connections.
#![cfg(unix)]

mod support;

use std::io::Write;
use std::net::TcpStream;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use support::{STRATA, Server, exchange};

/// Guards against idle connections that use up all file descriptors, so that tasks fail and other clients get no
/// response.
#[test]
fn tasks_complete_despite_many_idle_connections() {
    let data = tempfile::tempdir().unwrap();
    let slow = ["--speed", "0.2", "--workers", "2"];
    let server = Server::start_limited(data.path(), 256, &slow);
    let early: Vec<Value> = (0..4)
        .map(|n| server.generate(STRATA, json!({"prompt": n.to_string()})))
        .collect();
    let idle: Vec<TcpStream> = (0..320).map(|_| server.connect()).collect();
    // A third sends half a head, another third sends no body.
    for (n, mut stream) in idle.iter().enumerate() {
        // Writing fails if the connection is already closed.
        let _ = match n % 3 {
            0 => stream.write_all(b"POST /v2/generate HTTP/1.1\r\nhost: localhost\r\n"),
            1 => stream.write_all(
                b"POST /v2/status HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer t\r\ncontent-length: 9\r\n\r\n",
            ),
            _ => Ok(()),
        };
    }
    let late: Vec<Value> = (0..10)
        .map(|n| server.generate(STRATA, json!({"prompt": n.to_string()})))
        .collect();
    for task in early.iter().chain(&late) {
        let data = server.wait(task);
        assert_eq!(data["status"], "completed", "{data}");
        let output = server.post("/v2/response", task).json();
        let url = output["data"]["output"][0].as_str().unwrap();
        assert_eq!(server.get(url).status, 200);
    }
    drop(idle);
}

#[test]
fn a_connection_without_a_request_is_closed_in_time() {
    let server = Server::start(&["--idle", "700ms"]);
    let start = Instant::now();
    let mut silent = server.connect();
    assert_eq!(exchange(&mut silent, b"GET /api/models HTTP/1.1\r\n"), "");
    assert!(start.elapsed() < Duration::from_secs(60));
    // The timeout also applies between two requests.
    let mut reused = server.connect();
    let request = b"POST /v2/status HTTP/1.1\r\nhost: localhost\r\ncontent-length: 0\r\n\r\n";
    assert!(exchange(&mut reused, request).starts_with("HTTP/1.1 401"));
    assert!(
        exchange(&mut reused, request).starts_with("HTTP/1.1 401"),
        "the connection is reused"
    );
    let mut rest = Vec::new();
    std::io::Read::read_to_end(&mut reused, &mut rest).unwrap();
    assert!(start.elapsed() < Duration::from_secs(60));
}

/// Guards against buffering a body before the token is checked.
#[test]
fn a_body_is_not_waited_for_without_a_good_token() {
    let server = Server::start(&["--token", "secret"]);
    for (token, length, expected) in [
        ("wrong", 1_400_000, "HTTP/1.1 401"),
        ("secret", 1_400_000, "HTTP/1.1 413"),
        ("wrong", 10, "HTTP/1.1 401"),
    ] {
        let mut stream = server.connect();
        stream
            .set_read_timeout(Some(Duration::from_secs(60)))
            .unwrap();
        let head = format!(
            "POST /v2/generate HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {token}\r\ncontent-length: {length}\r\n\r\n"
        );
        let answer = exchange(&mut stream, head.as_bytes());
        assert!(answer.starts_with(expected), "{token} {length}: {answer}");
    }
    // A client that sends the body anyway can read the response.
    let headers = [("authorization", "Bearer wrong")];
    let large = vec![b'x'; 8 << 20];
    assert_eq!(
        server.call("POST", "/v2/generate", &headers, &large).status,
        401
    );
}

/// Guards against headers of any size.
#[test]
fn headers_are_bounded() {
    let server = Server::start(&[]);
    let ask = |headers: &str| {
        let request = format!("GET /api/models HTTP/1.1\r\nhost: localhost\r\n{headers}\r\n");
        exchange(&mut server.connect(), request.as_bytes())
    };
    assert!(ask(&format!("x: {}\r\n", "y".repeat(16_000))).starts_with("HTTP/1.1 200"));
    assert!(ask(&format!("x: {}\r\n", "y".repeat(64_000))).starts_with("HTTP/1.1 431"));
    assert!(ask(&"x: y\r\n".repeat(300)).starts_with("HTTP/1.1 431"));
}

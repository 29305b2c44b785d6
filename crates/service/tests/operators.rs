//! Health checks, metrics, logs and stops of the service.

mod support;

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use support::{STRATA, Server, request, until};

/// Returns the value of a metric by the start of its line.
fn metric(server: &Server, line: &str) -> Option<f64> {
    let text = server.get("/metrics").text();
    let found = text.lines().find_map(|known| known.strip_prefix(line))?;
    found.trim().parse().ok()
}

#[test]
fn health_and_readiness_are_reported() {
    let server = Server::start(&[]);
    assert_eq!(server.get("/healthz").json(), json!({"success": true}));
    let ready = server.get("/readyz");
    assert_eq!(ready.status, 200);
    let checks = json!({"store": "ok", "workers": "ok", "disk": "ok", "accepting": "ok"});
    assert_eq!(ready.json()["checks"], checks);
    // Other host names are refused.
    for path in ["/healthz", "/readyz", "/metrics"] {
        let other_host = server.call("GET", path, &[("host", "evil.example")], b"");
        assert_eq!(other_host.status, 421, "{path}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn without_disk_space_it_is_not_ready_and_reports_why() {
    use support::small_disk::SmallDisk;
    let Some(disk) = SmallDisk::mount("without_disk_space_it_is_not_ready_and_reports_why", 24)
    else {
        return;
    };
    let server = Server::start_on(&disk.path().join("data"), &[]);
    assert_eq!(server.get("/readyz").status, 200);
    disk.fill();
    until("it is not ready", || server.get("/readyz").status == 503);
    let answer = server.get("/readyz");
    assert_eq!(answer.error(), "not_ready");
    assert_ne!(answer.json()["checks"]["disk"], "ok");
    assert_eq!(server.get("/healthz").status, 200);
    disk.empty();
    until("it is ready", || server.get("/readyz").status == 200);
}

#[test]
fn metrics_count_tasks_calls_and_refusals() {
    let server = Server::start(&["--workers", "1", "--speed", "4"]);
    for n in 0..3 {
        server.generate(STRATA, json!({"prompt": n.to_string()}));
    }
    until("one runs", || {
        metric(
            &server,
            r#"atelier_tasks{model="image/strata",state="running"}"#,
        ) == Some(1.0)
    });
    assert_eq!(
        metric(
            &server,
            r#"atelier_tasks{model="image/strata",state="waiting"}"#
        ),
        Some(2.0)
    );
    until("time passes", || {
        metric(&server, "atelier_queue_age_seconds").unwrap() >= 0.2
    });
    let accepted = metric(
        &server,
        r#"atelier_tasks_accepted_total{model="image/strata"}"#,
    );
    assert_eq!(accepted, Some(3.0));
    let failed = request(STRATA, json!({}));
    assert_eq!(server.post("/v2/generate", &failed).status, 422);
    let batch = json!({"requests": [failed]});
    assert_eq!(server.post("/v2/generate-batch", &batch).status, 200);
    assert_eq!(
        metric(&server, r#"atelier_refusals_total{reason="invalid_input"}"#),
        Some(2.0),
        "an item of a batch counts like a call"
    );
    server.get("/nothing/at/all");
    let calls = |route: &str, status: &str| {
        let line =
            format!(r#"atelier_call_duration_seconds_count{{route="{route}",status="{status}"}}"#);
        metric(&server, &line)
    };
    assert_eq!(calls("/v2/generate", "200"), Some(3.0));
    assert_eq!(calls("/v2/generate", "422"), Some(1.0));
    assert_eq!(calls("other", "404"), Some(1.0));
    let type_of = server.get("/metrics").header("content-type").to_owned();
    assert!(type_of.starts_with("application/openmetrics-text"));
}

#[test]
fn metrics_count_the_end_of_tasks_and_those_of_an_earlier_process() {
    let data = tempfile::tempdir().unwrap();
    let mut server = Server::start_on(data.path(), &["--workers", "1", "--speed", "20"]);
    server.generate(STRATA, json!({"prompt": "a"}));
    server.generate(STRATA, json!({"prompt": "[fail]"}));
    server.await_log("begins");
    server.kill();
    std::thread::sleep(Duration::from_millis(500));
    let mut server = Server::start_on(data.path(), &["--workers", "1", "--speed", "20"]);
    until("the age of the queue counts from the submission", || {
        metric(&server, "atelier_queue_age_seconds").unwrap() >= 0.5
    });
    server.kill();
    let server = Server::start_on(data.path(), &["--speed", "0"]);
    for state in ["completed", "failed"] {
        let line = format!(r#"atelier_tasks_ended_total{{model="image/strata",state="{state}"}}"#);
        until(state, || metric(&server, &line) == Some(1.0));
    }
    assert!(!server.get("/metrics").text().contains("atelier_tasks{"));
}

#[test]
fn metrics_require_a_token_if_the_service_does() {
    let server = Server::start(&["--token", "secret"]);
    let refused = server.get("/metrics");
    assert_eq!(
        (refused.status, refused.error().as_str()),
        (403, "metrics_closed")
    );
    let server = Server::start(&["--token", "secret", "--metrics-token", "watch"]);
    let with = |token: &str| {
        let authorization = format!("Bearer {token}");
        let headers = [("authorization", authorization.as_str())];
        server.call("GET", "/metrics", &headers, b"").status
    };
    assert_eq!(server.get("/metrics").status, 401);
    assert_eq!((with("secret"), with("watch")), (401, 200));
    // The metrics token is not valid for tasks.
    let headers = [("authorization", "Bearer watch")];
    let call = server.call("POST", "/v2/status", &headers, b"{}");
    assert_eq!(call.status, 401);
}

#[test]
fn metrics_can_have_a_separate_address() {
    let server = Server::start(&["--metrics-listen", "127.0.0.1:0"]);
    let address = server.log_text_after("metrics on ");
    let metrics = server.call("GET", &address, &[], b"");
    assert_eq!(metrics.status, 200);
    assert!(metrics.text().contains("atelier_build_info"));
    let base = address.strip_suffix("/metrics").unwrap();
    let get = |path: &str| {
        server
            .call("GET", &format!("{base}{path}"), &[], b"")
            .status
    };
    assert_eq!((get("/healthz"), get("/readyz")), (200, 200));
    assert_eq!(get("/api/models"), 404);
    let other_host = server.call("GET", &address, &[("host", "evil.example")], b"");
    assert_eq!(other_host.status, 421);
    assert_eq!(server.get("/metrics").status, 403);
}

#[test]
fn a_response_and_its_log_lines_contain_the_request_id() {
    let server = Server::start(&["--log", "json", "--token", "tok3n"]);
    let headers = [
        ("authorization", "Bearer tok3n"),
        ("x-request-id", "my-1.x"),
    ];
    let body = request(STRATA, json!({"prompt": "a secret wish"})).to_string();
    let answer = server.call("POST", "/v2/generate", &headers, body.as_bytes());
    assert_eq!(answer.header("x-request-id"), "my-1.x");
    let made = server.get("/api/models").header("x-request-id").to_owned();
    assert_eq!(made.len(), 16);
    let odd = server.call("GET", "/api/models", &[("x-request-id", "a b")], b"");
    assert_eq!(odd.header("x-request-id").len(), 16);
    let refused = server.call("GET", "/healthz", &[("host", "evil.example")], b"");
    assert_eq!(
        (refused.status, refused.header("x-request-id").len()),
        (421, 16)
    );
    server.await_log("host_not_allowed");

    let log = server.log();
    let lines: Vec<Value> = log
        .lines()
        .map(|line| serde_json::from_str(line).expect(line))
        .collect();
    let of_call: Vec<&Value> = lines
        .iter()
        .filter(|line| line["span"]["request_id"] == "my-1.x")
        .collect();
    let has = |message: &str| {
        let of_message = |line: &&&Value| line["message"].as_str().unwrap().contains(message);
        of_call.iter().find(of_message).copied()
    };
    // Includes lines that were logged on another thread.
    assert!(has("accepted").is_some(), "{log}");
    let answered = has("answered").unwrap();
    assert_eq!(
        (&answered["route"], &answered["status"]),
        (&json!("/v2/generate"), &json!(200))
    );
    assert!(answered["ms"].is_u64(), "{answered}");
    for secret in ["tok3n", "wish"] {
        assert!(!log.contains(secret), "{log}");
    }
}

/// Anyone who knows a task's id can read its outputs. Guards against giving readers of the log this access.
#[test]
fn no_line_of_the_log_has_the_whole_id_of_a_task() {
    for format in ["text", "json"] {
        let data = tempfile::tempdir().unwrap();
        let server = Server::start_on(data.path(), &["--log", format, "--speed", "0"]);
        let call = "0123456789abcdef0123456789abcdef";
        let headers = [("authorization", "Bearer t"), ("x-request-id", call)];
        let body = request(STRATA, json!({"prompt": "a"})).to_string();
        let answer = server.call("POST", "/v2/generate", &headers, body.as_bytes());
        let id = answer.json()["data"]["id"].as_str().unwrap().to_owned();
        server.await_log(&format!("task {}… begins", &id[..8]));
        server.await_log("answered");
        let log = server.log();
        assert!(!log.contains(&id), "{log}");
        assert!(log.contains(call), "the request id is complete: {log}");
    }
}

/// Guards against starting paid work in a process whose start fails.
#[test]
fn no_work_begins_if_metrics_cannot_be_served() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let data = tempfile::tempdir().unwrap();
    let ended = std::process::Command::new(env!("CARGO_BIN_EXE_atelier-service"))
        .args([
            "--listen",
            "127.0.0.1:0",
            "--metrics-listen",
            &address,
            "--data",
        ])
        .arg(data.path())
        .output()
        .unwrap();
    assert!(!ended.status.success());
    let error = String::from_utf8_lossy(&ended.stderr);
    assert!(error.contains(&address), "{error}");
    assert!(!data.path().join("tasks.sqlite").exists());
}

#[cfg(unix)]
mod drain {
    use super::*;

    /// Guards against losing the work of running tasks at each update.
    #[test]
    fn running_tasks_end_and_waiting_tasks_are_resumed_later() {
        let data = tempfile::tempdir().unwrap();
        let args = ["--workers", "1", "--speed", "2", "--drain-seconds", "60"];
        let mut server = Server::start_on(data.path(), &args);
        let running = server.generate(STRATA, json!({"prompt": "a"}));
        let waiting = server.generate(STRATA, json!({"prompt": "b"}));
        server.await_log("begins");
        server.request_stop();
        until("it is not ready", || server.get("/readyz").status == 503);
        assert_ne!(server.get("/readyz").json()["checks"]["accepting"], "ok");
        // The service still responds, but accepts no tasks.
        assert_eq!(server.post("/v2/status", &running).status, 200);
        let refused = server.post("/v2/generate", &request(STRATA, json!({"prompt": "c"})));
        assert_eq!(
            (refused.status, refused.error().as_str()),
            (503, "draining")
        );
        assert_eq!(refused.header("retry-after"), "5");
        // The whole batch is refused, because the response for a single entry could not contain the time to retry.
        let batch = json!({"requests": [request(STRATA, json!({"prompt": "c"}))]});
        let refused = server.post("/v2/generate-batch", &batch);
        assert_eq!(refused.status, 503);
        assert_eq!(refused.header("retry-after"), "5");
        assert!(server.exits_successfully());
        assert_eq!(server.log().matches("begins").count(), 1);

        let server = Server::start_on(data.path(), &["--speed", "20", "--workers", "1"]);
        let word = |task: &Value| server.post("/v2/status", task).json()["data"]["status"].clone();
        assert_eq!(
            word(&running),
            "completed",
            "the running task has ended during the drain"
        );
        assert_eq!(word(&waiting), "processing");
        drop(server);
        let server = Server::start_on(data.path(), &["--speed", "0"]);
        assert_eq!(server.wait(&waiting)["status"], "completed");
    }

    #[test]
    fn a_task_that_exceeds_the_drain_time_restarts_later() {
        let data = tempfile::tempdir().unwrap();
        let args = ["--workers", "1", "--speed", "50", "--drain-seconds", "1"];
        let mut server = Server::start_on(data.path(), &args);
        let task = server.generate(STRATA, json!({"prompt": "a"}));
        server.await_log("begins");
        let requested = Instant::now();
        server.request_stop();
        assert!(server.exits_successfully());
        assert!(requested.elapsed() >= Duration::from_secs(1));
        let server = Server::start_on(data.path(), &["--speed", "0"]);
        assert_eq!(server.wait(&task)["status"], "completed");
    }

    #[test]
    fn a_second_stop_request_ends_the_drain() {
        let args = ["--workers", "1", "--speed", "50", "--drain-seconds", "600"];
        let mut server = Server::start(&args);
        server.generate(STRATA, json!({"prompt": "a"}));
        server.await_log("begins");
        server.request_stop();
        server.await_log("to end");
        server.request_stop();
        assert!(server.exits_successfully());
    }
}

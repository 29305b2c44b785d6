//! Webhooks, with a receiver on loopback.

mod support;

use std::collections::HashSet;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use ring::hmac;
use serde_json::{Value, json};
use support::small_server::{Reply, Request, Response, SmallServer};
use support::{STRATA, Server, program, request};
use tempfile::TempDir;

/// Longer than the lease of an event, which the process of a test that was killed may still have in PostgreSQL.
const TIMEOUT: Duration = Duration::from_secs(120);

const FAST: [&str; 6] = [
    "--speed",
    "0",
    "--draw-scale",
    "0.05",
    "--webhook-retry",
    "20ms",
];

fn start(data: &Path, receivers: &[&SmallServer], options: &[&str]) -> Server {
    let hosts: Vec<String> = receivers.iter().map(|server| server.url()).collect();
    let hosts = hosts.join(",");
    Server::start_on(data, &[&["--webhooks", &hosts], options].concat())
}

fn ok(_: &Request) -> Response {
    Some((204, "text/plain", Vec::new()))
}

/// Returns an input with a webhook at this path.
fn input(receiver: &SmallServer, path: &str) -> Value {
    json!({"prompt": "a", "webhook": format!("{}{path}", receiver.url())})
}

fn await_true(what: &str, is_true: impl Fn() -> bool) {
    let deadline = Instant::now() + TIMEOUT;
    while !is_true() {
        assert!(Instant::now() < deadline, "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Waits until the receiver has received this number of requests.
fn received(receiver: &SmallServer, path: &str, count: usize) -> Vec<Request> {
    let what = format!("{count} requests of {path}");
    await_true(&what, || receiver.requests(path).len() >= count);
    receiver.requests(path)
}

fn await_metric(server: &Server, line: &str) {
    let has_line = || {
        server
            .get("/metrics")
            .text()
            .lines()
            .any(|known| known == line)
    };
    await_true(line, has_line);
}

/// Runs the command that prints the secrets.
fn secrets(data: &Path) -> Vec<String> {
    let output = Command::new(program())
        .args(["webhook-secret", "--data"])
        .arg(data)
        .args(support::cluster::database_of(data))
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    text.lines().map(str::to_owned).collect()
}

/// Checks the signature as Standard Webhooks specify, independently of the service's code.
fn is_signed_with(request: &Request, secret: &str) -> bool {
    let key = STANDARD
        .decode(secret.strip_prefix("whsec_").unwrap())
        .unwrap();
    let key = hmac::Key::new(hmac::HMAC_SHA256, &key);
    let id = request.header("webhook-id");
    let timestamp = request.header("webhook-timestamp");
    let mut signed = format!("{id}.{timestamp}.").into_bytes();
    signed.extend(&request.body);
    let mut signatures = request.header("webhook-signature").split(' ');
    signatures.any(|signature| {
        let tag = STANDARD
            .decode(signature.strip_prefix("v1,").unwrap())
            .unwrap();
        hmac::verify(&key, &signed, &tag).is_ok()
    })
}

/// Blocks requests until it is opened.
#[derive(Clone, Default)]
struct Gate(Arc<(Mutex<bool>, Condvar)>);

impl Gate {
    fn open(&self) {
        *self.0.0.lock().unwrap() = true;
        self.0.1.notify_all();
    }

    fn wait(&self) {
        let is_open = self.0.0.lock().unwrap();
        drop(self.0.1.wait_while(is_open, |is_open| !*is_open).unwrap());
    }
}

#[test]
fn an_event_is_signed_and_repeated_until_it_is_accepted() {
    let count = AtomicUsize::new(0);
    let receiver = SmallServer::start(move |_: &Request| -> Response {
        let status = match count.fetch_add(1, Ordering::Relaxed) {
            0 | 1 => 500,
            _ => 200,
        };
        Some((status, "text/plain", vec![b'x'; 1 << 16]))
    });
    let data = TempDir::new().unwrap();
    let server = start(data.path(), &[&receiver], &FAST);
    let models = server.get("/api/models").json();
    assert_eq!(
        models["webhooks"],
        json!({"events": ["started", "completed"]})
    );
    let task = server.generate(STRATA, input(&receiver, "/hook?key=1"));
    await_metric(&server, r#"atelier_webhooks_total{state="delivered"} 1"#);
    await_metric(&server, r#"atelier_webhooks_total{state="failed"} 2"#);
    await_metric(&server, "atelier_webhooks_waiting{} 0");

    let requests = receiver.requests("/hook?key=1");
    assert_eq!(requests.len(), 3);
    let ids: HashSet<&str> = requests
        .iter()
        .map(|request| request.header("webhook-id"))
        .collect();
    let bodies: HashSet<&[u8]> = requests.iter().map(|request| &request.body[..]).collect();
    assert_eq!((ids.len(), bodies.len()), (1, 1));
    let printed = secrets(data.path());
    assert_eq!(printed.len(), 1);
    for request in &requests {
        assert_eq!(request.method, "POST");
        assert_eq!(request.header("content-type"), "application/json");
        assert!(is_signed_with(request, &printed[0]));
    }
    let body = requests[0].json();
    assert_eq!(body["type"], "task.completed");
    assert!(body["timestamp"].as_str().unwrap().ends_with('Z'), "{body}");
    let status = json!({"status": "completed", "id": task["id"], "uid": "me", "category": "image",
        "subcategory": "strata"});
    assert_eq!(body["data"], status);
    // The body has what the call for the output needs.
    assert_eq!(
        server.post("/v2/response", &body["data"]).json()["data"]["status"],
        "completed"
    );
    assert!(!server.log().contains("key=1"), "the log has the URL");
}

#[test]
fn events_are_sent_for_starts_and_for_all_ends() {
    let receiver = SmallServer::start(ok);
    let data = TempDir::new().unwrap();
    let server = start(
        data.path(),
        &[&receiver],
        &["--workers", "1", "--speed", "100"],
    );
    let with = |path: &str, more: Value| {
        let mut input = input(&receiver, path);
        input
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        input
    };
    let both = json!(["started", "completed"]);
    let task = server.generate(STRATA, with("/running", json!({"webhook_events": both})));
    let waiting = server.generate(STRATA, with("/waiting", json!({"webhook_events": both})));
    let started = received(&receiver, "/running", 1)[0].json();
    assert_eq!(started["type"], "task.started");
    assert_eq!(started["data"]["status"], "processing");
    assert_eq!(started["data"]["id"], task["id"]);
    for (task, path, count) in [(&waiting, "/waiting", 1), (&task, "/running", 2)] {
        assert_eq!(server.post("/v2/cancel", task).status, 200);
        let ended = received(&receiver, path, count).pop().unwrap().json();
        assert_eq!(ended["type"], "task.completed");
        assert_eq!(ended["data"]["id"], task["id"]);
        assert_eq!(ended["data"]["error"], "Canceled");
        assert_eq!(ended["data"]["canceled"], true);
    }
    drop(server);
    let server = start(data.path(), &[&receiver], &FAST);
    server.generate(STRATA, with("/failed", json!({"prompt": "[fail]"})));
    server.generate(
        STRATA,
        with("/only-start", json!({"webhook_events": ["started"]})),
    );
    let failed = received(&receiver, "/failed", 1)[0].json();
    assert_eq!(failed["data"]["status"], "failed");
    assert!(failed["data"]["error"].is_string(), "{failed}");
    received(&receiver, "/only-start", 1);
    await_metric(&server, "atelier_webhooks_waiting{} 0");
    assert_eq!(receiver.requests("/only-start").len(), 1);
    assert_eq!(
        receiver.requests("/waiting").len(),
        1,
        "it has never started"
    );
}

/// Guards against an event that is lost, or that gets another id, when the process is killed before it is delivered.
#[test]
fn an_event_survives_a_killed_process() {
    let gate = Gate::default();
    let (waited, count) = (gate.clone(), AtomicUsize::new(0));
    let receiver = SmallServer::start(move |_: &Request| -> Response {
        if count.fetch_add(1, Ordering::Relaxed) == 0 {
            waited.wait();
            return None;
        }
        Some((200, "text/plain", Vec::new()))
    });
    let data = TempDir::new().unwrap();
    let mut server = start(data.path(), &[&receiver], &FAST);
    let task = server.generate(STRATA, input(&receiver, "/"));
    let first = received(&receiver, "/", 1).remove(0);
    server.kill();
    gate.open();
    let server = start(data.path(), &[&receiver], &FAST);
    let second = received(&receiver, "/", 2).remove(1);
    assert_eq!(second.header("webhook-id"), first.header("webhook-id"));
    assert_eq!(second.body, first.body);
    assert_eq!(second.json()["data"]["id"], task["id"]);
    assert!(is_signed_with(&second, &secrets(data.path())[0]));
    await_metric(&server, "atelier_webhooks_waiting{} 0");
}

/// Guards against a process whose list lacks a host, as before a rolling restart, and which removes the events of the others.
#[cfg(unix)]
#[test]
fn an_event_for_a_host_that_this_process_does_not_name_is_kept() {
    let count = AtomicUsize::new(0);
    let receiver = SmallServer::start(move |_: &Request| -> Response {
        let status = if count.fetch_add(1, Ordering::Relaxed) == 0 {
            500
        } else {
            200
        };
        Some((status, "text/plain", Vec::new()))
    });
    let other = SmallServer::start(ok);
    let data = TempDir::new().unwrap();
    let pause = [
        "--speed",
        "0",
        "--draw-scale",
        "0.05",
        "--webhook-retry",
        "1s",
    ];
    let mut server = start(data.path(), &[&receiver], &pause);
    server.generate(STRATA, input(&receiver, "/"));
    server.await_log("HTTP 500; the next is in");
    assert!(server.terminate());
    let mut server = start(data.path(), &[&other], &FAST);
    server.await_log("--webhooks of this process does not name it; the next is in");
    assert!(server.terminate());
    let server = start(data.path(), &[&receiver], &FAST);
    let requests = received(&receiver, "/", 2);
    let id = |index: usize| requests[index].header("webhook-id");
    assert_eq!(id(0), id(1));
    await_metric(&server, r#"atelier_webhooks_total{state="delivered"} 1"#);
    await_metric(&server, r#"atelier_webhooks_total{state="abandoned"} 0"#);
    await_metric(&server, "atelier_webhooks_waiting{} 0");
}

/// Guards against events that were never attempted, and are sent long after they have occurred.
#[test]
fn an_event_is_given_up_a_day_later_although_it_was_not_attempted() {
    if support::cluster::database().is_some() {
        // The database of this test is changed as a file.
        return;
    }
    let receiver = SmallServer::start(|_: &Request| -> Response { None });
    let data = TempDir::new().unwrap();
    let options = [
        "--speed",
        "0",
        "--draw-scale",
        "0.05",
        "--webhook-retry",
        "60s",
    ];
    let mut server = start(data.path(), &[&receiver], &options);
    server.generate(STRATA, input(&receiver, "/"));
    server.await_log("the next is in");
    server.kill();
    let sent = receiver.requests("/").len();
    let database = rusqlite::Connection::open(data.path().join("tasks.sqlite")).unwrap();
    let day_before =
        "UPDATE webhook_event SET occurred_ms = occurred_ms - 86400001, due_ms = 0, attempts = 0";
    assert_eq!(database.execute(day_before, []).unwrap(), 1);
    drop(database);
    let server = start(data.path(), &[&receiver], &options);
    await_metric(&server, r#"atelier_webhooks_total{state="abandoned"} 1"#);
    await_metric(&server, "atelier_webhooks_waiting{} 0");
    assert_eq!(receiver.requests("/").len(), sent);
}

/// Guards against a command that creates another secret than a service that starts at the same time.
#[test]
fn the_secret_is_printed_only_after_the_service_has_created_it() {
    if support::cluster::database().is_some() {
        return;
    }
    let data = TempDir::new().unwrap();
    let command = Command::new(program())
        .args(["webhook-secret", "--data"])
        .arg(data.path())
        .output()
        .unwrap();
    let problem = String::from_utf8_lossy(&command.stderr).into_owned();
    assert!(!command.status.success(), "{problem}");
    assert!(
        problem.contains("start the service with --webhooks first"),
        "{problem}"
    );
    assert!(!data.path().join("webhook-secret").exists());
}

/// Guards against a stop that loses events, or after which they wait for the end of their lease.
#[cfg(unix)]
#[test]
fn a_stop_waits_for_events_that_are_being_sent_or_gives_them_back() {
    let gate = Gate::default();
    let waited = gate.clone();
    let receiver = SmallServer::start(move |request: &Request| -> Response {
        if request.path == "/slow" {
            waited.wait();
        }
        Some((200, "text/plain", Vec::new()))
    });
    let data = TempDir::new().unwrap();
    let mut server = start(data.path(), &[&receiver], &FAST);
    server.generate(STRATA, input(&receiver, "/slow"));
    let first = received(&receiver, "/slow", 1).remove(0);
    assert!(
        server.terminate(),
        "without --drain-seconds it does not wait"
    );

    let drain = [&FAST[..], &["--drain-seconds", "60"]].concat();
    let mut server = start(data.path(), &[&receiver], &drain);
    let begun = Instant::now();
    let second = received(&receiver, "/slow", 2).remove(1);
    assert!(
        begun.elapsed() < Duration::from_secs(45),
        "it waited for its lease"
    );
    assert_eq!(second.header("webhook-id"), first.header("webhook-id"));
    server.request_stop();
    // While it drains, it accepts no task.
    let draining = || {
        server
            .post("/v2/generate", &request(STRATA, json!({"prompt": "b"})))
            .status
    };
    await_true("draining", || draining() == 503);
    gate.open();
    assert!(server.exits_successfully());

    let server = start(data.path(), &[&receiver], &FAST);
    await_metric(&server, "atelier_webhooks_waiting{} 0");
    assert_eq!(
        receiver.requests("/slow").len(),
        2,
        "it was delivered before the stop"
    );
}

/// Guards against a stop after which the event of a task that ended meanwhile waits for the next start.
#[cfg(unix)]
#[test]
fn the_end_of_a_task_is_sent_before_the_process_stops() {
    let receiver = SmallServer::start(ok);
    let data = TempDir::new().unwrap();
    let options = ["--speed", "0.2", "--drain-seconds", "60"];
    let mut server = start(data.path(), &[&receiver], &options);
    let mut input = input(&receiver, "/");
    input["webhook_events"] = json!(["started", "completed"]);
    server.generate(STRATA, input);
    received(&receiver, "/", 1);
    assert!(server.terminate());
    let requests = receiver.requests("/");
    let types: HashSet<String> = requests
        .iter()
        .map(|request| request.json()["type"].to_string())
        .collect();
    assert_eq!(types.len(), 2, "{types:?}");
}

#[test]
fn invalid_webhooks_are_refused_before_a_task_is_accepted() {
    let receiver = SmallServer::start(ok);
    let data = TempDir::new().unwrap();
    let server = start(data.path(), &[&receiver], &FAST);
    let good = format!("{}/", receiver.url());
    let with_user = good.replace("http://", "http://me:key@");
    let cases = [
        (json!({"webhook": "https://other.example/"}), "operator"),
        (
            json!({"webhook": "http://169.254.169.254/latest"}),
            "operator",
        ),
        (
            json!({"webhook": good.replace("http:", "https:")}),
            "operator",
        ),
        (json!({"webhook": "http://127.0.0.1:1/"}), "operator"),
        (json!({"webhook": with_user}), "user name"),
        (json!({"webhook": "/relative"}), "URL"),
        (json!({"webhook": ""}), "URL"),
        (json!({"webhook": {"url": good}}), "text"),
        (
            json!({"webhook": good.clone() + &"a".repeat(3000)}),
            "longer",
        ),
        (
            json!({"webhook": good, "webhook_events": ["progress"]}),
            "webhook_events",
        ),
        (json!({"webhook_events": ["completed"]}), "webhook_events"),
    ];
    for (fields, word) in &cases {
        let mut body = request(STRATA, json!({"prompt": "a"}));
        body.as_object_mut()
            .unwrap()
            .extend(fields.as_object().unwrap().clone());
        let answer = server.post("/v2/generate", &body);
        assert_eq!(
            (answer.status, answer.error().as_str()),
            (400, "invalid_webhook"),
            "{fields}"
        );
        assert!(answer.text().contains(word), "{}", answer.text());
    }
    let metrics = server.get("/metrics").text();
    assert!(
        !metrics.contains("atelier_tasks_accepted_total{"),
        "{metrics}"
    );
}

#[test]
fn each_entry_of_a_batch_has_its_own_webhook() {
    let receiver = SmallServer::start(ok);
    let data = TempDir::new().unwrap();
    let server = start(data.path(), &[&receiver], &FAST);
    let refused = json!({"prompt": "a", "webhook": "https://other.example/"});
    let entries = [
        request(STRATA, input(&receiver, "/0")),
        request(STRATA, refused),
        request(STRATA, input(&receiver, "/2")),
        request(STRATA, json!({"prompt": "a"})),
    ];
    let answer = server
        .post("/v2/generate-batch", &json!({"requests": entries}))
        .json();
    let results = answer["data"]["results"].as_array().unwrap();
    let statuses: Vec<&Value> = results.iter().map(|entry| &entry["status"]).collect();
    assert_eq!(statuses, [200, 400, 200, 200]);
    assert_eq!(results[1]["body"]["error"], "invalid_webhook");
    for index in [0, 2] {
        let event = received(&receiver, &format!("/{index}"), 1)[0].json();
        assert_eq!(event["data"]["id"], results[index]["body"]["data"]["id"]);
    }
}

#[test]
fn a_repeated_submission_has_the_first_webhook() {
    let receiver = SmallServer::start(ok);
    let data = TempDir::new().unwrap();
    let server = start(data.path(), &[&receiver], &FAST);
    let submit = |path: &str| {
        let mut body = request(STRATA, input(&receiver, path));
        body["idempotency_key"] = "k".into();
        server.post("/v2/generate", &body)
    };
    let first = submit("/a").json();
    assert_eq!(submit("/a").json(), first);
    let other = submit("/b");
    assert_eq!(
        (other.status, other.error().as_str()),
        (422, "idempotency_key_reused")
    );
    received(&receiver, "/a", 1);
    await_metric(&server, "atelier_webhooks_waiting{} 0");
    assert_eq!(receiver.requests("/a").len(), 1);
    assert!(receiver.requests("/b").is_empty());
}

/// Guards against a receiver that redirects the service to an address of its network.
#[test]
fn redirects_are_not_followed_and_count_as_failures() {
    let receiver = SmallServer::start_with_headers(|request: &Request| Reply {
        response: Some((
            request.path[1..4].parse().unwrap(),
            "text/plain",
            Vec::new(),
        )),
        headers: vec![("location", request.path.replace("hook", "target"))],
    });
    let data = TempDir::new().unwrap();
    let server = start(data.path(), &[&receiver], &FAST);
    // A client that follows 302 sends GET, and one that follows 307 sends POST.
    for status in [302, 307] {
        server.generate(STRATA, input(&receiver, &format!("/{status}/hook")));
        received(&receiver, &format!("/{status}/hook"), 3);
        server.await_log(&format!("HTTP {status}: redirects are not followed"));
        assert!(receiver.requests(&format!("/{status}/target")).is_empty());
    }
}

#[test]
fn a_receiver_can_stop_an_event_or_delay_it() {
    let delayed = AtomicUsize::new(0);
    let receiver = SmallServer::start_with_headers(move |request: &Request| {
        let status = match request.path.as_str() {
            "/gone" => 410,
            _ if delayed.fetch_add(1, Ordering::Relaxed) == 0 => 429,
            _ => 200,
        };
        Reply {
            response: Some((status, "text/plain", Vec::new())),
            headers: vec![("retry-after", "3".to_owned())],
        }
    });
    let data = TempDir::new().unwrap();
    let server = start(data.path(), &[&receiver], &FAST);
    server.generate(STRATA, input(&receiver, "/gone"));
    server.generate(STRATA, input(&receiver, "/delayed"));
    let requests = received(&receiver, "/delayed", 2);
    let pause = requests[1].at.duration_since(requests[0].at).unwrap();
    assert!(pause >= Duration::from_millis(2900), "{pause:?}");
    await_metric(&server, r#"atelier_webhooks_total{state="abandoned"} 1"#);
    await_metric(&server, "atelier_webhooks_waiting{} 0");
    assert_eq!(receiver.requests("/gone").len(), 1);
}

#[test]
fn a_receiver_that_does_not_respond_does_not_delay_others() {
    let gate = Gate::default();
    let waited = gate.clone();
    let silent = SmallServer::start(move |_: &Request| -> Response {
        waited.wait();
        Some((200, "text/plain", Vec::new()))
    });
    let receiver = SmallServer::start(ok);
    let data = TempDir::new().unwrap();
    let server = start(data.path(), &[&silent, &receiver], &FAST);
    // More events than a process sends at the same time.
    for _ in 0..2 {
        let entries = vec![request(STRATA, input(&silent, "/")); 10];
        let batch = server.post("/v2/generate-batch", &json!({"requests": entries}));
        assert_eq!(batch.status, 200);
    }
    received(&silent, "/", 4);
    let task = server.generate(STRATA, input(&receiver, "/"));
    assert_eq!(
        received(&receiver, "/", 1)[0].json()["data"]["id"],
        task["id"]
    );
    assert_eq!(server.wait(&task)["status"], "completed");
    // No attempt ends within its timeout of 15 seconds.
    let requests = silent.requests("/");
    let until = requests[0].at + Duration::from_secs(10);
    let first = requests.iter().filter(|request| request.at < until);
    assert!(first.count() <= 4, "the silent host has its share only");
    gate.open();
    await_metric(&server, "atelier_webhooks_waiting{} 0");
}

#[test]
fn an_event_is_signed_with_all_given_secrets() {
    let receiver = SmallServer::start(ok);
    let secret = |byte: u8| format!("whsec_{}", STANDARD.encode([byte; 24]));
    let both = format!("{},{}", secret(1), secret(2));
    let data = TempDir::new().unwrap();
    let options = [&FAST[..], &["--webhook-secret", &both]].concat();
    let server = start(data.path(), &[&receiver], &options);
    server.generate(STRATA, input(&receiver, "/"));
    let request = received(&receiver, "/", 1).remove(0);
    assert!(is_signed_with(&request, &secret(1)) && is_signed_with(&request, &secret(2)));
    assert!(!is_signed_with(&request, &secret(3)));
    assert!(!data.path().join("webhook-secret").exists());
}

/// Guards against a service that sends webhooks although its operator has not allowed them.
#[test]
fn without_hosts_the_fields_are_unknown_parameters() {
    let receiver = SmallServer::start(ok);
    let server = Server::start(&["--speed", "0"]);
    let refusal = |name: &str, value: Value| {
        let answer = server.post(
            "/v2/generate",
            &request(STRATA, json!({"prompt": "a", name: value})),
        );
        (
            answer.status,
            answer.error(),
            answer.text().replace(name, "NAME"),
        )
    };
    let unknown = refusal("unknown", json!("a"));
    assert_eq!(refusal("webhook", receiver.url().into()), unknown);
    assert_eq!(refusal("webhook_events", json!("a")), unknown);
    assert_eq!(server.get("/api/models").json().get("webhooks"), None);
    let document = server.get("/api/openapi.json").text();
    assert!(!document.contains("webhook_events") && !document.contains("webhook-signature"));
}

#[test]
fn the_openapi_document_describes_the_fields() {
    let receiver = SmallServer::start(ok);
    let data = TempDir::new().unwrap();
    let server = start(data.path(), &[&receiver], &FAST);
    let document = server.get("/api/openapi.json").json();
    let fields = &document["components"]["schemas"]["GenerateRequest"]["oneOf"][0]["properties"];
    assert_eq!(fields["webhook"]["$ref"], "#/components/schemas/Webhook");
    assert_eq!(
        fields["webhook_events"]["$ref"],
        "#/components/schemas/WebhookEvents"
    );
    let sent = &document["webhooks"]["task"]["post"];
    assert_eq!(sent["parameters"][2]["name"], "webhook-signature");

    // Guards against a schema that no event matches.
    server.post("/v2/generate", &request(STRATA, input(&receiver, "/")));
    let event = received(&receiver, "/", 1)[0].json();
    let schema = &sent["requestBody"]["content"]["application/json"]["schema"];
    for (value, schema) in [
        (&event, schema),
        (&event["data"], &schema["properties"]["data"]),
    ] {
        let value = value.as_object().unwrap();
        let (known, required) = (
            &schema["properties"],
            schema["required"].as_array().unwrap(),
        );
        assert!(
            value.keys().all(|key| known.get(key).is_some()),
            "{value:?}"
        );
        let has = |key: &Value| value.contains_key(key.as_str().unwrap());
        assert!(required.iter().all(has), "{value:?}");
    }
}

//! Several users on one service: accounts, fair scheduling, limits.

mod support;

use std::io::{ErrorKind, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::{Value, json};
use support::{Answer, STRATA, Server, request, until};
use tempfile::TempDir;

fn run(data: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_atelier-service"))
        .args(args)
        .arg("--data")
        .arg(data)
        .args(support::cluster::database_of(data))
        .env_remove("ATELIER_SERVICE_TOKEN")
        .output()
        .unwrap()
}

/// Runs `account …` and returns its output.
fn account(data: &Path, args: &[&str]) -> String {
    let output = run(data, &[&["account"], args].concat());
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

fn post(server: &Server, token: &str, path: &str, body: &Value) -> Answer {
    let authorization = format!("Bearer {token}");
    let headers = [
        ("authorization", authorization.as_str()),
        ("content-type", "application/json"),
    ];
    server.call("POST", path, &headers, body.to_string().as_bytes())
}

fn of(uid: &str, input: Value) -> Value {
    let mut body = request(STRATA, input);
    body["uid"] = uid.into();
    body
}

#[test]
fn tasks_of_an_account_are_inaccessible_to_other_accounts() {
    let data = TempDir::new().unwrap();
    let ada = account(data.path(), &["add", "ada"]);
    let bob = account(data.path(), &["add", "bob"]);
    let server = Server::start_on(data.path(), &["--speed", "0"]);
    assert_eq!(server.get("/api/models").json().get("guest"), None);
    let submitted = post(
        &server,
        &ada,
        "/v2/generate",
        &of("ada", json!({"prompt": "a"})),
    );
    assert_eq!(submitted.status, 200, "{}", submitted.text());
    let mut task = of("ada", json!({}));
    task["id"] = submitted.json()["data"]["id"].clone();
    assert_eq!(post(&server, &ada, "/v2/status", &task).status, 200);
    let batch = |token: &str, path: &str| {
        let answer = post(&server, token, path, &json!({"requests": [task]})).json();
        answer["data"]["results"][0]["status"].clone()
    };
    assert_eq!(batch(&ada, "/v2/status-batch"), 200);
    // Bob gets 404 with either uid.
    for uid in ["ada", "bob"] {
        task["uid"] = uid.into();
        for path in ["/v2/status", "/v2/response"] {
            let answer = post(&server, &bob, path, &task);
            assert_eq!(
                (answer.status, answer.error().as_str()),
                (404, "unknown_task")
            );
        }
    }
    let batch = |token: &str, path: &str| {
        let answer = post(&server, token, path, &json!({"requests": [task]})).json();
        answer["data"]["results"][0]["status"].clone()
    };
    assert_eq!(batch(&bob, "/v2/response-batch"), 404);
    let wrong = post(
        &server,
        &bob,
        "/v2/generate",
        &of("ada", json!({"prompt": "a"})),
    );
    assert_eq!((wrong.status, wrong.error().as_str()), (403, "wrong_uid"));
    let anonymous = post(
        &server,
        "t",
        "/v2/generate",
        &of("ada", json!({"prompt": "a"})),
    );
    assert_eq!(anonymous.status, 401);

    // Accounts can change while the service runs.
    let new = account(data.path(), &["rotate", "ada"]);
    task["uid"] = "ada".into();
    assert_eq!(post(&server, &new, "/v2/status", &task).status, 200);
    let refused = |token: &str| {
        // Lookups are cached for a second.
        until("the token is refused", || {
            post(&server, token, "/v2/status", &task).status == 401
        });
    };
    refused(&ada);
    account(data.path(), &["remove", "bob"]);
    refused(&bob);
    assert!(account(data.path(), &["list"]).starts_with("ada\t"));
    assert!(
        !run(data.path(), &["account", "add", "ada"])
            .status
            .success()
    );
}

/// Guards against `list`, `rotate` and `remove` creating the file of accounts: once it exists, every call requires an
/// account.
#[test]
fn only_account_add_makes_accounts_required() {
    let folder = TempDir::new().unwrap();
    let data = folder.path().join("data");
    for (change, words) in [
        (&["list"][..], ""),
        (&["rotate", "ada"], "ada"),
        (&["remove", "ada"], "ada"),
    ] {
        let output = run(&data, &[&["account"], change].concat());
        assert_eq!(output.status.success(), words.is_empty(), "{output:?}");
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(
            words.is_empty() || error.contains("there is no account ada"),
            "{error}"
        );
        assert_eq!(String::from_utf8_lossy(&output.stdout), "");
        assert!(!data.exists(), "{change:?} creates no files");
    }
    let server = Server::start_on(&data, &["--speed", "0"]);
    for change in [&["list"][..], &["rotate", "ada"], &["remove", "ada"]] {
        run(&data, &[&["account"], change].concat());
    }
    assert!(!data.join("accounts.sqlite").exists());
    assert!(server.get("/api/models").json()["guest"].is_object());
    server.output(STRATA, json!({"prompt": "a"}));
    account(&data, &["add", "ada"]);
    // A process with PostgreSQL notices within a second.
    until(
        "guests are refused after the first account is added",
        || server.get("/api/models").json().get("guest").is_none(),
    );
}

/// Guards against database lookups for a flood of invalid tokens: the limit applies before the lookup.
#[test]
fn calls_with_bad_tokens_are_limited_by_their_address() {
    let data = TempDir::new().unwrap();
    let ada = account(data.path(), &["add", "ada"]);
    let server = Server::start_on(data.path(), &["--rate", "0.01/s"]);
    let task = of("ada", json!({"id": "x"}));
    assert_eq!(post(&server, "bad", "/v2/status", &task).status, 401);
    for token in ["bad", "worse", &ada] {
        let refused = post(&server, token, "/v2/status", &task);
        assert_eq!(
            (refused.status, refused.error().as_str()),
            (429, "rate_limited")
        );
    }
}

/// Guards against token lookups that block the few threads that serve all connections.
#[test]
fn while_accounts_are_locked_other_calls_are_answered() {
    if support::cluster::database().is_some() {
        return;
    }
    let data = TempDir::new().unwrap();
    account(data.path(), &["add", "ada"]);
    let server = Server::start_on(data.path(), &[]);
    let task = of("ada", json!({"id": "x"}));
    let lock = rusqlite::Connection::open(data.path().join("accounts.sqlite")).unwrap();
    // Returns whether another call is answered while the lookups wait for the lock, which takes some seconds.
    let is_answered = || {
        lock.execute_batch("BEGIN EXCLUSIVE").unwrap();
        // The service receives these calls before the next one.
        let calls: Vec<TcpStream> = (0..16)
            .map(|n| {
                let mut stream = server.connect();
                let length = task.to_string().len();
                let call = format!(
                    "POST /v2/status HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer bad{n}\r\n\
                     Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n{task}"
                );
                stream.write_all(call.as_bytes()).unwrap();
                stream
            })
            .collect();
        assert_eq!(server.get("/healthz").status, 200);
        let is_answered = calls.iter().all(|stream| {
            stream.set_nonblocking(true).unwrap();
            let unread = stream.peek(&mut [0]);
            unread.is_err_and(|error| error.kind() == ErrorKind::WouldBlock)
        });
        lock.execute_batch("ROLLBACK").unwrap();
        is_answered
    };
    // A busy machine may need several tries.
    assert!((0..3).any(|_| is_answered()));
}

#[test]
fn an_address_reachable_by_others_requires_a_token() {
    let data = TempDir::new().unwrap();
    let refused = run(data.path(), &["--listen", "0.0.0.0:0"]);
    assert!(!refused.status.success());
    let message = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(message.contains("account add"), "{message}");
    account(data.path(), &["add", "ada"]);
    let refused = run(data.path(), &["--token", "x"]);
    assert!(String::from_utf8_lossy(&refused.stderr).contains("--token"));
}

#[test]
fn no_owner_waits_behind_all_tasks_of_another() {
    let server = Server::start(&["--speed", "0.1", "--workers", "1"]);
    let batch = |uid: &str, count: usize| {
        let requests: Vec<Value> = (0..count)
            .map(|n| of(uid, json!({"prompt": n.to_string()})))
            .collect();
        let answer = server.post("/v2/generate-batch", &json!({"requests": requests}));
        let results = answer.json()["data"]["results"].clone();
        let entry = results.as_array().unwrap().last().unwrap().clone();
        let mut task = of(uid, json!({}));
        task["id"] = entry["body"]["data"]["id"].clone();
        task
    };
    let last_of_a = batch("a", 10);
    let of_b = batch("b", 1);
    assert_eq!(server.wait(&of_b)["status"], "completed");
    let status = server.post("/v2/status", &last_of_a).json();
    assert_eq!(
        status["data"]["status"], "processing",
        "B's task did not wait for A's tenth task"
    );
}

#[test]
fn tasks_above_the_waiting_limit_of_an_owner_are_refused() {
    let server = Server::start(&[
        "--speed",
        "20",
        "--workers",
        "4",
        "--account-running",
        "1",
        "--account-waiting",
        "2",
    ]);
    let begin = |uid: &str| server.post("/v2/generate", &of(uid, json!({"prompt": "a"})));
    assert_eq!(begin("a").status, 200);
    server.await_log("begins");
    assert_eq!((begin("a").status, begin("a").status), (200, 200));
    let refused = begin("a");
    assert_eq!(
        (refused.status, refused.error().as_str()),
        (429, "too_many_waiting")
    );
    assert_eq!(refused.header("retry-after"), "5");
    assert_eq!(begin("b").status, 200);
}

/// Users need to see which account a token belongs to, and how much of its limits is left.
#[test]
fn the_account_endpoint_returns_account_limits_and_usage() {
    let data = TempDir::new().unwrap();
    let open = Server::start(&[]);
    let ask = |server: &Server, token: &str| {
        let authorization = format!("Bearer {token}");
        let headers = [("authorization", authorization.as_str())];
        server.call("GET", "/api/account", &headers, b"")
    };
    assert_eq!(open.get("/api/models").json().get("account"), None);
    let anonymous = ask(&open, "t");
    assert_eq!(
        (anonymous.status, anonymous.error().as_str()),
        (404, "no_accounts")
    );

    let ada = account(data.path(), &["add", "ada"]);
    let args = ["--account-running", "1", "--account-disk", "2GB"];
    let server = Server::start_on(data.path(), &[&args[..], &["--speed", "20"]].concat());
    let list = server.get("/api/models").json();
    assert_eq!(list["account"], "/api/account");
    assert_eq!(server.get("/api/account").status, 401);
    assert_eq!(ask(&server, "t").status, 401);
    assert_eq!(
        ask(&server, &ada).json()["data"],
        json!({"uid": "ada", "waiting": 0, "running": 0, "max_running": 1,
            "bytes": 0, "max_bytes": 2_000_000_000})
    );
    for _ in 0..3 {
        let task = of("ada", json!({"prompt": "a"}));
        assert_eq!(post(&server, &ada, "/v2/generate", &task).status, 200);
    }
    server.await_log("begins");
    let status = ask(&server, &ada).json()["data"].clone();
    assert_eq!(
        (&status["running"], &status["waiting"]),
        (&json!(1), &json!(2)),
        "{status}"
    );
    assert!(status["bytes"].as_u64().unwrap() > 0, "{status}");
}

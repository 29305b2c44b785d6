//! `POST /v2/cancel` and `/v2/cancel-batch`, which are additional to the interface.
#![cfg(unix)]

#[path = "cancel/models.rs"]
mod models;
mod support;

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};
use support::{Answer, STRATA, Server, cluster, request, until};
use tempfile::TempDir;

/// Options that make tasks slow enough to be canceled on any machine.
const SLOW: [&str; 4] = ["--speed", "100", "--workers", "1"];

fn cancel(server: &Server, task: &Value) -> Value {
    let answer = server.post("/v2/cancel", task);
    assert_eq!(answer.status, 200, "{}", answer.text());
    answer.json()["data"].clone()
}

/// Returns the data of a canceled task's status, and of the reply that cancels it.
fn canceled(task: &Value) -> Value {
    json!({"id": task["id"], "status": "failed", "error": "Canceled", "canceled": true})
}

/// Returns the line that the log has when a task begins. The log contains only the start of an id.
fn begin_line(task: &Value) -> String {
    format!("task {:.8}… begins", task["id"].as_str().unwrap())
}

fn await_begin(server: &Server, task: &Value) {
    server.await_log(&begin_line(task));
}

fn has_begun(server: &Server, task: &Value) -> bool {
    server.log().contains(&begin_line(task))
}

#[test]
fn the_service_announces_that_tasks_can_be_canceled() {
    let server = Server::start(&[]);
    assert_eq!(server.get("/api/models").json()["cancel"], true);
    let document = server.get("/api/openapi.json").json();
    assert!(document["paths"]["/v2/cancel"]["post"].is_object());
    assert!(document["paths"]["/v2/cancel-batch"]["post"].is_object());
}

#[test]
fn waiting_and_running_tasks_end_and_free_their_thread() {
    let server = Server::start(&SLOW);
    let [running, waiting, next] =
        ["a", "b", "c"].map(|prompt| server.generate(STRATA, json!({"prompt": prompt})));
    await_begin(&server, &running);
    for task in [&waiting, &running] {
        assert_eq!(cancel(&server, task), canceled(task));
        assert_eq!(
            server.post("/v2/status", task).json()["data"],
            canceled(task)
        );
        let response = server.post("/v2/response", task).json();
        let expected = json!({"status": "failed", "error": "Canceled", "canceled": true});
        assert_eq!(response["data"], expected);
        assert_eq!(cancel(&server, task), canceled(task), "the second time");
    }
    // The only thread is free, and takes the task after the canceled one.
    await_begin(&server, &next);
    assert!(!has_begun(&server, &waiting), "{}", server.log());
    cancel(&server, &next);
}

#[test]
fn a_finished_task_stays_as_it_is() {
    let server = Server::start(&["--speed", "0"]);
    let task = server.generate(STRATA, json!({"prompt": "a"}));
    let urls = server.output_of(&task);
    let expected = json!({"id": task["id"], "status": "completed", "canceled": false});
    assert_eq!(cancel(&server, &task), expected);
    assert_eq!(server.output_of(&task), urls);
    assert_eq!(server.get(&urls[0]).status, 200);
}

/// Guards against a reply from which other accounts learn that a task exists: the status call has the same rules.
#[test]
fn unknown_and_malformed_requests_are_refused_as_by_status() {
    let server = Server::start(&SLOW);
    let task = server.generate(STRATA, json!({"prompt": "a"}));
    let with = |name: &str, value: Value| {
        let mut task = task.clone();
        task[name] = value;
        task
    };
    for body in [
        with("id", json!("none")),
        with("id", json!("")),
        with("id", json!(null)),
        with("uid", json!("you")),
        with("subcategory", json!("loom")),
        json!([]),
    ] {
        let [by_cancel, by_status] =
            ["/v2/cancel", "/v2/status"].map(|path| server.post(path, &body));
        assert!(by_cancel.status >= 400, "{body}");
        assert_eq!(by_cancel.status, by_status.status, "{body}");
        assert_eq!(by_cancel.json(), by_status.json(), "{body}");
    }
    let anonymous = server.call("POST", "/v2/cancel", &[], task.to_string().as_bytes());
    assert_eq!(anonymous.status, 401);
    assert_eq!(server.call("GET", "/v2/cancel", &[], b"").status, 405);
    let status = server.post("/v2/status", &task).json()["data"]["status"].clone();
    assert_eq!(status, "processing", "nothing was canceled");
    cancel(&server, &task);
}

fn account(data: &Path, name: &str) -> String {
    let output = Command::new(support::program())
        .args(["account", "add", name, "--data"])
        .arg(data)
        .args(cluster::database_of(data))
        .env_remove("ATELIER_SERVICE_TOKEN")
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

fn post_as(server: &Server, token: &str, path: &str, body: &Value) -> Answer {
    let authorization = format!("Bearer {token}");
    let headers = [
        ("authorization", authorization.as_str()),
        ("content-type", "application/json"),
    ];
    server.call("POST", path, &headers, body.to_string().as_bytes())
}

#[test]
fn an_account_can_not_cancel_tasks_of_another() {
    let data = TempDir::new().unwrap();
    let [ada, bob] = ["ada", "bob"].map(|name| account(data.path(), name));
    let server = Server::start_on(data.path(), &SLOW);
    let mut task = request(STRATA, json!({"prompt": "a"}));
    task["uid"] = "ada".into();
    let submitted = post_as(&server, &ada, "/v2/generate", &task);
    assert_eq!(submitted.status, 200, "{}", submitted.text());
    task["id"] = submitted.json()["data"]["id"].clone();
    for uid in ["ada", "bob"] {
        let mut foreign = task.clone();
        foreign["uid"] = uid.into();
        let [by_cancel, by_status] =
            ["/v2/cancel", "/v2/status"].map(|path| post_as(&server, &bob, path, &foreign));
        assert_eq!(by_cancel.error(), "unknown_task");
        assert_eq!(by_cancel.json(), by_status.json());
        let batch = json!({"requests": [foreign]});
        let entry = post_as(&server, &bob, "/v2/cancel-batch", &batch).json();
        assert_eq!(entry["data"]["results"][0]["status"], 404);
    }
    let status = post_as(&server, &ada, "/v2/status", &task).json();
    assert_eq!(status["data"]["status"], "processing");
    let own = post_as(&server, &ada, "/v2/cancel", &task).json();
    assert_eq!(own["data"], canceled(&task));
}

#[test]
fn a_batch_cancels_each_task_that_has_not_ended() {
    let data = TempDir::new().unwrap();
    let server = Server::start_on(data.path(), &["--speed", "0"]);
    let done = server.generate(STRATA, json!({"prompt": "done"}));
    server.wait(&done);
    drop(server);
    let server = Server::start_on(data.path(), &SLOW);
    let running = server.generate(STRATA, json!({"prompt": "a"}));
    await_begin(&server, &running);
    let waiting = server.generate(STRATA, json!({"prompt": "b"}));
    let mut unknown = waiting.clone();
    unknown["id"] = "none".into();
    let requests = json!({"requests": [running, done, unknown, waiting]});
    let answer = server.post("/v2/cancel-batch", &requests);
    assert_eq!(answer.status, 200, "{}", answer.text());
    let results = answer.json()["data"]["results"].clone();
    let statuses: Vec<_> = (0..4).map(|n| results[n]["status"].clone()).collect();
    assert_eq!(statuses, [200, 200, 404, 200]);
    assert_eq!(results[0]["body"]["data"], canceled(&running));
    assert_eq!(results[1]["body"]["data"]["status"], "completed");
    assert_eq!(results[3]["body"]["data"], canceled(&waiting));
    assert_eq!(results[3]["index"], 3);

    let items = vec![waiting; 11];
    let too_many = server.post("/v2/cancel-batch", &json!({"requests": items}));
    assert_eq!(too_many.error(), "invalid_input");
}

/// Guards against canceled tasks that still count for the limits of their account.
#[test]
fn a_canceled_task_frees_its_place_at_once() {
    let data = TempDir::new().unwrap();
    let token = account(data.path(), "ada");
    let limits = ["--account-waiting", "1", "--account-running", "1"];
    let server = Server::start_on(data.path(), &[&SLOW[..], &limits].concat());
    let mut body = request(STRATA, json!({"prompt": "a"}));
    body["uid"] = "ada".into();
    let generate = || post_as(&server, &token, "/v2/generate", &body);
    let task = |answer: Answer| {
        assert_eq!(answer.status, 200, "{}", answer.text());
        let mut task = body.clone();
        task["id"] = answer.json()["data"]["id"].clone();
        task
    };
    let cancel = |task: &Value| post_as(&server, &token, "/v2/cancel", task).json()["data"].clone();
    let counts = || {
        let authorization = format!("Bearer {token}");
        let headers = [("authorization", authorization.as_str())];
        let data = server.call("GET", "/api/account", &headers, b"").json()["data"].clone();
        (data["waiting"].clone(), data["running"].clone())
    };
    let running = task(generate());
    await_begin(&server, &running);
    let waiting = task(generate());
    assert_eq!(generate().error(), "too_many_waiting");
    assert_eq!(cancel(&waiting), canceled(&waiting));
    assert_eq!(counts(), (json!(0), json!(1)));
    let waiting = task(generate());
    assert_eq!(cancel(&running), canceled(&running));
    await_begin(&server, &waiting);
    until("the running task is not counted", || {
        counts() == (json!(0), json!(1))
    });
    assert_eq!(cancel(&waiting), canceled(&waiting));
    until("no task is counted", || counts() == (json!(0), json!(0)));
}

#[test]
fn an_idempotency_key_returns_the_canceled_task() {
    let server = Server::start(&SLOW);
    let blocker = server.generate(STRATA, json!({"prompt": "first"}));
    let body = request(STRATA, json!({"prompt": "a", "idempotency_key": "k"}));
    let first = server.post("/v2/generate", &body).json()["data"].clone();
    let mut task = request(STRATA, json!({}));
    task["id"] = first["id"].clone();
    cancel(&server, &task);
    let again = server.post("/v2/generate", &body).json()["data"].clone();
    assert_eq!(again, first);
    assert_eq!(
        server.post("/v2/status", &task).json()["data"],
        canceled(&task)
    );
    cancel(&server, &blocker);
}

/// Guards against a canceled task that runs after a restart.
#[test]
fn a_canceled_task_does_not_run_after_a_kill() {
    let data = TempDir::new().unwrap();
    let mut server = Server::start_on(data.path(), &SLOW);
    let running = server.generate(STRATA, json!({"prompt": "a"}));
    let waiting = server.generate(STRATA, json!({"prompt": "b"}));
    await_begin(&server, &running);
    let tasks = [running, waiting];
    for task in &tasks {
        assert_eq!(cancel(&server, task), canceled(task));
    }
    server.kill();
    let server = Server::start_on(data.path(), &["--speed", "0", "--workers", "1"]);
    let next = server.generate(STRATA, json!({"prompt": "c"}));
    server.wait(&next);
    for task in &tasks {
        assert!(!has_begun(&server, task), "{}", server.log());
        assert_eq!(
            server.post("/v2/status", task).json()["data"],
            canceled(task)
        );
    }
}

/// Cancels tasks at about the time at which they end. Guards against two different ends of a task, and files of canceled
/// ones.
#[test]
fn a_task_is_either_canceled_or_completed() {
    let data = TempDir::new().unwrap();
    let server = Server::start_on(data.path(), &["--speed", "0.01", "--draw-scale", "0.1"]);
    let mut completed = 0;
    for n in 0..40 {
        let task = server.generate(STRATA, json!({"prompt": n.to_string()}));
        // Some tasks have ended by then, whatever the speed of the machine.
        if n % 4 == 0 {
            server.wait(&task);
        } else if n % 4 == 1 {
            await_begin(&server, &task);
        }
        let reply = cancel(&server, &task);
        assert_eq!(server.wait(&task)["status"], reply["status"], "{task}");
        let data_of = server.post("/v2/response", &task).json()["data"].clone();
        match reply["canceled"] == true {
            true => {
                assert_eq!(data_of["error"], "Canceled");
                assert_eq!(data_of.get("output"), None);
            }
            false => {
                completed += 1;
                let url = data_of["output"][0].as_str().unwrap();
                assert_eq!(server.get(url).status, 200, "its file exists");
            }
        }
    }
    assert!(completed >= 10, "{completed}");
    if cluster::bucket().is_none() {
        let folders = || {
            let all = std::fs::read_dir(data.path().join("outputs"))
                .unwrap()
                .flatten();
            let names = all.map(|entry| entry.file_name().to_string_lossy().into_owned());
            names.filter(|name| name.len() == 32).count()
        };
        until("only completed tasks have files", || folders() == completed);
    }
}

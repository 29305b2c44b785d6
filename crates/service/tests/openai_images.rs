//! OpenAI's images API (`/v1`) for every model.

mod support;

use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use support::{Answer, Server, try_call};

const QUICK: [&str; 2] = ["--speed", "0"];

const HEADERS: [(&str, &str); 2] = [
    ("authorization", "Bearer t"),
    ("content-type", "application/json"),
];

fn generate(server: &Server, body: &Value) -> Answer {
    server.post("/v1/images/generations", body)
}

fn images(answer: &Answer) -> Vec<Value> {
    assert_eq!(answer.status, 200, "{}", answer.text());
    answer.json()["data"].as_array().unwrap().clone()
}

/// Returns the code of an error. Checks its form.
fn code(answer: &Answer) -> String {
    let error = &answer.json()["error"];
    assert!(!error["message"].as_str().unwrap().is_empty(), "{error}");
    assert!(
        error["type"].as_str().unwrap().ends_with("_error"),
        "{error}"
    );
    error["code"].as_str().unwrap().to_owned()
}

/// Builds a form. Fields with a third element are files.
fn form(fields: &[(&str, &[u8], bool)]) -> Vec<u8> {
    let mut body = Vec::new();
    for (name, value, is_file) in fields {
        let file = if *is_file { "; filename=\"a.png\"" } else { "" };
        let head = format!("--x\r\nContent-Disposition: form-data; name=\"{name}\"{file}\r\n\r\n");
        body.extend([head.as_bytes(), value, b"\r\n"].concat());
    }
    body.extend(b"--x--\r\n");
    body
}

fn edit(server: &Server, fields: &[(&str, &[u8], bool)]) -> Answer {
    let headers = [
        ("authorization", "Bearer t"),
        ("content-type", "multipart/form-data; boundary=x"),
    ];
    server.call("POST", "/v1/images/edits", &headers, &form(fields))
}

#[test]
fn images_are_generated_and_edited() {
    let server = Server::start(&QUICK);
    let list = server.get("/v1/models").json();
    assert_eq!(list["object"], "list");
    let ids = list["data"].as_array().unwrap().iter();
    assert!(ids.into_iter().any(|model| model["id"] == "image/strata"));

    let body = json!({
        "model": "image/strata", "prompt": "a sea", "n": 2, "size": "1024x1024", "quality": "hd", "seed": 7,
        "response_format": "url",
    });
    let two = images(&generate(&server, &body));
    assert_eq!(two.len(), 2);
    let file = server.get(two[0]["url"].as_str().unwrap());
    assert_eq!(file.header("content-type"), "image/png");

    let prompt = "a copper roof".as_bytes();
    let model = ("model", "image/repaint".as_bytes(), false);
    let fields = [
        model,
        ("prompt", prompt, false),
        ("image", &file.bytes, true),
    ];
    let edited = images(&edit(&server, &fields));
    let data = edited[0]["b64_json"].as_str().unwrap();
    assert!(data.starts_with("iVBORw0KGgo"), "{data:.20}");
    assert_eq!(edited[0].get("url"), None);
}

/// OpenAI's clients repeat a request after 408, 409, 429 and 5xx: a failed task must have another code, because each
/// repetition would be a task that is charged.
#[cfg(unix)]
#[test]
fn errors_have_openais_form_and_a_failed_task_is_not_repeated() {
    let data = tempfile::tempdir().unwrap();
    let models = r#"
[[model]]
category = "image"
subcategory = "failing"
name = "Failing"
alias = "gpt-image-1"
command = { program = "/bin/sh", arguments = ["-c", "echo 'no such style' >&2; exit 1"] }
parameter = [{ name = "prompt", type = "string", required = true }]
"#;
    let server = Server::start_with_models(data.path(), models, &QUICK);
    let failed = generate(&server, &json!({"model": "gpt-image-1", "prompt": "a"}));
    assert_eq!(
        (failed.status, code(&failed).as_str()),
        (400, "generation_failed")
    );
    for (body, status, expected) in [
        (json!({"prompt": "a"}), 400, "invalid_input"),
        (
            json!({"model": "image/strata", "prompt": "a", "n": 11}),
            400,
            "invalid_input",
        ),
        (
            json!({"model": "image/strata", "prompt": "a", "sepia": 1}),
            400,
            "invalid_input",
        ),
        (
            json!({"model": "dall-e-9", "prompt": "a"}),
            404,
            "model_not_found",
        ),
        (json!([]), 400, "bad_request"),
    ] {
        let answer = generate(&server, &body);
        assert_eq!(
            (answer.status, code(&answer).as_str()),
            (status, expected),
            "{body}"
        );
    }
    let picture = [
        ("model", "image/strata".as_bytes(), false),
        ("prompt", b"a", false),
        ("image", &[1, 2, 3], true),
    ];
    let answer = edit(&server, &picture);
    assert_eq!(
        (answer.status, code(&answer).as_str()),
        (415, "unsupported_type")
    );
    let broken =
        b"--x\r\nContent-Disposition: form-data; name=\"image\"; filename=\"a\"\r\n\r\nabc";
    let headers = [
        HEADERS[0],
        ("content-type", "multipart/form-data; boundary=x"),
    ];
    let answer = server.call("POST", "/v1/images/edits", &headers, broken);
    assert_eq!(
        (answer.status, code(&answer).as_str()),
        (400, "bad_request")
    );
    // multer keeps the headers of a field in memory.
    let long = [
        b"--x\r\nContent-Disposition: form-data; name=\"".as_slice(),
        &[b'a'; 4 << 20],
    ]
    .concat();
    let answer = server.call("POST", "/v1/images/edits", &headers, &long);
    assert_eq!(
        (answer.status, code(&answer).as_str()),
        (400, "bad_request")
    );
    assert!(answer.text().contains("too long"), "{}", answer.text());
    let answer = server.call("POST", "/v1/images/edits", &HEADERS, b"{}");
    assert_eq!(
        (answer.status, code(&answer).as_str()),
        (400, "bad_request")
    );
    let answer = server.call("POST", "/v1/images/generations", &HEADERS[1..], b"{}");
    assert_eq!(
        (answer.status, code(&answer).as_str()),
        (401, "unauthorized")
    );
    let answer = server.get("/v1/nothing");
    assert_eq!((answer.status, code(&answer).as_str()), (404, "not_found"));
}

/// Guards against a repeated request that is charged again.
#[test]
fn a_request_with_the_same_key_waits_for_its_own_tasks() {
    let server = Server::start(&QUICK);
    let url = format!("{}/v1/images/generations", server.url);
    let body =
        json!({"model": "image/strata", "prompt": "a sea", "n": 2, "response_format": "url"})
            .to_string();
    let call = move || {
        let headers = [HEADERS[0], HEADERS[1], ("idempotency-key", "order-1")];
        try_call("POST", &url, &headers, body.as_bytes()).unwrap()
    };
    let calls: Vec<_> = (0..3).map(|_| thread::spawn(call.clone())).collect();
    let answers: Vec<_> = calls
        .into_iter()
        .map(|call| images(&call.join().unwrap()))
        .collect();
    assert_eq!(answers[0].len(), 2);
    assert!(answers.iter().all(|images| *images == answers[0]));
    let log = server.log();
    assert_eq!(log.matches("of image/strata accepted").count(), 2, "{log}");
}

/// OpenAI's packages repeat a request after their timeout, without a key. Guards against a repeated request that is charged
/// again, and against two equal requests that are charged once.
#[test]
fn a_request_that_openais_package_repeats_waits_for_its_own_tasks() {
    let server = Server::start(&QUICK);
    // As LibreChat sends it.
    let mut body = json!({
        "model": "image/strata", "prompt": "a sea", "n": 2, "size": "auto", "quality": "auto", "background": "auto",
        "output_format": "png", "output_compression": 100,
    });
    let call = |retries: &str, body: &Value| {
        let headers = [HEADERS[0], HEADERS[1], ("x-stainless-retry-count", retries)];
        let body = body.to_string();
        images(&server.call("POST", "/v1/images/generations", &headers, body.as_bytes()))
    };
    assert!(call("0", &body)[0]["b64_json"].is_string());
    body["response_format"] = "url".into();
    let first = call("0", &body);
    assert_eq!(call("1", &body), first);
    let second = call("0", &body);
    assert_eq!(call("2", &body), second);
    assert_ne!(first, second);
    body["prompt"] = "another sea".into();
    let third = call("1", &body);
    assert!(!second.contains(&third[0]));
    let log = server.log();
    assert_eq!(log.matches("of image/strata accepted").count(), 8, "{log}");
}

/// Returns a models file with a program that runs until it is stopped, and its file of the tasks it has begun.
#[cfg(unix)]
fn slow_model(data: &Path) -> (String, PathBuf) {
    let begun = data.join("begun");
    let script = format!("echo $ATELIER_TASK >> {}; exec sleep 600", begun.display());
    let models = format!(
        "[[model]]\ncategory = \"image\"\nsubcategory = \"slow\"\nname = \"Slow\"\n\
         command = {{ program = \"/bin/sh\", arguments = [\"-c\", {script:?}] }}\n\
         parameter = [{{ name = \"prompt\", type = \"string\", required = true }}]\n"
    );
    (models, begun)
}

/// Waits until the program of [`slow_model`] has begun a task. Returns the id of the task.
#[cfg(unix)]
fn await_begun(begun: &Path) -> String {
    let deadline = Instant::now() + Duration::from_secs(60);
    loop {
        let text = fs::read_to_string(begun).unwrap_or_default();
        if let Some(id) = text.strip_suffix('\n') {
            return id.to_owned();
        }
        assert!(Instant::now() < deadline, "no task has begun");
        thread::sleep(Duration::from_millis(20));
    }
}

/// The body of requests about a task of [`slow_model`].
#[cfg(unix)]
fn slow_task(id: &str) -> Value {
    json!({"uid": "local", "category": "image", "subcategory": "slow", "id": id})
}

/// Guards against a first attempt that is refused, and whose repetition gets the images of an earlier request.
#[cfg(unix)]
#[test]
fn a_refused_request_that_is_repeated_gets_its_own_images() {
    let data = tempfile::tempdir().unwrap();
    let (models, begun) = slow_model(data.path());
    let args = ["--speed", "0", "--account-waiting", "1"];
    let server = Server::start_with_models(data.path(), &models, &args);
    let body = json!({"model": "image/strata", "prompt": "a sea", "response_format": "url"});
    let call = |retries: &str| {
        let headers = [HEADERS[0], HEADERS[1], ("x-stainless-retry-count", retries)];
        let body = body.to_string();
        server.call("POST", "/v1/images/generations", &headers, body.as_bytes())
    };
    let first = images(&call("0"));
    // One task runs, and another one takes the only place among the waiting tasks.
    let slow = json!({"uid": "local", "category": "image", "subcategory": "slow", "prompt": "a"});
    server.post("/v2/generate", &slow);
    let running = await_begun(&begun);
    let waiting = server.post("/v2/generate", &slow).json()["data"]["id"].clone();
    for retries in ["0", "1"] {
        let refused = call(retries);
        assert_eq!(
            (refused.status, code(&refused).as_str()),
            (429, "too_many_waiting")
        );
        assert!(refused.text().contains("Nothing was accepted"));
    }
    server.post("/v2/cancel", &slow_task(waiting.as_str().unwrap()));
    let second = images(&call("2"));
    assert_ne!(first, second);
    assert_eq!(images(&call("1")), second);
    server.post("/v2/cancel", &slow_task(&running));
}

#[cfg(unix)]
#[test]
fn a_request_ends_when_its_task_is_canceled() {
    let data = tempfile::tempdir().unwrap();
    let (models, begun) = slow_model(data.path());
    let server = Server::start_with_models(data.path(), &models, &QUICK);
    let url = format!("{}/v1/images/generations", server.url);
    let body = json!({"model": "image/slow", "prompt": "a"}).to_string();
    let call = thread::spawn(move || try_call("POST", &url, &HEADERS, body.as_bytes()).unwrap());
    let task = slow_task(&await_begun(&begun));
    let canceled = server.post("/v2/cancel", &task).json();
    assert_eq!(canceled["data"]["canceled"], true, "{canceled}");
    let answer = call.join().unwrap();
    assert_eq!(
        (answer.status, code(&answer).as_str()),
        (400, "generation_failed")
    );
    assert_eq!(answer.json()["error"]["message"], "Canceled");
}

/// Guards against a client that repeats its request because the service stops, and then pays twice.
#[cfg(unix)]
#[test]
fn a_stopping_service_names_the_task_that_continues() {
    let data = tempfile::tempdir().unwrap();
    let models = r#"
[[model]]
category = "image"
subcategory = "slow"
name = "Slow"
command = { program = "/bin/sh", arguments = ["-c", "sleep 600"] }
parameter = [{ name = "prompt", type = "string", required = true }]
"#;
    let mut server = Server::start_with_models(data.path(), models, &["--drain-seconds", "20"]);
    let url = format!("{}/v1/images/generations", server.url);
    let body = json!({"model": "image/slow", "prompt": "a"}).to_string();
    let call = thread::spawn(move || try_call("POST", &url, &HEADERS, body.as_bytes()).unwrap());
    let task = server.log_text_after("task ");
    server.request_stop();
    let answer = call.join().unwrap();
    assert_eq!(
        (answer.status, code(&answer).as_str()),
        (400, "generation_failed")
    );
    let message = answer.json()["error"]["message"].to_string();
    assert!(message.contains(&task[..8]), "{message} {task}");
    // Ends the program as well.
    server.request_stop();
    assert!(server.exits_successfully());
}

#[test]
fn accounts_own_the_images_that_they_order() {
    let data = tempfile::tempdir().unwrap();
    let add = std::process::Command::new(support::program())
        .args(["account", "add", "mia", "--data"])
        .arg(data.path())
        .args(support::cluster::database_of(data.path()))
        .output()
        .unwrap();
    let token = String::from_utf8(add.stdout).unwrap().trim().to_owned();
    let server = Server::start_on(data.path(), &QUICK);
    let bearer = format!("Bearer {token}");
    let body = json!({"model": "image/strata", "prompt": "a"}).to_string();
    let headers = [("authorization", bearer.as_str()), HEADERS[1]];
    let answer = server.call("POST", "/v1/images/generations", &headers, body.as_bytes());
    assert_eq!(images(&answer).len(), 1);
    let stranger = generate(&server, &json!({"model": "image/strata", "prompt": "a"}));
    assert_eq!(
        (stranger.status, code(&stranger).as_str()),
        (401, "unauthorized")
    );
}

//! Secret parameters: the model receives their values, and they are deleted when the task has ended.
#![cfg(unix)]

mod support;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use support::{Answer, Server, cluster, request};

const MODEL: (&str, &str) = ("text", "own");

const SECRET: &str = "sk-CASE-SECRET-123";

/// A program that writes its key wherever it can, and outputs whether the key is right.
const PROGRAM: &str = r#"#!/bin/sh
input=$(cat)
echo "got $input" >&2
tr '\0' ' ' < /proc/$$/cmdline > 1-arguments.txt
tr '\0' ' ' < /proc/$$/environ > 2-environment.txt
while [ -e "$1" ]; do sleep 0.05; done
case "$input" in
*'"fail"'*) exit 3 ;;
*CASE-SECRET-123*) echo right > 0.txt ;;
*) echo wrong > 0.txt ;;
esac
"#;

fn start(data: &Path) -> Server {
    start_with(data, "secret = true")
}

/// Starts the service with `mark` in the definition of the key parameter.
fn start_with(data: &Path, mark: &str) -> Server {
    let program = data.join("program.sh");
    fs::write(&program, PROGRAM).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o700)).unwrap();
    let models = format!(
        "builtin = false\n[[model]]\ncategory = \"text\"\nsubcategory = \"own\"\nname = \"Own\"\n\
         command = {{ program = {program:?}, arguments = [{:?}] }}\n\
         parameter = [\n\
             {{ name = \"prompt\", type = \"string\", required = true }},\n\
             {{ name = \"api_key\", type = \"string\", required = true, {mark} }},\n\
         ]\n",
        data.join("hold")
    );
    Server::start_with_models(data, &models, &[])
}

fn submit(server: &Server, prompt: &str, key: &str) -> Answer {
    let body = request(MODEL, json!({"prompt": prompt, "api_key": key}));
    let headers = [
        ("authorization", "Bearer t"),
        ("content-type", "application/json"),
        ("idempotency-key", prompt),
    ];
    let body = body.to_string();
    server.call("POST", "/v2/generate", &headers, body.as_bytes())
}

fn task(answer: &Answer) -> Value {
    assert_eq!(answer.status, 200, "{}", answer.text());
    json!({"uid": "me", "category": MODEL.0, "subcategory": MODEL.1, "id": answer.json()["data"]["id"]})
}

/// Returns the files below a folder that contain the secret.
fn files_with_secret(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let path = entry.path();
        if entry.file_type().unwrap().is_dir() {
            found.extend(files_with_secret(&path));
        } else {
            // The file may be removed meanwhile, because its task has ended.
            let bytes = fs::read(&path).unwrap_or_default();
            let has_it = |part: &[u8]| part == SECRET.as_bytes();
            if bytes.windows(SECRET.len()).any(has_it) {
                found.push(path);
            }
        }
    }
    found
}

fn output(server: &Server, task: &Value) -> Vec<String> {
    let reply = server.post("/v2/response", task).json();
    let urls = reply["data"]["output"].as_array().unwrap().clone();
    let text = |url: Value| server.get(url.as_str().unwrap()).text();
    urls.into_iter().map(text).collect()
}

/// Guards against a key that stays in the database, its write-ahead log, an error or the service's log after its task
/// has ended. Also guards against losing the key of a waiting task at a restart.
#[test]
fn secrets_are_deleted_when_their_task_has_ended() {
    let data = tempfile::tempdir().unwrap();
    fs::write(data.path().join("hold"), "").unwrap();
    let mut server = start(data.path());
    let schema = server.get("/api/schema/text/own").json();
    assert_eq!(
        schema["data"]["parameters"]["required"][1]["format"],
        "password"
    );

    let first = submit(&server, "first", SECRET);
    let first_task = task(&first);
    let status = server.await_status(&first_task, |status| status["message"].is_string());
    let progress = status["message"].as_str().unwrap();
    assert!(
        progress.contains("[secret]") && !progress.contains(SECRET),
        "{progress}"
    );
    let in_postgres = cluster::count(data.path(), "secret");
    match in_postgres {
        Some(count) => assert_eq!(count, 1),
        None => assert!(
            !files_with_secret(data.path()).is_empty(),
            "the secret is stored for a restart"
        ),
    }
    server.kill();
    let mut log = server.log();
    let mut server = start(data.path());
    fs::remove_file(data.path().join("hold")).unwrap();
    assert_eq!(server.wait(&first_task)["status"], "completed");
    let files = output(&server, &first_task);
    assert_eq!(files[0], "right\n");
    for (file, what) in files[1..].iter().zip(["program.sh", "ATELIER_TASK"]) {
        assert!(file.contains(what) && !file.contains(SECRET), "{file}");
    }

    let failed = server.wait(&task(&submit(&server, "fail", SECRET)));
    assert_eq!(failed["status"], "failed");
    let error = failed["error"].as_str().unwrap();
    assert!(
        error.contains("[secret]") && !error.contains(SECRET),
        "{error}"
    );

    // A repeated request is recognized by its digest.
    assert_eq!(task(&submit(&server, "first", SECRET)), first_task);
    let other = submit(&server, "first", "sk-other");
    assert_eq!(
        (other.status, other.error()),
        (422, "idempotency_key_reused".into())
    );

    let check_no_secret = || {
        assert_eq!(files_with_secret(data.path()), Vec::<PathBuf>::new());
        assert_eq!(cluster::count(data.path(), "secret").unwrap_or(0), 0);
    };
    check_no_secret();
    log.push_str(&server.log());
    assert!(server.terminate());
    log.push_str(&server.log());
    check_no_secret();
    assert!(!log.contains(SECRET), "{log}");
    assert!(log.contains("accepted"), "{log}");
}

/// Guards against keys that stay in the database because they were stored before their parameter was marked as secret.
#[test]
fn a_start_deletes_the_secrets_of_earlier_tasks() {
    let data = tempfile::tempdir().unwrap();
    let mut server = start_with(data.path(), "description = \"A key.\"");
    let task = task(&submit(&server, "first", SECRET));
    assert_eq!(server.wait(&task)["status"], "completed");
    let in_postgres = || cluster::count(data.path(), "task WHERE input LIKE '%CASE-SECRET%'");
    assert_eq!(in_postgres().unwrap_or(1), 1);
    assert!(server.terminate());
    // The program's outputs may contain the secret.
    std::fs::remove_dir_all(data.path().join("outputs")).ok();
    let found = files_with_secret(data.path());
    // Also in the write-ahead log, if another thread has the database open when the process ends.
    let is_in_sqlite = cluster::database().is_none();
    assert_eq!(!found.is_empty(), is_in_sqlite, "{found:?}");

    let server = start(data.path());
    assert_eq!(files_with_secret(data.path()), Vec::<PathBuf>::new());
    assert_eq!(in_postgres().unwrap_or(0), 0);
    assert_eq!(server.wait(&task)["status"], "completed");
}

/// Guards against a key in the response to an invalid request, which the client may log.
#[test]
fn a_refusal_does_not_contain_a_secret() {
    let data = tempfile::tempdir().unwrap();
    let server = start(data.path());
    let body = request(MODEL, json!({"prompt": "a", "api_key": {"key": SECRET}}));
    let answer = server.post("/v2/generate", &body);
    assert_eq!(answer.error(), "invalid_input");
    assert!(
        answer.text().contains("api_key must be a text"),
        "{}",
        answer.text()
    );
    assert!(!answer.text().contains(SECRET), "{}", answer.text());
}

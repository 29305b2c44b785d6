//! Models that run as programs on this machine.
#![cfg(unix)]

mod support;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use support::{Server, until};
use tempfile::TempDir;

const MODEL: (&str, &str) = ("text", "own");

const PARAMETERS: &str = r#"
[[model.parameter]]
name = "prompt"
type = "string"
required = true

[[model.parameter]]
name = "times"
type = "integer"
default = 2
minimum = 1
maximum = 5

[[model.parameter]]
name = "picture"
type = "file"
"#;

/// Returns a data directory that contains a program, and the text of a models file with this program.
fn folder(script: &str, more: &str) -> (TempDir, String) {
    let data = TempDir::new().unwrap();
    write_program(data.path(), script);
    let models = format!(
        "[[model]]\ncategory = \"text\"\nsubcategory = \"own\"\nname = \"My program\"\n{more}\n\
         command = {{ program = \"program.sh\", arguments = [\"$HOME; *\"] }}\n{PARAMETERS}"
    );
    (data, models)
}

fn write_program(data: &Path, script: &str) {
    let file = data.join("new");
    fs::write(&file, format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o700)).unwrap();
    fs::rename(file, data.join("program.sh")).unwrap();
}

fn await_file(path: &Path) -> String {
    let deadline = Instant::now() + Duration::from_secs(60);
    loop {
        match fs::read_to_string(path) {
            Ok(text) if text.ends_with('\n') => return text.trim().to_owned(),
            _ => assert!(Instant::now() < deadline, "no {}", path.display()),
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn is_running(process: &str) -> bool {
    // A zombie process is not running.
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    let after_name = stat.rsplit(')').next().unwrap_or_default().trim();
    !after_name.is_empty() && !after_name.starts_with('Z')
}

fn await_end_of(process: &str) {
    until("the process has ended", || !is_running(process));
}

#[test]
fn a_program_receives_json_and_its_files_become_outputs() {
    let (data, models) = folder(
        "cat > 1-input.json\nprintf '%s' \"$1\" > 2.txt\necho hidden > .hidden\n\
         printf '\\211PNG\\r\\n' > 3.anything\necho done >&2",
        "makes = \"image\"\npreview = \"https://a.example/p.png\"",
    );
    let server = Server::start_with_models(data.path(), &models, &["--speed", "0"]);
    let list = server.get("/api/models").json();
    assert_eq!(list["count"], 7, "the list includes the procedural models");
    assert_eq!(list["data"][0]["name"], "My program");
    assert_eq!(list["data"][0]["preview"], "https://a.example/p.png");
    assert_eq!(list["data"][0].get("away"), None);

    let picture = server.output(support::STRATA, json!({"prompt": "a"}));
    let urls = server.output(
        MODEL,
        json!({"prompt": "'\"\u{1F98A}", "picture": picture[0]}),
    );
    let endings: Vec<_> = urls
        .iter()
        .map(|url| url.rsplit('/').next().unwrap())
        .collect();
    assert_eq!(
        endings,
        ["0.json", "1.txt", "2.png"],
        "sorted by name, with extensions by content"
    );
    let input = server.get(&urls[0]).json();
    assert_eq!(input["prompt"], "'\"\u{1F98A}");
    assert_eq!(input["times"], 2, "the parameter's default");
    let file = input["picture"].as_str().unwrap();
    assert_eq!(fs::read(file).unwrap(), server.get(&picture[0]).bytes);
    assert_eq!(
        server.get(&urls[1]).text(),
        "$HOME; *",
        "no shell has interpreted the argument"
    );
    assert_eq!(server.get(&urls[1]).header("content-type"), "text/plain");

    for (input, problem) in [
        (
            json!({"prompt": "a", "times": 6}),
            "times must be between 1 and 5, not 6",
        ),
        (json!({}), "prompt is required"),
        (
            json!({"prompt": "a", "picture": "/etc/passwd"}),
            "picture must be the address of a file",
        ),
        (
            json!({"prompt": "a", "picture": "http://127.0.0.1:1/"}),
            "picture must be",
        ),
    ] {
        let answer = server.post("/v2/generate", &support::request(MODEL, input));
        assert_eq!(answer.error(), "invalid_input");
        assert!(answer.text().contains(problem), "{}", answer.text());
    }
    // The same pages and files as for built-in models.
    for path in [
        "/api/schema",
        "/api/openai-function",
        "/api/comfyui-node",
        "/api/docs",
        "/api/mcp",
    ] {
        let answer = server.get(&format!("{path}/text/own"));
        assert_eq!(answer.status, 200, "{path}");
        assert!(answer.text().contains("prompt"), "{path}");
    }
    let pack = server.get("/api/comfyui-nodes.zip");
    assert_eq!(pack.status, 200);
    assert!(server.get("/api/openapi.json").text().contains("text/own"));
    assert_eq!(
        fs::read_dir(data.path().join("work")).unwrap().count(),
        0,
        "the working directories are removed"
    );
}

/// Guards against passing on the service's secrets in the environment: the database's address, the bucket's keys and the
/// keys of other models.
#[test]
fn a_program_inherits_only_permitted_environment_variables() {
    let (data, models) = folder("env > out.txt", "");
    let models = models.replace(
        "arguments = ",
        "environment = [\"MEANT_FOR_IT\", \"NOT_SET\"], arguments = ",
    );
    let models = format!(
        "{models}\n[[model]]\ncategory = \"image\"\nsubcategory = \"paid\"\nname = \"Paid\"\n\
         [model.openai]\naddress = \"http://127.0.0.1:1\"\nkey_env = \"STUDIO_KEY\"\n"
    );
    let file = data.path().join("models.toml");
    fs::write(&file, models).unwrap();
    let mut command = Command::new(support::program());
    command
        .args(["--listen", "127.0.0.1:0", "--data"])
        .arg(data.path())
        .arg("--models")
        .arg(file)
        .args(support::cluster::storage_options(data.path(), &[]))
        .env("MEANT_FOR_IT", "model weights")
        .env("LANG", "C");
    let secrets = [
        "STUDIO_KEY",
        "AWS_SESSION_TOKEN",
        "ATELIER_METRICS_TOKEN",
        "SOME_OTHER",
    ];
    for name in secrets {
        command.env(name, "s3cret");
    }
    let server = Server::run(command);
    let urls = server.output(MODEL, json!({"prompt": "a"}));
    let text = server.get(&urls[0]).text();
    // The values are not printed: they may be those of the user who runs the tests.
    assert!(!text.contains("s3cret"));
    let names: Vec<&str> = text
        .lines()
        .filter_map(|line| Some(line.split_once('=')?.0))
        .collect();
    for name in ["PATH", "LANG", "MEANT_FOR_IT", "ATELIER_TASK"] {
        assert!(names.contains(&name), "{name} of {names:?}");
    }
    // Shells may set the last four themselves.
    let known = [
        "PATH",
        "HOME",
        "LANG",
        "TMPDIR",
        "MEANT_FOR_IT",
        "ATELIER_TASK",
        "PWD",
        "OLDPWD",
        "SHLVL",
        "_",
    ];
    assert!(names.iter().all(|name| known.contains(name)), "{names:?}");
}

/// Guards against a program that reads the service's environment in `/proc`. Root can always do that.
#[cfg(target_os = "linux")]
#[test]
fn a_program_cannot_read_the_environment_of_the_service() {
    let (data, models) = folder(
        "cat /proc/$PPID/environ > /dev/null 2>&1; echo \"$? $(id -u)\" > out.txt",
        "",
    );
    let server = Server::start_with_models(data.path(), &models, &[]);
    let urls = server.output(MODEL, json!({"prompt": "a"}));
    let text = server.get(&urls[0]).text();
    let (status, user) = text.trim().split_once(' ').unwrap();
    assert!(status != "0" || user == "0", "{text}");
}

/// Guards against output that stops the reports, or the program.
#[test]
fn unusable_progress_lines_do_no_harm() {
    let (data, models) = folder(
        "for line in 'progress' 'progress NaN' 'progress 1.5' 'progress -1' 'progress 1e999' 'progress 0,5'; do\n\
         echo \"$line\" >&2; done\n\
         head -c 300000 /dev/zero | tr '\\0' 'x' >&2; echo >&2\n\
         head -c 5000 /dev/urandom >&2; echo >&2\nprintf 'progress 0.1 a\\0b\\377\\n' >&2\n\
         i=0; while [ $i -lt 20000 ]; do echo \"progress 0.$i\"; i=$((i+1)); done >&2\n\
         echo 'progress 0.25 quarter' >&2\nwhile [ -d \"$PWD\" ] && [ ! -e ../../go ]; do sleep 0.02; done\necho hello > a.txt",
        "",
    );
    let server = Server::start_with_models(data.path(), &models, &[]);
    let task = server.generate(MODEL, json!({"prompt": "a"}));
    let quarter = server.await_status(&task, |status| {
        let progress = &status["progress"];
        assert!(
            progress.is_null() || (0.0..=1.0).contains(&progress.as_f64().unwrap()),
            "{status}"
        );
        let message = status["message"].as_str().unwrap_or_default();
        assert!(message.chars().count() <= 2000, "{message}");
        message == "quarter"
    });
    assert_eq!(quarter["progress"], 0.25);
    fs::write(data.path().join("go"), "").unwrap();
    let ended = server.wait(&task);
    assert_eq!(ended, json!({"id": task["id"], "status": "completed"}));
}

#[test]
fn progress_and_errors_of_a_program_are_reported() {
    let (data, models) = folder(
        "echo 'progress 0.5' >&2\necho 'half done' >&2\nwhile [ -d \"$PWD\" ] && [ ! -e ../../go ]; do sleep 0.02; done\n\
         echo 'the paint has run out' >&2\nexit 3",
        "",
    );
    let server = Server::start_with_models(data.path(), &models, &[]);
    let task = server.generate(MODEL, json!({"prompt": "a"}));
    let half = server.await_status(&task, |status| status["message"] == "half done");
    assert_eq!(half["progress"], 0.5);
    assert_eq!(server.get("/api/models").json()["progress"], true);
    fs::write(data.path().join("go"), "").unwrap();
    let ended = server.wait(&task);
    assert_eq!(ended["status"], "failed");
    let error = ended["error"].as_str().unwrap();
    assert!(
        error.contains("exit status: 3")
            && error.contains("the paint has run out")
            && !error.contains("progress 0.5"),
        "{error}"
    );
}

#[test]
fn the_time_limit_kills_all_processes_of_a_program() {
    let (data, models) = folder(
        "sleep 600 &\necho $! > ../../grandchild\nwait",
        "time_limit = \"1s\"",
    );
    let server = Server::start_with_models(data.path(), &models, &[]);
    let ended = server.wait(&server.generate(MODEL, json!({"prompt": "a"})));
    assert!(
        ended["error"].as_str().unwrap().contains("time limit"),
        "{ended}"
    );
    await_end_of(&await_file(&data.path().join("grandchild")));
}

#[test]
fn after_a_kill_leftover_processes_are_killed_and_the_task_restarts() {
    let (data, models) = folder(
        "sleep 600 &\necho $! > ../../child\necho $$ >> ../../processes\n\
         while [ -d \"$PWD\" ] && [ ! -e ../../go ]; do sleep 0.02; done\ncat > out.json",
        "",
    );
    let mut server = Server::start_with_models(data.path(), &models, &[]);
    let task = server.generate(MODEL, json!({"prompt": "a"}));
    let first = await_file(&data.path().join("processes"));
    let child = await_file(&data.path().join("child"));
    server.kill();
    assert!(
        is_running(&first),
        "the program outlives the killed service"
    );
    let server = Server::start_with_models(data.path(), &models, &[]);
    await_end_of(&first);
    await_end_of(&child);
    fs::write(data.path().join("go"), "").unwrap();
    assert_eq!(server.wait(&task)["status"], "completed");
    let processes = fs::read_to_string(data.path().join("processes")).unwrap();
    assert_eq!(processes.lines().count(), 2);
}

#[test]
fn a_stop_request_kills_the_program_and_the_task_is_resumed_later() {
    let (data, models) = folder(
        "sleep 600 &\necho $! > ../../child\necho $$ >> ../../processes\n\
         while [ -d \"$PWD\" ] && [ ! -e ../../go ]; do sleep 0.02; done\ncat > out.json",
        "",
    );
    let mut server = Server::start_with_models(data.path(), &models, &[]);
    let task = server.generate(MODEL, json!({"prompt": "a"}));
    let first = await_file(&data.path().join("processes"));
    let child = await_file(&data.path().join("child"));
    assert!(server.terminate());
    assert!(!is_running(&first));
    await_end_of(&child);
    fs::write(data.path().join("go"), "").unwrap();
    let server = Server::start_with_models(data.path(), &models, &[]);
    assert_eq!(server.wait(&task)["status"], "completed");
}

#[test]
fn while_the_program_is_missing_its_tasks_wait_and_others_do_not() {
    let (data, models) = folder("cat > out.json", "");
    fs::remove_file(data.path().join("program.sh")).unwrap();
    let server = Server::start_with_models(data.path(), &models, &["--speed", "0"]);
    server.await_model(MODEL, |entry| entry["away"].is_string());
    let task = server.generate(MODEL, json!({"prompt": "a"}));
    server.await_log("trying again");
    assert_eq!(
        server.post("/v2/status", &task).json()["data"]["status"],
        "processing"
    );
    server.output(support::STRATA, json!({"prompt": "a"}));
    write_program(data.path(), "cat > out.json");
    assert_eq!(server.wait(&task)["status"], "completed");
    server.await_model(MODEL, |entry| entry.get("away").is_none());
}

#[test]
fn concurrent_tasks_stay_within_the_limit() {
    let (data, models) = folder(
        "echo x >> ../../begun\nwhile [ -d \"$PWD\" ] && [ ! -e ../../go ]; do sleep 0.02; done\ncat > out.json",
        "at_once = 2",
    );
    let models = format!("builtin = false\n{models}");
    let server = Server::start_with_models(data.path(), &models, &[]);
    assert_eq!(
        server.get("/api/models").json()["count"],
        1,
        "without the procedural models"
    );
    let requests: Vec<Value> = (0..5)
        .map(|n| support::request(MODEL, json!({"prompt": n.to_string()})))
        .collect();
    let reply = server
        .post("/v2/generate-batch", &json!({"requests": requests}))
        .json();
    let begun = data.path().join("begun");
    let count = || {
        fs::read_to_string(&begun)
            .unwrap_or_default()
            .lines()
            .count()
    };
    until("two tasks run", || count() >= 2);
    std::thread::sleep(Duration::from_millis(300));
    assert_eq!(count(), 2);
    fs::write(data.path().join("go"), "").unwrap();
    for entry in reply["data"]["results"].as_array().unwrap() {
        let mut task = support::request(MODEL, json!({}));
        task["id"] = entry["body"]["data"]["id"].clone();
        assert_eq!(server.wait(&task)["status"], "completed");
    }
}

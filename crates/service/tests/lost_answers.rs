//! The outcomes of tasks when a response is lost or the service is killed: one test for each moment, with a model of each
//! kind. They correspond to the rows of the table "When an answer is lost" in `docs/service.md`.
#![cfg(target_os = "linux")]

mod support;
#[path = "lost_answers/upstreams.rs"]
mod upstreams;

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use support::small_disk::SmallDisk;
use support::small_server::{SmallServer, json_response};
use support::{Server, until};
use tempfile::TempDir;
use upstreams::Upstreams;

const OPENAI: (&str, &str) = ("image", "openai");
const COMFYUI: (&str, &str) = ("image", "comfyui");
const COG: (&str, &str) = ("image", "cog");
const COMMAND: (&str, &str) = ("image", "command");
const ALL: [(&str, &str); 4] = [OPENAI, COMFYUI, COG, COMMAND];

const GENERATIONS: &str = "/v1/images/generations";

fn generate_all(service: &Server) -> Vec<Value> {
    let generate = |model| service.generate(model, json!({"prompt": "a"}));
    ALL.map(generate).into()
}

/// Waits for the tasks of the four kinds. Returns the status of each, and how often it was sent.
fn ends(upstreams: &Upstreams, service: &Server, tasks: &[Value]) -> Vec<(String, usize)> {
    let end = |task: &Value| {
        let status = service.wait(task)["status"].as_str().unwrap().to_owned();
        (status, upstreams.times_sent(task))
    };
    tasks.iter().map(end).collect()
}

fn expected(ends: [(&str, usize); 4]) -> Vec<(String, usize)> {
    ends.map(|(status, times_sent)| (status.to_owned(), times_sent))
        .into()
}

/// Row "the answer is lost".
#[test]
fn an_answer_is_lost() {
    let upstreams = Upstreams::new();
    let data = TempDir::new().unwrap();
    let service = upstreams.start(data.path(), &data.path().join("outputs"));
    let mut outcomes = Vec::new();
    for model in ALL {
        upstreams.break_next();
        let task = service.generate(model, json!({"prompt": "a"}));
        upstreams.await_sent(std::slice::from_ref(&task));
        upstreams.answer();
        outcomes.extend(ends(&upstreams, &service, &[task]));
    }
    let wanted = [
        ("failed", 1),
        ("completed", 1),
        ("completed", 2),
        ("failed", 1),
    ];
    assert_eq!(outcomes, expected(wanted));
}

/// Row "killed before sending": another task has the only slot of its model.
#[test]
fn killed_before_sending() {
    let upstreams = Upstreams::new();
    let data = TempDir::new().unwrap();
    let outputs = data.path().join("outputs");
    let mut service = upstreams.start(data.path(), &outputs);
    let first = generate_all(&service);
    upstreams.await_sent(&first);
    let tasks = generate_all(&service);
    service.kill();
    upstreams.answer();
    let service = upstreams.start(data.path(), &outputs);
    let wanted = [
        ("completed", 1),
        ("completed", 1),
        ("completed", 1),
        ("completed", 1),
    ];
    assert_eq!(ends(&upstreams, &service, &tasks), expected(wanted));
}

/// Row "killed after sending".
#[test]
fn killed_after_sending() {
    let upstreams = Upstreams::new();
    let data = TempDir::new().unwrap();
    let outputs = data.path().join("outputs");
    let mut service = upstreams.start(data.path(), &outputs);
    let tasks = generate_all(&service);
    upstreams.await_sent(&tasks);
    service.kill();
    upstreams.answer();
    let service = upstreams.start(data.path(), &outputs);
    let wanted = [
        ("failed", 1),
        ("completed", 1),
        ("completed", 2),
        ("completed", 2),
    ];
    assert_eq!(ends(&upstreams, &service, &tasks), expected(wanted));
    let lost = service.wait(&tasks[0])["error"]
        .as_str()
        .unwrap()
        .to_owned();
    assert!(lost.contains("may have been made and paid"), "{lost}");
}

/// Row "killed after the answer": there is no space for the files. Guards against a paid response that is only in
/// memory.
#[test]
fn killed_after_the_answer() {
    let Some(disk) = SmallDisk::mount("killed_after_the_answer", 8) else {
        return;
    };
    let upstreams = Upstreams::new();
    let data = TempDir::new().unwrap();
    let outputs = disk.path().join("outputs");
    let mut service = upstreams.start(data.path(), &outputs);
    let tasks = generate_all(&service);
    upstreams.await_sent(&tasks);
    disk.fill();
    upstreams.answer();
    for task in &tasks {
        let id = task["id"].as_str().unwrap();
        service.await_log(&format!("task {id:.8}…: can't save the result"));
    }
    service.kill();
    disk.empty();
    let service = upstreams.start(data.path(), &outputs);
    let wanted = [
        ("completed", 1),
        ("completed", 1),
        ("completed", 2),
        ("completed", 2),
    ];
    assert_eq!(ends(&upstreams, &service, &tasks), expected(wanted));
}

/// A service whose data is on a full disk and whose outputs are on another disk: files are saved, but the database
/// can't be written.
struct FilesWritten {
    upstreams: Upstreams,
    outputs: TempDir,
    disk: SmallDisk,
    data: PathBuf,
    service: Server,
    tasks: Vec<Value>,
}

fn files_written(test: &str) -> Option<FilesWritten> {
    let disk = SmallDisk::mount(test, 8)?;
    let upstreams = Upstreams::new();
    let outputs = TempDir::new().unwrap();
    let data = disk.path().join("data");
    let service = upstreams.start(&data, outputs.path());
    let tasks = generate_all(&service);
    upstreams.await_sent(&tasks);
    disk.fill();
    upstreams.answer();
    for task in &tasks {
        let id = task["id"].as_str().unwrap();
        until("its files", || outputs.path().join(id).exists());
    }
    Some(FilesWritten {
        upstreams,
        outputs,
        disk,
        data,
        service,
        tasks,
    })
}

const ONCE: [(&str, usize); 4] = [
    ("completed", 1),
    ("completed", 1),
    ("completed", 1),
    ("completed", 1),
];

/// Row "killed after the files are written". Guards against a paid task that fails although its files
/// exist.
#[test]
fn killed_after_the_files_are_written() {
    let Some(mut state) = files_written("killed_after_the_files_are_written") else {
        return;
    };
    state.service.kill();
    state.disk.empty();
    let service = state.upstreams.start(&state.data, state.outputs.path());
    let ended = ends(&state.upstreams, &service, &state.tasks);
    assert_eq!(ended, expected(ONCE));
}

/// Guards against repeating or failing a task because its end could not be stored.
#[test]
fn the_end_of_a_task_is_written_when_the_database_works_again() {
    let Some(state) = files_written("the_end_of_a_task_is_written_when_the_database_works_again")
    else {
        return;
    };
    state.service.await_log("disk is full");
    state.disk.empty();
    let ended = ends(&state.upstreams, &state.service, &state.tasks);
    assert_eq!(ended, expected(ONCE));
}

/// Guards against losing a paid file because the service stops or is killed while it fetches the file.
#[test]
fn a_download_interrupted_by_a_stop_or_kill_is_repeated() {
    for is_killed in [true, false] {
        let has_file = Arc::new(Mutex::new(false));
        let shared = has_file.clone();
        let server = SmallServer::start(move |request| match request.path.as_str() {
            "/a.png" if *shared.lock().unwrap() => {
                Some((200, "image/png", b"\x89PNG\r\n\x1a\n".to_vec()))
            }
            "/a.png" => json_response(503, json!({})),
            // The address is on this server.
            _ => json_response(
                200,
                json!({"data": [{"url": format!("http://{}/a.png", request.header("host"))}]}),
            ),
        });
        let data = TempDir::new().unwrap();
        let models = format!(
            "[[model]]\ncategory = \"image\"\nsubcategory = \"openai\"\nname = \"M\"\n\
             [model.openai]\naddress = \"{}/v1\"\n",
            server.url()
        );
        let mut service = Server::start_with_models(data.path(), &models, &["--speed", "0"]);
        let task = service.generate(OPENAI, json!({"prompt": "a"}));
        until("the file is fetched", || {
            !server.requests("/a.png").is_empty()
        });
        if is_killed {
            service.kill();
        } else {
            assert!(service.terminate());
        }
        *has_file.lock().unwrap() = true;
        let service = Server::start_with_models(data.path(), &models, &["--speed", "0"]);
        assert_eq!(service.wait(&task)["status"], "completed");
        assert_eq!(server.requests(GENERATIONS).len(), 1);
    }
}

//! Tasks of remote models are stopped where they run.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tempfile::TempDir;

use super::support::small_server::{Request, Response, SmallServer, json_response};
use super::support::{Server, until};
use super::{cancel, canceled};

const MODEL: (&str, &str) = ("image", "m");

/// Returns a models file with this runner.
fn models(runner: &str) -> String {
    format!(
        "[[model]]\ncategory = \"image\"\nsubcategory = \"m\"\nname = \"M\"\nat_once = 1\n{runner}\n"
    )
}

fn generate(service: &Server) -> Value {
    service.generate(MODEL, json!({"prompt": "a"}))
}

/// Returns a data directory with a program, and its models file.
fn program(script: &str) -> (TempDir, String) {
    let data = TempDir::new().unwrap();
    let file = data.path().join("program.sh");
    fs::write(&file, format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o700)).unwrap();
    let models = models(&format!(
        "command = {{ program = {file:?} }}\n[[model.parameter]]\nname = \"prompt\"\ntype = \"string\""
    ));
    (data, models)
}

/// Waits for a file with process ids, which ends with a line break.
fn await_lines(file: &Path, count: usize) -> Vec<String> {
    let lines = || -> Vec<String> {
        let text = fs::read_to_string(file).unwrap_or_default();
        let complete = text.rsplit_once('\n').map_or("", |(complete, _)| complete);
        complete.lines().map(str::to_owned).collect()
    };
    until("the program writes its file", || lines().len() >= count);
    lines()
}

fn is_running(process: &str) -> bool {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    let after_name = stat.rsplit(')').next().unwrap_or_default().trim();
    !after_name.is_empty() && !after_name.starts_with('Z')
}

/// Guards against child processes that continue, and against programs that can't clean up.
#[cfg(target_os = "linux")]
#[test]
fn the_process_group_of_a_program_gets_sigterm_and_then_sigkill() {
    // The first child ignores SIGTERM, and the second one has no handler. The program itself reports the signal.
    let (data, models) = program(
        "folder=$(dirname $0)\n\
         trap 'echo term >> $folder/signals; exit 0' TERM\n\
         sh -c 'trap \"\" TERM; echo $$ >> $0/pids; while [ -d $0 ]; do sleep 0.05; done' $folder &\n\
         sh -c 'echo $$ >> $0/pids; while [ -d $0 ]; do sleep 0.05; done' $folder &\n\
         echo $$ >> $folder/pids\n\
         while [ -d $folder ]; do sleep 0.05; done",
    );
    let service = Server::start_with_models(data.path(), &models, &["--speed", "0"]);
    let task = generate(&service);
    let waiting = generate(&service);
    let processes = await_lines(&data.path().join("pids"), 3);
    assert_eq!(cancel(&service, &waiting), canceled(&waiting));
    assert_eq!(cancel(&service, &task), canceled(&task));
    for process in &processes {
        until("the process has ended", || !is_running(process));
    }
    assert_eq!(await_lines(&data.path().join("signals"), 1), ["term"]);
    let work: PathBuf = data.path().join("work").join(task["id"].as_str().unwrap());
    until("the working directory is removed", || !work.exists());
    // The model is free for the next task.
    let next = generate(&service);
    await_lines(&data.path().join("pids"), 6);
    assert_eq!(cancel(&service, &next), canceled(&next));
}

/// A cog container whose predictions run until they are canceled.
struct Cog {
    server: SmallServer,
    /// Whether requests to cancel fail.
    refuses_to_cancel: Arc<AtomicBool>,
    /// The paths of the predictions that run.
    running: Arc<Mutex<Vec<String>>>,
}

impl Cog {
    fn start() -> Self {
        let refuses_to_cancel = Arc::new(AtomicBool::new(false));
        let running: Arc<Mutex<Vec<String>>> = Arc::default();
        let (refuses, shared) = (refuses_to_cancel.clone(), running.clone());
        let server = SmallServer::start(move |request| {
            if let Some(path) = request.path.strip_suffix("/cancel") {
                if refuses.load(Ordering::Relaxed) {
                    return json_response(500, json!({"detail": "not now"}));
                }
                let mut running = shared.lock().unwrap();
                let count = running.len();
                running.retain(|known| known != path);
                return json_response(if running.len() < count { 200 } else { 404 }, json!({}));
            }
            if !request.path.starts_with("/predictions/") {
                return match request.path.as_str() {
                    "/health-check" => json_response(200, json!({"status": "READY"})),
                    _ => json_response(
                        200,
                        json!({"components": {"schemas": {"Input": {"properties": {
                            "prompt": {"type": "string"}}}}}}),
                    ),
                };
            }
            shared.lock().unwrap().push(request.path.clone());
            while shared.lock().unwrap().contains(&request.path) {
                std::thread::sleep(std::time::Duration::from_millis(10));
            }
            json_response(200, json!({"status": "canceled"}))
        });
        Self {
            server,
            refuses_to_cancel,
            running,
        }
    }

    fn path(task: &Value) -> String {
        format!("/predictions/{}", task["id"].as_str().unwrap())
    }

    fn await_running(&self, task: &Value) {
        until("the prediction runs", || {
            self.running.lock().unwrap().contains(&Self::path(task))
        });
    }

    /// Returns how often the task was sent and canceled.
    fn counts(&self, task: &Value) -> (usize, usize) {
        let path = Self::path(task);
        (
            self.server.requests(&path).len(),
            self.server.requests(&format!("{path}/cancel")).len(),
        )
    }

    fn models(&self) -> String {
        models(&format!("[model.cog]\naddress = \"{}\"", self.server.url()))
    }
}

#[test]
fn a_prediction_is_canceled_in_its_container_and_not_retried() {
    let cog = Cog::start();
    let data = TempDir::new().unwrap();
    let service = Server::start_with_models(data.path(), &cog.models(), &[]);
    let task = generate(&service);
    cog.await_running(&task);
    assert_eq!(cancel(&service, &task), canceled(&task));
    until("it is canceled", || cog.counts(&task).1 >= 1);
    // The container runs the next task.
    let next = generate(&service);
    cog.await_running(&next);
    assert_eq!(cog.counts(&task), (1, 1));
    assert_eq!(cancel(&service, &next), canceled(&next));
}

/// Guards against predictions that run on because the service was killed before it could stop them.
#[test]
fn a_prediction_is_stopped_after_a_kill_between_cancel_and_stop() {
    let cog = Cog::start();
    let data = TempDir::new().unwrap();
    let mut service = Server::start_with_models(data.path(), &cog.models(), &[]);
    let task = generate(&service);
    cog.await_running(&task);
    cog.refuses_to_cancel.store(true, Ordering::Relaxed);
    assert_eq!(cancel(&service, &task), canceled(&task));
    until("the container is called", || cog.counts(&task).1 >= 1);
    service.kill();
    let before = cog.counts(&task).1;
    cog.refuses_to_cancel.store(false, Ordering::Relaxed);

    let service = Server::start_with_models(data.path(), &cog.models(), &[]);
    until("it is canceled", || cog.counts(&task).1 > before);
    let next = generate(&service);
    cog.await_running(&next);
    assert_eq!(cog.counts(&task).0, 1, "the task is not sent again");
    let status = service.post("/v2/status", &task).json();
    assert_eq!(status["data"], canceled(&task));
    assert_eq!(cancel(&service, &next), canceled(&next));
}

/// Guards against canceled tasks that are stopped only when their model is free for their next attempt.
#[test]
fn a_task_between_two_attempts_is_stopped() {
    let sent = Arc::new(AtomicBool::new(false));
    let shared = sent.clone();
    let server = SmallServer::start(move |request| match request.path.as_str() {
        "/health-check" => json_response(200, json!({"status": "READY"})),
        "/openapi.json" => json_response(
            200,
            json!({"components": {"schemas": {"Input": {"properties": {
                "prompt": {"type": "string"}}}}}}),
        ),
        path if path.ends_with("/cancel") => json_response(200, json!({})),
        _ if shared.swap(true, Ordering::Relaxed) => json_response(409, json!({"detail": "busy"})),
        _ => None,
    });
    let data = TempDir::new().unwrap();
    let runner = format!("[model.cog]\naddress = \"{}\"", server.url());
    let service = Server::start_with_models(data.path(), &models(&runner), &[]);
    let task = generate(&service);
    service.await_log("trying again");
    assert_eq!(cancel(&service, &task), canceled(&task));
    let path = format!("{}/cancel", Cog::path(&task));
    until("it is canceled", || !server.requests(&path).is_empty());
}

/// ComfyUI with one running prompt and a queue.
#[derive(Default)]
struct Comfy {
    running: Vec<Value>,
    pending: Vec<Value>,
    interrupts: Vec<Value>,
    ended: Vec<Value>,
    /// Whether a prompt that is interrupted is still running when the queue is read next.
    ends_later: bool,
    is_ending: bool,
    /// Whether it chooses the prompts' ids, as older versions do.
    chooses_ids: bool,
}

fn comfyui(chooses_ids: bool) -> (SmallServer, Arc<Mutex<Comfy>>) {
    let state = Arc::new(Mutex::new(Comfy {
        chooses_ids,
        ..Comfy::default()
    }));
    let shared = state.clone();
    let server = SmallServer::start(move |request| answer(request, &mut shared.lock().unwrap()));
    (server, state)
}

fn answer(request: &Request, state: &mut Comfy) -> Response {
    let body = request.json();
    match request.path.as_str() {
        "/queue" if request.method == "POST" => {
            let deleted = body["delete"].as_array().unwrap();
            state.pending.retain(|item| !deleted.contains(&item[1]));
            json_response(200, json!({}))
        }
        "/queue" => {
            let queue = json!({"queue_running": state.running, "queue_pending": state.pending});
            if state.is_ending {
                state.ended.append(&mut state.running);
            }
            json_response(200, queue)
        }
        "/interrupt" => {
            state.interrupts.push(body["prompt_id"].clone());
            match state.ends_later {
                true => state.is_ending = true,
                false => state.ended.append(&mut state.running),
            }
            json_response(200, json!({}))
        }
        "/history" => {
            let entries = state.ended.iter();
            let entries = entries.map(|item| (item[1].as_str().unwrap(), json!({"prompt": item})));
            json_response(200, entries.collect())
        }
        "/prompt" => {
            let id = match state.chooses_ids {
                true => json!(format!("own-{}", state.pending.len())),
                false => body["prompt_id"].clone(),
            };
            let item = json!([1, id, body["prompt"], {"client_id": body["client_id"]}, []]);
            state.pending.push(item);
            json_response(200, json!({"prompt_id": id}))
        }
        _ => json_response(200, json!({})),
    }
}

/// Starts a service with a model of this ComfyUI.
fn service_of(server: &SmallServer, data: &TempDir) -> Server {
    let graph = json!({"6": {"class_type": "CLIPTextEncode", "inputs": {"text": ""}}});
    fs::write(data.path().join("flow.json"), graph.to_string()).unwrap();
    let runner = format!(
        "[model.comfyui]\naddress = \"{}\"\nworkflow = \"flow.json\"\n\
         [[model.parameter]]\nname = \"prompt\"\ntype = \"string\"\ninput = \"6.text\"",
        server.url()
    );
    Server::start_with_models(data.path(), &models(&runner), &[])
}

/// Guards against a canceled task that the service looks for again and again, because its prompt has another id.
#[test]
fn a_prompt_with_an_id_of_comfyui_is_found_among_the_ended_ones() {
    let (server, state) = comfyui(true);
    state.lock().unwrap().ends_later = true;
    let data = TempDir::new().unwrap();
    let service = service_of(&server, &data);
    let task = generate(&service);
    until("the prompt is queued", || {
        !state.lock().unwrap().pending.is_empty()
    });
    {
        let mut state = state.lock().unwrap();
        state.running = std::mem::take(&mut state.pending);
    }
    // The attempt has also looked for an earlier prompt.
    let count = || server.requests("/history").len();
    let before = count();
    assert_eq!(cancel(&service, &task), canceled(&task));
    until("the ended prompts are read", || count() > before);
    assert_eq!(state.lock().unwrap().interrupts, ["own-0"]);
}

#[test]
fn a_prompt_is_deleted_from_the_queue_or_interrupted_if_it_is_ours() {
    for chooses_ids in [false, true] {
        let (server, state) = comfyui(chooses_ids);
        let data = TempDir::new().unwrap();
        let service = service_of(&server, &data);
        let foreign = json!([0, "foreign", {}, {"client_id": "someone"}, []]);
        state.lock().unwrap().running.push(foreign.clone());
        let pending_count = || state.lock().unwrap().pending.len();

        let task = generate(&service);
        until("the prompt is queued", || pending_count() == 1);
        assert_eq!(cancel(&service, &task), canceled(&task));
        until("it is deleted from the queue", || pending_count() == 0);
        let next = generate(&service);
        until("the next prompt is queued", || pending_count() == 1);
        {
            let state = state.lock().unwrap();
            assert_eq!(state.interrupts, Vec::<Value>::new());
            assert_eq!(state.running, [foreign], "another client's prompt runs on");
        }

        let id = {
            let mut state = state.lock().unwrap();
            state.running = std::mem::take(&mut state.pending);
            state.running[0][1].clone()
        };
        assert_eq!(cancel(&service, &next), canceled(&next));
        until("it is interrupted", || {
            state.lock().unwrap().running.is_empty()
        });
        assert_eq!(state.lock().unwrap().interrupts, [id]);
        // The canceled prompts are not sent again.
        let last = generate(&service);
        until("the last prompt is queued", || pending_count() == 1);
        assert_eq!(server.requests("/prompt").len(), 3);
        cancel(&service, &last);
    }
}

/// Guards against losing a result that is paid for.
#[test]
fn a_task_that_was_sent_to_a_paid_server_continues() {
    const GENERATIONS: &str = "/v1/images/generations";
    let answers = Arc::new(AtomicBool::new(false));
    let shared = answers.clone();
    let server = SmallServer::start(move |request| {
        while request.path == GENERATIONS && !shared.load(Ordering::Relaxed) {
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        json_response(200, json!({"data": [{"b64_json": "iVBORw0KGgo="}]}))
    });
    let data = TempDir::new().unwrap();
    let runner = format!("[model.openai]\naddress = \"{}/v1\"", server.url());
    let service = Server::start_with_models(data.path(), &models(&runner), &[]);
    let sent = generate(&service);
    until("the task is sent", || {
        server.requests(GENERATIONS).len() == 1
    });
    let waiting = generate(&service);
    assert_eq!(cancel(&service, &waiting), canceled(&waiting));
    for _ in 0..2 {
        let reply = cancel(&service, &sent);
        assert_eq!(
            (&reply["status"], &reply["canceled"]),
            (&json!("processing"), &json!(false))
        );
        let message = reply["message"].as_str().unwrap();
        assert!(message.contains("can't cancel it"), "{message}");
    }
    answers.store(true, Ordering::Relaxed);
    assert_eq!(service.output_of(&sent).len(), 1);
    assert_eq!(cancel(&service, &sent)["status"], "completed");
    let next = generate(&service);
    service.output_of(&next);
    assert_eq!(
        server.requests(GENERATIONS).len(),
        2,
        "the canceled task was never sent"
    );
}

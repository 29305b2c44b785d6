//! What becomes of a task when its answer is lost, or the service is killed: one test for each moment, with a
//! model of each kind. The table "When an answer is lost" in `docs/service.md` names them.
#![cfg(target_os = "linux")]

mod support;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use support::Server;
use support::small_disk::SmallDisk;
use support::small_server::{Asked, Said, SmallServer, json as said};
use tempfile::TempDir;

const OPENAI: (&str, &str) = ("image", "openai");
const COMFYUI: (&str, &str) = ("image", "comfyui");
const COG: (&str, &str) = ("image", "cog");
const COMMAND: (&str, &str) = ("image", "command");
const ALL: [(&str, &str); 4] = [OPENAI, COMFYUI, COG, COMMAND];

const GENERATIONS: &str = "/v1/images/generations";
const PNG: &str = "data:image/png;base64,iVBORw0KGgo=";

/// One server that plays the upstream of each kind, and the folder of the program.
struct Upstreams {
    folder: TempDir,
    server: SmallServer,
    state: Arc<Mutex<State>>,
}

/// What the server is told, and what it remembers.
#[derive(Default)]
struct State {
    /// Orders are answered; before, they wait.
    answers: bool,
    /// The connection of the next order breaks after it was accepted.
    breaks: bool,
    /// The prompts of ComfyUI.
    prompts: Vec<String>,
}

impl Upstreams {
    fn new() -> Self {
        let state = Arc::new(Mutex::new(State::default()));
        let shared = state.clone();
        let upstreams = Self {
            folder: TempDir::new().unwrap(),
            server: SmallServer::start(move |asked| answer(asked, &shared)),
            state,
        };
        upstreams.write_program();
        upstreams
    }

    /// It makes its file, notes its task, and waits for the file `go`; the file `break` makes it kill itself.
    fn write_program(&self) {
        let folder = self.folder.path().display();
        let script = format!(
            "#!/bin/sh\necho done > 0.txt\necho $ATELIER_TASK >> {folder}/journal\n[ -e {folder}/break ] && kill -9 $$\n\
             while [ ! -e {folder}/go ]; do sleep 0.02; done\n"
        );
        let program = self.folder.path().join("program.sh");
        fs::write(&program, script).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o700)).unwrap();
        fs::write(self.folder.path().join("journal"), "").unwrap();
        let graph = json!({"6": {"class_type": "CLIPTextEncode", "inputs": {"text": ""}}});
        fs::write(self.folder.path().join("flow.json"), graph.to_string()).unwrap();
    }

    fn models(&self) -> String {
        let (url, folder) = (self.server.url(), self.folder.path().display());
        let head = |model: (&str, &str)| {
            format!(
                "[[model]]\ncategory = \"{}\"\nsubcategory = \"{}\"\nname = \"M\"\nat_once = 1\n",
                model.0, model.1
            )
        };
        let prompt = "[[model.parameter]]\nname = \"prompt\"\ntype = \"string\"\n";
        [
            format!("{}[model.openai]\naddress = \"{url}/v1\"\n", head(OPENAI)),
            format!(
                "{}[model.comfyui]\naddress = \"{url}\"\nworkflow = \"{folder}/flow.json\"\n\
                 {prompt}input = \"6.text\"\n",
                head(COMFYUI)
            ),
            format!("{}[model.cog]\naddress = \"{url}\"\n", head(COG)),
            format!(
                "{}[model.command]\nprogram = \"{folder}/program.sh\"\n{prompt}",
                head(COMMAND)
            ),
        ]
        .concat()
    }

    fn start(&self, data: &Path, outputs: &Path) -> Server {
        fs::create_dir_all(data).unwrap();
        let args = ["--speed", "0", "--outputs", outputs.to_str().unwrap()];
        Server::start_with_models(data, &self.models(), &args)
    }

    /// Answers all orders from now on.
    fn answer(&self) {
        self.state.lock().unwrap().answers = true;
        fs::write(self.folder.path().join("go"), "").unwrap();
    }

    /// How often a task was ordered from its upstream.
    fn orders(&self, task: &Value) -> usize {
        let id = task["id"].as_str().unwrap();
        let journal = fs::read_to_string(self.folder.path().join("journal")).unwrap();
        let prediction = format!("/predictions/{id}");
        match task["subcategory"].as_str().unwrap() {
            "openai" => self.count(GENERATIONS, |asked| asked.header("idempotency-key") == id),
            "comfyui" => self.count("/prompt", |asked| {
                let prompt = asked.json()["prompt_id"].as_str().unwrap().replace('-', "");
                prompt == id.replace('-', "")
            }),
            "cog" => self.count(&prediction, |_| true),
            _ => journal.lines().filter(|line| *line == id).count(),
        }
    }

    fn count(&self, path: &str, is_it: impl Fn(&Asked) -> bool) -> usize {
        let asked = self.server.asked(path);
        asked.iter().filter(|asked| is_it(asked)).count()
    }

    fn await_orders(&self, tasks: &[Value]) {
        for task in tasks {
            wait_until(&format!("{task} is ordered"), || self.orders(task) >= 1);
        }
    }
}

fn answer(asked: &Asked, state: &Mutex<State>) -> Said {
    let path = asked.path.as_str();
    let is_order = path == GENERATIONS || path.starts_with("/predictions/") || path == "/prompt";
    if is_order && std::mem::take(&mut state.lock().unwrap().breaks) {
        if path == "/prompt" {
            let id = asked.json()["prompt_id"].as_str().unwrap().to_owned();
            state.lock().unwrap().prompts.push(id);
        }
        return None;
    }
    match path {
        "/health-check" => said(200, json!({"status": "READY"})),
        "/openapi.json" => said(
            200,
            json!({"components": {"schemas": {"Input": {"properties": {
                "prompt": {"type": "string"}}}, "Output": {"type": "string", "format": "uri"}}}}),
        ),
        "/prompt" => {
            let id = asked.json()["prompt_id"].clone();
            let prompts = &mut state.lock().unwrap().prompts;
            prompts.push(id.as_str().unwrap().to_owned());
            said(200, json!({"prompt_id": id}))
        }
        "/queue" => {
            let state = state.lock().unwrap();
            let waiting = if state.answers {
                &[]
            } else {
                &state.prompts[..]
            };
            let waiting: Vec<Value> = waiting.iter().map(|id| json!([1, id, {}, {}])).collect();
            said(200, json!({"queue_running": waiting, "queue_pending": []}))
        }
        GENERATIONS => {
            await_answers(state);
            said(200, json!({"data": [{"b64_json": "iVBORw0KGgo="}]}))
        }
        _ if path.starts_with("/predictions/") => {
            await_answers(state);
            said(200, json!({"status": "succeeded", "output": PNG}))
        }
        _ if path.starts_with("/history") => said(200, history(&state.lock().unwrap())),
        _ if path.starts_with("/view") => Some((200, "image/png", b"\x89PNG\r\n\x1a\n".to_vec())),
        _ => said(200, json!({})),
    }
}

fn await_answers(state: &Mutex<State>) {
    while !state.lock().unwrap().answers {
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// ComfyUI's finished prompts.
fn history(state: &State) -> Value {
    let entry = |id: &String| {
        let file = json!({"filename": "a.png", "subfolder": "", "type": "output"});
        let entry = json!({"prompt": [1, id, {}, {}], "outputs": {"9": {"images": [file]}},
            "status": {"status_str": "success", "completed": true}});
        (id.clone(), entry)
    };
    let ended = state.prompts.iter().filter(|_| state.answers).map(entry);
    Value::Object(ended.collect())
}

fn wait_until(what: &str, is_so: impl Fn() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(60);
    while !is_so() {
        assert!(Instant::now() < deadline, "never: {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn generate_all(service: &Server) -> Vec<Value> {
    let generate = |model| service.generate(model, json!({"prompt": "a"}));
    ALL.map(generate).into()
}

/// Waits for the tasks of the four kinds; returns how each ended, and how often it was ordered.
fn ends(upstreams: &Upstreams, service: &Server, tasks: &[Value]) -> Vec<(String, usize)> {
    let end = |task: &Value| {
        let status = service.wait(task)["status"].as_str().unwrap().to_owned();
        (status, upstreams.orders(task))
    };
    tasks.iter().map(end).collect()
}

fn expected(ends: [(&str, usize); 4]) -> Vec<(String, usize)> {
    ends.map(|(status, orders)| (status.to_owned(), orders))
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
        upstreams.state.lock().unwrap().breaks = true;
        fs::write(upstreams.folder.path().join("break"), "").unwrap();
        let task = service.generate(model, json!({"prompt": "a"}));
        upstreams.await_orders(std::slice::from_ref(&task));
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
    upstreams.await_orders(&first);
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
    upstreams.await_orders(&tasks);
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

/// Row "killed after the answer": there is no space for the files. Guards against a paid answer that is
/// kept in memory alone.
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
    upstreams.await_orders(&tasks);
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

/// The data on a disk that is full, the outputs elsewhere: files are saved, and the database can't be
/// written.
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
    upstreams.await_orders(&tasks);
    disk.fill();
    upstreams.answer();
    for task in &tasks {
        let id = task["id"].as_str().unwrap();
        wait_until("its files", || outputs.path().join(id).exists());
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
    let Some(mut there) = files_written("killed_after_the_files_are_written") else {
        return;
    };
    there.service.kill();
    there.disk.empty();
    let service = there.upstreams.start(&there.data, there.outputs.path());
    let ended = ends(&there.upstreams, &service, &there.tasks);
    assert_eq!(ended, expected(ONCE));
}

/// Guards against a whole task that is repeated, or fails, because its end could not be written down.
#[test]
fn the_end_of_a_task_is_written_when_the_database_works_again() {
    let Some(there) = files_written("the_end_of_a_task_is_written_when_the_database_works_again")
    else {
        return;
    };
    there.service.await_log("disk is full");
    there.disk.empty();
    let ended = ends(&there.upstreams, &there.service, &there.tasks);
    assert_eq!(ended, expected(ONCE));
}

/// Guards against a paid file that is lost when the service stops, or is killed, while it is fetched.
#[test]
fn a_file_that_is_fetched_when_the_service_ends_is_fetched_again() {
    for is_killed in [true, false] {
        let has_file = Arc::new(Mutex::new(false));
        let told = has_file.clone();
        let server = SmallServer::start(move |asked| match asked.path.as_str() {
            "/a.png" if *told.lock().unwrap() => {
                Some((200, "image/png", b"\x89PNG\r\n\x1a\n".to_vec()))
            }
            "/a.png" => said(503, json!({})),
            // As an address of this server.
            _ => said(
                200,
                json!({"data": [{"url": format!("http://{}/a.png", asked.header("host"))}]}),
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
        wait_until("the file is fetched", || !server.asked("/a.png").is_empty());
        if is_killed {
            service.kill();
        } else {
            assert!(service.terminate());
        }
        *has_file.lock().unwrap() = true;
        let service = Server::start_with_models(data.path(), &models, &["--speed", "0"]);
        assert_eq!(service.wait(&task)["status"], "completed");
        assert_eq!(server.asked(GENERATIONS).len(), 1);
    }
}

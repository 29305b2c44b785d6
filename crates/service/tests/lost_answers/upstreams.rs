//! Simulates the upstreams of the four kinds of remote models.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;

use super::support::small_server::{Request, Response, SmallServer, json_response};
use super::support::{Server, until};
use super::{COG, COMFYUI, COMMAND, GENERATIONS, OPENAI};

const PNG: &str = "data:image/png;base64,iVBORw0KGgo=";

/// A server that simulates the upstream of each kind, and the folder of the program.
pub struct Upstreams {
    folder: TempDir,
    server: SmallServer,
    state: Arc<Mutex<State>>,
}

/// The state of the server.
#[derive(Default)]
struct State {
    /// Whether the server responds to tasks. Until then, they wait.
    answers: bool,
    /// Whether the server closes the connection of the next task after accepting it.
    breaks: bool,
    /// The ids of ComfyUI's prompts.
    prompts: Vec<String>,
}

impl Upstreams {
    pub fn new() -> Self {
        let state = Arc::new(Mutex::new(State::default()));
        let shared = state.clone();
        let upstreams = Self {
            folder: TempDir::new().unwrap(),
            server: SmallServer::start(move |request| answer(request, &shared)),
            state,
        };
        upstreams.write_program();
        upstreams
    }

    /// Writes the program. It writes its output, records its task, and waits for the file `go`. If the file `break`
    /// exists, it kills itself.
    fn write_program(&self) {
        let folder = self.folder.path().display();
        let script = format!(
            "#!/bin/sh\necho done > 0.txt\necho $ATELIER_TASK >> {folder}/journal\n[ -e {folder}/break ] && kill -9 $$\n\
             while [ -d {folder} ] && [ ! -e {folder}/go ]; do sleep 0.02; done\n"
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

    pub fn start(&self, data: &Path, outputs: &Path) -> Server {
        fs::create_dir_all(data).unwrap();
        let args = ["--speed", "0", "--outputs", outputs.to_str().unwrap()];
        Server::start_with_models(data, &self.models(), &args)
    }

    /// Lets the server respond to all tasks from now on.
    pub fn answer(&self) {
        self.state.lock().unwrap().answers = true;
        fs::write(self.folder.path().join("go"), "").unwrap();
    }

    /// Closes the connection of the next task, or kills the program.
    pub fn break_next(&self) {
        self.state.lock().unwrap().breaks = true;
        fs::write(self.folder.path().join("break"), "").unwrap();
    }

    /// Returns how often a task was sent to its upstream.
    pub fn times_sent(&self, task: &Value) -> usize {
        let id = task["id"].as_str().unwrap();
        let journal = fs::read_to_string(self.folder.path().join("journal")).unwrap();
        let prediction = format!("/predictions/{id}");
        match task["subcategory"].as_str().unwrap() {
            "openai" => self.count(GENERATIONS, |request| {
                request.header("idempotency-key") == id
            }),
            "comfyui" => self.count("/prompt", |request| {
                let prompt = request.json()["prompt_id"]
                    .as_str()
                    .unwrap()
                    .replace('-', "");
                prompt == id.replace('-', "")
            }),
            "cog" => self.count(&prediction, |_| true),
            _ => journal.lines().filter(|line| *line == id).count(),
        }
    }

    fn count(&self, path: &str, matches: impl Fn(&Request) -> bool) -> usize {
        let requests = self.server.requests(path);
        requests.iter().filter(|request| matches(request)).count()
    }

    /// Waits until each of these tasks was sent to its upstream.
    pub fn await_sent(&self, tasks: &[Value]) {
        for task in tasks {
            until(&format!("{task} is sent"), || self.times_sent(task) >= 1);
        }
    }
}

fn answer(request: &Request, state: &Mutex<State>) -> Response {
    let path = request.path.as_str();
    let is_task = path == GENERATIONS || path.starts_with("/predictions/") || path == "/prompt";
    if is_task && std::mem::take(&mut state.lock().unwrap().breaks) {
        if path == "/prompt" {
            let id = request.json()["prompt_id"].as_str().unwrap().to_owned();
            state.lock().unwrap().prompts.push(id);
        }
        return None;
    }
    match path {
        "/health-check" => json_response(200, json!({"status": "READY"})),
        "/openapi.json" => json_response(
            200,
            json!({"components": {"schemas": {"Input": {"properties": {
                "prompt": {"type": "string"}}}, "Output": {"type": "string", "format": "uri"}}}}),
        ),
        "/prompt" => {
            let id = request.json()["prompt_id"].clone();
            let prompts = &mut state.lock().unwrap().prompts;
            prompts.push(id.as_str().unwrap().to_owned());
            json_response(200, json!({"prompt_id": id}))
        }
        "/queue" => {
            let state = state.lock().unwrap();
            let waiting = if state.answers {
                &[]
            } else {
                &state.prompts[..]
            };
            let waiting: Vec<Value> = waiting.iter().map(|id| json!([1, id, {}, {}])).collect();
            json_response(200, json!({"queue_running": waiting, "queue_pending": []}))
        }
        GENERATIONS => {
            await_answers(state);
            json_response(200, json!({"data": [{"b64_json": "iVBORw0KGgo="}]}))
        }
        _ if path.starts_with("/predictions/") => {
            await_answers(state);
            json_response(200, json!({"status": "succeeded", "output": PNG}))
        }
        _ if path.starts_with("/history") => json_response(200, history(&state.lock().unwrap())),
        _ if path.starts_with("/view") => Some((200, "image/png", b"\x89PNG\r\n\x1a\n".to_vec())),
        _ => json_response(200, json!({})),
    }
}

fn await_answers(state: &Mutex<State>) {
    while !state.lock().unwrap().answers {
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Returns the history of ComfyUI's finished prompts.
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

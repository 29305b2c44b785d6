//! The upstreams of the four kinds of models that run elsewhere.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

use super::support::Server;
use super::support::small_server::{Asked, Said, SmallServer, json as said};
use super::{COG, COMFYUI, COMMAND, GENERATIONS, OPENAI};

const PNG: &str = "data:image/png;base64,iVBORw0KGgo=";

/// One server that plays the upstream of each kind, and the folder of the program.
pub struct Upstreams {
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
    pub fn new() -> Self {
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

    pub fn start(&self, data: &Path, outputs: &Path) -> Server {
        fs::create_dir_all(data).unwrap();
        let args = ["--speed", "0", "--outputs", outputs.to_str().unwrap()];
        Server::start_with_models(data, &self.models(), &args)
    }

    /// Answers all orders from now on.
    pub fn answer(&self) {
        self.state.lock().unwrap().answers = true;
        fs::write(self.folder.path().join("go"), "").unwrap();
    }

    /// Breaks the connection of the next order, or kills the program.
    pub fn break_next(&self) {
        self.state.lock().unwrap().breaks = true;
        fs::write(self.folder.path().join("break"), "").unwrap();
    }

    /// How often a task was ordered from its upstream.
    pub fn orders(&self, task: &Value) -> usize {
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

    pub fn await_orders(&self, tasks: &[Value]) {
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

pub fn wait_until(what: &str, is_so: impl Fn() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(60);
    while !is_so() {
        assert!(Instant::now() < deadline, "never: {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

//! Models that run as workflows in ComfyUI.

#[path = "comfyui/progress.rs"]
mod progress;

mod support;

use std::path::Path;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use support::small_server::{Reply, Request, Response, SmallServer, json_response};
use support::{Server, until};
use tempfile::TempDir;

const MODEL: (&str, &str) = ("image", "flow");

/// The state of ComfyUI's server, as `/queue` and `/history` show it.
#[derive(Default)]
struct State {
    pending: Vec<Value>,
    history: serde_json::Map<String, Value>,
    /// Whether the server uses the prompt id of the request, as newer versions do.
    accepts_ids: bool,
    fails: bool,
    /// The history entry of a finished prompt, instead of the usual one.
    entry: Option<Value>,
}

impl State {
    fn finish(&mut self) {
        for item in self.pending.drain(..) {
            let id = item[1].as_str().unwrap().to_owned();
            let status = if self.fails {
                json!({"status_str": "error", "completed": false, "messages": [
                    ["execution_error", {"node_type": "KSampler", "exception_message": "no memory\n"}]]})
            } else {
                json!({"status_str": "success", "completed": true, "messages": []})
            };
            let usual = json!({"prompt": item, "status": status, "outputs": {
                "10": {"images": [{"filename": "b c.png", "subfolder": "x", "type": "output"}]},
                "9": {"gifs": [{"filename": "a.mp4", "subfolder": "", "type": "output"}],
                      "images": [{"filename": "p.png", "subfolder": "", "type": "temp"}],
                      "animated": [true]}}});
            let entry = self.entry.clone().unwrap_or(usual);
            self.history.insert(id, entry);
        }
    }
}

fn answer(request: &Request, state: &Mutex<State>) -> Response {
    let mut state = state.lock().unwrap();
    let path = request.path.as_str();
    match path {
        "/system_stats" => json_response(200, json!({})),
        "/queue" => json_response(
            200,
            json!({"queue_running": [], "queue_pending": state.pending}),
        ),
        "/history" => json_response(200, json!(state.history)),
        "/upload/image" => json_response(
            200,
            json!({"name": "uploaded.png", "subfolder": "", "type": "input"}),
        ),
        "/prompt" => {
            let body = request.json();
            if body["prompt"]["6"]["inputs"]["text"] == "bad" {
                let error = json!({"error": {"message": "Prompt outputs failed validation"},
                                   "node_errors": {"6": {"errors": []}}});
                return json_response(400, error);
            }
            let id = if state.accepts_ids {
                body["prompt_id"].clone()
            } else {
                json!("of-its-own")
            };
            state
                .pending
                .push(json!([1, id, body["prompt"], {"client_id": body["client_id"]}, []]));
            json_response(200, json!({"prompt_id": id, "number": 1}))
        }
        "/view?filename=a.mp4&subfolder=&type=output" => {
            Some((200, "video/mp4", b"\0\0\0\x18ftypmp42".to_vec()))
        }
        "/view?filename=b%20c.png&subfolder=x&type=output" => {
            Some((200, "image/png", b"\x89PNG\r\n\x1a\n".to_vec()))
        }
        _ => match path.strip_prefix("/history/") {
            Some(id) => {
                let found = state.history.get(id);
                json_response(200, found.map_or(json!({}), |entry| json!({ id: entry })))
            }
            None => json_response(404, json!({})),
        },
    }
}

fn comfyui(accepts_ids: bool) -> (SmallServer, Arc<Mutex<State>>) {
    let state = Arc::new(Mutex::new(State {
        accepts_ids,
        ..State::default()
    }));
    let shared = state.clone();
    (
        SmallServer::start(move |request| answer(request, &shared)),
        state,
    )
}

fn start(data: &Path, server: &SmallServer) -> Server {
    let workflow = json!({
        "3": {"class_type": "KSampler", "inputs": {"seed": 1, "steps": 20}},
        "6": {"class_type": "CLIPTextEncode", "inputs": {"text": "", "clip": ["4", 1]}},
        "7": {"class_type": "LoadImage", "inputs": {"image": "example.png"}},
    });
    std::fs::write(data.join("workflow.json"), workflow.to_string()).unwrap();
    let parameter = |name: &str, kind: &str, input: &str, more: &str| {
        format!(
            "[[model.parameter]]\nname = \"{name}\"\ntype = \"{kind}\"\ninput = \"{input}\"\n{more}\n"
        )
    };
    let models = format!(
        "[[model]]\ncategory = \"image\"\nsubcategory = \"flow\"\nname = \"Flow\"\n\
         [model.comfyui]\naddress = \"{}\"\nworkflow = \"workflow.json\"\n{}{}{}",
        server.url(),
        parameter("prompt", "string", "6.text", "required = true"),
        parameter("seed", "integer", "3.seed", "minimum = 0"),
        parameter("picture", "file", "7.image", ""),
    );
    Server::start_with_models(data, &models, &["--speed", "0"])
}

fn await_prompts(server: &SmallServer, count: usize) {
    until("the prompts are sent", || {
        server.requests("/prompt").len() >= count
    });
}

#[test]
fn a_workflow_receives_its_inputs_and_its_files_become_outputs() {
    let (server, state) = comfyui(true);
    let data = TempDir::new().unwrap();
    let service = start(data.path(), &server);
    let picture = service.output(support::STRATA, json!({"prompt": "a"}));
    let input = json!({"prompt": "a fox", "seed": 7, "picture": picture[0]});
    let task = service.generate(MODEL, input);
    await_prompts(&server, 1);
    state.lock().unwrap().finish();
    assert_eq!(service.wait(&task)["status"], "completed");
    let output = service.post("/v2/response", &task).json()["data"]["output"].clone();
    let urls: Vec<&str> = output
        .as_array()
        .unwrap()
        .iter()
        .filter_map(Value::as_str)
        .collect();
    assert!(
        urls[0].ends_with("0.mp4") && urls[1].ends_with("1.png"),
        "in the order of the nodes, without previews: {urls:?}"
    );
    assert_eq!(urls.len(), 2);
    assert_eq!(service.get(urls[1]).header("content-type"), "image/png");

    let graph = server.requests("/prompt")[0].json()["prompt"].clone();
    assert_eq!(
        graph["6"]["inputs"],
        json!({"text": "a fox", "clip": ["4", 1]})
    );
    assert_eq!(graph["3"]["inputs"], json!({"seed": 7, "steps": 20}));
    assert_eq!(graph["7"]["inputs"]["image"], "uploaded.png");
    let upload = &server.requests("/upload/image")[0];
    let sent = service.get(&picture[0]).bytes;
    assert!(upload.body.windows(sent.len()).any(|part| part == sent));
}

#[test]
fn failures_of_comfyui_fail_the_task_with_their_message() {
    let (server, state) = comfyui(true);
    state.lock().unwrap().fails = true;
    let data = TempDir::new().unwrap();
    let service = start(data.path(), &server);
    let refused = service.wait(&service.generate(MODEL, json!({"prompt": "bad"})));
    let error = refused["error"].as_str().unwrap();
    assert!(
        error.contains("Prompt outputs failed validation"),
        "{error}"
    );
    let task = service.generate(MODEL, json!({"prompt": "a"}));
    await_prompts(&server, 2);
    state.lock().unwrap().finish();
    assert_eq!(service.wait(&task)["error"], "KSampler failed: no memory");
}

#[test]
fn a_killed_service_finds_its_task_and_does_not_send_it_again() {
    // Tests newer and older versions of ComfyUI, while the task waits there and after it has ended.
    for (accepts_ids, done_meanwhile) in
        [(true, false), (false, false), (true, true), (false, true)]
    {
        let (server, state) = comfyui(accepts_ids);
        let data = TempDir::new().unwrap();
        let mut service = start(data.path(), &server);
        let task = service.generate(MODEL, json!({"prompt": "a"}));
        await_prompts(&server, 1);
        service.kill();
        if done_meanwhile {
            state.lock().unwrap().finish();
        }
        let service = start(data.path(), &server);
        service.await_log("begins");
        state.lock().unwrap().finish();
        assert_eq!(service.wait(&task)["status"], "completed");
        assert_eq!(server.requests("/prompt").len(), 1);
    }
}

#[test]
fn tasks_that_a_restarted_comfyui_has_lost_are_resubmitted() {
    let (server, state) = comfyui(true);
    let data = TempDir::new().unwrap();
    let service = start(data.path(), &server);
    let task = service.generate(MODEL, json!({"prompt": "a"}));
    await_prompts(&server, 1);
    state.lock().unwrap().pending.clear();
    await_prompts(&server, 2);
    state.lock().unwrap().finish();
    assert_eq!(service.wait(&task)["status"], "completed");
}

/// Guards against losing the other files because one file was deleted.
#[test]
fn a_missing_file_is_reported_after_the_others() {
    let state = Arc::new(Mutex::new(State {
        accepts_ids: true,
        ..State::default()
    }));
    let (shared, gone) = (state.clone(), Arc::new(Mutex::new(vec!["a.mp4"])));
    let is_gone = gone.clone();
    let server = SmallServer::start(move |request| {
        let gone = is_gone.lock().unwrap();
        match request.path.starts_with("/view")
            && gone.iter().any(|name| request.path.contains(name))
        {
            true => json_response(404, json!({"error": "it was deleted"})),
            false => answer(request, &shared),
        }
    });
    let data = TempDir::new().unwrap();
    let service = start(data.path(), &server);
    let task = service.generate(MODEL, json!({"prompt": "a fox"}));
    await_prompts(&server, 1);
    state.lock().unwrap().finish();
    assert_eq!(service.wait(&task)["status"], "completed");
    let output = service.post("/v2/response", &task).json()["data"]["output"].clone();
    let outputs: Vec<_> = output
        .as_array()
        .unwrap()
        .iter()
        .map(|url| service.get(url.as_str().unwrap()))
        .collect();
    assert_eq!(outputs.len(), 2);
    assert!(outputs[0].bytes.starts_with(b"\x89PNG"));
    let report = outputs[1].text();
    for words in [
        "1 of 2 files missing",
        "filename=a.mp4",
        "HTTP 404: it was deleted",
    ] {
        assert!(report.contains(words), "{report}");
    }

    gone.lock().unwrap().push("b%20c.png");
    let task = service.generate(MODEL, json!({"prompt": "a fox"}));
    await_prompts(&server, 2);
    state.lock().unwrap().finish();
    let ended = service.wait(&task);
    let error = ended["error"].as_str().unwrap_or_default();
    assert!(
        error.contains("b%20c.png") && error.contains("a.mp4"),
        "{ended}"
    );
}

/// Guards against following a redirect to a private address.
#[test]
fn a_file_is_not_fetched_from_a_private_address_that_comfyui_redirects_to() {
    let secret = SmallServer::start(|_| Some((200, "text/plain", b"a secret".to_vec())));
    let target = format!("{}/a", secret.url());
    let state = Arc::new(Mutex::new(State {
        accepts_ids: true,
        ..State::default()
    }));
    let shared = state.clone();
    let server = SmallServer::start_with_headers(move |request| {
        if !request.path.starts_with("/view") {
            return answer(request, &shared).into();
        }
        Reply {
            response: json_response(302, json!({})),
            headers: vec![("location", target.clone())],
        }
    });
    let data = TempDir::new().unwrap();
    let service = start(data.path(), &server);
    let task = service.generate(MODEL, json!({"prompt": "a fox"}));
    await_prompts(&server, 1);
    state.lock().unwrap().finish();
    let ended = service.wait(&task);
    let error = ended["error"].as_str().unwrap_or_default();
    assert!(error.contains("allow_fetch"), "{ended}");
    assert_eq!(secret.requests("/a").len(), 0);
}

/// Guards against a failure of workflows that only return a text.
#[test]
fn a_text_shown_by_a_workflow_is_its_output() {
    let (server, state) = comfyui(true);
    state.lock().unwrap().entry = Some(json!({
        "status": {"status_str": "success", "completed": true},
        "outputs": {"9": {"text": ["a fox in the snow"]}},
    }));
    let data = TempDir::new().unwrap();
    let service = start(data.path(), &server);
    let task = service.generate(MODEL, json!({"prompt": "a fox"}));
    await_prompts(&server, 1);
    state.lock().unwrap().finish();
    let urls = service.output_of(&task);
    assert!(urls.len() == 1 && urls[0].ends_with("0.txt"), "{urls:?}");
    assert_eq!(service.get(&urls[0]).text(), "a fox in the snow");
}

/// Guards against the message "has saved no file" without an explanation.
#[test]
fn a_cached_run_is_reported_with_instructions() {
    let (server, state) = comfyui(true);
    state.lock().unwrap().entry = Some(json!({
        "status": {"status_str": "success", "completed": true,
                   "messages": [["execution_cached", {"nodes": ["3", "6", "7"]}]]},
        "outputs": {},
    }));
    let data = TempDir::new().unwrap();
    let service = start(data.path(), &server);
    let task = service.generate(MODEL, json!({"prompt": "a fox"}));
    await_prompts(&server, 1);
    state.lock().unwrap().finish();
    let error = service.wait(&task)["error"].to_string();
    assert!(
        error.contains("cached") && error.contains("another seed"),
        "{error}"
    );
}

//! Models that are workflows in ComfyUI.

mod support;

use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use support::Server;
use support::small_server::{Asked, Reply, Said, SmallServer, json as said};
use tempfile::TempDir;

const MODEL: (&str, &str) = ("image", "flow");

/// What ComfyUI's server keeps, as its `/queue` and `/history` show it.
#[derive(Default)]
struct Kept {
    pending: Vec<Value>,
    history: serde_json::Map<String, Value>,
    /// As newer versions: the id is what the caller says.
    takes_ids: bool,
    fails: bool,
    /// What the history says of a finished prompt in addition, instead of its usual outputs.
    entry: Option<Value>,
}

impl Kept {
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

fn answer(asked: &Asked, kept: &Mutex<Kept>) -> Said {
    let mut kept = kept.lock().unwrap();
    let path = asked.path.as_str();
    match path {
        "/system_stats" => said(200, json!({})),
        "/queue" => said(
            200,
            json!({"queue_running": [], "queue_pending": kept.pending}),
        ),
        "/history" => said(200, json!(kept.history)),
        "/upload/image" => said(
            200,
            json!({"name": "uploaded.png", "subfolder": "", "type": "input"}),
        ),
        "/prompt" => {
            let body = asked.json();
            if body["prompt"]["6"]["inputs"]["text"] == "bad" {
                let error = json!({"error": {"message": "Prompt outputs failed validation"},
                                   "node_errors": {"6": {"errors": []}}});
                return said(400, error);
            }
            let id = if kept.takes_ids {
                body["prompt_id"].clone()
            } else {
                json!("of-its-own")
            };
            kept.pending
                .push(json!([1, id, body["prompt"], {"client_id": body["client_id"]}, []]));
            said(200, json!({"prompt_id": id, "number": 1}))
        }
        "/view?filename=a.mp4&subfolder=&type=output" => {
            Some((200, "video/mp4", b"\0\0\0\x18ftypmp42".to_vec()))
        }
        "/view?filename=b%20c.png&subfolder=x&type=output" => {
            Some((200, "image/png", b"\x89PNG\r\n\x1a\n".to_vec()))
        }
        _ => match path.strip_prefix("/history/") {
            Some(id) => {
                let found = kept.history.get(id);
                said(200, found.map_or(json!({}), |entry| json!({ id: entry })))
            }
            None => said(404, json!({})),
        },
    }
}

fn comfyui(takes_ids: bool) -> (SmallServer, Arc<Mutex<Kept>>) {
    let kept = Arc::new(Mutex::new(Kept {
        takes_ids,
        ..Kept::default()
    }));
    let told = kept.clone();
    (SmallServer::start(move |asked| answer(asked, &told)), kept)
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
    let deadline = std::time::Instant::now() + Duration::from_secs(60);
    while server.asked("/prompt").len() < count {
        assert!(std::time::Instant::now() < deadline);
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_workflow_gets_its_inputs_and_its_files_become_ours() {
    let (server, kept) = comfyui(true);
    let data = TempDir::new().unwrap();
    let service = start(data.path(), &server);
    let picture = service.output(support::STRATA, json!({"prompt": "a"}));
    let input = json!({"prompt": "a fox", "seed": 7, "picture": picture[0]});
    let task = service.generate(MODEL, input);
    await_prompts(&server, 1);
    kept.lock().unwrap().finish();
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
        "in the nodes' order, no preview: {urls:?}"
    );
    assert_eq!(urls.len(), 2);
    assert_eq!(service.get(urls[1]).header("content-type"), "image/png");

    let graph = server.asked("/prompt")[0].json()["prompt"].clone();
    assert_eq!(
        graph["6"]["inputs"],
        json!({"text": "a fox", "clip": ["4", 1]})
    );
    assert_eq!(graph["3"]["inputs"], json!({"seed": 7, "steps": 20}));
    assert_eq!(graph["7"]["inputs"]["image"], "uploaded.png");
    let upload = &server.asked("/upload/image")[0];
    let sent = service.get(&picture[0]).bytes;
    assert!(upload.body.windows(sent.len()).any(|part| part == sent));
}

#[test]
fn what_fails_there_fails_here_with_its_words() {
    let (server, kept) = comfyui(true);
    kept.lock().unwrap().fails = true;
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
    kept.lock().unwrap().finish();
    assert_eq!(service.wait(&task)["error"], "KSampler failed: no memory");
}

#[test]
fn a_killed_service_finds_its_task_and_does_not_send_it_again() {
    // Of newer versions and older ones; while it waits there, and when it is done already.
    for (takes_ids, done_meanwhile) in [(true, false), (false, false), (true, true), (false, true)]
    {
        let (server, kept) = comfyui(takes_ids);
        let data = TempDir::new().unwrap();
        let mut service = start(data.path(), &server);
        let task = service.generate(MODEL, json!({"prompt": "a"}));
        await_prompts(&server, 1);
        service.kill();
        if done_meanwhile {
            kept.lock().unwrap().finish();
        }
        let service = start(data.path(), &server);
        service.await_log("begins");
        kept.lock().unwrap().finish();
        assert_eq!(service.wait(&task)["status"], "completed");
        assert_eq!(server.asked("/prompt").len(), 1);
    }
}

#[test]
fn what_a_new_start_of_comfyui_has_forgotten_is_sent_again() {
    let (server, kept) = comfyui(true);
    let data = TempDir::new().unwrap();
    let service = start(data.path(), &server);
    let task = service.generate(MODEL, json!({"prompt": "a"}));
    await_prompts(&server, 1);
    kept.lock().unwrap().pending.clear();
    await_prompts(&server, 2);
    kept.lock().unwrap().finish();
    assert_eq!(service.wait(&task)["status"], "completed");
}

/// One file that was deleted held up the others until the time limit, and then all were lost.
#[test]
fn a_missing_file_is_reported_after_the_others() {
    let kept = Arc::new(Mutex::new(Kept {
        takes_ids: true,
        ..Kept::default()
    }));
    let (told, gone) = (kept.clone(), Arc::new(Mutex::new(vec!["a.mp4"])));
    let is_gone = gone.clone();
    let server = SmallServer::start(move |asked| {
        let gone = is_gone.lock().unwrap();
        match asked.path.starts_with("/view") && gone.iter().any(|name| asked.path.contains(name)) {
            true => said(404, json!({"error": "it was deleted"})),
            false => answer(asked, &told),
        }
    });
    let data = TempDir::new().unwrap();
    let service = start(data.path(), &server);
    let task = service.generate(MODEL, json!({"prompt": "a fox"}));
    await_prompts(&server, 1);
    kept.lock().unwrap().finish();
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
    kept.lock().unwrap().finish();
    let ended = service.wait(&task);
    let error = ended["error"].as_str().unwrap_or_default();
    assert!(
        error.contains("b%20c.png") && error.contains("a.mp4"),
        "{ended}"
    );
}

/// A redirect was followed to wherever it led, and what lay there became an output.
#[test]
fn a_file_is_not_fetched_from_a_private_address_that_comfyui_redirects_to() {
    let secret = SmallServer::start(|_| Some((200, "text/plain", b"a secret".to_vec())));
    let target = format!("{}/a", secret.url());
    let kept = Arc::new(Mutex::new(Kept {
        takes_ids: true,
        ..Kept::default()
    }));
    let told = kept.clone();
    let server = SmallServer::start_with_headers(move |asked| {
        if !asked.path.starts_with("/view") {
            return answer(asked, &told).into();
        }
        Reply {
            said: said(302, json!({})),
            headers: vec![("location", target.clone())],
        }
    });
    let data = TempDir::new().unwrap();
    let service = start(data.path(), &server);
    let task = service.generate(MODEL, json!({"prompt": "a fox"}));
    await_prompts(&server, 1);
    kept.lock().unwrap().finish();
    let ended = service.wait(&task);
    let error = ended["error"].as_str().unwrap_or_default();
    assert!(error.contains("allow_fetch"), "{ended}");
    assert_eq!(secret.asked("/a").len(), 0);
}

/// A workflow that writes a text failed, because it had saved no file.
#[test]
fn a_text_that_a_workflow_shows_is_its_output() {
    let (server, kept) = comfyui(true);
    kept.lock().unwrap().entry = Some(json!({
        "status": {"status_str": "success", "completed": true},
        "outputs": {"9": {"text": ["a fox in the snow"]}},
    }));
    let data = TempDir::new().unwrap();
    let service = start(data.path(), &server);
    let task = service.generate(MODEL, json!({"prompt": "a fox"}));
    await_prompts(&server, 1);
    kept.lock().unwrap().finish();
    let urls = service.output_of(&task);
    assert!(urls.len() == 1 && urls[0].ends_with("0.txt"), "{urls:?}");
    assert_eq!(service.get(&urls[0]).text(), "a fox in the snow");
}

/// It was reported as "has saved no file" alone.
#[test]
fn a_run_with_nothing_to_do_is_reported_with_the_way_to_a_new_result() {
    let (server, kept) = comfyui(true);
    kept.lock().unwrap().entry = Some(json!({
        "status": {"status_str": "success", "completed": true,
                   "messages": [["execution_cached", {"nodes": ["3", "6", "7"]}]]},
        "outputs": {},
    }));
    let data = TempDir::new().unwrap();
    let service = start(data.path(), &server);
    let task = service.generate(MODEL, json!({"prompt": "a fox"}));
    await_prompts(&server, 1);
    kept.lock().unwrap().finish();
    let error = service.wait(&task)["error"].to_string();
    assert!(
        error.contains("cached") && error.contains("another seed"),
        "{error}"
    );
}

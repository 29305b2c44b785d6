//! A process shows the progress and the previews of tasks that another one runs.

use std::fs;
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};
use tungstenite::Message;

use super::support::Server;
use super::support::small_server::{Connection, Request, Response, SmallServer, json_response};
use super::{Cluster, LEASE, wait_for_end};

const FLOW: (&str, &str) = ("image", "flow");

const PNG: &[u8] = b"\x89PNG\r\n\x1a\nfirst";

/// The prompts of a ComfyUI server.
#[derive(Default)]
struct Prompts {
    running: Vec<Value>,
    history: Map<String, Value>,
}

fn answer(request: &Request, prompts: &Mutex<Prompts>) -> Response {
    let mut prompts = prompts.lock().unwrap();
    match request.path.as_str() {
        "/queue" => json_response(
            200,
            json!({"queue_running": prompts.running, "queue_pending": []}),
        ),
        "/prompt" => {
            let body = request.json();
            let id = body["prompt_id"].clone();
            prompts
                .running
                .push(json!([1, id, {}, {"client_id": id}, []]));
            json_response(200, json!({"prompt_id": id}))
        }
        path if path.starts_with("/history") => json_response(200, json!(prompts.history)),
        _ => json_response(200, json!({})),
    }
}

/// Sends a step of 20 and a preview.
fn send(connection: &mut Connection, step: u32) {
    let prompt = connection.0.path.rsplit('=').next().unwrap().to_owned();
    let data = json!({"prompt_id": prompt, "node": "3", "value": step, "max": 20});
    let text = json!({"type": "progress", "data": data}).to_string();
    connection.1.send(Message::text(text)).unwrap();
    let preview = [&[0, 0, 0, 1, 0, 0, 0, 2][..], PNG].concat();
    connection.1.send(Message::binary(preview)).unwrap();
}

fn await_progress(cluster: &Cluster, server: &Server, task: &Value, progress: f64) -> String {
    let deadline = Instant::now() + 3 * LEASE;
    loop {
        let status = server.post("/v2/status", task).json()["data"].clone();
        if status["progress"] == progress
            && let Some(preview) = status["preview"].as_str()
        {
            assert!(status["message"].is_string(), "{status}");
            return preview.to_owned();
        }
        assert!(Instant::now() < deadline, "{status}\n{}", cluster.logs());
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
#[ignore = "needs PostgreSQL and a bucket: ./dev test cluster"]
fn progress_is_visible_at_another_process_and_ends_with_its_attempt() {
    let cluster = Cluster::new();
    let prompts = Arc::new(Mutex::new(Prompts::default()));
    let shared = prompts.clone();
    let (sender, sockets) = channel();
    let sender = Mutex::new(sender);
    let comfyui = SmallServer::start_with_websockets(
        move |request| answer(request, &shared),
        // The test may have ended.
        move |connection| drop(sender.lock().unwrap().send(connection)),
    );
    let workflow = json!({"3": {"class_type": "KSampler", "inputs": {"seed": 1}}});
    fs::write(
        cluster.folder.path().join("workflow.json"),
        workflow.to_string(),
    )
    .unwrap();
    let models = format!(
        "[[model]]\ncategory = \"image\"\nsubcategory = \"flow\"\nname = \"Flow\"\n\
         [model.comfyui]\naddress = \"{}\"\nworkflow = \"workflow.json\"\n\
         [[model.parameter]]\nname = \"seed\"\ntype = \"integer\"\ninput = \"3.seed\"\n",
        comfyui.url()
    );
    fs::write(cluster.folder.path().join("models.toml"), models).unwrap();

    let server = cluster.serve("s0", &[]);
    let mut worker = cluster.work("w0");
    let task = server.generate(FLOW, json!({"seed": 7}));
    let mut socket = sockets.recv_timeout(3 * LEASE).unwrap();
    send(&mut socket, 5);
    let preview = await_progress(&cluster, &server, &task, 0.25);
    let picture = server.get(&preview);
    assert_eq!(
        (picture.bytes.as_slice(), picture.header("content-type")),
        (PNG, "image/png")
    );

    // Another attempt begins without progress.
    worker.kill();
    let _worker = cluster.work("w1");
    let mut socket = sockets.recv_timeout(3 * LEASE).unwrap();
    let status = server.post("/v2/status", &task).json()["data"].clone();
    assert_eq!(status, json!({"id": task["id"], "status": "processing"}));
    assert_eq!(server.get(&preview).status, 404);
    send(&mut socket, 10);
    let preview = await_progress(&cluster, &server, &task, 0.5);
    assert_eq!(server.get(&preview).bytes, PNG);

    {
        let mut prompts = prompts.lock().unwrap();
        let running = std::mem::take(&mut prompts.running);
        let id = running[0][1].as_str().unwrap().to_owned();
        let entry = json!({"prompt": running[0], "outputs": {"9": {"text": ["done"]}},
                           "status": {"status_str": "success", "completed": true}});
        prompts.history.insert(id, entry);
    }
    let ended = wait_for_end(&cluster, &server, &task, Instant::now() + 3 * LEASE);
    assert_eq!(ended["status"], "completed");
    let status = server.post("/v2/status", &task).json()["data"].clone();
    assert_eq!(status, json!({"id": task["id"], "status": "completed"}));
    assert_eq!(server.get(&preview).status, 404);
}

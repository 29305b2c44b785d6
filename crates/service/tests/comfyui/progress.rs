//! The progress of a workflow, which ComfyUI sends over its websocket.

use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;
use tungstenite::Message;

use super::support::small_server::{Connection, SmallServer};
use super::{MODEL, State, answer, await_prompts, start};

const LIMIT: Duration = Duration::from_secs(60);

const PNG: &[u8] = b"\x89PNG\r\n\x1a\nfirst";
const JPEG: &[u8] = b"\xff\xd8\xff\xe0second";

/// Starts a server that passes on the websockets of its clients.
fn comfyui(accepts_ids: bool) -> (SmallServer, Arc<Mutex<State>>, Receiver<Connection>) {
    let state = Arc::new(Mutex::new(State {
        accepts_ids,
        ..State::default()
    }));
    let shared = state.clone();
    let (sender, sockets) = channel();
    let sender = Mutex::new(sender);
    let server = SmallServer::start_with_websockets(
        move |request| answer(request, &shared),
        // The test may have ended.
        move |connection| drop(sender.lock().unwrap().send(connection)),
    );
    (server, state, sockets)
}

fn send(connection: &mut Connection, kind: &str, data: Value) {
    let text = json!({"type": kind, "data": data}).to_string();
    connection.1.send(Message::text(text)).unwrap();
}

fn send_steps(connection: &mut Connection, prompt: &str, value: u32) {
    let data = json!({"prompt_id": prompt, "node": "3", "value": value, "max": 20});
    send(connection, "progress", data);
}

fn preview(picture: &[u8]) -> Message {
    Message::binary([&[0, 0, 0, 1, 0, 0, 0, 1][..], picture].concat())
}

fn preview_of(prompt: &str, picture: &[u8]) -> Message {
    let metadata = json!({"prompt_id": prompt, "node_id": "3"}).to_string();
    let length = u32::try_from(metadata.len()).unwrap().to_be_bytes();
    let parts = [&[0, 0, 0, 4][..], &length, metadata.as_bytes(), picture];
    Message::binary(parts.concat())
}

#[test]
fn steps_and_previews_of_a_workflow_are_reported_while_it_runs() {
    let (server, state, sockets) = comfyui(true);
    let data = TempDir::new().unwrap();
    let service = start(data.path(), &server);
    let task = service.generate(MODEL, json!({"prompt": "a fox"}));
    await_prompts(&server, 1);
    let sent = server.requests("/prompt")[0].json();
    let prompt = sent["prompt_id"].as_str().unwrap();
    assert_eq!(sent["extra_data"], json!({"preview_method": "auto"}));
    let mut socket = sockets.recv_timeout(LIMIT).unwrap();
    assert_eq!(socket.0.path, format!("/ws?clientId={prompt}"));
    let features: Value =
        serde_json::from_str(socket.1.read().unwrap().to_text().unwrap()).unwrap();
    assert_eq!(features["data"]["supports_preview_metadata"], true);

    send_steps(&mut socket, prompt, 5);
    socket.1.send(preview_of(prompt, PNG)).unwrap();
    let status = service.await_status(&task, |status| !status["preview"].is_null());
    assert_eq!(status["progress"], 0.25);
    assert_eq!(status["message"], "KSampler: step 5 of 20");
    let first = status["preview"].as_str().unwrap().to_owned();
    assert!(
        first.starts_with(&format!("{}/outputs/", service.url)),
        "{first}"
    );
    let picture = service.get(&first);
    assert_eq!(
        (picture.bytes.as_slice(), picture.header("content-type")),
        (PNG, "image/png")
    );
    assert_eq!(picture.header("cache-control"), "no-store");
    assert_eq!(picture.header("x-content-type-options"), "nosniff");
    assert!(
        picture
            .header("content-security-policy")
            .contains("sandbox")
    );
    assert_eq!(service.call("POST", &first, &[], b"").status, 405);

    // None of these is a preview of this prompt.
    let large = [JPEG, &vec![0; 300 << 10]].concat();
    for message in [
        preview_of("another", JPEG),
        preview_of(prompt, b"<svg xmlns='http://www.w3.org/2000/svg'/>"),
        Message::binary(&b"\0\0"[..]),
        Message::text("no JSON"),
        preview_of(prompt, &large),
    ] {
        socket.1.send(message).unwrap();
    }
    send_steps(&mut socket, "another", 19);
    send_steps(&mut socket, prompt, 10);
    let status = service.await_status(&task, |status| status["progress"] == 0.5);
    assert_eq!(status["preview"], first);

    // Older versions send no metadata.
    socket.1.send(preview(JPEG)).unwrap();
    let status = service.await_status(&task, |status| status["preview"] != first);
    let second = status["preview"].as_str().unwrap();
    let picture = service.get(second);
    assert_eq!(
        (picture.bytes.as_slice(), picture.header("content-type")),
        (JPEG, "image/jpeg")
    );
    assert_eq!(
        service.get(&first).bytes,
        JPEG,
        "an earlier address leads to the newest preview"
    );

    state.lock().unwrap().finish();
    let ended = service.wait(&task);
    assert_eq!(ended, json!({"id": task["id"], "status": "completed"}));
    for address in [&first, second] {
        let gone = service.get(address);
        assert_eq!(
            (gone.status, gone.header("cache-control")),
            (404, "no-store")
        );
    }
}

#[test]
fn a_broken_websocket_is_opened_again() {
    // Older versions choose the id of a prompt themselves.
    for accepts_ids in [true, false] {
        let (server, state, sockets) = comfyui(accepts_ids);
        let data = TempDir::new().unwrap();
        let service = start(data.path(), &server);
        let task = service.generate(MODEL, json!({"prompt": "a fox"}));
        await_prompts(&server, 1);
        let prompt = match accepts_ids {
            true => server.requests("/prompt")[0].json()["prompt_id"].clone(),
            false => json!("of-its-own"),
        };
        drop(sockets.recv_timeout(LIMIT).unwrap());
        let mut socket = sockets.recv_timeout(LIMIT).unwrap();
        let reported = json!({"prompt_id": prompt, "nodes": {
            "3": {"state": "running", "value": 15.0, "max": 20.0, "display_node_id": "3"}}});
        send(&mut socket, "progress_state", reported);
        service.await_status(&task, |status| status["progress"] == 0.75);
        state.lock().unwrap().finish();
        assert_eq!(service.wait(&task)["status"], "completed");
    }
}

/// Guards against a connection, and its thread, that outlives its task.
#[test]
fn the_websocket_is_closed_when_the_task_has_ended() {
    let (server, state, sockets) = comfyui(true);
    let data = TempDir::new().unwrap();
    let service = start(data.path(), &server);
    let task = service.generate(MODEL, json!({"prompt": "a fox"}));
    await_prompts(&server, 1);
    let mut socket = sockets.recv_timeout(LIMIT).unwrap();
    state.lock().unwrap().finish();
    assert_eq!(service.wait(&task)["status"], "completed");
    let stream = socket.1.get_ref();
    stream.set_read_timeout(Some(LIMIT)).unwrap();
    let error = loop {
        if let Err(error) = socket.1.read() {
            break error;
        }
    };
    let is_timeout = |kind| {
        matches!(
            kind,
            std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut
        )
    };
    assert!(
        !matches!(&error, tungstenite::Error::Io(error) if is_timeout(error.kind())),
        "{error}"
    );
}

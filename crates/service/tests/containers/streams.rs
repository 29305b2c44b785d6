//! Containers whose model is declared as `streaming`.

use std::sync::Mutex;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;

use super::support::small_server::{Events, Request, Response, SmallServer, json_response};
use super::support::{Server, until};
use super::{MODEL, container, start, succeeded};

const LIMIT: Duration = Duration::from_secs(60);

const SECRET: &str = "a-secret-of-the-user";

/// A stream that a client has requested.
type Stream = (Request, Events);

fn answer(request: &Request, predict: &impl Fn(&Request) -> Response) -> Response {
    match request.path.as_str() {
        "/health-check" => json_response(200, json!({"status": "READY"})),
        "/openapi.json" => json_response(
            200,
            json!({"paths": {"/predictions": {"post": {"x-cog-streaming": true}}},
                "components": {"schemas": {
                    "Output": {"type": "array", "items": {"type": "string", "format": "uri"}},
                    "Input": {"properties": {"prompt": {"type": "string"},
                        "token": {"type": "string", "format": "password"}}}}}}),
        ),
        path if path.ends_with("/cancel") => json_response(200, json!({})),
        _ => predict(request),
    }
}

/// Starts a container that passes on its streams, and responds to other predictions with `predict`.
fn streaming(
    predict: impl Fn(&Request) -> Response + Send + Sync + 'static,
) -> (SmallServer, Receiver<Stream>) {
    let (sender, streams) = channel();
    let sender = Mutex::new(sender);
    let server = SmallServer::start_with_events(
        move |request| answer(request, &predict),
        // The test may have ended.
        move |request, events| drop(sender.lock().unwrap().send((request, events))),
    );
    (server, streams)
}

fn send_log(stream: &mut Stream, text: &str) {
    let data = json!({"source": "stdout", "data": text});
    stream.1.send_event("log", data);
}

fn path_of(task: &Value) -> String {
    format!("/predictions/{}", task["id"].as_str().unwrap())
}

fn predictions_accept(server: &SmallServer, task: &Value) -> Vec<bool> {
    let requests = server.requests(&path_of(task));
    let accept = |request: &Request| request.header("accept") == "text/event-stream";
    requests.iter().map(accept).collect()
}

#[test]
fn the_log_of_a_stream_is_reported_and_its_result_stored() {
    let (server, streams) = streaming(|_| None);
    let data = TempDir::new().unwrap();
    let service = start(data.path(), &server.url());
    let task = service.generate(MODEL, json!({"prompt": "a", "token": SECRET}));
    let mut stream = streams.recv_timeout(LIMIT).unwrap();
    assert_eq!(stream.0.method, "PUT");
    assert_eq!(
        stream.0.json(),
        json!({"input": {"prompt": "a", "token": SECRET}})
    );
    stream.1.send(": keep-alive\n\n");
    stream
        .1
        .send_event("start", json!({"status": "processing"}));
    let (start, end) = SECRET.split_at(5);
    send_log(&mut stream, &format!("progress 0.4 with {start}"));
    stream
        .1
        .send("event: surprise\n\nevent: log\ndata: no JSON\n\nevent: log\ndata: 5\n\n");
    send_log(&mut stream, &format!("{end}\n"));
    let status = service.await_status(&task, |status| status["progress"] == 0.4);
    assert_eq!(status["message"], "with [secret]");

    stream.1.send("event: lo");
    stream
        .1
        .send("g\ndata: {\"source\": \"stderr\", \"data\": \"\\r 45%|#### ");
    stream.1.send("| 9/20 [00:03<00:04]\"}\n\n");
    let status = service.await_status(&task, |status| status["progress"] == 0.45);
    assert_eq!(status["message"], "45%|#### | 9/20 [00:03<00:04]");

    let large = format!("data:text/plain;base64,{}", "aGhp".repeat(200_000));
    stream
        .1
        .send_event("output", json!({"chunk": large, "index": 0}));
    stream.1.send_event(
        "metric",
        json!({"name": "n", "value": 1, "mode": "replace"}),
    );
    let output = json!([large, "data:text/plain;base64,aGk="]);
    stream.1.send_event(
        "completed",
        json!({"status": "succeeded", "output": output}),
    );
    let urls = service.output_of(&task);
    let texts: Vec<String> = urls.iter().map(|url| service.get(url).text()).collect();
    assert_eq!(texts, ["hhi".repeat(200_000), "hi".to_owned()]);
    assert_eq!(server.requests(&path_of(&task)).len(), 1);

    let failing = service.generate(MODEL, json!({"prompt": "b"}));
    let mut stream = streams.recv_timeout(LIMIT).unwrap();
    let failed = json!({"status": "failed", "error": "no", "logs": "step 1\nthe last\n"});
    stream.1.send_event("completed", failed);
    let ended = service.wait(&failing);
    assert_eq!(ended["error"], "no (last line of its log: the last)");
}

/// Guards against a request more for each task.
#[test]
fn a_stream_is_requested_only_if_it_is_declared_and_not_refused() {
    let server = SmallServer::start(|request| {
        answer(request, &|request| match request.header("accept") {
            "text/event-stream" => json_response(406, json!({"error": "no streams"})),
            _ => succeeded(json!("done")),
        })
    });
    let data = TempDir::new().unwrap();
    let service = start(data.path(), &server.url());
    for expected in [&[true, false][..], &[false]] {
        let task = service.generate(MODEL, json!({"prompt": "a"}));
        assert_eq!(service.wait(&task)["status"], "completed");
        assert_eq!(predictions_accept(&server, &task), expected);
    }
    service.await_log("runs without progress: HTTP 406: no streams");

    let server = container(|_| succeeded(json!("done")));
    let data = TempDir::new().unwrap();
    let service = start(data.path(), &server.url());
    let task = service.generate(MODEL, json!({"prompt": "a"}));
    assert_eq!(service.wait(&task)["status"], "completed");
    assert_eq!(predictions_accept(&server, &task), [false]);
}

#[test]
fn an_incomplete_stream_is_retried_with_the_same_id() {
    let count = std::sync::atomic::AtomicUsize::new(0);
    let (server, streams) =
        streaming(
            move |_| match count.fetch_add(1, std::sync::atomic::Ordering::SeqCst) {
                0 => json_response(202, json!({"status": "processing"})),
                _ => succeeded(json!(["data:text/plain;base64,aGk="])),
            },
        );
    let data = TempDir::new().unwrap();
    let service = start(data.path(), &server.url());
    let task = service.generate(MODEL, json!({"prompt": "a"}));
    let begin = || {
        let mut stream = streams.recv_timeout(LIMIT).unwrap();
        assert_eq!(stream.0.path, path_of(&task));
        stream
            .1
            .send_event("start", json!({"status": "processing"}));
        stream
    };
    let canceled = || server.requests(&format!("{}/cancel", path_of(&task))).len();
    // The connection breaks.
    drop(begin());
    assert_eq!(canceled(), 0);
    // Another client, or the service before its connection was lost, has canceled the prediction.
    begin()
        .1
        .send_event("completed", json!({"status": "canceled"}));
    // The first events of an earlier attempt are lost.
    let mut stream = streams.recv_timeout(LIMIT).unwrap();
    stream
        .1
        .send_event("error", json!({"error": "replay truncated"}));
    until("the prediction is canceled", || canceled() == 1);
    // The model writes too fast for the stream.
    begin().1.send_event("error", json!({"error": "lagged"}));
    let urls = service.output_of(&task);
    assert_eq!(service.get(&urls[0]).text(), "hi");
    assert_eq!(
        predictions_accept(&server, &task),
        [true, true, true, true, false, false]
    );
    assert_eq!(canceled(), 2);
    service.await_log("runs without progress: HTTP 406: lagged");
}

#[test]
fn a_streamed_prediction_is_canceled_by_its_user_and_its_time_limit() {
    let (server, streams) = streaming(|_| None);
    let data = TempDir::new().unwrap();
    let models = format!(
        "[[model]]\ncategory = \"text\"\nsubcategory = \"cog\"\nname = \"Cog\"\ntime_limit = \"3s\"\n\
         [model.cog]\naddress = \"{}\"\n",
        server.url()
    );
    let service = Server::start_with_models(data.path(), &models, &["--speed", "0"]);
    for is_canceled in [true, false] {
        let task = service.generate(MODEL, json!({"prompt": "a"}));
        let mut stream = streams.recv_timeout(LIMIT).unwrap();
        send_log(&mut stream, "step 1\n");
        service.await_status(&task, |status| status["message"] == "step 1");
        if is_canceled {
            let reply = service.post("/v2/cancel", &task).json();
            assert_eq!(reply["data"]["canceled"], true, "{reply}");
        }
        let error = service.wait(&task)["error"].as_str().unwrap().to_owned();
        match is_canceled {
            true => assert_eq!(error, "Canceled"),
            false => assert!(error.contains("time limit of 3 s"), "{error}"),
        }
        let path = format!("{}/cancel", path_of(&task));
        until("the prediction is canceled", || {
            !server.requests(&path).is_empty()
        });
    }
}

//! A hostile service that serves the page and replies to its calls as a test demands.

use atelier_end_to_end::{Result, site};
use http_body_util::channel::Channel;
use http_body_util::{BodyExt, Collected, Either, Full};
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode, header};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::convert::Infallible;
use std::io::ErrorKind;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

/// An image of one pixel.
const PICTURE: &str = "<svg xmlns='http://www.w3.org/2000/svg' width='1' height='1'/>";

type Sent = Either<Full<Bytes>, Channel<Bytes, std::io::Error>>;

/// The server, which stops when it is dropped.
pub struct Hostile {
    address: SocketAddr,
    shared: Arc<Shared>,
    server: JoinHandle<()>,
}

#[derive(Default)]
struct Shared {
    /// Replies by path. Other calls get the reply of a correct service.
    answers: Mutex<HashMap<String, Answer>>,
    /// The outputs of each task, if they are not one small image.
    outputs: Mutex<Option<Value>>,
    /// The number of bytes after which replies to calls are truncated, as by a gateway with a limit.
    max_bytes: Mutex<Option<usize>>,
    calls: Mutex<Vec<(String, Value)>>,
}

#[derive(Clone)]
struct Answer {
    status: u16,
    kind: &'static str,
    body: Bytes,
}

impl Hostile {
    pub async fn start() -> Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let address = listener.local_addr()?;
        let shared = Arc::<Shared>::default();
        let server = tokio::spawn(serve(listener, shared.clone()));
        Ok(Self {
            address,
            shared,
            server,
        })
    }

    pub fn address(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Replies to calls to this path with this JSON.
    pub fn answer(&self, path: &str, body: &Value) {
        self.answer_raw(path, 200, "application/json", body.to_string());
    }

    /// Replies to calls to this path with this status, content type and body.
    pub fn answer_raw(&self, path: &str, status: u16, kind: &'static str, body: String) {
        let body = body.into();
        let answer = Answer { status, kind, body };
        locked(&self.shared.answers).insert(path.to_owned(), answer);
    }

    /// Sets the outputs of each task, single or in a batch.
    pub fn set_outputs(&self, outputs: &[String]) {
        *locked(&self.shared.outputs) = Some(outputs.into());
    }

    /// Truncates replies after this number of bytes.
    pub fn truncate_replies(&self, bytes: usize) {
        *locked(&self.shared.max_bytes) = Some(bytes);
    }

    /// Sets the models in the reply to `GET /api/models`.
    pub fn set_models(&self, models: &[Value]) {
        self.answer("/api/models", &models_reply(models));
    }

    /// Returns the path, unchanged, and the body of every call so far.
    pub fn calls(&self) -> Vec<(String, Value)> {
        locked(&self.shared.calls).clone()
    }

    /// Returns the bodies of all calls to this path.
    pub fn bodies(&self, path: &str) -> Vec<Value> {
        let calls = self.calls().into_iter();
        calls
            .filter(|(called, _)| called == path)
            .map(|(_, body)| body)
            .collect()
    }
}

impl Drop for Hostile {
    fn drop(&mut self) {
        self.server.abort();
    }
}

/// Returns an ordinary entry of the list of models.
pub fn model(name: &str, category: &str, subcategory: &str) -> Value {
    json!({
        "name": name, "category": category, "subcategory": subcategory, "description": "A model.",
        "endpoint": {"generate": "/v2/generate", "status": "/v2/status", "response": "/v2/response"},
        "documentation": "", "preview": "",
    })
}

/// Returns a reply to `GET /api/schema/…` with these parameters.
pub fn schema(required: &[Value], optional: &[Value]) -> Value {
    json!({"success": true, "message": "", "data": {
        "category": "image", "subcategory": "plain",
        "parameters": {"required": required, "optional": optional},
    }})
}

fn models_reply(models: &[Value]) -> Value {
    json!({
        "success": true, "count": models.len(), "data": models, "message": "",
        "guest": {"uid": "guest", "token": "token-of-a-guest"},
    })
}

async fn serve(listener: TcpListener, shared: Arc<Shared>) {
    while let Ok((stream, _)) = listener.accept().await {
        let shared = shared.clone();
        let service = service_fn(move |request| {
            let shared = shared.clone();
            let is_call = request.uri().path().starts_with("/v2/");
            async move {
                let response = reply(&shared, request).await;
                let max = locked(&shared.max_bytes).filter(|_| is_call);
                Ok::<_, Infallible>(truncate(response, max).await)
            }
        });
        tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), service));
    }
}

async fn reply(shared: &Shared, request: Request<Incoming>) -> Response<Full<Bytes>> {
    let path = request.uri().path().to_owned();
    if !path.starts_with("/api/") && !path.starts_with("/v2/") {
        return site_file(&path);
    }
    let body = request.into_body().collect().await;
    let body = body.map(|body| body.to_bytes()).unwrap_or_default();
    let body: Value = serde_json::from_slice(&body).unwrap_or_default();
    let answer = locked(&shared.answers).get(&path).cloned();
    let outputs = locked(&shared.outputs).clone();
    let outputs = outputs.unwrap_or_else(|| json!(["/outputs/picture.svg"]));
    let answer = answer.unwrap_or_else(|| Answer {
        status: 200,
        kind: "application/json",
        body: good_reply(&path, &body, &outputs).to_string().into(),
    });
    locked(&shared.calls).push((path, body));
    respond(answer.status, answer.kind, answer.body)
}

/// Returns the reply of a correct service where every task is completed at once.
fn good_reply(path: &str, body: &Value, outputs: &Value) -> Value {
    if let Some(single) = path.strip_suffix("-batch") {
        let requests = body["requests"].as_array().into_iter().flatten();
        let results: Vec<Value> = requests
            .enumerate()
            .map(|(n, each)| {
                let mut body = good_reply(single, each, outputs);
                if single == "/v2/generate" {
                    body["data"]["id"] = format!("task-{}", n + 1).into();
                }
                json!({"index": n, "status": 200, "body": body})
            })
            .collect();
        return json!({"success": true, "data": {"results": results}});
    }
    let id = body["id"].as_str().unwrap_or("task-1");
    match path {
        "/api/models" => models_reply(&[model("Plain", "image", "plain")]),
        "/v2/generate" => json!({"success": true, "data": {"id": id, "status": "starting"}}),
        "/v2/status" => json!({"success": true, "data": {"id": id, "status": "completed"}}),
        "/v2/response" => {
            json!({"success": true, "data": {"status": "completed", "output": outputs}})
        }
        _ => schema(
            &[json!({"name": "prompt", "type": "string", "description": "What to make."})],
            &[],
        ),
    }
}

/// Returns a file of the release build, or its page.
fn site_file(path: &str) -> Response<Full<Bytes>> {
    if path.starts_with("/outputs/") {
        return respond(200, "image/svg+xml", PICTURE.into());
    }
    let file = path.trim_start_matches('/');
    let kind = match file.rsplit_once('.').map(|(_, ending)| ending) {
        Some("js") => "text/javascript",
        Some("css") => "text/css",
        Some("wasm") => "application/wasm",
        Some("svg") => "image/svg+xml",
        _ => "text/html; charset=utf-8",
    };
    let is_plain = !file.is_empty() && !file.contains(['/', '%']);
    let file = Path::new(if is_plain { file } else { "index.html" });
    let folder = site::folder().unwrap_or_default();
    let found = std::fs::read(folder.join(file));
    match found.or_else(|_| std::fs::read(folder.join("index.html"))) {
        Ok(bytes) => respond(200, kind, bytes.into()),
        Err(_) => respond(404, "text/plain", Bytes::new()),
    }
}

fn respond(status: u16, kind: &'static str, body: Bytes) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(body));
    *response.status_mut() = StatusCode::from_u16(status).unwrap_or_default();
    let kind = header::HeaderValue::from_static(kind);
    response.headers_mut().insert(header::CONTENT_TYPE, kind);
    response
}

/// Truncates a reply that is longer than `max` bytes by closing the connection.
async fn truncate(response: Response<Full<Bytes>>, max: Option<usize>) -> Response<Sent> {
    let (head, body) = response.into_parts();
    let Ok(body) = body.collect().await.map(Collected::to_bytes);
    let Some(max) = max.filter(|max| *max < body.len()) else {
        return Response::from_parts(head, Either::Left(Full::new(body)));
    };
    let (mut sender, channel) = Channel::new(1);
    tokio::spawn(async move {
        // Errors are ignored, since the page may have closed the connection.
        let _ = sender.send_data(body.slice(..max)).await;
        sender.abort(ErrorKind::ConnectionAborted.into());
    });
    Response::from_parts(head, Either::Right(channel))
}

fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

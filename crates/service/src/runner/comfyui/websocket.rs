//! Receives the progress of a task over ComfyUI's websocket, on a separate thread. Without it, tasks end all the same,
//! because the runner polls the history.

use std::cell::Cell;
use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream, ToSocketAddrs};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};
use serde_json::Value;
use tungstenite::client::IntoClientRequest;
use tungstenite::protocol::WebSocketConfig;
use tungstenite::{Message, WebSocket, client};
use ureq::http::{HeaderValue, Uri};

use super::super::Run;
use super::super::http::Client;
use super::steps::Steps;
use crate::model::Stop;
use crate::report::Report;

/// The timeout of connecting, and of each read until the connection is open.
const CONNECT: Duration = Duration::from_secs(5);

/// The first and the longest pause before a connection is opened again.
const PAUSES: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(30));

/// The minimum interval of previews.
const PREVIEW_INTERVAL: Duration = Duration::from_secs(1);

/// The maximum size of a message, in bytes.
const MAX_MESSAGE: usize = 8 << 20;

/// The first message. With it, newer versions send the id of the prompt with each picture.
const FEATURES: &str = r#"{"type": "feature_flags", "data": {"supports_preview_metadata": true}}"#;

/// A connection that receives the progress of one task. Dropping it closes the connection.
pub struct Progress {
    shared: Arc<Shared>,
    /// When the last preview was reported.
    previewed: Cell<Option<Instant>>,
}

struct Shared {
    address: Uri,
    authorization: Option<HeaderValue>,
    stop: Stop,
    /// The open connection.
    stream: Mutex<Option<TcpStream>>,
    received: Mutex<Received>,
}

struct Received {
    steps: Steps,
    /// The changes that are not reported yet.
    report: Report,
    preview: Option<Vec<u8>>,
}

impl Progress {
    /// Starts to receive the progress of the prompt with this client id. `address` is ComfyUI's, `graph` the workflow.
    pub fn receive(client: &Client, address: &str, client_id: &str, graph: &Value) -> Option<Self> {
        let address: Uri = format!("{address}/ws?clientId={client_id}").parse().ok()?;
        let shared = Arc::new(Shared {
            authorization: client.authorization_for(&address).cloned(),
            address,
            stop: Stop::default(),
            stream: Mutex::default(),
            received: Mutex::new(Received {
                steps: Steps::new(graph, client_id),
                report: Report::default(),
                preview: None,
            }),
        });
        let receiver = shared.clone();
        let thread = std::thread::Builder::new();
        thread.spawn(move || receiver.run()).ok()?;
        Some(Self {
            shared,
            previewed: Cell::default(),
        })
    }

    /// Sets the id of the prompt, which older versions of ComfyUI choose themselves.
    pub fn set_prompt(&self, prompt: &str) {
        self.shared.received().steps.set_prompt(prompt);
    }

    /// Reports what was received since the last call.
    pub fn report(&self, run: &Run<'_>) {
        let now = Instant::now();
        let previewed = self.previewed.get();
        let is_preview_due = previewed.is_none_or(|at| now.duration_since(at) >= PREVIEW_INTERVAL);
        let mut received = self.shared.received();
        let report = std::mem::take(&mut received.report);
        let preview = is_preview_due.then(|| received.preview.take()).flatten();
        drop(received);
        if report != Report::default() {
            (run.report)(report);
        }
        if let Some(preview) = preview {
            (run.preview)(&preview);
            self.previewed.set(Some(now));
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.shared.stop.set();
        if let Some(stream) = &*self.shared.stream() {
            // Ends a read. An error means that the connection is closed.
            let _ = stream.shutdown(Shutdown::Both);
        }
    }
}

impl Shared {
    fn received(&self) -> MutexGuard<'_, Received> {
        self.received.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn stream(&self) -> MutexGuard<'_, Option<TcpStream>> {
        self.stream.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Receives messages until the task has ended. Reconnects with increasing pauses.
    fn run(&self) {
        let (mut pause, longest) = PAUSES;
        loop {
            let error = match self.connect() {
                Ok(mut socket) => {
                    pause = PAUSES.0;
                    self.received().steps.reconnect();
                    self.read(&mut socket).to_string()
                }
                Err(error) => error,
            };
            if self.stop.is_set_within(pause) {
                return;
            }
            tracing::debug!("{}: {error}", self.address.path());
            pause = (pause * 2).min(longest);
        }
    }

    /// Opens a connection. Follows no redirects.
    fn connect(&self) -> Result<WebSocket<Box<dyn Stream>>, String> {
        let host = self.address.host().unwrap_or_default();
        let host = host.trim_matches(['[', ']']);
        let is_encrypted = self.address.scheme_str() == Some("https");
        let (scheme, default_port) = match is_encrypted {
            true => ("wss", 443),
            false => ("ws", 80),
        };
        let port = self.address.port_u16().unwrap_or(default_port);
        let tcp = connect_tcp(host, port).map_err(|error| error.to_string())?;
        let handle = tcp.try_clone().map_err(|error| error.to_string())?;
        *self.stream() = Some(handle);
        if self.stop.is_set() {
            return Err("the task has ended".into());
        }
        let text = self.address.to_string();
        let (_, rest) = text.split_once("://").unwrap_or_default();
        let mut request = format!("{scheme}://{rest}")
            .into_client_request()
            .map_err(|error| error.to_string())?;
        if let Some(authorization) = &self.authorization {
            let headers = request.headers_mut();
            headers.insert("authorization", authorization.clone());
        }
        let stream: Box<dyn Stream> = match is_encrypted {
            true => Box::new(encrypt(host, tcp)?),
            false => Box::new(tcp),
        };
        let config = WebSocketConfig::default()
            .read_buffer_size(16 << 10)
            .max_message_size(Some(MAX_MESSAGE));
        let (mut socket, _) = client::client_with_config(request, stream, Some(config))
            .map_err(|error| error.to_string())?;
        socket
            .send(Message::text(FEATURES))
            .map_err(|error| error.to_string())?;
        if let Some(stream) = &*self.stream() {
            // A prompt may wait for a long time.
            let _ = stream.set_read_timeout(None);
        }
        Ok(socket)
    }

    /// Reads messages until the connection breaks.
    fn read(&self, socket: &mut WebSocket<Box<dyn Stream>>) -> tungstenite::Error {
        loop {
            match socket.read() {
                Ok(Message::Text(text)) => {
                    let mut received = self.received();
                    if let Some(newer) = received.steps.read_text(&text) {
                        received.report.update(newer);
                    }
                }
                Ok(Message::Binary(bytes)) => {
                    let mut received = self.received();
                    if let Some(picture) = received.steps.picture_in(&bytes) {
                        received.preview = Some(picture.to_vec());
                    }
                }
                Ok(_) => {}
                Err(error) => return error,
            }
        }
    }
}

trait Stream: Read + Write + Send {}

impl<T: Read + Write + Send> Stream for T {}

fn connect_tcp(host: &str, port: u16) -> io::Result<TcpStream> {
    let mut last_error = io::ErrorKind::NotFound.into();
    for address in (host, port).to_socket_addrs()? {
        match TcpStream::connect_timeout(&address, CONNECT) {
            Ok(stream) => {
                stream.set_nodelay(true)?;
                stream.set_read_timeout(Some(CONNECT))?;
                stream.set_write_timeout(Some(CONNECT))?;
                return Ok(stream);
            }
            Err(error) => last_error = error,
        }
    }
    Err(last_error)
}

fn encrypt(host: &str, tcp: TcpStream) -> Result<StreamOwned<ClientConnection, TcpStream>, String> {
    let roots = RootCertStore {
        roots: webpki_roots::TLS_SERVER_ROOTS.to_vec(),
    };
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?
        .with_root_certificates(roots)
        .with_no_client_auth();
    let name = ServerName::try_from(host.to_owned()).map_err(|error| error.to_string())?;
    let connection = ClientConnection::new(Arc::new(config), name);
    let connection = connection.map_err(|error| error.to_string())?;
    Ok(StreamOwned::new(connection, tcp))
}

//! A small HTTP server on loopback that stands in for the servers of remote models.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::SystemTime;

use serde_json::Value;
use tungstenite::WebSocket;
use tungstenite::handshake::derive_accept_key;
use tungstenite::protocol::Role;

/// A received request.
#[derive(Debug, Clone)]
pub struct Request {
    pub at: SystemTime,
    pub method: String,
    pub path: String,
    /// Names are in lower case.
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl Request {
    pub fn header(&self, name: &str) -> &str {
        let found = self.headers.iter().find(|(known, _)| known == name);
        found.map_or("", |(_, value)| value)
    }

    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }
}

/// A response: status, content type, body. `None` closes the connection without a response.
pub type Response = Option<(u16, &'static str, Vec<u8>)>;

pub fn json_response(status: u16, body: Value) -> Response {
    Some((status, "application/json", body.to_string().into_bytes()))
}

/// A response with additional headers, such as `Retry-After`.
pub struct Reply {
    pub response: Response,
    pub headers: Vec<(&'static str, String)>,
}

impl From<Response> for Reply {
    fn from(response: Response) -> Self {
        let headers = Vec::new();
        Self { response, headers }
    }
}

/// An open connection of a client, and its request.
pub type Connection = (Request, WebSocket<TcpStream>);

/// What a server does with a connection that stays open.
enum Open {
    WebSocket(Box<dyn Fn(Connection) + Send + Sync>),
    Events(Box<dyn Fn(Request, Events) + Send + Sync>),
}

/// An open stream of server-sent events. Dropping it breaks the connection.
pub struct Events(TcpStream);

impl Events {
    /// Sends a text in a chunk of its own.
    pub fn send(&mut self, text: &str) {
        // The client may have disconnected.
        let _ = write!(self.0, "{:x}\r\n{text}\r\n", text.len());
    }

    pub fn send_event(&mut self, name: &str, data: Value) {
        self.send(&format!("event: {name}\ndata: {data}\n\n"));
    }
}

/// A server that runs until the test ends.
pub struct SmallServer {
    pub address: SocketAddr,
    requests: Arc<Mutex<Vec<Request>>>,
}

impl SmallServer {
    pub fn start(answer: impl Fn(&Request) -> Response + Send + Sync + 'static) -> Self {
        Self::start_with_headers(move |request| answer(request).into())
    }

    pub fn start_with_headers(answer: impl Fn(&Request) -> Reply + Send + Sync + 'static) -> Self {
        Self::serve_at("127.0.0.1:0".parse().unwrap(), answer, None)
    }

    /// Starts a server that also opens websockets.
    pub fn start_with_websockets(
        answer: impl Fn(&Request) -> Response + Send + Sync + 'static,
        open: impl Fn(Connection) + Send + Sync + 'static,
    ) -> Self {
        let answer = move |request: &Request| answer(request).into();
        let address = "127.0.0.1:0".parse().unwrap();
        Self::serve_at(address, answer, Some(Open::WebSocket(Box::new(open))))
    }

    /// Starts a server that also opens streams of events for clients that accept them.
    pub fn start_with_events(
        answer: impl Fn(&Request) -> Response + Send + Sync + 'static,
        open: impl Fn(Request, Events) + Send + Sync + 'static,
    ) -> Self {
        let answer = move |request: &Request| answer(request).into();
        let address = "127.0.0.1:0".parse().unwrap();
        Self::serve_at(address, answer, Some(Open::Events(Box::new(open))))
    }

    pub fn start_at(
        address: SocketAddr,
        answer: impl Fn(&Request) -> Response + Send + Sync + 'static,
    ) -> Self {
        Self::serve_at(address, move |request| answer(request).into(), None)
    }

    fn serve_at(
        address: SocketAddr,
        answer: impl Fn(&Request) -> Reply + Send + Sync + 'static,
        open: Option<Open>,
    ) -> Self {
        let listener = TcpListener::bind(address).unwrap();
        let server = Self {
            address: listener.local_addr().unwrap(),
            requests: Arc::default(),
        };
        let (requests, answer) = (server.requests.clone(), Arc::new(answer));
        let open = Arc::new(open);
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let (requests, answer, open) = (requests.clone(), answer.clone(), open.clone());
                std::thread::spawn(move || {
                    serve(stream, &requests, &*answer, open.as_ref().as_ref())
                });
            }
        });
        server
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Returns the requests of this path so far.
    pub fn requests(&self, path: &str) -> Vec<Request> {
        let requests = self.requests.lock().unwrap();
        let of_path = requests.iter().filter(|request| request.path == path);
        of_path.cloned().collect()
    }
}

/// Returns an address that no server listens on.
pub fn unused_address() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap()
}

fn serve(
    mut stream: TcpStream,
    requests: &Mutex<Vec<Request>>,
    answer: &dyn Fn(&Request) -> Reply,
    open: Option<&Open>,
) {
    let Some(request) = read(&stream) else { return };
    requests.lock().unwrap().push(request.clone());
    if let Some(Open::WebSocket(open)) = open
        && request.header("upgrade") == "websocket"
    {
        let key = derive_accept_key(request.header("sec-websocket-key").as_bytes());
        let head = format!(
            "HTTP/1.1 101 x\r\nupgrade: websocket\r\nconnection: upgrade\r\nsec-websocket-accept: {key}\r\n\r\n"
        );
        stream.write_all(head.as_bytes()).unwrap();
        open((
            request,
            WebSocket::from_raw_socket(stream, Role::Server, None),
        ));
        return;
    }
    if let Some(Open::Events(open)) = open
        && request.header("accept") == "text/event-stream"
    {
        let head = "HTTP/1.1 200 x\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
        stream.write_all(head.as_bytes()).unwrap();
        return open(request, Events(stream));
    }
    let reply = answer(&request);
    let Some((status, content_type, body)) = reply.response else {
        return;
    };
    let further: String = reply
        .headers
        .iter()
        .map(|(name, value)| format!("{name}: {value}\r\n"))
        .collect();
    let head = format!(
        "HTTP/1.1 {status} x\r\ncontent-type: {content_type}\r\ncontent-length: {}\r\n{further}connection: close\r\n\r\n",
        body.len()
    );
    // The client may have disconnected.
    let _ = stream.write_all(head.as_bytes());
    let _ = stream.write_all(&body);
}

fn read(stream: &TcpStream) -> Option<Request> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let mut words = line.split_whitespace().map(str::to_owned);
    let (method, path) = (words.next()?, words.next()?);
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.split_once(':') else {
            break;
        };
        headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
    let length = headers.iter().find(|(name, _)| name == "content-length");
    let length = length.and_then(|(_, value)| value.parse().ok());
    let mut body = vec![0; length.unwrap_or(0)];
    reader.read_exact(&mut body).ok()?;
    Some(Request {
        at: SystemTime::now(),
        method,
        path,
        headers,
        body,
    })
}

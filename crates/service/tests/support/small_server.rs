//! A small HTTP server on loopback, as the other end of a runner.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::SystemTime;

use serde_json::Value;

/// A request that came.
#[derive(Debug, Clone)]
pub struct Asked {
    pub at: SystemTime,
    pub method: String,
    pub path: String,
    /// Names in lower case.
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl Asked {
    pub fn header(&self, name: &str) -> &str {
        let found = self.headers.iter().find(|(known, _)| known == name);
        found.map_or("", |(_, value)| value)
    }

    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }
}

/// What it answers: status, content type, body. `None` breaks the connection.
pub type Said = Option<(u16, &'static str, Vec<u8>)>;

pub fn json(status: u16, body: Value) -> Said {
    Some((status, "application/json", body.to_string().into_bytes()))
}

/// An answer with headers of its own, such as `Retry-After`.
pub struct Reply {
    pub said: Said,
    pub headers: Vec<(&'static str, String)>,
}

impl From<Said> for Reply {
    fn from(said: Said) -> Self {
        let headers = Vec::new();
        Self { said, headers }
    }
}

/// Serves until the test ends.
pub struct SmallServer {
    pub address: SocketAddr,
    asked: Arc<Mutex<Vec<Asked>>>,
}

impl SmallServer {
    pub fn start(answer: impl Fn(&Asked) -> Said + Send + Sync + 'static) -> Self {
        Self::start_with_headers(move |asked| answer(asked).into())
    }

    pub fn start_with_headers(answer: impl Fn(&Asked) -> Reply + Send + Sync + 'static) -> Self {
        Self::serve_at("127.0.0.1:0".parse().unwrap(), answer)
    }

    pub fn start_at(
        address: SocketAddr,
        answer: impl Fn(&Asked) -> Said + Send + Sync + 'static,
    ) -> Self {
        Self::serve_at(address, move |asked| answer(asked).into())
    }

    fn serve_at(
        address: SocketAddr,
        answer: impl Fn(&Asked) -> Reply + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind(address).unwrap();
        let server = Self {
            address: listener.local_addr().unwrap(),
            asked: Arc::default(),
        };
        let (asked, answer) = (server.asked.clone(), Arc::new(answer));
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let (asked, answer) = (asked.clone(), answer.clone());
                std::thread::spawn(move || serve(stream, &asked, &*answer));
            }
        });
        server
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The requests of this path so far.
    pub fn asked(&self, path: &str) -> Vec<Asked> {
        let asked = self.asked.lock().unwrap();
        asked.iter().filter(|a| a.path == path).cloned().collect()
    }
}

/// An address that no server listens on.
pub fn nobody() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap()
}

fn serve(mut stream: TcpStream, asked: &Mutex<Vec<Asked>>, answer: &dyn Fn(&Asked) -> Reply) {
    let Some(request) = read(&stream) else { return };
    asked.lock().unwrap().push(request.clone());
    let reply = answer(&request);
    let Some((status, content_type, body)) = reply.said else {
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
    // Who has asked may be gone.
    let _ = stream.write_all(head.as_bytes());
    let _ = stream.write_all(&body);
}

fn read(stream: &TcpStream) -> Option<Asked> {
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
    Some(Asked {
        at: SystemTime::now(),
        method,
        path,
        headers,
        body,
    })
}

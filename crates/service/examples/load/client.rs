//! A client with a persistent connection.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::Value;

use crate::Outcome;

/// A client that reuses its connection until the service closes it.
pub struct Client<'a> {
    address: &'a str,
    connection: Option<BufReader<TcpStream>>,
}

impl<'a> Client<'a> {
    /// Creates a client for the service at this host and port.
    pub fn new(address: &'a str) -> Self {
        Self {
            address,
            connection: None,
        }
    }

    /// Makes a call. If it fails, retries it once on a new connection, because the service may have closed the old one.
    ///
    /// # Errors
    ///
    /// The call also fails on a new connection.
    pub fn call(&mut self, method: &str, path: &str, body: &str) -> Outcome<Value> {
        let first = self.try_call(method, path, body);
        if first.is_err() {
            self.connection = None;
            return self.try_call(method, path, body);
        }
        first
    }

    fn try_call(&mut self, method: &str, path: &str, body: &str) -> Outcome<Value> {
        let connection = match &mut self.connection {
            Some(connection) => connection,
            none => {
                let stream = TcpStream::connect(self.address)?;
                stream.set_nodelay(true)?;
                stream.set_read_timeout(Some(Duration::from_secs(30)))?;
                none.insert(BufReader::new(stream))
            }
        };
        let request = format!(
            "{method} {path} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer t\r\n\
             content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        );
        connection.get_mut().write_all(request.as_bytes())?;
        let (mut line, mut length) = (String::new(), 0);
        connection.read_line(&mut line)?;
        if !line.starts_with("HTTP/1.1 200") {
            return Err(io::Error::other(format!("answered {line:?}")).into());
        }
        while line != "\r\n" {
            line.clear();
            connection.read_line(&mut line)?;
            if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                length = value.trim().parse()?;
            }
        }
        let mut answer = vec![0; length];
        connection.read_exact(&mut answer)?;
        // Metrics are not JSON.
        Ok(serde_json::from_slice(&answer).unwrap_or_default())
    }
}

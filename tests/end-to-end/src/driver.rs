//! A WebDriver process on a free port. Dropping it also ends its browser, even when a test panics. For that reason,
//! everything that runs on drop is synchronous.

use crate::{Result, service};
use serde_json::Value;
use std::ffi::OsString;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A WebDriver server.
pub struct Program {
    pub command: Command,
    pub port: Port,
}

/// How the port of the program is chosen.
pub enum Port {
    /// The program chooses it, and prints it after this text.
    Printed(&'static str),
    /// The test chooses it, and passes it with this option.
    Assigned(&'static str),
}

impl Program {
    /// Returns the program that the environment variable names, or else the one called `name`.
    pub fn named(variable: &str, name: &str, port: Port) -> Self {
        let program = std::env::var_os(variable).unwrap_or_else(|| OsString::from(name));
        let command = Command::new(program);
        Self { command, port }
    }
}

pub struct Driver {
    port: u16,
    child: Child,
    /// The session to end on drop.
    session: Option<String>,
}

impl Driver {
    /// Starts a driver and waits until it listens.
    ///
    /// # Errors
    ///
    /// The program can't be started, or does not listen in time.
    pub fn start(program: Program) -> Result<Self> {
        let Program { mut command, port } = program;
        let assigned = match port {
            Port::Printed(_) => None,
            Port::Assigned(option) => {
                let port = service::free_address()?.port();
                command.arg(format!("{option}{port}"));
                Some(port)
            }
        };
        let name = command.get_program().display().to_string();
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|error| format!("{name}: {error}"))?;
        let found = match (port, assigned) {
            (Port::Printed(label), _) => read_port(&mut child, label),
            (_, Some(port)) => wait_for_listener(&mut child, port).then_some(port),
            (_, None) => None,
        };
        let Some(port) = found else {
            let _ = child.kill();
            let _ = child.wait();
            return Err(format!("{name} does not listen").into());
        };
        Ok(Self {
            port,
            child,
            session: None,
        })
    }

    pub fn address(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Sets the session to end on drop.
    pub fn set_session(&mut self, session: String) {
        self.session = Some(session);
    }

    /// Returns a screenshot as a PNG in base64.
    ///
    /// # Errors
    ///
    /// The driver does not answer, or returns no picture.
    pub fn screenshot(&self) -> Result<String> {
        let session = self.session.as_deref().unwrap_or_default();
        let reply = self.request("GET", &format!("/session/{session}/screenshot"))?;
        let reply: Value = serde_json::from_str(&reply)?;
        Ok(reply["value"].as_str().ok_or("no picture")?.to_owned())
    }

    /// Sends a request without an async runtime, and returns the body of the response.
    fn request(&self, method: &str, path: &str) -> Result<String> {
        let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port))?;
        stream.set_read_timeout(Some(Duration::from_secs(60)))?;
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nhost: 127.0.0.1:{}\r\n\
             content-length: 0\r\n\r\n",
            self.port
        )?;
        // The driver never closes the connection: the body ends after `content-length` bytes.
        let mut reply = BufReader::new(stream);
        let mut length = 0;
        loop {
            let mut line = String::new();
            reply.read_line(&mut line)?;
            let line = line.trim_end().to_ascii_lowercase();
            if line.is_empty() {
                break;
            }
            if let Some(value) = line.strip_prefix("content-length:") {
                length = value.trim().parse()?;
            }
        }
        let mut body = vec![0; length];
        reply.read_exact(&mut body)?;
        Ok(String::from_utf8(body)?)
    }
}

/// Reads the port from the program's output.
fn read_port(child: &mut Child, label: &str) -> Option<u16> {
    let mut lines = BufReader::new(child.stdout.take()?).lines();
    let port = lines
        .by_ref()
        .map_while(std::result::Result::ok)
        .find_map(|line| {
            let (_, port) = line.split_once(label)?;
            port.trim_end_matches('.').parse().ok()
        });
    // Keep reading the output: otherwise the program blocks on a full pipe.
    std::thread::spawn(move || lines.for_each(drop));
    port
}

/// Waits until something listens on the port. Returns `false` if the program ends or the time is up.
fn wait_for_listener(child: &mut Child, port: u16) -> bool {
    if let Some(output) = child.stdout.take() {
        std::thread::spawn(move || BufReader::new(output).lines().for_each(drop));
    }
    let deadline = Instant::now() + Duration::from_secs(60);
    while matches!(child.try_wait(), Ok(None)) && Instant::now() < deadline {
        if TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_ok() {
            return true;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    false
}

impl Drop for Driver {
    fn drop(&mut self) {
        // This request waits until the browser has ended. Killing the driver alone would leave the browser running.
        if let Some(session) = &self.session {
            let _ = self.request("DELETE", &format!("/session/{session}"));
        }
        // Chromium's driver exits on this request. The other drivers return an error.
        let shutdown = self.request("GET", "/shutdown");
        if shutdown.is_ok_and(|answer| !answer.contains("error")) {
            let deadline = Instant::now() + Duration::from_secs(5);
            while matches!(self.child.try_wait(), Ok(None)) && Instant::now() < deadline {
                std::thread::sleep(Duration::from_millis(10));
            }
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

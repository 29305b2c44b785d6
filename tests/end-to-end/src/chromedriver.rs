//! A chromedriver process on a free port. Ending it must leave no browser behind, also when a test
//! panics: so everything here that runs on drop is synchronous.

use crate::Result;
use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

pub struct Chromedriver {
    port: u16,
    child: Child,
    /// The session to end with it.
    session: Option<String>,
}

impl Chromedriver {
    pub fn start() -> Result<Self> {
        let program = std::env::var_os("CHROMEDRIVER").unwrap_or_else(|| "chromedriver".into());
        let mut child = Command::new(&program)
            .args(["--port=0", "--log-level=SEVERE"])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|error| format!("{}: {error}", program.display()))?;
        let stdout = child.stdout.take().ok_or("chromedriver has no output")?;
        let mut lines = BufReader::new(stdout).lines();
        let port = lines
            .by_ref()
            .map_while(std::result::Result::ok)
            .find_map(|line| {
                let (_, port) = line.split_once("started successfully on port ")?;
                port.trim_end_matches('.').parse().ok()
            });
        // Someone has to go on reading, or chromedriver blocks on a full pipe.
        std::thread::spawn(move || lines.for_each(drop));
        let Some(port) = port else {
            let _ = child.kill();
            let _ = child.wait();
            return Err("chromedriver did not say on which port it listens".into());
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

    /// Names the session that ends with this process.
    pub fn own(&mut self, session: String) {
        self.session = Some(session);
    }

    /// What is on the screen, as a PNG in base64.
    pub fn screenshot(&self) -> Result<String> {
        let session = self.session.as_deref().unwrap_or_default();
        let reply = self.request("GET", &format!("/session/{session}/screenshot"))?;
        let reply: Value = serde_json::from_str(&reply)?;
        Ok(reply["value"].as_str().ok_or("no picture")?.to_owned())
    }

    /// One request, without a runtime; the body of the reply.
    fn request(&self, method: &str, path: &str) -> Result<String> {
        let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port))?;
        stream.set_read_timeout(Some(Duration::from_secs(20)))?;
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nhost: 127.0.0.1:{}\r\n\
             content-length: 0\r\n\r\n",
            self.port
        )?;
        // It keeps the connection open whatever it is asked, so the end is where the length says.
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

impl Drop for Chromedriver {
    fn drop(&mut self) {
        // Ending a session waits for its browser to end. Killed, chromedriver would leave it running.
        if let Some(session) = &self.session {
            let _ = self.request("DELETE", &format!("/session/{session}"));
        }
        let _ = self.request("GET", "/shutdown");
        let patience = Instant::now() + Duration::from_secs(5);
        while matches!(self.child.try_wait(), Ok(None)) && Instant::now() < patience {
            std::thread::sleep(Duration::from_millis(10));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

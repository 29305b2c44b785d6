//! Runs the service as a process, and calls it.
#![allow(dead_code)] // Each test file uses only a part of this module.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

pub mod cluster;
pub mod event_stream;
#[cfg(target_os = "linux")]
pub mod small_disk;
pub mod small_server;

/// The program, running on a free loopback port; killed when dropped.
pub struct Server {
    child: Child,
    pub url: String,
    data: Option<TempDir>,
    log: Log,
}

/// The log that the program has written so far.
#[derive(Clone, Default)]
struct Log(Arc<(Mutex<String>, Condvar)>);

/// A response of the service.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub bytes: Vec<u8>,
}

/// The time limit of a condition. With PostgreSQL, the tasks of a killed process are found after a while.
const LIMIT: Duration = Duration::from_secs(120);

/// Waits until the condition is true. `what`: the condition, for the error.
pub fn until(what: &str, is_so: impl Fn() -> bool) {
    let deadline = Instant::now() + LIMIT;
    while !is_so() {
        assert!(Instant::now() < deadline, "never: {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

impl Server {
    /// Starts the service with a temporary data directory.
    pub fn start(args: &[&str]) -> Self {
        let data = TempDir::new().unwrap();
        let mut server = Self::start_on(data.path(), args);
        server.data = Some(data);
        server
    }

    pub fn start_on(data: &Path, args: &[&str]) -> Self {
        let mut command = Command::new(program());
        command
            .args(["--listen", "127.0.0.1:0", "--data"])
            .arg(data)
            .args(args)
            .args(cluster::storage_options(data, args));
        Self::run(command)
    }

    /// Starts the service with this models file, which is stored in its data directory.
    pub fn start_with_models(data: &Path, models: &str, args: &[&str]) -> Self {
        let file = data.join("models.toml");
        std::fs::write(&file, models).unwrap();
        Self::start_on(
            data,
            &[&["--models", file.to_str().unwrap()], args].concat(),
        )
    }

    /// Starts the service with an MCP tool for each model, for the official clients of MCP. The tasks of the model
    /// `image/slow` do not end.
    pub fn start_with_mcp_tools() -> Self {
        let models = r#"
[[model]]
category = "image"
subcategory = "slow"
name = "Slow"
command = { program = "/bin/sh", arguments = ["-c", "sleep 600"] }
parameter = [{ name = "prompt", type = "string", required = true }]
at_once = 4
"#;
        let options = [
            "--speed",
            "0",
            "--draw-scale",
            "0.25",
            "--mcp-tools",
            "each",
        ];
        let data = TempDir::new().unwrap();
        let mut server = Self::start_with_models(data.path(), models, &options);
        server.data = Some(data);
        server
    }

    /// Starts the service with a limit of `files` open files.
    #[cfg(unix)]
    pub fn start_limited(data: &Path, files: u32, args: &[&str]) -> Self {
        let mut command = Command::new("sh");
        command
            .args(["-c", &format!("ulimit -n {files} && exec \"$0\" \"$@\"")])
            .arg(program())
            .args(["--listen", "127.0.0.1:0", "--data"])
            .arg(data)
            .args(args)
            .args(cluster::storage_options(data, args));
        Self::run(command)
    }

    pub fn run(mut command: Command) -> Self {
        if !command.get_envs().any(|(name, _)| name == "RUST_LOG") {
            command.env("RUST_LOG", "info,atelier_service=debug");
        }
        let mut child = command
            .env_remove("ATELIER_SERVICE_TOKEN")
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let log = Log::default();
        let (stderr, shared) = (child.stderr.take().unwrap(), log.clone());
        std::thread::spawn(move || {
            for line in BufReader::new(stderr).lines().map_while(Result::ok) {
                let (text, grown) = &*shared.0;
                text.lock().unwrap().push_str(&(line + "\n"));
                grown.notify_all();
            }
        });
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap())
            .read_line(&mut line)
            .unwrap();
        let url = line
            .trim()
            .strip_prefix("Listening on ")
            .expect("the address")
            .to_owned();
        Self {
            child,
            url,
            data: None,
            log,
        }
    }

    /// Waits until the log contains this text.
    pub fn await_log(&self, text_in_log: &str) {
        let (text, grown) = &*self.log.0;
        let timeout = Duration::from_secs(60);
        let waited = grown
            .wait_timeout_while(text.lock().unwrap(), timeout, |text| {
                !text.contains(text_in_log)
            })
            .unwrap();
        assert!(
            !waited.1.timed_out(),
            "no {text_in_log:?} in the log:\n{}",
            waited.0
        );
    }

    /// Opens a connection without sending anything.
    pub fn connect(&self) -> TcpStream {
        let address = self.url.strip_prefix("http://").unwrap();
        let stream = TcpStream::connect(address).unwrap();
        stream
            .set_read_timeout(Some(Duration::from_secs(60)))
            .unwrap();
        stream
    }

    /// Kills the process as `kill -9` does, without any cleanup.
    pub fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Returns the log so far.
    pub fn log(&self) -> String {
        self.log.0.0.lock().unwrap().clone()
    }

    /// Waits until the log contains this text. Returns the rest of its line.
    pub fn log_text_after(&self, text_in_log: &str) -> String {
        self.await_log(text_in_log);
        let log = self.log();
        let rest = &log[log.find(text_in_log).unwrap() + text_in_log.len()..];
        rest.lines().next().unwrap().trim().to_owned()
    }

    /// Requests a stop with SIGTERM, as a system does when it shuts down.
    #[cfg(unix)]
    pub fn request_stop(&self) {
        let pid = self.child.id().to_string();
        let sent = Command::new("kill").args(["-TERM", &pid]).status();
        assert!(sent.unwrap().success());
    }

    /// Waits for the end of the process. Returns whether it has exited successfully in time.
    #[cfg(unix)]
    pub fn exits_successfully(&mut self) -> bool {
        let deadline = Instant::now() + Duration::from_secs(60);
        while Instant::now() < deadline {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status.success();
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        false
    }

    /// Requests a stop. Returns whether the process has exited successfully in time.
    #[cfg(unix)]
    pub fn terminate(&mut self) -> bool {
        self.request_stop();
        self.exits_successfully()
    }

    pub fn call(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Answer {
        let url = if path.starts_with("http") {
            path.to_owned()
        } else {
            format!("{}{path}", self.url)
        };
        try_call(method, &url, headers, body).unwrap()
    }

    pub fn get(&self, path: &str) -> Answer {
        self.call("GET", path, &[], b"")
    }

    pub fn post(&self, path: &str, body: &Value) -> Answer {
        let headers = [
            ("authorization", "Bearer t"),
            ("content-type", "application/json"),
        ];
        self.call("POST", path, &headers, body.to_string().as_bytes())
    }

    /// Submits a task. Returns the body of requests for its status and response.
    pub fn generate(&self, model: (&str, &str), input: Value) -> Value {
        let answer = self.post("/v2/generate", &request(model, input));
        assert_eq!(answer.status, 200, "{}", answer.text());
        let body = answer.json();
        assert_eq!(body["success"], true);
        assert_eq!(body["data"]["status"], "starting");
        json!({"uid": "me", "category": model.0, "subcategory": model.1, "id": body["data"]["id"]})
    }

    /// Polls until the task has ended. Returns the last status data.
    pub fn wait(&self, task: &Value) -> Value {
        let deadline = Instant::now() + Duration::from_secs(60);
        loop {
            let answer = self.post("/v2/status", task);
            assert_eq!(answer.status, 200, "{}", answer.text());
            let data = answer.json()["data"].clone();
            assert!(data.get("output").is_none(), "status never returns output");
            if matches!(data["status"].as_str(), Some("completed" | "failed")) {
                return data;
            }
            assert!(Instant::now() < deadline, "{data}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Waits until `matches` is true for the status data of the task. Returns the data.
    pub fn await_status(&self, task: &Value, matches: impl Fn(&Value) -> bool) -> Value {
        let deadline = Instant::now() + LIMIT;
        loop {
            let status = self.post("/v2/status", task).json()["data"].clone();
            if matches(&status) {
                return status;
            }
            assert!(Instant::now() < deadline, "{status}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Waits until `matches` is true for the model's entry in the list. Returns the entry.
    pub fn await_model(&self, model: (&str, &str), matches: impl Fn(&Value) -> bool) -> Value {
        let deadline = Instant::now() + Duration::from_secs(60);
        loop {
            let list = self.get("/api/models").json();
            let mut entries = list["data"].as_array().unwrap().iter();
            let entry = entries
                .find(|entry| entry["category"] == model.0 && entry["subcategory"] == model.1)
                .unwrap();
            if matches(entry) {
                return entry.clone();
            }
            assert!(Instant::now() < deadline, "{entry}");
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// Runs a task and returns the output URLs.
    pub fn output(&self, model: (&str, &str), input: Value) -> Vec<String> {
        self.output_of(&self.generate(model, input))
    }

    /// Waits for a task and returns the output URLs.
    pub fn output_of(&self, task: &Value) -> Vec<String> {
        let data = self.wait(task);
        assert_eq!(data["status"], "completed", "{data}");
        let body = self.post("/v2/response", task).json();
        assert_eq!(body["data"]["status"], "completed");
        let urls = body["data"]["output"].as_array().unwrap();
        urls.iter()
            .map(|url| url.as_str().unwrap().to_owned())
            .collect()
    }
}

/// Sends a request to a URL.
///
/// # Errors
///
/// No complete response is received within a minute.
pub fn try_call(
    method: &str,
    url: &str,
    headers: &[(&str, &str)],
    body: &[u8],
) -> Result<Answer, ureq::Error> {
    let agent: ureq::Agent = ureq::Agent::config_builder()
        .http_status_as_error(false)
        .timeout_global(Some(Duration::from_secs(60)))
        .build()
        .into();
    let mut request = ureq::http::Request::builder().method(method).uri(url);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let mut answer = agent.run(request.body(body).unwrap())?;
    let text = |value: &ureq::http::HeaderValue| value.to_str().unwrap_or_default().to_owned();
    Ok(Answer {
        status: answer.status().as_u16(),
        headers: answer
            .headers()
            .iter()
            .map(|(name, value)| (name.to_string(), text(value)))
            .collect(),
        bytes: answer
            .body_mut()
            .with_config()
            .limit(1 << 26)
            .read_to_vec()?,
    })
}

/// Returns the program under test: this build, or the one that `ATELIER_SERVICE_BIN` names.
pub fn program() -> PathBuf {
    std::env::var_os("ATELIER_SERVICE_BIN")
        .map_or_else(|| env!("CARGO_BIN_EXE_atelier-service").into(), Into::into)
}

/// Sends bytes unchanged and reads the head of the response. Returns an empty text without a response.
pub fn exchange(stream: &mut TcpStream, bytes: &[u8]) -> String {
    stream.write_all(bytes).unwrap();
    let mut head = String::new();
    let mut reader = BufReader::new(stream);
    while let Ok(1..) = reader.read_line(&mut head) {
        if head.ends_with("\r\n\r\n") {
            break;
        }
    }
    head
}

impl Drop for Server {
    fn drop(&mut self) {
        // The process may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
        if std::thread::panicking() {
            let text = self.log.0.0.lock().map(|text| text.clone());
            eprintln!("the log of {}:\n{}", self.url, text.unwrap_or_default());
        }
    }
}

impl Answer {
    pub fn header(&self, name: &str) -> &str {
        let found = self.headers.iter().find(|(known, _)| known == name);
        found.map_or("", |(_, value)| value)
    }

    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes).into_owned()
    }

    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.bytes).unwrap_or_else(|_| panic!("{}", self.text()))
    }

    /// Returns the error code. Checks that the body is `{success: false, error, message}`.
    pub fn error(&self) -> String {
        let body = self.json();
        assert_eq!(body["success"], false, "{body}");
        assert!(!body["message"].as_str().unwrap().is_empty());
        body["error"].as_str().unwrap().to_owned()
    }
}

/// Returns the body of a generate request.
pub fn request(model: (&str, &str), input: Value) -> Value {
    let mut body = json!({"uid": "me", "category": model.0, "subcategory": model.1});
    body.as_object_mut()
        .unwrap()
        .extend(input.as_object().unwrap().clone());
    body
}

pub const STRATA: (&str, &str) = ("image", "strata");

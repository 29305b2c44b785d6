//! A really running service, and calls to it.
#![allow(dead_code)] // Each test file uses its own share.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

pub mod cluster;
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

/// What the program has written to its log so far.
#[derive(Clone, Default)]
struct Log(Arc<(Mutex<String>, Condvar)>);

/// One answer.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub bytes: Vec<u8>,
}

impl Server {
    /// Starts with a data directory of its own.
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
            .args(cluster::places(data, args));
        Self::run(command)
    }

    /// Starts with a file of models next to its data.
    pub fn start_with_models(data: &Path, models: &str, args: &[&str]) -> Self {
        let file = data.join("models.toml");
        std::fs::write(&file, models).unwrap();
        Self::start_on(
            data,
            &[&["--models", file.to_str().unwrap()], args].concat(),
        )
    }

    /// Starts with no more than `files` open files.
    #[cfg(unix)]
    pub fn start_limited(data: &Path, files: u32, args: &[&str]) -> Self {
        let mut command = Command::new("sh");
        command
            .args(["-c", &format!("ulimit -n {files} && exec \"$0\" \"$@\"")])
            .arg(program())
            .args(["--listen", "127.0.0.1:0", "--data"])
            .arg(data)
            .args(args)
            .args(cluster::places(data, args));
        Self::run(command)
    }

    pub fn run(mut command: Command) -> Self {
        let mut child = command
            .env_remove("ATELIER_SERVICE_TOKEN")
            .env("RUST_LOG", "info,atelier_service=debug")
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let log = Log::default();
        let (stderr, kept) = (child.stderr.take().unwrap(), log.clone());
        std::thread::spawn(move || {
            for line in BufReader::new(stderr).lines().map_while(Result::ok) {
                let (text, grown) = &*kept.0;
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

    /// Waits until the log has these words.
    pub fn await_log(&self, words: &str) {
        let (text, grown) = &*self.log.0;
        let patience = Duration::from_secs(60);
        let waited = grown
            .wait_timeout_while(text.lock().unwrap(), patience, |text| !text.contains(words))
            .unwrap();
        assert!(
            !waited.1.timed_out(),
            "no {words:?} in the log:\n{}",
            waited.0
        );
    }

    /// A connection that says nothing by itself.
    pub fn connect(&self) -> TcpStream {
        let address = self.url.strip_prefix("http://").unwrap();
        let stream = TcpStream::connect(address).unwrap();
        stream
            .set_read_timeout(Some(Duration::from_secs(60)))
            .unwrap();
        stream
    }

    /// As `kill -9`: nothing gets to tidy up.
    pub fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// All of the log so far.
    pub fn log(&self) -> String {
        self.log.0.0.lock().unwrap().clone()
    }

    /// What follows these words in the log, up to the end of the line; waits for it.
    pub fn word_of_log(&self, words: &str) -> String {
        self.await_log(words);
        let log = self.log();
        let rest = &log[log.find(words).unwrap() + words.len()..];
        rest.lines().next().unwrap().trim().to_owned()
    }

    /// As Ctrl-C or a system shutting down.
    #[cfg(unix)]
    pub fn ask_to_stop(&self) {
        let pid = self.child.id().to_string();
        let asked = Command::new("kill").args(["-TERM", &pid]).status();
        assert!(asked.unwrap().success());
    }

    /// Whether it ended well, in time.
    #[cfg(unix)]
    pub fn ended_well(&mut self) -> bool {
        let deadline = Instant::now() + Duration::from_secs(60);
        while Instant::now() < deadline {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status.success();
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        false
    }

    /// Asks it to stop. Returns whether it ended well, in time.
    #[cfg(unix)]
    pub fn terminate(&mut self) -> bool {
        self.ask_to_stop();
        self.ended_well()
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

    /// Starts a task and returns the body that asks for it.
    pub fn generate(&self, model: (&str, &str), input: Value) -> Value {
        let answer = self.post("/v2/generate", &request(model, input));
        assert_eq!(answer.status, 200, "{}", answer.text());
        let body = answer.json();
        assert_eq!(body["success"], true);
        assert_eq!(body["data"]["status"], "starting");
        json!({"uid": "me", "category": model.0, "subcategory": model.1, "id": body["data"]["id"]})
    }

    /// Polls until the task has ended; returns the last status data.
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

    /// Waits until the entry of a model in the list is as it should be.
    pub fn await_model(&self, model: (&str, &str), is_it: impl Fn(&Value) -> bool) -> Value {
        let deadline = Instant::now() + Duration::from_secs(60);
        loop {
            let list = self.get("/api/models").json();
            let mut entries = list["data"].as_array().unwrap().iter();
            let entry = entries
                .find(|entry| entry["category"] == model.0 && entry["subcategory"] == model.1)
                .unwrap();
            if is_it(entry) {
                return entry.clone();
            }
            assert!(Instant::now() < deadline, "{entry}");
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// Generates, waits and returns the output URLs.
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

/// Calls an address.
///
/// # Errors
///
/// No whole answer came within a minute.
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

/// The program under test: another build than this one, if `ATELIER_SERVICE_BIN` names one.
pub fn program() -> PathBuf {
    std::env::var_os("ATELIER_SERVICE_BIN")
        .map_or_else(|| env!("CARGO_BIN_EXE_atelier-service").into(), Into::into)
}

/// Sends bytes as they are and reads the head of the answer; empty if there is none.
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
        // It may have ended already.
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

    /// The body of a failing call must be `{success: false, error, message}`.
    pub fn error(&self) -> String {
        let body = self.json();
        assert_eq!(body["success"], false, "{body}");
        assert!(!body["message"].as_str().unwrap().is_empty());
        body["error"].as_str().unwrap().to_owned()
    }
}

/// The body of a generate request.
pub fn request(model: (&str, &str), input: Value) -> Value {
    let mut body = json!({"uid": "me", "category": model.0, "subcategory": model.1});
    body.as_object_mut()
        .unwrap()
        .extend(input.as_object().unwrap().clone());
    body
}

pub const STRATA: (&str, &str) = ("image", "strata");

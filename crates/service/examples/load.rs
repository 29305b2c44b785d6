//! `./dev load`: what the service bears. Each number is taken with few tasks stored and with many, in
//! one run, because on a busy machine only their ratio says something.

use std::error::Error;
use std::fs;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use atelier_service::store::sqlite::Sqlite;
use clap::Parser;
use serde_json::{Value, json};

/// Measures a service that it starts itself.
#[derive(Parser)]
struct Options {
    /// The program to measure.
    #[arg(long)]
    service: PathBuf,
    /// Where to write all of it as JSON.
    #[arg(long)]
    json: PathBuf,
    /// How many tasks are stored: few, and many.
    #[arg(long, num_args = 2, default_values = ["1000", "1000000"])]
    stored: Vec<u64>,
    /// How many clients poll at once.
    #[arg(long, default_value = "2000")]
    pollers: usize,
    /// How long each measurement takes, in seconds.
    #[arg(long, default_value = "5")]
    seconds: u64,
}

type Outcome<T> = Result<T, Box<dyn Error + Send + Sync>>;

/// How often a poller asks.
const INTERVAL: Duration = Duration::from_secs(2);

fn main() -> Outcome<()> {
    let options = Options::parse();
    let mut columns = Vec::new();
    for stored in &options.stored {
        eprintln!("with {stored} tasks stored …");
        columns.push(measure(&options, *stored)?);
    }
    println!("{}", table(&columns));
    if let Some(folder) = options.json.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::write(&options.json, serde_json::to_string_pretty(&columns)?)?;
    Ok(())
}

/// The measurements, in the order of the table.
const ROWS: [(&str, &str); 10] = [
    (
        "accepted_single",
        "tasks accepted a second, one a call, 8 clients",
    ),
    (
        "accepted_batch",
        "tasks accepted a second, ten a call, 8 clients",
    ),
    (
        "status_p50_ms",
        "`status-batch` of ten, one client: p50, ms",
    ),
    ("status_p99_ms", "the same: p99, ms"),
    ("metrics_ms", "`/metrics`: p50, ms"),
    ("pollers", "clients that poll every 2 s at once"),
    ("pollers_p50_ms", "their `status-batch` of ten: p50, ms"),
    ("pollers_p99_ms", "the same: p99, ms"),
    (
        "pollers_failed",
        "of their calls, failed after a second try",
    ),
    ("memory_mb", "memory of the service afterwards, MB"),
];

fn measure(options: &Options, stored: u64) -> Outcome<Value> {
    let data = tempfile::tempdir()?;
    store(&data.path().join("tasks.sqlite"), stored)?;
    let service = Service::start(&options.service, data.path())?;
    let time = Duration::from_secs(options.seconds);

    let mut some = Polls::new(stored, 7);
    let mut polls = repeat(&service, time, |client| some.next(client))?;
    let mut metrics = repeat(&service, time / 5, |client| {
        client.call("GET", "/metrics", "").map(drop)
    })?;
    let single = accepted(&service, time, false)?;
    let batch = accepted(&service, time, true)?;
    let (mut many, failed) = pollers(&service, options.pollers, stored, time * 2)?;
    Ok(json!({
        "stored": stored,
        "accepted_single": single.round(),
        "accepted_batch": batch.round(),
        "status_p50_ms": percentile(&mut polls, 50),
        "status_p99_ms": percentile(&mut polls, 99),
        "metrics_ms": percentile(&mut metrics, 50),
        "pollers": options.pollers,
        "pollers_p50_ms": percentile(&mut many, 50),
        "pollers_p99_ms": percentile(&mut many, 99),
        "pollers_calls": many.len(),
        "pollers_failed": failed,
        "memory_mb": service.memory_mb()?,
    }))
}

/// Completed tasks of a thousand users, as the service itself would have left them.
fn store(path: &Path, count: u64) -> Outcome<()> {
    drop(Sqlite::open(path)?);
    let database = rusqlite::Connection::open(path)?;
    database.execute(
        "WITH RECURSIVE number (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM number WHERE n + 1 < ?1)
         INSERT INTO task (id, uid, category, subcategory, status, output, created_ms, finished_ms, bytes)
         SELECT 'task-' || n, 'user-' || (n % 1000), 'image', 'strata', 'completed',
                '[\"task-' || n || '/0.png\"]', n, n, 1000 FROM number",
        [count],
    )?;
    database.execute(
        "INSERT INTO input SELECT seq, '{\"prompt\":\"a lighthouse at dusk\",\"seed\":1}' FROM task",
        [],
    )?;
    Ok(())
}

/// A service that does nothing but answer: its one worker draws one picture for ever.
struct Service {
    child: Child,
    address: String,
}

impl Service {
    fn start(program: &Path, data: &Path) -> Outcome<Self> {
        let mut child = Command::new(program)
            .args([
                "--listen",
                "127.0.0.1:0",
                "--workers",
                "1",
                "--speed",
                "100",
            ])
            .arg("--data")
            .arg(data)
            .env("RUST_LOG", "warn")
            .env_remove("ATELIER_SERVICE_TOKEN")
            .stdout(Stdio::piped())
            .spawn()?;
        let mut line = String::new();
        let out = child.stdout.take().ok_or("no standard output")?;
        BufReader::new(out).read_line(&mut line)?;
        let address = line.trim().strip_prefix("Listening on http://");
        let address = address.ok_or("it did not start")?.to_owned();
        Ok(Self { child, address })
    }

    fn memory_mb(&self) -> Outcome<f64> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let number = line.and_then(|line| line.split_whitespace().next());
        Ok((number.ok_or("no VmRSS")?.parse::<f64>()? / 1000.0).round())
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// One client, which keeps its connection while the service does.
struct Client<'a> {
    service: &'a Service,
    connection: Option<BufReader<TcpStream>>,
}

impl<'a> Client<'a> {
    fn new(service: &'a Service) -> Self {
        Self {
            service,
            connection: None,
        }
    }

    /// A connection that was closed in between is made anew, once.
    fn call(&mut self, method: &str, path: &str, body: &str) -> Outcome<Value> {
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
                let stream = TcpStream::connect(&self.service.address)?;
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
        // Metrics are no JSON.
        Ok(serde_json::from_slice(&answer).unwrap_or_default())
    }
}

/// Asks for ten of those that are stored, anywhere among them.
struct Polls {
    stored: u64,
    at: u64,
}

impl Polls {
    fn new(stored: u64, start: u64) -> Self {
        Self { stored, at: start }
    }

    fn next(&mut self, client: &mut Client<'_>) -> Outcome<()> {
        let requests: Vec<Value> = (0..10)
            .map(|_| {
                self.at = (self.at.wrapping_mul(6_364_136_223_846_793_005)).wrapping_add(1);
                let n = (self.at >> 20) % self.stored;
                json!({"uid": format!("user-{}", n % 1000), "category": "image",
                       "subcategory": "strata", "id": format!("task-{n}")})
            })
            .collect();
        let body = json!({"requests": requests}).to_string();
        let answer = client.call("POST", "/v2/status-batch", &body)?;
        match answer["data"]["results"][9]["body"]["data"]["status"].as_str() {
            Some("completed") => Ok(()),
            _ => Err(format!("not found: {answer}").into()),
        }
    }
}

/// How long each call of one client takes, in milliseconds.
fn repeat<'a>(
    service: &'a Service,
    time: Duration,
    mut call: impl FnMut(&mut Client<'a>) -> Outcome<()>,
) -> Outcome<Vec<f64>> {
    let mut client = Client::new(service);
    let (begun, mut took) = (Instant::now(), Vec::new());
    while begun.elapsed() < time {
        let at = Instant::now();
        call(&mut client)?;
        took.push(milliseconds(at.elapsed()));
    }
    Ok(took)
}

/// Tasks that eight clients get accepted, a second.
fn accepted(service: &Service, time: Duration, ten: bool) -> Outcome<f64> {
    let begun = Instant::now();
    let counts: Vec<Outcome<u32>> = std::thread::scope(|scope| {
        let client = |number| scope.spawn(move || accepted_by(service, number, time, ten));
        let clients: Vec<_> = (0..8).map(client).collect();
        let crashed = |_| Err("a client crashed".into());
        clients
            .into_iter()
            .map(|client| client.join().unwrap_or_else(crashed))
            .collect()
    });
    let sum: u32 = counts.into_iter().sum::<Outcome<u32>>()?;
    Ok(f64::from(sum) / begun.elapsed().as_secs_f64())
}

fn accepted_by(service: &Service, number: u32, time: Duration, ten: bool) -> Outcome<u32> {
    let task = json!({"uid": format!("client-{number}"), "category": "image",
                      "subcategory": "strata", "prompt": "a lighthouse at dusk"});
    let batch = json!({"requests": vec![task.clone(); 10]});
    let mut count = 0;
    repeat(service, time, |client| {
        if ten {
            let answer = client.call("POST", "/v2/generate-batch", &batch.to_string())?;
            match answer["data"]["results"][9]["status"].as_u64() {
                Some(200) => count += 10,
                _ => return Err(format!("refused: {answer}").into()),
            }
        } else {
            client.call("POST", "/v2/generate", &task.to_string())?;
            count += 1;
        }
        Ok(())
    })?;
    Ok(count)
}

/// How long the calls of many clients take, and how many of them failed.
fn pollers(
    service: &Service,
    count: usize,
    stored: u64,
    time: Duration,
) -> Outcome<(Vec<f64>, usize)> {
    let found = Mutex::new((Vec::new(), 0));
    let begun = Instant::now();
    std::thread::scope(|scope| -> Outcome<()> {
        for number in 0..count {
            let found = &found;
            let work = move || {
                // Spread over the interval, as people are.
                std::thread::sleep(INTERVAL.mul_f64(number as f64 / count as f64));
                let mut polls = Polls::new(stored, number as u64);
                let mut client = Client::new(service);
                let (mut took, mut failed) = (Vec::new(), 0);
                while begun.elapsed() < time {
                    let at = Instant::now();
                    match polls.next(&mut client) {
                        Ok(()) => took.push(milliseconds(at.elapsed())),
                        Err(_) => failed += 1,
                    }
                    std::thread::sleep(INTERVAL.saturating_sub(at.elapsed()));
                }
                if let Ok(mut found) = found.lock() {
                    found.0.extend(took);
                    found.1 += failed;
                }
            };
            std::thread::Builder::new()
                .stack_size(256 << 10)
                .spawn_scoped(scope, work)?;
        }
        Ok(())
    })?;
    Ok(found.into_inner().map_err(|_| "a client crashed")?)
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}

fn percentile(values: &mut [f64], percent: usize) -> f64 {
    values.sort_by(f64::total_cmp);
    let at = (values.len() * percent / 100).min(values.len().saturating_sub(1));
    let value = values.get(at).copied().unwrap_or(f64::NAN);
    (value * 100.0).round() / 100.0
}

fn table(columns: &[Value]) -> String {
    let cell = |value: &Value| match value.as_f64() {
        Some(number) if number.fract() == 0.0 => format!("{number:.0}"),
        _ => value.to_string(),
    };
    let row = |name: &str, key: &str| {
        let cells: Vec<String> = columns.iter().map(|column| cell(&column[key])).collect();
        format!("| {name} | {} |\n", cells.join(" | "))
    };
    let line = "| --- ".repeat(columns.len() + 1) + "|\n";
    let rows = ROWS.iter().map(|(key, name)| row(name, key));
    row("tasks stored", "stored") + &line + &rows.collect::<String>()
}

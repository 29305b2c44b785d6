//! `./dev load`: measures the service under load, with few and with many stored tasks, and with `--database` also with
//! PostgreSQL. All measurements are made in one run, because on a busy machine only their ratios are meaningful.

mod calls;
mod client;
mod service;
mod storage;

use std::error::Error;
use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::Parser;
use serde_json::{Value, json};

use calls::{Polls, measure_accepted, pollers, repeat};
use service::{Role, Service};
use storage::Storage;

/// Measures a service that it starts itself.
#[derive(Parser)]
struct Options {
    /// The program to measure.
    #[arg(long)]
    service: PathBuf,
    /// The file for all results, as JSON.
    #[arg(long)]
    json: PathBuf,
    /// The address of a PostgreSQL server without a database, `postgres://user@host:port`, to compare it with SQLite.
    /// Requires `psql`, and a program built with the feature `cluster`.
    #[arg(long)]
    database: Option<String>,
    /// The two numbers of stored tasks: few and many.
    #[arg(long, num_args = 2, default_values = ["1000", "1000000"])]
    stored: Vec<u64>,
    /// The number of clients that poll concurrently.
    #[arg(long, default_value = "2000")]
    pollers: usize,
    /// The duration of each measurement, in seconds.
    #[arg(long, default_value = "5")]
    seconds: u64,
}

type Outcome<T> = Result<T, Box<dyn Error + Send + Sync>>;

/// The number of workers of each process, while the rate of finished tasks is measured.
const THREADS: &str = "4";

/// The time until the rate of finished tasks is stable, and other processes have taken over the tasks of a killed one.
const WARM_UP: Duration = Duration::from_secs(15);

fn main() -> Outcome<()> {
    let options = Options::parse();
    let mut columns = Vec::new();
    for stored in &options.stored {
        eprintln!("SQLite, {stored} tasks stored …");
        columns.push(measure(&options, "SQLite", &Storage::embedded()?, *stored)?);
    }
    if let Some(server) = &options.database {
        for stored in &options.stored {
            eprintln!("PostgreSQL, {stored} tasks stored …");
            let storage = Storage::in_postgres(server, &format!("load_{stored}"))?;
            columns.push(measure(&options, "PostgreSQL", &storage, *stored)?);
        }
    }
    println!("{}", table(&columns));
    if let Some(folder) = options.json.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::write(&options.json, serde_json::to_string_pretty(&columns)?)?;
    Ok(())
}

/// The measurements, in the order of the table.
const ROWS: [(&str, &str); 14] = [
    ("stored", "tasks stored"),
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
    (
        "finished_one",
        "tasks finished a second, one process with 4 workers",
    ),
    ("finished_three", "the same: three `work` beside a `serve`"),
    ("memory_work_mb", "memory of a process that works, MB"),
];

fn measure(options: &Options, name: &str, storage: &Storage, stored: u64) -> Outcome<Value> {
    // The first start creates the tables.
    drop(Service::start(&options.service, storage, Role::Both, &[])?);
    storage.fill(stored)?;
    let time = Duration::from_secs(options.seconds);
    // The only worker is busy with one very slow task, so that the service only responds to calls.
    let idle = ["--workers", "1", "--speed", "100"];
    let service = Service::start(&options.service, storage, Role::Both, &idle)?;

    let mut some = Polls::new(stored, 7);
    let mut polls = repeat(&service, time, |client| some.next(client))?;
    let mut metrics = repeat(&service, time / 5, |client| {
        client.call("GET", "/metrics", "").map(drop)
    })?;
    let single = measure_accepted(&service, time, false)?;
    let batch = measure_accepted(&service, time, true)?;
    let (mut many, failed) = pollers(&service, options.pollers, stored, time * 2)?;
    let memory_mb = service.memory_mb()?;
    drop(service);

    // Runs the accepted tasks at the normal speed of the models.
    let (one, memory_work_mb) = measure_finished(options, storage, &[Role::Both], time * 4)?;
    let three = match storage.database() {
        Some(_) => {
            let roles = [Role::Serve, Role::Work, Role::Work, Role::Work];
            Some(measure_finished(options, storage, &roles, time * 4)?.0)
        }
        None => None,
    };
    Ok(json!({
        "database": name,
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
        "memory_mb": memory_mb,
        "finished_one": one,
        "finished_three": three,
        "memory_work_mb": memory_work_mb,
    }))
}

/// Returns the number of tasks per second that these processes finish, and the memory of the last process in megabytes.
fn measure_finished(
    options: &Options,
    storage: &Storage,
    roles: &[Role],
    time: Duration,
) -> Outcome<(f64, f64)> {
    let processes: Vec<Service> = roles
        .iter()
        .map(|role| Service::start(&options.service, storage, *role, &["--workers", THREADS]))
        .collect::<Outcome<_>>()?;
    std::thread::sleep(WARM_UP);
    let (begun, before) = (Instant::now(), storage.count_finished()?);
    std::thread::sleep(time);
    let count = storage.count_finished()? - before;
    let rate = count as f64 / begun.elapsed().as_secs_f64();
    let last = processes.last().ok_or("no process")?;
    Ok(((rate * 100.0).round() / 100.0, last.memory_mb()?))
}

fn percentile(values: &mut [f64], percent: usize) -> f64 {
    values.sort_by(f64::total_cmp);
    let at = (values.len() * percent / 100).min(values.len().saturating_sub(1));
    let value = values.get(at).copied().unwrap_or(f64::NAN);
    (value * 100.0).round() / 100.0
}

fn table(columns: &[Value]) -> String {
    let cell = |value: &Value| match value {
        Value::Null => "–".to_owned(),
        Value::String(text) => text.clone(),
        number => match number.as_f64() {
            Some(number) if number.fract() == 0.0 => format!("{number:.0}"),
            _ => number.to_string(),
        },
    };
    let row = |name: &str, key: &str| {
        let cells: Vec<String> = columns.iter().map(|column| cell(&column[key])).collect();
        format!("| {name} | {} |\n", cells.join(" | "))
    };
    let line = "| --- ".repeat(columns.len() + 1) + "|\n";
    let rows = ROWS.iter().map(|(key, name)| row(name, key));
    row("", "database") + &line + &rows.collect::<String>()
}

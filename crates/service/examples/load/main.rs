//! `./dev load`: what the service bears. Each number is taken with few tasks stored and with many, and
//! with `--database` in PostgreSQL as well, in one run: on a busy machine only their ratio says something.

mod calls;
mod client;
mod place;
mod service;

use std::error::Error;
use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::Parser;
use serde_json::{Value, json};

use calls::{Polls, accepted, pollers, repeat};
use place::Place;
use service::{Role, Service};

/// Measures a service that it starts itself.
#[derive(Parser)]
struct Options {
    /// The program to measure.
    #[arg(long)]
    service: PathBuf,
    /// Where to write all of it as JSON.
    #[arg(long)]
    json: PathBuf,
    /// A PostgreSQL without a database, `postgres://user@host:port`, to be compared with SQLite. The
    /// program has to be built with the feature `cluster`, and `psql` has to be there.
    #[arg(long)]
    database: Option<String>,
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

/// Of each process that works, while it is measured how much they work off.
const THREADS: &str = "4";

/// Until tasks are worked on at their pace, and those of a process that was killed are others'.
const WARM_UP: Duration = Duration::from_secs(15);

fn main() -> Outcome<()> {
    let options = Options::parse();
    let mut columns = Vec::new();
    for stored in &options.stored {
        eprintln!("SQLite, {stored} tasks stored …");
        columns.push(measure(&options, "SQLite", &Place::embedded()?, *stored)?);
    }
    if let Some(server) = &options.database {
        for stored in &options.stored {
            eprintln!("PostgreSQL, {stored} tasks stored …");
            let place = Place::in_postgres(server, &format!("load_{stored}"))?;
            columns.push(measure(&options, "PostgreSQL", &place, *stored)?);
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

fn measure(options: &Options, name: &str, place: &Place, stored: u64) -> Outcome<Value> {
    // It makes the tables.
    drop(Service::start(&options.service, place, Role::Both, &[])?);
    place.fill(stored)?;
    let time = Duration::from_secs(options.seconds);
    // It does nothing but answer: its one worker draws one picture for ever.
    let idle = ["--workers", "1", "--speed", "100"];
    let service = Service::start(&options.service, place, Role::Both, &idle)?;

    let mut some = Polls::new(stored, 7);
    let mut polls = repeat(&service, time, |client| some.next(client))?;
    let mut metrics = repeat(&service, time / 5, |client| {
        client.call("GET", "/metrics", "").map(drop)
    })?;
    let single = accepted(&service, time, false)?;
    let batch = accepted(&service, time, true)?;
    let (mut many, failed) = pollers(&service, options.pollers, stored, time * 2)?;
    let memory_mb = service.memory_mb()?;
    drop(service);

    // What was accepted is worked off at the pace of the models.
    let (one, memory_work_mb) = finished(options, place, &[Role::Both], time * 4)?;
    let three = match place.database() {
        Some(_) => {
            let roles = [Role::Serve, Role::Work, Role::Work, Role::Work];
            Some(finished(options, place, &roles, time * 4)?.0)
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

/// How many tasks these processes finish a second, and the memory of the last of them.
fn finished(
    options: &Options,
    place: &Place,
    roles: &[Role],
    time: Duration,
) -> Outcome<(f64, f64)> {
    let processes: Vec<Service> = roles
        .iter()
        .map(|role| Service::start(&options.service, place, *role, &["--workers", THREADS]))
        .collect::<Outcome<_>>()?;
    std::thread::sleep(WARM_UP);
    let (begun, before) = (Instant::now(), place.finished()?);
    std::thread::sleep(time);
    let count = place.finished()? - before;
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

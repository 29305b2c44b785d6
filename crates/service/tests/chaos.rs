//! Clients at a constant rate, while the service's processes, PostgreSQL and the bucket fail. `./dev test chaos` runs it. Each
//! round writes its history, each call with its answer, to `target/chaos`, and a checker decides from that history
//! whether a task was lost, ended twice, or was accepted twice.
//!
//! - `ATELIER_CHAOS_ROUNDS`: the number of rounds (default: 3).
//! - `ATELIER_CHAOS_SEED`: repeats the faults of the round that printed this seed.
//! - `ATELIER_CHAOS_PREVIOUS`: the program of an earlier release, built with the feature `cluster`. Each round begins with
//!   it, and upgrades its processes one after the other.
#![cfg(all(target_os = "linux", feature = "cluster"))]

#[path = "chaos/clients.rs"]
mod clients;
#[path = "chaos/database.rs"]
mod database;
#[path = "chaos/faults.rs"]
mod faults;
#[path = "chaos/history.rs"]
mod history;
#[path = "chaos/proxy.rs"]
mod proxy;
#[path = "chaos/random.rs"]
mod random;
#[path = "chaos/recorder.rs"]
mod recorder;
#[path = "chaos/report.rs"]
mod report;
#[path = "chaos/stream.rs"]
mod stream;
mod support;
#[path = "chaos/system.rs"]
mod system;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::sync::mpsc;
use std::time::{Duration, Instant};

use clients::{Client, Task};
use faults::{Fault, Sequence};
use history::{Answer, Kind, Violation, check};
use random::Random;
use recorder::Recorder;
use report::Counts;
use system::{SERVERS, Settings, System};

/// How long clients submit tasks, while faults occur.
const LOAD: Duration = Duration::from_secs(30);

/// The time in which all accepted tasks must end after the last fault.
const SETTLE: Duration = Duration::from_secs(240);

/// The number of clients; two share a user.
const CLIENTS: usize = 6;
const USERS: usize = 3;

/// Guards against tasks that are lost, ended twice or accepted twice.
#[test]
#[ignore = "needs PostgreSQL and a bucket: ./dev test chaos"]
fn no_task_is_lost_or_doubled_in_random_faults() {
    let setting = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let number = |name: &str| setting(name).map(|value| value.parse::<u64>().expect(name));
    let seed = number("ATELIER_CHAOS_SEED");
    let rounds = number("ATELIER_CHAOS_ROUNDS").unwrap_or(if seed.is_some() { 1 } else { 3 });
    let previous = setting("ATELIER_CHAOS_PREVIOUS").map(PathBuf::from);
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("../chaos");
    // The folder is missing before the first run.
    let _ = fs::remove_dir_all(&folder);
    let mut all = Counts::default();
    let mut violations = Vec::new();
    let mut lines = vec![report::header()];
    for round in 1..=rounds {
        let seed = match (seed, round) {
            (Some(seed), 1) => seed,
            _ => getrandom::u64().unwrap() >> 16,
        };
        println!("round {round}: ATELIER_CHAOS_SEED={seed}");
        let (counts, found) = run_round(seed, previous.clone(), &folder, round);
        for violation in found {
            println!("round {round}: {violation}");
            violations.push(format!("round {round}, seed {seed}: {violation}"));
        }
        all.add(&counts);
        lines.push(report::line(&round.to_string(), &seed.to_string(), &counts));
        println!("{}\n{}", lines[0], lines[lines.len() - 1]);
    }
    lines.push(report::line("all", "", &all));
    println!("{}", lines.join("\n"));
    assert!(violations.is_empty(), "{}", violations.join("\n"));
    assert!(
        all.failed * 1000 <= all.retried,
        "{} calls failed after their retries, of {} that were retried",
        all.failed,
        all.retried
    );
}

/// Runs one round. Returns its counts and violations. Its files are `FOLDER/round-N…`.
fn run_round(
    seed: u64,
    previous: Option<PathBuf>,
    folder: &Path,
    round: u64,
) -> (Counts, Vec<Violation>) {
    let logs = folder.join(format!("round-{round}"));
    fs::create_dir_all(&logs).unwrap();
    let mut random = Random::new(seed, 0);
    let are_clocks_apart = random.between(0, 1) == 1;
    let system = System::start(Settings {
        folder: logs,
        clocks: if are_clocks_apart {
            [1, -1, -1, 1]
        } else {
            [0; 4]
        },
        account_running: (random.between(0, 1) == 1).then_some(2),
        previous: previous.clone(),
    });
    let plans = [Sequence::Processes, Sequence::Servers].map(|sequence| {
        let is_upgrade = previous.is_some() && sequence == Sequence::Processes;
        faults::plan(seed, sequence, LOAD, is_upgrade)
    });
    for (pause, fault) in plans.iter().flatten() {
        println!("  after {pause:?}: {fault:?}");
    }
    let recorder = Recorder::create(&folder.join(format!("round-{round}.jsonl")));
    std::thread::scope(|scope| {
        scope.spawn(|| system.supervise());
        let _end = EndOnDrop(&system);
        system.await_ready();
        run_load(seed, &system, &recorder, &plans);
        system.await_ready();
        read_ends(&system, &recorder);
    });
    let records = recorder.records();
    let violations = check(&records);
    let exits = system.exits.load(Ordering::Relaxed);
    (Counts::of(&records, exits, violations.len()), violations)
}

/// Ends the supervisor, also after a panic, so that its thread does not run forever.
struct EndOnDrop<'a>(&'a System);

impl Drop for EndOnDrop<'_> {
    fn drop(&mut self) {
        self.0.end();
    }
}

/// Runs the clients and the faults.
fn run_load(seed: u64, system: &System, recorder: &Recorder, plans: &[Vec<(Duration, Fault)>]) {
    let until = Instant::now() + LOAD;
    let deadline = until + SETTLE;
    std::thread::scope(|scope| {
        for plan in plans {
            scope.spawn(move || faults::run(system, plan, until));
        }
        let streams: Vec<_> = (0..USERS)
            .map(|user| {
                let (sender, receiver) = mpsc::channel::<Task>();
                scope.spawn(move || {
                    let server = user % SERVERS;
                    stream::watch(system, recorder, &uid(user), server, &receiver);
                });
                sender
            })
            .collect();
        for number in 0..CLIENTS {
            let accepted = streams[number % USERS].clone();
            let name = format!("client-{number}");
            let client = Client::new(&name, &uid(number % USERS), system, recorder);
            let client = client.prefer(number % SERVERS);
            let random = Random::new(seed, 10 + number as u64);
            scope.spawn(move || {
                let accepted = |task: &Task| accepted.send(task.clone()).unwrap_or_default();
                client.run(random, until, deadline, &accepted);
            });
        }
    });
}

fn uid(user: usize) -> String {
    format!("user-{user}")
}

/// Reads how all accepted tasks have ended, from each server and from the database.
fn read_ends(system: &System, recorder: &Recorder) {
    let mut tasks: BTreeMap<String, Task> = BTreeMap::new();
    let rows = system
        .database
        .rows("SELECT id, uid, category, status, bytes - octet_length(input) FROM task");
    for row in rows {
        let columns: Vec<&str> = row.split('|').collect();
        let [id, uid, category, status, bytes] = columns[..] else {
            panic!("{row}");
        };
        let model = match category {
            "image" => support::STRATA,
            _ => system::MODEL,
        };
        let answer = Answer::Stored {
            status: status.to_owned(),
            bytes: bytes.parse().unwrap(),
        };
        recorder.add_fact("database", Kind::Stored, Some(id.to_owned()), answer);
        let uid = uid.to_owned();
        tasks.insert(
            id.to_owned(),
            Task {
                id: id.to_owned(),
                uid,
                model,
            },
        );
    }
    let usage = "SELECT usage.uid, usage.bytes,
         (SELECT coalesce(sum(task.bytes), 0) FROM task WHERE task.uid = usage.uid) FROM usage";
    for row in system.database.rows(usage) {
        let columns: Vec<&str> = row.split('|').collect();
        let [uid, counted, sum] = columns[..] else {
            panic!("{row}");
        };
        let answer = Answer::Usage {
            counted: counted.parse().unwrap(),
            sum: sum.parse().unwrap(),
        };
        recorder.add_fact(uid, Kind::Usage, None, answer);
    }
    for task in system.executions() {
        recorder.add_fact("model", Kind::Execution, Some(task), Answer::Executed);
    }
    let tasks: Vec<Task> = tasks.into_values().collect();
    for server in 0..SERVERS {
        let client = Client::new("verifier", "", system, recorder).prefer(server);
        for batch in tasks.chunks(10) {
            client.fetch(batch);
        }
    }
}

//! The service under test: two `serve` and two `work` processes with one PostgreSQL and one bucket. A supervisor restarts
//! processes that end, as a system does.

use std::fs;
use std::io::Write;
use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;
use tokio::runtime::Runtime;

use super::database::Database;
use super::proxy::Proxy;
use crate::support;
use crate::support::small_server::unused_address;

/// The names of the processes.
pub const PROCESSES: [&str; 4] = ["serve-0", "serve-1", "work-0", "work-1"];

/// The number of `serve` processes, which come first.
pub const SERVERS: usize = 2;

/// The model, a program.
pub const MODEL: (&str, &str) = ("text", "program");

/// How long a stopped process may take to end.
const STOP_TIMEOUT: Duration = Duration::from_secs(60);

/// The settings of a round.
pub struct Settings {
    /// The folder of the logs.
    pub folder: PathBuf,
    /// The program of the landed release, with which the round begins.
    pub previous: Option<PathBuf>,
    /// How far the clocks of the processes are ahead, in seconds.
    pub clocks: [i32; 4],
    /// The limit of concurrent tasks per user.
    pub account_running: Option<u32>,
}

pub struct System {
    pub database: Database,
    /// The connections of each process to PostgreSQL.
    pub database_proxies: Vec<Proxy>,
    /// The connections of all processes to the bucket.
    pub bucket_proxy: Proxy,
    /// The addresses of the `serve` processes.
    pub addresses: Vec<SocketAddr>,
    /// The number of processes that have ended without being asked to.
    pub exits: AtomicUsize,
    processes: Vec<Mutex<Process>>,
    is_ended: AtomicBool,
    settings: Settings,
    shared_clock: Option<PathBuf>,
    work: TempDir,
    // The last fields are dropped last.
    _bucket: Bucket,
    _runtime: Runtime,
}

struct Process {
    child: Option<Child>,
    /// Whether the supervisor starts the process.
    is_wanted: bool,
    program: PathBuf,
}

impl System {
    pub fn start(settings: Settings) -> Self {
        let runtime = Runtime::new().unwrap();
        let bucket = Bucket::start();
        let database = Database::start();
        let work = TempDir::new().unwrap();
        write_model(work.path());
        let proxies = PROCESSES.map(|_| Proxy::start(&runtime, database.address()));
        let program = settings.previous.clone().unwrap_or_else(support::program);
        let processes = PROCESSES.map(|_| {
            Mutex::new(Process {
                child: None,
                is_wanted: true,
                program: program.clone(),
            })
        });
        Self {
            database,
            database_proxies: proxies.into(),
            bucket_proxy: Proxy::start(&runtime, bucket.address),
            addresses: (0..SERVERS).map(|_| unused_address()).collect(),
            exits: AtomicUsize::new(0),
            processes: processes.into(),
            is_ended: AtomicBool::new(false),
            shared_clock: build_clock(work.path()),
            settings,
            work,
            _bucket: bucket,
            _runtime: runtime,
        }
    }

    /// Starts all processes, and restarts those that end, until [`Self::end`].
    pub fn supervise(&self) {
        while !self.is_ended.load(Ordering::Relaxed) {
            for number in 0..PROCESSES.len() {
                let mut process = self.lock(number);
                let ended = process
                    .child
                    .as_mut()
                    .map(|child| child.try_wait().unwrap());
                if matches!(ended, Some(Some(_))) {
                    process.child = None;
                    self.exits
                        .fetch_add(usize::from(process.is_wanted), Ordering::Relaxed);
                }
                if process.is_wanted && process.child.is_none() {
                    process.child = Some(self.spawn(number, &process.program));
                }
            }
            std::thread::sleep(Duration::from_millis(200));
        }
    }

    /// Ends the supervisor.
    pub fn end(&self) {
        self.is_ended.store(true, Ordering::Relaxed);
    }

    /// Waits until the `serve` processes answer.
    pub fn await_ready(&self) {
        let deadline = Instant::now() + Duration::from_secs(120);
        for address in &self.addresses {
            let url = format!("http://{address}/api/models");
            while !support::try_call("GET", &url, &[], b"").is_ok_and(|answer| answer.status == 200)
            {
                assert!(Instant::now() < deadline, "{url} does not respond");
                std::thread::sleep(Duration::from_millis(100));
            }
        }
    }

    /// Kills a process as `kill -9` does. It is started again after `down`.
    pub fn kill(&self, number: usize, down: Duration) {
        let mut process = self.lock(number);
        process.is_wanted = false;
        if let Some(mut child) = process.child.take() {
            child.kill().unwrap();
            child.wait().unwrap();
        }
        drop(process);
        std::thread::sleep(down);
        self.lock(number).is_wanted = true;
    }

    /// Stops a process with SIGSTOP for a while.
    pub fn pause(&self, number: usize, time: Duration) {
        self.signal(number, Signal::STOP);
        std::thread::sleep(time);
        self.signal(number, Signal::CONT);
    }

    /// Requests a stop with SIGTERM, waits for the end, and starts the current program.
    pub fn replace(&self, number: usize) {
        self.lock(number).is_wanted = false;
        self.signal(number, Signal::TERM);
        let deadline = Instant::now() + STOP_TIMEOUT;
        // The supervisor collects the ended process.
        while self.lock(number).child.is_some() {
            assert!(
                Instant::now() < deadline,
                "{} does not stop",
                PROCESSES[number]
            );
            std::thread::sleep(Duration::from_millis(50));
        }
        let mut process = self.lock(number);
        process.program = support::program();
        process.is_wanted = true;
    }

    /// Returns the task of each execution of the model.
    pub fn executions(&self) -> Vec<String> {
        let journal = fs::read_to_string(self.work.path().join("journal")).unwrap_or_default();
        journal.lines().map(str::to_owned).collect()
    }

    fn signal(&self, number: usize, signal: Signal) {
        if let Some(child) = &self.lock(number).child {
            // The process may have ended.
            let _ = kill_process(Pid::from_child(child), signal);
        }
    }

    fn lock(&self, number: usize) -> MutexGuard<'_, Process> {
        let process = self.processes[number].lock();
        process.unwrap_or_else(PoisonError::into_inner)
    }

    fn spawn(&self, number: usize, program: &Path) -> Child {
        let name = PROCESSES[number];
        let (role, _) = name.split_once('-').unwrap();
        let log = self.settings.folder.join(format!("{name}.log"));
        let mut log = fs::File::options()
            .create(true)
            .append(true)
            .open(log)
            .unwrap();
        writeln!(log, "==== {} ====", program.display()).unwrap();
        let mut command = Command::new(program);
        let database = self.database_proxies[number].address;
        command
            .arg(role)
            .args([
                "--database",
                &format!("postgres://atelier@{database}/atelier"),
            ])
            .args(["--outputs", "s3://atelier/round", "--drain-seconds", "5"])
            .args(["--speed", "0", "--workers", "2", "--models"])
            .arg(self.work.path().join("models.toml"))
            .arg("--data")
            .arg(self.work.path().join(name))
            .arg("--listen")
            .arg(match self.addresses.get(number) {
                Some(address) => address.to_string(),
                None => "127.0.0.1:0".to_owned(),
            });
        if let Some(limit) = self.settings.account_running {
            command.args(["--account-running", &limit.to_string()]);
        }
        if let Some(library) = &self.shared_clock {
            let shift = self.settings.clocks[number].to_string();
            command
                .env("LD_PRELOAD", library)
                .env("ATELIER_CHAOS_CLOCK", shift);
        }
        command
            .env(
                "AWS_ENDPOINT",
                format!("http://{}", self.bucket_proxy.address),
            )
            .env("AWS_ACCESS_KEY_ID", "test")
            .env("AWS_SECRET_ACCESS_KEY", "test")
            .env("AWS_REGION", "us-east-1")
            .env("RUST_LOG", "info,atelier_service=debug")
            .env_remove("ATELIER_SERVICE_TOKEN")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .unwrap()
    }
}

impl Drop for System {
    fn drop(&mut self) {
        for process in &mut self.processes {
            let process = process.get_mut().unwrap_or_else(PoisonError::into_inner);
            if let Some(child) = &mut process.child {
                // The process may have ended already.
                let _ = child.kill();
                let _ = child.wait();
            }
        }
    }
}

/// A server with the S3 API, which is killed on drop.
struct Bucket {
    address: SocketAddr,
    child: Child,
}

impl Bucket {
    /// Starts moto, the program `ATELIER_TEST_MOTO`, with the bucket `atelier`.
    fn start() -> Self {
        let program = std::env::var("ATELIER_TEST_MOTO").expect("use ./dev test chaos");
        let address = unused_address();
        let child = Command::new(program)
            .args(["-H", "127.0.0.1", "-p", &address.port().to_string()])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let bucket = Self { address, child };
        let deadline = Instant::now() + Duration::from_secs(60);
        let url = format!("http://{address}/atelier");
        while support::try_call("PUT", &url, &[], b"").is_err() {
            assert!(Instant::now() < deadline, "moto does not respond");
            std::thread::sleep(Duration::from_millis(100));
        }
        bucket
    }
}

impl Drop for Bucket {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Writes the models file and the program of the model. It records each run in a journal, and writes a file that is
/// different in each run. One run of twenty takes long enough that others take over its task meanwhile, if its process is
/// considered dead.
fn write_model(folder: &Path) {
    let program = folder.join("program.sh");
    let script = format!(
        "#!/bin/sh\necho \"$ATELIER_TASK\" >> {}\n\
         if [ $(($$ % 20)) = 0 ]; then sleep 14; else sleep 0.2; fi\n\
         echo \"$ATELIER_TASK $$\" > 0.txt\n",
        folder.join("journal").display()
    );
    fs::write(&program, script).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o700)).unwrap();
    let models = format!(
        "[[model]]\ncategory = \"{}\"\nsubcategory = \"{}\"\nname = \"Program\"\nat_once = 4\n\
         command = {{ program = {program:?} }}\n\
         [[model.parameter]]\nname = \"prompt\"\ntype = \"string\"\n",
        MODEL.0, MODEL.1
    );
    fs::write(folder.join("models.toml"), models).unwrap();
}

/// Compiles the library that shifts clocks. Returns `None` without a C compiler.
fn build_clock(folder: &Path) -> Option<PathBuf> {
    let library = folder.join("clock.so");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/chaos/clock.c");
    let built = Command::new("cc")
        .args(["-shared", "-fPIC", "-O1", "-o"])
        .args([&library, &source])
        .status();
    built
        .is_ok_and(|status| status.success())
        .then_some(library)
}

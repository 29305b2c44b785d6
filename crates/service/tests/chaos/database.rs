//! A PostgreSQL server of the test's own, which can crash and run out of disk space.

use std::fs;
use std::net::SocketAddr;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

use crate::support::small_disk::SmallDisk;
use crate::support::small_server::unused_address;

/// The size of the server's disk: a few times its initial size.
const DISK_MB: u32 = 400;

/// The server, which is killed on drop.
pub struct Database {
    address: SocketAddr,
    /// The folder of the server's programs.
    programs: PathBuf,
    /// The user and group that run the server, which refuses to run as root.
    user: Option<(u32, u32)>,
    child: Mutex<Child>,
    /// `None` if only root may mount a file system.
    disk: Option<SmallDisk>,
    folder: TempDir,
}

impl Database {
    /// Creates and starts a server. `ATELIER_TEST_POSTGRES` is the folder of its programs.
    pub fn start() -> Self {
        let programs = std::env::var("ATELIER_TEST_POSTGRES").expect("use ./dev test chaos");
        let programs = PathBuf::from(programs);
        let is_root = rustix::process::geteuid().is_root();
        let user = is_root.then(|| (id_of_postgres("-u"), id_of_postgres("-g")));
        let disk = SmallDisk::mount("the disk of PostgreSQL is not filled", DISK_MB);
        let folder = TempDir::new().unwrap();
        if let Some((user, group)) = user {
            std::os::unix::fs::chown(folder.path(), Some(user), Some(group)).unwrap();
        }
        let data = data_of(disk.as_ref(), &folder);
        let mut init = Command::new(programs.join("initdb"));
        run_as(&mut init, user);
        let init = init
            .current_dir("/")
            .args([
                "--auth=trust",
                "--username=atelier",
                "--no-sync",
                "--pgdata",
            ])
            .arg(&data)
            .output()
            .unwrap();
        assert!(init.status.success(), "{init:?}");
        let address = unused_address();
        let child = spawn(&programs, user, &data, address);
        let database = Self {
            address,
            programs,
            user,
            child: Mutex::new(child),
            disk,
            folder,
        };
        database.await_ready();
        database.query("postgres", "CREATE DATABASE atelier");
        database
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Runs a statement in the service's database, and returns its rows, with `|` between the columns.
    pub fn rows(&self, statement: &str) -> Vec<String> {
        self.query("atelier", statement)
    }

    fn query(&self, name: &str, statement: &str) -> Vec<String> {
        let output = self.psql(name, statement);
        assert!(output.status.success(), "{statement}: {output:?}");
        let text = String::from_utf8(output.stdout).unwrap();
        text.lines().map(str::to_owned).collect()
    }

    fn psql(&self, name: &str, statement: &str) -> std::process::Output {
        Command::new(self.programs.join("psql"))
            .args([
                "--tuples-only",
                "--no-align",
                "--quiet",
                "--command",
                statement,
            ])
            .arg(format!("postgres://atelier@{}/{name}", self.address))
            .output()
            .unwrap()
    }

    /// Ends the connections that receive notifications.
    pub fn end_listeners(&self) {
        // The server may be restarting.
        let _ = self.psql(
            "atelier",
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query ILIKE 'listen%'",
        );
    }

    /// Stops the server, as in a crash or in order, and starts it again after `down`.
    pub fn restart(&self, is_crash: bool, down: Duration) {
        let mut child = self.child.lock().unwrap_or_else(PoisonError::into_inner);
        let signal = if is_crash { Signal::QUIT } else { Signal::INT };
        // The server may have ended because its disk was full.
        let _ = kill_process(Pid::from_child(&child), signal);
        child.wait().unwrap();
        std::thread::sleep(down);
        *child = self.spawn();
        drop(child);
        self.await_ready();
    }

    /// Fills the disk for a while. Starts the server again if it has ended meanwhile.
    pub fn fill_disk(&self, time: Duration) {
        let Some(disk) = &self.disk else { return };
        disk.fill();
        std::thread::sleep(time);
        disk.empty();
        self.await_ready();
    }

    /// Waits until the server accepts connections. Starts it again if it ends.
    fn await_ready(&self) {
        let deadline = Instant::now() + Duration::from_secs(60);
        loop {
            let ready = Command::new(self.programs.join("pg_isready"))
                .args(["--quiet", "--host", "127.0.0.1", "--port"])
                .arg(self.address.port().to_string())
                .status();
            if ready.unwrap().success() {
                return;
            }
            let log = fs::read_to_string(self.folder.path().join("log")).unwrap_or_default();
            assert!(Instant::now() < deadline, "{log}");
            let mut child = self.child.lock().unwrap_or_else(PoisonError::into_inner);
            if child.try_wait().unwrap().is_some() {
                *child = self.spawn();
            }
            drop(child);
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    fn spawn(&self) -> Child {
        let data = data_of(self.disk.as_ref(), &self.folder);
        spawn(&self.programs, self.user, &data, self.address)
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        let child = self.child.get_mut().unwrap_or_else(PoisonError::into_inner);
        // Ends all processes of the server without writing anything.
        let _ = kill_process(Pid::from_child(child), Signal::QUIT);
        let _ = child.wait();
    }
}

fn data_of(disk: Option<&SmallDisk>, folder: &TempDir) -> PathBuf {
    disk.map_or(folder.path(), SmallDisk::path).join("data")
}

fn spawn(programs: &Path, user: Option<(u32, u32)>, data: &Path, address: SocketAddr) -> Child {
    let log = data.parent().unwrap().join("log");
    let log = fs::File::options().create(true).append(true).open(log);
    let mut command = Command::new(programs.join("postgres"));
    run_as(&mut command, user);
    command
        .current_dir("/")
        .arg("-D")
        .arg(data)
        .args(["-h", "127.0.0.1", "-p", &address.port().to_string()])
        .args([
            "-c",
            "unix_socket_directories=",
            "-c",
            "max_connections=200",
        ])
        // Otherwise the log of transactions alone would fill the disk.
        .args(["-c", "max_wal_size=64MB", "-c", "min_wal_size=32MB"])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(log.map_or_else(|_| Stdio::null(), Stdio::from))
        .spawn()
        .unwrap()
}

fn run_as(command: &mut Command, user: Option<(u32, u32)>) {
    if let Some((user, group)) = user {
        command.uid(user).gid(group);
    }
}

fn id_of_postgres(option: &str) -> u32 {
    let output = Command::new("id")
        .args([option, "postgres"])
        .output()
        .unwrap();
    String::from_utf8(output.stdout)
        .unwrap()
        .trim()
        .parse()
        .expect("the user postgres")
}

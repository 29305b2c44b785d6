//! Starts processes of the service.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::Outcome;
use crate::client::Client;
use crate::storage::Storage;

/// How long to wait until a service has opened its database.
const START_TIMEOUT: Duration = Duration::from_secs(60);

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Role {
    Both,
    Serve,
    Work,
}

pub struct Service {
    child: Child,
    /// The host and port; empty for a process that only runs tasks.
    pub address: String,
}

impl Service {
    /// Starts a process, and waits until it is ready. Does not wait for a process that only runs tasks.
    ///
    /// # Errors
    ///
    /// The program can't be started, prints no address, or is not ready in time.
    pub fn start(program: &Path, storage: &Storage, role: Role, args: &[&str]) -> Outcome<Self> {
        let mut command = Command::new(program);
        match role {
            Role::Both => &mut command,
            Role::Serve => command.arg("serve"),
            Role::Work => command.arg("work"),
        };
        if role != Role::Work {
            command.args(["--listen", "127.0.0.1:0"]);
        }
        if let Some(database) = storage.database() {
            command.args(["--database", database]);
        }
        let mut child = command
            .arg("--data")
            .arg(match role {
                Role::Work => storage.folder().join("work"),
                _ => storage.folder().to_owned(),
            })
            .arg("--outputs")
            .arg(storage.outputs())
            .args(args)
            .env("RUST_LOG", "warn")
            .env_remove("ATELIER_SERVICE_TOKEN")
            .stdout(Stdio::piped())
            .spawn()?;
        let mut address = String::new();
        if role != Role::Work {
            let out = child.stdout.take().ok_or("no standard output")?;
            let mut line = String::new();
            BufReader::new(out).read_line(&mut line)?;
            let printed = line.trim().strip_prefix("Listening on http://");
            address = printed.ok_or("the service did not start")?.to_owned();
        }
        let service = Self { child, address };
        if role != Role::Work {
            service.await_ready()?;
        }
        Ok(service)
    }

    /// Waits until the database is open: the service already listens before that.
    fn await_ready(&self) -> Outcome<()> {
        let begun = Instant::now();
        while let Err(error) = Client::new(&self.address).call("GET", "/readyz", "") {
            if begun.elapsed() > START_TIMEOUT {
                return Err(error);
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        Ok(())
    }

    /// Returns the resident memory of the process, in megabytes.
    ///
    /// # Errors
    ///
    /// The system is not Linux.
    pub fn memory_mb(&self) -> Outcome<f64> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let number = line.and_then(|line| line.split_whitespace().next());
        Ok((number.ok_or("no VmRSS")?.parse::<f64>()? / 1000.0).round())
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        // The process may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

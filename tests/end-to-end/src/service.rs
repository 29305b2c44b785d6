//! An `atelier-service` process on a free loopback port with its own data folder.

use crate::wait::{Seen, until};
use crate::{Result, http, site};
use rusqlite::Connection;
use serde_json::Value;
use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, ChildStdout, Command};

pub struct Service {
    address: SocketAddr,
    args: Vec<String>,
    data: TempDir,
    child: Option<Child>,
}

impl Service {
    /// Starts the service with additional arguments, such as `--rate 2/s`, and waits until it answers.
    ///
    /// # Errors
    ///
    /// As for [`Self::start_again`].
    pub async fn start(args: &[&str]) -> Result<Self> {
        let mut service = Self {
            // The system chooses a free port, and the service prints it.
            address: (Ipv4Addr::LOCALHOST, 0).into(),
            args: args.iter().map(ToString::to_string).collect(),
            data: tempfile::tempdir()?,
            child: None,
        };
        copy_samples(&service.data.path().join("outputs"))?;
        service.start_again().await?;
        Ok(service)
    }

    /// Starts the service with the release build of the page as its site.
    ///
    /// # Errors
    ///
    /// As for [`Self::start`]; also if there is no release build ([`site::folder`]).
    pub async fn start_with_site(args: &[&str]) -> Result<Self> {
        let site = site::folder()?;
        let site = site.to_str().ok_or("the site's path is not text")?;
        Self::start(&[&["--site", site], args].concat()).await
    }

    pub fn address(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Returns how many tasks the service has accepted for each prompt, from its database. Stop the service first.
    ///
    /// # Errors
    ///
    /// The database can't be opened, for instance because the service is running, or can't be read.
    pub fn accepted_tasks(&self) -> Result<BTreeMap<String, usize>> {
        let database = Connection::open(self.data.path().join("tasks.sqlite"))?;
        let mut inputs = database.prepare("SELECT input FROM input")?;
        let mut counts = BTreeMap::new();
        for input in inputs.query_map([], |row| row.get::<_, String>(0))? {
            let input: Value = serde_json::from_str(&input?)?;
            let prompt = input["prompt"].as_str().unwrap_or_default();
            *counts.entry(prompt.to_owned()).or_default() += 1;
        }
        Ok(counts)
    }

    /// Adds an account and returns its token. From then on, the service rejects requests without a token of an
    /// account.
    ///
    /// # Errors
    ///
    /// The command fails; the error is its message.
    pub async fn add_account(&self, name: &str) -> Result<String> {
        let printed = Command::new(binary()?)
            .args(["account", "add", name, "--data"])
            .arg(self.data.path())
            .output()
            .await?;
        if !printed.status.success() {
            return Err(String::from_utf8_lossy(&printed.stderr).into());
        }
        Ok(String::from_utf8(printed.stdout)?.trim().to_owned())
    }

    /// Kills the service, as in a crash. Keeps its data.
    ///
    /// # Errors
    ///
    /// The process can't be killed.
    pub async fn stop(&mut self) -> Result<()> {
        if let Some(mut child) = self.child.take() {
            child.kill().await?;
        }
        Ok(())
    }

    /// Starts the service on the same port with the same data.
    ///
    /// # Errors
    ///
    /// The program does not exist, or does not answer within a minute.
    pub async fn start_again(&mut self) -> Result<()> {
        let binary = binary()?;
        let mut child = Command::new(&binary)
            .arg("--listen")
            .arg(self.address.to_string())
            .arg("--data")
            .arg(self.data.path())
            .args(&self.args)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .map_err(|error| format!("{}: {error}", binary.display()))?;
        let stdout = child.stdout.take().ok_or("no output")?;
        self.child = Some(child);
        self.address = read_address(stdout).await?;
        let models = format!("{}/api/models", self.address());
        until(
            "the service to answer",
            Duration::from_secs(60),
            async || {
                if let Some(child) = &mut self.child
                    && let Some(status) = child.try_wait()?
                {
                    return Ok(Seen::NotYet(format!("it ended with {status}")));
                }
                Ok(match http::get(&models).await? {
                    (200, _) => Seen::Yes(()),
                    (status, _) => Seen::NotYet(format!("{models} answers {status}")),
                })
            },
        )
        .await
    }

    /// Stops the service and starts it again.
    ///
    /// # Errors
    ///
    /// As for [`Self::start_again`].
    pub async fn restart(&mut self) -> Result<()> {
        self.stop().await?;
        self.start_again().await
    }
}

/// Copies the sample outputs of the models from the folder `ATELIER_TEST_SAMPLES`. Otherwise, each service would have
/// to draw them.
fn copy_samples(outputs: &Path) -> Result<()> {
    let Some(samples) = std::env::var_os("ATELIER_TEST_SAMPLES") else {
        return Ok(());
    };
    for kind in ["previews", "posters"] {
        std::fs::create_dir_all(outputs.join(kind))?;
        for file in std::fs::read_dir(Path::new(&samples).join(kind))? {
            let file = file?;
            std::fs::copy(file.path(), outputs.join(kind).join(file.file_name()))?;
        }
    }
    Ok(())
}

/// Reads the address that the service prints when it listens.
async fn read_address(stdout: ChildStdout) -> Result<SocketAddr> {
    let mut lines = BufReader::new(stdout).lines();
    let line = lines.next_line().await?.ok_or("the service has exited")?;
    // Keep reading the output: otherwise the service blocks on a full pipe.
    tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
    let address = line
        .strip_prefix("Listening on http://")
        .ok_or_else(|| format!("no address: {line}"))?;
    Ok(address.trim_end_matches('/').parse()?)
}

/// Returns a free loopback address. Another program may take it first; starting then fails with an error.
///
/// # Errors
///
/// No port is free.
pub fn free_address() -> Result<SocketAddr> {
    Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?)
}

fn binary() -> Result<PathBuf> {
    if let Some(path) = std::env::var_os("ATELIER_SERVICE_BIN") {
        return Ok(path.into());
    }
    let target = std::env::var_os("CARGO_TARGET_DIR")
        .map_or_else(|| site::repository().join("target"), PathBuf::from);
    ["release", "debug"]
        .iter()
        .map(|profile| target.join(profile).join("atelier-service"))
        .find(|path| path.exists())
        .ok_or_else(|| "No atelier-service: run `cargo build --release -p atelier-service`".into())
}

//! `atelier-service doctor`: checks a configuration without starting, and reports problems.

use std::fmt;
use std::fs;
use std::io::{self, ErrorKind};
use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::time::{Duration, SystemTime};

use bytesize::ByteSize;

use crate::app::check_access;
use crate::backend;
use crate::config::{Config, Switch};
use crate::connections::{self, Bounds};
use crate::model_file;
use crate::outputs::{MIN_FREE_BYTES, free_bytes};
use crate::runner::http::Client;
use crate::store::{SCHEMA_VERSION, version_of};
use crate::webhooks::secret;

/// Below this many free bytes, the operator is warned.
const LOW_SPACE_BYTES: u64 = 1 << 30;

/// How long to wait for another service's response.
const TIMEOUT: Duration = Duration::from_secs(3);

/// 1 January 2025. An earlier time means that the clock is wrong.
const MIN_TIME: Duration = Duration::from_secs(1_735_689_600);

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    Ok,
    /// The service would start, but something needs attention.
    Warning,
    /// The service would not start, or not work.
    Error,
}

/// A line of the report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    pub level: Level,
    pub part: String,
    /// The result of the check, and what to do about it.
    pub message: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let level = match self.level {
            Level::Ok => "ok",
            Level::Warning => "warning",
            Level::Error => "error",
        };
        write!(f, "{level:8} {}: {}", self.part, self.message)
    }
}

fn ok(part: &str, text: impl Into<String>) -> Finding {
    finding(Level::Ok, part, text)
}

fn warning(part: &str, text: impl Into<String>) -> Finding {
    finding(Level::Warning, part, text)
}

fn error(part: &str, text: impl Into<String>) -> Finding {
    finding(Level::Error, part, text)
}

fn finding(level: Level, part: &str, text: impl Into<String>) -> Finding {
    let text = text.into();
    Finding {
        level,
        part: part.to_owned(),
        // One line, even if the message of another program has several.
        message: text.split_whitespace().collect::<Vec<_>>().join(" "),
    }
}

/// Returns the number with its noun: "1 model", "2 models".
fn pluralize(count: usize, noun: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {noun}{plural}")
}

/// Checks everything that can be checked before the start.
pub fn examine(config: &Config) -> Vec<Finding> {
    let mut found = data(&config.data);
    found.extend(outputs(config));
    found.push(uploads(config));
    found.push(recipes(config));
    found.push(webhooks(config));
    found.push(match &config.database {
        Some(url) => shared_database(url),
        None => database(&config.data.join("tasks.sqlite")),
    });
    found.push(access(config));
    found.extend(models(config));
    if let Some(site) = &config.site {
        found.push(match site.join("index.html").is_file() {
            true => ok("site", format!("{}", site.display())),
            false => error(
                "site",
                format!("no index.html in {}; build the page first", site.display()),
            ),
        });
    }
    found.push(address("address", config.listen));
    if let Some(listen) = config.metrics_listen {
        found.push(match listen == config.listen {
            true => error("metrics", format!("{listen} is the service's own address")),
            false => address("metrics", listen),
        });
    }
    found.extend(proxy(config));
    found.push(files(config));
    found.push(clock(&config.data));
    found
}

fn data(dir: &Path) -> Vec<Finding> {
    let shown = dir.display();
    let existing = dir.ancestors().find(|parent| parent.exists());
    let Some(existing) = existing.filter(|existing| !existing.as_os_str().is_empty()) else {
        return vec![ok("data", format!("{shown} will be created here"))];
    };
    if !existing.is_dir() {
        let text = format!(
            "{} is no directory; choose another --data",
            existing.display()
        );
        return vec![error("data", text)];
    }
    if let Err(problem) = try_to_write(existing) {
        let text = format!(
            "{} can't be written to ({problem}); make the service's user its owner: chown",
            existing.display()
        );
        return vec![error("data", text)];
    }
    let mut found = vec![match existing == dir {
        true => ok("data", format!("{shown} can be written to")),
        false => ok("data", format!("{shown} will be created")),
    }];
    found.extend(check_permissions(dir));
    found.extend(free_bytes(existing).map(|free| {
        let text = format!("{:.1} GB free", free as f64 / 1e9);
        match free {
            free if free < MIN_FREE_BYTES => error(
                "disk",
                format!("{text}: no task is accepted; free some space"),
            ),
            free if free < LOW_SPACE_BYTES => warning(
                "disk",
                format!("{text}: free some space, or clean up with --keep-days or --keep-bytes"),
            ),
            _ => ok("disk", text),
        }
    }));
    found
}

/// Checks the outputs, unless they are in the data directory.
fn outputs(config: &Config) -> Option<Finding> {
    config.outputs.as_ref()?;
    if let Some(folder) = config.outputs_folder() {
        let existing = folder.ancestors().find(|parent| parent.exists());
        let shown = folder.display();
        return Some(match existing.map(try_to_write) {
            Some(Err(problem)) => {
                error("outputs", format!("{shown} can't be written to: {problem}"))
            }
            _ => ok("outputs", format!("{shown} can be written to")),
        });
    }
    Some(match backend::probe_bucket(config) {
        Ok(()) => ok("outputs", "the bucket can be written to"),
        Err(problem) => error("outputs", problem.to_string()),
    })
}

fn uploads(config: &Config) -> Finding {
    match (config.upload_limit.0, config.account_disk) {
        (None, _) => ok("uploads", "off"),
        (Some(most), Some(disk)) if most > disk => warning(
            "uploads",
            format!(
                "a file of --upload-limit {} exceeds --account-disk {}",
                ByteSize(most).display().si(),
                ByteSize(disk).display().si()
            ),
        ),
        (Some(most), _) => ok(
            "uploads",
            format!("files of up to {}", ByteSize(most).display().si()),
        ),
    }
}

fn recipes(config: &Config) -> Finding {
    match config.embed_recipe {
        Switch::On => ok(
            "recipes",
            "output files contain their inputs, without secrets",
        ),
        Switch::Off => ok("recipes", "off"),
    }
}

fn webhooks(config: &Config) -> Finding {
    if config.webhooks.is_empty() {
        return ok("webhooks", "off");
    }
    match config.webhook_secrets().map(secret::parse_all) {
        Some(Err(problem)) => error("webhooks", problem.to_string()),
        _ => ok(
            "webhooks",
            format!("to {}", pluralize(config.webhooks.len(), "named host")),
        ),
    }
}

fn try_to_write(dir: &Path) -> io::Result<()> {
    let probe = dir.join(format!(".doctor-{}", std::process::id()));
    fs::write(&probe, "x")?;
    fs::remove_file(probe)
}

#[cfg(unix)]
fn check_permissions(dir: &Path) -> Option<Finding> {
    use std::os::unix::fs::PermissionsExt;
    let outputs = dir.join("outputs");
    let mode = fs::metadata(&outputs).ok()?.permissions().mode();
    (mode & 0o077 != 0).then(|| {
        let text = "other users of this machine can read it until the next start: chmod 700";
        warning("permissions", format!("{}: {text}", outputs.display()))
    })
}

#[cfg(not(unix))]
fn check_permissions(_dir: &Path) -> Option<Finding> {
    None
}

fn database(file: &Path) -> Finding {
    if !file.exists() {
        return ok("database", "will be created");
    }
    match version_of(file) {
        Ok(version) if version > SCHEMA_VERSION => error(
            "database",
            format!(
                "written by a newer version of this program (schema {version}, this version supports \
                 {SCHEMA_VERSION}); use that version, or restore an older backup"
            ),
        ),
        Ok(version) if version < SCHEMA_VERSION => warning(
            "database",
            format!(
                "the next start migrates schema {version} to {SCHEMA_VERSION}, which older versions can't read: \
                 back it up before"
            ),
        ),
        Ok(version) => ok("database", format!("schema {version}")),
        Err(problem) if problem.is_busy() => warning(
            "database",
            "locked by a running service, so it was not checked",
        ),
        Err(problem) => error(
            "database",
            format!("{}: {problem}; restore a backup", file.display()),
        ),
    }
}

fn shared_database(url: &str) -> Finding {
    match backend::probe_database(url) {
        Ok(name) => ok("database", name),
        Err(problem) => error("database", problem),
    }
}

fn access(config: &Config) -> Finding {
    let accounts = match backend::open_existing_accounts(config) {
        Ok(accounts) => accounts,
        Err(problem) => return error("access", problem.to_string()),
    };
    if let Err(problem) = check_access(config, &accounts) {
        return error("access", problem.to_string());
    }
    let list = accounts
        .has_accounts()
        .and_then(|has_accounts| has_accounts.then(|| accounts.list()).transpose());
    match list {
        Ok(Some(list)) if list.is_empty() => warning(
            "access",
            "all accounts were removed, so no client has access: atelier-service account add NAME",
        ),
        Ok(Some(list)) => ok("access", pluralize(list.len(), "account")),
        Err(problem) => error("access", problem.to_string()),
        Ok(None) if config.token.is_some() => ok("access", "one token for all clients"),
        Ok(None) => match &config.public_url {
            Some(url) => warning(
                "access",
                format!(
                    "anyone who can reach {url} has access with any token: atelier-service account add NAME"
                ),
            ),
            None => ok("access", "open to this machine"),
        },
    }
}

/// Checks the models file, including the environment variables that it names.
fn models(config: &Config) -> Vec<Finding> {
    let Some(file) = &config.models else {
        return Vec::new();
    };
    // Loading caches the parameters that models report on disk. A temporary directory keeps the service's data unchanged.
    let scratch = std::env::temp_dir().join(format!("atelier-doctor-{}", std::process::id()));
    let found = models_with(file, &scratch);
    // The directory may not exist.
    let _ = std::fs::remove_dir_all(&scratch);
    found
}

fn models_with(file: &Path, scratch: &Path) -> Vec<Finding> {
    let loaded = match model_file::load(file, scratch) {
        Ok(loaded) => loaded,
        Err(problem) => return vec![error("models", problem.to_string())],
    };
    let count = pluralize(loaded.remotes.len(), "model");
    let mut found = vec![ok("models", format!("{}: {count}", file.display()))];
    std::thread::scope(|scope| {
        for remote in &loaded.remotes {
            scope.spawn(|| remote.check());
        }
    });
    for remote in &loaded.remotes {
        let part = format!("model {}", remote.id());
        found.push(match remote.unavailable() {
            None => match remote.note() {
                Some(note) => warning(&part, format!("is available; {note}")),
                None => ok(&part, "is available"),
            },
            Some(why) if remote.is_program() => error(&part, why),
            Some(why) => warning(
                &part,
                format!("is unavailable, so its tasks would wait: {why}"),
            ),
        });
        let warnings = remote.warnings().into_iter();
        found.extend(warnings.map(|text| warning(&part, text)));
    }
    found
}

fn address(part: &str, address: SocketAddr) -> Finding {
    match TcpListener::bind(address) {
        Ok(_) => ok(part, format!("{address} is free")),
        Err(problem) if problem.kind() == ErrorKind::AddrInUse => {
            let probed = match address.ip().is_unspecified() {
                true => SocketAddr::from(([127, 0, 0, 1], address.port())),
                false => address,
            };
            let health = format!("http://{probed}/healthz");
            match Client::new(&health, None, &[]).get(&health, TIMEOUT) {
                Ok(reply) if reply.is_success() => {
                    warning(part, format!("a service is already running at {address}"))
                }
                _ => error(
                    part,
                    format!(
                        "another program uses {address}; choose another address, or end that program"
                    ),
                ),
            }
        }
        Err(problem) if problem.kind() == ErrorKind::PermissionDenied => error(
            part,
            format!("{address}: {problem}; ports below 1024 require root: use a proxy for them"),
        ),
        Err(problem) => error(
            part,
            format!("{address}: {problem}; is it an address of this machine?"),
        ),
    }
}

fn proxy(config: &Config) -> Option<Finding> {
    let url = config.public_url.as_ref()?;
    let behind = url.starts_with("https://") && !config.trust_proxy;
    behind.then(|| {
        let text = "without --trust-proxy all callers behind the proxy count as one address";
        warning("proxy", format!("{url}: {text}"))
    })
}

fn files(config: &Config) -> Finding {
    let bounds = Bounds::new(config.idle, config.worker_count());
    let text = format!("up to {} connections", bounds.connections);
    if bounds.connections < connections::MAX {
        let more = "raise the limit of open files: ulimit -n, or LimitNOFILE of systemd";
        return warning("open files", format!("{text}; {more}"));
    }
    ok("open files", text)
}

fn clock(data: &Path) -> Finding {
    let now = SystemTime::now();
    let since = now.duration_since(SystemTime::UNIX_EPOCH);
    if since.is_ok_and(|since| since < MIN_TIME) || now < SystemTime::UNIX_EPOCH {
        return error("clock", "the clock is years behind; set it, or use NTP");
    }
    let written = fs::metadata(data.join("tasks.sqlite")).and_then(|file| file.modified());
    let ahead = written.ok().and_then(|at| at.duration_since(now).ok());
    match ahead {
        Some(ahead) if ahead > Duration::from_secs(60) => warning(
            "clock",
            "the time is before the last change of the database; was the clock set back? Use NTP",
        ),
        _ => ok("clock", "is plausible"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_finding_is_one_line() {
        let found = error("models", "m.toml:3:\n  no such key");
        assert_eq!(found.to_string(), "error    models: m.toml:3: no such key");
    }
}

//! The command line.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Parser, Subcommand};

use crate::cleanup::Keep;
use crate::logging::LogFormat;
use crate::worker::AccountLimits;
use values::{
    parse_draw_scale, parse_duration, parse_host, parse_origin, parse_patience, parse_public_url,
    parse_rate, parse_size, parse_speed,
};

mod values;

pub use values::ANY;

// Options of serving, and of commands that look at how it would be. A doc comment here would take
// the place of the texts above.
#[derive(Debug, Clone, Parser)]
#[command(name = "atelier-service")]
pub struct Config {
    /// Address and port to listen on; port 0 takes a free one, which is printed.
    #[arg(long, default_value = "127.0.0.1:8787")]
    pub listen: SocketAddr,

    /// Directory of the database and the outputs; made if absent.
    #[arg(long, global = true, value_name = "DIR", default_value_os_t = default_data())]
    pub data: PathBuf,

    /// Where the tasks are: `postgres://…`, for any number of processes (in builds with the feature
    /// cluster). Default: SQLite in DIR, for this process alone.
    #[arg(
        long,
        global = true,
        env = "ATELIER_DATABASE",
        hide_env_values = true,
        value_name = "URL"
    )]
    pub database: Option<String>,

    /// Where the outputs are: a folder, or `s3://bucket/prefix` with what the AWS_ variables of the
    /// environment say (in builds with the feature cluster). Default: DIR/outputs.
    #[arg(long, value_name = "PLACE")]
    pub outputs: Option<String>,

    /// The access token to demand. Without it, any non-empty token will do.
    #[arg(long, env = "ATELIER_SERVICE_TOKEN", hide_env_values = true)]
    pub token: Option<String>,

    /// Also offer the models that this TOML file names; they run elsewhere.
    #[arg(long, value_name = "FILE")]
    pub models: Option<PathBuf>,

    /// Also serve this built front-end, with single-page fallback.
    #[arg(long, value_name = "DIR")]
    pub site: Option<PathBuf>,

    /// Calls under /v2 permitted per second, for each token and each address, e.g. `5/s`; each item
    /// of a batch counts as a call. Above it: 429 with Retry-After.
    #[arg(long, value_name = "N/s", value_parser = parse_rate)]
    pub rate: Option<f64>,

    /// Delay added to each answer, e.g. `200ms` or `1.5s`; a bare number is milliseconds.
    #[arg(long, value_name = "TIME", value_parser = parse_duration, default_value = "0ms")]
    pub latency: Duration,

    /// The address that people reach this service at, e.g. `https://studio.example`. Default: the
    /// request's own host.
    #[arg(long, value_name = "URL", value_parser = parse_public_url)]
    pub public_url: Option<String>,

    /// Also answer to this name, e.g. `studio.example`, with any port unless one is given; `*` for
    /// every name. May be repeated. Loopback names are always answered to.
    #[arg(long, value_name = "NAME", value_parser = parse_host)]
    pub allow_host: Vec<String>,

    /// Also let pages of this origin call, e.g. `https://studio.example`; `*` for every page. May be
    /// repeated. Pages of loopback addresses always may.
    #[arg(long, value_name = "ORIGIN", value_parser = parse_origin)]
    pub allow_origin: Vec<String>,

    /// Believe X-Forwarded-Host, -Proto and -For: only behind a proxy that sets them.
    #[arg(long)]
    pub trust_proxy: bool,

    /// Close connections that send no request for this long.
    #[arg(long, value_name = "TIME", value_parser = parse_patience, default_value = "60s")]
    pub idle: Duration,

    /// Multiplies the time that models take: 0.1 is ten times faster, 0 as fast as it goes.
    #[arg(long, value_name = "F", value_parser = parse_speed, default_value = "1.0")]
    pub speed: f64,

    /// Multiplies the sides of the pictures and films that the built-in models draw: at 0.25 they are
    /// drawn about sixteen times faster.
    #[arg(long, value_name = "F", value_parser = parse_draw_scale, default_value = "1.0")]
    pub draw_scale: f64,

    /// The most tasks of one uid that are worked on at the same time.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub account_running: Option<u32>,

    /// The most tasks of one uid that wait; more are refused with 429.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub account_waiting: Option<u32>,

    /// The most that the tasks of one uid may take on the disk, inputs and outputs, e.g. `2GB`; more are
    /// refused with 402.
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    pub account_disk: Option<u64>,

    /// Remove tasks, and their outputs, so many days after they have ended.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub keep_days: Option<u32>,

    /// Remove the oldest ended tasks, and their outputs, when all take more than this, e.g. `50GB`.
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    pub keep_bytes: Option<u64>,

    /// Asked to stop, let the tasks that are being worked on end for this long. What has not ended
    /// by then, or has not begun, is taken up at the next start.
    #[arg(long, value_name = "N", default_value = "0")]
    pub drain_seconds: u32,

    /// Tell metrics at this address alone, e.g. `127.0.0.1:9090`.
    #[arg(long, value_name = "ADDRESS")]
    pub metrics_listen: Option<SocketAddr>,

    /// The bearer token that metrics demand. With accounts or --token, /metrics is closed without
    /// it.
    #[arg(
        long,
        env = "ATELIER_METRICS_TOKEN",
        hide_env_values = true,
        value_name = "TOKEN"
    )]
    pub metrics_token: Option<String>,

    /// How the log is written.
    #[arg(long, value_enum, value_name = "FORMAT", default_value = "text")]
    pub log: LogFormat,

    /// Tasks worked on at the same time. Default: twice the processors, as tasks also wait.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    pub workers: Option<u16>,

    #[arg(skip)]
    pub role: Role,
}

/// The share that a process takes in the work.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Role {
    #[default]
    Both,
    /// It answers calls, and leaves the tasks to others.
    Serve,
    /// It works on tasks, and answers no requests.
    Work,
}

/// What to do instead of all that serving is.
#[derive(Debug, Clone, Subcommand)]
pub enum Command {
    /// Only answer calls; tasks are worked on by other processes with the same --database.
    Serve(Box<Config>),
    /// Only work on tasks that other processes with the same --database take in.
    Work(Box<Config>),
    /// Print the JSON schema of a file of models, for editors.
    ModelsSchema,
    /// Look at what serving with these options would meet, and say what is wrong with it.
    Doctor(Box<Config>),
    /// Who may come in by a token of their own. With the first account, no client does without one.
    Account {
        #[command(subcommand)]
        change: AccountCommand,
    },
}

#[derive(Debug, Clone, Subcommand)]
pub enum AccountCommand {
    /// Add an account and print its token, once. Its name is the uid of its calls.
    Add { name: String },
    /// Print the accounts.
    List,
    /// Take an account away. Its tasks stay.
    Remove { name: String },
    /// Give an account another token and print it, once.
    Rotate { name: String },
}

impl Config {
    /// Gives how much one owner may have at once.
    pub fn account_limits(&self) -> AccountLimits {
        let count = |number: Option<u32>| number.and_then(|number| usize::try_from(number).ok());
        AccountLimits {
            running: count(self.account_running),
            waiting: count(self.account_waiting),
        }
    }

    /// The folder of the outputs; none if they are in a bucket.
    pub fn outputs_folder(&self) -> Option<PathBuf> {
        match &self.outputs {
            None => Some(self.data.join("outputs")),
            Some(place) if place.starts_with("s3://") => None,
            Some(place) => Some(PathBuf::from(place)),
        }
    }

    /// Gives the tasks that are not to be cleaned up.
    pub fn keep(&self) -> Keep {
        Keep {
            days: self.keep_days,
            bytes: self.keep_bytes,
            measured: self.account_disk.is_some(),
        }
    }

    /// How long tasks have to end when the service is to stop.
    pub fn drain(&self) -> Duration {
        Duration::from_secs(self.drain_seconds.into())
    }

    /// The number of worker threads.
    pub fn worker_count(&self) -> usize {
        let processors = || std::thread::available_parallelism().map_or(1, usize::from);
        self.workers.map_or_else(|| 2 * processors(), usize::from)
    }
}

/// A directory of this person's own, where the system names one.
fn default_data() -> PathBuf {
    let set = |name| std::env::var_os(name).filter(|value| !value.is_empty());
    if let Some(data) = set("XDG_DATA_HOME").or_else(|| set("LOCALAPPDATA")) {
        return PathBuf::from(data).join("atelier");
    }
    match set("HOME") {
        Some(home) => PathBuf::from(home).join(".local/share/atelier"),
        None => PathBuf::from("atelier-data"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_well_formed() {
        Config::command().debug_assert();
    }
}

//! The command line.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Parser, Subcommand};

use crate::cleanup::Keep;
use crate::logging::LogFormat;
use crate::webhooks::hosts::{Allowed, parse_allowed};
use crate::worker::AccountLimits;
use values::{
    parse_draw_scale, parse_duration, parse_host, parse_origin, parse_positive_duration,
    parse_public_url, parse_rate, parse_size, parse_speed, parse_upload_limit,
};

mod values;

pub use values::{ANY, McpTools, Switch, UploadLimit};

// The options of the service, and of commands such as `doctor` that check them. This is not a doc comment, because
// clap would show that instead of the descriptions of the program and its commands.
#[derive(Debug, Clone, Parser)]
#[command(name = "atelier-service")]
pub struct Config {
    /// Address and port to listen on; port 0 takes a free one, which is printed.
    #[arg(long, default_value = "127.0.0.1:8787")]
    pub listen: SocketAddr,

    /// Directory of the database and the outputs; created if missing.
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

    /// Where the outputs are: a folder, or `s3://bucket/prefix`, configured by the AWS_ environment
    /// variables (in builds with the feature cluster). Default: DIR/outputs.
    #[arg(long, value_name = "PLACE")]
    pub outputs: Option<String>,

    /// The access token to require. Without it, any non-empty token is accepted.
    #[arg(long, env = "ATELIER_SERVICE_TOKEN", hide_env_values = true)]
    pub token: Option<String>,

    /// Also offer the remote models of this TOML file.
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

    /// Trust X-Forwarded-Host, -Proto and -For: only behind a proxy that sets them.
    #[arg(long)]
    pub trust_proxy: bool,

    /// Close connections that send no request for this long.
    #[arg(long, value_name = "TIME", value_parser = parse_positive_duration, default_value = "60s")]
    pub idle: Duration,

    /// Multiplies the time that models take: 0.1 is ten times faster, 0 as fast as it goes.
    #[arg(long, value_name = "F", value_parser = parse_speed, default_value = "1.0")]
    pub speed: f64,

    /// Multiplies the sides of the pictures and films that the built-in models draw: at 0.25 they are
    /// drawn about sixteen times faster.
    #[arg(long, value_name = "F", value_parser = parse_draw_scale, default_value = "1.0")]
    pub draw_scale: f64,

    /// Write the prompt, the other inputs without secrets, the model and the time into output files,
    /// and mark them as computed or generated.
    #[arg(long, value_enum, value_name = "SWITCH", default_value = "on")]
    pub embed_recipe: Switch,

    /// The tools of the MCP server at /mcp: `general` ones, also one for `each` model, or `off`.
    #[arg(long, value_enum, value_name = "TOOLS", default_value = "general")]
    pub mcp_tools: McpTools,

    /// The maximum number of concurrently running tasks of one uid.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub account_running: Option<u32>,

    /// The maximum number of waiting tasks of one uid; more are refused with 429.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub account_waiting: Option<u32>,

    /// The maximum disk space for the tasks of one uid, inputs and outputs, e.g. `2GB`; more tasks are
    /// refused with 402.
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    pub account_disk: Option<u64>,

    /// The maximum size of an uploaded file, e.g. `50MB`; `off` accepts no uploads. Uploads count for
    /// --account-disk.
    #[arg(long, value_name = "SIZE", value_parser = parse_upload_limit, default_value = "50MB")]
    pub upload_limit: UploadLimit,

    /// Send webhooks to these hosts, e.g. `hooks.example.com,*.example.org`. Requests to generate may
    /// then contain a `webhook`. `http://app:3000` also allows http and a private address. Default:
    /// webhooks are off.
    #[arg(long, value_name = "HOSTS", value_delimiter = ',', value_parser = parse_allowed)]
    pub webhooks: Vec<Allowed>,

    /// The secrets that webhooks are signed with: `whsec_…`, several separated by commas. Default: one
    /// that the service creates, and `atelier-service webhook-secret` prints.
    #[arg(
        long,
        global = true,
        env = "ATELIER_WEBHOOK_SECRET",
        hide_env_values = true,
        value_name = "SECRET"
    )]
    pub webhook_secret: Option<String>,

    /// The pause after the first failed attempt to send a webhook. For tests.
    #[arg(long, hide = true, value_parser = parse_positive_duration, default_value = "5s")]
    pub webhook_retry: Duration,

    /// Remove tasks, and their outputs, this number of days after they have ended.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub keep_days: Option<u32>,

    /// Remove the oldest ended tasks, and their outputs, when all take more than this, e.g. `50GB`.
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    pub keep_bytes: Option<u64>,

    /// How long running tasks have to end after a stop request. Other tasks are resumed at the next
    /// start.
    #[arg(long, value_name = "N", default_value = "0")]
    pub drain_seconds: u32,

    /// Serve metrics only at this address, e.g. `127.0.0.1:9090`.
    #[arg(long, value_name = "ADDRESS")]
    pub metrics_listen: Option<SocketAddr>,

    /// The bearer token that metrics require. With accounts or --token, /metrics is closed without
    /// it.
    #[arg(
        long,
        env = "ATELIER_METRICS_TOKEN",
        hide_env_values = true,
        value_name = "TOKEN"
    )]
    pub metrics_token: Option<String>,

    /// The format of the log.
    #[arg(long, value_enum, value_name = "FORMAT", default_value = "text")]
    pub log: LogFormat,

    /// The number of concurrent tasks. Default: twice the processors, as tasks also wait.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    pub workers: Option<u16>,

    #[arg(skip)]
    pub role: Role,
}

/// The role of a process.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Role {
    #[default]
    Both,
    /// Serves calls; other processes run the tasks.
    Serve,
    /// Runs tasks; serves no calls.
    Work,
}

/// A command. Without one, the program serves calls and runs tasks.
#[derive(Debug, Clone, Subcommand)]
pub enum Command {
    /// Only answer calls; other processes with the same --database run the tasks.
    Serve(Box<Config>),
    /// Only run tasks that other processes with the same --database accept.
    Work(Box<Config>),
    /// Print the JSON schema of the models file, for editors.
    ModelsSchema,
    /// Check these options and their environment without serving, and report problems.
    Doctor(Box<Config>),
    /// Print the secret that webhooks are signed with. Receivers need it to verify them.
    WebhookSecret,
    /// Manage accounts with tokens. Once the first account is added, every client needs one.
    Account {
        #[command(subcommand)]
        change: AccountCommand,
    },
}

#[derive(Debug, Clone, Subcommand)]
pub enum AccountCommand {
    /// Add an account and print its token, once. Its name is the uid of its calls.
    Add { name: String },
    /// List the accounts.
    List,
    /// Remove an account. Its tasks stay.
    Remove { name: String },
    /// Replace the token of an account and print the new one, once.
    Rotate { name: String },
}

impl Config {
    /// Returns the limits of each owner.
    pub fn account_limits(&self) -> AccountLimits {
        let count = |number: Option<u32>| number.and_then(|number| usize::try_from(number).ok());
        AccountLimits {
            running: count(self.account_running),
            waiting: count(self.account_waiting),
        }
    }

    /// Returns the folder of the outputs; `None` if they are in a bucket.
    pub fn outputs_folder(&self) -> Option<PathBuf> {
        match &self.outputs {
            None => Some(self.data.join("outputs")),
            Some(place) if place.starts_with("s3://") => None,
            Some(place) => Some(PathBuf::from(place)),
        }
    }

    /// Returns the limits for ended tasks.
    pub fn keep(&self) -> Keep {
        Keep {
            days: self.keep_days,
            bytes: self.keep_bytes,
            measure: self.account_disk.is_some(),
        }
    }

    /// Returns how long running tasks have to end after a stop request.
    pub fn drain(&self) -> Duration {
        Duration::from_secs(self.drain_seconds.into())
    }

    /// Returns the given secrets of webhooks; `None` if the service creates one.
    pub fn webhook_secrets(&self) -> Option<&str> {
        let given = self.webhook_secret.as_deref();
        given.map(str::trim).filter(|given| !given.is_empty())
    }

    /// Returns the number of worker threads.
    pub fn worker_count(&self) -> usize {
        let processors = || std::thread::available_parallelism().map_or(1, usize::from);
        self.workers.map_or_else(|| 2 * processors(), usize::from)
    }
}

/// Returns the user's data directory, if the system has one.
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

//! The state that all request handlers share. [`crate::app`] creates it.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::access::Access;
use crate::accounts::Accounts;
use crate::limit::Limit;
use crate::mcp::Mcp;
use crate::metrics::Metrics;
use crate::models::Models;
use crate::openai_images::memory::Memory;
use crate::openai_images::refusals::Refusals;
use crate::openai_images::waits::Waits;
use crate::outputs::Outputs;
use crate::readiness::Readiness;
use crate::sample::Samples;
use crate::site::Site;
use crate::store::Store;
use crate::uploads::Uploads;
use crate::webhooks::Webhooks;
use crate::worker::Pool;

pub struct App {
    pub store: Arc<dyn Store>,
    pub models: Arc<Models>,
    pub outputs: Arc<Outputs>,
    pub pool: Pool,
    pub samples: Samples,
    pub limit: Option<Limit>,
    pub site: Option<Site>,
    pub token: Option<String>,
    pub accounts: Accounts,
    pub access: Arc<Access>,
    /// The delay before each response.
    pub latency: Duration,
    pub metrics: Arc<Metrics>,
    /// The maximum size of one user's tasks on disk, in bytes.
    pub account_disk: Option<u64>,
    pub uploads: Uploads,
    /// The requests of OpenAI's images API and the calls of the MCP server that wait for tasks.
    pub waits: Waits,
    pub openai_refusals: Refusals,
    /// Bounds the memory of responses with files to requests of OpenAI's images API.
    pub openai_memory: Memory,
    /// Locked while the tasks of a repeatable request are numbered and submitted.
    pub submissions: Mutex<()>,
    pub mcp: Mcp,
    pub metrics_token: Option<String>,
    /// Whether the metrics have their own address.
    pub has_metrics_address: bool,
    pub readiness: Readiness,
    /// `None` if webhooks are off.
    pub webhooks: Option<Webhooks>,
}

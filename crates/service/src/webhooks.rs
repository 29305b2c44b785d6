//! Webhooks: the service sends the events of a task to a URL that the request to generate names (`--webhooks`). They are
//! signed as Standard Webhooks specify, and stored in the database until they are delivered.

use std::fmt;
use std::sync::Arc;

use atelier_contract::Schema;
use serde_json::{Map, Value};

use crate::config::Config;
use crate::failure::Failure;
use crate::metrics::{Metrics, WebhookState};
use crate::start_error::StartError;
use crate::store::Store;

mod body;
mod deliveries;
pub mod fields;
pub mod hosts;
pub mod retry;
pub mod secret;
mod sender;

use deliveries::Deliveries;
use hosts::Hosts;
use sender::Sender;

/// The fields of a request.
pub const URL_FIELD: &str = "webhook";
pub const EVENTS_FIELD: &str = "webhook_events";

/// An event of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    /// The model begins with the task.
    Started,
    /// The task has ended: it is completed, has failed, or was canceled.
    Completed,
}

impl Event {
    pub const ALL: [Self; 2] = [Self::Started, Self::Completed];

    /// Returns the name in requests and in the database.
    pub fn name(self) -> &'static str {
        match self {
            Self::Started => "started",
            Self::Completed => "completed",
        }
    }

    pub fn of_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|event| event.name() == name)
    }
}

/// The webhook of a task.
#[derive(Clone, PartialEq, Eq)]
pub struct Webhook {
    pub url: String,
    /// The host whose deliveries are limited, with scheme and port.
    pub host: String,
    pub events: Vec<Event>,
}

/// Shows only the host, because the rest of the URL may be a secret.
impl fmt::Debug for Webhook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Webhook")
            .field("host", &self.host)
            .field("events", &self.events)
            .finish_non_exhaustive()
    }
}

/// An event that this process delivers. It has no `Debug`, because the URL may be a secret.
#[derive(Clone, PartialEq, Eq)]
pub struct Delivery {
    /// The same for all attempts.
    pub id: String,
    pub task: String,
    pub event: Event,
    pub url: String,
    /// The host whose deliveries are limited, with scheme and port.
    pub host: String,
    /// In milliseconds since 1970.
    pub occurred_ms: i64,
    /// The number of this attempt, from 1.
    pub attempt: u32,
}

/// The webhooks of a service with `--webhooks`.
pub struct Webhooks {
    hosts: Arc<Hosts>,
    deliveries: Deliveries,
}

impl Webhooks {
    /// Starts to deliver events. Returns `None` without `--webhooks`. `stored_secret` returns the secret that was created
    /// at an earlier start, or creates it.
    ///
    /// # Errors
    ///
    /// A secret is invalid, or the stored one can't be read or created.
    pub fn start(
        config: &Config,
        store: &Arc<dyn Store>,
        metrics: &Arc<Metrics>,
        stored_secret: impl FnOnce() -> Result<String, StartError>,
    ) -> Result<Option<Self>, StartError> {
        if config.webhooks.is_empty() {
            return Ok(None);
        }
        for state in WebhookState::ALL {
            metrics.count_webhooks(state, 0);
        }
        let secrets = match config.webhook_secrets() {
            Some(given) => secret::parse_all(given),
            None => secret::parse_all(&stored_secret()?),
        };
        let secrets = secrets.map_err(StartError::WebhookSecret)?;
        let hosts = Arc::new(Hosts::new(config.webhooks.clone()));
        let sender = Sender::new(secrets, &hosts);
        Ok(Some(Self {
            deliveries: Deliveries::start(
                store.clone(),
                hosts.clone(),
                sender,
                metrics.clone(),
                config.webhook_retry,
            ),
            hosts,
        }))
    }

    /// Moves the fields of a webhook out of the input of a model. If the model has a parameter of that name, it stays the
    /// model's.
    ///
    /// # Errors
    ///
    /// 400 if a field is invalid or the URL is not allowed.
    pub fn take_from(
        &self,
        input: &mut Map<String, Value>,
        schema: &Schema,
    ) -> Result<Option<Webhook>, Failure> {
        fields::take_from(input, schema, &self.hosts).map_err(Failure::webhook)
    }

    /// Delivers the events that are due, and claims no more when there are none. [`Webhooks::has_ended`] then becomes true.
    pub fn finish(&self) {
        self.deliveries.finish();
    }

    /// Returns whether this process sends no events any more.
    pub fn has_ended(&self) -> bool {
        self.deliveries.has_ended()
    }

    /// Starts no more deliveries, and gives back the events that this process is still sending, to other processes or its
    /// next start. Blocks.
    pub fn stop(&self) {
        self.deliveries.stop();
    }
}

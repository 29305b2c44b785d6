//! Metrics for Prometheus. Events are counted when they happen, so that the cost of a scrape is independent of the number
//! of stored tasks. Labels are routes, models, states and reasons, which have few values.

use std::sync::atomic::AtomicU64;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use atelier_contract::{ModelId, StatusWord};
use prometheus_client::encoding::text::encode;
use prometheus_client::encoding::{EncodeLabelSet, EncodeLabelValue};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::metrics::info::Info;
use prometheus_client::registry::{Registry, Unit};

/// The content type of [`Metrics::text`].
pub const CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// The histogram buckets of durations, in seconds; most calls take milliseconds.
const DURATIONS: [f64; 13] = [
    0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0,
];

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Call {
    route: String,
    status: u32,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Refusal {
    reason: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ModelLabel {
    model: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, EncodeLabelValue)]
#[allow(non_camel_case_types)] // The names of the variants are the values of the label.
enum State {
    waiting,
    running,
    completed,
    failed,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Tasks {
    model: String,
    state: State,
}

/// The result of an attempt to deliver a webhook.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, EncodeLabelValue)]
#[allow(non_camel_case_types)] // The names of the variants are the values of the label.
pub enum WebhookState {
    delivered,
    /// The attempt failed.
    failed,
    /// The event was given up.
    abandoned,
}

impl WebhookState {
    pub const ALL: [Self; 3] = [Self::delivered, Self::failed, Self::abandoned];
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct WebhookLabel {
    state: WebhookState,
}

type NoLabels = [(&'static str, &'static str); 0];

/// The number of a model's unfinished tasks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Load {
    pub model: ModelId,
    pub waiting: usize,
    pub running: usize,
}

/// Values that are read at the time of a scrape.
#[derive(Debug, Clone, Default)]
pub struct Snapshot {
    pub loads: Vec<Load>,
    /// How long the oldest waiting task has waited.
    pub oldest_wait: Duration,
    /// The remote models, and whether each is unavailable.
    pub unavailable: Vec<(ModelId, bool)>,
    /// The webhooks that are not delivered yet; `None` if webhooks are off or the database does not respond.
    pub webhooks_waiting: Option<u64>,
}

/// The metrics of a service.
#[derive(Debug)]
pub struct Metrics {
    registry: Registry,
    calls: Family<Call, Histogram, fn() -> Histogram>,
    refusals: Family<Refusal, Counter>,
    accepted: Family<ModelLabel, Counter>,
    ended: Family<Tasks, Counter>,
    removed: Counter,
    unfinished: Family<Tasks, Gauge>,
    queue_age: Gauge<f64, AtomicU64>,
    unavailable: Family<ModelLabel, Gauge>,
    webhooks: Family<WebhookLabel, Counter>,
    /// Has no value if the number is unknown.
    webhooks_waiting: Family<NoLabels, Gauge>,
    /// Serializes scrapes, because each resets the gauges.
    scraping: Mutex<()>,
}

impl Default for Metrics {
    fn default() -> Self {
        let mut registry = Registry::with_prefix("atelier");
        let calls: Family<Call, Histogram, fn() -> Histogram> =
            Family::new_with_constructor(|| Histogram::new(DURATIONS));
        let refusals = Family::default();
        let (accepted, ended, unfinished) =
            (Family::default(), Family::default(), Family::default());
        let (queue_age, unavailable, removed) =
            (Gauge::default(), Family::default(), Counter::default());
        let (webhooks, webhooks_waiting) = (Family::default(), Family::default());
        registry.register(
            "build",
            "The program",
            Info::new([("version", env!("CARGO_PKG_VERSION"))]),
        );
        registry.register_with_unit(
            "call_duration",
            "Calls, by route and HTTP status",
            Unit::Seconds,
            calls.clone(),
        );
        registry.register(
            "refusals",
            "Refused calls and batch items, by error code",
            refusals.clone(),
        );
        registry.register(
            "tasks_accepted",
            "Tasks accepted since the start",
            accepted.clone(),
        );
        registry.register("tasks_ended", "Tasks ended since the start", ended.clone());
        registry.register(
            "tasks_removed",
            "Tasks cleaned up since the start",
            removed.clone(),
        );
        registry.register("tasks", "Waiting and running tasks", unfinished.clone());
        registry.register_with_unit(
            "queue_age",
            "How long the oldest waiting task has waited",
            Unit::Seconds,
            queue_age.clone(),
        );
        registry.register(
            "model_away",
            "1 while a remote model is unavailable",
            unavailable.clone(),
        );
        registry.register(
            "webhooks",
            "Webhooks delivered and given up, and failed attempts, since the start",
            webhooks.clone(),
        );
        registry.register(
            "webhooks_waiting",
            "Webhooks that are not delivered yet",
            webhooks_waiting.clone(),
        );
        Self {
            registry,
            calls,
            refusals,
            accepted,
            ended,
            removed,
            unfinished,
            queue_age,
            unavailable,
            webhooks,
            webhooks_waiting,
            scraping: Mutex::default(),
        }
    }
}

impl Metrics {
    /// Counts a call, with its duration.
    pub fn count_call(&self, route: &str, status: u16, took: Duration) {
        let call = Call {
            route: route.to_owned(),
            status: status.into(),
        };
        self.calls.get_or_create(&call).observe(took.as_secs_f64());
    }

    /// Counts a refused call or batch item.
    pub fn count_refusal(&self, reason: &str) {
        let reason = reason.to_owned();
        self.refusals.get_or_create(&Refusal { reason }).inc();
    }

    /// Counts an accepted task.
    pub fn count_accepted(&self, model: &ModelId) {
        self.accepted.get_or_create(&model_label(model)).inc();
    }

    /// Counts an ended task.
    pub fn count_ended(&self, model: &ModelId, status: &StatusWord) {
        let state = match status {
            StatusWord::Completed => State::completed,
            _ => State::failed,
        };
        self.ended.get_or_create(&tasks(model, state)).inc();
    }

    /// Counts removed tasks.
    pub fn count_removed(&self, count: usize) {
        self.removed.inc_by(count as u64);
    }

    /// Counts an attempt to deliver a webhook, or one that was given up.
    pub fn count_webhook(&self, state: WebhookState) {
        self.count_webhooks(state, 1);
    }

    /// Counts webhooks. With a count of 0, a counter starts at 0, so that its first increment is visible.
    pub fn count_webhooks(&self, state: WebhookState, count: u64) {
        let counter = self.webhooks.get_or_create(&WebhookLabel { state });
        counter.inc_by(count);
    }

    /// Returns all metrics in the text format of OpenMetrics.
    ///
    /// # Errors
    ///
    /// A metric can't be encoded. This does not happen for a `String`.
    pub fn text(&self, now: &Snapshot) -> Result<String, std::fmt::Error> {
        let _one_at_a_time = self.scraping.lock().unwrap_or_else(PoisonError::into_inner);
        // Models without unfinished tasks are not reported.
        self.unfinished.clear();
        for load in &now.loads {
            for (state, count) in [
                (State::waiting, load.waiting),
                (State::running, load.running),
            ] {
                let count = i64::try_from(count).unwrap_or(i64::MAX);
                self.unfinished
                    .get_or_create(&tasks(&load.model, state))
                    .set(count);
            }
        }
        self.queue_age.set(now.oldest_wait.as_secs_f64());
        for (model, unavailable) in &now.unavailable {
            self.unavailable
                .get_or_create(&model_label(model))
                .set((*unavailable).into());
        }
        self.webhooks_waiting.clear();
        if let Some(waiting) = now.webhooks_waiting {
            let waiting = i64::try_from(waiting).unwrap_or(i64::MAX);
            self.webhooks_waiting.get_or_create(&[]).set(waiting);
        }
        let mut text = String::new();
        encode(&mut text, &self.registry)?;
        Ok(text)
    }
}

fn model_label(model: &ModelId) -> ModelLabel {
    ModelLabel {
        model: model.to_string(),
    }
}

fn tasks(model: &ModelId, state: State) -> Tasks {
    Tasks {
        model: model.to_string(),
        state,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_has_all_counted_events() {
        let metrics = Metrics::default();
        let model = ModelId::new("image", "strata");
        metrics.count_accepted(&model);
        metrics.count_ended(&model, &StatusWord::Failed);
        metrics.count_call("/v2/status", 200, Duration::from_millis(3));
        metrics.count_refusal("rate_limited");
        metrics.count_webhook(WebhookState::delivered);
        let load = |waiting| Snapshot {
            loads: vec![Load {
                model: model.clone(),
                waiting,
                running: 1,
            }],
            oldest_wait: Duration::from_millis(1500),
            unavailable: vec![(model.clone(), true)],
            webhooks_waiting: Some(3),
        };
        let text = metrics.text(&load(2)).unwrap();
        for line in [
            r#"atelier_tasks_accepted_total{model="image/strata"} 1"#,
            r#"atelier_tasks_ended_total{model="image/strata",state="failed"} 1"#,
            r#"atelier_tasks{model="image/strata",state="waiting"} 2"#,
            r#"atelier_tasks{model="image/strata",state="running"} 1"#,
            r#"atelier_call_duration_seconds_count{route="/v2/status",status="200"} 1"#,
            r#"atelier_refusals_total{reason="rate_limited"} 1"#,
            r#"atelier_model_away{model="image/strata"} 1"#,
            r#"atelier_webhooks_total{state="delivered"} 1"#,
            "atelier_webhooks_waiting{} 3",
            "atelier_queue_age_seconds 1.5",
            "# EOF",
        ] {
            assert!(text.lines().any(|known| known == line), "{line}\n{text}");
        }
        let text = metrics.text(&Snapshot::default()).unwrap();
        assert!(!text.contains("atelier_tasks{"), "{text}");
    }
}

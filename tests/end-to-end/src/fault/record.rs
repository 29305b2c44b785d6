//! What was called.

use serde_json::{Map, Value, json};
use std::time::Duration;

/// One call that came to the proxy, forwarded or not.
#[derive(Clone, Debug)]
pub struct Call {
    /// Counts up from the start of the proxy, also when the record is forgotten in between.
    pub number: usize,
    /// Since the proxy was started.
    pub at: Duration,
    pub method: String,
    /// Without the query.
    pub path: String,
    /// Its credentials.
    pub authorization: Option<String>,
    /// The task ids it asks about, single or batch.
    pub ids: Vec<String>,
    /// The prompts of what it submits, single or batch.
    pub prompts: Vec<String>,
    /// The seeds of what it submits, each as it is written, in the order of `prompts`; empty where there is
    /// none.
    pub seeds: Vec<String>,
    /// The idempotency keys of what it submits, in the order of `prompts`; empty where there is none.
    pub keys: Vec<String>,
    /// How many items it carries: 1 for a single call.
    pub items: usize,
    /// What the page was answered; none while under way, or if the connection was closed.
    pub status: Option<u16>,
    /// The ids of tasks that the service gave out in its answer, whether or not it was delivered.
    pub accepted: Vec<String>,
    /// Until when its answer's Retry-After asks for no further call, on the clock of `at`.
    pub not_before: Option<Duration>,
    /// The fault that it met.
    pub fault: Option<String>,
    /// What the page calls it, if the page is one that says so: see [`crate::hearing`].
    pub mark: Option<String>,
    /// The marks of the refusals that its browser had heard when it left.
    pub heard: Vec<String>,
}

impl Call {
    pub(super) fn new(
        number: usize,
        at: Duration,
        method: &str,
        path: &str,
        key: Option<&str>,
        body: &[u8],
    ) -> Self {
        let body: Value = serde_json::from_slice(body).unwrap_or_default();
        let items: Vec<&Value> = match body["requests"].as_array() {
            Some(requests) => requests.iter().collect(),
            None => vec![&body],
        };
        let texts = |field: &str| {
            let texts = items.iter().filter_map(|item| item[field].as_str());
            texts.map(str::to_owned).collect()
        };
        let seeds = items.iter().map(|item| match &item["seed"] {
            Value::Null => String::new(),
            seed => seed.to_string(),
        });
        let keys = items.iter().map(|item| {
            let field = item["idempotency_key"].as_str();
            field.or(key).unwrap_or_default().to_owned()
        });
        Self {
            number,
            at,
            method: method.to_owned(),
            path: path.to_owned(),
            authorization: None,
            ids: texts("id"),
            prompts: texts("prompt"),
            seeds: seeds.collect(),
            keys: keys.collect(),
            items: items.len(),
            status: None,
            accepted: Vec::new(),
            not_before: None,
            fault: None,
            mark: None,
            heard: Vec::new(),
        }
    }

    /// A call without content, for tests of what is made of calls.
    pub fn at(path: &str, number: usize, at: Duration) -> Self {
        Self::new(number, at, "POST", path, None, b"{}")
    }

    /// Notes which tasks the service says it has accepted.
    pub(super) fn note_answer(&mut self, reply: &[u8]) {
        if !self.path.starts_with("/v2/generate") {
            return;
        }
        let reply: Value = serde_json::from_slice(reply).unwrap_or_default();
        let entries = match reply["data"]["results"].as_array() {
            Some(results) => results
                .iter()
                .map(|result| &result["body"]["data"]["id"])
                .collect(),
            None => vec![&reply["data"]["id"]],
        };
        self.accepted = entries
            .into_iter()
            .filter_map(Value::as_str)
            .map(str::to_owned)
            .collect();
    }

    pub fn is_v2(&self) -> bool {
        self.path.starts_with("/v2/")
    }

    fn to_json(&self) -> Value {
        json!({
            "at_ms": u64::try_from(self.at.as_millis()).unwrap_or(u64::MAX),
            "method": self.method,
            "path": self.path,
            "ids": self.ids,
            "items": self.items,
            "status": self.status,
            "accepted": self.accepted,
            "fault": self.fault,
        })
    }
}

pub(super) fn to_json(calls: &[Call]) -> Value {
    let mut counts = Map::new();
    for call in calls {
        let count = counts.entry(call.path.clone()).or_insert(json!(0));
        *count = json!(count.as_u64().unwrap_or_default() + 1);
    }
    json!({ "counts": counts, "calls": calls.iter().map(Call::to_json).collect::<Vec<_>>() })
}

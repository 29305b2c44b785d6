//! The record of calls.

use serde_json::{Map, Value, json};
use std::time::Duration;

/// One call that the proxy received, forwarded or not.
#[derive(Clone, Debug)]
pub struct Call {
    /// The sequence number since the start of the proxy. Clearing the record does not reset it.
    pub number: usize,
    /// The time since the start of the proxy.
    pub at: Duration,
    pub method: String,
    /// The path without the query.
    pub path: String,
    /// The `Authorization` header.
    pub authorization: Option<String>,
    /// The `Available-Dictionary` header.
    pub dictionary: Option<String>,
    /// The task ids in the request, single or batch.
    pub ids: Vec<String>,
    /// The submitted prompts, single or batch.
    pub prompts: Vec<String>,
    /// The submitted seeds as JSON text, in the order of `prompts`. Empty if an item has none.
    pub seeds: Vec<String>,
    /// The submitted idempotency keys, in the order of `prompts`. Empty if an item has none.
    pub keys: Vec<String>,
    /// The number of items: 1 for a single call.
    pub items: usize,
    /// The response status. `None` while the call is in progress, or if the connection was closed.
    pub status: Option<u16>,
    /// The task ids in the service's response, whether or not it was delivered.
    pub accepted: Vec<String>,
    /// The time that `Retry-After` in the response names, on the clock of `at`.
    pub not_before: Option<Duration>,
    /// The fault that was applied.
    pub fault: Option<String>,
    /// The id that the page gave the call, if it reports refusals: see [`crate::received_refusals`].
    pub mark: Option<String>,
    /// The ids of the calls whose refusals the browser had received when it sent this call.
    pub received: Vec<String>,
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
            dictionary: None,
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
            received: Vec::new(),
        }
    }

    /// Returns a call without content, for unit tests.
    pub fn at(path: &str, number: usize, at: Duration) -> Self {
        Self::new(number, at, "POST", path, None, b"{}")
    }

    /// Records which tasks the service has accepted.
    pub(super) fn record_response(&mut self, reply: &[u8]) {
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

    pub fn is_api_call(&self) -> bool {
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

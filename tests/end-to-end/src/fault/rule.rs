//! Rules: which fault applies to which calls, and how many times.

use crate::Result;
use serde_json::Value;
use std::time::Duration;

#[derive(Clone, Debug, PartialEq)]
pub enum Fault {
    /// Responds with this status instead of forwarding.
    Status {
        status: u16,
        retry_after: Option<RetryAfter>,
    },
    /// Responds with this status and message instead of forwarding.
    StatusWithMessage { status: u16, message: String },
    /// Forwards the call and changes only the status of the response (`status`).
    OtherStatus { status: u16 },
    /// Responds 200 with an HTML page instead of JSON, as a gateway might.
    NotJson,
    /// Closes the connection without forwarding the call.
    DropBefore,
    /// Forwards the call, then closes the connection: the response is lost.
    DropAfter,
    /// Forwards the call, sends the whole body, but closes the connection before the end-of-body marker.
    Unfinished,
    /// Forwards the call and sends half of the body as a complete response.
    Halved,
    /// Responds 429 with a wait in seconds (`retry_after`), and closes the connection in the middle of the body.
    CutLimit { retry_after: u64 },
    /// Forwards the call after a delay (`ms`).
    Delay { time: Duration },
    /// Forwards the call when the rules are removed.
    Hold,
    /// Removes all but the first entries of a batch response (`keep`).
    CutBatch { keep: usize },
    /// Reverses the entries of a batch response. Each keeps its `index`.
    ReorderBatch,
    /// Forwards the call and adds `Cache-Control: no-store`, as if the browser had evicted the file from its cache.
    NoStore,
    /// Removes a field of the JSON response (`field`), as from a service without the feature. Applies in addition to
    /// another fault.
    HideField { field: String },
    /// Responds 404, as a service without this endpoint. Unlike [`Self::Status`], it stays when the rules are removed.
    Absent,
    /// Closes every connection for the matching paths, as if the service were down.
    Down,
}

/// The `Retry-After` header of a 429 or 503.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RetryAfter {
    Seconds(u64),
    /// An HTTP date this many seconds from now (`{"date": 5}`), rounded up.
    Date(u64),
}

#[derive(Clone, Debug, PartialEq)]
pub struct Rule {
    pub path: String,
    /// The number of calls that it applies to. `None` means all.
    pub times: Option<u32>,
    pub fault: Fault,
}

impl Rule {
    /// Returns a rule for the next `times` calls to a path. A `*` at the end of the path matches all paths with this
    /// prefix.
    pub fn next(times: u32, path: &str, fault: Fault) -> Self {
        Self {
            path: path.to_owned(),
            times: Some(times),
            fault,
        }
    }

    /// Returns a rule for every call to a path until the rules are removed.
    pub fn every(path: &str, fault: Fault) -> Self {
        Self {
            path: path.to_owned(),
            times: None,
            fault,
        }
    }

    /// Returns whether the rule hides something that the service offers.
    pub(super) fn hides(&self) -> bool {
        matches!(self.fault, Fault::HideField { .. } | Fault::Absent)
    }

    /// Returns the field that the rule hides.
    pub(super) fn hidden_field(&self) -> Option<String> {
        match &self.fault {
            Fault::HideField { field } => Some(field.clone()),
            _ => None,
        }
    }

    pub(super) fn matches(&self, path: &str) -> bool {
        match self.path.strip_suffix('*') {
            Some(start) => path.starts_with(start),
            None => path == self.path,
        }
    }

    /// Parses a rule from JSON.
    ///
    /// # Errors
    ///
    /// The fault is unknown, or one of its fields is missing or invalid.
    pub(super) fn parse(rule: &Value) -> Result<Self> {
        let number = |name: &str| {
            rule[name]
                .as_u64()
                .ok_or_else(|| format!("`{name}` must be an integer"))
        };
        let fault = match rule["fault"].as_str().unwrap_or_default() {
            "status" => Fault::Status {
                status: u16::try_from(number("status")?)?,
                retry_after: match &rule["retry_after"] {
                    Value::Null => None,
                    after => Some(after.as_u64().map_or_else(
                        || {
                            after["date"]
                                .as_u64()
                                .map(RetryAfter::Date)
                                .ok_or("invalid `retry_after`")
                        },
                        |seconds| Ok(RetryAfter::Seconds(seconds)),
                    )?),
                },
            },
            "status_with_message" => Fault::StatusWithMessage {
                status: u16::try_from(number("status")?)?,
                message: rule["message"]
                    .as_str()
                    .ok_or("`message` must be a string")?
                    .to_owned(),
            },
            "other_status" => Fault::OtherStatus {
                status: u16::try_from(number("status")?)?,
            },
            "not_json" => Fault::NotJson,
            "drop_before" => Fault::DropBefore,
            "drop_after" => Fault::DropAfter,
            "unfinished" => Fault::Unfinished,
            "halved" => Fault::Halved,
            "cut_limit" => Fault::CutLimit {
                retry_after: number("retry_after")?,
            },
            "delay" => Fault::Delay {
                time: Duration::from_millis(number("ms")?),
            },
            "hold" => Fault::Hold,
            "cut_batch" => Fault::CutBatch {
                keep: usize::try_from(number("keep")?)?,
            },
            "reorder_batch" => Fault::ReorderBatch,
            "no_store" => Fault::NoStore,
            "hide_field" => Fault::HideField {
                field: rule["field"]
                    .as_str()
                    .ok_or("`field` must be a string")?
                    .to_owned(),
            },
            "down" => Fault::Down,
            other => return Err(format!("unknown fault “{other}”").into()),
        };
        let times = match rule["times"] {
            Value::Null => None,
            _ => Some(u32::try_from(number("times")?)?),
        };
        let path = rule["path"].as_str().unwrap_or("/*").to_owned();
        Ok(Self { path, times, fault })
    }
}

//! What goes wrong, where, and how often.

use crate::Result;
use serde_json::Value;
use std::time::Duration;

#[derive(Clone, Debug, PartialEq)]
pub enum Fault {
    /// Answers this status instead of forwarding.
    Status {
        status: u16,
        retry_after: Option<RetryAfter>,
    },
    /// Answers this status instead of forwarding, with these words of why.
    Says { status: u16, message: String },
    /// Forwards the call, and gives its answer another status (`status`): the body says what is true.
    OtherStatus { status: u16 },
    /// Answers 200 with a page instead of JSON, as a proxy in between might.
    NotJson,
    /// Closes the connection; the service never sees the call.
    DropBefore,
    /// Forwards the call, then closes the connection: the service has acted, its answer is lost.
    DropAfter,
    /// Forwards the call, gives all of its answer, and closes the connection where the end of it was to be said.
    Unfinished,
    /// Forwards the call, and gives half of its answer as if it were all of it.
    Halved,
    /// Answers 429 with so many seconds to wait (`retry_after`), and closes the connection in the middle of its body.
    CutLimit { retry_after: u64 },
    /// Forwards the call after a while (`ms`).
    Delay { time: Duration },
    /// Forwards the call when the rules are forgotten.
    Hold,
    /// Leaves out all but the first entries of a batch reply (`keep`).
    CutBatch { keep: usize },
    /// Turns the entries of a batch reply round; each keeps its own `index`.
    ReorderBatch,
    /// Forwards the call, and has the browser keep nothing of the answer: as if it had made room.
    Unkept,
    /// Leaves a field of the JSON reply out (`field`), as a service without it would.
    HideField { field: String },
    /// As if no server were there: every connection is closed, for all paths that fit.
    Down,
}

/// How a 429 or 503 says when to come back.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RetryAfter {
    Seconds(u64),
    /// The same as an HTTP date (`{"date": 5}`): whole seconds, rounded up.
    Date(u64),
}

#[derive(Clone, Debug, PartialEq)]
pub struct Rule {
    pub path: String,
    /// How many calls it is for; all, if none.
    pub times: Option<u32>,
    pub fault: Fault,
}

impl Rule {
    /// The next `times` calls to a path (or to all that begin like it, with `*` at its end).
    pub fn next(times: u32, path: &str, fault: Fault) -> Self {
        Self {
            path: path.to_owned(),
            times: Some(times),
            fault,
        }
    }

    /// Every call until the rules are forgotten.
    pub fn every(path: &str, fault: Fault) -> Self {
        Self {
            path: path.to_owned(),
            times: None,
            fault,
        }
    }

    /// It makes the service one that lacks something.
    pub(super) fn hides(&self) -> bool {
        matches!(self.fault, Fault::HideField { .. })
    }

    pub(super) fn fits(&self, path: &str) -> bool {
        match self.path.strip_suffix('*') {
            Some(start) => path.starts_with(start),
            None => path == self.path,
        }
    }

    /// Reads a rule from JSON.
    ///
    /// # Errors
    ///
    /// A sentence: there is no such fault, or what it needs is missing or no number that it takes.
    pub(super) fn read(rule: &Value) -> Result<Self> {
        let number = |name: &str| {
            rule[name]
                .as_u64()
                .ok_or_else(|| format!("`{name}` has to be a whole number"))
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
                                .ok_or("no such retry_after")
                        },
                        |seconds| Ok(RetryAfter::Seconds(seconds)),
                    )?),
                },
            },
            "says" => Fault::Says {
                status: u16::try_from(number("status")?)?,
                message: rule["message"].as_str().ok_or("which words?")?.to_owned(),
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
            "unkept" => Fault::Unkept,
            "hide_field" => Fault::HideField {
                field: rule["field"].as_str().ok_or("which field?")?.to_owned(),
            },
            "down" => Fault::Down,
            other => return Err(format!("no such fault: “{other}”").into()),
        };
        let times = match rule["times"] {
            Value::Null => None,
            _ => Some(u32::try_from(number("times")?)?),
        };
        let path = rule["path"].as_str().unwrap_or("/*").to_owned();
        Ok(Self { path, times, fault })
    }
}

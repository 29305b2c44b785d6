//! A proxy in front of the service that injects faults and records every call. Tests check the record: how many calls
//! the page sent, in which order, and when.
//!
//! Commands over HTTP, allowed from any origin:
//!
//! | call | meaning |
//! | --- | --- |
//! | `POST /__faults` | adds a rule: `{"path": "/v2/status*", "times": 3, "fault": "status", "status": 429, "retry_after": 5}` |
//! | `DELETE /__faults` | removes all rules, and releases the calls that a rule holds |
//! | `GET /__counts` | `{"counts": {"/v2/generate": 2, …}, "calls": [{"at_ms", "method", "path", "ids", "items", "status", "fault"}, …]}` |
//! | `DELETE /__counts` | clears the record |
//!
//! A rule without `times` applies until it is removed. A path ending in `*` matches all paths with this prefix. Each
//! call uses the first rule that matches. Faults and their fields are those of [`Fault`], in snake case.

mod clear;
mod clock;
mod command;
mod first;
mod proxy;
mod record;
mod reply;
mod rule;

pub use proxy::FaultProxy;
pub use record::Call;
pub use rule::{Fault, RetryAfter, Rule};

/// The path of the stream of events. The proxy passes the events on as they arrive.
pub const EVENTS: &str = "/v2/events";

//! A proxy in front of the service that makes calls go wrong on command, and keeps a record of every
//! call, so that tests can say what the page did: how often, in which order, not before when.
//!
//! Over HTTP it is commanded through paths of its own (all of them answer any origin):
//!
//! | call | meaning |
//! | --- | --- |
//! | `POST /__faults` | adds a rule: `{"path": "/v2/status*", "times": 3, "fault": "status", "status": 429, "retry_after": 5}` |
//! | `DELETE /__faults` | forgets all rules, and lets go of what a rule holds |
//! | `GET /__counts` | `{"counts": {"/v2/generate": 2, …}, "calls": [{"at_ms", "method", "path", "ids", "items", "status", "fault"}, …]}` |
//! | `DELETE /__counts` | forgets the record |
//!
//! A rule without `times` holds until forgotten. A path ending in `*` fits all that begin like it.
//! The rule that was added first and fits is used, once per call. Faults and their fields are those
//! of [`Fault`], in small letters with `_`.

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

//! The decisions: what a task is and what becomes of it, when to send and when to ask, and what
//! views need to know. Pure: time, chance and answers come in as arguments.

mod engine;
mod limiter;
mod reduce;
mod schedule;
mod state;
mod task;
mod time;

pub use engine::{Call, CallId, CallKind, Command, Engine, Hindrance, Idempotency};
pub use reduce::{Duty, Event, apply};
pub use state::{Phase, TaskState};
pub use task::{Account, Action, BatchAction, BatchKey, BatchPlace, Task, TaskKey, Trouble};
pub use time::Millis;
pub use wait_reason::{Sending, wait_reason};

pub mod archive;
pub mod batch;
pub mod calendar;
pub mod categories;
pub mod compose;
pub mod control;
pub mod crash_report;
pub mod duration;
pub mod file_name;
pub mod fold;
pub mod function_schema;
pub mod highlight;
pub mod history;
pub mod kept;
pub mod lease;
pub mod manifest;
pub mod output;
pub mod press;
pub mod release;
pub mod rerun;
pub mod route;
pub mod search;
pub mod seed;
pub mod shelves;
pub mod snippet;
mod sort;
mod wait_reason;
pub mod window;

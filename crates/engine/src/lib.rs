//! The task engine: task states, the queue, polling, rate limits, tab leadership, recovery, and the messages about
//! them. It does no I/O: the time, random numbers and responses are arguments.

mod account;
mod action;
mod engine;
mod limiter;
mod missing_credentials;
mod rate_limit;
mod reduce;
mod schedule;
mod state;
mod task;
mod time;

pub use account::Account;
pub use action::{Action, BatchAction};
pub use engine::{
    BlockReason, Call, CallId, CallKind, Command, Engine, Idempotency, ReplyLimits, Secrets,
    StreamAction,
};
pub use missing_credentials::MissingCredentials;
pub use rate_limit::RateLimit;
pub use reduce::{Effect, Event, apply};
pub use state::{Phase, TaskState};
pub use task::{
    BatchKey, BatchPlace, CancelRequest, PollError, Source, Task, TaskKey, UNDO_MS, UploadedFile,
};
pub use time::Millis;
pub use wait_reason::{
    Access, SendingState, elapsed, is_not_followed, not_asked_reason, wait_reason,
    waits_for_account, waits_for_user,
};

pub mod attempts;
pub mod derived_key;
pub mod duration;
pub mod lease;
pub mod outage;
pub mod output_recovery;
pub mod recovery;
pub mod removed;
pub mod stored_output;
pub mod tab_role;
pub mod time_left;
mod wait_reason;
pub mod wait_text;

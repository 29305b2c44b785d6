//! The decisions: what a task is and what becomes of it, when to send and when to ask, and what
//! views need to know. Pure: time, chance and answers come in as arguments.

mod engine;
#[cfg(test)]
mod growth;
mod limiter;
mod reduce;
mod removed;
mod schedule;
mod state;
mod task;
mod time;

pub use engine::{BlockReason, Call, CallId, CallKind, Command, Engine, Idempotency};
pub use reduce::{Effect, Event, apply};
pub use removed::{outputs_of, removed_last, said_of_removal, said_of_removed, said_of_siblings};
pub use state::{Phase, TaskState};
pub use task::{
    Account, Action, BatchAction, BatchKey, BatchPlace, PollError, Source, Task, TaskKey, UNDO,
};
pub use time::Millis;
pub use wait_reason::{NO_CREDENTIALS, Sending, is_not_followed, wait_reason};

pub mod account_status;
pub mod archive;
pub mod attempts;
pub mod batch;
pub mod calendar;
pub mod categories;
pub mod compose;
pub mod control;
pub mod crash_report;
pub mod duration;
pub mod excerpt;
pub mod file_name;
pub mod fold;
pub mod folded;
pub mod gallery;
pub mod grouped_grid;
pub mod highlight;
pub mod history;
pub mod history_file;
pub mod input_json;
pub mod labelled_grid;
pub mod lease;
pub mod lineage;
pub mod manifest;
pub mod model_order;
pub mod obstacle;
pub mod output;
pub mod output_cache;
pub mod output_recovery;
pub mod plural;
pub mod preset;
pub mod press;
pub mod progress;
pub mod prompt_history;
pub mod recipe;
pub mod recovery;
pub mod release;
pub mod rerun;
pub mod reuse;
pub mod route;
pub mod search;
pub mod seed;
pub mod snippet;
mod sort;
pub mod tab_role;
pub mod thumbnail;
pub mod vocabulary;
mod wait_reason;
pub mod waiting;
pub mod waveform;
pub mod window;

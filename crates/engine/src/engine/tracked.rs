use atelier_contract::ApiError;

use super::early_fetch::EarlyFetch;
use crate::{Millis, Task};

/// The things that the engine keeps of a task in addition to its record.
#[derive(Debug)]
pub(super) struct Tracked {
    pub task: Task,
    /// The order of submission.
    pub order: u64,
    /// Polls in a row without an answer.
    pub failures: u32,
    /// When the service last said in this tab how it is.
    pub heard: Option<Millis>,
    /// Since when the service says, without saying anything else, that it does not know the id.
    pub unknown_since: Option<Millis>,
    /// Answers that were completed and yet without output.
    pub empty_answers: u32,
    /// Since when the service reports an error under a word that the interface does not name.
    pub troubled_since: Option<Millis>,
    /// Whether the output is asked for although the service does not say `completed`: once by itself, and whenever a
    /// person wants it.
    pub early_fetch: EarlyFetch,
    /// How often in a row the service refused the output, and since when.
    pub output_refusals: Option<(u32, Millis)>,
    /// A person asked for the addresses of a Ready task once more; or a Gone one is asked about, or for an output that was refused.
    pub refetch: bool,
    /// Its batch was stopped while its own call was under way: should the service not take it, it
    /// is taken back.
    pub stopped: bool,
    /// The last error of a submission that the service may have received all the same.
    pub uncertain_error: Option<ApiError>,
    /// Shared a call that was refused as a whole: it must not spoil another one.
    pub send_singly: bool,
    /// Submitted in this tab, since it was opened.
    pub own: bool,
    /// A [`Pending::Save`] waits.
    pub unsaved: bool,
}

impl Tracked {
    pub fn new(task: Task, order: u64, own: bool) -> Self {
        Self {
            task,
            order,
            failures: 0,
            heard: None,
            unknown_since: None,
            empty_answers: 0,
            troubled_since: None,
            early_fetch: EarlyFetch::default(),
            output_refusals: None,
            refetch: false,
            stopped: false,
            uncertain_error: None,
            send_singly: false,
            own,
            unsaved: false,
        }
    }
}

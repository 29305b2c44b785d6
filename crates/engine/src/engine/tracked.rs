use atelier_contract::ApiError;

use super::early_fetch::EarlyFetch;
use crate::{Millis, Task};

/// A task's record, and the data that the engine tracks in addition to it.
#[derive(Debug)]
pub(super) struct Tracked {
    pub task: Task,
    /// The order of submission.
    pub order: u64,
    /// Consecutive failed polls.
    pub failures: u32,
    /// When this tab last received a usable response for the task.
    pub last_answer: Option<Millis>,
    /// Whether changes may have been missed since the last poll, so that the next one is not deferred although there is a
    /// stream of events.
    pub must_poll: bool,
    /// The time since which the service has returned only 404 for the id.
    pub unknown_since: Option<Millis>,
    /// The number of responses with the status completed and no output.
    pub empty_answers: u32,
    /// The time since which the service has reported an error with a status that the interface doesn't define.
    pub error_since: Option<Millis>,
    /// Whether to ask for the output although the service does not report `completed`: once automatically, and whenever
    /// the user asks.
    pub early_fetch: EarlyFetch,
    /// The number of consecutive refusals of the output, and the time of the first one.
    pub output_refusals: Option<(u32, Millis)>,
    /// Whether to ask for the output of a Ready, Gone or failed task again.
    pub refetch: bool,
    /// When the service may be asked next to cancel the task; `None` if it has accepted that.
    pub cancel_at: Option<Millis>,
    /// Consecutive failed requests to cancel the task.
    pub cancel_failures: u32,
    /// Whether the batch was stopped while the task's call was in flight. If the service does not accept the task, it
    /// is taken back.
    pub stopped: bool,
    /// The last error of a submission that the service may have received.
    pub uncertain_error: Option<ApiError>,
    /// Whether the task gets separate calls, because the service refused a whole call because of it, or its response
    /// can't be read in a batch.
    pub send_singly: bool,
    /// Whether the task was submitted in this tab since it was opened.
    pub own: bool,
    /// Whether a [`super::Pending::Save`] is queued.
    pub unsaved: bool,
}

impl Tracked {
    pub fn new(task: Task, order: u64, own: bool) -> Self {
        Self {
            task,
            order,
            failures: 0,
            last_answer: None,
            must_poll: true,
            unknown_since: None,
            empty_answers: 0,
            error_since: None,
            early_fetch: EarlyFetch::default(),
            output_refusals: None,
            refetch: false,
            cancel_at: Some(0),
            cancel_failures: 0,
            stopped: false,
            uncertain_error: None,
            send_singly: false,
            own,
            unsaved: false,
        }
    }
}

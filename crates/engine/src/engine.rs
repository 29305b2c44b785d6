//! Decides for all tasks what to send, what to poll and when. The engine does no I/O: its owner passes in the time,
//! random numbers and responses, and carries out the commands that the engine returns.

mod actions;
mod batched;
mod block_reason;
mod call;
mod cancel;
mod early_fetch;
mod event_stream;
mod gone;
mod late;
mod output_refusals;
mod polls;
mod records;
mod refusal;
mod refused_batches;
mod removal;
mod reply_limits;
mod resends;
mod responses;
mod secrets;
mod send_queue;
mod sends;
mod service_status;
mod services;
mod shared_ids;
mod storage;
mod stored_outputs;
mod submission_pause;
#[cfg(test)]
pub(crate) mod tests;
mod timers;
mod tracked;

use std::collections::{HashMap, HashSet};

use atelier_contract::{ApiError, TaskId};

pub use block_reason::BlockReason;
use call::Calls;
pub use call::{Call, CallId, CallKind};
use event_stream::EventStream;
pub use event_stream::StreamAction;
use refusal::Credentials;
use refused_batches::{AcceptedNow, LastForbidden};
pub use reply_limits::ReplyLimits;
pub(crate) use reply_limits::{MAX_BYTES, MAX_OUTPUT_BYTES};
pub use secrets::Secrets;
use send_queue::SendQueue;
pub use services::Idempotency;
use services::Services;
use storage::StorageHealth;
use submission_pause::SubmissionPause;
use timers::Timers;
use tracked::Tracked;

use crate::reduce::{Effect, Event, apply};
use crate::{Account, Millis, Phase, PollError, RateLimit, Task, TaskKey, schedule};

/// An instruction to the engine's owner. Commands must be carried out in order.
// A command is passed on once and immediately, so its size does not matter.
#[allow(clippy::large_enum_variant)]
#[derive(Debug, Clone, PartialEq)]
pub enum Command {
    /// Store the record and show it.
    Save(Task),
    /// Show the record without storing it: only its progress has changed, which the next poll reports again.
    Show(Task),
    /// Delete the record.
    Delete(TaskKey),
    /// Make the call and pass its response to [`Engine::responded`].
    Call(Call),
    /// The task has just reached a terminal state; show a notification.
    Finished(TaskKey),
    /// The service at this address allows no calls before this time. Store it before the next command, for the next
    /// leading tab: see [`Engine::wait`].
    Wait(RateLimit),
}

/// A command that is queued until the next step. The record to store is read at that time, so that it is up to date.
#[derive(Debug)]
enum Pending {
    Save(TaskKey),
    Show(TaskKey),
    Delete(TaskKey),
    Call(Call),
    Finished(TaskKey),
    Wait(RateLimit),
}

/// The state and the decisions for all tasks. [`Engine::step`] decides; the other methods report events to the engine.
#[derive(Debug)]
pub struct Engine {
    account: Account,
    online: bool,
    leading: bool,
    tasks: HashMap<TaskKey, Tracked>,
    /// The next number in the order of submission.
    next_order: u64,
    secrets: Secrets,
    /// Tasks that entered the queue without their secrets.
    lacking_secrets: Vec<TaskKey>,
    timers: Timers,
    send_queue: SendQueue,
    /// Tasks that another tab cancelled before this tab received them.
    cancelled_early: HashSet<TaskKey>,
    /// Deleted tasks. A late Cancel for one of these must not cancel a new attempt with the same key.
    deleted: HashSet<TaskKey>,
    /// The ids of removed late tasks, which other tabs must not bring back.
    removed_late: Vec<TaskId>,
    calls: Calls,
    services: Services,
    credentials: Credentials,
    last_forbidden: LastForbidden,
    accepted_now: AcceptedNow,
    pause: SubmissionPause,
    storage: StorageHealth,
    stream: EventStream,
    pending: Vec<Pending>,
    last_now: Millis,
    /// The backward jumps of the clock since the page was opened: the time before the jump, and its size.
    set_back: Vec<(Millis, Millis)>,
}

impl Engine {
    /// Creates an engine that is online, leads, and has no tasks.
    pub fn new(account: Account) -> Self {
        Self {
            account,
            online: true,
            leading: true,
            tasks: HashMap::new(),
            next_order: 0,
            secrets: Secrets::new(),
            lacking_secrets: Vec::new(),
            timers: Timers::default(),
            send_queue: SendQueue::default(),
            cancelled_early: HashSet::new(),
            deleted: HashSet::new(),
            removed_late: Vec::new(),
            calls: Calls::default(),
            services: Services::default(),
            credentials: Credentials::default(),
            last_forbidden: LastForbidden::default(),
            accepted_now: AcceptedNow::default(),
            pause: SubmissionPause::default(),
            storage: StorageHealth::default(),
            stream: EventStream::default(),
            pending: Vec::new(),
            last_now: 0,
            set_back: Vec::new(),
        }
    }

    /// Decides what to do now and returns the commands.
    pub fn step(&mut self, now: Millis) -> Vec<Command> {
        self.advance(now);
        if self.leading {
            self.forget_removed(now);
            self.fail_without_secrets(now);
        }
        if self.leading && self.online {
            self.pause.end_if_over(now);
            self.give_up_expired(now);
            // Alternate between sending and polling, so that neither starves under a tight rate limit.
            while self.call_one(now) {}
        }
        std::mem::take(&mut self.pending)
            .into_iter()
            .filter_map(|pending| match pending {
                Pending::Save(key) => {
                    let tracked = self.tasks.get_mut(&key)?;
                    tracked.unsaved = false;
                    Some(Command::Save(tracked.task.clone()))
                }
                // It is shown by the pending `Save`.
                Pending::Show(key) => {
                    let tracked = self.tasks.get(&key).filter(|it| !it.unsaved)?;
                    Some(Command::Show(tracked.task.clone()))
                }
                Pending::Delete(key) => Some(Command::Delete(key)),
                Pending::Call(call) => Some(Command::Call(call)),
                Pending::Finished(key) => Some(Command::Finished(key)),
                Pending::Wait(limit) => Some(Command::Wait(limit)),
            })
            .collect()
    }

    fn call_one(&mut self, now: Millis) -> bool {
        // Submissions have priority, but a poll that is due follows each submission.
        let was_polled = self.calls.last_was_submission() && self.poll_one(now);
        was_polled || self.send_one(now) || self.poll_one(now)
    }

    /// Whether this tab has a submission in flight.
    pub fn is_sending(&self) -> bool {
        self.calls.submissions().next().is_some()
    }

    /// Returns when to call [`Engine::step`] again if nothing else happens before; `None` if that is not necessary.
    pub fn next_wake(&self) -> Option<Millis> {
        if !self.leading {
            return None;
        }
        let now = self.last_now;
        let forget = self.timers.removals.next();
        let other = forget.into_iter().chain(self.stream.dead_at()).min();
        let other = other.map(|at| at.max(now));
        other.into_iter().chain(self.next_call_at(now)).min()
    }

    /// Returns when the next call is due.
    fn next_call_at(&self, now: Millis) -> Option<Millis> {
        if !self.online {
            return None;
        }
        let poll = self.timers.polls.next().filter(|_| self.may_poll());
        let send = self.next_send(now).filter(|_| !self.is_refused());
        let send = send.map(|at| self.pause.until().map_or(at, |until| at.max(until)));
        let wanted = poll.into_iter().chain(send).min()?.max(now);
        Some(wanted.max(self.services.next_call(&self.account.address, now)))
    }

    /// Handles the response to a call: the whole JSON body of a 2xx, or the error. `random` returns numbers in `[0,
    /// 1)`.
    pub fn responded(
        &mut self,
        call: CallId,
        answer: Result<serde_json::Value, ApiError>,
        now: Millis,
        random: &mut dyn FnMut() -> f64,
    ) {
        self.advance(now);
        if let Some(call) = self.calls.answered(call) {
            self.handle_response(call, answer, now, random);
        }
    }

    /// Handles a call that could not be made, so that no request was sent.
    pub fn not_sent(&mut self, call: CallId, now: Millis) {
        self.advance(now);
        let Some((call, in_a_row)) = self.calls.not_made(call) else {
            return;
        };
        let again = now.saturating_add(schedule::after_failures(in_a_row, 0.5));
        for key in &call.tasks {
            match call.kind {
                CallKind::Generate => self.not_accepted(key, call.sent, again, now),
                CallKind::Cancel => {
                    if let Some(tracked) = self.tasks.get_mut(key) {
                        tracked.cancel_at = Some(again);
                    }
                    self.set_due(key, again);
                }
                CallKind::Status | CallKind::Response => self.set_due(key, again),
            }
        }
        if call.kind == CallKind::Generate {
            self.pause.not_sent(again);
        }
    }

    /// Returns whether a call may still be sent. The owner stores records before it sends the call. In the meantime,
    /// the rate limit, the reachability of the service or the credentials may have changed. If the call may not be
    /// sent, it is cancelled, and its tasks are scheduled for another call.
    pub fn may_leave(&mut self, call: CallId, now: Millis) -> bool {
        self.advance(now);
        let Some(in_flight) = self.calls.get(call) else {
            return false;
        };
        let blocked_until = self.services.blocked_until(&in_flight.account.address, now);
        let is_refused =
            self.is_refused() || self.services.is_unreachable(&in_flight.account.address);
        let is_generate = in_flight.kind == CallKind::Generate;
        // With a different token, the service could accept the task a second time.
        let is_unsafe = is_generate
            && in_flight
                .tasks
                .iter()
                .any(|key| self.may_duplicate(key, now));
        if blocked_until.is_none() && !(is_refused && is_generate) && !is_unsafe {
            // The owner sends the call with the current credentials.
            self.calls.mark_sent(call);
            return true;
        }
        if let Some(call) = self.calls.cancel(call) {
            self.ask_again(&call, now);
        }
        false
    }

    pub fn task(&self, key: &TaskKey) -> Option<&Task> {
        self.tasks.get(key).map(|tracked| &tracked.task)
    }

    /// Returns all tasks in arbitrary order.
    pub fn tasks(&self) -> impl Iterator<Item = &Task> {
        self.tasks.values().map(|tracked| &tracked.task)
    }

    /// Updates the clock. When it is set back, pending waits move back by the same amount.
    fn advance(&mut self, now: Millis) {
        if now < self.last_now {
            let back = self.last_now - now;
            self.services.shift_back(back);
            self.stream.shift_back(back);
            self.pause.shift_back(back);
            self.timers.shift_calls_back(back);
            for tracked in self.tasks.values_mut() {
                tracked.cancel_at = tracked.cancel_at.map(|at| at.saturating_sub(back));
            }
            self.set_back.push((self.last_now, back));
        }
        self.last_now = now;
    }

    /// Applies an event to a task and carries out its effects.
    fn apply_event(&mut self, key: &TaskKey, event: Event, now: Millis) {
        let Some(tracked) = self.tasks.get_mut(key) else {
            return;
        };
        let (state, effects) = apply(&tracked.task.state, event);
        if state != tracked.task.state {
            let task = &mut tracked.task;
            let had_id = task.state.id().is_some();
            let was_running = task.state.phase() == Phase::Running;
            task.state = state;
            (task.not_before, task.waits_since) = (None, None);
            if task.state.phase() != Phase::Running {
                task.clear_progress();
            }
            if task.state.id().is_some() && !had_id {
                task.accepted = Some(now);
            }
            if task.state.phase() == Phase::Running && !was_running {
                // The event of its end may have been received before.
                tracked.must_poll = true;
            }
            if task.state.is_terminal() && task.finished.is_none() {
                task.finished = Some(now);
            }
            if task.state.is_terminal() || task.state.phase() == Phase::Fetching {
                task.cancel = None;
            }
            if !matches!(task.state.phase(), Phase::Running | Phase::Fetching) {
                task.poll_error = None;
            }
            tracked.uncertain_error = None;
            self.timers.resends.remove(key);
            self.forget_secrets(key);
            self.save(key);
        }
        for effect in effects {
            match effect {
                Effect::Enqueue if self.has_cancel_request(key) => self.cancel_unsent(key, now),
                Effect::Enqueue if self.is_stopped(key) => self.take_back(key, now),
                Effect::Enqueue => self.enqueue(key),
                Effect::Fetch => self.set_due(key, now),
                Effect::Announce => self.pending.push(Pending::Finished(key.clone())),
                Effect::Remove => self.remove(key),
                // `Send` is handled while the call is built, and polls are scheduled by the function that handles the
                // response, because it determines the interval.
                Effect::Send | Effect::Poll => {}
            }
        }
    }

    fn save(&mut self, key: &TaskKey) {
        if let Some(tracked) = self.tasks.get_mut(key)
            && !std::mem::replace(&mut tracked.unsaved, true)
        {
            self.pending.push(Pending::Save(key.clone()));
        }
    }

    fn is_stopped(&self, key: &TaskKey) -> bool {
        self.tasks.get(key).is_some_and(|tracked| tracked.stopped)
    }

    /// Schedules the next poll of a task, unless it has been removed. A pending request to cancel it is not delayed.
    fn set_due(&mut self, key: &TaskKey, at: Millis) {
        if let Some(tracked) = self.tasks.get(key) {
            let cancel_at = tracked.next_cancel().unwrap_or(at);
            self.timers.polls.set(key, at.min(cancel_at));
        }
    }

    fn set_poll_error(&mut self, key: &TaskKey, error: &ApiError, now: Millis) {
        let Some(tracked) = self.tasks.get_mut(key) else {
            return;
        };
        let since = tracked
            .task
            .poll_error
            .as_ref()
            .map_or(now, |old| old.since);
        let poll_error = Some(PollError {
            since,
            error: error.clone(),
        });
        if tracked.task.poll_error != poll_error {
            tracked.task.poll_error = poll_error;
            self.save(key);
        }
    }
}

//! Decides for all tasks together what to send, what to ask and when. It leaves the doing to its owner: it is given
//! the time, chance and answers, and gives commands.

mod actions;
mod again;
mod agenda;
mod batched;
mod block_reason;
mod call;
mod early_fetch;
mod gone;
mod judgement;
mod late;
mod output_refusals;
mod polls;
mod records;
mod refusal;
mod refused_batches;
mod removal;
mod reply_limits;
mod responses;
mod secrets;
mod send_queue;
mod sends;
mod services;
mod shared_ids;
mod storage;
mod stored_outputs;
mod submission_pause;
#[cfg(test)]
pub(crate) mod tests;
mod tracked;

use std::collections::{HashMap, HashSet};

use atelier_contract::{ApiError, TaskId};

use agenda::Timers;
pub use block_reason::BlockReason;
use call::Calls;
pub use call::{Call, CallId, CallKind};
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
use tracked::Tracked;

use crate::reduce::{Effect, Event, apply};
use crate::{Account, Millis, Phase, PollError, RateLimit, Task, TaskKey, schedule};

/// What the owner is to do, in this order.
// A command is handed over once, and at once: its size does not matter.
#[allow(clippy::large_enum_variant)]
#[derive(Debug, Clone, PartialEq)]
pub enum Command {
    /// Keep the record and show it.
    Save(Task),
    /// Forget the record.
    Delete(TaskKey),
    /// Make the call, and bring back the answer.
    Call(Call),
    /// The task's last word is known just now: worth a notice.
    Finished(TaskKey),
    /// The service at this address has asked for no calls before this time. To be kept before
    /// anything else is done, for the tab that makes calls next: see [`Engine::wait`].
    Wait(RateLimit),
}

/// A command that waits for the next step. A record is looked up only then, so that what is kept is
/// never older than what is known.
#[derive(Debug)]
enum Pending {
    Save(TaskKey),
    Delete(TaskKey),
    Call(Call),
    Finished(TaskKey),
    Wait(RateLimit),
}

/// Everything that is decided about all tasks. See the crate's root for how its parts go together;
/// [`Engine::step`] decides, the other methods tell it what has happened.
#[derive(Debug)]
pub struct Engine {
    account: Account,
    online: bool,
    leading: bool,
    tasks: HashMap<TaskKey, Tracked>,
    /// Counts up: the order of submission.
    next_order: u64,
    secrets: Secrets,
    /// Tasks that have entered the queue without their secrets.
    lacking_secrets: Vec<TaskKey>,
    timers: Timers,
    send_queue: SendQueue,
    /// Cancelled by a person in another tab before this one has heard of the task.
    cancelled_early: HashSet<TaskKey>,
    /// A word that comes late for one of these is not early for the attempt that may get its key again.
    deleted: HashSet<TaskKey>,
    /// The ids of removed tasks that came late: what is told of them once more is no task again.
    removed_late: Vec<TaskId>,
    calls: Calls,
    services: Services,
    credentials: Credentials,
    last_forbidden: LastForbidden,
    accepted_now: AcceptedNow,
    pause: SubmissionPause,
    storage: StorageHealth,
    pending: Vec<Pending>,
    last_now: Millis,
    /// When the clock was set back since this page was opened, by the time before, and how far.
    set_back: Vec<(Millis, Millis)>,
}

impl Engine {
    /// Online, leading, and without tasks.
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
            pending: Vec::new(),
            last_now: 0,
            set_back: Vec::new(),
        }
    }

    /// Decides what to do now.
    pub fn step(&mut self, now: Millis) -> Vec<Command> {
        self.advance(now);
        if self.leading {
            self.forget_removed(now);
            self.give_up_without_secrets(now);
        }
        if self.leading && self.online {
            self.pause.end_if_over(now);
            self.give_up_expired(now);
            // Sending and asking take turns, so that neither can starve the other when the limits leave room for few
            // calls.
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
                Pending::Delete(key) => Some(Command::Delete(key)),
                Pending::Call(call) => Some(Command::Call(call)),
                Pending::Finished(key) => Some(Command::Finished(key)),
                Pending::Wait(limit) => Some(Command::Wait(limit)),
            })
            .collect()
    }

    fn call_one(&mut self, now: Millis) -> bool {
        // The first in the queue gets the last token.
        let was_polled = self.calls.last_was_submission() && self.poll_one(now);
        was_polled || self.send_one(now) || self.poll_one(now)
    }

    /// Whether a submission is under way from here.
    pub fn is_sending(&self) -> bool {
        self.calls.submissions().next().is_some()
    }

    /// When [`Engine::step`] wants to be called next, if nothing else happens before.
    pub fn next_wake(&self) -> Option<Millis> {
        if !self.leading {
            return None;
        }
        let now = self.last_now;
        let forget = self.timers.removals.next().map(|at| at.max(now));
        forget.into_iter().chain(self.next_call_at(now)).min()
    }

    /// When the next call is to be made.
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

    /// The answer to a call: the whole JSON body of a 2xx, or why there is none. `random` gives numbers in `[0, 1)`.
    pub fn responded(
        &mut self,
        call: CallId,
        answer: Result<serde_json::Value, ApiError>,
        now: Millis,
        random: &mut dyn FnMut() -> f64,
    ) {
        self.advance(now);
        if let Some(call) = self.calls.answered(call) {
            self.take_response(call, answer, now, random);
        }
    }

    /// A call could not be made: nothing left the browser.
    pub fn not_sent(&mut self, call: CallId, now: Millis) {
        self.advance(now);
        let Some((call, in_a_row)) = self.calls.not_made(call) else {
            return;
        };
        let again = now.saturating_add(schedule::after_failures(in_a_row, 0.5));
        for key in &call.tasks {
            match call.kind {
                CallKind::Generate => self.not_taken(key, call.sent, again, now),
                CallKind::Status | CallKind::Response => self.set_due(key, again),
            }
        }
        if call.kind == CallKind::Generate {
            self.pause.not_sent(again);
        }
    }

    /// Whether a call may still leave: its owner wrote records first, and that takes time. What has
    /// become known meanwhile counts: a service that wants no calls or is gone, credentials that are refused.
    /// If it may not, it is taken back, and its tasks wait for another one.
    pub fn may_leave(&mut self, call: CallId, now: Millis) -> bool {
        self.advance(now);
        let Some(meant) = self.calls.get(call) else {
            return false;
        };
        let blocked_until = self.services.blocked_until(&meant.account.address, now);
        let is_refused = self.is_refused() || self.services.is_unreachable(&meant.account.address);
        let is_generate = meant.kind == CallKind::Generate;
        // With another token by now, a task that may have been taken could be taken twice.
        let is_unsafe = is_generate && meant.tasks.iter().any(|key| self.is_doubled(key, now));
        if blocked_until.is_none() && !(is_refused && is_generate) && !is_unsafe {
            // The call is made with the present credentials.
            self.calls.leaves(call);
            return true;
        }
        if let Some(call) = self.calls.take_back(call) {
            self.ask_again(&call, now);
        }
        false
    }

    pub fn task(&self, key: &TaskKey) -> Option<&Task> {
        self.tasks.get(key).map(|tracked| &tracked.task)
    }

    /// Every task, in no particular order.
    pub fn tasks(&self) -> impl Iterator<Item = &Task> {
        self.tasks.values().map(|tracked| &tracked.task)
    }

    /// Notices that time has passed. A clock that was set back takes the waits with it.
    fn advance(&mut self, now: Millis) {
        if now < self.last_now {
            let back = self.last_now - now;
            self.services.shift_back(back);
            self.pause.shift_back(back);
            self.timers.shift_calls_back(back);
            self.set_back.push((self.last_now, back));
        }
        self.last_now = now;
    }

    /// Changes a task by an event, and sees to what follows.
    fn apply_event(&mut self, key: &TaskKey, event: Event, now: Millis) {
        let Some(tracked) = self.tasks.get_mut(key) else {
            return;
        };
        let (state, effects) = apply(&tracked.task.state, event);
        if state != tracked.task.state {
            let task = &mut tracked.task;
            let had_id = task.state.id().is_some();
            task.state = state;
            (task.not_before, task.waits_since) = (None, None);
            if task.state.phase() != Phase::Running {
                task.progress = None;
            }
            if task.state.id().is_some() && !had_id {
                task.accepted = Some(now);
            }
            if task.state.is_terminal() && task.finished.is_none() {
                task.finished = Some(now);
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
                Effect::Enqueue if self.is_stopped(key) => self.take_back(key, now),
                Effect::Enqueue => self.enqueue(key),
                Effect::Fetch => self.set_due(key, now),
                Effect::Announce => self.pending.push(Pending::Finished(key.clone())),
                Effect::Remove => self.remove(key),
                // This comes while sending is under way; polls are scheduled by the caller that gets the
                // answer and knows the interval.
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

    /// It is asked about then, unless it has been removed meanwhile.
    fn set_due(&mut self, key: &TaskKey, at: Millis) {
        if self.tasks.contains_key(key) {
            self.timers.polls.set(key, at);
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

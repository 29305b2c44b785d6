//! All tasks together: what to send, what to ask and when. Decides, and leaves the doing to its
//! owner: it is given the time, chance and answers, and gives commands.

mod answers;
mod call;
mod hindrance;
mod polls;
mod sends;
#[cfg(test)]
mod tests;

use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};

use atelier_contract::ApiError;

pub use call::{Call, CallId, CallKind};
pub use hindrance::Hindrance;

use crate::limiter::Limiter;
use crate::reduce::{Duty, Event, apply};
use crate::{Account, Action, BatchKey, Millis, Phase, Task, TaskKey, TaskState, Trouble};

/// What the owner is to do, in this order.
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
}

/// What the engine keeps of a task beside its record.
#[derive(Debug)]
struct Tracked {
    task: Task,
    /// When it is to be asked about; `None` while it is not, or while a call is under way.
    due: Option<Millis>,
    /// Polls in a row without an answer.
    failures: u32,
    /// Since when the service says that it does not know the id.
    unknown_since: Option<Millis>,
    /// Answers in a row that were completed and yet without output.
    empty_answers: u32,
    /// A person asked for the addresses of a Ready task once more.
    refetch: bool,
}

/// Why nothing is submitted for now.
#[derive(Debug, Clone)]
struct Hold {
    until: Millis,
    error: ApiError,
}

#[derive(Debug)]
pub struct Engine {
    account: Account,
    online: bool,
    leading: bool,
    tasks: HashMap<TaskKey, Tracked>,
    /// The tasks to be asked about, soonest first.
    due: BTreeSet<(Millis, TaskKey)>,
    /// Single tasks that wait to be sent, in order.
    singles: VecDeque<TaskKey>,
    /// Batches with items that wait to be sent, in order; served in turn.
    batches: VecDeque<(BatchKey, VecDeque<TaskKey>)>,
    paused: HashSet<BatchKey>,
    limiter: Limiter,
    in_flight: HashMap<CallId, call::InFlight>,
    next_call: u64,
    /// Addresses whose service has no batch endpoints.
    without_batch: HashSet<String>,
    hold: Option<Hold>,
    /// Submissions in a row that were not answered.
    unanswered: u32,
    /// The last poll was refused for its credentials.
    unauthorized: bool,
    commands: Vec<Command>,
    last_now: Millis,
}

impl Engine {
    pub fn new(account: Account) -> Self {
        Self {
            account,
            online: true,
            leading: true,
            tasks: HashMap::new(),
            due: BTreeSet::new(),
            singles: VecDeque::new(),
            batches: VecDeque::new(),
            paused: HashSet::new(),
            limiter: Limiter::new(0),
            in_flight: HashMap::new(),
            next_call: 0,
            without_batch: HashSet::new(),
            hold: None,
            unanswered: 0,
            unauthorized: false,
            commands: Vec::new(),
            last_now: 0,
        }
    }

    /// Takes over all stored tasks, at the start or when this tab begins to lead. Whoever was
    /// between a request and its answer is gone: those tasks are Unconfirmed.
    pub fn load(&mut self, tasks: Vec<Task>, now: Millis) {
        self.advance(now);
        let mut tasks = tasks;
        tasks.sort_by(|a, b| {
            let place = |task: &Task| task.batch.as_ref().map_or(0, |place| place.index);
            (a.created, place(a), &a.key).cmp(&(b.created, place(b), &b.key))
        });
        self.singles.clear();
        self.batches.clear();
        for task in tasks {
            let key = task.key.clone();
            let is_sending = self.in_flight.values().any(|call| call.is_sending(&key));
            self.insert(task);
            if !is_sending {
                let error = ApiError::Network {
                    detail: "the page was closed before the answer came".into(),
                };
                self.happen(&key, Event::LostAnswer { error }, now);
            }
            self.commands
                .push(Command::Save(self.tasks[&key].task.clone()));
            self.resume(&key, now);
        }
    }

    /// A record that another tab has changed.
    pub fn adopt(&mut self, task: Task, now: Millis) {
        self.advance(now);
        let key = task.key.clone();
        if self.leading && self.tasks.contains_key(&key) {
            // The leader's own word counts.
            return;
        }
        self.commands.push(Command::Save(task.clone()));
        self.insert(task);
        self.resume(&key, now);
    }

    /// Another tab has removed a task.
    pub fn forget(&mut self, key: &TaskKey) {
        self.undue(key);
        self.tasks.remove(key);
    }

    /// New tasks, to be sent in this order.
    pub fn submit(&mut self, tasks: Vec<Task>, now: Millis) {
        self.advance(now);
        for task in tasks {
            let key = task.key.clone();
            self.commands.push(Command::Save(task.clone()));
            self.insert(task);
            self.resume(&key, now);
        }
    }

    /// Does what a person asks for, if the task's state allows it.
    pub fn act(&mut self, key: &TaskKey, action: Action, now: Millis) {
        self.advance(now);
        let Some(tracked) = self.tasks.get_mut(key) else {
            return;
        };
        if !Action::allowed(&tracked.task).contains(&action) {
            return;
        }
        match action {
            Action::Cancel => self.happen(key, Event::Cancel, now),
            Action::Resubmit => {
                tracked.task.submitted = None;
                self.happen(key, Event::Resubmit, now);
            }
            Action::Dismiss => self.happen(key, Event::Dismiss, now),
            Action::Remove => self.remove(key),
            Action::StopWatching => {
                tracked.task.watching = false;
                tracked.task.trouble = None;
                self.commands.push(Command::Save(tracked.task.clone()));
                self.undue(key);
            }
            Action::Watch => {
                tracked.task.watching = true;
                self.commands.push(Command::Save(tracked.task.clone()));
                self.resume(key, now);
            }
            Action::Refetch => {
                tracked.refetch = true;
                self.set_due(key, now);
            }
        }
    }

    pub fn set_account(&mut self, account: Account, now: Millis) {
        self.advance(now);
        if self.account == account {
            return;
        }
        self.account = account;
        self.hold = None;
        self.unauthorized = false;
        let keys: Vec<TaskKey> = self.tasks.keys().cloned().collect();
        for key in keys {
            self.undue(&key);
            self.resume(&key, now);
        }
    }

    pub fn set_online(&mut self, online: bool, now: Millis) {
        self.advance(now);
        let woken = online && !self.online;
        self.online = online;
        if woken {
            self.wake(now);
        }
    }

    /// Whether this tab makes the calls. A follower makes none.
    pub fn set_leading(&mut self, leading: bool, now: Millis) {
        self.advance(now);
        self.leading = leading;
    }

    /// The page is seen again, the network is back, the credentials are new, or a person asks:
    /// everything that is waited for is asked about at once, as far as the service's word allows.
    pub fn wake(&mut self, now: Millis) {
        self.advance(now);
        self.hold = None;
        self.unauthorized = false;
        let waiting: Vec<TaskKey> = self.due.iter().map(|(_, key)| key.clone()).collect();
        for key in waiting {
            self.set_due(&key, now);
        }
    }

    pub fn pause_batch(&mut self, batch: &BatchKey) {
        self.paused.insert(batch.clone());
    }

    pub fn resume_batch(&mut self, batch: &BatchKey) {
        self.paused.remove(batch);
    }

    pub fn is_paused(&self, batch: &BatchKey) -> bool {
        self.paused.contains(batch)
    }

    /// Takes back what of a batch was not sent yet.
    pub fn stop_batch(&mut self, batch: &BatchKey, now: Millis) {
        self.advance(now);
        self.paused.remove(batch);
        let unsent = self
            .batches
            .iter()
            .find(|(key, _)| key == batch)
            .map(|(_, waiting)| waiting.clone())
            .unwrap_or_default();
        for key in unsent {
            self.happen(&key, Event::Cancel, now);
        }
    }

    /// Decides what to do now. `random` gives numbers in `[0, 1)`.
    pub fn step(&mut self, now: Millis, random: &mut dyn FnMut() -> f64) -> Vec<Command> {
        self.advance(now);
        if self.leading && self.online {
            // In turn, so that sending cannot starve asking, nor the other way round.
            loop {
                let sent = self.send_one(now);
                let polled = self.poll_one(now, random);
                if !sent && !polled {
                    break;
                }
            }
        }
        std::mem::take(&mut self.commands)
    }

    /// When [`Engine::step`] wants to be called next, if nothing else happens before.
    pub fn next_wake(&self) -> Option<Millis> {
        if !self.leading || !self.online {
            return None;
        }
        let now = self.last_now;
        let poll = self
            .may_poll()
            .then(|| self.due.first().map(|(due, _)| *due))
            .flatten();
        let send = self
            .may_send()
            .then(|| self.hold.as_ref().map_or(now, |hold| hold.until));
        let wanted = poll.into_iter().chain(send).min()?;
        Some(wanted.max(self.limiter.next(now)))
    }

    /// The answer to a call: the JSON body of a 2xx, or why there is none.
    pub fn answered(
        &mut self,
        call: CallId,
        answer: Result<serde_json::Value, ApiError>,
        now: Millis,
        random: &mut dyn FnMut() -> f64,
    ) {
        self.advance(now);
        if let Some(call) = self.in_flight.remove(&call) {
            self.take_answer(call, answer, now, random);
        }
    }

    /// A call could not be made: nothing left the browser.
    pub fn not_sent(&mut self, call: CallId, now: Millis) {
        self.advance(now);
        let Some(call) = self.in_flight.remove(&call) else {
            return;
        };
        const PAUSE: Millis = 1_000;
        for key in call.tasks {
            if call.kind == CallKind::Generate {
                self.happen(&key, Event::PutBack, now);
            } else {
                self.set_due(&key, now + PAUSE);
            }
        }
        if call.kind == CallKind::Generate {
            self.hold = Some(Hold {
                until: now + PAUSE,
                error: ApiError::Network {
                    detail: "not sent".into(),
                },
            });
        }
    }

    pub fn task(&self, key: &TaskKey) -> Option<&Task> {
        self.tasks.get(key).map(|tracked| &tracked.task)
    }

    pub fn tasks(&self) -> impl Iterator<Item = &Task> {
        self.tasks.values().map(|tracked| &tracked.task)
    }

    /// The task belongs to another service address or User ID than is set now: it is left alone
    /// until it fits again.
    pub fn is_foreign(&self, task: &Task) -> bool {
        task.account != self.account
    }

    /// Why no calls are made at present, if that is so.
    pub fn hindrance(&self, now: Millis) -> Option<Hindrance> {
        if !self.online {
            return Some(Hindrance::Offline);
        }
        if let Some(until) = self.limiter.blocked_until(now) {
            return Some(Hindrance::RateLimited { until });
        }
        let hold = self.hold.as_ref().filter(|hold| hold.until > now);
        let is_waiting = !self.singles.is_empty() || !self.batches.is_empty();
        match hold {
            Some(Hold {
                error: ApiError::Unauthorized { .. },
                ..
            }) => Some(Hindrance::Unauthorized),
            _ if self.unauthorized => Some(Hindrance::Unauthorized),
            Some(hold) if is_waiting => Some(Hindrance::Unanswered { until: hold.until }),
            _ => None,
        }
    }

    /// Notices that time has passed. A clock that was set back takes the waits with it.
    fn advance(&mut self, now: Millis) {
        if now < self.last_now {
            let back = self.last_now - now;
            self.limiter.shift_back(back);
            if let Some(hold) = &mut self.hold {
                hold.until = hold.until.saturating_sub(back);
            }
            let due = std::mem::take(&mut self.due);
            for (at, key) in due {
                self.set_due(&key, at.saturating_sub(back));
            }
        }
        self.last_now = now;
    }

    /// Puts a record in; what was known beside it is forgotten.
    fn insert(&mut self, task: Task) {
        self.undue(&task.key);
        self.tasks.insert(
            task.key.clone(),
            Tracked {
                task,
                due: None,
                failures: 0,
                unknown_since: None,
                empty_answers: 0,
                refetch: false,
            },
        );
    }

    /// Gives a task the turn that its state asks for.
    fn resume(&mut self, key: &TaskKey, now: Millis) {
        let Some(tracked) = self.tasks.get(key) else {
            return;
        };
        if tracked.task.account != self.account {
            return;
        }
        match tracked.task.state.phase() {
            Phase::Queued => self.enqueue(key),
            Phase::Running | Phase::Fetching
                if tracked.task.watching
                    && !self.in_flight.values().any(|call| call.tasks.contains(key)) =>
            {
                self.set_due(key, now);
            }
            _ => {}
        }
    }

    /// Changes a task by an event, and sees to what follows.
    fn happen(&mut self, key: &TaskKey, event: Event, now: Millis) {
        let Some(tracked) = self.tasks.get_mut(key) else {
            return;
        };
        let (state, duties) = apply(&tracked.task.state, event);
        let had_id = tracked.task.state.id().is_some();
        if state != tracked.task.state {
            let task = &mut tracked.task;
            task.state = state;
            if task.state.id().is_some() && !had_id {
                task.accepted = Some(now);
            }
            if task.state.is_terminal() && task.finished.is_none() {
                task.finished = Some(now);
            }
            if !matches!(
                task.state,
                TaskState::Running { .. } | TaskState::Fetching { .. }
            ) {
                task.trouble = None;
            }
            self.commands.push(Command::Save(task.clone()));
        }
        for duty in duties {
            match duty {
                Duty::Enqueue => self.enqueue(key),
                Duty::Fetch => self.set_due(key, now),
                Duty::Announce => self.commands.push(Command::Finished(key.clone())),
                Duty::Remove => self.remove(key),
                // Sending is under way where this comes from; polls are set by who got the answer,
                // who knows the interval.
                Duty::Send | Duty::Poll => {}
            }
        }
    }

    fn remove(&mut self, key: &TaskKey) {
        self.forget(key);
        self.singles.retain(|waiting| waiting != key);
        for (_, waiting) in &mut self.batches {
            waiting.retain(|waiting| waiting != key);
        }
        self.batches.retain(|(_, waiting)| !waiting.is_empty());
        self.commands.push(Command::Delete(key.clone()));
    }

    fn set_due(&mut self, key: &TaskKey, at: Millis) {
        if let Some(tracked) = self.tasks.get_mut(key) {
            if let Some(before) = tracked.due.replace(at) {
                self.due.remove(&(before, key.clone()));
            }
            self.due.insert((at, key.clone()));
        }
    }

    fn undue(&mut self, key: &TaskKey) {
        if let Some(before) = self
            .tasks
            .get_mut(key)
            .and_then(|tracked| tracked.due.take())
        {
            self.due.remove(&(before, key.clone()));
        }
    }

    fn set_trouble(&mut self, key: &TaskKey, error: &ApiError, now: Millis) {
        if let Some(tracked) = self.tasks.get_mut(key) {
            let since = tracked
                .task
                .trouble
                .as_ref()
                .map_or(now, |trouble| trouble.since);
            let trouble = Some(Trouble {
                since,
                error: error.clone(),
            });
            if tracked.task.trouble != trouble {
                tracked.task.trouble = trouble;
                self.commands.push(Command::Save(tracked.task.clone()));
            }
        }
    }
}

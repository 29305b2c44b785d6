//! Elects the leading tab, and sends messages to the other tabs; `hearing` handles the messages from them.

use std::collections::VecDeque;
use std::rc::Rc;

use atelier_engine::lease::LeaderWatch;
use atelier_engine::tab_role::TabRole;
use atelier_engine::{Action, BatchAction, BatchKey, Millis, Task, TaskKey};
use atelier_studio::batch::requests::BatchRequests;
use leptos::prelude::*;

use super::tab_message::TabMessage;
use super::task_store::TaskStore;
use crate::browser::tabs::channel::Channel;
use crate::browser::tabs::leadership::{self, Leadership};
use crate::browser::{clock, lifecycle};
use crate::reactive::boxed::after;

const CHANNEL: &str = "atelier";

/// How many tasks are sent without a pause. This takes some milliseconds.
const MAX_CHUNK_TASKS: usize = 100;

/// How long a request is remembered, in milliseconds: longer than the tabs are ever without a leader.
const REQUEST_TTL_MS: Millis = 10_000;

#[derive(Clone, Copy)]
pub(super) struct TabSync {
    tasks: TaskStore,
    state: StoredValue<State, LocalStorage>,
    is_leader_asleep: RwSignal<bool>,
}

#[derive(Default)]
struct State {
    channel: Option<Channel>,
    leadership: Option<Rc<Leadership>>,
    role: TabRole,
    watch: LeaderWatch,
    /// The tasks that must still be sent to the other tabs.
    unsent: VecDeque<TaskKey>,
    /// The user's requests in this tab while it was not the leader, with their times.
    requests: Vec<(Millis, TabMessage)>,
    /// Actions on tasks that the leader has not confirmed; see [`TabSync::request_action`].
    unconfirmed: Vec<(TaskKey, Action)>,
    /// Actions on batches, requested in this tab or another one.
    batches: BatchRequests,
}

impl TabSync {
    pub fn new(tasks: TaskStore) -> Self {
        Self {
            tasks,
            state: StoredValue::new_local(State::default()),
            is_leader_asleep: RwSignal::new(false),
        }
    }

    /// Starts to receive messages from the other tabs, and requests the leader's status.
    pub fn listen(self, hear: impl Fn(String) + 'static) {
        let channel = Channel::open(CHANNEL, hear);
        self.state
            .update_value(|state| state.channel = Some(channel));
        self.send(&TabMessage::StateWanted);
    }

    /// Requests leadership. Calls `on_change` with a generation when this tab must take over, and with `None` when it must
    /// follow.
    pub fn request_leadership(self, on_change: impl Fn(Option<u64>) + 'static) {
        let leadership = Leadership::start(move |leads| {
            let generation = self.state.try_update_value(|state| {
                if leads {
                    return Some(state.role.take_over());
                }
                state.role.follow();
                // The new leader has newer states of these tasks.
                state.unsent.clear();
                None
            });
            if let Some(generation) = generation {
                on_change(generation);
            }
        });
        self.state
            .update_value(|state| state.leadership = Some(leadership));
    }

    /// Becomes the leader once the records have been read in this generation. Returns the messages that were deferred in
    /// the meantime, or `None` if the generation has ended; see [`TabRole::lead`].
    pub fn lead(self, generation: u64) -> Option<Vec<String>> {
        let deferred = self
            .state
            .try_update_value(|state| state.role.lead(generation));
        deferred.flatten()
    }

    /// Gives up leadership permanently.
    pub fn resign(self) {
        if let Some(leadership) = self.leadership() {
            leadership.resign();
        }
    }

    /// Gives up leadership to a tab that has requested it.
    pub fn hand_over_leadership(self) {
        if let Some(leadership) = self.leadership() {
            leadership.hand_over_leadership();
        }
    }

    /// Checks whether this tab is still the leader.
    pub fn check(self) {
        if let Some(leadership) = self.leadership() {
            leadership.check();
        }
    }

    fn leadership(self) -> Option<Rc<Leadership>> {
        let leadership = self.state.try_with_value(|state| state.leadership.clone());
        leadership.flatten()
    }

    pub fn leads(self) -> bool {
        self.try_leads() == Some(true)
    }

    /// Returns whether this tab is the leader. `None` after the app was unmounted.
    pub fn try_leads(self) -> Option<bool> {
        self.state.try_with_value(|state| state.role.is_leader())
    }

    /// Sends a tick to the leader and watches whether the leader responds, if this tab is a visible follower. Must be called
    /// every second.
    pub fn tick(self) {
        if self.try_leads() != Some(false) || !lifecycle::is_visible() {
            return self.reset_leader_watch();
        }
        let found = leadership::found();
        let watched = self.state.try_update_value(|state| {
            let should_ask = state.watch.check(&found, clock::now());
            (should_ask, state.watch.is_asleep())
        });
        self.send(&TabMessage::Tick);
        let Some((asks, is_asleep)) = watched else {
            return;
        };
        if asks {
            self.send(&TabMessage::StateWanted);
        }
        self.set_leader_asleep(is_asleep);
    }

    /// Restarts watching the leader, because the leader has responded or because this tab does not watch it now.
    pub fn reset_leader_watch(self) {
        self.state.try_update_value(|state| state.watch.reset());
        self.set_leader_asleep(false);
    }

    fn set_leader_asleep(self, is_asleep: bool) {
        let was_asleep = self.is_leader_asleep.try_get_untracked();
        if was_asleep.is_some_and(|was_asleep| was_asleep != is_asleep) {
            self.is_leader_asleep.set(is_asleep);
        }
    }

    /// Returns whether another tab leads and does not respond; tracked.
    pub fn is_leader_asleep(self) -> bool {
        self.is_leader_asleep.get()
    }

    /// Returns the generation of leadership, if this tab leads.
    pub fn generation(self) -> Option<u64> {
        let generation = self.state.try_with_value(|state| state.role.generation());
        generation.flatten()
    }

    /// Defers a message from another tab if this tab is taking over. Returns whether it was deferred.
    pub fn defer(self, text: &str) -> bool {
        let is_deferred = self.state.try_update_value(|state| state.role.defer(text));
        is_deferred == Some(true)
    }

    /// Sends a message to the other tabs. Secrets are sent only if no storage is involved.
    pub fn send(self, message: &TabMessage) {
        let secret = message.with_secrets().map(|message| message.to_string());
        self.state.try_with_value(|state| {
            let Some(channel) = &state.channel else {
                return;
            };
            if !secret.is_some_and(|text| channel.post_in_memory(&text)) {
                channel.post(&message.to_value().to_string());
            }
        });
    }

    /// Sends a request to the leader, and remembers it for a while: there may be no leader now, or this tab may be taking
    /// over.
    pub fn request_from_leader(self, message: TabMessage) {
        self.send(&message);
        let request = (clock::now(), message);
        self.state
            .update_value(|state| state.requests.push(request));
    }

    /// Requests an action on a task from the leader, and remembers it until the task shows that the action was executed or
    /// is no longer possible. Otherwise a cancelled task might be sent, and paid for.
    pub fn request_action(self, key: &TaskKey, action: Action) {
        // Tabs of earlier releases know only this action, for tasks that are not sent yet.
        if action == Action::CancelAtService {
            self.request_action(key, Action::Cancel);
        }
        let message = TabMessage::Act(key.clone(), action);
        let takes_over = self.state.with_value(|state| state.role.is_taking_over());
        match action {
            // These actions are not repeated, because the user might pay for two attempts. A tab that is taking over
            // executes them itself.
            Action::Resubmit | Action::Refetch | Action::AskAgain | Action::FetchEarly
                if takes_over =>
            {
                self.request_from_leader(message);
            }
            Action::Resubmit | Action::Refetch | Action::AskAgain | Action::FetchEarly => {
                self.send(&message);
            }
            _ => {
                self.send(&message);
                let request = (key.clone(), action);
                self.state
                    .update_value(|state| state.unconfirmed.push(request));
            }
        }
    }

    /// Requests an action on a batch from the leader, and remembers it until it is seen to be executed. The leader also
    /// sends the actions of its own user, so that no other tab repeats an earlier one.
    pub fn request_batch_action(self, batch: &BatchKey, action: BatchAction) {
        let leads = self.leads();
        let at = self.state.try_update_value(|state| {
            let at = state.batches.request(batch, action, clock::now());
            if leads {
                state.batches.settle();
            }
            at
        });
        self.send(&TabMessage::ActOnBatch(batch.clone(), action, at));
    }

    /// Records an action on a batch from another tab. Returns whether the action applies: it does not if a
    /// later action has arrived before.
    /// `at`: the time of the action, which earlier versions do not send.
    pub fn accept_batch_action(
        self,
        batch: &BatchKey,
        action: BatchAction,
        at: Option<Millis>,
    ) -> bool {
        let now = clock::now();
        // Earlier versions repeat their requests for a while, so a Resume without a time is treated as that old.
        let at = at.unwrap_or(match action {
            BatchAction::Resume => now.saturating_sub(REQUEST_TTL_MS),
            BatchAction::Pause | BatchAction::Stop => now,
        });
        let applies = self
            .state
            .try_update_value(|state| state.batches.receive(batch, action, at, now));
        applies == Some(true)
    }

    /// Checks whether the tasks of a batch show that the last action on it was executed.
    pub fn observe_batch(self, batch: &BatchKey) {
        if self
            .state
            .try_with_value(|state| state.batches.is_open(batch))
            != Some(true)
        {
            return;
        }
        self.tasks.with_tasks(|tasks| {
            let is_of_batch = |task: &&&Task| task.is_of(batch);
            let tasks = tasks.iter().filter(is_of_batch).copied();
            self.state
                .update_value(|state| state.batches.observe(batch, tasks, clock::now()));
        });
    }

    /// Records that this tab, as the leader, has executed the last action on a batch.
    pub fn mark_batch_done(self, batch: &BatchKey) {
        self.state
            .try_update_value(|state| state.batches.done(batch));
    }

    /// Forgets the remembered actions, because this tab has executed them as the leader.
    pub fn settle(self) {
        self.state.try_update_value(|state| {
            state.unconfirmed.clear();
            state.batches.settle();
        });
    }

    /// Forgets the actions that are no longer possible for the leader's version of a task. `None`: the task was deleted.
    pub fn confirm_actions(self, key: &TaskKey, task: Option<&Task>) {
        let is_possible = |action: Action| task.is_some_and(|task| action.is_allowed(task));
        let is_unconfirmed =
            |(requested, action): &(TaskKey, Action)| requested != key || is_possible(*action);
        self.state
            .try_update_value(|state| state.unconfirmed.retain(is_unconfirmed));
    }

    /// Returns the user's requests in this tab that may not have reached the leader, in order. The caller sends them again,
    /// or executes them as the new leader.
    pub fn take_unconfirmed_requests(self) -> Vec<TabMessage> {
        let now = clock::now();
        let taken = self.state.try_update_value(|state| {
            let acts = state.unconfirmed.iter();
            let acts = acts.map(|(key, action)| TabMessage::Act(key.clone(), *action));
            let requests = std::mem::take(&mut state.requests).into_iter();
            let requests = requests.filter(|(then, _)| now.saturating_sub(*then) < REQUEST_TTL_MS);
            let batches = state.batches.unfinished(now).into_iter();
            let batches =
                batches.map(|(batch, action, at)| TabMessage::ActOnBatch(batch, action, Some(at)));
            acts.chain(requests.map(|(_, message)| message))
                .chain(batches)
                .collect()
        });
        taken.unwrap_or_default()
    }

    /// Sends the states of these tasks to the other tabs. If there are many, some are sent later, in their state at that time.
    pub fn send_tasks(self, keys: impl IntoIterator<Item = TaskKey>) {
        let was_idle = self.state.try_update_value(|state| {
            let was_idle = state.unsent.is_empty();
            for key in keys {
                if was_idle || !state.unsent.contains(&key) {
                    state.unsent.push_back(key);
                }
            }
            was_idle
        });
        let count = self.state.try_with_value(|state| state.unsent.len());
        match (was_idle == Some(true), lifecycle::is_visible()) {
            (_, false) => self.send_next_tasks(),
            // Many tasks are sent after the other work of the page.
            (true, true) if count > Some(MAX_CHUNK_TASKS) => {
                after(0, move || self.send_next_tasks()).forget();
            }
            (true, true) => self.send_next_tasks(),
            (false, true) => {}
        }
    }

    /// Sends the next unsent tasks. Sends all of them if the page is hidden, because timers are slow then and a page is
    /// hidden before it is closed.
    pub fn send_next_tasks(self) {
        let limit = match lifecycle::is_visible() {
            true => MAX_CHUNK_TASKS,
            false => usize::MAX,
        };
        let next = self.state.try_update_value(|state| {
            let count = state.unsent.len().min(limit);
            let keys: Vec<_> = state.unsent.drain(..count).collect();
            (keys, state.unsent.is_empty())
        });
        let Some((keys, are_all)) = next else {
            return;
        };
        for task in keys.iter().filter_map(|key| self.tasks.task(key)) {
            self.send(&TabMessage::Task(Box::new(task.get_untracked())));
        }
        if !are_all {
            after(0, move || self.send_next_tasks()).forget();
        }
    }
}

#[cfg(test)]
mod tests;

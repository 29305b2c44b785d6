//! Agrees with the other tabs which one leads, and tells them what this one does; `hearing` is the other direction.

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

/// Tasks that are told in one go: some milliseconds.
const MAX_CHUNK_TASKS: usize = 100;

/// Longer than any tab is without one that leads.
const ASKED_MS: Millis = 10_000;

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
    /// The tasks that the other tabs are still to be told of.
    untold: VecDeque<TaskKey>,
    /// The requests that a person has made in this tab while another one led, and when.
    asked: Vec<(Millis, TabMessage)>,
    /// The same of single tasks; see [`TabSync::ask_to_act`].
    unanswered: Vec<(TaskKey, Action)>,
    /// The requests for whole batches, from this tab or another one.
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

    /// Hears the other tabs, and lets the one that leads say how it stands.
    pub fn listen(self, hear: impl Fn(String) + 'static) {
        let channel = Channel::open(CHANNEL, hear);
        self.state
            .update_value(|state| state.channel = Some(channel));
        self.tell(&TabMessage::StateWanted);
    }

    /// Asks for the right to lead. Calls back with the generation when this tab is to take over, and
    /// without one when it is to follow.
    pub fn stand_for_leading(self, on_change: impl Fn(Option<u64>) + 'static) {
        let leadership = Leadership::start(move |leads| {
            let generation = self.state.try_update_value(|state| {
                if leads {
                    return Some(state.role.take_over());
                }
                state.role.follow();
                // The tab that leads now knows better.
                state.untold.clear();
                None
            });
            if let Some(generation) = generation {
                on_change(generation);
            }
        });
        self.state
            .update_value(|state| state.leadership = Some(leadership));
    }

    /// Leads from now on, because the records of the last leader were read in this generation; see [`TabRole::lead`].
    pub fn lead(self, generation: u64) -> Option<Vec<String>> {
        let put_off = self
            .state
            .try_update_value(|state| state.role.lead(generation));
        put_off.flatten()
    }

    /// Leaves leading to other tabs, for good.
    pub fn resign(self) {
        if let Some(leadership) = self.leadership() {
            leadership.resign();
        }
    }

    /// Leaves leading to a tab that waits for it.
    pub fn stand_back(self) {
        if let Some(leadership) = self.leadership() {
            leadership.stand_back();
        }
    }

    /// Finds out whether this tab still leads.
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

    /// `None` once the app is gone.
    pub fn try_leads(self) -> Option<bool> {
        self.state.try_with_value(|state| state.role.is_leader())
    }

    /// A second has passed. A follower that is looked at lets its clock be heard, and watches whether
    /// the leader gives a sign.
    pub fn tick(self) {
        if self.try_leads() != Some(false) || !lifecycle::is_visible() {
            return self.leader_is_awake();
        }
        let found = leadership::found();
        let watched = self.state.try_update_value(|state| {
            let asks = state.watch.check(&found, clock::now());
            (asks, state.watch.is_asleep())
        });
        self.tell(&TabMessage::Tick);
        let Some((asks, is_asleep)) = watched else {
            return;
        };
        if asks {
            self.tell(&TabMessage::StateWanted);
        }
        self.set_leader_asleep(is_asleep);
    }

    /// It has given a sign, or there is none to watch.
    pub fn leader_is_awake(self) {
        self.state.try_update_value(|state| state.watch.reset());
        self.set_leader_asleep(false);
    }

    fn set_leader_asleep(self, is_asleep: bool) {
        let was_asleep = self.is_leader_asleep.try_get_untracked();
        if was_asleep.is_some_and(|was_asleep| was_asleep != is_asleep) {
            self.is_leader_asleep.set(is_asleep);
        }
    }

    /// Another tab leads, and gives no sign; tracked.
    pub fn is_leader_asleep(self) -> bool {
        self.is_leader_asleep.get()
    }

    /// Gives the generation of leading that this tab is in, if it leads.
    pub fn generation(self) -> Option<u64> {
        let generation = self.state.try_with_value(|state| state.role.generation());
        generation.flatten()
    }

    /// Puts off hearing another tab's message if this tab is about to lead.
    pub fn defers(self, text: &str) -> bool {
        let is_put_off = self.state.try_update_value(|state| state.role.defer(text));
        is_put_off == Some(true)
    }

    pub fn tell(self, message: &TabMessage) {
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

    /// Asks the tab that leads for something, and remembers it for a while: there may be none just now,
    /// or this one be about to lead.
    pub fn ask_leader(self, message: TabMessage) {
        self.tell(&message);
        let asked = (clock::now(), message);
        self.state.update_value(|state| state.asked.push(asked));
    }

    /// Asks the tab that leads to do something with a task, and remembers it until the task shows that
    /// this was done, or can't be done any more. What is cancelled would be sent otherwise, and paid.
    pub fn ask_to_act(self, key: &TaskKey, action: Action) {
        let message = TabMessage::Act(key.clone(), action);
        let takes_over = self.state.with_value(|state| state.role.is_taking_over());
        match action {
            // A person who asks for a second attempt twice may pay for both.
            Action::Resubmit | Action::Refetch | Action::AskAgain | Action::FetchEarly
                if takes_over =>
            {
                self.ask_leader(message);
            }
            Action::Resubmit | Action::Refetch | Action::AskAgain | Action::FetchEarly => {
                self.tell(&message);
            }
            _ => {
                self.tell(&message);
                let asked = (key.clone(), action);
                self.state
                    .update_value(|state| state.unanswered.push(asked));
            }
        }
    }

    /// Asks the tab that leads to do something with a batch, and remembers it until this is seen to be done. The tab
    /// that leads says itself what was asked for in it, so that no other comes back with what was asked before.
    pub fn ask_of_batch(self, batch: &BatchKey, action: BatchAction) {
        let leads = self.leads();
        let at = self.state.try_update_value(|state| {
            let at = state.batches.request(batch, action, clock::now());
            if leads {
                state.batches.settle();
            }
            at
        });
        self.tell(&TabMessage::ActOnBatch(batch.clone(), action, at));
    }

    /// Another tab has asked for something. Whether it counts: a later word may have come before it. `at`: what earlier
    /// versions do not say.
    pub fn hears_of_batch(self, batch: &BatchKey, action: BatchAction, at: Option<Millis>) -> bool {
        let now = clock::now();
        // They repeat for a while what they asked for: a Resume may be as old as that.
        let at = at.unwrap_or(match action {
            BatchAction::Resume => now.saturating_sub(ASKED_MS),
            BatchAction::Pause | BatchAction::Stop => now,
        });
        let counts = self
            .state
            .try_update_value(|state| state.batches.receive(batch, action, at, now));
        counts == Some(true)
    }

    /// A task of this batch is as the tab that leads says.
    pub fn look_at_batch(self, batch: &BatchKey) {
        if self
            .state
            .try_with_value(|state| state.batches.is_open(batch))
            != Some(true)
        {
            return;
        }
        self.tasks.with_tasks(|tasks| {
            let is_of_it = |task: &&&Task| task.is_of(batch);
            let tasks = tasks.iter().filter(is_of_it).copied();
            self.state
                .update_value(|state| state.batches.observe(batch, tasks, clock::now()));
        });
    }

    /// This tab leads, and has done what was asked of this batch last.
    pub fn has_done(self, batch: &BatchKey) {
        self.state
            .try_update_value(|state| state.batches.done(batch));
    }

    /// This tab leads, and has done what it remembered.
    pub fn settle(self) {
        self.state.try_update_value(|state| {
            state.unanswered.clear();
            state.batches.settle();
        });
    }

    /// The tab that leads says how a task is; `None`: it is gone.
    pub fn on_message(self, key: &TaskKey, task: Option<&Task>) {
        let is_open = |action: Action| task.is_some_and(|task| action.is_allowed(task));
        let is_unanswered = |(asked, action): &(TaskKey, Action)| asked != key || is_open(*action);
        self.state
            .try_update_value(|state| state.unanswered.retain(is_unanswered));
    }

    /// Gives the requests that a person has made in this tab and that may not have been heard, in their order. Those
    /// are asked for once more, or carried out by this tab.
    pub fn take_unconfirmed_requests(self) -> Vec<TabMessage> {
        let now = clock::now();
        let taken = self.state.try_update_value(|state| {
            let acts = state.unanswered.iter();
            let acts = acts.map(|(key, action)| TabMessage::Act(key.clone(), *action));
            let asked = std::mem::take(&mut state.asked).into_iter();
            let asked = asked.filter(|(then, _)| now.saturating_sub(*then) < ASKED_MS);
            let batches = state.batches.unfinished(now).into_iter();
            let batches =
                batches.map(|(batch, action, at)| TabMessage::ActOnBatch(batch, action, Some(at)));
            acts.chain(asked.map(|(_, message)| message))
                .chain(batches)
                .collect()
        });
        taken.unwrap_or_default()
    }

    /// Tells the other tabs how these tasks are. Of many, some have to wait a little, and are told as
    /// they are by then.
    pub fn tell_tasks(self, keys: impl IntoIterator<Item = TaskKey>) {
        let was_idle = self.state.try_update_value(|state| {
            let was_idle = state.untold.is_empty();
            for key in keys {
                if was_idle || !state.untold.contains(&key) {
                    state.untold.push_back(key);
                }
            }
            was_idle
        });
        let count = self.state.try_with_value(|state| state.untold.len());
        match (was_idle == Some(true), lifecycle::is_visible()) {
            (_, false) => self.tell_next_tasks(),
            // With so many tasks, everything else that the page has to do comes first.
            (true, true) if count > Some(MAX_CHUNK_TASKS) => {
                after(0, move || self.tell_next_tasks()).forget();
            }
            (true, true) => self.tell_next_tasks(),
            (false, true) => {}
        }
    }

    /// Tells the next of them; all, where the page is hidden: timers are slow there, and a page that goes is
    /// hidden first.
    pub fn tell_next_tasks(self) {
        let at_once = match lifecycle::is_visible() {
            true => MAX_CHUNK_TASKS,
            false => usize::MAX,
        };
        let next = self.state.try_update_value(|state| {
            let count = state.untold.len().min(at_once);
            let keys: Vec<_> = state.untold.drain(..count).collect();
            (keys, state.untold.is_empty())
        });
        let Some((keys, are_all)) = next else {
            return;
        };
        for task in keys.iter().filter_map(|key| self.tasks.task(key)) {
            self.tell(&TabMessage::Task(Box::new(task.get_untracked())));
        }
        if !are_all {
            after(0, move || self.tell_next_tasks()).forget();
        }
    }
}

#[cfg(test)]
mod tests;

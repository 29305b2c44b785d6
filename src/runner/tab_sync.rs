//! Who of the tabs leads, and what this one tells the others; `hearing` is the other direction.

use std::collections::VecDeque;
use std::rc::Rc;

use atelier_engine::tab_role::TabRole;
use atelier_engine::{Action, TaskKey};
use leptos::prelude::*;

use super::tab_message::TabMessage;
use super::task_store::TaskStore;
use crate::boxed::after;
use crate::browser::leadership::Leadership;
use crate::browser::lifecycle;
use crate::browser::tabs::Channel;

const CHANNEL: &str = "atelier";

/// Tasks that are told in one go: some milliseconds.
const TOLD_AT_ONCE: usize = 100;

#[derive(Clone, Copy)]
pub(super) struct TabSync {
    tasks: TaskStore,
    state: StoredValue<State, LocalStorage>,
}

#[derive(Default)]
struct State {
    channel: Option<Channel>,
    leadership: Option<Rc<Leadership>>,
    role: TabRole,
    /// What the other tabs are still to be told of.
    untold: VecDeque<TaskKey>,
    asked_here: Vec<TabMessage>,
    /// What a person has asked for in this tab while another one led; see [`TabSync::ask_to_act`].
    unanswered: Vec<(TaskKey, Action)>,
}

impl TabSync {
    pub fn new(tasks: TaskStore) -> Self {
        Self {
            tasks,
            state: StoredValue::new_local(State::default()),
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
                // Whoever leads now knows better, and was asked, too.
                state.untold.clear();
                state.asked_here.clear();
                None
            });
            if let Some(generation) = generation {
                on_change(generation);
            }
        });
        self.state
            .update_value(|state| state.leadership = Some(leadership));
    }

    /// What the last leader left was read in this generation; see [`TabRole::lead`].
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
        self.state.try_with_value(|state| state.role.leads())
    }

    /// Which generation of leading this tab is in, if it leads.
    pub fn generation(self) -> Option<u64> {
        let generation = self.state.try_with_value(|state| state.role.generation());
        generation.flatten()
    }

    /// What another tab says is heard later, if this one is about to lead.
    pub fn puts_off(self, text: &str) -> bool {
        let is_put_off = self
            .state
            .try_update_value(|state| state.role.puts_off(text));
        is_put_off == Some(true)
    }

    pub fn tell(self, message: &TabMessage) {
        let text = message.to_value().to_string();
        self.state.try_with_value(|state| {
            if let Some(channel) = &state.channel {
                channel.post(&text);
            }
        });
    }

    /// Asks the tab that leads for something. Where this one is about to lead, it will do it itself: see
    /// [`TabSync::asked_here`].
    pub fn ask_leader(self, message: TabMessage) {
        self.tell(&message);
        self.state.update_value(|state| {
            if state.role.takes_over() {
                state.asked_here.push(message);
            }
        });
    }

    /// What a person has asked for in this tab while it was about to lead.
    pub fn asked_here(self) -> Vec<TabMessage> {
        let asked = |state: &mut State| std::mem::take(&mut state.asked_here);
        self.state.try_update_value(asked).unwrap_or_default()
    }

    /// Asks the tab that leads to do something with a task, and remembers it until that tab has a word
    /// about the task: there may be none just now, or one that is gone before it has heard. What is
    /// cancelled would be sent then, and paid.
    pub fn ask_to_act(self, key: &TaskKey, action: Action) {
        // Whoever asks for a second attempt twice may pay for both.
        if action != Action::Resubmit {
            let asked = (key.clone(), action);
            self.state
                .update_value(|state| state.unanswered.push(asked));
        }
        self.ask_leader(TabMessage::Act(key.clone(), action));
    }

    /// The tab that leads has a word about a task.
    pub fn is_answered(self, key: &TaskKey) {
        self.state
            .try_update_value(|state| state.unanswered.retain(|(asked, _)| asked != key));
    }

    /// What a person has asked for in this tab, and no other one has had a word about.
    pub fn unanswered(self) -> Vec<(TaskKey, Action)> {
        let unanswered = self.state.try_with_value(|state| state.unanswered.clone());
        unanswered.unwrap_or_default()
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
            // Whatever else so many have to do with comes first.
            (true, true) if count > Some(TOLD_AT_ONCE) => {
                after(0, move || self.tell_next_tasks()).forget();
            }
            (true, true) => self.tell_next_tasks(),
            (false, true) => {}
        }
    }

    /// Tells the next of them; all, where nobody looks: timers are slow there, and a page that goes is
    /// hidden first.
    pub fn tell_next_tasks(self) {
        let at_once = match lifecycle::is_visible() {
            true => TOLD_AT_ONCE,
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

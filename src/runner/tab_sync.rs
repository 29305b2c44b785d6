//! What this tab tells the others, and what it does on hearing them.

use atelier_contract::json;
use atelier_engine::{BatchAction, TaskKey};
use leptos::prelude::*;

use super::Runner;
use super::tab_message::TabMessage;
use crate::boxed::{after, spawn};
use crate::browser::{clock, lifecycle};

/// Tasks that are told in one go: some milliseconds.
const TOLD_AT_ONCE: usize = 100;

impl Runner {
    /// Tells the other tabs how this one stands, if it leads.
    pub(super) fn tell_state(&self) {
        if self.generation().is_some() {
            self.tell(&TabMessage::State(
                self.block_reason.get_untracked(),
                self.storage_error.get_untracked(),
            ));
        }
    }

    pub(super) fn tell(&self, note: &TabMessage) {
        let text = note.to_value().to_string();
        self.inner.try_with_value(|inner| {
            if let Some(channel) = &inner.channel {
                channel.post(&text);
            }
        });
    }

    /// Tells the other tabs how these tasks are. Of many, some have to wait a little, and are told as
    /// they are by then.
    pub(super) fn tell_tasks(&self, keys: impl IntoIterator<Item = TaskKey>) {
        let was_idle = self.inner.try_update_value(|inner| {
            let was_idle = inner.untold.is_empty();
            for key in keys {
                if was_idle || !inner.untold.contains(&key) {
                    inner.untold.push_back(key);
                }
            }
            was_idle
        });
        if was_idle == Some(true) || !lifecycle::is_visible() {
            self.tell_next_tasks();
        }
    }

    /// Tells the next of them; all, where nobody looks: timers are slow there, and a page that goes is
    /// hidden first.
    pub(super) fn tell_next_tasks(&self) {
        let at_once = match lifecycle::is_visible() {
            true => TOLD_AT_ONCE,
            false => usize::MAX,
        };
        let next = self.inner.try_update_value(|inner| {
            let count = inner.untold.len().min(at_once);
            let keys = inner.untold.drain(..count);
            let tasks = keys.filter_map(|key| inner.engine.task(&key).cloned());
            (tasks.collect::<Vec<_>>(), inner.untold.is_empty())
        });
        let Some((tasks, are_all)) = next else {
            return;
        };
        for task in tasks {
            self.tell(&TabMessage::Task(Box::new(task)));
        }
        if !are_all {
            let this = *self;
            after(0, move || this.tell_next_tasks()).forget();
        }
    }

    pub(super) fn hear(&self, text: &str) {
        let is_put_off = self.inner.try_update_value(|inner| {
            let unheard = inner.unheard.as_mut();
            unheard.map(|unheard| unheard.push(text.to_owned()))
        });
        if is_put_off.flatten().is_some() {
            return;
        }
        // A tab with another version may say what we do not know.
        let Some(note) = json::read(text).and_then(TabMessage::from_value) else {
            return;
        };
        let Some(leading) = self.inner.try_with_value(|inner| inner.leading) else {
            return;
        };
        match note {
            TabMessage::Task(task) if !leading => self.merge_remote(vec![*task]),
            // The last word of a tab that led before and is closed: it may have got the id that
            // this one has found missing.
            TabMessage::Task(task) if self.task(&task.key).is_some() => {
                self.with_engine(|engine| engine.merge_remote(*task, clock::now()));
            }
            TabMessage::Submitted(tasks) if leading => {
                self.show(&tasks);
                self.with_engine(|engine| {
                    for task in tasks {
                        engine.insert_remote(task, clock::now());
                    }
                });
            }
            TabMessage::Removed(key) if !leading => {
                self.hide(&key);
                self.inner
                    .update_value(|inner| inner.engine.drop_remote(&key));
            }
            TabMessage::Act(key, action) if leading => {
                self.with_engine(|engine| engine.act(&key, action, clock::now()));
            }
            TabMessage::ActOnBatch(batch, action) => {
                if action == BatchAction::Stop {
                    self.is_stopped_at(&batch, false);
                }
                if leading {
                    self.with_engine(|engine| engine.act_on_batch(&batch, action, clock::now()));
                }
            }
            TabMessage::Tick if leading => self.pump(),
            TabMessage::Wake if leading => self.with_engine(|engine| engine.wake(clock::now())),
            TabMessage::StateWanted => self.tell_state(),
            TabMessage::State(block_reason, storage_error) if !leading => {
                self.block_reason.set(block_reason);
                self.leader_storage_error.set(storage_error);
            }
            TabMessage::CredentialsAccepted => {
                self.with_engine(|engine| engine.credentials_changed(clock::now()));
            }
            TabMessage::SendUnkept => {
                self.with_engine(|engine| engine.accept_unkept(clock::now()));
            }
            TabMessage::Shown(copy) if leading => self.keep(copy),
            TabMessage::Stored if !leading => {
                let this = *self;
                spawn(async move { this.merge_unheard().await });
            }
            TabMessage::Favorite(output, is) if leading => self.set_favorite(&output, is),
            TabMessage::Copies => self.copies_changed.update(|changes| *changes += 1),
            _ => {}
        }
    }
}

//! What this tab tells the others, and what it does on hearing them.

use atelier_contract::json;
use atelier_engine::BatchAction;
use leptos::prelude::*;

use super::Runner;
use super::note::Note;
use crate::browser::clock;

impl Runner {
    /// Tells the other tabs how this one stands, if it leads.
    pub(super) fn tell_state(&self) {
        if self.generation().is_some() {
            self.tell(&Note::State(
                self.hindrance.get_untracked(),
                self.storage_error.get_untracked(),
            ));
        }
    }

    pub(super) fn tell(&self, note: &Note) {
        let text = note.to_value().to_string();
        self.inner.try_with_value(|inner| {
            if let Some(channel) = &inner.channel {
                channel.post(&text);
            }
        });
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
        let Some(note) = json::read(text).and_then(Note::from_value) else {
            return;
        };
        let Some(leading) = self.inner.try_with_value(|inner| inner.leading) else {
            return;
        };
        match note {
            Note::Task(task) if !leading => self.learn(*task),
            // The last word of a tab that led before and is closed: it may have got the id that
            // this one has found missing.
            Note::Task(task) if self.task(&task.key).is_some() => {
                self.with_engine(|engine| engine.learn(*task, clock::now()));
            }
            Note::Submitted(tasks) if leading => {
                for task in &tasks {
                    self.show(task);
                }
                self.with_engine(|engine| {
                    for task in tasks {
                        engine.adopt(task, clock::now());
                    }
                });
            }
            Note::Removed(key) if !leading => {
                self.hide(&key);
                self.inner.update_value(|inner| inner.engine.forget(&key));
            }
            Note::Act(key, action) if leading => {
                self.with_engine(|engine| engine.act(&key, action, clock::now()));
            }
            Note::ActOnBatch(batch, action) => {
                if action == BatchAction::Stop {
                    self.is_stopped_at(&batch, false);
                }
                if leading {
                    self.with_engine(|engine| engine.act_on_batch(&batch, action, clock::now()));
                }
            }
            Note::Tick if leading => self.pump(),
            Note::Wake if leading => self.with_engine(|engine| engine.wake(clock::now())),
            Note::StateWanted => self.tell_state(),
            Note::State(hindrance, storage_error) if !leading => {
                self.hindrance.set(hindrance);
                self.leader_storage_error.set(storage_error);
            }
            Note::CredentialsAccepted => {
                self.with_engine(|engine| engine.credentials_changed(clock::now()));
            }
            Note::SendUnkept => {
                self.with_engine(|engine| engine.accept_unkept(clock::now()));
            }
            Note::Shown(copy) if leading => self.keep(copy),
            Note::Copies => self.copies_changed.update(|changes| *changes += 1),
            _ => {}
        }
    }
}

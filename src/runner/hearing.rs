//! What a tab does on hearing another one.

use atelier_engine::BatchAction;
use leptos::prelude::WithUntracked;

use super::parts::Parts;
use super::tab_message::TabMessage;
use crate::boxed::spawn;
use crate::browser::clock;

impl Parts {
    pub fn hear(self, text: &str) {
        if self.tabs.defers(text) {
            return;
        }
        // A tab with another version may say what we do not know.
        if let Some(message) = TabMessage::read(text) {
            self.hear_message(message);
        }
    }

    pub fn hear_message(self, message: TabMessage) {
        let Some(leads) = self.tabs.try_leads() else {
            return;
        };
        match message {
            TabMessage::Task(task) if !leads => {
                self.tabs.on_message(&task.key, Some(&task));
                let batch = task.batch.as_ref().map(|place| place.batch.clone());
                self.driver.merge_remote(vec![*task]);
                if let Some(batch) = batch {
                    self.tabs.look_at_batch(&batch);
                }
            }
            // The last word of a tab that led before and is closed: it may have got the id that
            // this one has found missing.
            TabMessage::Task(task) if self.tasks.task(&task.key).is_some() => {
                self.driver
                    .change(|engine| engine.merge_remote(*task, clock::now()));
            }
            TabMessage::Submitted(tasks) if leads => {
                self.tasks.show(&tasks);
                self.driver.change(|engine| {
                    for task in tasks {
                        engine.insert_remote(task, clock::now());
                    }
                });
            }
            TabMessage::TakenIn(tasks) if leads => {
                self.driver
                    .change(|engine| engine.take_in(tasks, clock::now()));
            }
            TabMessage::Removed(key) if !leads => {
                self.tabs.on_message(&key, None);
                let task = self.tasks.task(&key);
                let place = task.and_then(|task| task.with_untracked(|task| task.batch.clone()));
                self.tasks.hide(&key);
                self.driver.update(|engine| engine.drop_remote(&key));
                if let Some(place) = place {
                    self.tabs.look_at_batch(&place.batch);
                }
            }
            TabMessage::ActOnBatch(batch, action, at) => {
                if !self.tabs.hears_of_batch(&batch, action, at) {
                    return;
                }
                if action == BatchAction::Stop {
                    self.stopped.mark_stopped(&batch, false);
                }
                if leads {
                    self.tabs.has_done(&batch);
                    self.apply_request(TabMessage::ActOnBatch(batch, action, at));
                }
            }
            TabMessage::Act(..) | TabMessage::Favorite(..) if leads => self.apply_request(message),
            TabMessage::Tick if leads => self.driver.pump(),
            TabMessage::Wake if leads => self.wake(),
            TabMessage::Doubt if leads => self.doubt(),
            TabMessage::StateWanted => self.status.tell(),
            TabMessage::State(block_reason, storage_error) if !leads => {
                self.tabs.leader_is_awake();
                self.status.on_message(block_reason, storage_error);
                // Perhaps it leads only now.
                for message in self.tabs.take_unconfirmed_requests() {
                    self.tabs.tell(&message);
                }
                // It may have begun to lead just now.
                spawn(self.recovery.hand_over());
            }
            TabMessage::CredentialsAccepted => {
                self.driver
                    .change(|engine| engine.credentials_changed(clock::now()));
            }
            TabMessage::SendWithoutStorage => {
                self.driver
                    .change(|engine| engine.accept_without_storage(clock::now()));
            }
            TabMessage::Shown(copy) if leads => self.cache.keep(copy),
            TabMessage::Stored if !leads => spawn(async move {
                self.recovery.merge_unknown().await;
                self.recovery.hand_over().await;
            }),
            TabMessage::Unstored(task) if leads && self.tasks.task(&task.key).is_none() => {
                self.driver.merge_remote(vec![*task]);
                self.driver.pump();
            }
            TabMessage::Copies => self.cache.has_changed(),
            _ => {}
        }
    }

    /// Does what a person has asked the leader for, which is this tab.
    pub fn apply_request(self, message: TabMessage) {
        match message {
            TabMessage::Act(key, action) => self
                .driver
                .change(|engine| engine.act(&key, action, clock::now())),
            TabMessage::ActOnBatch(batch, action, _) => self
                .driver
                .change(|engine| engine.act_on_batch(&batch, action, clock::now())),
            TabMessage::Favorite(output, is) => self.set_favorite(&output, is),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests;

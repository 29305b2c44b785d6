//! Acts on the messages that a tab hears from other tabs.

use atelier_engine::{BatchAction, BatchKey, Millis, Task, TaskKey};
use leptos::prelude::WithUntracked;

use super::parts::Parts;
use super::tab_message::TabMessage;
use crate::browser::clock;
use crate::reactive::boxed::spawn;

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
            TabMessage::ActOnBatch(batch, action, at) => {
                self.hear_of_batch(batch, action, at, leads);
            }
            TabMessage::StateWanted => self.status.tell(),
            TabMessage::CredentialsAccepted => {
                self.driver
                    .change(|engine| engine.credentials_changed(clock::now()));
            }
            TabMessage::SendWithoutStorage => {
                self.driver
                    .change(|engine| engine.accept_without_storage(clock::now()));
            }
            TabMessage::Copies => self.cache.has_changed(),
            message if leads => self.hear_as_leader(message),
            message => self.hear_as_follower(message),
        }
    }

    fn hear_as_leader(self, message: TabMessage) {
        match message {
            // The last word of a tab that led before: it may have got the id that this one has found
            // missing, or that of what was sent once more since.
            TabMessage::Task(task)
                if task.key.is_late() || self.tasks.task(&task.key).is_some() =>
            {
                self.driver
                    .change(|engine| engine.merge_remote(*task, clock::now()));
            }
            TabMessage::Submitted(tasks, secrets) => {
                self.tasks.show(&tasks);
                self.driver.change(|engine| {
                    engine.add_secrets(secrets);
                    for task in tasks {
                        engine.insert_remote(task, clock::now());
                    }
                });
                self.driver.probe_service();
            }
            TabMessage::TakenIn(tasks) => {
                self.driver
                    .change(|engine| engine.import(tasks, clock::now()));
            }
            TabMessage::Act(..) | TabMessage::Favorite(..) => self.apply_request(message),
            TabMessage::Tick => self.driver.pump(),
            TabMessage::Wake => self.wake(),
            TabMessage::Doubt => self.doubt(),
            TabMessage::CanLead => self.recovery.receive_offer(),
            TabMessage::CopyRequested(request) => self.cache.request(request),
            // Also what this tab knows: it may have heard of it before it led, and not have written it.
            TabMessage::Unstored(task) => {
                self.driver
                    .change(|engine| engine.insert_unstored(*task, clock::now()));
            }
            _ => {}
        }
    }

    fn hear_as_follower(self, message: TabMessage) {
        match message {
            TabMessage::Task(task) => self.follow_task(*task),
            TabMessage::Removed(key) => self.follow_removal(&key),
            // It may come to lead before they are sent.
            TabMessage::Submitted(tasks, secrets) => {
                self.driver.update(|engine| engine.add_secrets(secrets));
                // They may be in no storage.
                if self.status.leader_cannot_write() {
                    self.recovery.know(tasks);
                    self.recovery.offer_to_lead();
                }
            }
            TabMessage::State(block_reason, storage_error) => {
                self.tabs.leader_is_awake();
                self.status.on_message(block_reason, storage_error);
                self.recovery.offer_to_lead();
                // The leader may not have been there when they were first told.
                for message in self.tabs.take_unconfirmed_requests() {
                    self.tabs.tell(&message);
                }
                // It may have begun to lead just now.
                spawn(self.recovery.hand_over());
            }
            TabMessage::Stored => spawn(async move {
                self.recovery.merge_unknown().await;
                self.recovery.hand_over().await;
            }),
            _ => {}
        }
    }

    /// Takes over a task as the leader has it now.
    fn follow_task(self, task: Task) {
        self.tabs.on_message(&task.key, Some(&task));
        let batch = task.batch.as_ref().map(|place| place.batch.clone());
        self.driver.merge_remote(vec![task]);
        if let Some(batch) = batch {
            self.tabs.look_at_batch(&batch);
        }
    }

    /// Drops a task that the leader has removed.
    fn follow_removal(self, key: &TaskKey) {
        self.tabs.on_message(key, None);
        // It would be back once this tab leads in that one's place.
        if self.status.leader_cannot_write() {
            let files = self.driver.files_of_it_alone(key);
            self.cache.delete_task(key, files);
        }
        let task = self.tasks.task(key);
        let place = task.and_then(|task| task.with_untracked(|task| task.batch.clone()));
        self.tasks.hide(key);
        self.driver.update(|engine| engine.drop_remote(key));
        if let Some(place) = place {
            self.tabs.look_at_batch(&place.batch);
        }
    }

    /// Notes what a person has done with a batch; the leader also does it.
    fn hear_of_batch(self, batch: BatchKey, action: BatchAction, at: Option<Millis>, leads: bool) {
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

    /// Does what a person has asked the leader for, which is this tab.
    pub fn apply_request(self, message: TabMessage) {
        match message {
            TabMessage::Act(key, action) => {
                self.driver
                    .change(|engine| engine.act(&key, action, clock::now()));
                self.driver.probe_service();
            }
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

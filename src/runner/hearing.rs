//! Handles messages from other tabs.

use atelier_engine::{BatchAction, BatchKey, Millis, Task, TaskKey};
use leptos::prelude::WithUntracked;

use super::parts::Parts;
use super::tab_message::TabMessage;
use crate::browser::clock;
use crate::reactive::boxed::spawn;

impl Parts {
    /// Handles the text of a message, unless it is deferred because this tab is taking over.
    pub fn receive(self, text: &str) {
        if self.tabs.defer(text) {
            return;
        }
        // A tab of another version may send messages that this version can't read.
        if let Some(message) = TabMessage::read(text) {
            self.handle_message(message);
        }
    }

    pub fn handle_message(self, message: TabMessage) {
        let Some(leads) = self.tabs.try_leads() else {
            return;
        };
        match message {
            TabMessage::ActOnBatch(batch, action, at) => {
                self.receive_batch_action(batch, action, at, leads);
            }
            TabMessage::StateWanted => {
                self.status.send();
                if leads {
                    self.send_progress();
                }
            }
            TabMessage::CredentialsAccepted => {
                self.driver
                    .change(|engine| engine.credentials_changed(clock::now()));
            }
            TabMessage::SendWithoutStorage => {
                self.driver
                    .change(|engine| engine.accept_without_storage(clock::now()));
            }
            TabMessage::Copies => self.cache.has_changed(),
            message if leads => self.handle_as_leader(message),
            message => self.handle_as_follower(message),
        }
    }

    /// Sends the tasks whose progress a new tab can't read from storage.
    fn send_progress(self) {
        let keys = self.tasks.with_tasks(|tasks| {
            let tasks = tasks.iter().filter(|task| task.has_progress());
            tasks.map(|task| task.key.clone()).collect::<Vec<_>>()
        });
        self.tabs.send_tasks(keys);
    }

    fn handle_as_leader(self, message: TabMessage) {
        match message {
            // A late message from a previous leader. It may bring the task id that this tab was missing, or the id of a task
            // that has since been sent again.
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
            TabMessage::Imported(tasks) => {
                self.driver
                    .change(|engine| engine.import(tasks, clock::now()));
            }
            TabMessage::Act(..) | TabMessage::Favorite(..) => self.apply_request(message),
            TabMessage::Tick => self.driver.pump(),
            TabMessage::Wake => self.wake(),
            TabMessage::ServiceUnreachable => self.suspect_outage(),
            TabMessage::RateLimited(address, retry_after) => self
                .driver
                .change(|engine| engine.limit_rate(&address, retry_after, clock::now())),
            TabMessage::CanLead => self.recovery.receive_offer(),
            TabMessage::CopyRequested(request) => self.cache.request(request),
            // Done even if this tab already knows the task: it may have received it as a follower and never written it.
            TabMessage::Unstored(task) => {
                self.driver
                    .change(|engine| engine.insert_unstored(*task, clock::now()));
            }
            _ => {}
        }
    }

    fn handle_as_follower(self, message: TabMessage) {
        match message {
            TabMessage::Task(task) => self.merge_leader_task(*task),
            TabMessage::Removed(key) => self.drop_removed_task(&key),
            // This tab may become the leader before the tasks are sent, and needs their secrets then.
            TabMessage::Submitted(tasks, secrets) => {
                self.driver.update(|engine| engine.add_secrets(secrets));
                // The leader can't store the tasks. If this tab can, it must replace the leader.
                if self.status.leader_cannot_write() {
                    self.recovery.add_unknown(tasks);
                    self.recovery.offer_to_lead();
                }
            }
            TabMessage::State(block_reason, storage_error) => {
                self.tabs.reset_leader_watch();
                self.status.set_leader_status(block_reason, storage_error);
                self.recovery.offer_to_lead();
                // There may have been no leader when these requests were first sent.
                for message in self.tabs.take_unconfirmed_requests() {
                    self.tabs.send(&message);
                }
                // A new leader may not know the tasks that were cleared from storage.
                spawn(self.recovery.hand_over());
            }
            TabMessage::Stored => spawn(async move {
                self.recovery.merge_unknown().await;
                self.recovery.hand_over().await;
            }),
            _ => {}
        }
    }

    /// Merges the leader's version of a task.
    fn merge_leader_task(self, task: Task) {
        self.tabs.confirm_actions(&task.key, Some(&task));
        let batch = task.batch.as_ref().map(|place| place.batch.clone());
        self.driver.merge_remote(vec![task]);
        if let Some(batch) = batch {
            self.tabs.observe_batch(&batch);
        }
    }

    /// Drops a task that the leader has removed.
    fn drop_removed_task(self, key: &TaskKey) {
        self.tabs.confirm_actions(key, None);
        // The leader could not delete the record. This tab would load it again when it replaces the leader.
        if self.status.leader_cannot_write() {
            let files = self.driver.files_used_only_by(key);
            self.cache.delete_task(key, files);
        }
        let task = self.tasks.task(key);
        let place = task.and_then(|task| task.with_untracked(|task| task.batch.clone()));
        self.tasks.hide(key);
        self.driver.update(|engine| engine.drop_remote(key));
        if let Some(place) = place {
            self.tabs.observe_batch(&place.batch);
        }
    }

    /// Records a user's action on a batch. The leader also executes it.
    fn receive_batch_action(
        self,
        batch: BatchKey,
        action: BatchAction,
        at: Option<Millis>,
        leads: bool,
    ) {
        if !self.tabs.accept_batch_action(&batch, action, at) {
            return;
        }
        if action == BatchAction::Stop {
            self.stopped.mark_stopped(&batch, false);
        }
        if leads {
            self.tabs.mark_batch_done(&batch);
            self.apply_request(TabMessage::ActOnBatch(batch, action, at));
        }
    }

    /// Executes a user's request. This tab must be the leader.
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
            TabMessage::Favorite(output, is_favorite) => {
                self.set_favorite(&output, is_favorite);
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests;

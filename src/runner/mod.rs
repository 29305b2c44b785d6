//! Drives tasks for the views. [`parts`] lists the parts of the runner: the tasks and their signals, the agreement between tabs on which
//! one leads, records in storage and their recovery, copies of outputs, and the driver of the engine, which is the only
//! place where calls for tasks are made.
//!
//! The runner lives at the app's root, so that tasks continue when a view is removed.

use atelier_engine::outage::NoAccount;
use atelier_engine::recovery::SUPERSEDED_REFUSAL;
use atelier_engine::{
    Action, BatchAction, BatchKey, Engine, Millis, MissingCredentials, Task, TaskKey,
};
use atelier_studio::form::seed::Seeded;
use atelier_studio::history::lineage::Uploads;
use atelier_studio::history::{self, lineage};
use gloo_timers::callback::Interval;
use leptos::prelude::*;

use crate::browser::local::LocalStore;
use crate::browser::storage::StorageError;
use crate::browser::{clock, lifecycle, random};
use crate::reactive::boxed::{effect, memo, spawn};
use crate::state::catalog::Catalog;
use crate::state::notices::Notices;
use crate::state::session::Session;

mod batch_records;
mod driver;
mod hearing;
mod notifications;
mod output_cache;
mod parts;
mod queries;
mod rate_limit_store;
mod records;
mod recovery;
mod secrets;
mod status;
mod stopped;
mod tab_message;
mod tab_sync;
mod task_store;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
pub mod uploaded_files;
pub mod uploaded_outputs;

use parts::Parts;
use tab_message::TabMessage;

/// The key in `localStorage` of the time at which the newest task was created, in ms since 1970. It is not in IndexedDB,
/// which may answer after the first new task is created.
const NEWEST: &str = "atelier.newest";

/// The interval at which a visible follower sends a tick to the leader, in milliseconds.
const TICK_MS: u32 = 1_000;

#[derive(Clone, Copy)]
pub struct Runner {
    session: Session,
    notices: Notices,
    /// `None` until [`Runner::begin`].
    parts: StoredValue<Option<Parts>, LocalStorage>,
    is_open: RwSignal<bool>,
}

impl Runner {
    /// Creates a handle, which is all that the first view needs. [`Runner::begin`] must be called before anything else.
    pub fn new(session: Session, notices: Notices) -> Self {
        Self {
            session,
            notices,
            parts: StoredValue::new_local(None),
            is_open: RwSignal::new(false),
        }
    }

    fn parts(&self) -> Parts {
        match self.parts.get_value() {
            Some(parts) => parts,
            None => unreachable!("only deferred code calls the runner, which begins before it"),
        }
    }

    /// Loads the tasks of earlier visits and continues them as long as the current owner lives. Call this at the root.
    pub fn begin(self) {
        let session = self.session;
        let mut engine = Engine::new(session.account());
        let now = clock::now();
        engine.set_leading(false, now);
        engine.set_online(lifecycle::is_online(), now);
        let parts = Parts::new(session, self.notices, engine);
        self.parts.set_value(Some(parts));
        let (driver, tabs) = (parts.driver, parts.tabs);
        let mut before = None;
        effect(move || {
            let account = session.account();
            let credentials = Some(session.credentials_name());
            let token_version = session.token_version();
            let are_others = std::mem::replace(&mut before, credentials.clone()) != credentials;
            let are_refused = session.is_refused();
            driver.change(|engine| {
                let now = clock::now();
                engine.set_account(account, now);
                if let Some(version) = token_version {
                    engine.set_token_version(version, now);
                }
                if are_others && are_refused {
                    engine.credentials_refused(now);
                } else if are_others {
                    engine.credentials_changed(now);
                }
                engine.wake(now);
            });
        });
        // Each run of the effect is an attempt to reach the service. The memo prevents runs when other settings change.
        let address = memo(move || session.settings().address);
        effect(move || {
            let address = address.get();
            let support = session.idempotency_of(&address);
            let address = address.to_string();
            driver.change(|engine| engine.set_idempotency(&address, support, clock::now()));
            driver.probe_service();
        });
        lifecycle::on_change(move || {
            driver.change(|engine| {
                let now = clock::now();
                engine.set_online(lifecycle::is_online(), now);
                if lifecycle::is_visible() {
                    engine.wake(now);
                }
            });
            if !lifecycle::is_visible() {
                driver.write_deferred();
                tabs.send_next_tasks();
            }
        });
        tabs.listen(move |text| parts.receive(&text));
        parts.batches.listen();
        Interval::new(TICK_MS, move || tabs.tick()).forget();
        on_cleanup(move || tabs.resign());
        spawn(parts.open(self.is_open));
    }

    /// Follows the tasks through the service's stream of events, if it announces one. Until this is called, they are only
    /// polled.
    pub fn follow_events(&self, catalog: Catalog) {
        self.parts().driver.follow_events(catalog);
    }

    /// Returns the creation time for a task that is created now.
    pub fn created(&self) -> Millis {
        let stored = LocalStore::Browser.read(NEWEST);
        let stored = stored.and_then(|stored| stored.parse().ok());
        let created = history::created(clock::now(), self.parts().tasks.newest(), stored);
        // If the browser refuses to store the time, the newest listed task still has it.
        LocalStore::Browser.write(NEWEST, &created.to_string());
        created
    }

    /// Submits a validated input. Returns the key of its task.
    pub fn submit(&self, seeded: Seeded, model_name: &str) -> TaskKey {
        let mut task = Task::new(
            TaskKey(random::key()),
            self.session.account(),
            model_name.to_owned(),
            seeded.input,
            self.created(),
        );
        task.seed_chosen = seeded.is_chosen;
        let key = task.key.clone();
        self.submit_tasks(vec![task]);
        key
    }

    /// Submits the input of a failed task again, as a new task that replaces it. Returns its key.
    pub fn retry(&self, key: &TaskKey) -> Option<TaskKey> {
        let task = self.new_attempt(key)?;
        let key = task.key.clone();
        self.submit_tasks(vec![task]);
        Some(key)
    }

    /// Does the same as [`Runner::retry`] for several tasks. Returns the number of submitted tasks.
    pub fn retry_all(&self, keys: &[TaskKey]) -> usize {
        let tasks: Vec<Task> = keys
            .iter()
            .filter_map(|key| self.new_attempt(key))
            .collect();
        let count = tasks.len();
        self.submit_tasks(tasks);
        count
    }

    /// Returns whether this tab submits nothing any more, because a newer version has taken over. If so, shows a notice.
    pub fn refuses_to_send(&self) -> bool {
        let refuses = untrack(|| self.is_superseded());
        if refuses {
            self.notices
                .problem(format!("Not sent. {SUPERSEDED_REFUSAL}"));
        }
        refuses
    }

    /// Returns whether tasks can be submitted. If not, shows a notice.
    pub fn can_send(&self) -> bool {
        if self.refuses_to_send() {
            return false;
        }
        let has_credentials = untrack(|| self.session.has_credentials());
        let why = match has_credentials {
            Some(true) => return true,
            Some(false) => {
                let missing = untrack(|| self.session.missing_credentials());
                let why = missing.map(MissingCredentials::user_message);
                format!("{} Go to Settings.", why.unwrap_or_default())
            }
            None => NoAccount::Unreachable.user_message().into(),
        };
        self.notices.problem(format!("Not sent. {why}"));
        false
    }

    /// Creates the task of a new attempt with the same input. Returns `None` if the task is unknown. Also returns
    /// `None`, and shows a notice, if tasks can't be submitted.
    fn new_attempt(&self, key: &TaskKey) -> Option<Task> {
        if !self.can_send() {
            return None;
        }
        let old = self.task(key)?.get_untracked();
        if untrack(|| self.asks_for_secrets(&old, false)) {
            return None;
        }
        // A removed attempt still uses its key as long as the removal can be undone.
        let is_free = |key: &TaskKey| {
            let known = self.task(key);
            known.is_none_or(|task| task.with_untracked(|task| task.removed.is_none()))
        };
        let mut next = std::iter::successors(Some(key.retry()), |key| Some(key.retry()));
        let mut task = Task::new(
            next.find(is_free)?,
            self.session.account(),
            old.model_name,
            old.input,
            self.created(),
        );
        task.sources = old.sources;
        task.uploads = old.uploads;
        task.retry_of = Some(key.clone());
        task.batch = old.batch;
        task.varied = old.varied;
        task.seed_chosen = old.seed_chosen;
        Some(task)
    }

    /// Submits new tasks, in this order.
    pub fn submit_tasks(&self, mut tasks: Vec<Task>) {
        self.with_tasks(|known| {
            uploaded_outputs::with(|outputs| {
                uploaded_files::with(|files| {
                    lineage::trace(&mut tasks, known, Uploads { outputs, files });
                });
            });
        });
        let secrets = self.take_secrets(&mut tasks);
        let message = self.unless_leading(|| TabMessage::Submitted(tasks.clone(), secrets.clone()));
        let submit = |engine: &mut Engine, now| {
            engine.add_secrets(secrets);
            engine.submit(tasks, now);
        };
        self.change_and_tell(submit, message);
        // If all tasks wait for the service, checks now whether it is available again.
        self.parts().driver.probe_service();
    }

    /// Adds tasks from the history of another browser. They are never submitted.
    pub fn import(&self, tasks: Vec<Task>) {
        let message = self.unless_leading(|| TabMessage::Imported(tasks.clone()));
        self.change_and_tell(|engine, now| engine.import(tasks, now), message);
    }

    /// Waits until all tasks are stored.
    ///
    /// # Errors
    ///
    /// Storage has failed. The tasks are written when it works again.
    pub async fn written(&self) -> Result<(), StorageError> {
        self.parts().driver.written().await
    }

    /// Performs an action of the user on a task. A follower requests the action from the leader.
    pub fn act(&self, key: &TaskKey, action: Action) {
        self.act_on_all(std::slice::from_ref(key), action);
    }

    /// Does the same as [`Runner::act`] for several tasks. Returns the number of affected tasks.
    pub fn act_on_all(&self, keys: &[TaskKey], action: Action) -> usize {
        let Parts { driver, tabs, .. } = self.parts();
        // A resubmission with another secret would be another request.
        let may_act = |key: &&TaskKey| action != Action::Resubmit || self.can_resubmit(key);
        let keys: Vec<&TaskKey> = keys.iter().filter(may_act).collect();
        let count = keys.len();
        if tabs.leads() {
            driver.change(|engine| {
                for key in keys {
                    engine.act(key, action, clock::now());
                }
            });
            driver.probe_service();
        } else {
            for key in keys {
                tabs.request_action(key, action);
            }
        }
        count
    }

    /// Performs an action of the user on a whole batch.
    pub fn act_on_batch(&self, batch: &BatchKey, action: BatchAction) {
        let parts = self.parts();
        if action == BatchAction::Stop {
            parts.stopped.mark_stopped(batch, true);
        }
        parts.tabs.request_batch_action(batch, action);
        if parts.tabs.leads() {
            parts
                .driver
                .change(|engine| engine.act_on_batch(batch, action, clock::now()));
        }
    }

    /// Polls all tasks immediately, as far as the rate limits allow. The tab that makes the calls does so.
    pub fn wake(&self) {
        self.parts().wake();
        self.parts().tabs.send(&TabMessage::Wake);
    }

    /// Reports that this tab can't reach the service. The leading tab checks the service before it submits anything.
    pub fn report_unreachable(&self) {
        self.parts().tabs.send(&TabMessage::ServiceUnreachable);
    }

    /// Reports that the service at this address asks for fewer calls, in a reply to a call of this tab that is not about a
    /// task. `retry_after`: the wait that the service requested, in milliseconds.
    pub fn report_rate_limit(&self, address: &str, retry_after: Option<Millis>) {
        let message = || TabMessage::RateLimited(address.to_owned(), retry_after);
        match self.unless_leading(message) {
            Some(message) => self.parts().tabs.send(&message),
            None => self.change_and_tell(
                |engine, now| engine.limit_rate(address, retry_after, now),
                None,
            ),
        }
    }

    /// Records that the service has accepted the current credentials.
    pub fn credentials_accepted(&self) {
        self.session.set_refused(false);
        self.change_and_tell(
            Engine::credentials_changed,
            Some(TabMessage::CredentialsAccepted),
        );
    }

    /// Records that the user wants tasks to be submitted although they can't be stored.
    pub fn send_without_storage(&self) {
        self.change_and_tell(
            Engine::accept_without_storage,
            Some(TabMessage::SendWithoutStorage),
        );
    }

    /// Changes the engine of this tab, and then notifies the other tabs.
    fn change_and_tell(&self, act: impl FnOnce(&mut Engine, Millis), message: Option<TabMessage>) {
        let Parts { driver, tabs, .. } = self.parts();
        driver.change(|engine| act(engine, clock::now()));
        if let Some(message) = message {
            tabs.send(&message);
        }
    }

    /// Returns the message for the leader; `None` if this tab leads.
    fn unless_leading(&self, message: impl FnOnce() -> TabMessage) -> Option<TabMessage> {
        (!self.parts().tabs.leads()).then(message)
    }
}

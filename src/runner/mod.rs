//! Everything that drives tasks, as views see it. What it is made of stands in [`parts`]: the tasks
//! and their signals, the tabs' agreement on who leads, records in storage and their recovery, copies
//! of outputs, and the driver of the engine, which is the only place where calls for tasks are made.
//!
//! Lives at the app's root, so that no view that goes takes a task with it.

use atelier_engine::outage::NoAccount;
use atelier_engine::recovery::SUPERSEDED_REFUSAL;
use atelier_engine::{
    Action, BatchAction, BatchKey, Engine, Millis, MissingCredentials, Task, TaskKey,
};
use atelier_studio::form::seed::Seeded;
use atelier_studio::history::{self, lineage};
use gloo_timers::callback::Interval;
use leptos::prelude::*;

use crate::browser::local::LocalStore;
use crate::browser::storage::StorageError;
use crate::browser::{clock, lifecycle, random};
use crate::reactive::boxed::{effect, memo, spawn};
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

use parts::Parts;
use tab_message::TabMessage;

/// The key in `localStorage` for the time at which the newest task was created, in ms since 1970. The storage of
/// tasks may answer too late to ask it.
const NEWEST: &str = "atelier.newest";

/// How often a visible follower lets its clock be heard.
const TICK_MS: u32 = 1_000;

#[derive(Clone, Copy)]
pub struct Runner {
    session: Session,
    notices: Notices,
    /// There once it has begun.
    parts: StoredValue<Option<Parts>, LocalStorage>,
    is_open: RwSignal<bool>,
}

impl Runner {
    /// A handle for contexts: the first view needs no more. Nothing else may be called before
    /// [`Runner::begin`].
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

    /// Loads what earlier visits left and goes on with it, for as long as the owner lives in which it
    /// is called: the root.
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
        // Each run counts as an attempt to reach the service; a change of another setting is none.
        let address = memo(move || session.settings().address);
        effect(move || {
            let address = address.get();
            let said = session.idempotency_of(&address);
            let address = address.to_string();
            driver.change(|engine| engine.set_idempotency(&address, said, clock::now()));
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
                driver.write_rest();
                tabs.tell_next_tasks();
            }
        });
        tabs.listen(move |text| parts.hear(&text));
        parts.batches.listen();
        Interval::new(TICK_MS, move || tabs.tick()).forget();
        on_cleanup(move || tabs.resign());
        spawn(parts.open(self.is_open));
    }

    /// When a task that is made now says that it was created.
    pub fn created(&self) -> Millis {
        let noted = LocalStore::Browser.read(NEWEST);
        let noted = noted.and_then(|noted| noted.parse().ok());
        let created = history::created(clock::now(), self.parts().tasks.newest(), noted);
        // If storage refuses, the tasks that are listed tell it.
        LocalStore::Browser.write(NEWEST, &created.to_string());
        created
    }

    /// Sends a validated input; the task it becomes.
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

    /// Sends the same input once more, as a new task that knows which one it replaces.
    pub fn retry(&self, key: &TaskKey) -> Option<TaskKey> {
        let task = self.again(key)?;
        let key = task.key.clone();
        self.submit_tasks(vec![task]);
        Some(key)
    }

    /// The same for several, which leave together; how many of them are sent.
    pub fn retry_all(&self, keys: &[TaskKey]) -> usize {
        let tasks: Vec<Task> = keys.iter().filter_map(|key| self.again(key)).collect();
        let count = tasks.len();
        self.submit_tasks(tasks);
        count
    }

    /// Whether nothing is sent from this tab any more, which is said then.
    pub fn refuses_to_send(&self) -> bool {
        let refuses = untrack(|| self.is_superseded());
        if refuses {
            self.notices
                .problem(format!("Not sent. {SUPERSEDED_REFUSAL}"));
        }
        refuses
    }

    /// Whether anything can be sent; where not, that is said.
    pub fn can_send(&self) -> bool {
        if self.refuses_to_send() {
            return false;
        }
        let has = untrack(|| self.session.has_credentials());
        let why = match has {
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

    fn again(&self, key: &TaskKey) -> Option<Task> {
        if !self.can_send() {
            return None;
        }
        let old = self.task(key)?.get_untracked();
        if untrack(|| self.asks_for_secrets(&old, false)) {
            return None;
        }
        // An attempt that was removed and can be brought back still has its key.
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
        task.retry_of = Some(key.clone());
        task.batch = old.batch;
        task.varied = old.varied;
        task.seed_chosen = old.seed_chosen;
        Some(task)
    }

    /// Sends new tasks, in this order.
    pub fn submit_tasks(&self, mut tasks: Vec<Task>) {
        self.with_tasks(|known| lineage::trace(&mut tasks, known));
        let secrets = self.take_secrets(&mut tasks);
        let told = self.unless_leading(|| TabMessage::Submitted(tasks.clone(), secrets.clone()));
        let submit = |engine: &mut Engine, now| {
            engine.add_secrets(secrets);
            engine.submit(tasks, now);
        };
        self.change_and_tell(submit, told);
        // Where everything waits, a press is the moment to find out whether it still has to.
        self.parts().driver.probe_service();
    }

    /// Knows and keeps tasks of another browser's history; none of them is sent.
    pub fn import(&self, tasks: Vec<Task>) {
        let told = self.unless_leading(|| TabMessage::TakenIn(tasks.clone()));
        self.change_and_tell(|engine, now| engine.import(tasks, now), told);
    }

    /// Waits until every task is in storage.
    ///
    /// # Errors
    ///
    /// It was refused; it is written again once storage works.
    pub async fn written(&self) -> Result<(), StorageError> {
        self.parts().driver.written().await
    }

    /// Does what a person asked for; a follower lets the leader do it.
    pub fn act(&self, key: &TaskKey, action: Action) {
        self.act_on_all(std::slice::from_ref(key), action);
    }

    /// The same for several, of which those that are to be sent leave together.
    pub fn act_on_all(&self, keys: &[TaskKey], action: Action) -> usize {
        let Parts { driver, tabs, .. } = self.parts();
        // Another secret would make another request of it.
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
                tabs.ask_to_act(key, action);
            }
        }
        count
    }

    /// The same for a whole batch.
    pub fn act_on_batch(&self, batch: &BatchKey, action: BatchAction) {
        let parts = self.parts();
        if action == BatchAction::Stop {
            parts.stopped.mark_stopped(batch, true);
        }
        parts.tabs.ask_of_batch(batch, action);
        if parts.tabs.leads() {
            parts
                .driver
                .change(|engine| engine.act_on_batch(batch, action, clock::now()));
        }
    }

    /// Polls at once, as far as the limits allow; whichever tab makes the calls.
    pub fn wake(&self) {
        self.parts().wake();
        self.parts().tabs.tell(&TabMessage::Wake);
    }

    /// The service can't be reached from here: whichever tab makes the calls asks it first, before it sends anything.
    pub fn doubt(&self) {
        self.parts().tabs.tell(&TabMessage::Doubt);
    }

    /// The service was seen to take the present credentials.
    pub fn credentials_accepted(&self) {
        self.session.set_refused(false);
        self.change_and_tell(
            Engine::credentials_changed,
            Some(TabMessage::CredentialsAccepted),
        );
    }

    /// The person wants tasks to be sent although they can't be kept.
    pub fn send_without_storage(&self) {
        self.change_and_tell(
            Engine::accept_without_storage,
            Some(TabMessage::SendWithoutStorage),
        );
    }

    /// Tells the engine of this tab something, and then the other tabs.
    fn change_and_tell(&self, act: impl FnOnce(&mut Engine, Millis), told: Option<TabMessage>) {
        let Parts { driver, tabs, .. } = self.parts();
        driver.change(|engine| act(engine, clock::now()));
        if let Some(told) = told {
            tabs.tell(&told);
        }
    }

    /// Gives the message for the leader, unless this tab leads and decides by itself.
    fn unless_leading(&self, told: impl FnOnce() -> TabMessage) -> Option<TabMessage> {
        (!self.parts().tabs.leads()).then(told)
    }
}

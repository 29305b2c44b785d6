//! The parts of the runner. Each part is a copyable handle to private state. Later parts use earlier ones.

use atelier_contract::path;
use atelier_engine::{Engine, Millis, Task};
use atelier_studio::output::output_cache::{CopyRequest, parse_name};
use leptos::prelude::*;

use super::batch_records::BatchRecords;
use super::driver::Driver;
use super::output_cache::OutputCache;
use super::rate_limit_store;
use super::records::Records;
use super::recovery::Recovery;
use super::status::Status;
use super::stopped::Stopped;
use super::tab_message::TabMessage;
use super::tab_sync::TabSync;
use super::task_store::TaskStore;
use crate::browser::{clock, http, lifecycle};
use crate::reactive::boxed::spawn;
use crate::state::notices::Notices;
use crate::state::session::Session;

#[derive(Clone, Copy)]
pub(super) struct Parts {
    session: Session,
    pub tasks: TaskStore,
    pub tabs: TabSync,
    pub status: Status,
    pub records: Records,
    pub batches: BatchRecords,
    pub cache: OutputCache,
    pub driver: Driver,
    pub recovery: Recovery,
    pub stopped: Stopped,
}

impl Parts {
    pub fn new(session: Session, notices: Notices, engine: Engine) -> Self {
        let tasks = TaskStore::new();
        let tabs = TabSync::new(tasks);
        let status = Status::new(tabs);
        let records = Records::new(notices);
        let batches = BatchRecords::new(tabs, status, records);
        let cache = OutputCache::new(session, notices, tasks, tabs, records);
        let driver = Driver::new(session, engine, tasks, tabs, status, records, cache);
        Self {
            session,
            tasks,
            tabs,
            status,
            records,
            batches,
            cache,
            driver,
            recovery: Recovery::new(tabs, status, records, batches, cache, driver),
            stopped: Stopped::new(tasks),
        }
    }

    /// Loads the stored tasks, sets `is_open` once they are loaded or can't be, and requests leadership.
    pub async fn open(self, is_open: RwSignal<bool>) {
        self.recovery.open().await;
        if self.records.is_gone() {
            return;
        }
        is_open.set(true);
        // The leader may have reported that it can't write before this tab had read the stored tasks.
        self.recovery.offer_to_lead();
        if untrack(|| self.status.is_superseded()) {
            // This version must not send the tasks of a newer version, because it may not understand them fully.
            return;
        }
        self.tabs
            .request_leadership(move |generation| match generation {
                Some(generation) => spawn(self.lead(generation)),
                None => self.follow(),
            });
    }

    /// Becomes a follower, and requests the leader's state.
    fn follow(self) {
        self.driver
            .update(|engine| engine.set_leading(false, clock::now()));
        self.driver.check_stream();
        self.tabs.send(&TabMessage::StateWanted);
    }

    /// Becomes the leader. Reads all records again, because the previous leader may have been closed between a request and
    /// its response.
    async fn lead(self, generation: u64) {
        let stored = self.records.read_all().await;
        if self.records.is_gone() {
            return;
        }
        // Leadership may have been lost in the meantime.
        self.tabs.check();
        let Some(deferred) = self.tabs.lead(generation) else {
            return;
        };
        let deferred = deferred.iter().filter_map(|text| TabMessage::read(text));
        let deferred = deferred.filter(|message| match message {
            TabMessage::ActOnBatch(batch, action, at) => {
                self.tabs.accept_batch_action(batch, *action, *at)
            }
            _ => true,
        });
        let deferred: Vec<_> = deferred.collect();
        let own_requests = self.tabs.take_unconfirmed_requests();
        // The stored tasks are incomplete if storage can't be read, if the previous leader could not write the tasks that it
        // sent, or if it was closed before it wrote cleared records again.
        let is_unwritten = self.recovery.is_unwritten();
        let is_incomplete = stored.is_err() || self.status.leader_cannot_write() || is_unwritten;
        self.driver.change(|engine| {
            let now = clock::now();
            for message in &deferred {
                if let TabMessage::Submitted(_, secrets) = message {
                    engine.add_secrets(secrets.clone());
                }
            }
            load(engine, stored.unwrap_or_default(), is_incomplete, now);
            for limit in rate_limit_store::stored_limits() {
                engine.wait(&limit, now);
            }
            if self.session.is_refused() {
                engine.credentials_refused(now);
            } else {
                // Another tab may have found out that the service accepts the credentials now.
                engine.credentials_changed(now);
            }
            // Actions are executed before anything is sent: the user may have cancelled a task.
            for message in own_requests.iter().chain(&deferred) {
                match message {
                    TabMessage::Act(key, action) => engine.act(key, *action, now),
                    TabMessage::ActOnBatch(batch, action, _) => {
                        engine.act_on_batch(batch, *action, now);
                    }
                    _ => {}
                }
            }
            engine.set_leading(true, now);
        });
        if is_incomplete {
            let batches = self.tasks.with_tasks(|tasks| {
                let listed = tasks.iter().filter(|task| task.removed.is_none());
                listed
                    .filter_map(|task| Some(task.batch.as_ref()?.batch.clone()))
                    .collect()
            });
            self.records.store_missing_batches(&batches);
        }
        // Tasks may wait for an unreachable service, and only the leader probes it.
        self.session.ask_again();
        // If the service has refused the credentials, the user has to enter new ones first.
        if !self.session.is_refused() {
            self.driver.probe_service();
        }
        // Actions on tasks and batches were executed above. Executing them again has no effect.
        for message in own_requests {
            self.apply_request(message);
        }
        for message in deferred {
            self.handle_message(message);
        }
        self.tabs.settle();
        self.status.lead();
        if is_unwritten {
            self.recovery.start();
        }
        self.cache.take_over();
        self.driver.tidy_files();
    }

    /// Polls all tasks immediately, and checks whether an unreachable service is back.
    pub fn wake(self) {
        if !lifecycle::is_online() {
            spawn(self.probe_without_network());
        }
        self.session.ask_again();
        self.driver.probe_service();
        self.driver.change(|engine| engine.wake(clock::now()));
    }

    /// Requests the list of models although the browser has no network. If the service responds, it runs on this machine, and
    /// the page does not count as offline.
    async fn probe_without_network(self) {
        let address = self.session.settings_untracked().address;
        let answer = http::get_models(&address.url(path::MODELS)).await;
        let is_reached = !answer.is_err_and(|error| error.is_unreachable());
        if is_reached {
            lifecycle::mark_reached();
            self.driver
                .change(|engine| engine.set_online(lifecycle::is_online(), clock::now()));
        }
    }

    /// See [`super::Runner::suspect_outage`].
    pub fn suspect_outage(self) {
        self.session.suspect_outage();
    }

    /// See [`super::Runner::set_favorite`].
    pub fn set_favorite(self, output: &str, is_favorite: bool) {
        let Some((key, position)) = parse_name(output) else {
            return;
        };
        if !self.tabs.leads() {
            let message = TabMessage::Favorite(output.to_owned(), is_favorite);
            return self.tabs.request_from_leader(message);
        }
        self.driver.change(|engine| {
            engine.set_favorite(&key, position, is_favorite, clock::now());
        });
        if is_favorite {
            self.cache.request(CopyRequest::Output(output.to_owned()));
        }
    }
}

/// Loads the stored tasks into the engine. If `is_incomplete`, the other tasks that this tab knows are loaded as well, and
/// stored again.
fn load(engine: &mut Engine, mut tasks: Vec<Task>, is_incomplete: bool, now: Millis) {
    let mut unstored = Vec::new();
    if is_incomplete {
        let is_unstored = |task: &&Task| tasks.iter().all(|stored| stored.key != task.key);
        unstored.extend(engine.tasks().filter(is_unstored).cloned());
        tasks.extend(unstored.iter().cloned());
    }
    engine.load(tasks, now);
    engine.store(unstored.iter().map(|task| &task.key));
}

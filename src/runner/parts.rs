//! The parts of the runner. Each part is a handle of its own, with private state; later parts know the earlier ones.

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

    /// Shows what storage has, and asks to lead.
    pub async fn open(self, is_open: RwSignal<bool>) {
        self.recovery.open().await;
        if self.records.is_gone() {
            return;
        }
        is_open.set(true);
        // The tab that leads may have said before that it can't write.
        self.recovery.offer_to_lead();
        if untrack(|| self.status.is_superseded()) {
            // This version must never send what only the newer one understands in full.
            return;
        }
        self.tabs
            .stand_for_leading(move |generation| match generation {
                Some(generation) => spawn(self.lead(generation)),
                None => self.follow(),
            });
    }

    /// Another tab leads from now on.
    fn follow(self) {
        self.driver
            .update(|engine| engine.set_leading(false, clock::now()));
        self.tabs.tell(&TabMessage::StateWanted);
    }

    /// This tab leads from now on: what the last leader left is read afresh, because it may have
    /// gone between a request and its answer.
    async fn lead(self, generation: u64) {
        let stored = self.records.read_all().await;
        if self.records.is_gone() {
            return;
        }
        // The right to lead may have been lost meanwhile.
        self.tabs.check();
        let Some(put_off) = self.tabs.lead(generation) else {
            return;
        };
        let put_off = put_off.iter().filter_map(|text| TabMessage::read(text));
        let put_off = put_off.filter(|message| match message {
            TabMessage::ActOnBatch(batch, action, at) => {
                self.tabs.hears_of_batch(batch, *action, *at)
            }
            _ => true,
        });
        let put_off: Vec<_> = put_off.collect();
        let asked_here = self.tabs.take_unconfirmed_requests();
        // Nothing can be read, the last leader could not write what it told, or it has gone before
        // it wrote again what was cleared.
        let is_unwritten = self.recovery.is_unwritten();
        let is_incomplete = stored.is_err() || self.status.leader_cannot_write() || is_unwritten;
        self.driver.change(|engine| {
            let now = clock::now();
            for message in &put_off {
                if let TabMessage::Submitted(_, secrets) = message {
                    engine.add_secrets(secrets.clone());
                }
            }
            load(engine, stored.unwrap_or_default(), is_incomplete, now);
            for limit in rate_limit_store::kept() {
                engine.wait(&limit, now);
            }
            if self.session.is_refused() {
                engine.credentials_refused(now);
            } else {
                // Another tab may have found out that they are taken after all.
                engine.credentials_changed(now);
            }
            // Before anything is sent: it may be what a person has cancelled.
            for message in asked_here.iter().chain(&put_off) {
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
                let there = tasks.iter().filter(|task| task.removed.is_none());
                there
                    .filter_map(|task| Some(task.batch.as_ref()?.batch.clone()))
                    .collect()
            });
            self.records.store_missing_batches(&batches);
        }
        // Some tasks wait for a service that can't be reached, and no other tab asks it any more.
        self.session.ask_again();
        // Credentials that were refused wait for a person.
        if !self.session.is_refused() {
            self.driver.probe_service();
        }
        // A request that was carried out already is not carried out again.
        for message in asked_here {
            self.apply_request(message);
        }
        for message in put_off {
            self.hear_message(message);
        }
        self.tabs.settle();
        self.status.lead();
        if is_unwritten {
            self.recovery.start();
        }
        self.cache.take_over();
        self.driver.tidy_files();
    }

    /// Everything is asked about at once, and so is a service that could not be reached.
    pub fn wake(self) {
        if !lifecycle::is_online() {
            spawn(self.ask_without_network());
        }
        self.session.ask_again();
        self.driver.probe_service();
        self.driver.change(|engine| engine.wake(clock::now()));
    }

    /// A service on this machine answers without a network, too: a browser without one is not offline to it.
    async fn ask_without_network(self) {
        let address = self.session.settings_untracked().address;
        let answer = http::get_models(&address.url(path::MODELS)).await;
        let is_reached = !answer.is_err_and(|error| error.is_unreachable());
        if is_reached {
            lifecycle::mark_reached();
            self.driver
                .change(|engine| engine.set_online(lifecycle::is_online(), clock::now()));
        }
    }

    /// See [`super::Runner::doubt`].
    pub fn doubt(self) {
        self.session.doubt();
    }

    /// See [`super::Runner::set_favorite`].
    pub fn set_favorite(self, output: &str, is_favorite: bool) {
        let Some((key, position)) = parse_name(output) else {
            return;
        };
        if !self.tabs.leads() {
            let message = TabMessage::Favorite(output.to_owned(), is_favorite);
            return self.tabs.ask_leader(message);
        }
        self.driver.change(|engine| {
            engine.set_favorite(&key, position, is_favorite, clock::now());
        });
        if is_favorite {
            self.cache.request(CopyRequest::Output(output.to_owned()));
        }
    }
}

/// Gives the engine the tasks that are stored. If these may not be all, the others that this tab knows are loaded as
/// well, and stored again.
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

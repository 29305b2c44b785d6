//! What the runner is made of. Each part is a handle of its own, with private state; arrows point
//! from later to earlier ones.

use atelier_contract::path;
use atelier_engine::output_cache::place;
use atelier_engine::{Engine, Task};
use leptos::prelude::*;

use super::driver::Driver;
use super::output_cache::OutputCache;
use super::records::Records;
use super::recovery::Recovery;
use super::status::Status;
use super::stopped::Stopped;
use super::tab_message::TabMessage;
use super::tab_sync::TabSync;
use super::task_store::TaskStore;
use super::waits;
use crate::boxed::spawn;
use crate::browser::{clock, http, lifecycle};
use crate::notices::Notices;
use crate::session::Session;

#[derive(Clone, Copy)]
pub(super) struct Parts {
    session: Session,
    pub tasks: TaskStore,
    pub tabs: TabSync,
    pub status: Status,
    pub records: Records,
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
        let cache = OutputCache::new(session, notices, tasks, tabs, records);
        let driver = Driver::new(session, engine, tasks, tabs, status, records, cache);
        Self {
            session,
            tasks,
            tabs,
            status,
            records,
            cache,
            driver,
            recovery: Recovery::new(tabs, status, records, cache, driver),
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
        if untrack(|| self.status.is_superseded()) {
            // Never sends what only the newer one knows all about.
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
            let mut tasks = stored.unwrap_or_default();
            if is_incomplete {
                // What this tab knows beside it is all there is.
                let is_known = |task: &&Task| tasks.iter().all(|stored| stored.key != task.key);
                let unstored: Vec<Task> = engine.tasks().filter(is_known).cloned().collect();
                tasks.extend(unstored);
            }
            engine.load(tasks, now);
            for wait in waits::kept() {
                engine.wait(&wait.address, wait.until, wait.since, now);
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
        // Where tasks wait for a service that can't be reached, nobody else asks it any more.
        self.session.ask_again();
        self.driver.knock();
        // What was done already is not done again.
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
    }

    /// Everything is asked about at once, and so is a service that could not be reached.
    pub fn wake(self) {
        if !lifecycle::is_online() {
            spawn(self.ask_without_network());
        }
        self.session.ask_again();
        self.driver.knock();
        self.driver.change(|engine| engine.wake(clock::now()));
    }

    /// A service on this machine answers without a network, too: whoever works on a train is not offline to it.
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
        let Some((key, position)) = place(output) else {
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
            self.cache.keep(output.to_owned());
        }
    }
}

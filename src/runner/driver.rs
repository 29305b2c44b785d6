//! Drives the engine: carries out what it decides, brings back the answers, and comes back when it
//! wants to decide again.

use std::collections::HashSet;

use atelier_contract::{ApiError, path};
use atelier_engine::{
    BlockReason, Call, CallKind, Command, Engine, Phase, ReplyLimits, Task, TaskKey,
};
use atelier_studio::output::output_cache::CopyRequest;
use futures::future::{FutureExt, Shared};
use gloo_timers::callback::Timeout;
use gloo_timers::future::TimeoutFuture;
use leptos::prelude::*;

use super::notifications::announce;
use super::output_cache::OutputCache;
use super::rate_limit_store;
use super::records::Records;
use super::status::Status;
use super::tab_message::TabMessage;
use super::tab_sync::TabSync;
use super::task_store::TaskStore;
use crate::browser::storage::thumbnails;
use crate::browser::storage::{StorageError, Written};
use crate::browser::{clock, http, lifecycle, random};
use crate::reactive::boxed::{after, spawn};
use crate::state::session::Session;
use stored_outputs::keys_with_data;

mod stored_outputs;

/// Tasks that are written at once, in the task that has decided on them; more would hold up the page.
const MAX_INLINE_WRITES: usize = 100;

/// How long a page that is being left runs on at most, as far as it can be told.
const LEAVING_MS: u32 = 500;

#[derive(Clone, Copy)]
pub(super) struct Driver {
    session: Session,
    tasks: TaskStore,
    tabs: TabSync,
    status: Status,
    records: Records,
    cache: OutputCache,
    state: StoredValue<State, LocalStorage>,
}

struct State {
    engine: Engine,
    timer: Option<Timeout>,
    /// Records that are to be written in the next task; many, while this tab leads.
    unwritten: Vec<TaskKey>,
    /// The generation of leading in which these writes were put off.
    unwritten_since: Option<u64>,
    /// The write that was begun last.
    last_write: Option<Shared<Written>>,
    /// An answer to the probe of [`Driver::probe_service`] is awaited.
    is_knocking: bool,
    /// So many times outputs are being stored as files.
    storing: usize,
}

/// The records that one decision of the engine changes.
#[derive(Default)]
struct Saved {
    tasks: Vec<Task>,
    /// How many of them are shown.
    shown: usize,
}

impl Saved {
    /// Gives the tasks that are not shown yet. They count as shown from then on.
    fn unshown(&mut self) -> &[Task] {
        let from = std::mem::replace(&mut self.shown, self.tasks.len());
        &self.tasks[from..]
    }
}

impl Driver {
    pub fn new(
        session: Session,
        engine: Engine,
        tasks: TaskStore,
        tabs: TabSync,
        status: Status,
        records: Records,
        cache: OutputCache,
    ) -> Self {
        Self {
            session,
            tasks,
            tabs,
            status,
            records,
            cache,
            state: StoredValue::new_local(State {
                engine,
                timer: None,
                unwritten: Vec::new(),
                unwritten_since: None,
                last_write: None,
                is_knocking: false,
                storing: 0,
            }),
        }
    }

    /// `None` once the app is gone.
    pub fn with_engine<T>(self, look: impl FnOnce(&Engine) -> T) -> Option<T> {
        self.state.try_with_value(|state| look(&state.engine))
    }

    /// Tells the engine something that leaves it nothing to decide.
    pub fn update<T>(self, act: impl FnOnce(&mut Engine) -> T) -> Option<T> {
        self.state.try_update_value(|state| act(&mut state.engine))
    }

    /// Tells the engine something, and carries out what it decides then.
    pub fn change(self, act: impl FnOnce(&mut Engine)) {
        if self.update(act).is_some() {
            self.pump();
        }
    }

    /// Knows and shows what storage or another tab says. Does not write it: the tab that leads writes,
    /// and may have written something newer meanwhile, such as a task's id.
    pub fn merge_remote(self, tasks: Vec<Task>) {
        let known = self.update(|engine| {
            let merge = |task: Task| {
                let key = task.key.clone();
                engine.merge_remote(task, clock::now());
                engine.task(&key).cloned()
            };
            tasks.into_iter().filter_map(merge).collect::<Vec<_>>()
        });
        self.tasks.show(&known.unwrap_or_default());
    }

    /// Carries out what the engine decides now.
    pub fn pump(self) {
        self.tabs.check();
        let now = clock::now();
        let decided = self.update(|engine| {
            (
                engine.step(now),
                engine.next_wake(),
                engine.block_reason(now),
                engine.is_refused(),
            )
        });
        let Some((commands, next_wake, block_reason, is_refused)) = decided else {
            return;
        };
        self.carry_out(commands);
        // A follower hears it from the leader.
        let Some(before) = self.status.block_reason().try_get_untracked() else {
            return;
        };
        if self.tabs.leads() && self.status.set_block_reason(block_reason) {
            let present = self.status.block_reason().get_untracked();
            if [before, present].contains(&Some(BlockReason::Unreachable)) {
                // Something waits for it from now on; or it has answered a call, and what it says of guests and of
                // keys is wanted now.
                self.session.ask_again();
                // The service's list of models may be what is slow.
                self.probe_service();
            }
            self.session.set_refused(is_refused);
            self.status.tell();
        }
        self.state.update_value(|state| {
            state.timer = next_wake.map(|at| {
                // A browser's timer is a signed 32-bit number of milliseconds; whatever comes later
                // is looked at again then.
                let wait = at.saturating_sub(now).min(600_000) as u32;
                Timeout::new(wait, move || self.pump())
            });
        });
    }

    /// Finds out whether a service whose list of models can't be had, or that refused the credentials, takes calls all
    /// the same, where tasks wait for that.
    pub fn probe_service(self) {
        let body = self.with_engine(|engine| engine.probe_request(clock::now()));
        let credentials = untrack(|| self.session.credentials());
        let (Some(Some(body)), Some(credentials)) = (body, credentials) else {
            return;
        };
        // However many presses there are: one question at a time.
        let is_asked =
            (self.state).try_update_value(|state| std::mem::replace(&mut state.is_knocking, true));
        if is_asked != Some(false) {
            return;
        }
        let address = self.session.settings_untracked().address;
        spawn(async move {
            let url = address.url(path::STATUS);
            let limits = ReplyLimits::of(CallKind::Status, 1);
            let answer =
                http::post_json(CallKind::Status, limits, &url, &body, &credentials, None).await;
            let answer = answer.map(drop);
            (self.state).try_update_value(|state| state.is_knocking = false);
            self.change(|engine| {
                engine.probe_answered(address.as_str(), &answer, clock::now());
            });
        });
    }

    fn carry_out(self, commands: Vec<Command>) {
        let mut saved = Saved::default();
        let mut calls = Vec::new();
        for command in commands {
            if !matches!(command, Command::Save(_)) {
                self.tasks.show(saved.unshown());
            }
            match command {
                Command::Save(task) => saved.tasks.push(task),
                Command::Delete(key) => {
                    // Before it is hidden.
                    let files = self.files_of_it_alone(&key);
                    self.tasks.hide(&key);
                    self.cache.delete_task(&key, files);
                    thumbnails::forget(&key.0);
                    self.tabs.tell(&TabMessage::Removed(key));
                }
                Command::Wait(limit) => rate_limit_store::keep(limit),
                Command::Call(call) => calls.push(call),
                Command::Finished(key) => {
                    let task = self.tasks.task(&key);
                    if let Some(task) = task.filter(|_| self.session.settings_untracked().notify) {
                        announce(&task.read_untracked());
                    }
                    self.cache.request(CopyRequest::Task(key));
                }
            }
        }
        self.tasks.show(saved.unshown());
        self.store_data_of(keys_with_data(saved.tasks.iter()));
        let keys = saved.tasks.iter().map(|task| task.key.clone());
        self.tabs.tell_tasks(keys);
        let written = self.write_saved(saved.tasks, &calls);
        let generation = self.tabs.generation();
        for call in calls {
            spawn(self.perform(call, written.clone(), generation));
        }
    }

    /// Writes the records that were decided on. What some of the calls wait for is always among what is
    /// written at once, in one transaction, whose end these calls then wait for.
    fn write_saved(self, mut saved: Vec<Task>, calls: &[Call]) -> Shared<Written> {
        let waited_for: HashSet<&TaskKey> = calls.iter().flat_map(Call::write_first).collect();
        self.add_missing(&mut saved, &waited_for);
        let generation = self.tabs.generation();
        if saved.len() > MAX_INLINE_WRITES && generation.is_some() && lifecycle::is_visible() {
            let put_off = saved.extract_if(.., |task| !waited_for.contains(&task.key));
            let put_off: Vec<_> = put_off.map(|task| task.key).collect();
            // They change all at once, so that a batch appears as a whole.
            self.state.update_value(|state| {
                state.unwritten.extend(put_off);
                state.unwritten_since = generation;
            });
            after(0, move || self.write_rest()).forget();
        }
        self.write(&saved)
    }

    /// Adds the tasks that are sent once more. They have not changed, and are written all the same before they are
    /// sent.
    fn add_missing(self, saved: &mut Vec<Task>, waited_for: &HashSet<&TaskKey>) {
        let known: HashSet<&TaskKey> = saved.iter().map(|task| &task.key).collect();
        let missing = waited_for.iter().filter(|key| !known.contains(*key));
        let missing = self.with_engine(|engine| {
            let records = missing.filter_map(|key| engine.task(key).cloned());
            records.collect::<Vec<_>>()
        });
        saved.extend(missing.unwrap_or_default());
    }

    /// Writes what was put off, as it is by now: a call may have written some of it meanwhile. At once
    /// where the page may go.
    pub fn write_rest(self) {
        let rest = self.state.try_update_value(|state| {
            let keys = std::mem::take(&mut state.unwritten);
            let tasks = keys
                .iter()
                .filter_map(|key| state.engine.task(key).cloned());
            (tasks.collect::<Vec<_>>(), state.unwritten_since)
        });
        let Some((mut tasks, since)) = rest.filter(|(tasks, _)| !tasks.is_empty()) else {
            return;
        };
        if self.tabs.generation() == since {
            return drop(self.write(&tasks));
        }
        // Another tab leads by now, and does the writing, but has not heard of what is new.
        tasks.retain(|task| task.state.phase() == Phase::Queued);
        let secrets = self.with_engine(|engine| engine.secrets_of(&tasks));
        let secrets = secrets.unwrap_or_default();
        self.tabs.tell(&TabMessage::Submitted(tasks, secrets));
    }

    /// Waits until all that is known now is in storage: writes end in the order in which they began.
    ///
    /// # Errors
    ///
    /// It was refused, or storage is not open; it is written again once storage works.
    pub async fn written(self) -> Result<(), StorageError> {
        self.write_rest();
        let last = self.state.try_with_value(|state| state.last_write.clone());
        if let Some(last) = last.flatten() {
            last.await?;
        }
        // Without storage nothing is written, and nothing refused.
        self.records
            .storage()
            .map(|_| ())
            .ok_or(StorageError::Closed)
    }

    /// The write begins at the call, and goes on even if nothing waits for it.
    fn write(self, tasks: &[Task]) -> Shared<Written> {
        if tasks.is_empty() {
            return async { Ok(()) }.boxed_local().shared();
        }
        let written = self.records.write(tasks).shared();
        let end = written.clone();
        self.state
            .update_value(|state| state.last_write = Some(end.clone()));
        spawn(async move {
            // If storage refuses it, it is written again once storage works.
            let _ = end.await;
        });
        written
    }

    /// Makes a call that was decided in this generation of leading, once what it waits for is written.
    async fn perform(self, call: Call, written: Shared<Written>, generation: Option<u64>) {
        if !call.write_first().is_empty() {
            // If storage refuses it, the engine knows by now, and may want a person to be asked before anything is
            // sent.
            let _ = written.await;
            let leaves = self.update(|engine| engine.may_leave(call.id, clock::now()));
            if leaves != Some(true) {
                self.pump();
                return;
            }
        }
        // While the records were written another tab may have taken over, and may have sent what is
        // in them; or they could not be written, and the person has to be asked.
        self.tabs.check();
        let leads = generation.is_some() && self.tabs.generation() == generation;
        let asks = self.with_engine(Engine::needs_storage_consent) != Some(false);
        // Settings may have changed while the records were written: what was meant for one service
        // must not go to another, nor with another's token.
        let is_meant = untrack(|| self.session.account()) == call.account;
        let address = self.session.settings_untracked().address;
        let credentials = untrack(|| self.session.credentials()).filter(|_| is_meant);
        let may_send =
            leads && (call.kind != CallKind::Generate || !asks) && lifecycle::is_online();
        let (Some(credentials), true) = (credentials, may_send) else {
            self.change(|engine| engine.not_sent(call.id, clock::now()));
            return;
        };
        let key = call.idempotency_key.as_deref();
        let url = address.url(call.path);
        let limits = ReplyLimits::of(call.kind, call.tasks.len());
        let mut answer =
            http::post_json(call.kind, limits, &url, &call.body, &credentials, key).await;
        if let (CallKind::Response, Ok(answer)) = (call.kind, &mut answer) {
            self.store_data(answer).await;
        }
        let is_silent = |error: &ApiError| error.is_unreachable();
        if matches!(answer, Err(ApiError::Network { .. })) {
            // The calls of a page that is being left are refused while it still runs. That is no outage: the next page
            // finds that this one was closed.
            TimeoutFuture::new(LEAVING_MS).await;
        }
        if call.kind == CallKind::Generate && answer.as_ref().is_err_and(is_silent) {
            // The calls that wait behind this one would fail in the same way, one after the other.
            self.session.doubt();
        }
        self.change(|engine| {
            engine.responded(call.id, answer, clock::now(), &mut random::unit);
        });
    }
}

#[cfg(test)]
mod tests;

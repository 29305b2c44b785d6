//! Drives the engine: runs each step when it is due, executes its commands, and passes responses to it.

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
use crate::browser::event_stream::EventStream;
use crate::browser::storage::thumbnails;
use crate::browser::storage::{StorageError, Written};
use crate::browser::{clock, http, lifecycle, random};
use crate::reactive::boxed::{after, spawn};
use crate::state::session::Session;
use stored_outputs::keys_with_data;

mod events;
mod stored_outputs;

/// How many records a step of the engine may write immediately. If there are more, the records that no call depends on are
/// written later, so that the page stays responsive.
const MAX_INLINE_WRITES: usize = 100;

/// How long a page that is being closed may keep running, in milliseconds. This is an estimate.
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
    /// Tasks whose records are written later, see [`MAX_INLINE_WRITES`].
    unwritten: Vec<TaskKey>,
    /// The generation of leadership in which these writes were deferred.
    unwritten_since: Option<u64>,
    /// The write that was started last.
    last_write: Option<Shared<Written>>,
    /// A request of [`Driver::probe_service`] is in flight.
    is_probing: bool,
    /// The number of `store_files` calls in progress.
    storing_count: usize,
    stream: Option<EventStream>,
    /// Opens or closes the stream, once the part of the program that can do so is loaded.
    check_stream: Option<fn(Driver)>,
}

/// The tasks that a step of the engine has changed and that must be saved.
#[derive(Default)]
struct Saved {
    tasks: Vec<Task>,
    /// The number of these tasks that are shown already.
    shown: usize,
}

impl Saved {
    /// Returns the tasks that are not shown yet, and counts them as shown.
    fn take_unshown(&mut self) -> &[Task] {
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
                is_probing: false,
                storing_count: 0,
                stream: None,
                check_stream: None,
            }),
        }
    }

    /// Reads the engine. Returns `None` after the app was unmounted.
    pub fn with_engine<T>(self, read: impl FnOnce(&Engine) -> T) -> Option<T> {
        self.state.try_with_value(|state| read(&state.engine))
    }

    /// Changes the engine without running a step. Returns `None` after the app was unmounted.
    pub fn update<T>(self, act: impl FnOnce(&mut Engine) -> T) -> Option<T> {
        self.state.try_update_value(|state| act(&mut state.engine))
    }

    /// Changes the engine, and executes the resulting commands.
    pub fn change(self, act: impl FnOnce(&mut Engine)) {
        if self.update(act).is_some() {
            self.pump();
        }
    }

    /// Merges and shows tasks that were read from storage or received from another tab. Does not write them,
    /// because the leading tab does so, and may have written newer records, for example with a task's id.
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

    /// Opens or closes the stream of events, if that is due.
    pub fn check_stream(self) {
        let check = self.state.try_with_value(|state| state.check_stream);
        if let Some(check) = check.flatten() {
            check(self);
        }
    }

    /// Runs one step of the engine, executes its commands, and sets the timer for the next step.
    pub fn pump(self) {
        self.tabs.check();
        self.check_stream();
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
        self.execute(commands);
        // A follower receives the reason from the leader.
        let Some(before) = self.status.block_reason().try_get_untracked() else {
            return;
        };
        if self.tabs.leads() && self.status.set_block_reason(block_reason) {
            let present = self.status.block_reason().get_untracked();
            if [before, present].contains(&Some(BlockReason::Unreachable)) {
                // Either tasks begin to wait for the service, or it has answered a call again. In both cases the list
                // of models is needed: it contains the guest account and the support for idempotency keys.
                self.session.ask_again();
                // The service may accept calls although its list of models is slow.
                self.probe_service();
            }
            self.session.set_refused(is_refused);
            self.status.send();
        }
        self.state.update_value(|state| {
            state.timer = next_wake.map(|at| {
                // A browser's timer takes a signed 32-bit number of milliseconds. After a shortened wait, the next
                // step sets another timer.
                let wait = at.saturating_sub(now).min(600_000) as u32;
                Timeout::new(wait, move || self.pump())
            });
        });
    }

    /// Requests a status to find out whether the service accepts calls, although its list of models is unavailable or
    /// it refused the credentials. Does nothing if no task waits for that.
    pub fn probe_service(self) {
        let body = self.with_engine(|engine| engine.probe_request(clock::now()));
        let credentials = untrack(|| self.session.credentials());
        let (Some(Some(body)), Some(credentials)) = (body, credentials) else {
            return;
        };
        // At most one probe is in flight.
        let was_probing =
            (self.state).try_update_value(|state| std::mem::replace(&mut state.is_probing, true));
        if was_probing != Some(false) {
            return;
        }
        let address = self.session.settings_untracked().address;
        spawn(async move {
            let url = address.url(path::STATUS);
            let limits = ReplyLimits::of(CallKind::Status, 1);
            let answer =
                http::post_json(CallKind::Status, limits, &url, &body, &credentials, None).await;
            let answer = answer.map(drop);
            (self.state).try_update_value(|state| state.is_probing = false);
            self.change(|engine| {
                engine.probe_answered(address.as_str(), &answer, clock::now());
            });
        });
    }

    fn execute(self, commands: Vec<Command>) {
        let (mut saved, mut shown) = (Saved::default(), Vec::new());
        let mut calls = Vec::new();
        for command in commands {
            if !matches!(command, Command::Save(_)) {
                self.tasks.show(saved.take_unshown());
            }
            match command {
                Command::Save(task) => saved.tasks.push(task),
                Command::Show(task) => {
                    self.tasks.show(std::slice::from_ref(&task));
                    shown.push(task.key);
                }
                Command::Delete(key) => {
                    // The files can't be found once the task is hidden.
                    let files = self.files_used_only_by(&key);
                    self.tasks.hide(&key);
                    self.cache.delete_task(&key, files);
                    thumbnails::forget(&key.0);
                    self.tabs.send(&TabMessage::Removed(key));
                }
                Command::Wait(limit) => rate_limit_store::store_limit(limit),
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
        self.tasks.show(saved.take_unshown());
        self.store_data_of(keys_with_data(saved.tasks.iter()));
        let keys = saved.tasks.iter().map(|task| task.key.clone());
        self.tabs.send_tasks(shown.into_iter().chain(keys));
        let written = self.write_saved(saved.tasks, &calls);
        let generation = self.tabs.generation();
        for call in calls {
            spawn(self.perform(call, written.clone(), generation));
        }
    }

    /// Writes the changed records. Records that calls depend on are always written immediately, in one transaction, and the
    /// calls wait until the transaction is complete.
    fn write_saved(self, mut saved: Vec<Task>, calls: &[Call]) -> Shared<Written> {
        let required: HashSet<&TaskKey> = calls.iter().flat_map(Call::write_first).collect();
        self.add_missing(&mut saved, &required);
        let generation = self.tabs.generation();
        if saved.len() > MAX_INLINE_WRITES && generation.is_some() && lifecycle::is_visible() {
            let deferred = saved.extract_if(.., |task| !required.contains(&task.key));
            let deferred: Vec<_> = deferred.map(|task| task.key).collect();
            // All of them are written in one transaction, so that a batch is stored as a whole.
            self.state.update_value(|state| {
                state.unwritten.extend(deferred);
                state.unwritten_since = generation;
            });
            after(0, move || self.write_deferred()).forget();
        }
        self.write(&saved)
    }

    /// Adds the tasks that are sent again. They have not changed, but their records must be in storage before the call.
    fn add_missing(self, saved: &mut Vec<Task>, required: &HashSet<&TaskKey>) {
        let known: HashSet<&TaskKey> = saved.iter().map(|task| &task.key).collect();
        let missing = required.iter().filter(|key| !known.contains(*key));
        let missing = self.with_engine(|engine| {
            let records = missing.filter_map(|key| engine.task(key).cloned());
            records.collect::<Vec<_>>()
        });
        saved.extend(missing.unwrap_or_default());
    }

    /// Writes the deferred records in their present state: a call may have written some of them in the meantime. Also called
    /// when the page is hidden, because it may be closed then.
    pub fn write_deferred(self) {
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
        // Another tab leads now and writes all records, but has not received the new tasks.
        tasks.retain(|task| task.state.phase() == Phase::Queued);
        let secrets = self.with_engine(|engine| engine.secrets_of(&tasks));
        let secrets = secrets.unwrap_or_default();
        self.tabs.send(&TabMessage::Submitted(tasks, secrets));
    }

    /// Waits until all present records are in storage. Writes end in the order in which they were started.
    ///
    /// # Errors
    ///
    /// The last write failed, or storage is not open. The records are written again once storage works.
    pub async fn written(self) -> Result<(), StorageError> {
        self.write_deferred();
        let last = self.state.try_with_value(|state| state.last_write.clone());
        if let Some(last) = last.flatten() {
            last.await?;
        }
        // Without storage, a write reports success although nothing is written.
        self.records
            .storage()
            .map(|_| ())
            .ok_or(StorageError::Closed)
    }

    /// Starts to write records. The write continues even if the returned future is dropped.
    fn write(self, tasks: &[Task]) -> Shared<Written> {
        if tasks.is_empty() {
            return async { Ok(()) }.boxed_local().shared();
        }
        let written = self.records.write(tasks).shared();
        let end = written.clone();
        self.state
            .update_value(|state| state.last_write = Some(end.clone()));
        spawn(async move {
            // If the write fails, the records are written again once storage works.
            let _ = end.await;
        });
        written
    }

    /// Makes a call once the records that it depends on are written. `generation`: the generation of leadership in which
    /// the engine decided on the call.
    async fn perform(self, call: Call, written: Shared<Written>, generation: Option<u64>) {
        if !call.write_first().is_empty() {
            // If the write failed, the engine was notified and may require the user's consent before it sends anything.
            let _ = written.await;
            let may_leave = self.update(|engine| engine.may_leave(call.id, clock::now()));
            if may_leave != Some(true) {
                self.pump();
                return;
            }
        }
        // In the meantime, another tab may have taken over and sent these tasks, or the write may have failed, so that the
        // user's consent is needed.
        self.tabs.check();
        let leads = generation.is_some() && self.tabs.generation() == generation;
        let needs_consent = self.with_engine(Engine::needs_storage_consent) != Some(false);
        // The settings may have changed in the meantime. A call for one service must not be sent to another one, or with another
        // account's token.
        let is_same_account = untrack(|| self.session.account()) == call.account;
        let address = self.session.settings_untracked().address;
        let credentials = untrack(|| self.session.credentials()).filter(|_| is_same_account);
        let may_send =
            leads && (call.kind != CallKind::Generate || !needs_consent) && lifecycle::is_online();
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
        let is_unreachable = |error: &ApiError| error.is_unreachable();
        if matches!(answer, Err(ApiError::Network { .. })) {
            // When a page is closed, the browser aborts its calls while the page still runs. The wait prevents such a page from
            // recording an outage.
            TimeoutFuture::new(LEAVING_MS).await;
        }
        if call.kind == CallKind::Generate && answer.as_ref().is_err_and(is_unreachable) {
            // The calls in the queue would probably fail too, so the service is checked first.
            self.session.suspect_outage();
        }
        self.change(|engine| {
            engine.responded(call.id, answer, clock::now(), &mut random::unit);
        });
    }
}

#[cfg(test)]
mod tests;

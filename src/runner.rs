//! Carries out the engine's commands through the browser; the only place where tasks are driven.
//!
//! One tab leads and makes the calls; the others show what it tells them and pass on what people
//! do. Lives at the app's root, so that no view that goes takes a task with it.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::rc::Rc;
use std::sync::Arc;

use atelier_contract::Input;
use atelier_engine::{
    Action, BatchAction, BatchKey, BlockReason, Call, CallKind, Command, Engine, Millis, Sending,
    Task, TaskKey, history, wait_reason,
};
use gloo_timers::callback::{Interval, Timeout};
use leptos::prelude::*;

use crate::boxed::{effect, spawn};
use crate::browser::leadership::Leadership;
use crate::browser::storage::{Storage, StorageError, Store};
use crate::browser::tabs::Channel;
use crate::browser::{clock, http, lifecycle, random};
use crate::notices::Notices;
use crate::session::Session;

mod cache_queue;
mod connection;
mod inner;
mod notifications;
pub mod output_cache;
mod records;
mod shown;
mod stopped;
mod tab_message;
mod tab_sync;
mod waits;

use cache_queue::CacheQueue;
use inner::InnerHandle;
use stopped::Stopped;
use tab_message::TabMessage;

const CHANNEL: &str = "atelier";

#[derive(Clone, Copy)]
pub struct Runner {
    session: Session,
    notices: Notices,
    inner: InnerHandle,
    /// Every task's key, newest first.
    keys: RwSignal<Arc<Vec<TaskKey>>>,
    /// Moves on whenever a task comes, goes or enters another phase.
    revision: RwSignal<u64>,
    /// Why tasks are kept in memory alone, where they are.
    storage_error: RwSignal<Option<StorageError>>,
    /// The same in the tab that leads, where this one follows.
    leader_storage_error: RwSignal<Option<StorageError>>,
    /// Moves on whenever a copy of an output comes or goes.
    copies_changed: RwSignal<u64>,
    /// What holds back the tab that makes the calls.
    block_reason: RwSignal<Option<BlockReason>>,
    is_open: RwSignal<bool>,
}

struct Inner {
    engine: Engine,
    /// `None` until it is open, and while it can't be opened.
    storage: Option<Rc<Storage>>,
    /// Which connection to it this is, or was: what is heard of an earlier one is no news.
    connection: u64,
    /// An answer to opening it is awaited.
    is_opening: bool,
    /// It has worked in this visit.
    had_storage: bool,
    /// Somebody sees to it that storage works again.
    is_recovering: bool,
    /// Storage was taken away, and maybe cleared: what this tab knows beside it was not removed, and
    /// is written again once this tab leads.
    is_unwritten: bool,
    /// Records that were to be deleted, until they are.
    undeleted: Vec<(Store, String)>,
    /// The records of batches that this tab knows, by their keys, as they are stored.
    batches: BTreeMap<BatchKey, String>,
    channel: Option<Channel>,
    timer: Option<Timeout>,
    tasks: HashMap<TaskKey, ArcRwSignal<Task>>,
    /// Failed attempts that gave way to a retry, each with that.
    replaced: HashMap<TaskKey, TaskKey>,
    leading: bool,
    leadership: Option<Rc<Leadership>>,
    /// Counts up whenever this tab begins or ceases to lead: what was begun in another generation
    /// must not be gone on with.
    generation: u64,
    /// What the other tabs say while this one reads what the last leader left; heard when it leads.
    /// Heard before, a task submitted in that moment would not be in what was read, and be taken
    /// for one that was removed.
    unheard: Option<Vec<String>>,
    /// What the other tabs are still to be told of.
    untold: VecDeque<TaskKey>,
    cache_queue: CacheQueue,
    stopped: Stopped,
}

/// The records that one decision of the engine changes.
#[derive(Default)]
struct Saved {
    tasks: Vec<Task>,
    /// How many of them are shown.
    shown: usize,
}

impl Saved {
    /// What is not shown yet; it is taken for shown from then on.
    fn unshown(&mut self) -> &[Task] {
        let from = std::mem::replace(&mut self.shown, self.tasks.len());
        &self.tasks[from..]
    }
}

impl Runner {
    /// Signals alone, for views to follow: the first view needs no more. Nothing else may be called
    /// before [`Runner::begin`].
    pub fn new(session: Session, notices: Notices) -> Self {
        Self {
            session,
            notices,
            inner: InnerHandle::new(),
            keys: RwSignal::new(Arc::default()),
            revision: RwSignal::new(0),
            storage_error: RwSignal::new(None),
            leader_storage_error: RwSignal::new(None),
            copies_changed: RwSignal::new(0),
            block_reason: RwSignal::new(None),
            is_open: RwSignal::new(false),
        }
    }

    /// Loads what earlier visits left and goes on with it, for as long as the owner lives in which it
    /// is called: the root.
    pub fn begin(self) {
        let (this, session) = (self, self.session);
        let mut engine = Engine::new(session.account());
        let now = clock::now();
        engine.set_leading(false, now);
        engine.set_online(lifecycle::is_online(), now);
        this.inner.begin(Inner {
            engine,
            storage: None,
            connection: 0,
            is_opening: false,
            had_storage: false,
            is_recovering: false,
            is_unwritten: false,
            undeleted: Vec::new(),
            batches: BTreeMap::new(),
            channel: None,
            timer: None,
            tasks: HashMap::new(),
            replaced: HashMap::new(),
            leading: false,
            leadership: None,
            generation: 0,
            unheard: None,
            untold: VecDeque::new(),
            cache_queue: CacheQueue::default(),
            stopped: Stopped::default(),
        });
        let mut before = None;
        effect(move || {
            let account = session.account();
            let credentials = Some(session.credentials_name());
            let are_others = std::mem::replace(&mut before, credentials.clone()) != credentials;
            let are_refused = session.is_refused();
            this.with_engine(|engine| {
                let now = clock::now();
                engine.set_account(account, now);
                if are_others && are_refused {
                    engine.credentials_refused(now);
                } else if are_others {
                    engine.credentials_changed(now);
                }
                engine.wake(now);
            });
        });
        effect(move || {
            let address = session.settings().address.to_string();
            let said = session.idempotency();
            this.with_engine(|engine| engine.set_idempotency(&address, said, clock::now()));
        });
        this.keep_title();
        lifecycle::on_change(move || {
            this.with_engine(|engine| {
                let now = clock::now();
                engine.set_online(lifecycle::is_online(), now);
                if lifecycle::is_visible() {
                    engine.wake(now);
                }
            });
            if !lifecycle::is_visible() {
                this.tell_next_tasks();
            }
        });
        let channel = Channel::open(CHANNEL, move |text| this.hear(&text));
        this.inner
            .update_value(|inner| inner.channel = Some(channel));
        this.tell(&TabMessage::StateWanted);
        Interval::new(1_000, move || {
            let leading = this.inner.try_with_value(|inner| inner.leading);
            if leading == Some(false) && lifecycle::is_visible() {
                this.tell(&TabMessage::Tick);
            }
        })
        .forget();
        on_cleanup(move || this.resign());
        spawn(this.open());
    }

    /// Leaves leading to other tabs, for good.
    fn resign(&self) {
        let leadership = self.inner.with_value(|inner| inner.leadership.clone());
        if let Some(leadership) = leadership {
            leadership.resign();
        }
    }

    /// Opens storage, shows what is in it, and asks to lead.
    async fn open(self) {
        match self.connect().await {
            Ok(()) => self.inner.update_value(|inner| inner.had_storage = true),
            Err(error) => self.storage_failed(error, self.connection()),
        }
        self.is_open.set(true);
        let leadership = Leadership::start(move |leads| {
            let generation = self.inner.try_update_value(|inner| {
                inner.generation += 1;
                inner.generation
            });
            match generation {
                Some(generation) if leads => spawn(self.lead(generation)),
                _ => self.follow(),
            }
        });
        self.inner
            .update_value(|inner| inner.leadership = Some(leadership));
    }

    /// Another tab leads from now on.
    fn follow(self) {
        self.inner.update_value(|inner| {
            inner.leading = false;
            inner.unheard = None;
            // Whoever leads now knows better.
            inner.untold.clear();
            inner.engine.set_leading(false, clock::now());
        });
        self.tell(&TabMessage::StateWanted);
    }

    /// This tab leads from now on: what the last leader left is read afresh, because it may have
    /// gone between a request and its answer.
    async fn lead(self, generation: u64) {
        self.inner
            .update_value(|inner| inner.unheard = Some(Vec::new()));
        let stored = self.read_all().await;
        // The right to lead may have been lost meanwhile.
        self.check_leadership();
        let unheard = self.inner.try_update_value(|inner| {
            if inner.generation != generation {
                return None;
            }
            inner.leading = true;
            Some(inner.unheard.take().unwrap_or_default())
        });
        let Some(unheard) = unheard.flatten() else {
            return;
        };
        // Nothing can be read, the last leader could not write what it told, or it has gone before
        // it wrote again what was cleared.
        let is_unwritten = self.inner.with_value(|inner| inner.is_unwritten);
        let is_incomplete =
            stored.is_err() || self.leader_storage_error.get_untracked().is_some() || is_unwritten;
        self.with_engine(|engine| {
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
            engine.set_leading(true, now);
        });
        for text in unheard {
            self.hear(&text);
        }
        self.leader_storage_error.set(None);
        self.tell_state();
        if is_unwritten {
            self.start_recovery();
        }
        self.make_copies();
    }

    /// Which generation of leading this tab is in, if it leads.
    fn generation(&self) -> Option<u64> {
        let generation = self
            .inner
            .try_with_value(|inner| inner.leading.then_some(inner.generation));
        generation.flatten()
    }

    /// When a task that is made now says that it was created.
    pub fn created(&self) -> Millis {
        let keys = self.keys.read_untracked();
        let newest = keys.first().and_then(|key| self.task(key));
        history::created(
            clock::now(),
            newest.map(|task| task.with_untracked(|task| task.created)),
        )
    }

    /// Sends a validated input; the task it becomes.
    pub fn submit(&self, input: Input, model_name: &str) -> TaskKey {
        let task = Task::new(
            TaskKey(random::key()),
            self.session.account(),
            model_name.to_owned(),
            input,
            self.created(),
        );
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

    /// Sends inputs, each as a new task; none without credentials.
    pub fn submit_all(&self, inputs: Vec<Input>, model_name: &str) -> Vec<TaskKey> {
        if !self.has_credentials() {
            return Vec::new();
        }
        let inputs = inputs.into_iter();
        inputs.map(|input| self.submit(input, model_name)).collect()
    }

    /// Says so where there are none.
    fn has_credentials(&self) -> bool {
        let has = untrack(|| self.session.credentials()).is_some();
        if !has {
            self.notices.problem(
                "Not sent: User ID and Access token are missing. They are set in Settings.",
            );
        }
        has
    }

    fn again(&self, key: &TaskKey) -> Option<Task> {
        if !self.has_credentials() {
            return None;
        }
        let old = self.task(key)?.get_untracked();
        let mut task = Task::new(
            TaskKey(random::key()),
            self.session.account(),
            old.model_name,
            old.input,
            self.created(),
        );
        task.retry_of = Some(key.clone());
        task.batch = old.batch;
        Some(task)
    }

    /// Sends new tasks, in this order.
    pub fn submit_tasks(&self, tasks: Vec<Task>) {
        let leading = self.inner.with_value(|inner| inner.leading);
        self.with_engine(|engine| engine.submit(tasks.clone(), clock::now()));
        if !leading {
            self.tell(&TabMessage::Submitted(tasks));
        }
    }

    /// Does what a person asked for; a follower lets the leader do it.
    pub fn act(&self, key: &TaskKey, action: Action) {
        self.act_on_all(std::slice::from_ref(key), action);
    }

    /// The same for several, of which those that are to be sent leave together.
    pub fn act_on_all(&self, keys: &[TaskKey], action: Action) {
        if self.inner.with_value(|inner| inner.leading) {
            self.with_engine(|engine| {
                for key in keys {
                    engine.act(key, action, clock::now());
                }
            });
        } else {
            for key in keys {
                self.tell(&TabMessage::Act(key.clone(), action));
            }
        }
    }

    /// The same for a whole batch.
    pub fn act_on_batch(&self, batch: &BatchKey, action: BatchAction) {
        if action == BatchAction::Stop {
            self.is_stopped_at(batch, true);
        }
        // Also where this tab leads: the others are to know where it was stopped last.
        self.tell(&TabMessage::ActOnBatch(batch.clone(), action));
        if self.inner.with_value(|inner| inner.leading) {
            self.with_engine(|engine| engine.act_on_batch(batch, action, clock::now()));
        }
    }

    /// Where records are kept, once it is open; `None` for good where the browser refuses.
    pub fn storage(&self) -> Option<Rc<Storage>> {
        self.inner.with_value(|inner| inner.storage.clone())
    }

    /// What earlier visits left has been read, or can't be; tracked.
    pub fn is_open(&self) -> bool {
        self.is_open.get()
    }

    /// Polls at once, as far as the limits allow; whichever tab makes the calls.
    pub fn wake(&self) {
        self.with_engine(|engine| engine.wake(clock::now()));
        self.tell(&TabMessage::Wake);
    }

    /// The service was seen to take the present credentials.
    pub fn credentials_accepted(&self) {
        self.session.set_refused(false);
        self.with_engine(|engine| engine.credentials_changed(clock::now()));
        self.tell(&TabMessage::CredentialsAccepted);
    }

    /// Why no calls are made at present; tracked.
    pub fn block_reason(&self) -> Option<BlockReason> {
        self.block_reason.get()
    }

    /// Why a task has not been sent; tracked.
    pub fn wait_reason(&self, task: &Task, now: Millis) -> Option<String> {
        let block_reason = self.block_reason.read();
        let sending = Sending {
            account: &self.session.account(),
            has_credentials: self.session.credentials().is_some(),
            block_reason: block_reason.as_ref(),
        };
        wait_reason(task, sending, now)
    }

    fn with_engine(&self, act: impl FnOnce(&mut Engine)) {
        if self
            .inner
            .try_update_value(|inner| act(&mut inner.engine))
            .is_some()
        {
            self.pump();
        }
    }

    /// Carries out what the engine decides now, and comes back when it wants to decide again.
    fn pump(&self) {
        self.check_leadership();
        let now = clock::now();
        let decided = self.inner.try_update_value(|inner| {
            let commands = inner.engine.step(now, &mut random::unit);
            (
                commands,
                inner.engine.next_wake(),
                inner.engine.block_reason(now),
                inner.engine.is_refused(),
            )
        });
        let Some((commands, next_wake, block_reason, is_refused)) = decided else {
            return;
        };
        self.carry_out(commands);
        // A follower hears it from the leader.
        if self.generation().is_some() && *self.block_reason.read_untracked() != block_reason {
            self.block_reason.set(block_reason);
            self.session.set_refused(is_refused);
            self.tell_state();
        }
        let this = *self;
        self.inner.update_value(|inner| {
            inner.timer = next_wake.map(|at| {
                // A timer of the browser is a signed 32-bit number; a later wake-up is looked at again.
                let wait = at.saturating_sub(now).min(600_000) as u32;
                Timeout::new(wait, move || this.pump())
            });
        });
    }

    /// Finds out whether this tab still leads.
    fn check_leadership(&self) {
        let leadership = self.inner.try_with_value(|inner| inner.leadership.clone());
        if let Some(leadership) = leadership.flatten() {
            leadership.check();
        }
    }

    fn carry_out(&self, commands: Vec<Command>) {
        let mut saved = Saved::default();
        for command in commands {
            if !matches!(command, Command::Save(_)) {
                self.show(saved.unshown());
            }
            match command {
                Command::Save(task) => saved.tasks.push(task),
                Command::Delete(key) => {
                    self.hide(&key);
                    self.forget(&key);
                    self.tell(&TabMessage::Removed(key));
                }
                Command::Wait {
                    address,
                    until,
                    since,
                } => waits::keep(address, until, since),
                Command::Call(call) => {
                    let generation = self.inner.with_value(|inner| inner.generation);
                    spawn(self.perform(call, generation));
                }
                Command::Finished(key) => {
                    self.announce(&key);
                    self.keep(format!("{key}/"));
                }
            }
        }
        self.show(saved.unshown());
        self.tell_tasks(saved.tasks.iter().map(|task| task.key.clone()));
        if !saved.tasks.is_empty() {
            // All in one go, so that a batch is there as a whole; a call that sends some of it writes
            // those once more before it leaves.
            let written = self.write(&saved.tasks);
            spawn(async move {
                // What is refused is written again once storage works.
                let _ = written.await;
            });
        }
    }

    /// Makes a call that was decided in this generation of leading.
    async fn perform(self, call: Call, generation: u64) {
        if !call.write_first.is_empty() {
            // Where it is refused, the engine knows now, and may want to ask before sending.
            let _ = self.write(&call.write_first).await;
            let now = clock::now();
            let leaves = self
                .inner
                .try_update_value(|inner| inner.engine.may_leave(call.id, now));
            if leaves != Some(true) {
                self.with_engine(|_| {});
                return;
            }
        }
        // While the records were written another tab may have taken over, and may have sent what is
        // in them; or they could not be written, and the person has to be asked.
        self.check_leadership();
        let may_send = self.generation() == Some(generation)
            && (call.kind != CallKind::Generate
                || self
                    .inner
                    .with_value(|inner| !inner.engine.asks_before_sending()));
        // Settings may have changed while the records were written: what was meant for one service
        // must not go to another, nor with another's token.
        let is_meant = untrack(|| self.session.account()) == call.account;
        let address = self.session.settings_untracked().address;
        let credentials = untrack(|| self.session.credentials()).filter(|_| is_meant);
        let may_send = may_send && lifecycle::is_online();
        let (Some(credentials), true) = (credentials, may_send) else {
            self.with_engine(|engine| engine.not_sent(call.id, clock::now()));
            return;
        };
        let key = call.idempotency_key.as_deref();
        let answer = http::post_json(&address.url(call.path), &call.body, &credentials, key).await;
        self.with_engine(|engine| {
            engine.responded(call.id, answer, clock::now(), &mut random::unit);
        });
    }
}

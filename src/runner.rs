//! Carries out the engine's commands through the browser; the only place where tasks are driven.
//!
//! One tab leads and makes the calls; the others show what it tells them and pass on what people
//! do. Lives at the app's root, so that no view that goes takes a task with it.

use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use atelier_contract::Input;
use atelier_engine::{
    Action, BatchAction, BatchKey, Call, Command, Engine, Hindrance, Millis, Task, TaskKey,
};
use gloo_timers::callback::{Interval, Timeout};
use leptos::prelude::*;

use crate::browser::storage::Storage;
use crate::browser::tabs::{Channel, Lease};
use crate::browser::{clock, http, lifecycle, random, tabs};
use crate::erased::{effect, spawn};
use crate::later::{Later, State};
use crate::notices::Notices;
use crate::session::Session;

pub mod kept;
mod news;
mod note;
mod records;
mod shown;
mod stopped;
mod talk;
mod waits;
mod wanted;

use note::Note;
use stopped::Stopped;
use wanted::Keeper;

#[derive(Clone, Copy)]
pub struct Runner {
    session: Session,
    notices: Notices,
    later: Later,
    inner: StoredValue<Inner, LocalStorage>,
    /// Every task's key, newest first.
    keys: RwSignal<Arc<Vec<TaskKey>>>,
    /// Moves on whenever a task comes, goes or enters another phase.
    revision: RwSignal<u64>,
    /// Why tasks are kept in memory only, where they are.
    unkept: RwSignal<Option<String>>,
    /// Moves on whenever a copy of an output comes or goes.
    copies_changed: RwSignal<u64>,
    hindrance: RwSignal<Option<Hindrance>>,
    is_open: RwSignal<bool>,
}

struct Inner {
    engine: Engine,
    /// `None` until it is open, and for good where the browser refuses it.
    storage: Option<Rc<Storage>>,
    channel: Option<Channel>,
    timer: Option<Timeout>,
    tasks: HashMap<TaskKey, ArcRwSignal<Task>>,
    leading: bool,
    /// What lets this tab lead, where that can be lost.
    lease: Option<Rc<Lease>>,
    /// What the other tabs say while this one reads what the last leader left; heard when it leads.
    /// Heard before, a task submitted in that moment would not be in what was read, and be taken
    /// for one that was removed.
    unheard: Option<Vec<String>>,
    keeper: Keeper,
    stopped: Stopped,
}

impl Runner {
    /// Loads what earlier visits left and goes on with it.
    pub fn start(session: Session, notices: Notices, later: Later) -> Self {
        let mut engine = Engine::new(session.account());
        let now = clock::now();
        engine.set_leading(false, now);
        engine.set_online(lifecycle::is_online(), now);
        let this = Self {
            session,
            notices,
            later,
            inner: StoredValue::new_local(Inner {
                engine,
                storage: None,
                channel: None,
                timer: None,
                tasks: HashMap::new(),
                leading: false,
                lease: None,
                unheard: None,
                keeper: Keeper::default(),
                stopped: Stopped::default(),
            }),
            keys: RwSignal::new(Arc::default()),
            revision: RwSignal::new(0),
            unkept: RwSignal::new(None),
            copies_changed: RwSignal::new(0),
            hindrance: RwSignal::new(None),
            is_open: RwSignal::new(false),
        };
        effect(move || {
            let account = session.account();
            this.with_engine(|engine| {
                engine.set_account(account, clock::now());
                engine.credentials_changed(clock::now());
                engine.wake(clock::now());
            });
        });
        effect(move || {
            let address = session.settings().address.to_string();
            let said = session.idempotency();
            this.with_engine(|engine| engine.set_idempotency(&address, said, clock::now()));
        });
        effect(move || {
            if later.state() == State::Here {
                this.make_copies();
            }
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
        });
        let channel = Channel::open(move |text| this.hear(&text));
        this.inner
            .update_value(|inner| inner.channel = Some(channel));
        this.tell(&Note::TokenWanted);
        Interval::new(1_000, move || {
            let leading = this.inner.try_with_value(|inner| inner.leading);
            if leading == Some(false) && lifecycle::is_visible() {
                this.tell(&Note::Tick);
            }
        })
        .forget();
        spawn(this.open());
        this
    }

    /// Opens storage, shows what is in it, and asks to lead.
    async fn open(self) {
        match Storage::open().await {
            Ok(storage) => {
                let storage = Rc::new(storage);
                self.inner
                    .update_value(|inner| inner.storage = Some(storage));
                self.copies_changed.update(|changes| *changes += 1);
                for task in self.read_all().await {
                    self.learn(task);
                }
            }
            Err(error) => self.is_unkept(&error),
        }
        self.is_open.set(true);
        let lease = tabs::lead(move |leads| {
            if leads {
                spawn(self.lead());
            } else {
                self.follow();
            }
        });
        self.inner.update_value(|inner| inner.lease = lease);
    }

    /// Another tab leads from now on.
    fn follow(self) {
        self.inner.update_value(|inner| {
            inner.leading = false;
            inner.engine.set_leading(false, clock::now());
        });
    }

    /// This tab leads from now on: what the last leader left is read afresh, because it may have
    /// gone between a request and its answer.
    async fn lead(self) {
        self.inner
            .update_value(|inner| inner.unheard = Some(Vec::new()));
        let tasks = self.read_all().await;
        let unheard = self.inner.try_update_value(|inner| {
            inner.leading = true;
            inner.unheard.take()
        });
        self.with_engine(|engine| {
            let now = clock::now();
            engine.load(tasks, now);
            for (address, until) in waits::kept() {
                engine.wait(&address, until, now);
            }
            engine.set_leading(true, now);
        });
        for text in unheard.flatten().into_iter().flatten() {
            self.hear(&text);
        }
        self.make_copies();
    }

    /// Sends a validated input; the task it becomes.
    pub fn submit(&self, input: Input, model_name: &str) -> TaskKey {
        let task = Task::new(
            TaskKey(random::key()),
            self.session.account(),
            model_name.to_owned(),
            input,
            clock::now(),
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

    /// The same for several, which leave together.
    pub fn retry_all(&self, keys: &[TaskKey]) {
        self.submit_tasks(keys.iter().filter_map(|key| self.again(key)).collect());
    }

    fn again(&self, key: &TaskKey) -> Option<Task> {
        let old = self.task(key)?.get_untracked();
        let mut task = Task::new(
            TaskKey(random::key()),
            self.session.account(),
            old.model_name,
            old.input,
            clock::now(),
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
            self.tell(&Note::Submitted(tasks));
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
                self.tell(&Note::Act(key.clone(), action));
            }
        }
    }

    /// The same for a whole batch.
    pub fn act_on_batch(&self, batch: &BatchKey, action: BatchAction) {
        if action == BatchAction::Stop {
            self.is_stopped_at(batch, true);
        }
        // Also where this tab leads: the others are to know where it was stopped last.
        self.tell(&Note::ActOnBatch(batch.clone(), action));
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

    /// Polls at once, as far as the limits allow.
    pub fn wake(&self) {
        self.with_engine(|engine| engine.wake(clock::now()));
        self.tell(&Note::Tick);
    }

    /// Why no calls are made at present, in words; tracked.
    pub fn hindrance(&self, now: Millis) -> Option<String> {
        self.hindrance
            .get()
            .map(|hindrance| hindrance.sentence(now))
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
        let lease = self.inner.try_with_value(|inner| inner.lease.clone());
        if let Some(lease) = lease.flatten() {
            lease.check();
        }
        let now = clock::now();
        let decided = self.inner.try_update_value(|inner| {
            let commands = inner.engine.step(now, &mut random::unit);
            (
                commands,
                inner.engine.next_wake(),
                inner.engine.hindrance(now),
            )
        });
        let Some((commands, next_wake, hindrance)) = decided else {
            return;
        };
        self.carry_out(commands);
        if *self.hindrance.read_untracked() != hindrance {
            self.hindrance.set(hindrance);
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

    fn carry_out(&self, commands: Vec<Command>) {
        let mut saved = Vec::new();
        for command in commands {
            match command {
                Command::Save(task) => {
                    self.show(&task);
                    saved.push(task);
                }
                Command::Delete(key) => {
                    self.hide(&key);
                    self.forget(&key);
                    self.tell(&Note::Removed(key));
                }
                Command::Wait { address, until } => waits::keep(&address, until),
                Command::Call(call) => spawn(self.perform(call)),
                Command::Finished(key) => {
                    self.announce(&key);
                    self.keep(format!("{key}/"));
                }
            }
        }
        if !saved.is_empty() {
            for task in &saved {
                self.tell(&Note::Task(Box::new(task.clone())));
            }
            let this = *self;
            let written = self.write(&saved);
            spawn(async move {
                if let Err(error) = written.await {
                    this.is_unkept(&error);
                }
            });
        }
    }

    async fn perform(self, call: Call) {
        if !call.write_first.is_empty() {
            // Written before sent. Where nothing can be written, the page has said so and goes on.
            if let Err(error) = self.write(&call.write_first).await {
                self.is_unkept(&error);
            }
            let now = clock::now();
            let leaves = self
                .inner
                .try_update_value(|inner| inner.engine.may_leave(call.id, now));
            if leaves != Some(true) {
                self.with_engine(|_| {});
                return;
            }
        }
        // Settings may have changed while the records were written: what was meant for one service
        // must not go to another, nor with another's token.
        let is_meant = untrack(|| self.session.account()) == call.account;
        let address = self.session.settings_untracked().address;
        let credentials = untrack(|| self.session.credentials()).filter(|_| is_meant);
        let (Some(credentials), true) = (credentials, lifecycle::is_online()) else {
            self.with_engine(|engine| engine.not_sent(call.id, clock::now()));
            return;
        };
        let key = call.idempotency_key.as_deref();
        let answer = http::post_json(&address.url(call.path), &call.body, &credentials, key).await;
        self.with_engine(|engine| {
            engine.answered(call.id, answer, clock::now(), &mut random::unit);
        });
    }
}

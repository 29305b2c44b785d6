//! The batches of this browser: their records, which hold what their tasks do not.

use atelier_contract::{ModelId, json};
use atelier_engine::batch::Batch;
use atelier_engine::compose::sweep::GridLabels;
use atelier_engine::compose::table::Item;
use atelier_engine::{Action, BatchKey, BatchPlace, Task, TaskKey};
use leptos::prelude::*;

use crate::boxed::{effect, memo, spawn};
use crate::browser::clock;
use crate::browser::storage::Store;
use crate::browser::tabs::Channel;
use crate::contexts::Contexts;

/// Tabs tell each other the records that they write.
const CHANNEL: &str = "atelier-batches";

thread_local! {
    static KNOWN: Known = Known::default();
}

/// What is known so far, for as long as the page lives: also where nothing can be stored.
#[derive(Clone, Default)]
struct Known {
    /// Newest first.
    batches: ArcRwSignal<Vec<Batch>>,
    /// What is stored has been read, or can't be.
    is_read: ArcRwSignal<bool>,
    channel: StoredChannel,
}

type StoredChannel = std::rc::Rc<std::cell::OnceCell<Channel>>;

#[derive(Clone, Copy)]
pub struct Batches(Contexts);

impl Batches {
    pub fn new(contexts: Contexts) -> Self {
        Self(contexts)
    }

    /// Keeps up with what is stored and with what other tabs send, for as long as the owner lives in which it
    /// is called.
    pub fn follow(self) {
        let runner = self.0.runner;
        known().channel.get_or_init(|| {
            Channel::open(CHANNEL, move |text| {
                if let Some(batch) = json::read(&text).and_then(Batch::from_value) {
                    runner.know_batch(&batch.key, text);
                    insert(batch);
                }
            })
        });
        effect(move || {
            if runner.is_open() {
                self.read();
            }
        });
        // A tab of another version has sent one.
        let strangers = memo(move || {
            runner.track_phases();
            let known = known().batches;
            let known = known.read();
            let is_strange = |task: &&&Task| {
                let place = task.batch.as_ref();
                place.is_some_and(|place| known.iter().all(|batch| batch.key != place.batch))
            };
            runner.with_tasks(|tasks| tasks.iter().filter(is_strange).count())
        });
        effect(move || {
            if strangers.get() > 0 {
                self.read();
            }
        });
    }

    fn read(self) {
        let runner = self.0.runner;
        let is_read = known().is_read;
        let Some(storage) = runner.storage() else {
            return is_read.set(true);
        };
        spawn(async move {
            let texts = storage.all_texts(Store::Batches).await;
            for text in texts.unwrap_or_default() {
                let Some(batch) = json::read(&text).and_then(Batch::from_value) else {
                    continue;
                };
                let now = clock::now();
                let is_forgotten = || {
                    runner.with_tasks(|tasks| batch.is_to_be_forgotten(tasks.iter().copied(), now))
                };
                // Its tasks may not have been read yet.
                if runner.has_read_tasks() && is_forgotten() {
                    runner.delete_batch(&batch.key);
                } else if self.find_untracked(&batch.key).is_none() {
                    runner.know_batch(&batch.key, text);
                    insert(batch);
                }
            }
            is_read.set(true);
        });
    }

    /// Tracked.
    pub fn is_read(self) -> bool {
        known().is_read.get()
    }

    /// Those that are there, newest first; tracked.
    pub fn all(self) -> Vec<Batch> {
        let runner = self.0.runner;
        runner.track_phases();
        let known = known().batches;
        let known = known.read();
        runner.with_tasks(|tasks| {
            let is_there = |batch: &&Batch| !batch.is_removed(tasks.iter().copied());
            known.iter().filter(is_there).cloned().collect()
        })
    }

    /// The batches of a model, newest first; tracked.
    pub fn of(self, model: &ModelId) -> Vec<Batch> {
        let mut all = self.all();
        all.retain(|batch| batch.model == *model);
        all
    }

    /// One of those that are there; tracked.
    pub fn find(self, key: &BatchKey) -> Option<Batch> {
        let known = known().batches;
        let known = known.read();
        let batch = known.iter().find(|batch| batch.key == *key)?;
        let runner = self.0.runner;
        runner.track_phases();
        let is_removed = runner.with_tasks(|tasks| batch.is_removed(tasks.iter().copied()));
        (!is_removed).then(|| batch.clone())
    }

    fn find_untracked(self, key: &BatchKey) -> Option<Batch> {
        let known = known().batches;
        let known = known.read_untracked();
        known.iter().find(|batch| batch.key == *key).cloned()
    }

    /// Sends rows of a table as one batch; whether there were any.
    pub fn submit(
        self,
        key: BatchKey,
        model_name: &str,
        items: Vec<Item>,
        grid: Option<GridLabels>,
    ) -> bool {
        let Some(first) = items.first() else {
            return false;
        };
        let inputs: Vec<_> = items.iter().map(|item| &item.input).collect();
        let now = self.0.runner.created();
        let batch = Batch {
            key,
            model: first.input.model().clone(),
            model_name: model_name.to_owned(),
            name: Batch::first_name(&inputs, model_name),
            created: now,
            size: items.len(),
            grid,
            removed: None,
            extra: serde_json::Map::new(),
        };
        let account = self.0.session.account();
        let task = |(index, item): (usize, Item)| {
            let model_name = model_name.to_owned();
            let mut task = Task::new(item.key, account.clone(), model_name, item.input, now);
            task.seed_chosen = item.seed_chosen;
            task.batch = Some(BatchPlace {
                batch: batch.key.clone(),
                index,
            });
            task
        };
        let tasks = items.into_iter().enumerate().map(task).collect();
        // The write begins before that of the tasks: no task is kept without its batch.
        self.keep(batch);
        self.0.runner.submit_tasks(tasks);
        true
    }

    /// Gives a batch another name, in all tabs.
    pub fn rename(self, key: &BatchKey, name: &str) {
        if let Some(mut batch) = self.find_untracked(key)
            && batch.rename(name)
        {
            self.keep(batch);
        }
    }

    /// Takes a batch and its tasks out of sight; Undo brings them back for a while.
    pub fn remove(self, key: &BatchKey) {
        let runner = self.0.runner;
        if let Some(mut batch) = self.find_untracked(key) {
            batch.removed = Some(clock::now());
            self.keep(batch);
        }
        // What gave way to a retry goes with that.
        let is_mine = |task: &Task| task.batch.as_ref().is_some_and(|place| place.batch == *key);
        let is_mine = |key: &&TaskKey| {
            let task = runner.task(key);
            task.is_some_and(|task| task.with_untracked(is_mine))
        };
        let keys = untrack(|| runner.keys());
        let keys: Vec<TaskKey> = keys.iter().filter(is_mine).cloned().collect();
        runner.act_on_all(&keys, Action::Remove);
    }

    /// Keeps a batch of another browser's history, unless it is known.
    pub fn take_in(self, batch: Batch) {
        if self.find_untracked(&batch.key).is_none() {
            self.keep(batch);
        }
    }

    /// Writes a record, and tells the other tabs.
    fn keep(self, batch: Batch) {
        let text = batch.to_value().to_string();
        if let Some(channel) = known().channel.get() {
            channel.post(&text);
        }
        self.0.runner.keep_batch(&batch.key, text);
        insert(batch);
    }
}

fn known() -> Known {
    KNOWN.with(Clone::clone)
}

/// What comes last counts.
fn insert(batch: Batch) {
    known().batches.update(|known| {
        known.retain(|other| other.key != batch.key);
        let at = known.partition_point(|other| other.created > batch.created);
        known.insert(at, batch);
    });
}

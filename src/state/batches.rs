//! The batches of this browser: their records, which hold what their tasks do not.

use std::cell::RefCell;
use std::collections::HashSet;
use std::rc::Rc;

use atelier_contract::{Input, ModelId, json};
use atelier_engine::{Action, BatchKey, BatchPlace, Millis, Task, TaskKey};
use atelier_studio::batch::Batch;
use atelier_studio::compose::sweep::GridLabels;
use atelier_studio::compose::table::Item;
use atelier_studio::navigation::search::{Query, Searchable};
use leptos::prelude::*;

use crate::browser::storage::Store;
use crate::browser::{clock, random};
use crate::reactive::boxed::{effect, memo, spawn};
use crate::state::contexts::Contexts;

/// How long after it was sent it is known which of it another tab had sent, in milliseconds.
const HEARD_AFTER: Millis = 60_000;

thread_local! {
    static KNOWN: Known = Known::default();
}

/// The batches that are known so far, for as long as the page lives, also where nothing can be stored.
#[derive(Clone, Default)]
struct Known {
    /// Newest first.
    batches: ArcRwSignal<Vec<Batch>>,
    /// The stored batches have been read, or can't be.
    is_read: ArcRwSignal<bool>,
    /// The batches that were sent from this tab within [`HEARD_AFTER`].
    sent: Rc<RefCell<Vec<Sent>>>,
}

/// The rows of a table that were sent as a batch.
struct Sent {
    batch: BatchKey,
    /// Each with its place in the batch.
    items: Vec<(usize, TaskKey)>,
    at: Millis,
}

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
        runner.on_batch_record(hear);
        effect(move || {
            if runner.is_open() {
                self.read();
            }
        });
        effect(move || {
            runner.track_phases();
            self.leave_out_what_others_sent();
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
        // What another tab has sent while no page here was about batches may be in no storage yet.
        for text in runner.known_batches() {
            if let Some(batch) = json::read(&text).and_then(Batch::from_value)
                && self.find_untracked(&batch.key).is_none()
            {
                insert(batch);
            }
        }
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
                let is_forgotten =
                    || runner.with_tasks(|tasks| batch.is_expired(tasks.iter().copied(), now));
                // The tasks of this batch may not have been read yet.
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

    /// Gives the batches that are not removed, newest first; tracked.
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

    /// The batches of a model that were composed, newest first: variations stand with what they are of; tracked.
    pub fn of(self, model: &ModelId) -> Vec<Batch> {
        let mut all = self.all();
        all.retain(|batch| batch.model == *model && batch.varied.is_none());
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

    /// Gives the batches whose names match what is asked for; tracked.
    pub fn named(self, query: &Query) -> HashSet<BatchKey> {
        if query.is_empty() {
            return HashSet::new();
        }
        let known = known().batches;
        let known = known.read();
        let matching = known
            .iter()
            .filter(|batch| query.score(&Searchable::new([&*batch.name])).is_some());
        matching.map(|batch| batch.key.clone()).collect()
    }

    /// Gives the name of a batch, removed or not; tracked.
    pub fn name(self, key: &BatchKey) -> Option<String> {
        let known = known().batches;
        let known = known.read();
        let batch = known.iter().find(|batch| batch.key == *key)?;
        Some(batch.name.clone())
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
        let places: Vec<usize> = items.iter().map(|item| item.index).collect();
        let (size, left_out) = Batch::gaps(&places);
        let batch = Batch {
            key,
            model: first.input.model().clone(),
            model_name: model_name.to_owned(),
            name: Batch::first_name(&inputs, model_name),
            created: self.0.runner.created(),
            size,
            grid,
            removed: None,
            left_out,
            varied: None,
            extra: serde_json::Map::new(),
        };
        known().sent.borrow_mut().push(Sent {
            batch: batch.key.clone(),
            items: (items.iter().map(|item| (item.index, item.key.clone()))).collect(),
            at: clock::now(),
        });
        self.send(batch, items);
        true
    }

    /// Sends variations of a task, whose seeds were drawn, as one batch.
    pub fn submit_variations(self, varied: &Task, inputs: Vec<Input>) -> BatchKey {
        let item = |(index, input)| Item {
            key: TaskKey(random::key()),
            index,
            input,
            seed_chosen: false,
        };
        let key = BatchKey(random::key());
        let model_name = varied.model_name.clone();
        let batch = Batch {
            key: key.clone(),
            model: varied.model.clone(),
            name: Batch::name_of_variations(&varied.input, &model_name, inputs.len()),
            model_name,
            created: self.0.runner.created(),
            size: inputs.len(),
            grid: None,
            removed: None,
            left_out: Vec::new(),
            varied: Some(varied.key.clone()),
            extra: serde_json::Map::new(),
        };
        self.send(batch, inputs.into_iter().enumerate().map(item).collect());
        key
    }

    fn send(self, batch: Batch, items: Vec<Item>) {
        let account = self.0.session.account();
        let task = |item: Item| {
            let model_name = batch.model_name.clone();
            let (key, account) = (item.key, account.clone());
            let mut task = Task::new(key, account, model_name, item.input, batch.created);
            task.seed_chosen = item.seed_chosen;
            task.varied.clone_from(&batch.varied);
            task.batch = Some(BatchPlace {
                batch: batch.key.clone(),
                index: item.index,
            });
            task
        };
        let tasks = items.into_iter().map(task).collect();
        // The write begins before that of the tasks: no task is kept without its batch.
        self.keep(batch);
        self.0.runner.submit_tasks(tasks);
    }

    /// Leaves out the rows that belong to another tab's batch. This is known once the tab that makes the calls has
    /// heard of both batches.
    fn leave_out_what_others_sent(self) {
        let runner = self.0.runner;
        let now = clock::now();
        let sent = known().sent;
        sent.borrow_mut()
            .retain(|sent| now.saturating_sub(sent.at) < HEARD_AFTER);
        let of_others = |sent: &Sent| {
            let is_other = |key: &TaskKey| {
                let place = runner.place_of(key);
                place.is_some_and(|place| place.batch != sent.batch)
            };
            let others = sent.items.iter().filter(|(_, key)| is_other(key));
            let items = others.map(|(index, _)| *index);
            (sent.batch.clone(), items.collect::<Vec<_>>())
        };
        let found: Vec<_> = sent.borrow().iter().map(of_others).collect();
        for (batch, items) in found {
            self.leave_out(&batch, items);
        }
    }

    /// Leaves out all items but these, because the page of the batch was left before the others were sent.
    pub fn keep_only(self, key: &BatchKey, items: &HashSet<usize>) {
        let size = self.find_untracked(key).map_or(0, |batch| batch.size);
        self.leave_out(key, (0..size).filter(|item| !items.contains(item)));
    }

    /// Leaves out the items of these tasks, which are rows of the table again, and whose records go.
    pub fn leave_out_taken_back(self, key: &BatchKey, tasks: &[Task]) {
        let runner = self.0.runner;
        let gone: HashSet<&TaskKey> = tasks.iter().map(|task| &task.key).collect();
        let mut left = untrack(|| runner.keys_of_batch(key));
        left.retain(|key| !gone.contains(key));
        let Some(batch) = self.find_untracked(key) else {
            return;
        };
        let items = runner.with_tasks_of(&left, |left| batch.emptied(tasks, left.iter().copied()));
        self.leave_out_of(key, items, left);
    }

    fn leave_out(self, key: &BatchKey, items: impl IntoIterator<Item = usize>) {
        let left = untrack(|| self.0.runner.keys_of_batch(key));
        self.leave_out_of(key, items, left);
    }

    /// `left`: the tasks that it goes on having.
    fn leave_out_of(
        self,
        key: &BatchKey,
        items: impl IntoIterator<Item = usize>,
        left: Vec<TaskKey>,
    ) {
        if let Some(mut batch) = self.find_untracked(key)
            && batch.leave_out(items)
        {
            let runner = self.0.runner;
            runner.with_tasks_of(&left, |tasks| {
                let inputs: Vec<&Input> = tasks.iter().map(|task| &task.input).collect();
                batch.update_name(&inputs);
            });
            match batch.count() == 0 && left.is_empty() {
                true => self.remove(key),
                false => self.keep(batch),
            }
        }
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
        // A task that gave way to a retry goes together with the retry.
        let is_mine = |task: &&TaskKey| {
            let task = runner.task(task);
            task.is_some_and(|task| task.read_untracked().is_of(key))
        };
        let keys = untrack(|| runner.keys());
        let keys: Vec<TaskKey> = keys.iter().filter(is_mine).cloned().collect();
        runner.act_on_all(&keys, Action::Remove);
    }

    /// Keeps a batch of another browser's history; as it is here, where it is known, and removed no more. Its record may
    /// be gone.
    pub fn take_in(self, batch: Batch) {
        let known = self.find_untracked(&batch.key);
        self.keep(Batch {
            removed: None,
            ..known.unwrap_or(batch)
        });
    }

    /// Writes a record, and tells the other tabs.
    fn keep(self, batch: Batch) {
        let text = batch.to_value().to_string();
        self.0.runner.keep_batch(&batch.key, text);
        insert(batch);
    }
}

fn known() -> Known {
    KNOWN.with(Clone::clone)
}

/// Takes over the record that another tab has written.
fn hear(text: &str) {
    if let Some(batch) = json::read(text).and_then(Batch::from_value) {
        insert(batch);
    }
}

/// Adds a batch to those that are known. A batch with the same key gives way to it.
fn insert(batch: Batch) {
    known().batches.update(|known| {
        known.retain(|other| other.key != batch.key);
        let at = known.partition_point(|other| other.created > batch.created);
        known.insert(at, batch);
    });
}

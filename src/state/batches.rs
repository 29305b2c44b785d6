//! The batches of this browser. Their records contain the data that is not in the records of their tasks.

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

/// For how long after a batch was sent its items are compared with the batches of other tabs, in milliseconds.
const COMPARED_MS: Millis = 60_000;

thread_local! {
    static KNOWN: Known = Known::default();
}

/// The known batches, as long as the page is open, even if nothing can be stored.
#[derive(Clone, Default)]
struct Known {
    /// Newest first.
    batches: ArcRwSignal<Vec<Batch>>,
    /// The stored batches have been read, or can't be.
    is_read: ArcRwSignal<bool>,
    /// The batches that were sent from this tab within [`COMPARED_MS`].
    sent: Rc<RefCell<Vec<Sent>>>,
}

/// The rows of a table that were sent as a batch.
struct Sent {
    batch: BatchKey,
    /// The rows' positions in the batch, and the keys of their tasks.
    items: Vec<(usize, TaskKey)>,
    at: Millis,
}

#[derive(Clone, Copy)]
pub struct Batches(Contexts);

impl Batches {
    pub fn new(contexts: Contexts) -> Self {
        Self(contexts)
    }

    /// Follows storage and the batches that other tabs send, as long as the current owner lives.
    pub fn follow(self) {
        let runner = self.0.runner;
        runner.on_batch_record(receive);
        effect(move || {
            if runner.is_open() {
                self.read();
            }
        });
        effect(move || {
            runner.track_phases();
            self.leave_out_items_of_other_tabs();
        });
        // A tab of another version may have sent the tasks of a batch without the batch itself.
        let unknown_count = memo(move || {
            runner.track_phases();
            let known = known().batches;
            let known = known.read();
            let is_of_unknown_batch = |task: &&&Task| {
                let place = task.batch.as_ref();
                place.is_some_and(|place| known.iter().all(|batch| batch.key != place.batch))
            };
            runner.with_tasks(|tasks| tasks.iter().filter(is_of_unknown_batch).count())
        });
        effect(move || {
            if unknown_count.get() > 0 {
                self.read();
            }
        });
    }

    /// Reads all batches, and deletes the records of expired ones.
    fn read(self) {
        let runner = self.0.runner;
        // Batches that other tabs sent before this module was loaded may not be stored yet.
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
                let is_expired =
                    || runner.with_tasks(|tasks| batch.is_expired(tasks.iter().copied(), now));
                // A batch must not be deleted before its tasks have been read.
                if runner.has_read_tasks() && is_expired() {
                    runner.delete_batch(&batch.key);
                } else if self.find_untracked(&batch.key).is_none() {
                    runner.remember_batch(&batch.key, text);
                    insert(batch);
                }
            }
            is_read.set(true);
        });
    }

    /// Returns whether the stored batches have been read, or can't be; tracked.
    pub fn is_read(self) -> bool {
        known().is_read.get()
    }

    /// Returns the batches that are not removed, newest first; tracked.
    pub fn all(self) -> Vec<Batch> {
        let runner = self.0.runner;
        runner.track_phases();
        let known = known().batches;
        let known = known.read();
        runner.with_tasks(|tasks| {
            let is_present = |batch: &&Batch| !batch.is_removed(tasks.iter().copied());
            known.iter().filter(is_present).cloned().collect()
        })
    }

    /// Returns the composed batches of a model, newest first; tracked. Variations of a task are not included.
    pub fn of(self, model: &ModelId) -> Vec<Batch> {
        let mut all = self.all();
        all.retain(|batch| batch.model == *model && batch.varied.is_none());
        all
    }

    /// Returns a batch, unless it is removed; tracked.
    pub fn find(self, key: &BatchKey) -> Option<Batch> {
        let known = known().batches;
        let known = known.read();
        let batch = known.iter().find(|batch| batch.key == *key)?;
        let runner = self.0.runner;
        runner.track_phases();
        let is_removed = runner.with_tasks(|tasks| batch.is_removed(tasks.iter().copied()));
        (!is_removed).then(|| batch.clone())
    }

    /// Returns the batches whose names match a query; tracked.
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

    /// Returns the name of a batch, even if it is removed; tracked.
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

    /// Sends rows of a table as one batch. Returns whether there were any.
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

    /// Sends variations of a task with random seeds as one batch.
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

    /// Stores a batch, and submits its tasks.
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
        // The batch is written before its tasks, so that no task is stored without its batch.
        self.store(batch);
        self.0.runner.submit_tasks(tasks);
    }

    /// Leaves out the items that another tab has also sent, in its own batch. This is known once the leader has received both
    /// batches.
    fn leave_out_items_of_other_tabs(self) {
        let runner = self.0.runner;
        let now = clock::now();
        let sent = known().sent;
        sent.borrow_mut()
            .retain(|sent| now.saturating_sub(sent.at) < COMPARED_MS);
        let items_of_other_batches = |sent: &Sent| {
            let is_other = |key: &TaskKey| {
                let place = runner.place_of(key);
                place.is_some_and(|place| place.batch != sent.batch)
            };
            let moved = sent.items.iter().filter(|(_, key)| is_other(key));
            let items = moved.map(|(index, _)| *index);
            (sent.batch.clone(), items.collect::<Vec<_>>())
        };
        let found: Vec<_> = sent.borrow().iter().map(items_of_other_batches).collect();
        for (batch, items) in found {
            self.leave_out(&batch, items);
        }
    }

    /// Leaves out all items except these, because the page was closed before the other items were sent.
    pub fn keep_only(self, key: &BatchKey, items: &HashSet<usize>) {
        let size = self.find_untracked(key).map_or(0, |batch| batch.size);
        self.leave_out(key, (0..size).filter(|item| !items.contains(item)));
    }

    /// Leaves out the items of these tasks, which are rows of the table again and whose records will be deleted.
    pub fn leave_out_taken_back(self, key: &BatchKey, tasks: &[Task]) {
        let runner = self.0.runner;
        let returned: HashSet<&TaskKey> = tasks.iter().map(|task| &task.key).collect();
        let mut remaining = untrack(|| runner.keys_of_batch(key));
        remaining.retain(|key| !returned.contains(key));
        let Some(batch) = self.find_untracked(key) else {
            return;
        };
        let items = runner.with_tasks_of(&remaining, |remaining| {
            batch.emptied(tasks, remaining.iter().copied())
        });
        self.leave_out_of(key, items, remaining);
    }

    /// Leaves out items, and updates the name of the batch.
    fn leave_out(self, key: &BatchKey, items: impl IntoIterator<Item = usize>) {
        let remaining = untrack(|| self.0.runner.keys_of_batch(key));
        self.leave_out_of(key, items, remaining);
    }

    /// Leaves out items of a batch. `remaining`: the tasks that remain in the batch. A batch without items and tasks is removed.
    fn leave_out_of(
        self,
        key: &BatchKey,
        items: impl IntoIterator<Item = usize>,
        remaining: Vec<TaskKey>,
    ) {
        if let Some(mut batch) = self.find_untracked(key)
            && batch.leave_out(items)
        {
            let runner = self.0.runner;
            runner.with_tasks_of(&remaining, |tasks| {
                let inputs: Vec<&Input> = tasks.iter().map(|task| &task.input).collect();
                batch.update_name(&inputs);
            });
            match batch.count() == 0 && remaining.is_empty() {
                true => self.remove(key),
                false => self.store(batch),
            }
        }
    }

    /// Renames a batch in all tabs.
    pub fn rename(self, key: &BatchKey, name: &str) {
        if let Some(mut batch) = self.find_untracked(key)
            && batch.rename(name)
        {
            self.store(batch);
        }
    }

    /// Removes a batch and its tasks. For a while, Undo can restore them.
    pub fn remove(self, key: &BatchKey) {
        let runner = self.0.runner;
        if let Some(mut batch) = self.find_untracked(key) {
            batch.removed = Some(clock::now());
            self.store(batch);
        }
        // A task that was replaced by a retry is removed together with the retry.
        let is_mine = |task: &&TaskKey| {
            let task = runner.task(task);
            task.is_some_and(|task| task.read_untracked().is_of(key))
        };
        let keys = untrack(|| runner.keys());
        let keys: Vec<TaskKey> = keys.iter().filter(is_mine).cloned().collect();
        runner.act_on_all(&keys, Action::Remove);
    }

    /// Stores a batch from an imported history. If the batch is known, its present version is stored again, because its
    /// record may have been deleted. The batch is no longer removed in either case.
    pub fn take_in(self, batch: Batch) {
        let known = self.find_untracked(&batch.key);
        self.store(Batch {
            removed: None,
            ..known.unwrap_or(batch)
        });
    }

    /// Writes a record, and sends it to the other tabs.
    fn store(self, batch: Batch) {
        let text = batch.to_value().to_string();
        self.0.runner.keep_batch(&batch.key, text);
        insert(batch);
    }
}

fn known() -> Known {
    KNOWN.with(Clone::clone)
}

/// Adds the batch of a record that another tab has written.
fn receive(text: &str) {
    if let Some(batch) = json::read(text).and_then(Batch::from_value) {
        insert(batch);
    }
}

/// Adds a batch to the known ones. It replaces a batch with the same key.
fn insert(batch: Batch) {
    known().batches.update(|known| {
        known.retain(|other| other.key != batch.key);
        let at = known.partition_point(|other| other.created > batch.created);
        known.insert(at, batch);
    });
}

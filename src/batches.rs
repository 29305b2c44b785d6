//! The batches of this browser: their records, which hold what their tasks do not.

use atelier_contract::{Input, ModelId, json};
use atelier_engine::batch::Batch;
use atelier_engine::compose::sweep::GridLabels;
use atelier_engine::{BatchKey, BatchPlace, Task, TaskKey};
use leptos::prelude::*;

use crate::boxed::spawn;
use crate::browser::random;
use crate::browser::storage::Store;
use crate::contexts::Contexts;

thread_local! {
    /// What is known so far, newest first, for as long as the page lives: also where nothing can be
    /// stored.
    static KNOWN: ArcRwSignal<Vec<Batch>> = ArcRwSignal::new(Vec::new());
}

#[derive(Clone, Copy)]
pub struct Batches(Contexts);

impl Batches {
    pub fn new(contexts: Contexts) -> Self {
        Self(contexts)
    }

    /// Reads the records that are stored. Called again when tasks turn up whose batch is not known:
    /// another tab has sent it.
    pub fn read(self) {
        let Some(storage) = self.0.runner.storage() else {
            return;
        };
        spawn(async move {
            let Ok(texts) = storage.all_texts(Store::Batches).await else {
                return;
            };
            let stored = texts.into_iter().filter_map(|text| {
                let batch = Batch::from_value(json::read(&text)?)?;
                self.0.runner.know_batch(&batch.key, text);
                Some(batch)
            });
            known().update(|known| {
                for batch in stored {
                    insert(known, batch);
                }
            });
        });
    }

    /// The batches of a model, newest first; tracked.
    pub fn of(self, model: &ModelId) -> Vec<Batch> {
        let known = known();
        let known = known.read();
        known
            .iter()
            .filter(|batch| batch.model == *model)
            .cloned()
            .collect()
    }

    /// Sends inputs as one batch.
    pub fn submit(
        self,
        model_name: &str,
        inputs: Vec<Input>,
        grid: Option<GridLabels>,
    ) -> Option<BatchKey> {
        let first = inputs.first()?;
        let now = self.0.runner.created();
        let title: String = first.title().chars().take(60).collect();
        let batch = Batch {
            key: BatchKey(random::key()),
            model: first.model().clone(),
            model_name: model_name.to_owned(),
            name: if title.is_empty() {
                model_name.to_owned()
            } else {
                title
            },
            created: now,
            size: inputs.len(),
            grid,
            extra: serde_json::Map::new(),
        };
        let account = self.0.session.account();
        let task = |(index, input): (usize, Input)| {
            let key = TaskKey(random::key());
            let mut task = Task::new(key, account.clone(), model_name.to_owned(), input, now);
            task.batch = Some(BatchPlace {
                batch: batch.key.clone(),
                index,
            });
            task
        };
        let tasks = inputs.into_iter().enumerate().map(task).collect();
        self.keep(&batch);
        self.0.runner.submit_tasks(tasks);
        let key = batch.key.clone();
        known().update(|known| insert(known, batch));
        Some(key)
    }

    /// Forgets a batch; its tasks are the runner's.
    pub fn forget(self, key: &BatchKey) {
        self.0.runner.delete_batch(key);
        known().update(|known| known.retain(|batch| batch.key != *key));
    }

    /// The write begins before that of the tasks: no task is kept without its batch.
    fn keep(self, batch: &Batch) {
        let text = batch.to_value().to_string();
        self.0.runner.keep_batch(&batch.key, text);
    }
}

fn known() -> ArcRwSignal<Vec<Batch>> {
    KNOWN.with(Clone::clone)
}

fn insert(known: &mut Vec<Batch>, batch: Batch) {
    if known.iter().all(|other| other.key != batch.key) {
        let at = known.partition_point(|other| other.created > batch.created);
        known.insert(at, batch);
    }
}

use atelier_contract::{ModelId, Schema};
use atelier_engine::rerun::InputChange;
use atelier_engine::route::Route;
use atelier_engine::seed::Seeded;
use atelier_engine::{Task, TaskKey, output, rerun, seed};
use leptos::prelude::*;
use std::sync::Arc;

use crate::batches::Batches;
use crate::browser::random;
use crate::catalog::Load;
use crate::contexts::{Contexts, contexts};
use crate::view::parts::status_note::StatusNote;
use crate::view::task::edit;

/// Sends the same inputs once more, each time with another seed, and says what came of it.
#[derive(Clone, Copy)]
pub struct Again {
    contexts: Contexts,
    key: StoredValue<TaskKey>,
    model: StoredValue<ModelId>,
    pub answer: StatusNote,
}

impl Again {
    pub fn of(task: &Task) -> Self {
        Self {
            contexts: contexts(),
            key: StoredValue::new(task.key.clone()),
            model: StoredValue::new(task.model.clone()),
            answer: StatusNote::default(),
        }
    }

    fn schema(self) -> Load<Arc<Schema>> {
        let catalog = self.contexts.catalog;
        self.model.with_value(|model| catalog.schema(model))
    }

    /// Whether another seed makes another result; tracked.
    pub fn has_seed(self) -> bool {
        let schema = self.schema();
        let seed = schema.loaded().map(|schema| seed::parameter(schema));
        seed.flatten().is_some()
    }

    /// Whether it is not known yet whether there is a seed; tracked.
    pub fn is_awaited(self) -> bool {
        matches!(self.schema(), Load::Loading)
    }

    /// How many outputs each will have; tracked.
    pub fn outputs_of_each(self) -> usize {
        let schema = self.schema();
        let task = self.contexts.runner.task(&self.key.get_value());
        task.map_or(1, |task| {
            let task = task.read_untracked();
            output::expected_count(task.input.values(), schema.loaded().map(|schema| &**schema))
        })
    }

    pub fn send(self, count: usize) {
        let (answer, runner) = (self.answer, self.contexts.runner);
        let schema = match untrack(|| self.schema()) {
            Load::Loaded(schema) => schema,
            Load::Loading => {
                return answer
                    .say("Not sent: the model's inputs are still loading. Press again.".into());
            }
            Load::Failed(_) => {
                let catalog = self.contexts.catalog;
                self.model.with_value(|model| catalog.ask_for_schema(model));
                return answer
                    .say("Not sent: the model's inputs could not be loaded. Press again.".into());
            }
        };
        let task = runner.task(&self.key.get_value());
        let Some(task) = task.map(|task| task.get_untracked()) else {
            return;
        };
        match send(self.contexts, &task, &schema, count) {
            Ok(None) => {}
            Ok(Some(sent)) => {
                let has_seed = seed::parameter(&schema).is_some();
                let other = if has_seed { " with another seed" } else { "" };
                let href = sent.path();
                match count {
                    1 => answer.say_with(format!("Sent{other}."), "Show it", href),
                    n => answer.say_with(format!("Sent {n}, each{other}."), "Show them", href),
                }
            }
            Err(differences) => {
                let first = differences.into_iter().next();
                let why = first.map_or_else(String::new, |difference| difference.message);
                let href = edit::address(&task);
                answer.say_with(
                    format!("Not sent: the model has changed. {why}"),
                    "Edit it",
                    href,
                );
            }
        }
    }
}

/// Sends a task's inputs so many times more, each time with another seed: several as one batch. Where they are; nowhere
/// where nothing can be sent, which is said then.
///
/// # Errors
///
/// What the model does not take as it was.
pub fn send(
    all: Contexts,
    task: &Task,
    schema: &Schema,
    count: usize,
) -> Result<Option<Route>, Vec<InputChange>> {
    let random: Vec<u64> = (0..count).map(|_| random::bits()).collect();
    let mut inputs = rerun::again(task.input.values(), schema, &random)?;
    if !all.runner.can_send() {
        return Ok(None);
    }
    if untrack(|| edit::asks_for_secrets(all, task, false, Some(schema))) {
        return Ok(None);
    }
    if inputs.len() > 1 {
        let batch = Batches::new(all).submit_variations(task, inputs);
        return Ok(Some(Route::Batch(batch)));
    }
    let sent = inputs.pop().map(|input| {
        let is_chosen = false;
        all.runner
            .submit(Seeded { input, is_chosen }, &task.model_name)
    });
    Ok(sent.map(Route::Task))
}

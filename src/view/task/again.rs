use atelier_contract::{ModelId, Schema};
use atelier_engine::route::Route;
use atelier_engine::{Task, TaskKey, rerun, seed};
use leptos::prelude::*;
use std::sync::Arc;

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
        let random: Vec<u64> = (0..count).map(|_| random::bits()).collect();
        match rerun::again(task.input.values(), &schema, &random) {
            Ok(inputs) => {
                let has_seed = seed::parameter(&schema).is_some();
                let sent = runner.submit_all(inputs, &task.model_name);
                let Some(first) = sent.first() else {
                    return;
                };
                let other = if has_seed { " with another seed" } else { "" };
                let href = Route::Task(first.clone()).path();
                match sent.len() {
                    1 => answer.say_with(format!("Sent{other}."), "Show it", href),
                    n => answer.say_with(format!("Sent {n}, each{other}."), "Show the first", href),
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

//! Values in the form that the service has refused.

use std::sync::Arc;

use atelier_contract::{Draft, Problem, Schema};
use atelier_engine::{Task, TaskKey};
use atelier_studio::form::refused_input;
use leptos::prelude::*;

use super::newest_single::newest_single;
use crate::reactive::boxed::memo;
use crate::state::contexts::contexts;

/// Returns the problems that the service has reported for values that are still in the form.
///
/// They come from the latest task of this page and from the task whose input was loaded into the form. Items of composed
/// batches are excluded: they are corrected in their table.
pub fn refused(
    schema: Arc<Schema>,
    draft: RwSignal<Draft>,
    edited: RwSignal<Option<TaskKey>>,
) -> Memo<Vec<Problem>> {
    let runner = contexts().runner;
    let newest = newest_single(runner, schema.model.clone());
    let tasks = {
        let schema = schema.clone();
        memo(move || {
            let keys = newest.get().into_iter().chain(edited.get());
            let tasks = keys.filter_map(|key| runner.task(&key));
            let refused = tasks.filter_map(|task| {
                let task = task.read();
                let is_relevant =
                    task.is_single() && !refused_input::named_parameters(&task, &schema).is_empty();
                is_relevant.then(|| task.clone())
            });
            refused.collect::<Vec<Task>>()
        })
    };
    memo(move || {
        let tasks = tasks.read();
        let problems = tasks.iter();
        let problems =
            problems.flat_map(|task| refused_input::problems(task, &schema, &draft.read()));
        problems.collect()
    })
}

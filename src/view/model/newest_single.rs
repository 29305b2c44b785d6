//! The latest task of a model, without composed batches and without late tasks ([`TaskKey::is_late`]).

use atelier_contract::ModelId;
use atelier_engine::{Task, TaskKey};
use leptos::prelude::*;

use crate::reactive::boxed::memo;
use crate::runner::Runner;

/// Returns the key of the task that the page of the model shows as its result.
pub fn newest_single(runner: Runner, model: ModelId) -> Memo<Option<TaskKey>> {
    memo(move || {
        let keys = runner.keys();
        let is_relevant =
            |task: &Task| task.model == model && task.is_single() && !task.key.is_late();
        let newest = keys.iter().find(|key| {
            let task = runner.task(key);
            task.is_some_and(|task| task.with_untracked(is_relevant))
        });
        newest.cloned()
    })
}

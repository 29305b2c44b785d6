use atelier_engine::{Task, TaskKey};
use atelier_studio::batch::again;
use leptos::prelude::*;

use crate::state::contexts::Contexts;
use crate::view::parts::double_click_guard::DoubleClickGuard;

/// Retries these tasks and shows a notice outside the rows, because a row may move. `held` is shared by all rows.
pub fn retry(all: Contexts, held: DoubleClickGuard, keys: &[TaskKey]) {
    if held.counts("Retry") {
        let count = all.runner.retry_all(keys);
        let is_retry = |task: &Task| task.retry_of.as_ref().is_some_and(|key| keys.contains(key));
        let is_paused = all.runner.with_tasks(|tasks| {
            let mut again = tasks.iter().filter(|task| is_retry(task));
            again.any(|task| task.paused)
        });
        let is_held = is_paused || untrack(|| all.runner.block_reason()).is_some();
        all.notices.say(again::user_message(count, 0, is_held));
    } else {
        let message = "Sent once. Press again for another one.";
        all.notices.say(message.to_owned());
    }
}

use atelier_engine::{Task, TaskKey};
use atelier_studio::navigation::route::Route;
use atelier_studio::task::other_submission::other_submission_text;
use leptos::prelude::*;

use crate::reactive::boxed::{dynamic, memo};
use crate::state::contexts::contexts;

/// A note about another submission of the same task, with a link to it; empty while there is none.
pub fn other_submission(task: &Task) -> AnyView {
    let runner = contexts().runner;
    let key = task.key.clone();
    let others: Vec<TaskKey> = key
        .original_of_late()
        .into_iter()
        .chain([key.late()])
        .collect();
    let other = memo(move || {
        // Tracks the list of tasks: the other submission can appear or be removed.
        runner.keys();
        let task = runner.task(&key)?;
        others.iter().find_map(|key| {
            let other = runner.task(key)?;
            let other = other.read();
            let message = other_submission_text(&task.read(), &other);
            other.removed.is_none().then(|| (key.clone(), message))
        })
    });
    dynamic(move || {
        let Some((key, message)) = other.get() else {
            return ().into_any();
        };
        view! {
            <p class="muted late">
                <a href=Route::Task(key).path()>"Another submission"</a>
                {message}
            </p>
        }
        .into_any()
    })
}

use atelier_engine::{Task, TaskKey};
use atelier_studio::navigation::route::Route;
use atelier_studio::task::other_submission::other_submission_text;
use leptos::prelude::*;

use crate::reactive::boxed::{dynamic, memo};
use crate::state::contexts::contexts;

/// What is known of another submission of a task, with the way to it; nothing as long as there is none.
pub fn late(task: &Task) -> AnyView {
    let runner = contexts().runner;
    let key = task.key.clone();
    let others: Vec<TaskKey> = key
        .original_of_late()
        .into_iter()
        .chain([key.late()])
        .collect();
    let other = memo(move || {
        // One may come, or go.
        runner.keys();
        let task = runner.task(&key)?;
        others.iter().find_map(|key| {
            let other = runner.task(key)?;
            let other = other.read();
            let said = other_submission_text(&task.read(), &other);
            other.removed.is_none().then(|| (key.clone(), said))
        })
    });
    dynamic(move || {
        let Some((key, said)) = other.get() else {
            return ().into_any();
        };
        view! {
            <p class="muted late">
                <a href=Route::Task(key).path()>"Another submission"</a>
                {said}
            </p>
        }
        .into_any()
    })
}

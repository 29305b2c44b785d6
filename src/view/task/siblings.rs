use atelier_engine::{Task, TaskKey};
use atelier_studio::navigation::route::Route;
use leptos::prelude::*;

use super::thumbnail;
use crate::reactive::boxed::{memo, text, when};
use crate::runner::Runner;
use crate::state::contexts::contexts;
use crate::view::parts::list::{Item, list};

/// The variations that were submitted together with this task.
pub fn siblings(task: &Task) -> AnyView {
    let runner = contexts().runner;
    let place = task.batch.as_ref().filter(|_| task.varied.is_some());
    let Some(batch) = place.map(|place| place.batch.clone()) else {
        return ().into_any();
    };
    let shown = task.key.clone();
    let siblings = memo(move || runner.keys_of_batch(&batch));
    let links = move || {
        let shown = &shown;
        let link = |key: &TaskKey| {
            let (key, is_shown) = (key.clone(), key == shown);
            Item::new(key.0.clone(), move || link(runner, &key, is_shown))
        };
        siblings.read().iter().map(link).collect()
    };
    view! {
        <nav
            class="siblings"
            aria-label="Variations"
            hidden=when(move || siblings.read().len() < 2)
        >
            <p class="muted" prop:textContent=text(move || format!("{} variations", siblings.read().len()))></p>
            <div class="strip">{list(links)}</div>
        </nav>
    }
    .into_any()
}

fn link(runner: Runner, key: &TaskKey, is_shown: bool) -> AnyView {
    let Some(task) = runner.task(key) else {
        return ().into_any();
    };
    let picture = thumbnail(&task);
    let label = text(move || {
        let task = task.read();
        let number = task.batch.as_ref().map_or(0, |place| place.index + 1);
        format!("Variation {number}, {}", task.label())
    });
    view! {
        <a
            class="strip-task"
            class:shown=is_shown
            href=Route::Task(key.clone()).path()
            aria-current=is_shown.then_some("page")
            aria-label=label
            title=label
        >
            <span class="strip-picture" aria-hidden="true">
                {picture}
            </span>
        </a>
    }
    .into_any()
}

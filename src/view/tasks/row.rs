use crate::state::contexts::contexts;
use atelier_engine::{Phase, TaskKey};
use atelier_studio::form::refused_input;
use atelier_studio::navigation::route::Route;
use leptos::prelude::*;

use super::retry::retry;
use crate::browser::{clock, dates};
use crate::reactive::boxed::{handler, memo, text, when};
use crate::view::parts::double_click_guard::DoubleClickGuard;
use crate::view::task::{StateLine, thumbnail, words};

/// A task in the list, with enough details to recognize it. The page of the task has the rest.
#[component]
pub fn TaskRow(
    task_key: TaskKey,
    /// The difference from other tasks with the same prompt.
    name: Option<String>,
    /// Shared by all rows: after a retry, another row moves to this position.
    held: DoubleClickGuard,
) -> impl IntoView {
    let all = contexts();
    let Some(task) = all.runner.task(&task_key) else {
        return ().into_any();
    };
    let first = task.get_untracked();
    let label = match &name {
        Some(name) => format!("{}, {name}", words::start(&first)),
        None => words::name(&first),
    };
    let prompt = match first.input.title() {
        "" => "No prompt",
        title => title,
    };
    let title = match name {
        Some(name) => format!("{name} · {prompt}"),
        None => prompt.to_owned(),
    };
    let href = Route::Task(task_key.clone()).path();
    let time = dates::time(first.created, clock::now());
    let about = format!("{} · {time}", first.model_name);
    let can_retry = memo({
        let task = task.clone();
        move || refused_input::may_succeed_unchanged(&task.read())
    });
    let press = move |_| {
        retry(all, held, std::slice::from_ref(&task_key));
    };
    let reason = text({
        let task = task.clone();
        move || {
            let task = task.read();
            // The state says the same.
            let is_canceled = task.state.phase() == Phase::Canceled;
            let explanation = words::explain(&task).filter(|_| !is_canceled);
            explanation.map_or_else(String::new, |it| it.what)
        }
    });
    view! {
        <article class="task-row" aria-label=label>
            <div class="task-row-picture" aria-hidden="true">
                {thumbnail(&task)}
            </div>
            <div class="task-row-text">
                <a class="cover" href=href dir="auto" translate="no">
                    {title}
                </a>
                <span class="muted" translate="no">{about}</span>
                <span class="reason" title=reason prop:textContent=reason></span>
            </div>
            <button
                class="button quiet small task-row-retry"
                type="button"
                aria-label=format!("Retry: {prompt}")
                hidden=when(move || !can_retry.get())
                on:click=handler(press)
            >
                "Retry"
            </button>
            <StateLine task />
        </article>
    }
    .into_any()
}

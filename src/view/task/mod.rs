//! One task: its state, what that means, its outputs and what can be done with it.

pub mod actions;
pub mod again;
pub mod edit;
pub mod favorite;
mod fresh;
pub mod inputs;
mod more;
pub mod output_recovery;
pub mod output_view;
mod outputs;
mod over;
mod room;
pub mod save;
pub mod shown_output;
mod small_image;
mod state;
mod thumbnail;
pub mod use_in;
pub mod vary;
pub mod words;

use crate::contexts::contexts;
use atelier_engine::route::Route;
use atelier_engine::{Task, TaskKey, TaskState, attempts, lineage};
use leptos::prelude::*;

pub use state::{StateLine, StatePill};
pub use thumbnail::{small_output, thumbnail};
pub use words::name;

use crate::boxed::{dynamic, memo, text};
use crate::browser::{clock, dates};
use crate::runner::Runner;

/// A task in full. Nothing if it has been removed meanwhile.
#[component]
pub fn TaskArticle(
    #[prop(into)] task_key: TaskKey,
    /// What surrounds it names the model already.
    #[prop(optional)]
    on_model_page: bool,
) -> impl IntoView {
    let runner = contexts().runner;
    let Some(task) = runner.task(&task_key) else {
        return ().into_any();
    };
    // What a poll may change often is kept apart from what changes once.
    let first = task.get_untracked();
    let state = memo({
        let task = task.clone();
        move || task.read().state.clone()
    });
    let since = clock::now();
    let title = first.input.title().to_owned();
    let untitled = title.is_empty();
    // As a heading; what is longer is read.
    let is_short = title.chars().count() <= 60;
    let label = name(&first);
    let model_href = Route::Model(first.model.clone()).path();
    let of_batch = first.batch.as_ref().map(|place| {
        let href = Route::Batch(place.batch.clone()).path();
        let number = place.index + 1;
        view! {
            " · "
            <a href=href>{format!("Item {number} of a batch")}</a>
        }
        .into_any()
    });
    let created = dates::time(first.created, since);
    let heading = (!on_model_page).then(|| {
        let varied = varied(runner, &first);
        view! {
            <p class="task-model muted">
                <a href=model_href>{first.model_name.clone()}</a>
                " · "
                {created}
                {of_batch}
                {varied}
            </p>
        }
        .into_any()
    });
    let again = again::Again::of(&first);
    let answer = again.answer;
    let inputs = inputs::inputs(&first, !on_model_page);
    let has_dead_link = RwSignal::new(false);
    let earlier = first.retry_of.as_ref().and_then(|key| runner.task(key));
    let earlier = earlier.and_then(|task| {
        let number = 1 + runner.with_tasks(|tasks| attempts::earlier(tasks, &first));
        earlier_attempt(number, &task.read_untracked())
    });
    view! {
        <article class="task" aria-label=label data-phase=text(move || state.read().phase().word().to_owned())>
            <header class="task-head">
                <div class="task-title">
                    <p class="task-prompt" class:muted=untitled class:whole=!on_model_page class:short=is_short dir="auto">
                        {if untitled { "No prompt".to_owned() } else { title }}
                    </p>
                    {heading} {earlier}
                </div>
                <state::StateLine task=task.clone() />
            </header>
            {dynamic(move || {
                let key = task_key.clone();
                let task: Task = task.get_untracked();
                match state.get() {
                    TaskState::Ready { outputs, .. } => {
                        view! { <outputs::Outputs task outputs answer has_dead_link since /> }.into_any()
                    }
                    TaskState::Queued
                    | TaskState::Submitting
                    | TaskState::Running { .. }
                    | TaskState::Fetching { .. } => {
                        view! { <state::Waiting task_key=key /> }.into_any()
                    }
                    _ => view! { <state::Explained task /> }.into_any(),
                }
            })}
            // What there is, or what went wrong, and what can be done with it stand together.
            <actions::Actions task=first again has_dead_link />
            {inputs}
        </article>
    }
    .into_any()
}

/// Which task it is a variation of. An item of a batch is told by its place in that.
fn varied(runner: Runner, task: &Task) -> Option<AnyView> {
    let original = runner.with_tasks(|tasks| {
        let original = lineage::varied(task, tasks)?;
        Some(original.key.clone())
    });
    let href = Route::Task(original?).path();
    Some(
        view! {
            " · "
            <a href=href>"Variation of an earlier task"</a>
        }
        .into_any(),
    )
}

/// That others were made before this one, and, for who wants to know, what became of the last of them: a
/// failure like it is said below already.
fn earlier_attempt(number: usize, failed: &Task) -> Option<AnyView> {
    let explanation = words::explain(failed)?;
    Some(
        view! {
            <details class="muted attempt">
                <summary>{attempts::said(number)}</summary>
                <p>"The one before: " {explanation.what}</p>
            </details>
        }
        .into_any(),
    )
}

//! One task: its state and what that means, its outputs, and the actions on it.

pub mod actions;
pub mod again;
pub mod edit;
pub mod expected_shape;
pub mod favorite;
pub mod inputs;
pub mod lineage;
pub mod more;
mod notification_offer;
mod other_submission;
mod output_container;
pub mod output_recovery;
pub mod output_view;
mod outputs;
mod overlay;
mod refresh;
mod refused;
pub mod removal_question;
mod reported;
pub mod save;
pub mod shown_output;
mod siblings;
mod small_image;
mod state;
mod thumbnail;
pub mod together;
pub mod unreadable;
pub mod use_in;
pub mod vary;
mod video_size;
pub mod words;

use crate::state::contexts::contexts;
use atelier_engine::{Task, TaskKey, TaskState, attempts};
use atelier_studio::history::lineage as relatives;
use atelier_studio::navigation::route::Route;
use leptos::prelude::*;

pub use reported::small_bar;
pub use state::{StateLine, StatePill};
pub use thumbnail::{small_output, thumbnail};
pub use words::name;

use crate::browser::{clock, dates};
use crate::reactive::boxed::{dynamic, memo, text};
use crate::runner::Runner;
use crate::view::parts::clamped::clamped;

/// A task with all details; empty if it was removed.
#[component]
pub fn TaskArticle(
    #[prop(into)] task_key: TaskKey,
    /// Whether the surrounding page already shows the model.
    #[prop(optional)]
    on_model_page: bool,
) -> impl IntoView {
    let runner = contexts().runner;
    let Some(task) = runner.task(&task_key) else {
        return ().into_any();
    };
    // Only the state is tracked: polls often change other fields.
    let first = task.get_untracked();
    let state = memo({
        let task = task.clone();
        move || task.read().state.clone()
    });
    let since = clock::now();
    let title = first.input.title().to_owned();
    let untitled = title.is_empty();
    // A short prompt is a heading; a longer one is text to read.
    let is_short = title.chars().count() <= 60;
    let label = name(&first);
    let prompt = match (untitled, on_model_page) {
        (true, _) => view! { <p class="task-prompt muted">"No prompt"</p> }.into_any(),
        (false, true) => view! {
            <p class="task-prompt" dir="auto">
                {title}
            </p>
        }
        .into_any(),
        (false, false) => {
            let class = if is_short {
                "task-prompt short"
            } else {
                "task-prompt"
            };
            clamped(title, class)
        }
    };
    let model_href = Route::Model(first.model.clone()).path();
    let of_batch = first.batch.as_ref().map(|place| {
        let href = Route::Batch(place.batch.clone()).path();
        let number = place.index + 1;
        let label = match first.varied {
            Some(_) => format!("Variation {number}"),
            None => format!("Item {number} of a batch"),
        };
        view! {
            " · "
            <a href=href>{label}</a>
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
    let inputs = inputs::inputs(&first, !on_model_page);
    let lineage = (!on_model_page).then(|| lineage::lineage(first.clone(), None));
    let siblings = (!on_model_page).then(|| siblings::siblings(&first));
    let other_submission = other_submission::other_submission(&first);
    let has_dead_link = RwSignal::new(false);
    let earlier = first.retry_of.as_ref().and_then(|key| runner.task(key));
    let earlier = earlier.and_then(|task| {
        let number = 1 + runner.with_tasks(|tasks| attempts::count_earlier(tasks, &first));
        earlier_attempt(number, &task.read_untracked())
    });
    view! {
        <article class="task" aria-label=label data-phase=text(move || state.read().phase().word().to_owned())>
            <header class="task-head" translate="no">
                <div class="task-title">
                    {prompt}
                    {heading} {earlier} {other_submission}
                </div>
                <state::StateLine task=task.clone() />
            </header>
            {dynamic(move || {
                let key = task_key.clone();
                let task: Task = task.get_untracked();
                match state.get() {
                    TaskState::Ready { outputs, .. } => {
                        view! { <outputs::Outputs
                                task
                                outputs
                                again
                                has_dead_link
                                since
                                are_actions_beside=!on_model_page
                            /> }.into_any()
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
            // The actions directly follow the outputs or the error.
            <actions::Actions task=first again has_dead_link />
            {lineage} {inputs} {siblings}
        </article>
    }
    .into_any()
}

/// A link to the task that this one is a variation of.
fn varied(runner: Runner, task: &Task) -> Option<AnyView> {
    let original = runner.with_tasks(|tasks| {
        let original = relatives::varied(task, tasks)?;
        Some(original.key.clone())
    });
    let href = Route::Task(original?).path();
    let link = match task.batch {
        // In a batch, this text continues the link with the item's number.
        Some(_) => view! {
            " "
            <a href=href aria-label="Variation of an earlier task">
                "of an earlier task"
            </a>
        }
        .into_any(),
        None => view! {
            " · "
            <a href=href>"Variation of an earlier task"</a>
        }
        .into_any(),
    };
    Some(link)
}

/// A collapsed note with the number of this attempt and the failure of the previous one. It is collapsed because the
/// failure of this attempt, shown below, is often the same.
fn earlier_attempt(number: usize, failed: &Task) -> Option<AnyView> {
    let explanation = words::explain(failed)?;
    Some(
        view! {
            <details class="muted attempt">
                <summary>{attempts::attempt_label(number)}</summary>
                <p>"Previous attempt: " {words::linked(failed, explanation.what)}</p>
            </details>
        }
        .into_any(),
    )
}

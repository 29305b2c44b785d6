use crate::contexts::contexts;
use atelier_engine::{Task, TaskKey, TaskState, duration, history, output, progress};
use leptos::prelude::*;

use super::words;
use crate::boxed::{derived, memo, text, when};
use crate::view::parts::ticker::ticker;

/// The state as one word, with a dot of its colour.
#[component]
pub fn StatePill(task: ArcRwSignal<Task>) -> impl IntoView {
    let phase = {
        let task = task.clone();
        text(move || task.read().state.phase().word().to_owned())
    };
    view! {
        <span class="pill" data-phase=phase>
            {text(move || task.read().label().to_owned())}
        </span>
    }
}

/// State and time; read out when the state changes, not at every second.
#[component]
pub fn StateLine(task: ArcRwSignal<Task>) -> impl IntoView {
    let now = ticker(1_000);
    let shown = task.clone();
    let time = text(move || {
        let task = task.read();
        let begun = task.submitted.unwrap_or(task.created);
        match task.finished {
            Some(finished) => duration::text(finished.saturating_sub(begun)),
            None => duration::text(now.get().saturating_sub(begun)),
        }
    });
    view! {
        <div class="state-line">
            <span role="status">
                <StatePill task=shown />
            </span>
            <span class="time">{time}</span>
        </div>
    }
}

/// What is going on while one waits.
#[component]
pub fn Waiting(task_key: TaskKey) -> impl IntoView {
    let runner = contexts().runner;
    let Some(task) = runner.task(&task_key) else {
        return ().into_any();
    };
    let now = ticker(1_000);
    let model = task.with_untracked(|task| task.model.clone());
    let usual = runner.with_tasks(|tasks| history::estimate(tasks.iter().copied(), &model));
    let usual = usual.map_or_else(String::new, |usual| {
        format!(" Yours usually take {}.", duration::about(usual))
    });
    let line = {
        let task = task.clone();
        text(move || {
            let task = task.read();
            if let (Some(trouble), TaskState::Submitting) = (&task.poll_error, &task.state) {
                return format!(
                    "No answer to the request for {}: {} It is sent again by itself, under the key of \
                     the first: the service takes it once, and bills it once.",
                    duration::text(now.get().saturating_sub(trouble.since)),
                    trouble.error.user_message(),
                );
            }
            if let Some(trouble) = &task.poll_error {
                return format!(
                    "Status unknown for {}: {} Retrying; the task goes on at the service.",
                    duration::text(now.get().saturating_sub(trouble.since)),
                    trouble.error.user_message(),
                );
            }
            if !task.watching {
                return "Hidden. It may still go on at the service.".into();
            }
            if let Some(reason) = runner.wait_reason(&task, now.get()) {
                return reason;
            }
            match &task.state {
                TaskState::Submitting => "Sending the request.".into(),
                TaskState::Fetching { .. } => "Completed; fetching the output.".into(),
                _ => format!("Generating.{usual} You can close this page."),
            }
        })
    };
    let progress = {
        let task = task.clone();
        memo(move || task.read().progress.clone())
    };
    // Without a value it only says that something goes on.
    let part = derived(move || progress.read().as_deref().and_then(progress::fraction));
    let values = task.with_untracked(|task| task.input.values().clone());
    let catalog = contexts().catalog;
    let ratio =
        derived(move || output::ratio(&values, catalog.schema(&model).loaded().map(|s| &**s)));
    let unwatched = when(move || !task.read().watching);
    view! {
        <div class="waiting" style:aspect-ratio=ratio>
            <progress
                class:indeterminate=when(move || part.get().is_none())
                aria-label="Under way"
                value=part
                hidden=unwatched
            ></progress>
            <p class="progress-line" hidden=when(move || unwatched.get() || progress.read().is_none())>
                {text(move || progress.get().unwrap_or_default())}
            </p>
            <p class="muted">{line}</p>
        </div>
    }
    .into_any()
}

/// A state that needs explaining: what happened, what it means, what to do.
#[component]
pub fn Explained(state: TaskState) -> impl IntoView {
    words::explain(&state).map(|explanation| {
        view! {
            <div class="explained" data-phase=state.phase().word()>
                <p class="explained-what">{explanation.what}</p>
                <p class="muted">{explanation.meaning}</p>
            </div>
        }
        .into_any()
    })
}

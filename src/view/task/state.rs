use crate::contexts::contexts;
use atelier_engine::gallery::side_by_side::Shape;
use atelier_engine::waiting::{is_under_way, trouble, unknown_word, waiting};
use atelier_engine::{Task, TaskKey, TaskState, duration, history, output, progress};
use leptos::prelude::*;

use super::room::room;
use super::words;
use crate::boxed::{derived, dynamic, memo, text, when};
use crate::browser::location;
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
    let values = task.with_untracked(|task| task.input.values().clone());
    let catalog = contexts().catalog;
    let usual = {
        let (model, values) = (model.clone(), values.clone());
        memo(move || {
            let schema = catalog.schema(&model);
            let schema = schema.loaded().map(|schema| &**schema);
            let outputs = output::expected_count(&values, schema);
            runner
                .with_tasks(|tasks| history::estimate(tasks.iter().copied(), &model, Some(outputs)))
        })
    };
    let waited = {
        let task = task.clone();
        derived(move || {
            let submitted = task.read().submitted;
            let elapsed = submitted.map_or(0, |since| now.get().saturating_sub(since));
            waiting(elapsed, usual.get().filter(|_| submitted.is_some()))
        })
    };
    let line = {
        let task = task.clone();
        text(move || {
            let task = task.read();
            if let Some(reason) = runner.wait_reason(&task, now.get()) {
                return reason;
            }
            if let Some(trouble) = trouble(&task, now.get(), &location::origin()) {
                return trouble.said;
            }
            if !task.watching {
                return "Hidden. It may still go on at the service.".into();
            }
            match &task.state {
                TaskState::Submitting => "Sending the request.".into(),
                TaskState::Fetching { .. } => "Completed; fetching the output.".into(),
                _ => {
                    let said = unknown_word(&task).unwrap_or_else(|| waited.get().said);
                    format!("{said} You can close this page.")
                }
            }
        })
    };
    let why = {
        let task = task.clone();
        let why =
            memo(move || trouble(&task.read(), 0, &location::origin()).map(|trouble| trouble.why));
        text(move || why.get().unwrap_or_default())
    };
    let progress = {
        let task = task.clone();
        memo(move || task.read().progress.clone())
    };
    // Without a value it only says that something goes on.
    let part = {
        let task = task.clone();
        derived(move || {
            let told = progress.read().as_deref().and_then(progress::fraction);
            told.or_else(|| waited.get().part.filter(|_| is_under_way(&task.read())))
        })
    };
    let expected = memo(move || {
        let schema = catalog.schema(&model);
        let schema = schema.loaded().map(|schema| &**schema);
        let ratio = output::ratio(&values, schema);
        // What has no shape is given one place.
        let count = ratio
            .as_ref()
            .map_or(1, |_| output::expected_count(&values, schema));
        (count, ratio)
    });
    let shapes = derived(move || {
        let (count, ratio) = expected.get();
        let shape = ratio.map(|ratio| Shape::said(&ratio));
        shape.map_or_else(Vec::new, |shape| vec![shape; count])
    });
    let has_several = when(move || expected.read().0 > 1);
    let others = dynamic(move || {
        let others =
            (1..expected.read().0).map(|_| view! { <div class="output-place"></div> }.into_any());
        others.collect_view().into_any()
    });
    let unwatched = when(move || !task.read().watching);
    let place = view! {
        <div
            class:media-place=when(move || !has_several.get())
            class:outputs=has_several
            data-count=text(move || expected.read().0.min(5).to_string())
            style:--shape=derived(move || expected.read().1.clone())
        >
        <div class="waiting">
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
            <details hidden=when(move || why.read().is_empty())>
                <summary>"Why?"</summary>
                <p class="muted">{why}</p>
            </details>
        </div>
        {others}
        </div>
    };
    room(shapes, place.into_any())
}

/// A state that needs explaining: what happened, what it means, what to do.
#[component]
pub fn Explained(task: Task) -> impl IntoView {
    words::explain(&task).map(|explanation| {
        view! {
            <div class="explained" data-phase=task.state.phase().word()>
                <p class="explained-what">{explanation.what}</p>
                <p class="muted">{explanation.meaning}</p>
            </div>
        }
        .into_any()
    })
}

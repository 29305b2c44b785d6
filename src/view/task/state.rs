use crate::state::contexts::contexts;
use atelier_contract::output::OutputKind;
use atelier_engine::wait_text::{is_under_way, poll_error_text, unknown_word, wait_text};
use atelier_engine::{Millis, Task, TaskKey, TaskState, duration};
use atelier_studio::gallery::side_by_side::Shape;
use atelier_studio::history;
use atelier_studio::output::expected_output;
use atelier_studio::task::{cancel, progress};
use leptos::prelude::*;

use super::expected_shape;
use super::notification_offer::offer;
use super::output_container::output_container;
use super::reported::{Reported, preview};
use super::video_size;
use super::{refused, words};
use crate::browser::location;
use crate::reactive::boxed::{derived, dynamic, memo, text, when};
use crate::view::parts::settings_link::with_settings_link;
use crate::view::parts::ticker::ticker;

/// The state as one word, with a dot of its colour.
#[component]
pub fn StatePill(task: ArcRwSignal<Task>) -> impl IntoView {
    let phase = {
        let task = task.clone();
        text(move || task.read().state.phase().word().to_owned())
    };
    view! {
        <span class="pill" translate="no" data-phase=phase prop:textContent=text(move || task.read().label().to_owned())></span>
    }
}

/// State and time. Screen readers announce changes of the state, but not every second.
#[component]
pub fn StateLine(task: ArcRwSignal<Task>) -> impl IntoView {
    let (runner, now) = (contexts().runner, ticker(1_000));
    let shown = task.clone();
    let time = text(move || {
        let task = task.read();
        task.duration_text()
            .unwrap_or_else(|| match task.is_hidden() {
                // A hidden task is not polled, so it is unknown whether it still runs.
                true => String::new(),
                false => {
                    let elapsed = runner.elapsed(&task, now.get());
                    elapsed.map_or_else(String::new, duration::text)
                }
            })
    });
    view! {
        <div class="state-line">
            <span role="status">
                <StatePill task=shown />
            </span>
            <span class="time" translate="no" prop:textContent=time></span>
        </div>
    }
}

/// Returns why a task waits, or a detail about a task that is under way; tracked.
pub(super) fn wait_line(task: &Task, now: Millis) -> Option<String> {
    if let Some(reason) = contexts().runner.wait_reason(task, now) {
        return Some(reason);
    }
    if let Some(trouble) = poll_error_text(task, now, &location::origin()) {
        return Some(trouble.message);
    }
    if let Some(message) = cancel::user_message(task) {
        return Some(message);
    }
    if !task.watching {
        return Some("Hidden. It may keep running at the service.".into());
    }
    match &task.state {
        TaskState::Submitting => Some("Sending the request.".into()),
        TaskState::Fetching { .. } => Some("Completed; fetching the output.".into()),
        _ => unknown_word(task).map(with_close_hint),
    }
}

/// Appends to a message that the page can be closed, if tasks are stored. If they are not, the warning at the top of the page
/// explains what happens when it is closed. Tracked.
fn with_close_hint(message: String) -> String {
    match contexts().runner.unstored_message() {
        Some(_) => message,
        None => format!("{message} You can close this page."),
    }
}

/// The progress of a task that is under way.
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
    let estimate = {
        let (model, values) = (model.clone(), values.clone());
        memo(move || {
            let schema = catalog.schema(&model);
            let schema = schema.loaded().map(|schema| &**schema);
            let outputs = expected_output::expected_count(&values, schema);
            runner
                .with_tasks(|tasks| history::estimate(tasks.iter().copied(), &model, Some(outputs)))
        })
    };
    let wait = {
        let task = task.clone();
        derived(move || {
            let submitted = task.read().submitted;
            let elapsed = submitted.map_or(0, |since| now.get().saturating_sub(since));
            wait_text(elapsed, estimate.get().filter(|_| submitted.is_some()))
        })
    };
    let reported = Reported::of(&task, estimate, now);
    let line = {
        let task = task.clone();
        text(move || {
            let line = wait_line(&task.read(), now.get());
            line.unwrap_or_else(|| {
                with_close_hint(match reported.text.get() {
                    Some(text) => format!("{text}."),
                    None => wait.get().message,
                })
            })
        })
    };
    let why = {
        let task = task.clone();
        let why = memo(move || {
            poll_error_text(&task.read(), 0, &location::origin()).map(|trouble| trouble.details)
        });
        text(move || why.get().unwrap_or_default())
    };
    let message = {
        let task = task.clone();
        memo(move || task.read().progress.clone())
    };
    // Without a value, the progress bar is indeterminate.
    let fraction = {
        let task = task.clone();
        derived(move || {
            let reported = reported.fraction.get();
            let reported = reported.or_else(|| progress::fraction(message.read().as_deref()?));
            reported.or_else(|| wait.get().fraction.filter(|_| is_under_way(&task.read())))
        })
    };
    let is_exact = when(move || reported.fraction.read().is_some());
    let preview = preview(&task);
    let ratio = {
        let (all, task) = (contexts(), task.clone());
        memo(move || expected_shape::ratio(all, &task.get_untracked()))
    };
    let is_video = OutputKind::of("", &model.category) == OutputKind::Video;
    let video_model = model.clone();
    let expected = memo(move || {
        let schema = catalog.schema(&model);
        let schema = schema.loaded().map(|schema| &**schema);
        let ratio = ratio.get();
        // Outputs of unknown shape share one space.
        let count = ratio
            .as_ref()
            .map_or(1, |_| expected_output::expected_count(&values, schema));
        (count, ratio)
    });
    // The space for a video has the size of the video, which is not enlarged.
    let video = memo(move || {
        let (count, ratio) = expected.get();
        (is_video && count == 1).then(|| video_size::last_size(&video_model, &ratio?))?
    });
    let shapes = derived(move || {
        let (count, ratio) = expected.get();
        let shape = ratio.map(|ratio| Shape::from_ratio(&ratio));
        shape.map_or_else(Vec::new, |shape| vec![shape; count])
    });
    let has_several = when(move || expected.read().0 > 1);
    let others = dynamic(move || {
        let others =
            (1..expected.read().0).map(|_| view! { <div class="output-place"></div> }.into_any());
        others.collect_view().into_any()
    });
    let offer = offer(task.clone(), now);
    let unwatched = when(move || !task.read().watching);
    let place = view! {
        <div
            class:media-place=when(move || !has_several.get())
            class:outputs=has_several
            data-count=text(move || expected.read().0.min(5).to_string())
            style:--shape=derived(move || expected.read().1.clone().or_else(|| preview.ratio.get()))
            style:--width=derived(move || video.get().map(|(width, _)| format!("{width}px")))
            style:--most=derived(move || video.get().map(|(_, height)| format!("{height}px")))
        >
        <div class="waiting" class:previewed=preview.is_shown>
            {preview.picture}
            <div class="waiting-state">
                <progress
                    class:indeterminate=when(move || fraction.get().is_none())
                    class:exact=is_exact
                    aria-label="Under way"
                    aria-valuetext=reported.text
                    value=fraction
                    hidden=unwatched
                ></progress>
                <p
                    class="progress-line"
                    class:one-line=is_exact
                    title=derived(move || message.get().filter(|_| is_exact.get()))
                    hidden=when(move || unwatched.get() || message.read().is_none())
                    prop:textContent=text(move || message.get().unwrap_or_default())></p>
                <p class="muted">{with_settings_link(line)}</p>
                <details hidden=when(move || why.read().is_empty())>
                    <summary>"Why?"</summary>
                    <p class="muted">{with_settings_link(why)}</p>
                </details>
                {reported.announcement()}
                {offer}
            </div>
        </div>
        {others}
        </div>
    };
    output_container(shapes, place.into_any())
}

/// Explains a state: what happened, what it means, what to do.
#[component]
pub fn Explained(task: Task) -> impl IntoView {
    words::explain(&task).map(|explanation| {
        view! {
            <div class="explained" data-phase=task.state.phase().word()>
                <p class="explained-what">{words::linked(&task, explanation.what)}</p>
                <p class="muted" prop:textContent=explanation.meaning></p>
                {refused::links(&task)}
            </div>
        }
        .into_any()
    })
}

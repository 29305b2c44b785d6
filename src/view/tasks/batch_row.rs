use crate::state::contexts::contexts;
use atelier_engine::{BatchKey, Task, TaskKey};
use atelier_studio::batch::differences::Difference;
use atelier_studio::batch::naming::{found_label, unnamed_differences};
use atelier_studio::batch::reasons::reasons_message;
use atelier_studio::batch::summary::{last_retry, when_sent};
use atelier_studio::batch::{Batch, Counts, Part};
use atelier_studio::form::refused_input;
use atelier_studio::navigation::route::Route;
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use web_sys::HtmlElement;

use super::retry::retry;
use crate::browser::{clock, dates};
use crate::reactive::boxed::{dynamic, handler, memo, text, when};
use crate::runner::Runner;
use crate::state::batches::Batches;
use crate::view::parts::double_click_guard::DoubleClickGuard;
use crate::view::task::{thumbnail, words};

/// The maximum number of pictures in a row, which fills most screens. The page of the batch shows all.
const PICTURES: usize = 16;

/// A batch in the list of tasks: the latest pictures of the items that match, their states, and how they differ.
#[component]
pub fn BatchRow(
    batch_key: BatchKey,
    tasks: Vec<TaskKey>,
    /// Shared by all rows: after a retry, another row moves to this position.
    held: DoubleClickGuard,
) -> impl IntoView {
    let all = contexts();
    let runner = all.runner;
    let batch = memo({
        let key = batch_key.clone();
        move || Batches::new(all).find(&key)
    });
    let first = tasks.first().and_then(|key| runner.task(key));
    let Some(first) = first.map(|task| task.get_untracked()) else {
        return ().into_any();
    };
    let name = {
        let fallback = first.model_name.clone();
        text(move || {
            let batch = batch.read();
            batch
                .as_ref()
                .map_or_else(|| fallback.clone(), |batch| batch.name.clone())
        })
    };
    let about = {
        let now = clock::now();
        let (sent, retried) = runner.with_tasks_of(&tasks, |tasks| {
            let tasks = || tasks.iter().copied();
            (when_sent(tasks()), last_retry(tasks()))
        });
        let found = tasks.len();
        // Explains the position of the row: the list sorts batches by their latest attempt.
        let retried = retried.map(|at| format!(" · retried {}", dates::as_of(at, now)));
        let (retried, model) = (retried.unwrap_or_default(), first.model_name.clone());
        text(move || {
            let batch = batch.read();
            let size = batch.as_ref().map_or(found, Batch::count);
            let sent = batch.as_ref().map_or(sent, |batch| batch.created);
            let (items, sent) = (found_label(found, size), dates::time(sent, now));
            format!("{model} · {items} · {sent}{retried}")
        })
    };
    let chips = {
        let tasks = tasks.clone();
        move || {
            let name = name.get();
            let found = runner.with_tasks_of(&tasks, |tasks| unnamed_differences(&name, tasks));
            found.iter().map(chip).collect_view().into_any()
        }
    };
    let counts = memo({
        let tasks = tasks.clone();
        move || {
            runner.track_phases();
            runner.with_tasks_of(&tasks, |tasks| Counts::of_tasks(tasks.iter().copied()))
        }
    });
    let failed = memo({
        let tasks = tasks.clone();
        move || {
            runner.track_phases();
            runner.with_tasks_of(&tasks, |tasks| {
                // The reasons include those of tasks whose inputs must be changed before a retry.
                let failed = || tasks.iter().filter(|task| task.has_failed());
                let again = failed().filter(|task| refused_input::may_succeed_unchanged(task));
                let reason = |task: &&Task| words::explain(task).map(|it| it.what);
                let reasons = failed().map(|task| reason(task).unwrap_or_default());
                let again = again.map(|task| task.key.clone());
                (
                    again.collect::<Vec<TaskKey>>(),
                    reasons.collect::<Vec<String>>(),
                )
            })
        }
    });
    let press = move |_| {
        retry(all, held, &failed.get_untracked().0);
    };
    let to_retry = move || failed.read().0.len();
    let reason = text(move || reasons_message(&failed.read().1));
    let more = tasks.len().saturating_sub(PICTURES);
    let pictures = tasks.iter().take(PICTURES);
    // Tab stops at the row's link and at one picture; arrow keys move to the others.
    let mut pictures = pictures
        .enumerate()
        .filter_map(|(at, key)| picture(runner, key, at == 1));
    let first_picture = pictures.next();
    let pictures: Vec<AnyView> = pictures.collect();
    let retry_label = text(move || format!("Retry {} failed: {}", to_retry(), name.get()));
    view! {
        <article class="batch-row" on:keydown=handler(move_focus) aria-label=text(move || format!("Batch: {}", name.get()))>
            <div class="batch-first">{first_picture}</div>
            <div class="batch-row-head">
                <div class="task-row-text">
                    <p dir="auto" translate="no">
                        <a class="cover" href=Route::Batch(batch_key).path()>
                            {name}
                        </a>
                    </p>
                    <span class="muted" translate="no">{about}</span>
                </div>
                <button
                    class="button quiet small task-row-retry"
                    type="button"
                    aria-label=retry_label
                    hidden=when(move || to_retry() == 0)
                    on:click=handler(press)
                    prop:textContent=text(move || format!("Retry {} failed", to_retry()))></button>
                <p class="batch-row-counts" role="status">
                    {dynamic(move || pills(&counts.read()))}
                </p>
            </div>
            <div class="batch-strip">
                {pictures} {(more > 0).then(|| view! { <span class="batch-strip-more">"+" {more}</span> }.into_any())}
            </div>
            <div class="batch-row-foot">
                <span class="reason" title=reason prop:textContent=reason></span>
                <ul class="batch-row-chips" translate="no" aria-label="Differs in">
                    {dynamic(chips)}
                </ul>
            </div>
        </article>
    }
    .into_any()
}

/// The number of items in each state, in the state's color. Screen readers announce them as one sentence.
fn pills(counts: &Counts) -> AnyView {
    let pill = |(at, (part, phrase)): (usize, (Part, String))| {
        let comma =
            (at > 0).then(|| view! { <span class="visually-hidden">", "</span> }.into_any());
        view! {
            {comma}
            <span class="pill" translate="no" data-phase=part.phase_word()>
                {phrase}
            </span>
        }
        .into_any()
    };
    let pills = counts.phrases().enumerate().map(pill);
    pills.collect_view().into_any()
}

fn chip(difference: &Difference) -> AnyView {
    view! { <li>{difference.user_message()}</li> }.into_any()
}

/// Moves the focus between the pictures with the arrow keys.
fn move_focus(event: leptos::ev::KeyboardEvent) {
    let forward = match event.key().as_str() {
        "ArrowRight" => true,
        "ArrowLeft" => false,
        _ => return,
    };
    let target = event_target::<web_sys::Element>(&event);
    let next = match forward {
        true => target.next_element_sibling(),
        false => target.previous_element_sibling(),
    };
    let next = next.and_then(|next| next.dyn_into::<HtmlElement>().ok());
    if let Some(next) =
        next.filter(|next| target.has_attribute("href") && next.has_attribute("href"))
    {
        event.prevent_default();
        // Fails only if the element was removed.
        let _ = next.focus();
    }
}

/// The picture of an item, which links to its task.
fn picture(runner: Runner, key: &TaskKey, is_stop: bool) -> Option<AnyView> {
    let task = runner.task(key)?;
    let shown = thumbnail(&task);
    let label = {
        let task = task.clone();
        text(move || {
            let task = task.read();
            let number = task.batch.as_ref().map_or(0, |place| place.index + 1);
            format!("Item {number}: {}, {}", task.input.title(), task.label())
        })
    };
    let picture = view! {
        <a class="task-row-picture" tabindex=if is_stop { "0" } else { "-1" } href=Route::Task(key.clone()).path() aria-label=label title=label>
            {shown}
        </a>
    };
    Some(picture.into_any())
}

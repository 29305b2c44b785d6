//! The variations of one press, shown together, each large enough to compare it with the others.

use std::sync::Arc;

use atelier_engine::time_left::progress_text;
use atelier_engine::{Action, BatchKey, Phase, Task};
use atelier_studio::navigation::route::Route;
use atelier_studio::output::expected_output;
use atelier_studio::task::output_group::{OutputSlot, state};
use atelier_studio::task::progress;
use icondata_lu::{LuColumns2, LuListChecks, LuPencil, LuRepeat2, LuTrash2};
use leptos::prelude::*;

use super::actions::{Actions, perform};
use super::again::Again;
use super::output_container::output_container;
use super::outputs::{NO_OUTPUT, Shape, figure};
use super::reported::small_bar;
use super::shown_output::ShownOutput;
use super::state::{Explained, StateLine, StatePill, wait_line};
use super::{edit, more, name, vary};
use crate::browser::clock;
use crate::reactive::boxed::{derived, dynamic, handler, memo, text, when};
use crate::state::cancel;
use crate::state::contexts::{Contexts, contexts};
use crate::view::lightbox::shown;
use crate::view::parts::glyph::Glyph;
use crate::view::parts::settings_link::with_settings_link;
use crate::view::parts::ticker::ticker;

/// Returns how many outputs a task requests; tracked.
pub fn expected(all: Contexts, task: &Task) -> usize {
    let schema = all.catalog.schema(&task.model);
    expected_output::expected_count(task.input.values(), schema.loaded().map(|schema| &**schema))
}

pub fn together(batch: &BatchKey, places: &[OutputSlot]) -> AnyView {
    let runner = contexts().runner;
    let tasks = places.iter().map(|place| runner.task(&place.task));
    let tasks: Vec<_> = tasks.collect();
    let Some(first) = tasks.first().cloned().flatten() else {
        return ().into_any();
    };
    let first = Arc::new(first.get_untracked());
    let title = match first.input.title() {
        "" => "No prompt".to_owned(),
        title => title.to_owned(),
    };
    let again = Again::of(&first);
    let shapes: Vec<Shape> = places.iter().map(|_| Shape::new(first.clone())).collect();
    let total = places.len();
    let items = places.iter().zip(&shapes).enumerate();
    let items = items.map(|(at, (place, shape))| item(place, at + 1, total, again, shape.clone()));
    let items = items.collect_view();
    let measured = derived({
        let tasks = tasks.clone();
        let positions: Vec<usize> = places.iter().map(|place| place.position).collect();
        move || {
            let places = shapes.iter().zip(&tasks).zip(&positions);
            let measured = places.map(|((shape, task), position)| {
                let task = task.as_ref().map(|task| task.read());
                let url = task.as_ref().and_then(|task| task.outputs().get(*position));
                shape.measure(url.map_or("", String::as_str))
            });
            measured.collect()
        }
    });
    let completed = memo({
        let (tasks, places) = (tasks, places.to_vec());
        move || {
            let known = places.iter().zip(&tasks);
            let completed = known.filter(|(place, task)| {
                let task = task.as_ref().map(|task| task.read());
                task.is_some_and(|task| task.outputs().len() > place.position)
            });
            completed
                .map(|(place, _)| place.task.output(place.position))
                .collect::<Vec<_>>()
        }
    });
    let list = view! {
        <ul role="list" class="outputs" data-count=total.to_string()>
            {items}
        </ul>
    };
    let keys = {
        let batch = batch.clone();
        memo(move || runner.keys_of_batch(&batch))
    };
    let status = text(move || {
        runner.track_phases();
        runner.with_tasks_of(&keys.read(), state)
    });
    let count = text(move || format!("{} variations", keys.read().len()));
    view! {
        <section class="task together" aria-label=count>
            <header class="task-head" translate="no">
                <div class="task-title">
                    <p class="task-prompt" dir="auto">
                        {title}
                    </p>
                </div>
                <p class="state-line">
                    <a href=Route::Batch(batch.clone()).path() prop:textContent=count></a>
                    <span class="muted" role="status" prop:textContent=status></span>
                </p>
            </header>
            {output_container(measured, list.into_any())}
            {actions(&first, again, completed)}
        </section>
    }
    .into_any()
}

/// Buttons that repeat the variations, and one that compares the completed outputs.
fn actions(task: &Task, again: Again, completed: Memo<Vec<String>>) -> AnyView {
    let navigation = contexts().navigation;
    let edit = view! {
        <Glyph icon=LuPencil />
        <span class="word">"Edit"</span>
    };
    view! {
        <footer class="task-actions">
            {dynamic(move || match again.has_seed() {
                true => vary::vary(1, again.outputs_of_each(), move |count| again.press("Vary", count)),
                false => ().into_any(),
            })}
            <button
                class="button again"
                type="button"
                on:click=handler(move |_| again.press("Run again", 1))
            >
                <Glyph icon=LuRepeat2 />
                <span class="word">"Run again"</span>
            </button>
            {edit::button(task, "button", edit.into_any())}
            <button
                class="button compare"
                type="button"
                title="Side by side"
                hidden=when(move || completed.read().len() < 2)
                on:click=handler(move |_| shown::compare(navigation, &completed.read_untracked()))
            >
                <Glyph icon=LuColumns2 />
                <span class="word" prop:textContent=text(move || format!("Compare {}", completed.read().len()))></span>
            </button>
            {again.answer.view()}
        </footer>
    }
    .into_any()
}

fn item(place: &OutputSlot, n: usize, total: usize, again: Again, shape: Shape) -> AnyView {
    let Some(task) = contexts().runner.task(&place.task) else {
        return ().into_any();
    };
    let position = place.position;
    let output = place.task.output(position);
    let (label, kind) = task.with_untracked(|task| (name(task), task.output_kind("")));
    let since = clock::now();
    let all = contexts();
    let state = memo({
        let task = task.clone();
        move || {
            let task = task.read();
            let url = task.outputs().get(position).cloned();
            // A change of the offered actions rebuilds the item.
            let offered = Action::offered_by(&task, cancel::is_offered(all, &task));
            (offered, task.state.phase(), url)
        }
    });
    let content = {
        let task = task.clone();
        dynamic(move || {
            let now = Arc::new(task.get_untracked());
            let Some(url) = state.get().2 else {
                return pending_output(&task, position, shape.clone());
            };
            let shown = ShownOutput::new(now, url, position, since);
            let has_dead_link = RwSignal::new(false);
            let others = menu_items(&shown);
            figure(shown, n, total, again, has_dead_link, shape.clone(), others)
        })
    };
    view! {
        <li class="output" data-kind=kind.word() data-shown=output>
            <article aria-label=format!("{label}, variation {n} of {total}")>
                <span class="visually-hidden" role="status">
                    <StatePill task />
                </span>
                {content}
            </article>
        </li>
    }
    .into_any()
}

/// Further menu items for one of the outputs.
fn menu_items(shown: &ShownOutput) -> AnyView {
    let all = contexts();
    let key = shown.task.key.clone();
    let output = key.output(shown.position);
    let href = Route::Task(key.clone()).path();
    let remove = move || perform(all, &key, Action::Remove);
    view! {
        <a class="button quiet" href=href>
            <Glyph icon=LuListChecks />
            "Show task"
        </a>
        {more::item(&output, Action::Remove.label(), LuTrash2, true, remove)}
    }
    .into_any()
}

/// Buttons for the actions on a task that is under way.
fn action_buttons(task: &Task) -> AnyView {
    let all = contexts();
    let key = task.key.clone();
    let button = |action: Action| {
        let key = key.clone();
        let act = move |_| perform(all, &key, action);
        view! {
            <button class="button quiet" type="button" on:click=handler(act)>
                {action.label()}
            </button>
        }
        .into_any()
    };
    let can_cancel = untrack(|| cancel::is_offered(all, task));
    let offered = Action::offered_by(task, can_cancel).into_iter();
    offered.map(button).collect_view().into_any()
}

/// The space for an output that does not exist yet, with the state of its task.
fn pending_output(task: &ArcRwSignal<Task>, position: usize, shape: Shape) -> AnyView {
    let known = task.get_untracked();
    let content = match known.is_active() {
        _ if position > 0 => ().into_any(),
        true => {
            // The actions on all variations are below the list.
            let buttons = action_buttons(&known);
            let (task, now) = (task.clone(), ticker(1_000));
            let line = {
                let task = task.clone();
                text(move || {
                    let task = task.read();
                    let line = wait_line(&task, now.get());
                    let line = line.or_else(|| task.progress.clone());
                    line.or_else(|| Some(progress_text(progress::reported(&task)?, None)))
                        .unwrap_or_default()
                })
            };
            let bar = small_bar(&task);
            view! {
                <div aria-hidden="true">
                    <StateLine task />
                </div>
                {bar}
                <p class="muted">{with_settings_link(line)}</p>
                {buttons}
            }
            .into_any()
        }
        false => view! {
            <p class="muted" hidden=known.state.phase() != Phase::Ready>
                {NO_OUTPUT}
            </p>
            <Explained task=known.clone() />
            <Actions task=known.clone() again=Again::of(&known) has_dead_link=RwSignal::new(false) />
        }
        .into_any(),
    };
    view! {
        <div class="variation" style:--shape=shape.css_ratio()>
            {content}
        </div>
    }
    .into_any()
}

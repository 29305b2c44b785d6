use crate::state::contexts::{Contexts, contexts};
use atelier_contract::ModelId;
use atelier_engine::{BatchKey, Task, TaskKey, wait_text};
use atelier_studio::history;
use atelier_studio::navigation::route::Route;
use atelier_studio::task::filmstrip::{Frame, filmstrip};
use atelier_studio::task::output_group::{OutputSlot, slots};
use icondata_lu::{LuImage, LuLayers};
use leptos::prelude::*;

use super::newest_single::newest_single;
use crate::browser::frame::after_frame;
use crate::browser::lifecycle::is_visible;
use crate::reactive::boxed::{dynamic, effect, handler, memo, text, when};
use crate::state::batches::Batches;
use crate::view::parts::glyph::Glyph;
use crate::view::parts::list::{Item, list};
use crate::view::parts::{focus, viewport};
use crate::view::task::{StatePill, TaskArticle, name, thumbnail, together};

/// How many of a model's tasks are at hand beside its form; the rest is under Tasks.
const MAX: usize = 16;

/// This model's latest task, large, and those before it in a strip, among its batches.
#[component]
pub fn ResultRegion(
    model: ModelId,
    /// How many outputs the form asks for.
    outputs: Signal<Option<usize>>,
    /// The form holds what has come with a link: until something is made of it, nothing that is here belongs to it.
    is_recipe: RwSignal<bool>,
) -> impl IntoView {
    let all = contexts();
    let runner = all.runner;
    let frames = {
        let model = model.clone();
        memo(move || {
            let keys = runner.keys();
            let frames = keys.iter().filter_map(|key| {
                let is_meant = |task: &Task| task.model == model;
                let frame =
                    |task: &Task| is_meant(task).then(|| (Frame::of(task), task.batch.clone()));
                runner.task(key)?.with_untracked(frame)
            });
            filmstrip(frames, MAX + 1)
        })
    };
    // However many batches were sent since.
    let newest = newest_single(runner, model.clone());
    let chosen = RwSignal::new(None::<TaskKey>);
    // What was sent just now is what a person wants to see. What was stored and has been read now was not.
    let was_read = StoredValue::new(false);
    effect(move || {
        // Read, and not only tracked: while a recipe is shown nobody else asks what is the newest.
        let _ = newest.get();
        chosen.set(None);
        if was_read.get_value() {
            is_recipe.set(false);
        }
        was_read.set_value(runner.is_open());
    });
    // What comes with a link takes the place of what was looked at before it.
    effect(move || {
        if is_recipe.get() {
            chosen.set(None);
        }
    });
    let shown = memo(move || {
        let is_there = |key: &TaskKey| runner.keys().contains(key);
        let chosen = chosen.get().filter(is_there);
        chosen.or_else(|| match is_recipe.get() {
            true => None,
            false => newest.get(),
        })
    });
    // What was pressed in here goes with the task that it belonged to: keys stay where they were.
    let section = NodeRef::<leptos::html::Section>::new();
    let had_focus = StoredValue::new(false);
    effect(move || {
        shown.track();
        if !had_focus.get_value() {
            return;
        }
        had_focus.set_value(false);
        after_frame(move || {
            // The page may have been left within the frame.
            let section = section.try_get_untracked().flatten();
            if let Some(section) = section.filter(|_| focus::is_lost()) {
                focus::in_place(&section);
            }
        });
    });
    // What was varied with one press is judged at a glance, whichever of it is chosen.
    let seen = memo(move || {
        let key = shown.get()?;
        let together = together_with(all, &key);
        Some((key, together))
    });
    let article = move || match seen.get() {
        Some((_, Some((batch, places)))) => {
            let names = places.iter().map(|place| place.task.output(place.position));
            let key = names.collect::<Vec<_>>().join(" ");
            vec![Item::new(key, move || together::together(&batch, &places))]
        }
        Some((key, None)) => vec![Item::new(key.0.clone(), move || {
            view! { <TaskArticle task_key=key.clone() on_model_page=true /> }.into_any()
        })],
        None => Vec::new(),
    };
    let is_seen = move |key: &TaskKey| match &*seen.read() {
        Some((_, Some((_, places)))) => places.iter().any(|place| place.task == *key),
        Some((only, None)) => only == key,
        None => false,
    };
    // The one that is shown keeps its place: nothing moves under the finger that chooses.
    let strip = move || {
        let frames = frames.get().into_iter().take(MAX);
        let item = |frame: Frame| match frame {
            Frame::Batch(batch, key) => Item::new(format!("{} {}", batch.0, key.0), move || {
                stack(batch.clone(), &key)
            }),
            Frame::Task(key) => match is_seen(&key) {
                true => Item::new(format!("{} shown", key.0), move || mark(&key)),
                false => Item::new(key.0.clone(), move || small(key.clone(), chosen)),
            },
        };
        frames.map(item).collect()
    };
    // What is shown alone needs no strip.
    let has_strip = memo(move || {
        let frames = frames.read();
        !frames.iter().all(|frame| frame.task().is_some_and(is_seen))
    });
    // Where it has a pane of its own it moves nothing: the form is on the screen before it is built. There are no frames while
    // the page is not looked at.
    let is_awaited = RwSignal::new(viewport::is_beside() && is_visible());
    if is_awaited.get_untracked() {
        after_frame(move || {
            is_awaited.try_set(false);
        });
    }
    let made = move || {
        if is_awaited.get() {
            return ().into_any();
        }
        view! {
            {list(article)}
            <div class="strip" hidden=when(move || !has_strip.get())>
                {list(strip)}
                <a class="button quiet" href="/tasks" hidden=when(move || frames.read().len() <= MAX)>
                    "All tasks"
                </a>
            </div>
        }
        .into_any()
    };
    let usual = text(move || {
        runner.track_phases();
        let outputs = outputs.get();
        let usual =
            runner.with_tasks(|tasks| history::estimate(tasks.iter().copied(), &model, outputs));
        usual.map_or_else(String::new, wait_text::usual_text)
    });
    view! {
        <section
            class="result"
            aria-label="Result"
            tabindex="-1"
            node_ref=section
            on:focusin=handler(move |_: web_sys::FocusEvent| had_focus.set_value(true))
        >
            <div class="empty" hidden=when(move || shown.read().is_some())>
                <Glyph icon=LuImage />
                <p>"Results appear here."</p>
                <p class="muted">
                    <span prop:textContent=usual></span>
                    <span hidden=when(move || runner.unkept_message().is_some())>
                        " Tasks keep running if you leave this page."
                    </span>
                </p>
            </div>
            {dynamic(made)}
        </section>
    }
}

/// The batch of a variation, and what is seen of it together; tracked.
fn together_with(all: Contexts, key: &TaskKey) -> Option<(BatchKey, Vec<OutputSlot>)> {
    let runner = all.runner;
    let batch = runner.place_of(key)?.batch;
    runner.track_phases();
    let keys = runner.keys_of_batch(&batch);
    let places = runner.with_tasks_of(&keys, |tasks| {
        slots(tasks, |task| together::expected(all, task))
    });
    (!places.is_empty()).then_some((batch, places))
}

/// Where in the strip the task stands that is shown above it.
fn mark(key: &TaskKey) -> AnyView {
    let task = contexts().runner.task(key);
    let picture = task.map(|task| thumbnail(&task));
    view! {
        <div class="strip-task shown" aria-hidden="true">
            <span class="strip-picture">{picture}</span>
        </div>
    }
    .into_any()
}

/// A task of the strip: pressed, it is shown large.
fn small(key: TaskKey, chosen: RwSignal<Option<TaskKey>>) -> AnyView {
    let runner = contexts().runner;
    let Some(task) = runner.task(&key) else {
        return ().into_any();
    };
    let label = task.with_untracked(name);
    let picture = thumbnail(&task);
    // Its picture, or its mark, says the state to who sees it.
    let title = {
        let (task, label) = (task.clone(), label.clone());
        text(move || format!("{label}, {}", task.read().label()))
    };
    view! {
        <article class="strip-task" aria-label=label title=title>
            <span class="strip-picture" aria-hidden="true">
                {picture}
            </span>
            <span class="visually-hidden" role="status">
                <StatePill task />
            </span>
            <button
                class="cover"
                type="button"
                aria-label="Show this one"
                on:click=handler(move |_| chosen.set(Some(key.clone())))
            ></button>
        </article>
    }
    .into_any()
}

/// A batch: its latest picture, and the way to its page.
fn stack(batch: BatchKey, latest: &TaskKey) -> AnyView {
    let all = contexts();
    let Some(task) = all.runner.task(latest) else {
        return ().into_any();
    };
    let picture = thumbnail(&task);
    let href = Route::Batch(batch.clone()).path();
    // Its name may not have been read yet.
    let title = task.with_untracked(|task| task.input.title().to_owned());
    let label = text(move || {
        let name = Batches::new(all).name(&batch);
        format!("Batch: {}", name.unwrap_or_else(|| title.clone()))
    });
    view! {
        <a class="strip-task stack" href=href aria-label=label title=label>
            <span class="strip-picture" aria-hidden="true">
                {picture}
            </span>
            <Glyph icon=LuLayers />
        </a>
    }
    .into_any()
}

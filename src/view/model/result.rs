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

/// Maximum number of frames in the strip. The page "Tasks" has the others.
const MAX_FRAMES: usize = 16;

/// The latest task of the model, and a strip with earlier tasks and batches.
#[component]
pub fn ResultRegion(
    model: ModelId,
    /// The number of outputs that the form requests.
    outputs: Signal<Option<usize>>,
    /// Whether the input comes from a link. No earlier task is shown as its result.
    is_recipe: RwSignal<bool>,
) -> impl IntoView {
    let all = contexts();
    let runner = all.runner;
    let frames = {
        let model = model.clone();
        memo(move || {
            let keys = runner.keys();
            let frames = keys.iter().filter_map(|key| {
                let is_of_model = |task: &Task| task.model == model;
                let frame =
                    |task: &Task| is_of_model(task).then(|| (Frame::of(task), task.batch.clone()));
                runner.task(key)?.with_untracked(frame)
            });
            filmstrip(frames, MAX_FRAMES + 1)
        })
    };
    let newest = newest_single(runner, model.clone());
    let chosen = RwSignal::new(None::<TaskKey>);
    // Show a task once it is submitted. A task that was read from storage doesn't replace an input from a link.
    let was_read = StoredValue::new(false);
    effect(move || {
        // `get` also evaluates the memo, which no other code does while an input from a link is shown; `track` would not.
        let _ = newest.get();
        chosen.set(None);
        if was_read.get_value() {
            is_recipe.set(false);
        }
        was_read.set_value(runner.is_open());
    });
    // An input from a link replaces the chosen task.
    effect(move || {
        if is_recipe.get() {
            chosen.set(None);
        }
    });
    let shown = memo(move || {
        let is_listed = |key: &TaskKey| runner.keys().contains(key);
        let chosen = chosen.get().filter(is_listed);
        chosen.or_else(|| match is_recipe.get() {
            true => None,
            false => newest.get(),
        })
    });
    // The focused button disappears with its task: keep the focus in this section.
    let section = NodeRef::<leptos::html::Section>::new();
    let had_focus = StoredValue::new(false);
    effect(move || {
        shown.track();
        if !had_focus.get_value() {
            return;
        }
        had_focus.set_value(false);
        after_frame(move || {
            // The page may be disposed by then.
            let section = section.try_get_untracked().flatten();
            if let Some(section) = section.filter(|_| focus::is_lost()) {
                focus::in_place(&section);
            }
        });
    });
    // Variations that were requested together are shown together, whichever of them is chosen.
    let displayed = memo(move || {
        let key = shown.get()?;
        let together = group_of(all, &key);
        Some((key, together))
    });
    let article = move || match displayed.get() {
        Some((_, Some((batch, slots)))) => {
            let names = slots.iter().map(|slot| slot.task.output(slot.position));
            let key = names.collect::<Vec<_>>().join(" ");
            vec![Item::new(key, move || together::together(&batch, &slots))]
        }
        Some((key, None)) => vec![Item::new(key.0.clone(), move || {
            view! { <TaskArticle task_key=key.clone() on_model_page=true /> }.into_any()
        })],
        None => Vec::new(),
    };
    let is_displayed = move |key: &TaskKey| match &*displayed.read() {
        Some((_, Some((_, slots)))) => slots.iter().any(|slot| slot.task == *key),
        Some((only, None)) => only == key,
        None => false,
    };
    // The shown task stays in the strip, so that the other frames don't move.
    let strip = move || {
        let frames = frames.get().into_iter().take(MAX_FRAMES);
        let item = |frame: Frame| match frame {
            Frame::Batch(batch, key) => Item::new(format!("{} {}", batch.0, key.0), move || {
                batch_frame(batch.clone(), &key)
            }),
            Frame::Task(key) => match is_displayed(&key) {
                true => Item::new(format!("{} shown", key.0), move || shown_frame(&key)),
                false => Item::new(key.0.clone(), move || task_frame(key.clone(), chosen)),
            },
        };
        frames.map(item).collect()
    };
    // No strip if it would contain only the shown tasks.
    let has_strip = memo(move || {
        let frames = frames.read();
        !frames
            .iter()
            .all(|frame| frame.task().is_some_and(is_displayed))
    });
    // If the result has its own pane, rendering it later shifts nothing: render the form first. A hidden page gets no
    // animation frames, so it renders both at once.
    let is_deferred = RwSignal::new(viewport::is_side_by_side() && is_visible());
    if is_deferred.get_untracked() {
        after_frame(move || {
            is_deferred.try_set(false);
        });
    }
    let content = move || {
        if is_deferred.get() {
            return ().into_any();
        }
        view! {
            {list(article)}
            <div class="strip" hidden=when(move || !has_strip.get())>
                {list(strip)}
                <a class="button quiet" href="/tasks" hidden=when(move || frames.read().len() <= MAX_FRAMES)>
                    "All tasks"
                </a>
            </div>
        }
        .into_any()
    };
    let estimate = text(move || {
        runner.track_phases();
        let outputs = outputs.get();
        let estimate =
            runner.with_tasks(|tasks| history::estimate(tasks.iter().copied(), &model, outputs));
        estimate.map_or_else(String::new, wait_text::usual_text)
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
                    <span prop:textContent=estimate></span>
                    <span hidden=when(move || runner.unstored_message().is_some())>
                        " Tasks keep running if you leave this page."
                    </span>
                </p>
            </div>
            {dynamic(content)}
        </section>
    }
}

/// Returns the batch of a variation and its outputs if they are shown together; tracked.
fn group_of(all: Contexts, key: &TaskKey) -> Option<(BatchKey, Vec<OutputSlot>)> {
    let runner = all.runner;
    let batch = runner.place_of(key)?.batch;
    runner.track_phases();
    let keys = runner.keys_of_batch(&batch);
    let slots = runner.with_tasks_of(&keys, |tasks| {
        slots(tasks, |task| together::expected(all, task))
    });
    (!slots.is_empty()).then_some((batch, slots))
}

/// Returns the frame of the shown task in the strip.
fn shown_frame(key: &TaskKey) -> AnyView {
    let task = contexts().runner.task(key);
    let picture = task.map(|task| thumbnail(&task));
    view! {
        <div class="strip-task shown" aria-hidden="true">
            <span class="strip-picture">{picture}</span>
        </div>
    }
    .into_any()
}

/// Returns the frame of a task in the strip. A click shows the task.
fn task_frame(key: TaskKey, chosen: RwSignal<Option<TaskKey>>) -> AnyView {
    let runner = contexts().runner;
    let Some(task) = runner.task(&key) else {
        return ().into_any();
    };
    let label = task.with_untracked(name);
    let picture = thumbnail(&task);
    // The state is visible only as a picture or an icon: the tooltip names it.
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

/// Returns the frame of a batch: its latest picture with a link to its page.
fn batch_frame(batch: BatchKey, latest: &TaskKey) -> AnyView {
    let all = contexts();
    let Some(task) = all.runner.task(latest) else {
        return ().into_any();
    };
    let picture = thumbnail(&task);
    let href = Route::Batch(batch.clone()).path();
    // Fallback until the name of the batch has been read.
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

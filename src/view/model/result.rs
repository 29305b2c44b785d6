use crate::contexts::contexts;
use atelier_contract::ModelId;
use atelier_engine::{Task, TaskKey, history, waiting};
use icondata_lu::LuImage;
use leptos::prelude::*;

use crate::boxed::{effect, handler, memo, text, when};
use crate::browser::frame::after_frame;
use crate::view::parts::focus;
use crate::view::parts::glyph::Glyph;
use crate::view::parts::list::{Item, list};
use crate::view::task::{StatePill, TaskArticle, name, thumbnail};

/// How many of a model's tasks are at hand beside its form; the rest is under Tasks.
const MAX: usize = 16;

/// This model's latest task, large, and those before it in a strip.
#[component]
pub fn ResultRegion(
    model: ModelId,
    /// How many outputs the form asks for.
    outputs: Signal<Option<usize>>,
) -> impl IntoView {
    let runner = contexts().runner;
    let tasks = {
        let model = model.clone();
        memo(move || {
            runner
                .keys()
                .iter()
                .filter(|key| {
                    // A batch has a place of its own.
                    let is_single = |task: &Task| task.model == model && task.batch.is_none();
                    runner
                        .task(key)
                        .is_some_and(|task| task.with_untracked(is_single))
                })
                .take(MAX + 1)
                .cloned()
                .collect::<Vec<TaskKey>>()
        })
    };
    let newest = memo(move || tasks.read().first().cloned());
    let chosen = RwSignal::new(None::<TaskKey>);
    // What was sent just now is what a person wants to see.
    effect(move || {
        newest.track();
        chosen.set(None);
    });
    let shown = memo(move || {
        let chosen = chosen.get().filter(|key| tasks.read().contains(key));
        chosen.or(newest.get())
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
            if let (true, Some(section)) = (focus::is_lost(), section.get_untracked()) {
                focus::in_place(&section);
            }
        });
    });
    let article = move || {
        let key = shown.get().into_iter();
        let article = |key: TaskKey| {
            Item::new(key.0.clone(), move || {
                view! { <TaskArticle task_key=key.clone() on_model_page=true /> }.into_any()
            })
        };
        key.map(article).collect()
    };
    // The one that is shown keeps its place: nothing moves under the finger that chooses.
    let strip = move || {
        let shown = shown.get();
        let tasks = tasks.get().into_iter().take(MAX);
        tasks
            .map(|key| match Some(&key) == shown.as_ref() {
                true => Item::new(format!("{} shown", key.0), move || mark(&key)),
                false => Item::new(key.0.clone(), move || small(key.clone(), chosen)),
            })
            .collect()
    };
    let usual = text(move || {
        runner.track_phases();
        let outputs = outputs.get();
        let usual =
            runner.with_tasks(|tasks| history::estimate(tasks.iter().copied(), &model, outputs));
        usual.map_or_else(String::new, waiting::said_of)
    });
    view! {
        <section
            class="result"
            aria-label="Result"
            tabindex="-1"
            node_ref=section
            on:focusin=handler(move |_: web_sys::FocusEvent| had_focus.set_value(true))
        >
            <div class="empty" hidden=when(move || !tasks.read().is_empty())>
                <Glyph icon=LuImage />
                <p>"Results appear here."</p>
                <p class="muted">{usual} " Tasks keep running if you leave this page."</p>
            </div>
            {list(article)}
            <div class="strip" hidden=when(move || tasks.read().len() < 2)>
                {list(strip)}
                <a class="button quiet" href="/tasks" hidden=when(move || tasks.read().len() <= MAX)>
                    "All tasks"
                </a>
            </div>
        </section>
    }
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
    let phase = {
        let task = task.clone();
        text(move || task.read().state.phase().word().to_owned())
    };
    view! {
        <article class="strip-task" aria-label=label.clone() data-phase=phase title=label>
            <span class="strip-picture" aria-hidden="true">
                {picture}
            </span>
            <span class="strip-state" role="status">
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

//! The items of a batch one at a time, as large as the window is, and a control for each parameter in which they
//! differ.

use std::sync::Arc;

use atelier_contract::Input;
use atelier_engine::batch::Batch;
use atelier_engine::batch::exploration::{self, Exploration};
use atelier_engine::output::OutputKind;
use atelier_engine::route::{Route, with_query_value};
use atelier_engine::{BatchKey, Task, TaskKey, TaskState};
use gloo_events::{EventListener, EventListenerOptions, EventListenerPhase};
use icondata_lu::{LuMove, LuX};
use leptos::html::{Dialog, Div};
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use wasm_bindgen_futures::JsFuture;
use web_sys::{HtmlElement, HtmlImageElement};

use super::{actions, axes, shown_output};
use crate::batches::Batches;
use crate::boxed::{dynamic, effect, handler, memo, spawn, text, when};
use crate::browser::frame::after_frame;
use crate::contexts::contexts;
use crate::navigation::Navigation;
use crate::view::dialogs;
use crate::view::parts::glyph::Glyph;
use crate::view::parts::list::{Item, list};
use crate::view::parts::segment::segment;
use crate::view::shell::NoticeList;
use crate::view::task::again::Again;
use crate::view::task::output_view::OutputView;
use crate::view::task::words;

/// In the address: the batch, and where in it the person is.
const EXPLORED: &str = "sweep";

/// A batch as it is explored: its axes, and the task of each of its items.
#[derive(Debug, Clone, PartialEq)]
pub struct Space {
    pub exploration: Exploration,
    tasks: Vec<Option<TaskKey>>,
}

/// None where there is nothing to move along.
pub fn space(batch: &Batch, tasks: &[&Task]) -> Option<Space> {
    let items = batch.items(tasks.iter().copied());
    let inputs: Vec<Option<&Input>> = items
        .latest()
        .map(|task| task.map(|task| &task.input))
        .collect();
    Some(Space {
        exploration: Exploration::of(&inputs)?,
        tasks: items
            .latest()
            .map(|task| task.map(|task| task.key.clone()))
            .collect(),
    })
}

impl Space {
    fn task(&self, item: usize) -> Option<TaskKey> {
        self.tasks.get(item).cloned().flatten()
    }

    fn position_of(&self, task: &TaskKey) -> Option<Vec<usize>> {
        let mut tasks = self.tasks.iter();
        let item = tasks.position(|other| other.as_ref() == Some(task))?;
        self.exploration.place_of(item).map(<[usize]>::to_vec)
    }
}

/// Begins at the start of every axis; Back leads out again.
pub fn open(navigation: Navigation, batch: &BatchKey) {
    navigation.push_query(EXPLORED, &exploration::beginning(batch));
}

/// Tracked.
pub fn is_open(navigation: Navigation) -> bool {
    navigation.query(EXPLORED).is_some()
}

/// Leads from a task to its place among the items of its batch, where these differ.
pub fn entry(task: &Task) -> AnyView {
    let all = contexts();
    let Some(batch) = task.batch.as_ref().map(|place| place.batch.clone()) else {
        return ().into_any();
    };
    let key = task.key.clone();
    let batches = Batches::new(all);
    // The page below may know of none.
    batches.follow();
    let address = memo(move || {
        let found = batches.find(&batch)?;
        let space = all.runner.with_tasks(|tasks| space(&found, tasks))?;
        // What was retried has made place for what took it.
        let position = space.position_of(&key).unwrap_or_default();
        Some(space.exploration.address(&batch, &position))
    });
    let open = move |_| {
        if let Some(address) = address.get_untracked() {
            all.navigation.push_query(EXPLORED, &address);
        }
    };
    view! {
        <button
            class="button"
            type="button"
            hidden=when(move || address.read().is_none())
            on:click=handler(open)
        >
            <Glyph icon=LuMove />
            "Explore"
        </button>
    }
    .into_any()
}

#[component]
pub fn Sweep() -> impl IntoView {
    let all = contexts();
    let (navigation, runner) = (all.navigation, all.runner);
    let dialog = NodeRef::<Dialog>::new();
    let place = memo(move || exploration::read_address(&navigation.query(EXPLORED)?));
    let is_open = when(move || place.read().is_some());
    dialogs::follow(dialog, is_open);
    effect(move || {
        if is_open.get() {
            Batches::new(all).follow();
        }
    });
    let close = move || navigation.pop_query(EXPLORED);
    let key = memo(move || place.read().as_ref().map(|(key, _)| key.clone()));
    let space = memo(move || {
        let key = key.get()?;
        let batch = Batches::new(all).find(&key)?;
        // A retry takes the place of what it repeats.
        runner.keys_of_batch(&key);
        runner
            .with_tasks(|tasks| space(&batch, tasks))
            .map(Arc::new)
    });
    let position = memo(move || {
        let place = place.read();
        let space = space.read();
        match (&*place, &*space) {
            (Some((_, wanted)), Some(space)) => space.exploration.position(wanted),
            _ => Vec::new(),
        }
    });
    let item = memo(move || space.read().as_ref()?.exploration.item(&position.read()));
    let task = memo(move || space.read().as_ref()?.task(item.get()?));
    let go = move |position: Vec<usize>| {
        if let (Some(key), Some(space)) = (key.get_untracked(), space.get_untracked()) {
            let address = space.exploration.address(&key, &position);
            navigation.set_query(EXPLORED, Some(&address));
        }
    };
    // A retry changes the tasks, and not what a person has the focus on.
    let exploration = memo(move || {
        let space = space.read();
        space.as_ref().map(|space| space.exploration.clone())
    });
    let controls = dynamic(move || match exploration.get() {
        Some(exploration) => axes::axes(&exploration, position, go),
        None => ().into_any(),
    });
    let state = memo(move || {
        let task = runner.task(&task.get()?)?;
        let task = task.read();
        Some(task.label().to_owned())
    });
    let said = text(move || {
        let Some(space) = space.get() else {
            return String::new();
        };
        match item.get() {
            None => "No item has these values.".to_owned(),
            Some(item) => {
                let state = state.get().unwrap_or_else(|| "Removed".to_owned());
                format!("Item {} of {}: {state}", item + 1, space.tasks.len())
            }
        }
    });
    // The arrows move along the first axis at once.
    let is_explored = memo(move || is_open.get() && exploration.with(Option::is_some));
    effect(move || {
        if !is_explored.get() {
            return;
        }
        after_frame(move || {
            let dialog = dialog.try_get_untracked().flatten();
            let found = dialog.and_then(|dialog| {
                let first = ".sweep-axis :is(input:checked, input[type=range])";
                dialog.query_selector(first).ok().flatten()
            });
            if let Some(first) = found.and_then(|first| first.dyn_into::<HtmlElement>().ok()) {
                // It fails only where the dialog is gone again.
                let _ = first.focus();
            }
        });
    });
    let output = RwSignal::new(0);
    let about = dynamic(move || about(task.get(), item.get(), output));
    let output_count = memo(move || task.get().map_or(0, |task| outputs(&task)));
    let which = dynamic(move || which(output_count.get(), output));
    let unknown =
        when(move || is_open.get() && space.with(Option::is_none) && runner.has_read_tasks());
    view! {
        <dialog
            class="lightbox"
            node_ref=dialog
            aria-label="Sweep"
            on:close=handler(move |_: web_sys::Event| close())
        >
            <header class="lightbox-head">
                <p class="muted" role="status">
                    {said}
                </p>
                <button
                    class="icon-button"
                    type="button"
                    aria-label="Close"
                    title="Close"
                    on:click=handler(move |_| close())
                >
                    <Glyph icon=LuX />
                </button>
            </header>
            <div class="lightbox-body">
                <p class="lightbox-unknown" hidden=when(move || !unknown.get())>
                    "This browser knows no batch at this address whose items differ."
                </p>
                {layers(space, position, item, output)}
                <aside class="lightbox-panel" aria-label="About this item">
                    <div class="sweep-axes">{controls} {which}</div>
                    {about}
                </aside>
            </div>
            // Those of the page lie behind.
            {dynamic(move || match is_open.get() {
                true => view! { <NoticeList /> }.into_any(),
                false => ().into_any(),
            })}
        </dialog>
    }
}

/// The item that is shown, above its neighbours: these are loaded and decoded by the time that they are wanted. What
/// was shown before stays in sight until the next one can be.
fn layers(
    space: Memo<Option<Arc<Space>>>,
    position: Memo<Vec<usize>>,
    item: Memo<Option<usize>>,
    output: RwSignal<usize>,
) -> AnyView {
    let before = RwSignal::new(None::<TaskKey>);
    let current = memo(move || space.read().as_ref()?.task(item.get()?));
    let keys = memo(move || {
        let Some(space) = space.get() else {
            return Vec::new();
        };
        let neighbors = space.exploration.neighbors(&position.read());
        let neighbors = neighbors.into_iter().filter_map(|item| space.task(item));
        let mut keys: Vec<TaskKey> = current.get().into_iter().chain(neighbors).collect();
        if let Some(before) = before.get().filter(|before| !keys.contains(before)) {
            keys.push(before);
        }
        // In an order of their own: none is moved about when another one is shown.
        keys.sort_unstable();
        keys.dedup();
        keys
    });
    effect(move || {
        if space.read().is_none() || current.read().is_none() {
            before.set(None);
        }
    });
    let items = move || {
        let keys = keys.get().into_iter();
        keys.map(|key| {
            Item::new(key.0.clone(), move || {
                layer(key.clone(), current, before, output)
            })
        })
        .collect()
    };
    let nothing = when(move || current.read().is_none() && space.with(Option::is_some));
    view! {
        <div class="stage sweep-stage">
            {list(items)}
            <p class="sweep-state" hidden=when(move || !nothing.get())>
                "Nothing was made with these values."
            </p>
        </div>
    }
    .into_any()
}

/// One item, in sight only while it is the one that is shown, or the last one that was.
fn layer(
    key: TaskKey,
    current: Memo<Option<TaskKey>>,
    before: RwSignal<Option<TaskKey>>,
    output: RwSignal<usize>,
) -> AnyView {
    let runner = contexts().runner;
    let element = NodeRef::<Div>::new();
    let is_current = {
        let key = key.clone();
        memo(move || current.read().as_ref() == Some(&key))
    };
    let is_before = {
        let key = key.clone();
        when(move || before.read().as_ref() == Some(&key))
    };
    // A picture can be shown once it is decoded; all else can be at once.
    let is_ready = RwSignal::new(false);
    effect({
        let key = key.clone();
        move || {
            if is_current.get() && is_ready.get() {
                before.set(Some(key.clone()));
            }
        }
    });
    let listeners = StoredValue::new_local(Vec::new());
    effect(move || {
        let Some(element) = element.get() else {
            return;
        };
        // These events do not rise.
        let captured = EventListenerOptions {
            phase: EventListenerPhase::Capture,
            passive: true,
        };
        let loaded = EventListener::new_with_options(&element, "load", captured, move |event| {
            let image = event
                .target()
                .and_then(|it| it.dyn_into::<HtmlImageElement>().ok());
            spawn(async move {
                if let Some(image) = image {
                    // What can't be decoded is shown as the browser shows it.
                    let _ = JsFuture::from(image.decode()).await;
                }
                is_ready.try_set(true);
            });
        });
        let failed = EventListener::new_with_options(&element, "error", captured, move |_| {
            is_ready.try_set(true);
        });
        listeners.set_value(vec![loaded, failed]);
    });
    let shown = {
        let key = key.clone();
        memo(move || output_of(&key, output))
    };
    let content = dynamic(move || {
        let output = shown.get();
        if let Some(shown) = shown_output(&output) {
            // A film would play unseen.
            let is_image = shown.kind == OutputKind::Image;
            if !is_image {
                is_ready.set(true);
                if !is_current.get() {
                    return ().into_any();
                }
            }
            let label = format!("{}: {}", shown.kind.label(), shown.task.input.title());
            return view! { <OutputView shown label /> }.into_any();
        }
        is_ready.set(true);
        let task = runner.task(&key);
        let (label, what) = match task.map(|task| task.get()) {
            Some(task) => (
                task.label().to_owned(),
                words::explain(&task.state).map(|explanation| explanation.what),
            ),
            None => ("Removed".to_owned(), None),
        };
        view! {
            <div class="sweep-state">
                <strong>{label}</strong>
                <p class="muted" dir="auto">
                    {what}
                </p>
            </div>
        }
        .into_any()
    });
    view! {
        <div
            class="sweep-layer"
            node_ref=element
            class:current=is_current
            class:before=is_before
        >
            {content}
        </div>
    }
    .into_any()
}

/// How many outputs a task has; tracked.
fn outputs(task: &TaskKey) -> usize {
    let task = contexts().runner.task(task);
    task.map_or(0, |task| match &task.read().state {
        TaskState::Ready { outputs, .. } => outputs.len(),
        _ => 0,
    })
}

/// The name of the output that is chosen, or of the last one where an item has fewer; tracked.
fn output_of(task: &TaskKey, chosen: RwSignal<usize>) -> String {
    let last = outputs(task).saturating_sub(1);
    task.output(chosen.get().min(last))
}

/// Chooses among the outputs of an item that has several. It holds for the next item, too: they are compared.
fn which(count: usize, chosen: RwSignal<usize>) -> AnyView {
    if count < 2 {
        return ().into_any();
    }
    let radios = (0..count).map(|nth| {
        let is_chosen = when(move || chosen.get().min(count - 1) == nth);
        let label = (nth + 1).to_string();
        segment("sweep-output", label, is_chosen, move || chosen.set(nth))
    });
    view! {
        <fieldset class="sweep-axis">
            <legend>"Output"</legend>
            <div class="segments">{radios.collect_view()}</div>
        </fieldset>
    }
    .into_any()
}

/// What the item is, and what can be done with it.
fn about(task: Option<TaskKey>, item: Option<usize>, output: RwSignal<usize>) -> AnyView {
    let (Some(key), Some(_)) = (task, item) else {
        return ().into_any();
    };
    let Some(task) = contexts()
        .runner
        .task(&key)
        .map(|task| task.get_untracked())
    else {
        return ().into_any();
    };
    let again = Again::of(&task);
    let name = {
        let key = key.clone();
        memo(move || output_of(&key, output))
    };
    // Anew only when there is another output.
    let offered = dynamic(move || match shown_output(&name.read()) {
        Some(shown) => actions::actions(&shown, again),
        None => ().into_any(),
    });
    let edit =
        Route::Model(task.model.clone()).path() + &with_query_value("", "from", Some(&key.0));
    view! {
        <p class="task-prompt whole" dir="auto">
            {words::name(&task)}
        </p>
        <div class="row lightbox-actions">
            {offered} <a class="button" href=edit>
                "Edit"
            </a> <a class="button" href=Route::Task(key).path()>
                "Task"
            </a>
        </div>
        {again.answer.view()}
    }
    .into_any()
}

//! What is shown of a sweep, and what is likely to be looked at next: one above the other.

use std::sync::Arc;

use atelier_contract::output::OutputKind;
use atelier_engine::TaskKey;
use atelier_studio::batch::space::Space;
use atelier_studio::gallery::side_by_side::Shape;
use gloo_events::{EventListener, EventListenerOptions, EventListenerPhase};
use leptos::html::Div;
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use wasm_bindgen_futures::JsFuture;
use web_sys::HtmlImageElement;

use super::explored::Explored;
use super::item::output_of;
use crate::reactive::boxed::{derived, dynamic, effect, memo, spawn, text, when};
use crate::state::contexts::contexts;
use crate::view::lightbox::shown::shown_output;
use crate::view::lightbox::zooming::Zooming;
use crate::view::parts::list::{Item, list};
use crate::view::task::output_view::OutputView;
use crate::view::task::{expected_shape, words};

/// Who sweeps over shapes does so among the first of them.
const MAX_MEASURED: usize = 64;

/// The item that is shown, above its neighbours: these are loaded and decoded by the time that they are wanted. What
/// was shown before stays in sight until the next one can be.
pub fn layers(explored: Explored, output: RwSignal<usize>, zooming: Zooming) -> AnyView {
    let stage = NodeRef::<Div>::new();
    zooming.follow(stage);
    let (space, position, current) = (explored.space, explored.position, explored.task);
    let before = RwSignal::new(None::<TaskKey>);
    let keys = memo(move || {
        let loaded = |space: Arc<Space>| space.loaded(&position.read(), before.get());
        space.get().map(loaded).unwrap_or_default()
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
    // Its place is as high as the highest needs, so that nothing moves from one to the next.
    let ratio = memo(move || {
        let space = space.get()?;
        let ratios = space.tasks().take(MAX_MEASURED).filter_map(ratio);
        ratios.reduce(f64::min)
    });
    let nothing = when(move || current.read().is_none() && space.with(Option::is_some));
    view! {
        <div
            class="stage sweep-stage"
            class:close=when(move || zooming.is_close())
            node_ref=stage
            style:--zoom=text(move || zooming.transform())
            style:--ratio=derived(move || Some(ratio.get()?.to_string()))
            // A press on it does not lose the focus to nothing behind the dialog.
            tabindex="-1"
        >
            {list(items)}
            <p class="sweep-state" hidden=when(move || !nothing.get())>
                "Nothing was made with these values."
            </p>
        </div>
    }
    .into_any()
}

/// Width by height, as the inputs say it; tracked.
fn ratio(task: &TaskKey) -> Option<f64> {
    let all = contexts();
    let task = all.runner.task(task)?;
    let task = task.read();
    let shape = match task.output_kind("") {
        OutputKind::Image | OutputKind::Video => {
            Shape::from_ratio(&expected_shape::ratio(all, &task).unwrap_or_default())
        }
        kind => Shape::of(&task, kind, None, None),
    };
    Some(shape.ratio)
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
    let is_ready = ready_in(element);
    effect({
        let key = key.clone();
        move || {
            if is_current.get() && is_ready.get() {
                before.set(Some(key.clone()));
            }
        }
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
            let label = words::output(&shown.task, shown.kind);
            return view! { <OutputView shown label /> }.into_any();
        }
        is_ready.set(true);
        let task = runner.task(&key);
        let (label, what) = match task.map(|task| task.get()) {
            Some(task) => (
                task.label().to_owned(),
                words::explain(&task).map(|it| words::linked(&task, it.what)),
            ),
            None => ("Removed".to_owned(), None),
        };
        view! {
            <div class="sweep-state">
                <strong translate="no">{label}</strong>
                <p class="muted" dir="auto">{what}</p>
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

/// Whether what is in the element can be shown: a picture once it is decoded. Of all else the caller that puts it there
/// says so.
pub fn ready_in(element: NodeRef<Div>) -> RwSignal<bool> {
    let is_ready = RwSignal::new(false);
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
    is_ready
}

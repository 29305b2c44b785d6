//! The shown output of a sweep and its preloaded neighbors, in layers one above the other.

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

/// Maximum number of items whose aspect ratio is read. If a batch varies the ratio, its first items differ in it.
const MAX_MEASURED: usize = 64;

/// Returns the current item above its neighbors, which are loaded and decoded in advance. The previous item stays visible
/// until the current one has loaded.
pub fn layers(explored: Explored, output: RwSignal<usize>, zooming: Zooming) -> AnyView {
    let stage = NodeRef::<Div>::new();
    zooming.follow(stage);
    let (space, position, current) = (explored.space, explored.position, explored.task);
    let previous = RwSignal::new(None::<TaskKey>);
    let keys = memo(move || {
        let preloaded = |space: Arc<Space>| space.loaded(&position.read(), previous.get());
        space.get().map(preloaded).unwrap_or_default()
    });
    effect(move || {
        if space.read().is_none() || current.read().is_none() {
            previous.set(None);
        }
    });
    let items = move || {
        let keys = keys.get().into_iter();
        keys.map(|key| {
            Item::new(key.0.clone(), move || {
                layer(key.clone(), current, previous, output)
            })
        })
        .collect()
    };
    // The stage is as high as the highest item needs, so that the layout doesn't shift from item to item.
    let ratio = memo(move || {
        let space = space.get()?;
        let ratios = space.tasks().take(MAX_MEASURED).filter_map(ratio);
        ratios.reduce(f64::min)
    });
    let has_no_item = when(move || current.read().is_none() && space.with(Option::is_some));
    view! {
        <div
            class="stage sweep-stage"
            class:close=when(move || zooming.is_zoomed_in())
            node_ref=stage
            style:--zoom=text(move || zooming.transform())
            style:--ratio=derived(move || Some(ratio.get()?.to_string()))
            // Focusable, so that a press here doesn't move the focus out of the dialog.
            tabindex="-1"
        >
            {list(items)}
            <p class="sweep-state" hidden=when(move || !has_no_item.get())>
                "Nothing was generated with these values."
            </p>
        </div>
    }
    .into_any()
}

/// Returns the expected aspect ratio of a task's outputs, width divided by height; tracked.
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

/// Returns the layer of an item. It is visible only while it is the current or the previous item.
fn layer(
    key: TaskKey,
    current: Memo<Option<TaskKey>>,
    previous: RwSignal<Option<TaskKey>>,
    output: RwSignal<usize>,
) -> AnyView {
    let runner = contexts().runner;
    let element = NodeRef::<Div>::new();
    let is_current = {
        let key = key.clone();
        memo(move || current.read().as_ref() == Some(&key))
    };
    let is_previous = {
        let key = key.clone();
        when(move || previous.read().as_ref() == Some(&key))
    };
    let is_ready = ready_in(element);
    effect({
        let key = key.clone();
        move || {
            if is_current.get() && is_ready.get() {
                previous.set(Some(key.clone()));
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
            // Only pictures are preloaded: a hidden video would play.
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
            class:before=is_previous
        >
            {content}
        </div>
    }
    .into_any()
}

/// Returns a signal that becomes true once a picture in the element has loaded and is decoded, or has failed.
///
/// For all other content the caller sets the signal.
pub fn ready_in(element: NodeRef<Div>) -> RwSignal<bool> {
    let is_ready = RwSignal::new(false);
    let listeners = StoredValue::new_local(Vec::new());
    effect(move || {
        let Some(element) = element.get() else {
            return;
        };
        // These events do not bubble.
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
                    // A picture that can't be decoded is shown as a broken image.
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

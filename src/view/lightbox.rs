//! One output as large as the window is, at an address of its own, and beside it how it was made.

pub mod comparison;
mod panel;
mod stage;

use std::sync::Arc;

use atelier_engine::gallery::{GalleryEntry, Scope};
use atelier_engine::route::Route;
use atelier_engine::{TaskKey, TaskState};
use icondata_lu::{LuChevronLeft, LuChevronRight, LuX};
use leptos::html::Dialog;
use leptos::prelude::*;
use web_sys::KeyboardEvent;

use super::dialogs;
use super::gallery::filter;
use super::task::output_view::ShownOutput;
use crate::boxed::{dynamic, handler, memo, text, when};
use crate::browser::clock;
use crate::contexts::contexts;
use crate::gallery::Gallery;
use crate::navigation::Navigation;
use crate::view::parts::cached_output::address_of_copy;
use crate::view::parts::glyph::Glyph;

/// In the address: the name of the output that is shown large.
const SHOWN: &str = "lightbox";

/// Shows an output large; Back leads out again.
pub fn open(navigation: Navigation, output: &str) {
    navigation.push_query(SHOWN, output);
}

/// The dialog, of whatever page lies below it: arrows lead through the outputs that this page shows.
#[component]
pub fn Lightbox() -> impl IntoView {
    let all = contexts();
    let navigation = all.navigation;
    let dialog = NodeRef::<Dialog>::new();
    let shown = memo(move || navigation.query(SHOWN));
    let gallery = Gallery::new(all.runner);
    let sequence = memo(move || {
        if shown.read().is_none() {
            return Vec::new();
        }
        let route = navigation.route();
        let mut filter = match route {
            Route::Gallery => filter(navigation, &navigation.query("q").unwrap_or_default()),
            _ => Default::default(),
        };
        filter.scope = Scope::of(&route);
        gallery.find(&filter)
    });
    let at = memo(move || {
        let shown = shown.read();
        let sequence = sequence.read();
        sequence
            .iter()
            .position(|entry| Some(entry.name()) == *shown)
    });
    let neighbor = move |step: isize| {
        let at = at.get()?.checked_add_signed(step)?;
        sequence.read().get(at).map(GalleryEntry::name)
    };
    let go = move |step: isize| {
        if let Some(name) = untrack(|| neighbor(step)) {
            navigation.set_query(SHOWN, Some(&name));
        }
    };
    dialogs::follow(dialog, when(move || shown.read().is_some()));
    let close = move || navigation.set_query(SHOWN, None);
    let press = move |event: KeyboardEvent| {
        let has_modifier = event.ctrl_key() || event.alt_key() || event.meta_key();
        let is_players =
            event_target::<web_sys::Element>(&event).matches("audio, video, input, select");
        if has_modifier || is_players == Ok(true) {
            return;
        }
        match event.key().as_str() {
            "ArrowLeft" => go(-1),
            "ArrowRight" => go(1),
            _ => return,
        }
        event.prevent_default();
    };
    let place = text(move || match at.get() {
        Some(at) => format!("{} of {}", at + 1, sequence.read().len()),
        None => String::new(),
    });
    let step_button = move |label: &'static str, icon, step: isize| {
        view! {
            <button
                class="icon-button lightbox-step"
                type="button"
                aria-label=label
                title=label
                disabled=when(move || neighbor(step).is_none())
                on:click=handler(move |_| go(step))
            >
                <Glyph icon />
            </button>
        }
        .into_any()
    };
    let compare = move || {
        let this = shown.get_untracked();
        let other = untrack(|| neighbor(1).or_else(|| neighbor(-1)));
        comparison::open(navigation, this.into_iter().chain(other).collect());
    };
    let known = known(shown);
    let output = dynamic(move || {
        known.track();
        let Some(name) = shown.get() else {
            return ().into_any();
        };
        match shown_output(&name) {
            Some(shown) => {
                let panel = panel::panel(&shown, compare, close);
                view! { {stage::stage(&shown, go)} {panel} }.into_any()
            }
            // Storage may not have been read yet; then this runs once more.
            None if !known.read().is_open => ().into_any(),
            None => view! {
                <p class="lightbox-unknown">
                    "This browser knows no output at this address. Outputs are listed in the browser that submitted their tasks."
                </p>
            }
            .into_any(),
        }
    });
    view! {
        <dialog
            class="lightbox"
            node_ref=dialog
            aria-label="Output"
            on:close=handler(move |_: web_sys::Event| close())
            on:keydown=handler(press)
        >
            <header class="lightbox-head">
                <p class="muted" role="status">
                    {place}
                </p>
                {step_button("Previous", LuChevronLeft, -1)}
                {step_button("Next", LuChevronRight, 1)}
                <button
                    class="icon-button"
                    type="button"
                    aria-label="Close"
                    title="Close"
                    autofocus
                    on:click=handler(move |_| close())
                >
                    <Glyph icon=LuX />
                </button>
            </header>
            <div class="lightbox-body">{output}</div>
        </dialog>
    }
}

/// What is known of the tasks of some outputs.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Known {
    /// Storage was read.
    is_open: bool,
    /// Of each output, whether its task is there.
    tasks: Vec<bool>,
}

/// Follows the tasks of outputs, named with a comma between: none other's changes are heard of.
fn known(names: Memo<Option<String>>) -> Memo<Known> {
    let runner = contexts().runner;
    memo(move || {
        let names = names.get().unwrap_or_default();
        let keys = runner.keys();
        let is_there = |name: &str| {
            let (key, _) = name.rsplit_once('/').unwrap_or_default();
            keys.iter().any(|known| known.0 == key)
        };
        Known {
            is_open: runner.is_open(),
            tasks: names.split(',').map(is_there).collect(),
        }
    })
}

/// An output by its name; none that this browser does not know.
fn shown_output(name: &str) -> Option<ShownOutput> {
    let (key, position) = name.rsplit_once('/')?;
    let position: usize = position.parse().ok()?;
    let task = contexts().runner.task(&TaskKey(key.to_owned()))?;
    // A new address of the same output is shown anew, other changes are not.
    let url = memo({
        let task = task.clone();
        move || match &task.read().state {
            TaskState::Ready { outputs, .. } => outputs.get(position).cloned(),
            _ => None,
        }
    });
    let url = url.get()?;
    let task = Arc::new(task.get_untracked());
    let kind = atelier_engine::output::OutputKind::of(&url, &task.model.category);
    Some(ShownOutput {
        task,
        url,
        position,
        kind,
        since: clock::now(),
        copy: address_of_copy(),
        words: RwSignal::new(String::new()),
    })
}

//! One output as large as the window is, at an address of its own, and beside it how it was made.

mod actions;
pub mod comparison;
mod lineage;
mod measures;
mod panel;
mod sequence;
pub mod shown;
mod stage;
pub mod sweep;

use gloo_events::{EventListener, EventListenerOptions};
use icondata_lu::{LuChevronLeft, LuChevronRight, LuScan, LuX};
use leptos::html::Dialog;
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use web_sys::KeyboardEvent;

use measures::Measures;
use sequence::Sequence;
use shown::{SHOWN, known, shown_output};

use super::shell::NoticeList;
use crate::boxed::{dynamic, effect, handler, text, when};
use crate::contexts::contexts;
use crate::navigation::Navigation;
use crate::view::parts::dialog;
use crate::view::parts::glyph::Glyph;

/// The dialog, of whatever page lies below it: arrows lead through the outputs that this page shows.
#[component]
pub fn Lightbox() -> impl IntoView {
    let navigation = contexts().navigation;
    let dialog = NodeRef::<Dialog>::new();
    let sequence = Sequence::of_address();
    let shown = sequence.shown;
    let is_open = when(move || shown.read().is_some());
    dialog::follow(dialog, is_open);
    follow_keys(navigation, sequence);
    let close = move || navigation.pop_query(SHOWN);
    let is_actual = RwSignal::new(false);
    effect(move || {
        shown.track();
        is_actual.set(false);
    });
    let output = output(sequence, is_actual, close);
    view! {
        <dialog
            class="lightbox"
            node_ref=dialog
            aria-label="Output"
            on:close=handler(move |_: web_sys::Event| close())
        >
            {head(sequence, is_actual, close)}
            <div class="lightbox-body">{output}</div>
            // Those of the page lie behind.
            {dynamic(move || match is_open.get() {
                true => view! { <NoticeList /> }.into_any(),
                false => ().into_any(),
            })}
        </dialog>
    }
}

/// On the document: the focus falls out of the dialog where what had it is gone.
fn follow_keys(navigation: Navigation, sequence: Sequence) {
    let may_prevent = EventListenerOptions::enable_prevent_default();
    let keys = EventListener::new_with_options(&document(), "keydown", may_prevent, move |event| {
        let Some(event) = event.dyn_ref::<KeyboardEvent>() else {
            return;
        };
        let has_modifier = event.ctrl_key() || event.alt_key() || event.meta_key();
        let is_covered =
            untrack(|| sequence.shown.get().is_none() || shown::is_covered(navigation));
        let focused = document().active_element();
        let is_players =
            focused.is_some_and(|at| at.matches("audio, video, input, select") == Ok(true));
        if has_modifier || is_covered || is_players {
            return;
        }
        match event.key().as_str() {
            "ArrowLeft" => sequence.go(-1),
            "ArrowRight" => sequence.go(1),
            _ => return,
        }
        event.prevent_default();
    });
    StoredValue::new_local(keys);
}

fn head(
    sequence: Sequence,
    is_actual: RwSignal<bool>,
    close: impl Fn() + Copy + 'static,
) -> AnyView {
    let step_button = move |label: &'static str, icon, step: isize| {
        view! {
            <button
                class="icon-button lightbox-step"
                type="button"
                aria-label=label
                title=label
                aria-disabled=text(move || sequence.neighbor(step).is_none().to_string())
                on:click=handler(move |_| sequence.go(step))
            >
                <Glyph icon />
            </button>
        }
        .into_any()
    };
    view! {
        <header class="lightbox-head">
            <p class="muted" role="status">
                {text(move || sequence.place())}
            </p>
            <button
                class="icon-button"
                type="button"
                aria-label="Actual size"
                title="Actual size"
                aria-pressed=text(move || is_actual.get().to_string())
                on:click=handler(move |_| is_actual.update(|is_actual| *is_actual = !*is_actual))
            >
                <Glyph icon=LuScan />
            </button>
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
    }
    .into_any()
}

/// The output and how it was made, or that it is not known here.
fn output(
    sequence: Sequence,
    is_actual: RwSignal<bool>,
    close: impl Fn() + Copy + Send + Sync + 'static,
) -> AnyView {
    let shown = sequence.shown;
    let compare = move || {
        let this = shown.get_untracked();
        let other = untrack(|| sequence.neighbor(1).or_else(|| sequence.neighbor(-1)));
        if let (Some(this), Some(other)) = (this, other) {
            shown::compare(contexts().navigation, &[this, other]);
        }
    };
    let known = known(shown);
    dynamic(move || {
        known.track();
        let Some(name) = shown.get() else {
            return ().into_any();
        };
        match shown_output(&name) {
            Some(shown) => {
                let measures = Measures::new();
                let go = move |step| sequence.go(step);
                let panel = panel::panel(&shown, measures, compare, close);
                view! { {stage::stage(&shown, measures, is_actual, go)} {panel} }.into_any()
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
    })
}

//! A dialog that shows the items of a batch one at a time, as large as the window, with a control for each parameter in
//! which they differ.

mod axes;
pub mod comparing;
pub mod explore_button;
pub mod explored;
mod item;
pub mod layers;

use atelier_contract::output::OutputKind;
use leptos::html::Dialog;
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use web_sys::{HtmlElement, KeyboardEvent};

use super::actions;
use super::shown::{EXPLORED, shown_output};
use super::zooming::Zooming;
use crate::browser::frame::after_frame;
use crate::reactive::boxed::{dynamic, effect, handler, memo, text, when};
use crate::state::batches::Batches;
use crate::state::contexts::contexts;
use crate::view::parts::{dialog, focus, focus_return};
use explored::Explored;

/// The dialog of the sweep.
#[component]
pub fn Sweep() -> impl IntoView {
    let all = contexts();
    let dialog = NodeRef::<Dialog>::new();
    let explored = Explored::of_address();
    let Explored {
        is_open,
        space,
        task,
        ..
    } = explored;
    dialog::follow_large(dialog, is_open);
    focus_return::follow(is_open);
    effect(move || {
        if is_open.get() {
            Batches::new(all).follow();
        }
    });
    let close = move || all.navigation.pop_query(EXPLORED);
    // Changes only with the axes: a retry changes the tasks, but must not render the focused controls again.
    let exploration = memo(move || {
        let space = space.read();
        space.as_ref().map(|space| space.exploration.clone())
    });
    let output = RwSignal::new(0);
    let controls = move || match exploration.get() {
        Some(exploration) => axes::axes(&exploration, explored, output),
        None => ().into_any(),
    };
    let task_state = memo(move || {
        let task = all.runner.task(&task.get()?)?;
        let task = task.read();
        Some(task.label().to_owned())
    });
    let status = text(move || match space.get() {
        Some(space) => space.label(&explored.position.read(), task_state.get()),
        None => String::new(),
    });
    focus_axes(
        dialog,
        memo(move || is_open.get() && exploration.with(Option::is_some)),
    );
    let details = move || {
        let compare = move |name: &str| comparing::another_button(explored, name);
        item::details(task.get(), output, compare)
    };
    let output_count = memo(move || task.get().map_or(0, |task| item::outputs(&task)));
    // The zoom stays from one item to the next, so that the user can compare a detail.
    let zooming = Zooming::new(".sweep-layer.current > img");
    zooming.reset_by(is_open);
    let has_picture = memo(move || {
        let shown = task.get().map(|task| item::output_of(&task, output));
        let shown = shown.and_then(|name| shown_output(&name));
        shown.is_some_and(|shown| shown.kind == OutputKind::Image)
    });
    let output_picker = move || item::output_picker(output_count.get(), output);
    let unknown =
        when(move || is_open.get() && space.with(Option::is_none) && all.runner.has_read_tasks());
    let contents = move || {
        view! {
            <header class="lightbox-head">
                <p class="muted" role="status" prop:textContent=status></p>
                {zooming.button(has_picture)} {dialog::close_button(close, false)}
            </header>
            // Focusable, so that a press on plain text doesn't move the focus out of the dialog.
            <div class="lightbox-body" tabindex="-1">
                <p class="lightbox-unknown" hidden=when(move || !unknown.get())>
                    "This browser has no batch at this address whose items differ."
                </p>
                {layers::layers(explored, output, zooming)}
                <aside class="lightbox-panel" aria-label="About this item">
                    <div class="sweep-axes">{dynamic(controls)} {dynamic(output_picker)}</div>
                    {dynamic(details)}
                </aside>
            </div>
        }
        .into_any()
    };
    view! {
        <dialog
            class="lightbox"
            node_ref=dialog
            aria-label="Sweep"
            on:close=dialog::closed(close)
            on:keydown=handler(move |event: KeyboardEvent| handle_key(&event, zooming))
        >
            {dialog::contents(is_open, contents)}
        </dialog>
    }
}

/// Handles the keys of the output's actions and of the zoom, as in the lightbox.
fn handle_key(event: &KeyboardEvent, zooming: Zooming) {
    let has_modifier = event.ctrl_key() || event.alt_key() || event.meta_key();
    match !has_modifier && !focus::is_writing() && actions::press_tool(event, "Sweep") {
        true => event.prevent_default(),
        false => zooming.handle_key(event),
    }
}

/// Moves the focus to the first axis when a batch is opened, so that the arrow keys work at once.
fn focus_axes(dialog: NodeRef<Dialog>, is_explored: Memo<bool>) {
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
                // It fails only if the dialog is already closed again.
                let _ = first.focus();
            }
        });
    });
}

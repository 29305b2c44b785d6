//! The items of a batch one at a time, as large as the window is, and a control for each parameter in which they
//! differ.

mod axes;
pub mod entry;
mod explored;
mod item;
mod layers;

use leptos::html::Dialog;
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use web_sys::HtmlElement;

use super::shown::EXPLORED;
use crate::batches::Batches;
use crate::boxed::{dynamic, effect, handler, memo, text, when};
use crate::browser::frame::after_frame;
use crate::contexts::contexts;
use crate::view::parts::dialog;
use explored::Explored;

#[component]
pub fn Sweep() -> impl IntoView {
    let all = contexts();
    let dialog = NodeRef::<Dialog>::new();
    let explored = Explored::of_address();
    let Explored {
        is_open,
        space,
        item,
        task,
        ..
    } = explored;
    dialog::follow(dialog, is_open);
    effect(move || {
        if is_open.get() {
            Batches::new(all).follow();
        }
    });
    let close = move || all.navigation.pop_query(EXPLORED);
    // A retry changes the tasks, and not what a person has the focus on.
    let exploration = memo(move || {
        let space = space.read();
        space.as_ref().map(|space| space.exploration.clone())
    });
    let controls = dynamic(move || match exploration.get() {
        Some(exploration) => axes::axes(&exploration, explored),
        None => ().into_any(),
    });
    let state = memo(move || {
        let task = all.runner.task(&task.get()?)?;
        let task = task.read();
        Some(task.label().to_owned())
    });
    let said = text(move || match space.get() {
        Some(space) => space.label(item.get(), state.get()),
        None => String::new(),
    });
    focus_axes(
        dialog,
        memo(move || is_open.get() && exploration.with(Option::is_some)),
    );
    let output = RwSignal::new(0);
    let about = dynamic(move || item::about(task.get(), output));
    let output_count = memo(move || task.get().map_or(0, |task| item::outputs(&task)));
    let which = dynamic(move || item::which(output_count.get(), output));
    let unknown =
        when(move || is_open.get() && space.with(Option::is_none) && all.runner.has_read_tasks());
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
                {dialog::close_button(close, false)}
            </header>
            <div class="lightbox-body">
                <p class="lightbox-unknown" hidden=when(move || !unknown.get())>
                    "This browser knows no batch at this address whose items differ."
                </p>
                {layers::layers(explored, output)}
                <aside class="lightbox-panel" aria-label="About this item">
                    <div class="sweep-axes">{controls} {which}</div>
                    {about}
                </aside>
            </div>
            {dialog::notices(is_open)}
        </dialog>
    }
}

/// The arrows move along the first axis at once.
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
                // It fails only where the dialog is gone again.
                let _ = first.focus();
            }
        });
    });
}

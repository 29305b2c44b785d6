use atelier_contract::output::SafeUrl;
use leptos::html::Div;
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use web_sys::{HtmlElement, MouseEvent};

use super::again::Again;
use super::more::{self, more};
use super::shown_output::ShownOutput;
use super::{favorite, save, use_in, vary};
use crate::browser::frame::after_frame;
use crate::reactive::boxed::{dynamic, effect, handler};
use crate::state::contexts::contexts;
use crate::view::parts::status_note::StatusNote;

/// The most frequent actions on one of several outputs, over it. A menu has the rest and `others`. Actions that repeat the
/// whole task are below the outputs.
pub fn overlay(shown: &ShownOutput, answer: StatusNote, others: AnyView) -> AnyView {
    let output = shown.task.key.output(shown.position);
    let items = view! { {more::output_items(shown, answer)} {others} }.into_any();
    view! {
        <div class="over">
            {save::save(shown)} {favorite::output_heart(&shown.task.key, shown.position)}
            {more(&output, "More of this output", items)}
        </div>
    }
    .into_any()
}

/// The most frequent actions on a single output, over it once a pointer is near. The same actions are below the output,
/// so this overlay is hidden from the keyboard and from screen readers.
pub fn single_overlay(shown: &ShownOutput, again: Again, is_near: RwSignal<bool>) -> AnyView {
    let shown = shown.clone();
    dynamic(move || match is_near.get() {
        true => tools(&shown, again),
        false => ().into_any(),
    })
}

fn tools(shown: &ShownOutput, again: Again) -> AnyView {
    let address = contexts().session.settings_untracked().address;
    let vary = dynamic(move || {
        if !again.has_seed() {
            return ().into_any();
        }
        vary::vary(1, again.outputs_of_each(), move |count| {
            again.press("Vary", count)
        })
    });
    let use_in = SafeUrl::media(&shown.url, address.as_str());
    let use_in = use_in.and_then(|_| use_in::parts(shown, "over", again.answer));
    let (use_in, menu) = use_in.unzip();
    let tools = NodeRef::<Div>::new();
    effect(move || {
        tools.track();
        // The controls for variations appear when the schema is loaded.
        again.has_seed();
        after_frame(move || {
            // The page may have been closed within the frame.
            let found = tools.try_get_untracked().flatten();
            let Some(found) = found.map(|it| it.get_elements_by_tag_name("button")) else {
                return;
            };
            let found = (0..found.length()).filter_map(|at| found.item(at));
            for control in found.filter_map(|it| it.dyn_into::<HtmlElement>().ok()) {
                control.set_tab_index(-1);
            }
        });
    });
    // Prevents a press from moving the focus.
    let stay = |event: MouseEvent| event.prevent_default();
    view! {
        <div class="over only" aria-hidden="true" node_ref=tools on:mousedown=handler(stay)>
            {favorite::output_heart(&shown.task.key, shown.position)} {vary} {use_in} {save::save(shown)}
        </div>
        {menu}
    }
    .into_any()
}

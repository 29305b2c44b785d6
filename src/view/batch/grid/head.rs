//! What a row or a column of a sweep is called. A prompt is a name as well: its first lines are, and all of it, over the
//! page, at a press.

use atelier_studio::batch::labelled_grid;
use leptos::html::{Button, Dialog};
use leptos::prelude::*;

use crate::reactive::boxed::{dynamic, handler, memo, text, when};
use crate::view::parts::dialog;
use crate::view::parts::px::px;

/// How much room the name has: its width, in `rem`, and its lines.
type Room = Memo<(f64, usize)>;

/// `of`: the parameter whose value it is. `told`: what tells it from the others.
pub fn name(of: String, whole: String, told: String, room: Room) -> AnyView {
    let is_cut = {
        let whole = whole.clone();
        memo(move || {
            let (width, lines) = room.get();
            labelled_grid::exceeds(&whole, width, lines)
        })
    };
    dynamic(move || match is_cut.get() {
        true => cut(of.clone(), whole.clone(), told.clone(), room),
        false => view! { <span dir="auto">{whole.clone()}</span> }.into_any(),
    })
}

/// All of it stands in a dialog: nothing cuts it there, and a press outside it closes it and does nothing else.
fn cut(of: String, whole: String, told: String, room: Room) -> AnyView {
    let button = NodeRef::<Button>::new();
    let element = NodeRef::<Dialog>::new();
    let is_open = RwSignal::new(false);
    dialog::follow(element, is_open.into());
    // Where the name is: how far from the left, and from the top, or from the bottom where it is near that.
    let place = RwSignal::new((0.0, 0.0));
    let is_low = RwSignal::new(false);
    let open = move |_| {
        if let Some(button) = button.get_untracked() {
            let bounds = button.get_bounding_client_rect();
            let page = document().document_element();
            let height = f64::from(page.map_or(0, |page| page.client_height()));
            is_low.set(bounds.top() * 2.0 > height);
            let edge = match is_low.get_untracked() {
                true => height - bounds.bottom(),
                false => bounds.top(),
            };
            place.set((bounds.left(), edge.max(0.0)));
        }
        is_open.set(true);
    };
    let title = whole.clone();
    let contents = move || {
        view! {
            <div class="whole-name-head">
                <h2>{of.clone()}</h2>
                {dialog::close_button(move || is_open.set(false), false)}
            </div>
            <p dir="auto">{whole.clone()}</p>
        }
        .into_any()
    };
    view! {
        <button
            class="head-name"
            type="button"
            dir="auto"
            title=title
            aria-haspopup="dialog"
            node_ref=button
            style:--lines=text(move || room.get().1.to_string())
            on:click=handler(open)
        >
            <span>{told}</span>
        </button>
        <dialog
            class="whole-name"
            class:low=when(move || is_low.get())
            node_ref=element
            aria-label="Full name"
            closedby="any"
            on:click=handler(dialog::close_if_outside)
            style:--left=text(move || px(place.read().0))
            style:--edge=text(move || px(place.read().1))
            on:close=handler(move |_: web_sys::Event| is_open.set(false))
        >
            {dialog::contents(is_open.into(), contents)}
        </dialog>
    }
    .into_any()
}

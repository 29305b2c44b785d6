//! The heading of a row or column of a sweep. A value that is too long, such as a prompt, is shortened; pressing it opens
//! a dialog with the full text.

use atelier_studio::batch::labelled_grid;
use leptos::html::{Button, Dialog};
use leptos::prelude::*;

use crate::reactive::boxed::{dynamic, handler, memo, text, when};
use crate::view::parts::dialog;
use crate::view::parts::px::px;

/// The space for a heading: its width in `rem` and its number of lines.
type Space = Memo<(f64, usize)>;

/// A heading. `value`: the value of `parameter`. `excerpt`: a part of it that distinguishes it from the other values.
pub fn name(parameter: String, value: String, excerpt: String, space: Space) -> AnyView {
    let is_cut = {
        let value = value.clone();
        memo(move || {
            let (width, lines) = space.get();
            labelled_grid::exceeds(&value, width, lines)
        })
    };
    dynamic(move || match is_cut.get() {
        true => cut(parameter.clone(), value.clone(), excerpt.clone(), space),
        false => view! { <span dir="auto">{value.clone()}</span> }.into_any(),
    })
}

/// A heading that is too long: an excerpt that opens a dialog with the full text. A press outside the dialog only closes
/// it.
fn cut(parameter: String, value: String, excerpt: String, space: Space) -> AnyView {
    let button = NodeRef::<Button>::new();
    let element = NodeRef::<Dialog>::new();
    let is_open = RwSignal::new(false);
    dialog::follow(element, is_open.into());
    // The position of the heading: its distance from the left, and from the top or, in the lower half, from the bottom.
    let position = RwSignal::new((0.0, 0.0));
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
            position.set((bounds.left(), edge.max(0.0)));
        }
        is_open.set(true);
    };
    let title = value.clone();
    let contents = move || {
        view! {
            <div class="whole-name-head">
                <h2>{parameter.clone()}</h2>
                {dialog::close_button(move || is_open.set(false), false)}
            </div>
            <p dir="auto">{value.clone()}</p>
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
            style:--lines=text(move || space.get().1.to_string())
            on:click=handler(open)
        >
            <span>{excerpt}</span>
        </button>
        <dialog
            class="whole-name"
            class:low=when(move || is_low.get())
            node_ref=element
            aria-label="Full name"
            closedby="any"
            on:click=handler(dialog::close_if_outside)
            style:--left=text(move || px(position.read().0))
            style:--edge=text(move || px(position.read().1))
            on:close=dialog::closed(move || is_open.set(false))
        >
            {dialog::contents(is_open.into(), contents)}
        </dialog>
    }
    .into_any()
}

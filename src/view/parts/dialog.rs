//! What dialogs have in common.

use icondata_lu::LuX;
use leptos::html::Dialog;
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use web_sys::{HtmlDialogElement, MouseEvent};

use super::glyph::Glyph;
use super::root_mark::RootMark;
use crate::reactive::boxed::{dynamic, effect, handler, memo};
use crate::view::shell::notice_list::notice_list;

/// Keeps a dialog as open as a signal says.
pub fn follow(dialog: NodeRef<Dialog>, is_open: Signal<bool>) {
    RootMark::Dialog.follow(is_open);
    follow_alone(dialog, is_open);
}

/// The same of one that shows outputs large.
pub fn follow_large(dialog: NodeRef<Dialog>, is_open: Signal<bool>) {
    RootMark::Lightbox.follow(is_open);
    follow_alone(dialog, is_open);
}

fn follow_alone(dialog: NodeRef<Dialog>, is_open: Signal<bool>) {
    effect(move || {
        let Some(dialog) = dialog.get() else { return };
        match (is_open.get(), dialog.open()) {
            // It fails only while the dialog is open already.
            (true, false) => drop(dialog.show_modal()),
            (false, true) => dialog.close(),
            _ => {}
        }
    });
}

/// Closes the dialog that was clicked if the click was outside of it: what `closedby="any"` does, in browsers that do not
/// know that.
pub fn close_if_outside(click: MouseEvent) {
    // A click outside is one on the dialog's backdrop, and so on the dialog itself.
    let Some(clicked) = click
        .target()
        .filter(|it| Some(it) == click.current_target().as_ref())
    else {
        return;
    };
    let Ok(dialog) = clicked.dyn_into::<HtmlDialogElement>() else {
        return;
    };
    let place = dialog.get_bounding_client_rect();
    let (x, y) = (f64::from(click.client_x()), f64::from(click.client_y()));
    let is_inside =
        (place.left()..=place.right()).contains(&x) && (place.top()..=place.bottom()).contains(&y);
    // Words that were selected with the mouse may end outside.
    let selection = window().get_selection().ok().flatten();
    if !is_inside && selection.is_none_or(|it| it.is_collapsed()) {
        dialog.close();
    }
}

/// What a dialog consists of, made whenever it opens: a closed one has no elements. Below it is what [`notices`] has.
pub fn contents(
    is_open: Signal<bool>,
    contents: impl Fn() -> AnyView + Send + Sync + 'static,
) -> AnyView {
    contents_alone(is_open, move || {
        view! { {contents()} {notices(is_open)} }.into_any()
    })
}

/// The same without what is said: it stands among the contents.
pub fn contents_alone(
    is_open: Signal<bool>,
    contents: impl Fn() -> AnyView + Send + Sync + 'static,
) -> AnyView {
    // What it shows may change while it is open.
    let is_open = memo(move || is_open.get());
    dynamic(move || match is_open.get() {
        true => untrack(&contents),
        false => ().into_any(),
    })
}

/// What is said while a dialog is open: the notices of the page lie behind it, and can't be pressed.
pub fn notices(is_open: Signal<bool>) -> AnyView {
    dynamic(move || match is_open.get() {
        true => notice_list(),
        false => ().into_any(),
    })
}

/// The cross in a dialog's head. `has_focus`: it has the focus when the dialog opens.
pub fn close_button(mut close: impl FnMut() + 'static, has_focus: bool) -> AnyView {
    view! {
        <button
            class="icon-button"
            type="button"
            aria-label="Close"
            title="Close"
            autofocus=has_focus
            on:click=handler(move |_| close())
        >
            <Glyph icon=LuX />
        </button>
    }
    .into_any()
}

//! Functions that all dialogs use.

use icondata_lu::LuX;
use leptos::html::Dialog;
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use web_sys::{Event, HtmlDialogElement, MouseEvent};

use super::glyph::Glyph;
use super::root_mark::RootMark;
use crate::reactive::boxed::{dynamic, effect, handler, memo};
use crate::view::shell::notice_list::notice_list;

/// Opens and closes a dialog with a signal.
pub fn follow(dialog: NodeRef<Dialog>, is_open: Signal<bool>) {
    RootMark::Dialog.follow(is_open);
    follow_alone(dialog, is_open);
}

/// Opens and closes a dialog that shows large outputs with a signal.
pub fn follow_large(dialog: NodeRef<Dialog>, is_open: Signal<bool>) {
    RootMark::Lightbox.follow(is_open);
    follow_alone(dialog, is_open);
}

fn follow_alone(dialog: NodeRef<Dialog>, is_open: Signal<bool>) {
    effect(move || {
        let Some(dialog) = dialog.get() else { return };
        match (is_open.get(), dialog.open()) {
            // It fails only if the dialog is already open.
            (true, false) => drop(dialog.show_modal()),
            (false, true) => dialog.close(),
            _ => {}
        }
    });
}

/// Handles the `close` event of a dialog, which browsers send with the next frame. If the dialog is open again by then,
/// nothing happens.
pub fn closed(mut act: impl FnMut() + 'static) -> Box<dyn FnMut(Event)> {
    handler(move |event| {
        let dialog: HtmlDialogElement = event_target(&event);
        if !dialog.open() {
            act();
        }
    })
}

/// Whether a dialog covers the page.
pub fn is_any_open() -> bool {
    let dialog = document().query_selector("dialog[open]");
    dialog.is_ok_and(|dialog| dialog.is_some())
}

/// Closes a dialog if the click was on its backdrop. Replaces `closedby="any"` in browsers that don't support it.
pub fn close_if_outside(click: MouseEvent) {
    // The target of a click on the backdrop is the dialog itself.
    let Some(clicked) = click
        .target()
        .filter(|it| Some(it) == click.current_target().as_ref())
    else {
        return;
    };
    let Ok(dialog) = clicked.dyn_into::<HtmlDialogElement>() else {
        return;
    };
    let bounds = dialog.get_bounding_client_rect();
    let (x, y) = (f64::from(click.client_x()), f64::from(click.client_y()));
    let is_inside = (bounds.left()..=bounds.right()).contains(&x)
        && (bounds.top()..=bounds.bottom()).contains(&y);
    // Selecting text with the mouse may end on the backdrop.
    let selection = window().get_selection().ok().flatten();
    if !is_inside && selection.is_none_or(|it| it.is_collapsed()) {
        dialog.close();
    }
}

/// Returns the contents of a dialog followed by [`notices`]. They are rendered each time the dialog opens, and removed when
/// it closes.
pub fn contents(
    is_open: Signal<bool>,
    contents: impl Fn() -> AnyView + Send + Sync + 'static,
) -> AnyView {
    contents_alone(is_open, move || {
        view! { {contents()} {notices(is_open)} }.into_any()
    })
}

/// Returns the contents of a dialog as [`contents`] does, without the notices. The dialog places them itself.
pub fn contents_alone(
    is_open: Signal<bool>,
    contents: impl Fn() -> AnyView + Send + Sync + 'static,
) -> AnyView {
    // A memo, so that the contents aren't rendered again while the dialog stays open.
    let is_open = memo(move || is_open.get());
    dynamic(move || match is_open.get() {
        true => untrack(&contents),
        false => ().into_any(),
    })
}

/// Returns the notices while a dialog is open. The page's own notices are behind the dialog and can't be pressed.
pub fn notices(is_open: Signal<bool>) -> AnyView {
    dynamic(move || match is_open.get() {
        true => notice_list(),
        false => ().into_any(),
    })
}

/// Returns the close button of a dialog. `has_focus`: whether it gets the focus when the dialog opens.
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

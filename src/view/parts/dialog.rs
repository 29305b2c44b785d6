//! What dialogs have in common.

use icondata_lu::LuX;
use leptos::html::Dialog;
use leptos::prelude::*;

use super::glyph::Glyph;
use crate::boxed::{dynamic, effect, handler, memo};
use crate::view::notice_list::notice_list;

/// Keeps a dialog as open as a signal says.
pub fn follow(dialog: NodeRef<Dialog>, is_open: Signal<bool>) {
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

/// What a dialog consists of, made whenever it opens: a closed one has no elements. Below it is what [`notices`] has.
pub fn contents(
    is_open: Signal<bool>,
    contents: impl Fn() -> AnyView + Send + Sync + 'static,
) -> AnyView {
    // What it shows may change while it is open.
    let is_open = memo(move || is_open.get());
    let notices = move || notices(is_open.into());
    dynamic(move || match is_open.get() {
        true => view! { {untrack(&contents)} {notices()} }.into_any(),
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

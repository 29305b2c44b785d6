//! The dialogs that can open over any page. They are in later parts of the program, which are loaded on demand.

use leptos::html::Dialog;
use leptos::prelude::*;

use crate::boot::deferred::{Deferred, Functions};
use crate::reactive::boxed::{dynamic, when};
use crate::state::contexts::{contexts, pages};
use crate::state::navigation::Navigation;
use crate::view::lightbox::shown::{COMPARED, EXPLORED, SHOWN};
use crate::view::parts::deferred::deferred;
use crate::view::parts::dialog;
use crate::view::shell::shortcuts::OPEN;

/// The query parameters that open a dialog.
const DIALOG_PARAMETERS: [&str; 4] = [OPEN, SHOWN, COMPARED, EXPLORED];

pub fn dialogs() -> AnyView {
    let (navigation, pages) = (contexts().navigation, pages());
    let is_requested = when(move || is_requested(navigation));
    dynamic(move || match pages.functions() {
        Some(pages) => (pages.dialogs)(),
        None if is_requested.get() => opening(pages, move || close_requested(navigation)),
        None => ().into_any(),
    })
}

/// Returns whether the address names a dialog; tracked.
pub fn is_requested(navigation: Navigation) -> bool {
    DIALOG_PARAMETERS
        .iter()
        .any(|name| navigation.query(name).is_some())
}

/// Removes the dialogs from the address.
pub fn close_requested(navigation: Navigation) {
    for name in DIALOG_PARAMETERS {
        navigation.set_query(name, None);
    }
}

/// Shown until the part with the requested dialog is loaded, so that input does not reach the page below. `close` withdraws
/// the request.
pub fn opening<F: Functions>(part: Deferred<F>, close: impl Fn() + Copy + 'static) -> AnyView {
    let dialog = NodeRef::<Dialog>::new();
    dialog::follow(dialog, when(|| true));
    view! {
        <dialog
            class="opening"
            node_ref=dialog
            aria-label="Opening"
            on:close=dialog::closed(close)
        >
            {dialog::close_button(close, true)}
            {deferred(part, |_| ().into_any())}
        </dialog>
    }
    .into_any()
}

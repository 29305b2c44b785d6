//! The dialogs that can open over any page. They are in the last part of the program, which is loaded on demand.

use leptos::html::Dialog;
use leptos::prelude::*;

use crate::reactive::boxed::{dynamic, handler, when};
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
    let is_requested = when(move || {
        DIALOG_PARAMETERS
            .iter()
            .any(|name| navigation.query(name).is_some())
    });
    dynamic(move || match pages.functions() {
        Some(pages) => (pages.dialogs)(),
        None if is_requested.get() => view! { <Opening navigation /> }.into_any(),
        None => ().into_any(),
    })
}

/// Shown until the program part is loaded, so that input does not reach the page below.
#[component]
fn Opening(navigation: Navigation) -> impl IntoView {
    let dialog = NodeRef::<Dialog>::new();
    dialog::follow(dialog, when(|| true));
    let close = move || {
        for name in DIALOG_PARAMETERS {
            navigation.set_query(name, None);
        }
    };
    view! {
        <dialog
            class="opening"
            node_ref=dialog
            aria-label="Opening"
            on:close=handler(move |_: web_sys::Event| close())
        >
            {dialog::close_button(close, true)}
            {deferred(pages(), |_| ().into_any())}
        </dialog>
    }
}

//! The dialogs that may lie over any page, once the part of the program is here that has them.

use leptos::html::Dialog;
use leptos::prelude::*;

use crate::reactive::boxed::{dynamic, handler, when};
use crate::state::contexts::{contexts, pages};
use crate::state::navigation::Navigation;
use crate::view::lightbox::shown::{COMPARED, EXPLORED, SHOWN};
use crate::view::parts::deferred::deferred;
use crate::view::parts::dialog;
use crate::view::shell::shortcuts::OPEN;

/// In the address: what asks for one.
const ASKS: [&str; 4] = [OPEN, SHOWN, COMPARED, EXPLORED];

pub fn dialogs() -> AnyView {
    let (navigation, pages) = (contexts().navigation, pages());
    let is_asked = when(move || ASKS.iter().any(|name| navigation.query(name).is_some()));
    dynamic(move || match pages.functions() {
        Some(pages) => (pages.dialogs)(),
        None if is_asked.get() => view! { <Opening navigation /> }.into_any(),
        None => ().into_any(),
    })
}

/// In its place, until it is here: what is pressed meanwhile must not be lost on the page below.
#[component]
fn Opening(navigation: Navigation) -> impl IntoView {
    let dialog = NodeRef::<Dialog>::new();
    dialog::follow(dialog, when(|| true));
    let close = move || {
        for name in ASKS {
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

use leptos::prelude::*;

use crate::reactive::boxed::{text, when};

/// Returns the heading of a page whose content has a more prominent title. It is only for screen readers, and becomes
/// visible if the content is missing.
pub fn page_title(what: &'static str, is_missing: Signal<bool>) -> AnyView {
    view! {
        <h1
            class:visually-hidden=when(move || !is_missing.get())
            prop:textContent=text(move || match is_missing.get() {
                true => format!("{what} not found"),
                false => what.to_owned(),
            })
        ></h1>
    }
    .into_any()
}

use atelier_engine::settings_link::split;
use leptos::prelude::*;

use crate::boxed::{text, when};

/// A message in which `Settings` is a link to that page. Heard, or read by a program, it is the same text.
pub fn with_settings_link(message: Signal<String>) -> AnyView {
    let part = move |at: usize| text(move || message.with(|it| split(it)[at].to_owned()));
    let link = part(1);
    view! {
        <span prop:textContent=part(0)></span>
        <a href="/settings" hidden=when(move || link.read().is_empty()) prop:textContent=link></a>
        <span prop:textContent=part(2)></span>
    }
    .into_any()
}

use atelier_studio::navigation::settings_link::split;
use leptos::prelude::*;

use crate::reactive::boxed::{text, when};

/// One of the three parts of a message.
fn part(message: Signal<String>, at: usize) -> Signal<String> {
    text(move || message.with(|it| split(it)[at].to_owned()))
}

/// A message in which `Settings` is a link to that page. Heard, or read by a program, it is the same text.
pub fn with_settings_link(message: Signal<String>) -> AnyView {
    let link = part(message, 1);
    view! {
        <span prop:textContent=part(message, 0)></span>
        <a href="/settings" hidden=when(move || link.read().is_empty()) prop:textContent=link></a>
        <span prop:textContent=part(message, 2)></span>
    }
    .into_any()
}

/// The same in text nodes, which a translator replaces: for a message that never changes, or is not translated. It weighs
/// less in what is loaded before the pages.
pub fn in_text_nodes(message: Signal<String>) -> AnyView {
    let link = part(message, 1);
    view! {
        {part(message, 0)}
        <a href="/settings" hidden=when(move || link.read().is_empty())>"Settings"</a>
        {part(message, 2)}
    }
    .into_any()
}

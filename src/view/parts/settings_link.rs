use atelier_studio::navigation::settings_link::split;
use leptos::prelude::*;

use crate::reactive::boxed::{text, when};

/// Returns one of the three parts of a message: before the link, the link, and after it.
fn part(message: Signal<String>, at: usize) -> Signal<String> {
    text(move || message.with(|it| split(it)[at].to_owned()))
}

/// Returns a message in which the word `Settings` is a link to that page.
pub fn with_settings_link(message: Signal<String>) -> AnyView {
    let link = part(message, 1);
    view! {
        <span prop:textContent=part(message, 0)></span>
        <a href="/settings" hidden=when(move || link.read().is_empty()) prop:textContent=link></a>
        <span prop:textContent=part(message, 2)></span>
    }
    .into_any()
}

/// Returns the same as [`with_settings_link`] with plain text nodes, which need less code in the first part of the program.
///
/// Page translators replace text nodes, so this is only for messages that never change or are not translated.
pub fn in_text_nodes(message: Signal<String>) -> AnyView {
    let link = part(message, 1);
    view! {
        {part(message, 0)}
        <a href="/settings" hidden=when(move || link.read().is_empty())>"Settings"</a>
        {part(message, 2)}
    }
    .into_any()
}

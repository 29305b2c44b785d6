use leptos::html::P;
use leptos::prelude::*;

use super::size::follow_size;
use crate::reactive::boxed::{handler, text, when};

/// Returns a text that the user wrote, clamped to its first lines, with a button that shows all of it.
pub fn clamped(words: String, class: &str) -> AnyView {
    let paragraph = NodeRef::<P>::new();
    let is_whole = RwSignal::new(false);
    let is_cut = RwSignal::new(false);
    follow_size(paragraph, move |paragraph| {
        // The height of the expanded text doesn't show whether it would be cut.
        if is_whole.try_get_untracked() == Some(false) {
            is_cut.set(paragraph.scroll_height() > paragraph.client_height() + 1);
        }
    });
    view! {
        <p class=format!("clamped {class}") class:whole=is_whole dir="auto" translate="no" node_ref=paragraph>
            {words}
        </p>
        <button
            class="button quiet show-all"
            type="button"
            hidden=when(move || !is_cut.get())
            aria-expanded=choose(is_whole, "true", "false")
            on:click=handler(move |_| is_whole.update(|it| *it = !*it))
            prop:textContent=choose(is_whole, "Show less", "Show all")></button>
    }
    .into_any()
}

fn choose(is_whole: RwSignal<bool>, yes: &'static str, no: &'static str) -> Signal<String> {
    text(move || if is_whole.get() { yes } else { no }.to_owned())
}

use icondata_lu::LuHeart;
use leptos::prelude::*;

use super::glyph::Glyph;
use crate::reactive::boxed::{handler, text};

/// Returns the button that adds an item to the favorites or removes it from them.
pub fn heart(
    label: String,
    title: &'static str,
    is_favorite: impl Fn() -> bool + Send + Sync + 'static,
    toggle: impl Fn() + 'static,
) -> AnyView {
    let press = move |event: web_sys::MouseEvent| {
        // The button may be on an element with its own click handler.
        event.stop_propagation();
        toggle();
    };
    view! {
        <button
            class="icon-button heart"
            type="button"
            aria-label=label
            aria-pressed=text(move || is_favorite().to_string())
            title=title
            on:click=handler(press)
        >
            <Glyph icon=LuHeart />
        </button>
    }
    .into_any()
}

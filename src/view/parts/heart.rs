use icondata_lu::LuHeart;
use leptos::prelude::*;

use super::glyph::Glyph;
use crate::reactive::boxed::{handler, text};

/// The button that makes something a favorite, or no longer.
pub fn heart(
    label: String,
    title: &'static str,
    is_favorite: impl Fn() -> bool + Send + Sync + 'static,
    toggle: impl Fn() + 'static,
) -> AnyView {
    let press = move |event: web_sys::MouseEvent| {
        // What it lies on may do something else when it is pressed.
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

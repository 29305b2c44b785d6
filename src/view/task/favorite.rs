use atelier_engine::TaskKey;
use icondata_lu::LuHeart;
use leptos::prelude::*;

use crate::boxed::{handler, memo, text};
use crate::contexts::contexts;
use crate::view::parts::glyph::Glyph;

/// Holds an output dear: a copy of it stays in this browser.
pub fn heart(task: &TaskKey, position: usize) -> AnyView {
    let runner = contexts().runner;
    let output = task.output(position);
    let task = runner.task(task);
    let is_favorite = memo(move || {
        let task = task.as_ref();
        task.is_some_and(|task| task.read().favorites.contains(&position))
    });
    let toggle = move |event: web_sys::MouseEvent| {
        // A press on the large view closes it.
        event.stop_propagation();
        runner.set_favorite(&output, !is_favorite.get_untracked());
    };
    view! {
        <button
            class="icon-button heart"
            type="button"
            aria-label="Favorite"
            aria-pressed=text(move || is_favorite.get().to_string())
            title="Favorite: a copy stays in this browser"
            on:click=handler(toggle)
        >
            <Glyph icon=LuHeart />
        </button>
    }
    .into_any()
}

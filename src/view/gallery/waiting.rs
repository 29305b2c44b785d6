//! What is on its way has its place at the front of today.

use atelier_studio::gallery::GalleryEntry;
use atelier_studio::navigation::route::Route;
use atelier_studio::text::plural::counted;
use leptos::prelude::*;

use super::tile::TileRect;
use crate::reactive::boxed::text;
use crate::state::gallery::MAX_EXPECTED;

/// Leads to its task. It is no output: to those who do not see it the status says how many there are, and the list of
/// tasks has them.
pub fn waiting_tile(entry: &GalleryEntry, place: TileRect) -> AnyView {
    view! {
        <a
            class="tile-waiting"
            href=Route::Task(entry.task.clone()).path()
            tabindex="-1"
            aria-hidden="true"
            title="On its way"
            style:left=format!("{:.1}px", place.left)
            style:top=format!("{:.1}px", place.top)
            style:width=format!("{:.1}px", place.width)
            style:height=format!("{:.1}px", place.height)
        ></a>
    }
    .into_any()
}

pub fn waiting_status(waiting: Memo<Vec<GalleryEntry>>) -> AnyView {
    view! {
        <p class="visually-hidden" role="status" prop:textContent=text(move || match waiting.read().len() {
                0 => String::new(),
                MAX_EXPECTED => format!("{MAX_EXPECTED} or more outputs on the way"),
                count => format!("{} on the way", counted(count, "output")),
            })></p>
    }
    .into_any()
}

//! Placeholders of pending outputs, at the start of today.

use atelier_studio::gallery::GalleryEntry;
use atelier_studio::navigation::route::Route;
use atelier_studio::text::plural::counted;
use leptos::prelude::*;

use super::tile::TileRect;
use crate::reactive::boxed::text;
use crate::state::gallery::MAX_EXPECTED;

/// A placeholder that links to its task. Hidden from assistive technology, which gets the number from [`pending_status`] and
/// the tasks from their list.
pub fn pending_tile(entry: &GalleryEntry, place: TileRect) -> AnyView {
    view! {
        <a
            class="tile-waiting"
            href=Route::Task(entry.task.clone()).path()
            tabindex="-1"
            aria-hidden="true"
            title="In progress"
            style:left=format!("{:.1}px", place.left)
            style:top=format!("{:.1}px", place.top)
            style:width=format!("{:.1}px", place.width)
            style:height=format!("{:.1}px", place.height)
        ></a>
    }
    .into_any()
}

/// The number of pending outputs, for assistive technology.
pub fn pending_status(pending: Memo<Vec<GalleryEntry>>) -> AnyView {
    view! {
        <p class="visually-hidden" role="status" prop:textContent=text(move || match pending.read().len() {
                0 => String::new(),
                MAX_EXPECTED => format!("{MAX_EXPECTED} or more outputs in progress"),
                count => format!("{} in progress", counted(count, "output")),
            })></p>
    }
    .into_any()
}

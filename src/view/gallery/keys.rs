//! Keys of the gallery: arrows lead from tile to tile, `x` selects, Escape selects nothing.

use atelier_engine::gallery::GalleryEntry;
use atelier_engine::gallery::layout::{self, Direction, Row};
use leptos::prelude::*;
use web_sys::KeyboardEvent;

use super::focus;
use super::selection::Selection;

/// A key on the tile that has the focus.
pub fn press(event: &KeyboardEvent, found: &[GalleryEntry], rows: &[Row], selection: Selection) {
    let focused = document().active_element();
    let tile = focused.and_then(|element| element.closest(".tile").ok().flatten());
    let open = tile.and_then(|tile| tile.query_selector("[data-output]").ok().flatten());
    let name = open.and_then(|open| open.get_attribute("data-output"));
    let at = found.iter().position(|entry| Some(entry.name()) == name);
    let (false, Some(name), Some(at)) = (
        event.ctrl_key() || event.alt_key() || event.meta_key(),
        name,
        at,
    ) else {
        return;
    };
    let direction = match event.key().as_str() {
        "ArrowLeft" => Direction::Back,
        "ArrowRight" => Direction::On,
        "ArrowUp" => Direction::Up,
        "ArrowDown" => Direction::Down,
        "x" | "X" => {
            event.prevent_default();
            return selection.toggle(&name);
        }
        "Escape" => return selection.clear(),
        _ => return,
    };
    event.prevent_default();
    let Some(goal) = layout::neighbor(rows, at, direction).and_then(|at| found.get(at)) else {
        return;
    };
    let goal = goal.name();
    if event.shift_key() {
        selection.extend(&name, &goal);
    }
    focus::to_tile(&goal);
}

//! The focus among the tiles.

use atelier_studio::gallery::anchor;
use leptos::html::Div;
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use web_sys::{Element, HtmlElement};

use crate::browser::frame::after_frame;
use crate::view::parts::focus::{in_place, is_lost, quoted, to_output, to_without_scrolling};
use crate::view::parts::viewport::rem;

/// Moves the focus after the focused element was removed: to `output` or else to the first tile. If there are no tiles, moves it
/// to the link that is shown instead. Does not scroll.
pub fn restore(output: Option<String>) {
    // The selection bar is hidden in this frame; removed tiles disappear in the next.
    after_frame(move || {
        after_frame(move || {
            let tile = output.map(|output| format!("[data-output={}]", quoted(&output)));
            restore_to(tile, WATCH_FRAMES);
        });
    });
}

/// The number of frames to watch the focus: with thousands of outputs, removing a tile can take several frames.
const WATCH_FRAMES: u32 = 30;

fn restore_to(tile: Option<String>, frames: u32) {
    let has_focus = tile.as_deref().is_some_and(to_without_scrolling);
    let _ = has_focus
        || to_without_scrolling(".tile-open")
        || to_without_scrolling(".gallery-page .empty a");
    if let Some(focused) = document().active_element() {
        watch(focused, tile, frames);
    }
}

/// Moves the focus again if `focused` is removed within `frames` frames. Stops if the user moves the focus.
fn watch(focused: Element, tile: Option<String>, frames: u32) {
    if frames == 0 {
        return;
    }
    after_frame(move || {
        if !focused.is_connected() && is_lost() {
            restore_to(tile, frames - 1);
        } else if document().active_element().as_ref() == Some(&focused) {
            watch(focused, tile, frames - 1);
        }
    });
}

/// Moves the focus to the tile of an output, which may be out of view and not built yet. `top` and `height`: its place in the
/// gallery, in px.
pub fn to_place(output: String, gallery: NodeRef<Div>, top: f64, height: f64) {
    if !to_output(&output) {
        scroll_to_place(gallery, top, height);
        wait_for(output, FRAMES);
    }
}

/// Scrolls to a place in the gallery without moving the focus. `top` and `height` are in px.
pub fn scroll_to_place(gallery: NodeRef<Div>, top: f64, height: f64) {
    let Some(gallery) = gallery.get_untracked() else {
        return;
    };
    let screen = window().inner_height().ok();
    let screen = screen.and_then(|it| it.as_f64()).unwrap_or(800.0);
    let from_here = gallery.get_bounding_client_rect().top() + top;
    let place = (from_here, from_here + height);
    let down = anchor::reach(place, HEAD * rem(), screen - FOOT * rem());
    window().scroll_by_with_x_and_y(0.0, down);
}

/// The height of the page's bar and of a day's heading, in `rem`.
const HEAD: f64 = 7.0;

/// The space below a tile that was scrolled to, in `rem`.
const FOOT: f64 = 0.5;

/// The maximum number of frames to wait until a tile is built.
const FRAMES: u32 = 10;

fn wait_for(output: String, frames: u32) {
    after_frame(move || {
        if !to_output(&output) && frames > 0 {
            wait_for(output, frames - 1);
        }
    });
}

pub fn is_on_tile() -> bool {
    let focused = document().active_element();
    focused.is_some_and(|it| it.closest(".tile").is_ok_and(|tile| tile.is_some()))
}

/// Moves the focus to the list, so that arrow keys work.
pub fn to_list() {
    let found = document().query_selector(LIST).ok().flatten();
    if let Some(list) = found.and_then(|found| found.dyn_into::<HtmlElement>().ok()) {
        in_place(&list);
    }
}

const LIST: &str = ".gallery > ul";

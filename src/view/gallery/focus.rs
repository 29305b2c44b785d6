//! Where the focus is among the tiles.

use atelier_studio::gallery::anchor;
use leptos::html::Div;
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use web_sys::{Element, HtmlElement};

use crate::browser::frame::after_frame;
use crate::view::parts::focus::{in_place, in_place_to, is_lost, quoted, to_output};
use crate::view::parts::viewport::rem;

/// Once what has the focus is gone: to this output, else to the first that is shown, else to what says that
/// there is none. Nothing is scrolled: the person looks where they are.
pub fn settle(output: Option<String>) {
    // The selection goes with this frame, and what was removed with the next.
    after_frame(move || {
        after_frame(move || {
            let tile = output.map(|output| format!("[data-output={}]", quoted(&output)));
            settle_on(tile, SETTLING_FRAMES);
        });
    });
}

/// Of thousands it may be some frames until one is gone, and the focus with it.
const SETTLING_FRAMES: u32 = 30;

fn settle_on(tile: Option<String>, frames: u32) {
    let is_settled = tile.as_deref().is_some_and(in_place_to);
    let _ = is_settled || in_place_to(".tile-open") || in_place_to(".gallery-page .empty a");
    if let Some(settled) = document().active_element() {
        watch(settled, tile, frames);
    }
}

/// Gives it once more if what has it now goes within so many frames. Who takes it elsewhere is left alone.
fn watch(settled: Element, tile: Option<String>, frames: u32) {
    if frames == 0 {
        return;
    }
    after_frame(move || {
        if !settled.is_connected() && is_lost() {
            settle_on(tile, frames - 1);
        } else if document().active_element().as_ref() == Some(&settled) {
            watch(settled, tile, frames - 1);
        }
    });
}

/// Gives the focus to the tile of an output that lies so far down the gallery; it may be out of sight, and
/// not built yet.
pub fn to_place(output: String, gallery: NodeRef<Div>, top: f64, height: f64) {
    if !to_output(&output) {
        scroll_to_place(gallery, top, height);
        wait_for(output, FRAMES);
    }
}

/// Shows what lies so far down the gallery; the focus stays where it is.
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

/// The height of the bar and of a day's heading below it, in `rem`.
const HEAD: f64 = 7.0;

/// What is left free below a tile that was scrolled to, in `rem`.
const FOOT: f64 = 0.5;

/// So many frames at most until what was scrolled to is built.
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

/// Gives the focus to the list itself, so that keys have a place to begin at.
pub fn to_list() {
    let found = document().query_selector(LIST).ok().flatten();
    if let Some(list) = found.and_then(|found| found.dyn_into::<HtmlElement>().ok()) {
        in_place(&list);
    }
}

const LIST: &str = ".gallery > ul";

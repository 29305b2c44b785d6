//! Where the focus is among the tiles.

use leptos::html::Div;
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use web_sys::HtmlElement;

use crate::browser::frame::after_frame;
use crate::view::parts::focus::{in_place, to, to_output};

/// Once what has the focus is gone: to this output, else to the first that is shown, else to what says that
/// there is none.
pub fn settle(output: Option<String>) {
    // The selection goes with this frame, and what was removed with the next.
    after_frame(move || {
        after_frame(move || {
            let is_settled = output.is_some_and(|output| to_output(&output));
            let _ = is_settled || to(".tile-open") || to(".gallery-page .empty a");
        });
    });
}

/// Gives the focus to the tile of an output that lies so far down the gallery; it may be out of sight, and
/// not built yet.
pub fn to_place(output: String, gallery: NodeRef<Div>, top: f64, height: f64) {
    if to_output(&output) {
        return;
    }
    let Some(gallery) = gallery.get_untracked() else {
        return;
    };
    let screen = window().inner_height().ok();
    let screen = screen.and_then(|it| it.as_f64()).unwrap_or(800.0);
    let from_here = gallery.get_bounding_client_rect().top() + top;
    window().scroll_by_with_x_and_y(0.0, from_here - (screen - height) / 2.0);
    wait_for(output, FRAMES);
}

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

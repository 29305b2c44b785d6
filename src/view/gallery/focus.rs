//! Where the focus is among the tiles.

use leptos::prelude::document;
use wasm_bindgen::JsCast;
use web_sys::HtmlElement;

use crate::browser::frame::after_frame;

/// Gives the focus to the tile of an output; whether it is there.
pub fn to_tile(output: &str) -> bool {
    let quoted = output.replace('\\', "\\\\").replace('"', "\\\"");
    to(&format!("[data-output=\"{quoted}\"]"))
}

/// Once what has the focus is gone: to this output, else to the first that is shown, else to what says that
/// there is none.
pub fn settle(output: Option<String>) {
    // The selection goes with this frame, and what was removed with the next.
    after_frame(move || {
        after_frame(move || {
            let is_settled = output.is_some_and(|output| to_tile(&output));
            let _ = is_settled || to(".tile-open") || to(".gallery-page .empty a");
        });
    });
}

fn to(selector: &str) -> bool {
    let found = document().query_selector(selector).ok().flatten();
    let element = found.and_then(|found| found.dyn_into::<HtmlElement>().ok());
    element.is_some_and(|element| element.focus().is_ok())
}

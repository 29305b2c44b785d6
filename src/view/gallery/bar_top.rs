//! How high the bar of a selection reaches: what is said and the way back stand above it.

use leptos::html::Section;
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use web_sys::HtmlElement;

use crate::view::parts::size::follow_size;

/// From the foot of the window to the bar's top; the style sheet reads it.
const HEIGHT: &str = "--selection-height";

/// Follows it for as long as the present owner lives.
pub fn follow(bar: NodeRef<Section>) {
    follow_size(bar, |bar| {
        let screen = window().inner_height().ok().and_then(|it| it.as_f64());
        let height = screen.unwrap_or(800.0) - bar.get_bounding_client_rect().top();
        let root = document().document_element();
        if let Some(root) = root.and_then(|it| it.dyn_into::<HtmlElement>().ok()) {
            // It fails only where the property can't be written to at all.
            let _ = root.style().set_property(HEIGHT, &format!("{height:.0}px"));
        }
    });
}

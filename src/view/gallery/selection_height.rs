//! Measures the bar of the selection, so that notices and Undo are placed above it.

use leptos::html::Section;
use leptos::prelude::*;

use crate::view::parts::size::{follow_size, set_root_property};

/// The distance from the bottom of the window to the top of the bar. Read by the style sheet.
const HEIGHT: &str = "--selection-height";

/// Updates the property when the size of the bar changes, for as long as the current owner lives.
pub fn follow(bar: NodeRef<Section>) {
    follow_size(bar, |bar| {
        let screen = window().inner_height().ok().and_then(|it| it.as_f64());
        let height = screen.unwrap_or(800.0) - bar.get_bounding_client_rect().top();
        set_root_property(HEIGHT, &format!("{height:.0}px"));
    });
}

//! How high the bar of a selection reaches: what is said and the way back stand above it.

use leptos::html::Section;
use leptos::prelude::*;

use crate::view::parts::size::{follow_size, set_root_property};

/// From the foot of the window to the bar's top; the style sheet reads it.
const HEIGHT: &str = "--selection-height";

/// Follows it for as long as the present owner lives.
pub fn follow(bar: NodeRef<Section>) {
    follow_size(bar, |bar| {
        let screen = window().inner_height().ok().and_then(|it| it.as_f64());
        let height = screen.unwrap_or(800.0) - bar.get_bounding_client_rect().top();
        set_root_property(HEIGHT, &format!("{height:.0}px"));
    });
}

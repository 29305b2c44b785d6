use web_sys::{Element, ScrollIntoViewOptions, ScrollLogicalPosition};

/// Scrolls as little as necessary to make an element visible.
pub fn into_view(element: &Element) {
    let options = ScrollIntoViewOptions::new();
    options.set_block(ScrollLogicalPosition::Nearest);
    element.scroll_into_view_with_scroll_into_view_options(&options);
}

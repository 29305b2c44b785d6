use web_sys::{Element, ScrollIntoViewOptions, ScrollLogicalPosition};

/// Scrolls no further than it has to until an element is in sight.
pub fn into_view(element: &Element) {
    let options = ScrollIntoViewOptions::new();
    options.set_block(ScrollLogicalPosition::Nearest);
    element.scroll_into_view_with_scroll_into_view_options(&options);
}

//! Functions that query and move the keyboard focus.

use leptos::prelude::*;
use wasm_bindgen::JsCast;
use web_sys::{Element, FocusOptions, HtmlElement};

use crate::browser::frame::after_frame;

/// Focuses the first element that matches a selector. Returns whether it has the focus now: a hidden element can't get it.
pub fn to(selector: &str) -> bool {
    let found = document().query_selector(selector).ok().flatten();
    let element = found.and_then(|found| found.dyn_into::<HtmlElement>().ok());
    element.is_some_and(|element| {
        // It fails only if the element was removed.
        let _ = element.focus();
        document().active_element().as_ref() == Some(element.as_ref())
    })
}

/// Presses the first element that matches a selector, unless it is hidden. It gets the focus.
pub fn press(selector: &str) {
    if to(selector)
        && let Some(element) = document().active_element()
        && let Some(element) = element.dyn_ref::<HtmlElement>()
    {
        element.click();
    }
}

/// Focuses an element without scrolling to it.
pub fn in_place(element: &HtmlElement) {
    let options = FocusOptions::new();
    options.set_prevent_scroll(true);
    // It fails only if the element was removed.
    let _ = element.focus_with_options(&options);
}

/// Focuses the element that shows an output on the page. Returns whether it has the focus now.
pub fn to_output(name: &str) -> bool {
    to(&format!("[data-output={}]", quoted(name)))
}

/// Quotes and escapes a text for a CSS attribute selector.
pub fn quoted(text: &str) -> String {
    let text = text.replace('\\', "\\\\").replace('"', "\\\"");
    format!("\"{text}\"")
}

/// Focuses the first element that matches a selector, like [`to`], but without scrolling to it.
pub fn to_without_scrolling(selector: &str) -> bool {
    let found = document().query_selector(selector).ok().flatten();
    let element = found.and_then(|found| found.dyn_into::<HtmlElement>().ok());
    element.is_some_and(|element| {
        in_place(&element);
        document().active_element().as_ref() == Some(element.as_ref())
    })
}

/// Runs a function in the next frame if the focused element is gone by then.
pub fn when_lost(act: impl FnOnce() + 'static) {
    after_frame(move || {
        if is_lost() {
            act();
        }
    });
}

/// Returns whether no visible element has the focus. A hidden element counts as having lost it, because browsers move the
/// focus away from it only some time after the frame.
pub fn is_lost() -> bool {
    let focused = document().active_element();
    focused.is_none_or(|focused| focused.tag_name() == "BODY" || !is_rendered(&focused))
}

fn is_rendered(element: &Element) -> bool {
    let bounds = element.get_bounding_client_rect();
    bounds.width() > 0.0 || bounds.height() > 0.0
}

/// Returns whether no control has the focus: only the page as a whole, or nothing.
pub fn is_free() -> bool {
    let focused = document().active_element();
    focused.is_none_or(|focused| matches!(&*focused.tag_name(), "BODY" | "MAIN"))
}

/// Returns whether the focus is in a field where letters are input, and therefore not keyboard shortcuts.
pub fn is_writing() -> bool {
    const FIELDS: &str = "input:not([type=checkbox], [type=radio], [type=range], [type=file]), textarea, select, [contenteditable]";
    let focused = document().active_element();
    focused.is_some_and(|focused| focused.matches(FIELDS) == Ok(true))
}
